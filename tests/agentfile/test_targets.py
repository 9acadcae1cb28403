"""A URL of a file leads to a public address or nowhere, however it is spelled; sections 9.3 and 19, item 2."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentfile.addresses import not_public
from agentfile.targets import (
    MAX_REDIRECTS,
    MAX_URL,
    Refusal,
    Target,
    ToConnect,
    ToResolve,
    follow,
    judge_addresses,
    judge_target,
)

REFUSED = {
    "ADDRESS_REFUSED": [
        *(
            "http://127.0.0.1/",
            "http://127.0.0.1./",
            "https://127.255.255.254:8443/x",
            "http://0.0.0.0/",
            "http://0.1.2.3/",
        ),
        *(
            "http://10.0.0.1/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://100.64.0.1/",
            "http://169.254.169.254/",
        ),
        *(
            "http://224.0.0.1/",
            "http://240.0.0.1/",
            "http://255.255.255.255/",
            "http://192.0.0.192/",
            "http://198.18.0.1/",
        ),
        *(
            "http://[::1]/",
            "http://[::]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::1]:8080/",
            "http://[::ffff:127.0.0.1]/",
        ),
        *("http://[::FFFF:7f00:1]/", "http://[::127.0.0.1]/", "http://[64:ff9b::10.0.0.1]/", "http://[64:ff9b:1::1]/"),
        *(
            "http://[2002:7f00:1::]/",
            "http://[2001::1]/",
            "http://[fe80::1]/",
            "http://[fc00::1]/",
            "http://[fd12::1]/",
        ),
        *("http://[fec0::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/", "http://[::ffff:0:10.0.0.1]/"),
    ],
    "URL_HOST": [
        *("http://2130706433/", "http://017700000001/", "http://0x7f000001/", "http://0x7f.1/", "http://127.1/"),
        *("http://127.0.1/", "http://0177.0.0.1/", "http://0x7f.0x0.0x0.0x1/", "http://0X7F.1/", "http://127.0.0.01/"),
        *(
            "http://2130706433./",
            "http://0/",
            "http://0x/",
            "http://00000000.0.0.1/",
            "http://1.1/",
            "http://0x08080808/",
        ),
        *("http://4294967297/", "http://256.0.0.1/", "http://1.2.3.4.5/", "http://example.1/", "http://example.0x1/"),
        *(
            "http://localhost/",
            "http://LOCALHOST/",
            "http://localhost./",
            "http://a.localhost/",
            "http://a.LocalHost.:80/",
        ),
        *("http://[fe80::1%eth0]/", "http://[fe80::1%25eth0]/", "http://[2606:4700::1%25en0]/", "http://[127.0.0.1]/"),
        *(
            "http://[v1.fe80::a]/",
            "http://[]/",
            "http:///path",
            "http://:80/",
            "http://./",
            "http://a..b/",
        ),
        *(
            "http://.example.org/",
            "http://example.org../",
            "http://-a.example/",
            "http://a-.example/",
            "http://a,b.example/",
        ),
        *("http://%31%32%37.0.0.1/", "http://127%2e0%2e0%2e1/", "http://exa%6dple.org/", "http://a*b.example/"),
        *(f"http://{'a' * 64}.example/", f"http://{'a.' * 126}ab/"),
    ],
    "URL_USERINFO": [
        *(
            "http://user@example.org/",
            "http://user:secret@example.org/",
            "http://@example.org/",
            "http://a@b@example.org/",
        ),
        *("http://example.org@127.0.0.1/", "http://127.0.0.1:80@example.org/", "http://example.org%40@127.0.0.1/"),
    ],
    "URL_SCHEME": [
        *(
            "ftp://example.org/",
            "file:///etc/passwd",
            "gopher://example.org/",
            "ws://example.org/",
            "javascript://x/%0aa",
        ),
        *("data://text/plain,a", "httpx://example.org/", "unix://run/socket", "dict://127.0.0.1:11211/"),
    ],
    "URL_PORT": [
        *("http://example.org:0/", "http://example.org:65536/", "http://example.org:99999/", "http://example.org:080/"),
        *("http://example.org:-1/", "http://example.org:+80/", "http://example.org:8e1/", "http://example.org:0x50/"),
    ],
    "URL_UNREADABLE": [
        *("", " ", "example.org", "//example.org/", "http:example.org", "http:/example.org", "http:\\\\example.org\\"),
        *(
            "http://example.org\\@127.0.0.1/",
            "http://127.0.0.1\\.example.org/",
            " http://example.org/",
            "http://exa mple.org/",
        ),
        *(
            "http://example.org/\r\nHost: x",
            "http://example.org/a\tb",
            "http://exam\nple.org/",
            "\x00http://example.org/",
        ),
        *(
            "http://bücher.example/",
            "http://ｌｏｃａｌｈｏｓｔ/",
            "http://①②⑦.⓪.⓪.①/",
            "http://127。0。0。1/",
            "http://１２７.0.0.1/",
        ),
        *("http://exa\u00admple.org/", "http://example.org/ü", "http://a:80:80/", "http://[::1]x/", "http://a[::1]/"),
        *(
            "http://[::1]]/",
            "http://[::1/",
            "://example.org/",
            "1http://example.org/",
            "mailto:a@example.org",
            "http://\u202eexample.org/",
        ),
        "http://example.org/" + "a" * MAX_URL,
    ],
}
ACCEPTED = {
    "http://example.org": ("http", "example.org", 80, "/"),
    "https://example.org/": ("https", "example.org", 443, "/"),
    "HTTPS://EXAMPLE.ORG/Path?Query=1": ("https", "example.org", 443, "/Path?Query=1"),
    "https://example.org./": ("https", "example.org", 443, "/"),
    "https://example.org:/": ("https", "example.org", 443, "/"),
    "https://example.org:443/": ("https", "example.org", 443, "/"),
    "https://example.org:65535/a": ("https", "example.org", 65535, "/a"),
    "http://example.org:443/": ("http", "example.org", 443, "/"),
    "https://example.org?q": ("https", "example.org", 443, "/?q"),
    "https://example.org/?a=b?c#d": ("https", "example.org", 443, "/?a=b?c"),
    "https://example.org#@127.0.0.1/": ("https", "example.org", 443, "/"),
    "https://example.org/@127.0.0.1:80": ("https", "example.org", 443, "/@127.0.0.1:80"),
    "https://example.org?@127.0.0.1": ("https", "example.org", 443, "/?@127.0.0.1"),
    "https://example.org//127.0.0.1/../x": ("https", "example.org", 443, "//127.0.0.1/../x"),
    "https://xn--bcher-kva.example/": ("https", "xn--bcher-kva.example", 443, "/"),
    "https://XN--BCHER-KVA.example/": ("https", "xn--bcher-kva.example", 443, "/"),
    "https://127.0.0.1.nip.example/": ("https", "127.0.0.1.nip.example", 443, "/"),
    "https://localhost.example.org/": ("https", "localhost.example.org", 443, "/"),
    "https://notlocalhost/": ("https", "notlocalhost", 443, "/"),
    "https://router/": ("https", "router", 443, "/"),
    "https://_dmarc.example.org/": ("https", "_dmarc.example.org", 443, "/"),
    "https://1a.2b/": ("https", "1a.2b", 443, "/"),
    "https://0x7g.example/": ("https", "0x7g.example", 443, "/"),
    "https://3.14.example/": ("https", "3.14.example", 443, "/"),
    "https://a--b.example/": ("https", "a--b.example", 443, "/"),
    f"https://{'a' * 63}.example/": ("https", "a" * 63 + ".example", 443, "/"),
    "http://8.8.8.8/": ("http", "8.8.8.8", 80, "/"),
    "http://8.8.8.8.:8080/": ("http", "8.8.8.8", 8080, "/"),
    "http://93.184.215.14/%2e%2e/%00": ("http", "93.184.215.14", 80, "/%2e%2e/%00"),
    "https://[2606:4700:4700:0:0:0:0:1111]/": ("https", "2606:4700:4700::1111", 443, "/"),
    "https://[2606:4700:4700::1111]:8443/": ("https", "2606:4700:4700::1111", 8443, "/"),
    "https://[2606:4700:4700::ABCD]": ("https", "2606:4700:4700::abcd", 443, "/"),
    "https://[64:ff9b::8.8.8.8]/": ("https", "64:ff9b::808:808", 443, "/"),
}
NAME = Target("https", "example.org", 443, "/", None)
PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(("url", "code"), [(url, code) for code, urls in REFUSED.items() for url in urls])
def test_refused(url: str, code: str) -> None:
    refusal = judge_target(url)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code
    assert refusal.reason.endswith(".")
    assert "secret" not in refusal.reason


@pytest.mark.parametrize(("url", "parts"), ACCEPTED.items())
def test_accepted_and_read_in_one_way(url: str, parts: tuple[str, str, int, str]) -> None:
    target = judge_target(url)
    assert isinstance(target, Target)
    assert (target.scheme, target.host, target.port, target.path) == parts
    assert judge_target(target.url) == target
    assert (target.address is not None) == (":" in target.host or target.host.replace(".", "").isdigit())


def test_the_tables_are_of_a_size_to_mean_something() -> None:
    assert len({url for urls in REFUSED.values() for url in urls}) == sum(map(len, REFUSED.values())) >= 100
    assert len(ACCEPTED) >= 30


@pytest.mark.parametrize(
    ("addresses", "code"),
    [
        ([], "NO_ADDRESS"),
        (["127.0.0.1"], "ADDRESS_REFUSED"),
        ([PUBLIC, "10.0.0.1"], "ADDRESS_REFUSED"),
        (["10.0.0.1", PUBLIC], "ADDRESS_REFUSED"),
        ([PUBLIC, "2606:4700::1", "::ffff:192.168.0.1"], "ADDRESS_REFUSED"),
        ([PUBLIC, "fe80::1%eth0"], "ADDRESS_UNREADABLE"),
        (["2606:4700::1%1"], "ADDRESS_UNREADABLE"),
        (["2130706433"], "ADDRESS_UNREADABLE"),
        ([PUBLIC, ""], "ADDRESS_UNREADABLE"),
        (["example.org"], "ADDRESS_UNREADABLE"),
    ],
)
def test_one_bad_address_refuses_them_all(addresses: list[str], code: str) -> None:
    refusal = judge_addresses(NAME, addresses)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


def test_the_first_of_public_addresses_is_handed_out_exactly() -> None:
    assert judge_addresses(NAME, [PUBLIC]) == IPv4Address(PUBLIC)
    assert judge_addresses(NAME, ["2606:4700::1", PUBLIC]) == IPv6Address("2606:4700::1")
    assert judge_addresses(NAME, iter(["::ffff:8.8.8.8"])) == IPv6Address("::ffff:8.8.8.8")


def test_a_host_that_is_an_address_leads_to_that_address_alone() -> None:
    target = judge_target(f"http://{PUBLIC}/")
    assert isinstance(target, Target)
    assert judge_addresses(target, [PUBLIC]) == target.address
    for addresses in (["8.8.8.8"], [PUBLIC, "8.8.8.8"], [f"::ffff:{PUBLIC}"]):
        refusal = judge_addresses(target, addresses)
        assert isinstance(refusal, Refusal)
        assert refusal.code == "ADDRESS_NOT_OF_HOST"


def test_networks_of_the_machines_own_are_refused_on_every_hop() -> None:
    near = [IPv6Network("2001:470:1::/48")]
    step = follow("https://example.org/", near=near)
    assert isinstance(step, ToResolve)
    assert isinstance(step.resolved(["2001:470:1::5"]), Refusal)
    connect = step.resolved([PUBLIC])
    assert isinstance(connect, ToConnect)
    again = connect.redirected("/b")
    assert isinstance(again, ToResolve)
    assert isinstance(again.resolved(["2001:470:1::5"]), Refusal)
    assert isinstance(judge_addresses(NAME, ["2001:470:1::5"]), IPv6Address)


def connected(url: str, redirects: int = MAX_REDIRECTS) -> ToConnect:
    step = follow(url, redirects)
    assert isinstance(step, ToResolve)
    host = step.target.host
    connect = step.resolved([PUBLIC if step.target.address is None else host])
    assert isinstance(connect, ToConnect)
    return connect


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://example.org/b"),
        ("b?c", "https://example.org/a/b?c"),
        ("../b", "https://example.org/b"),
        ("?q", "https://example.org/a/x?q"),
        ("", "https://example.org/a/x"),
        ("#top", "https://example.org/a/x"),
        ("//other.example/b", "https://other.example/b"),
        ("https://other.example:8443/b", "https://other.example:8443/b"),
        ("HTTPS://OTHER.example./", "https://other.example/"),
    ],
)
def test_a_redirect_is_a_new_target_to_resolve(location: str, url: str) -> None:
    step = connected("https://example.org/a/x").redirected(location)
    assert isinstance(step, ToResolve)
    assert step.target.url == url
    assert step.redirects_left == MAX_REDIRECTS - 1
    assert isinstance(step.resolved(["127.0.0.1"]), Refusal)


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://127.0.0.1/", "URL_UNREADABLE|ADDRESS_REFUSED"),
        ("//169.254.169.254/latest", "ADDRESS_REFUSED"),
        ("//[::1]/", "ADDRESS_REFUSED"),
        ("https://2130706433/", "URL_HOST"),
        ("https://localhost/", "URL_HOST"),
        ("https://a@example.org/", "URL_USERINFO"),
        ("//a@example.org/", "URL_USERINFO"),
        ("http://example.org/", "REDIRECT_DOWNGRADED"),
        ("ftp://example.org/", "URL_SCHEME"),
        ("file:///etc/passwd", "URL_SCHEME"),
        ("javascript:alert(1)", "URL_UNREADABLE"),
        ("/a\r\nSet-Cookie: b", "URL_UNREADABLE"),
        ("/\t/127.0.0.1/", "URL_UNREADABLE"),
        ("/\\127.0.0.1/", "URL_UNREADABLE"),
        ("\\\\127.0.0.1/", "URL_UNREADABLE"),
        ("//[/", "URL_UNREADABLE"),
        ("//bücher.example/", "URL_UNREADABLE"),
        ("/" + "a" * MAX_URL, "URL_UNREADABLE"),
    ],
)
def test_a_redirect_is_judged_like_any_target(location: str, code: str) -> None:
    refusal = connected("https://example.org/a").redirected(location)
    assert isinstance(refusal, Refusal)
    assert refusal.code in code.split("|")


def test_redirects_end() -> None:
    connect = connected("https://example.org/", redirects=2)
    for hop in ("/1", "/2"):
        step = connect.redirected(hop)
        assert isinstance(step, ToResolve)
        again = step.resolved([PUBLIC])
        assert isinstance(again, ToConnect)
        connect = again
    refusal = connect.redirected("/3")
    assert isinstance(refusal, Refusal)
    assert refusal.code == "TOO_MANY_REDIRECTS"
    assert isinstance(connected("https://example.org/", redirects=0).redirected("/1"), Refusal)


def test_going_from_http_to_https_is_no_downgrade_and_another_origin() -> None:
    connect = connected("http://example.org/")
    step = connect.redirected("https://example.org/")
    assert isinstance(step, ToResolve)
    assert step.target.origin != connect.target.origin
    same = connect.redirected("/b")
    assert isinstance(same, ToResolve)
    assert same.target.origin == connect.target.origin


# --- Properties

PRIVATE = st.one_of(
    st.ip_addresses(v=4, network=network)
    for network in ("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12")
) | st.one_of(st.ip_addresses(v=4, network=network) for network in ("192.168.0.0/16", "224.0.0.0/4", "240.0.0.0/4"))


def _parts(number: int, count: int) -> list[int]:
    """The numbers of an address in `count` parts, of which the last holds the rest."""
    return [number >> 24 - 8 * place & 0xFF for place in range(count - 1)] + [number & (1 << 8 * (5 - count)) - 1]


@st.composite
def ipv4_spellings(draw: st.DrawFn) -> str:
    number = int(draw(PRIVATE))
    forms = [str, lambda part: f"0{part:o}", lambda part: f"0x{part:x}", lambda part: f"0X{part:08X}", "{:03d}".format]
    text = ".".join(draw(st.sampled_from(forms))(part) for part in _parts(number, draw(st.integers(1, 4))))
    if draw(st.booleans()):
        text = text.translate(draw(st.sampled_from([{ord(str(d)): 0xFF10 + d for d in range(10)}, {ord("."): "。"}])))
    if draw(st.booleans()):
        text = "".join(f"%{ord(char):02x}" if char.isascii() else char for char in text)
    return text + draw(st.sampled_from(["", "."]))


@st.composite
def ipv6_spellings(draw: st.DrawFn) -> str:
    ip = int(draw(PRIVATE))
    number = draw(
        st.sampled_from(
            [
                0xFFFF << 32 | ip,  # mapped
                ip,  # compatible
                0xFFFF << 48 | ip,  # translated
                0x64FF9B << 96 | ip,  # NAT64
                0x64FF9B0001 << 80 | ip,  # NAT64, local
                0x2002 << 112 | ip << 80 | 1,  # 6to4
                0x20010000 << 96 | 0x1234 << 48 | (ip ^ 0xFFFFFFFF),  # Teredo
                0x26064700 << 96 | 0x5EFE << 32 | ip,  # ISATAP
            ]
        )
    )
    address = IPv6Address(number)
    text = draw(st.sampled_from([str(address), address.exploded, address.exploded.upper()]))
    if draw(st.booleans()):
        head = ":".join(address.exploded.split(":")[:6])
        text = f"{head}:{IPv4Address(number & 0xFFFFFFFF)}"
    return text + draw(st.sampled_from(["", "", "%eth0", "%25eth0"]))


@given(
    st.one_of(ipv4_spellings(), ipv6_spellings().map("[{}]".format)),
    st.sampled_from(["http://", "https://", "HTTP://", "http://user@", "http://example.org@"]),
    st.sampled_from(["", "/", ":80/", ":8080/x", "?q", "#f"]),
)
@example("0x7f.1", "http://", "/")
def test_no_private_address_is_a_target_in_any_spelling(host: str, before: str, after: str) -> None:
    refusal = judge_target(before + host + after)
    assert isinstance(refusal, Refusal)
    hop = connected("https://example.org/").redirected(before + host + after)
    assert isinstance(hop, Refusal)


@given(st.one_of(ipv4_spellings(), ipv6_spellings()), st.booleans())
def test_no_private_address_is_handed_out_in_any_spelling(spelling: str, first: bool) -> None:
    addresses = [spelling, PUBLIC] if first else [PUBLIC, spelling]
    assert isinstance(judge_addresses(NAME, addresses), Refusal)


@given(st.lists(st.ip_addresses().map(str), max_size=4))
def test_whatever_is_handed_out_was_given_and_is_public(addresses: list[str]) -> None:
    found = judge_addresses(NAME, addresses)
    if isinstance(found, Refusal):
        assert found.code in ("NO_ADDRESS", "ADDRESS_REFUSED")
    else:
        assert str(found) == addresses[0]
        assert not_public(found) is None


URLISH = st.lists(
    st.sampled_from(
        [
            *"/?#@:.[]%\\ \t",
            "http",
            "https",
            "://",
            "example",
            "org",
            "127.0.0.1",
            "::1",
            "80",
            "localhost",
            "xn--",
            "ü",
        ]
    ),
    max_size=12,
).map("".join)


@given(st.text() | URLISH | URLISH.map("http://{}".format))
@example("http://example.org:80@127.0.0.1/")
@example("http://[::1]@example.org/")
def test_what_is_accepted_reads_the_same_to_others(url: str) -> None:
    target = judge_target(url)
    if isinstance(target, Refusal):
        return
    assert judge_target(target.url) == target
    for text in (url, target.url):
        other = urlsplit(text)
        assert other.scheme == target.scheme
        assert other.username is None
        host = (other.hostname or "").removesuffix(".")
        assert host == target.host or IPv6Address(host) == target.address
        assert (other.port or {"http": 80, "https": 443}[target.scheme]) == target.port


@given(st.text(max_size=40) | URLISH)
def test_any_location_is_judged(location: str) -> None:
    step = connected("https://example.org/a").redirected(location)
    if isinstance(step, ToResolve):
        assert judge_target(step.target.url) == step.target
        assert step.target.scheme == "https"
