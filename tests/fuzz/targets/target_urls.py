"""What a person types to name a peer: it becomes one base URL, or is refused, and never leads anywhere else.

- `target_url` raises nothing but `ClientError`.
- What it gives, httpx reads as http or https to one host, without user, query or fragment.
- Given what it gave, it gives the same again.
"""

from __future__ import annotations

import httpx

from entryway.client import SCHEMES, ClientError, target_url
from tests.fuzz.promises import assert_fit_to_show, loose
from tests.vectors import NKEYS

TOKENS = (
    *("http://", "https://", "HTTP://", "ftp://", "//", "[::1]", "[fe80::1%25eth0]", "::1", "127.0.0.1", "desk.local"),
    *(":7420", ":0", ":65536", "@", "user:pass@", "?", "#", "/", "/../", "%2e", "%", "\\", " ", "\t", ".", "xn--", "ß"),
    *("\u3002", "\uff0f", "\u0660", "::ffff:1.2.3.4", "0x7f.1", "1", NKEYS[0]["public"]),
)


def one_input(data: bytes) -> None:
    text = loose(data)
    try:
        url = target_url(text)
    except ClientError as error:
        assert error.code == "BAD_TARGET"
        assert_fit_to_show(error)
        return
    assert url.isascii()
    assert not url.endswith("/")
    assert target_url(url) == url
    read = httpx.URL(f"{url}/entryway")
    assert read.scheme in SCHEMES
    assert read.host
    assert (read.userinfo, read.query, read.fragment) == (b"", b"", "")
    assert read.path.endswith("/entryway")
