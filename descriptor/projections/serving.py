"""How the agent is really served: the connection facts that a projection adds, and a Descriptor never holds.

The invariant: an address that leads to the agent from outside its network is named only where the Descriptor declares a
scheme over the http transport, which is the operator's one statement that the agent is open to outside callers.

Source: chapters 6.8 and 6.9 (access).
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from descriptor.view import Access

WELL_KNOWN = "/.well-known/agent-descriptor.json"
BY_DIGEST = "/descriptors/"
# Names that no resolver outside a network answers: RFC 6762, RFC 8375, RFC 6761 and the one ICANN reserves for it.
_INSIDE = ("local", "home.arpa", "localhost", "internal")


@dataclass(frozen=True, slots=True)
class Serving:
    """Where and how the node answers.

    `urls`: the base URLs it listens on, the one that a neighbor would use first. `public_url`: the base URL that the
    operator says callers use instead, `None` where none is stated. Neither is ever taken from a request: what a caller
    calls the node is the caller's word. `path`, `binding` and `version`: where questions go, the protocol they are in,
    and its version.
    """

    urls: tuple[str, ...]
    public_url: str | None
    path: str
    binding: str
    version: str

    def named(self, access: Access | None) -> tuple[str, ...]:
        """The base URLs that a projection may name: the stated one alone where it may be named."""
        opened = is_open_to_outside(access)
        if self.public_url is not None and (opened or not is_outside(self.public_url)):
            return (self.public_url,)
        return tuple(url for url in self.urls if opened or not is_outside(url))


def is_open_to_outside(access: Access | None) -> bool:
    """Whether the operator declares a scheme over http. Source: chapter 6.9 (access)."""
    return access is not None and any(scheme.transport == "http" for scheme in access.schemes or ())


def is_outside(url: str) -> bool:
    """Whether a base URL may lead to the agent from another network: a global address, or a name of the public DNS."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_global
    except ValueError:
        return "." in host and not any(host == name or host.endswith(f".{name}") for name in _INSIDE)
