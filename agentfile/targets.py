"""Where this machine may be sent by a file of somebody else's: to public addresses, and to no other.

The invariant: no address is handed out to connect to that was not judged for this very request, and none is allowed
that leads to this machine or into a network behind it, however it is spelled. What can be read in two ways is refused,
never repaired.

    URL       --judge_target-->     Target      its parts, each with one reading; connect by these, not by the URL
    addresses --judge_addresses-->  address     every one that the name resolved to is judged, and one is handed out

The caller resolves the name and connects to exactly the address it is given: asking the resolver twice is how a name
changes under a check. Each redirect is a new URL, and starts anew; `follow` holds a caller to that by its types:

    follow(url)      -> ToResolve      .resolved(addresses)  -> ToConnect
    ToConnect        (one request)     .redirected(location) -> ToResolve, with one redirect fewer

Every step may give a `Refusal` instead, which ends it.

Source: `.agent` format 9.3; 19, item 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import urljoin

from agentfile.addresses import Address, Network, not_public, read_address
from descriptor.errors import quoted

MAX_URL = 8_192
"""The longest URL that is read, in characters."""

MAX_REDIRECTS = 5

_PORTS = {"http": 80, "https": 443}

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?"
)
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>[^:]*))?")
_READABLE = re.compile(r"[!-\[\]-~]*")  # printable ASCII, without the space and the backslash
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")


@dataclass(frozen=True)
class Refusal:
    """Why a target is not asked. `code`: UPPER_SNAKE and stable. `reason`: for people, what is wrong and what to do."""

    code: str
    reason: str


@dataclass(frozen=True)
class Target:
    """Where a URL leads, in the one way it can be read.

    `scheme`: `http` or `https`. `host`: a name in lower case without a trailing dot, or an address in its usual form,
    IPv6 without brackets. `address`: that address; `None` for a name. `path`: with its query, as a request has it.
    """

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None

    @property
    def url(self) -> str:
        """The URL of this target, without a fragment, and without a port that goes without saying.

        `judge_target` of it gives an equal target.
        """
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What credentials are good for: those of one origin are not sent to another."""
        return self.scheme, self.host, self.port


def judge_target(url: str) -> Target | Refusal:
    """What a URL names, before anything is resolved. Raises nothing.

    Refused: `URL_UNREADABLE`, `URL_SCHEME`, `URL_USERINFO`, `URL_HOST`, `URL_PORT`, and `ADDRESS_REFUSED` for an
    address in the URL that would be refused as well if a name resolved to it.

    >>> judge_target("HTTPS://Example.org.:8443/hook?x=1#top")
    Target(scheme='https', host='example.org', port=8443, path='/hook?x=1', address=None)
    >>> judge_target("http://2130706433/").code
    'URL_HOST'
    """
    parts = _parts(url)
    if isinstance(parts, Refusal):
        return parts
    scheme, host_text, port_text, path = parts
    host = _read_host(host_text)
    if isinstance(host, Refusal):
        return host
    if not _PORT.fullmatch(port_text) or int(port_text) > 65_535:
        said = f"{quoted(port_text)} is no port; write one from 1 to 65535 without zeros before it."
        return Refusal("URL_PORT", said)
    return Target(scheme, str(host), int(port_text), path, None if isinstance(host, str) else host)


def judge_addresses(target: Target, addresses: Iterable[str], near: Sequence[Network] = ()) -> Address | Refusal:
    """The address to connect to: the first, in the resolver's order, if none of all of them is refused. Raises nothing.

    One refused address refuses them all: a name that leads to a public place and a private one is made to deceive.
    For a host that is an address, that address has to be the only one. `near`: networks to refuse besides, such as the
    public ones of this machine's own links, and the prefix of a NAT64 that its network chose for itself.

    Refused: `NO_ADDRESS`, `ADDRESS_UNREADABLE`, `ADDRESS_NOT_OF_HOST`, `ADDRESS_REFUSED`.

    Source: 19, item 2: validating after DNS resolution.
    """
    judged: list[Address] = []
    for text in addresses:
        address = read_address(text)
        if address is None:
            said = f"{quoted(target.host)} resolved to {quoted(text)}, which is no address that can be asked."
            return Refusal("ADDRESS_UNREADABLE", said)
        if target.address is not None and address != target.address:
            return Refusal("ADDRESS_NOT_OF_HOST", f"The URL names {target.address}, and not {address}.")
        refusal = _refusal(address, near)
        if refusal is not None:
            return refusal
        judged.append(address)
    if not judged:
        return Refusal("NO_ADDRESS", f"{quoted(target.host)} resolved to no address.")
    return judged[0]


@dataclass(frozen=True)
class ToResolve:
    """A target whose addresses have to be found. `redirects_left`: how many more may follow."""

    target: Target
    redirects_left: int
    near: tuple[Network, ...]

    def resolved(self, addresses: Iterable[str]) -> ToConnect | Refusal:
        """To be told every address of `target.host`, resolved for this step. Refused: as by `judge_addresses`."""
        address = judge_addresses(self.target, addresses, self.near)
        if isinstance(address, Refusal):
            return address
        return ToConnect(self.target, address, self.redirects_left, self.near)


@dataclass(frozen=True)
class ToConnect:
    """One request that may be made: to `address` and no other, for `target.host` by name (Host, TLS)."""

    target: Target
    address: Address
    redirects_left: int
    near: tuple[Network, ...]

    def redirected(self, location: str) -> ToResolve | Refusal:
        """To be told the `Location` of a response that redirects; it may be relative.

        Credentials go along only if the next target has the same `origin`. Refused, besides what `judge_target`
        refuses: `TOO_MANY_REDIRECTS`, and `REDIRECT_DOWNGRADED` from https to http.
        """
        if self.redirects_left <= 0:
            return Refusal("TOO_MANY_REDIRECTS", f"{quoted(self.target.host)} redirects more often than is followed.")
        try:
            # `urljoin` drops characters that it does not like, so it is given only what is readable as it stands.
            url = urljoin(self.target.url, location) if _READABLE.fullmatch(location) else location
        except ValueError:
            url = location
        target = judge_target(url)
        if isinstance(target, Refusal):
            return target
        if (self.target.scheme, target.scheme) == ("https", "http"):
            return Refusal("REDIRECT_DOWNGRADED", f"{quoted(self.target.host)} redirects from https to http.")
        return ToResolve(target, self.redirects_left - 1, self.near)


def follow(url: str, redirects: int = MAX_REDIRECTS, near: Sequence[Network] = ()) -> ToResolve | Refusal:
    """The first step of a request to `url` that follows at most so many redirects. `near`: as of `judge_addresses`.

    >>> step = follow("https://example.org/a").resolved(["93.184.215.14"])
    >>> step.address
    IPv4Address('93.184.215.14')
    >>> step.redirected("//localhost/").reason
    "'localhost' is this machine; only public hosts are asked on behalf of a file."
    """
    target = judge_target(url)
    return target if isinstance(target, Refusal) else ToResolve(target, redirects, tuple(near))


def _parts(url: str) -> tuple[str, str, str, str] | Refusal:
    """Scheme, host and port as text, and path with query."""
    if len(url) > MAX_URL:
        return Refusal("URL_UNREADABLE", f"The URL has {len(url):,} characters; at most {MAX_URL:,} are read.")
    if not _READABLE.fullmatch(url):
        said = "has a character that programs read differently: write others than printable ASCII percent-encoded"
        return Refusal("URL_UNREADABLE", f"{quoted(url)} {said}, a host in its ASCII form (xn--), and no backslash.")
    parts = _URL.fullmatch(url)
    authority = _AUTHORITY.fullmatch(parts["authority"].rpartition("@")[2]) if parts else None
    if parts is None or authority is None:
        return Refusal("URL_UNREADABLE", f"{quoted(url)} is no URL of the form https://host/path.")
    scheme = parts["scheme"].lower()
    if scheme not in _PORTS:
        return Refusal("URL_SCHEME", f"{quoted(scheme)} is not asked; only http and https are.")
    if "@" in parts["authority"]:
        return Refusal("URL_USERINFO", "The URL has a user before its host; write it without one.")
    path = (parts["path"] or "/") + (parts["query"] or "")
    return scheme, authority["host"].lower(), authority["port"] or str(_PORTS[scheme]), path


def _read_host(host: str) -> str | Address | Refusal:
    name = host.removesuffix(".")
    labels = name.split(".")
    # What ends in a number is an IPv4 address to some programs, in any of a dozen spellings, and a name to others.
    if host.startswith("[") or _NUMBER.fullmatch(labels[-1]):
        return _read_literal(host, name)
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        return Refusal("URL_HOST", f"{quoted(host)} is no name of a host.")
    if labels[-1] == "localhost":
        return Refusal("URL_HOST", f"{quoted(host)} is this machine; only public hosts are asked on behalf of a file.")
    return name


def _read_literal(host: str, name: str) -> Address | Refusal:
    bracketed = host.startswith("[")
    address = read_address(host[1:-1] if bracketed else name)
    if address is None or bracketed != isinstance(address, IPv6Address):
        said = "is no address to ask; write four decimal numbers, or IPv6 in brackets and without a zone (%)."
        return Refusal("URL_HOST", f"{quoted(host)} {said}")
    return _refusal(address) or address


def _refusal(address: Address, near: Sequence[Network] = ()) -> Refusal | None:
    why = not_public(address, near)
    if why is None:
        return None
    said = f"{address} is not public: it is {why}. Only public addresses are asked on behalf of a file."
    return Refusal("ADDRESS_REFUSED", said)
