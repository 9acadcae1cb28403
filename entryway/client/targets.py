"""TARGET as a base URL: what names a place, and nothing that is none.

The invariant: a URL that comes out of here is read by httpx as http or https to one host, without user, query or
fragment. Source: binding 9.
"""

from __future__ import annotations

import ipaddress
import re

import httpx

from descriptor.errors import quoted
from entryway.client.errors import ClientError

DEFAULT_PORT = 7420
SCHEMES = ("http", "https")

_AGENT_ID = re.compile(r"U[A-Z2-7]{55}")
# What stands behind the % of an IPv6 address goes into the URL as it is, where other characters would end the host.
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]+(%[A-Za-z0-9._~-]+)?")
_NAME = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
_PATH = re.compile(r"[A-Za-z0-9/._~!$&'()*+,;=:@%-]*")
_HINT = "Give a URL or host:port, such as http://192.168.1.20:7420 or desk.local:7420."


def target_url(text: str) -> str:
    """The base URL of a target, without a slash at its end, such as `"http://desk.local:7420"`.

    Takes a URL (`http` or `https`; its path is where the node's paths begin), `host:port`, `[v6]:port`, and a host
    alone, at port 7420. Raises ClientError BAD_TARGET for everything else.

    Source: binding 9.
    """
    text = text.strip()
    scheme, separator, rest = text.partition("://")
    if not separator:
        if _AGENT_ID.fullmatch(text):
            raise ClientError("BAD_TARGET", f"This is an agent's id, which does not say where the agent is. {_HINT}")
        return f"http://{_authority(text, DEFAULT_PORT)}"
    if scheme.lower() not in SCHEMES:
        raise ClientError("BAD_TARGET", f"{quoted(text)} begins with no scheme that is spoken here. {_HINT}")
    authority, slash, path = rest.partition("/")
    if not _PATH.fullmatch(path):
        raise ClientError("BAD_TARGET", f"{quoted(text)} has more than a path behind its host. {_HINT}")
    return f"{scheme.lower()}://{_authority(authority, None)}{slash}{path}".rstrip("/")


def _authority(text: str, default_port: int | None) -> str:
    """`host:port` with the host checked. Without a port, and without a default, the scheme's own is meant."""
    if (address := _ip_address(text)) is not None and ":" in address:
        return f"[{address}]" if default_port is None else f"[{address}]:{default_port}"
    host, separator, port = text.rpartition(":")
    if not separator or text.endswith("]"):
        host, port = text, "" if default_port is None else str(default_port)
    elif not (port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535):
        raise ClientError("BAD_TARGET", f"{quoted(text)} ends in no port, which is a number from 1 to 65535. {_HINT}")
    if host.startswith("[") and host.endswith("]"):
        inner = _ip_address(host[1:-1].replace("%25", "%", 1))
        good = inner is not None and ":" in inner
        host = f"[{inner}]"
    else:
        good = _NAME.fullmatch(host) is not None and _is_read(host)
    if not good:
        raise ClientError("BAD_TARGET", f"{quoted(text)} names no host. {_HINT}")
    return f"{host}:{port}" if port else host


def _is_read(host: str) -> bool:
    """Whether httpx reads the name. It refuses four numbers that are no address, and what only looks like Punycode."""
    try:
        return bool(httpx.URL(f"http://{host}").host)
    except (httpx.InvalidURL, UnicodeError):
        return False


def _ip_address(text: str) -> str | None:
    if not _ADDRESS.fullmatch(text):
        return None
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
