"""What a text gives away that a Descriptor may not: addresses, credentials, endpoints, account identifiers.

A Descriptor holds shapes. A pattern here is one thing that is no shape, recognized by its syntax and, where it has
one, by its checksum. The invariant: the time is linear in the text, whatever the text is, so every pattern either has a
fixed beginning and a bounded length, or is asked of words that do not overlap. Ordinary prose is passed over by a few
looks at its characters.

Read as addresses, because nothing tells them apart: four numbers with dots that no word before them makes a version or
a section. Left alone: a network in CIDR notation, which is a range and not a place; names of two labels, which are as
often brands and files as hosts; UUIDs and hashes, which name things of every kind.

Source: chapter 6.4, rule 3; chapter 6.10, rule 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from heapq import merge
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import NamedTuple

from descriptor.errors import DescriptorError
from descriptor.keys import decode_seed


class Family(StrEnum):
    """What kind of thing is given away."""

    ADDRESS = "address"
    CREDENTIAL = "credential"
    ACCOUNT = "account"


class Leak(NamedTuple):
    """One thing given away: what it is, for people (`"an e-mail address"`), and where it stands in the text."""

    family: Family
    what: str
    start: int
    end: int


_FILE_ENDINGS = (
    "c|cc|conf|cpp|cs|css|csv|doc|docx|go|h|htm|html|ini|ipynb|java|jpg|js|json|jsx|kt|lock|log|md|pdf|php|png|py|rb|rs|"
    "rst|sh|sql|svg|swift|tex|toml|ts|tsv|tsx|txt|xls|xlsx|xml|yaml|yml"
)
_HOST_ENDINGS = (
    "ai|app|at|be|biz|ch|cloud|cn|co|com|de|dev|dk|edu|es|eu|example|fi|fr|gov|ie|info|io|it|jp|mil|net|nl|no|nz|org|pl|"
    "pt|se|site|tech|test|uk|us|xyz"
)
_PRIVATE_ENDINGS = "arpa|corp|home|internal|intranet|lan|local|localdomain|onion"
_LABEL = r"[A-Za-z0-9][A-Za-z0-9-]{0,62}+"

_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s<>\"'`)\]}]{1,200}")
_OPAQUE_URL = re.compile(
    r"(?<![\w.+-])(?:mailto:\S{3,100}|data:[a-z]{1,20}/[^\s,]{1,60},|file:/\S{2,100}|tel:\+?\d{3,20})"
)
_LOCAL_PART = re.compile(r"[\w.%+-]{1,64}\Z", re.ASCII)
_DOMAIN = re.compile(rf"(?:{_LABEL}\.){{1,8}}[A-Za-z]{{2,24}}(?![\w-])", re.ASCII)
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\.?\w)(?:/\d{1,2}(?!\d))?", re.ASCII)
_COUNTED = re.compile(
    r"(?:\b(?:versions?|release|build|firmware|kernel|driver|sections?|chapters?|clauses?|articles?|paragraphs?|part|"
    r"figure|table|appendix|annex|rule|step|item|rev(?:ision)?|no)\b\.?|§)[\s:=#(\"'-]{0,3}\Z",
    re.IGNORECASE | re.ASCII,
)
_IPV6 = re.compile(
    r"(?<![\w:.])[0-9A-Fa-f:]{2,39}(?:\.\d{1,3}){0,3}(?![\w:])(?:%\w{1,15})?(?:/\d{1,3}(?!\d))?", re.ASCII
)
_HARDWARE = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])", re.ASCII)
_HOST_PORT = re.compile(
    rf"(?<![\w.@/-])(?:localhost|(?:{_LABEL}\.){{1,6}}(?!(?:{_FILE_ENDINGS}):)[A-Za-z]{{2,24}}):\d{{2,5}}(?!\w)",
    re.ASCII,
)
_HOST = re.compile(
    rf"(?<![\w.@/-])(?!(?:com|org|net|io|vnd|x|dev|app)\.)(?:www\.(?:{_LABEL}\.){{1,5}}[A-Za-z]{{2,24}}"
    rf"|(?:{_LABEL}\.){{2,6}}(?:{_HOST_ENDINGS})|(?:{_LABEL}\.){{1,6}}(?:{_PRIVATE_ENDINGS}))(?![\w-]|\.\w)",
    re.ASCII,
)
_ROOTS = (
    "Applications|Library|Users|Volumes|bin|boot|dev|etc|home|lib|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|"
    "usr|var"
)
# The slash comes first, and what stands before it second, so that a text is searched at the speed of its slashes.
_ROOTED_PATH = re.compile(rf"/(?<![\w/.:<>~)\]}}-]/)(?:{_ROOTS})/[\w.+@-]", re.ASCII)
_HOME_PATH = re.compile(r"(?<![\w~/])~[\w-]{0,32}/[\w.]|\$\{?HOME\}?/[\w.]|%[A-Z]{3,20}%\\", re.ASCII)
_WINDOWS_PATH = re.compile(
    r"(?<![\w])[A-Za-z]:\\[\w.$ ]|(?<![\w])[A-Za-z]:/(?:Users|Windows|Program)|(?<![\\\w])\\\\[\w.-]{1,60}\\[\w$.-]",
    re.ASCII,
)
_PHONE = re.compile(
    r"(?<![\w+.,-])(?:\+\d(?:[ ()./-]{0,2}\d){7,14}|\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}([-. ])\d{3}\1\d{4})"
    r"(?![\w-]|[.,]\d)",
    re.ASCII,
)
_TOLD_PHONE = re.compile(
    r"\b(?:tel|phone|telephone|fax|mobile|whatsapp|call)\b[\s.:(]{0,3}(?:us|me|no|number|at|on)?[\s.:]{0,2}"
    r"\(?\+?\d(?:[ ()/.-]{0,2}\d){5,14}(?!\w)",
    re.IGNORECASE | re.ASCII,
)

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{3,40}-----")
_WORD = re.compile(r"[\w./+=:-]{16,}", re.ASCII)
_TOKEN = re.compile(
    r"(?:.{0,40}?[=:])??(?P<token>"
    r"(?P<jwt>eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{0,})"
    r"|(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}"
    r"|gh[opsur]_\w{36,}|github_pat_\w{22,}|glpat-[\w-]{20,}"
    r"|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{20,}"
    r"|[prs]k_(?:live|test)_\w{16,}|whsec_[\w+/=]{16,}"
    r"|sk-[\w-]{20,}"
    r"|AIza[\w-]{35}|ya29\.[\w-]{20,}"
    r"|npm_\w{36}|pypi-[\w-]{50,}|hf_\w{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|SK[0-9a-f]{32}|dop_v1_[0-9a-f]{64}"
    r"|\d{8,10}:[\w-]{35}|AGE-SECRET-KEY-1[0-9A-Z]{58}|AAAA[BC]3Nza[\w+/=]{20,}"
    r"|(?P<seed>S[A-Z][A-Z2-7]{56})"
    r")[.=]{0,2}",
    re.ASCII,
)
_SCHEME_TOKEN = re.compile(
    r"\b(?i:bearer|basic)\s{1,3}(?=[\w.~+/=-]{0,60}[A-Z0-9])(?=[\w.~+/=-]{0,60}[a-z])[\w.~+/=-]{16,}", re.ASCII
)
_SAID = re.compile(
    r"(?<![A-Za-z])(?:api[_ -]?key|access[_ -]?key|token|secret|passw(?:or)?d|pwd|passphrase|credentials?)\b"
    r"(?:\s{0,2}[:=]\s{0,2}|\s{1,2}is\s{1,2})[\"'`]?(?=[^\s\"'`]{0,40}\d)(?=[^\s\"'`]{0,40}[A-Za-z])[^\s\"'`]{6,}",
    re.IGNORECASE | re.ASCII,
)
_TELLING = re.compile(
    r"(?:^|[_\W])(?:api_?key|access_?key|private_?key|secret|client_?secret|password|passwd|passphrase|token|access_?token|"
    r"bearer|credentials?|auth)(?:$|[_\W])",
    re.IGNORECASE | re.ASCII,
)
_RANDOM = re.compile(r"(?=[\w+/=.~-]*\d)(?=[\w+/=.~-]*[A-Za-z])[\w+/=.~-]{12,}", re.ASCII)

# The first character comes first, and what may not stand before it second, as above.
_IBAN = re.compile(r"[A-Z](?<!\w[A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?!\w)", re.ASCII)
_CARD = re.compile(r"[3-6](?<![\w.,:+-][3-6])\d{3}(?:[ -]?\d){9,15}(?![\w-]|[.,]\d)", re.ASCII)
_WALLET = re.compile(r"(?<!\w)(?:0x[0-9a-fA-F]{40}|bc1[02-9ac-hj-np-z]{38,58})(?!\w)", re.ASCII)
_SAID_ACCOUNT = re.compile(
    r"\b(?:account|customer|tenant|subscription|client|member|user)[_ -]?(?:id|identifier|no\.?|number|#)"
    r"(?:\s{0,2}[:=#]?\s{0,2}|\s{1,2}is\s{1,2})(?=[\w-]{0,40}\d)[\w-]{4,}"
    r"|\b(?:acct|cus|sub|org|proj|tenant|usr)_(?=\w{0,30}\d)\w{10,}",
    re.IGNORECASE | re.ASCII,
)

# What has to be in a text, in lower case, before the pattern above is asked.
_TOKEN_MARKS = (
    *("eyJ", "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "xapp-", "_live_", "_test_", "whsec_", "sk-", "AIza", "ya29.", "npm_", "pypi-", "hf_", "SG."),
    *("dop_v1_", "AGE-SECRET", "AAAA", "SU"),
)
# How what such a pattern finds begins, in lower case: a text is searched for these first, at the speed of C.
_OPAQUE_SCHEMES = ("mailto:", "data:", "file:/", "tel:")
_PHONE_WORDS = ("tel", "phone", "fax", "mobile", "whatsapp", "call")
_CREDENTIAL_WORDS = ("api", "access", "token", "secret", "passw", "pwd", "passphrase", "credential")
_ACCOUNT_WORDS = (
    *("account", "customer", "tenant", "subscription", "client", "member", "user"),
    *("acct_", "cus_", "sub_", "org_", "proj_", "usr_"),
)
# One look at a text that gives nothing away: without any of these in it, no pattern finds anything.
_ANYTHING = re.compile(r"[0-9@/\\~%:]|\.[^\W_]", re.ASCII)
_OTHERWISE = ("-----BEGIN", "earer ", "asic ", "EARER ", "ASIC ", "HOME")
_DIGIT = re.compile(r"\d", re.ASCII)
# What stands in the midst of whatever the pattern finds; its first character is the rarest.
_IN_IPV4 = re.compile(r"\.(?<=\d\.)\d{1,3}\.\d{1,3}\.\d", re.ASCII)
_IN_IPV6 = re.compile(r":(?::|[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:)")
_IN_HARDWARE = re.compile(r"[:-](?<=[0-9A-Fa-f]{2}[:-])[0-9A-Fa-f]{2}[:-]")
_IN_PHONE = re.compile(r"[-. ](?<=\d{3}[-. ])\d{3}[-. ]\d{4}", re.ASCII)
_IN_HOST_PORT = re.compile(r":(?<=[A-Za-z]:)\d\d", re.ASCII)
_IN_WINDOWS_PATH = re.compile(r":(?<=[A-Za-z]:)(?:\\|/[UWP])|\\\\[\w.-]", re.ASCII)
_IN_HOST = re.compile(rf"\.(?=[A-Za-z]{{2}})(?:{_HOST_ENDINGS}|{_PRIVATE_ENDINGS})(?![\w-]|\.\w)", re.ASCII)
_WIDE = 16  # characters of a word from which on it may be a token

Spans = Iterator[tuple[int, int]]


def leaks(text: str, name: str = "") -> Iterator[Leak]:
    """What `text` gives away, in the order of its patterns. `name`: of the member that holds it, which may tell.

    A text under a telling name, such as `api_key`, is a credential when it looks like chance made it. Under a name with
    `version` in it, four numbers with dots are a version.

    >>> [leak.what for leak in leaks("Write to ada@example.org or see https://example.org/ada.")]
    ['a URL', 'an e-mail address']
    """
    if _ANYTHING.search(text) is None and not any(mark in text for mark in _OTHERWISE):
        return
    digits = _digits(text)
    if ":" in text or "@" in text or "/" in text or "\\" in text or "." in text:
        yield from _addresses(text, name, digits)
    if digits:
        yield from _numbers(text, digits)
    yield from _credentials(text, name, digits)


def credentials(text: str, name: str = "") -> Iterator[Leak]:
    """What of it is a credential, as `leaks` tells it."""
    return _credentials(text, name, _digits(text))


def _credentials(text: str, name: str, digits: int) -> Iterator[Leak]:
    if "-----BEGIN" in text:
        yield from _all(Family.CREDENTIAL, "a key or certificate (PEM)", text, _PEM)
    if len(text) >= _WIDE and (digits >= 4 or any(mark in text for mark in _TOKEN_MARKS)):
        yield from _tokens(text)
    if digits and (":" in text or "=" in text or " is " in text):
        yield from _begun(Family.CREDENTIAL, "a credential after its name", text, _SAID, _CREDENTIAL_WORDS)
    if "earer" in text or "asic" in text or "EARER" in text or "ASIC" in text:
        yield from _all(Family.CREDENTIAL, "a token after its scheme", text, _SCHEME_TOKEN)
    if digits and name and tells_of_credentials(name) and _RANDOM.fullmatch(text):
        yield Leak(Family.CREDENTIAL, "a credential under a name that says so", 0, len(text))


def tells_of_credentials(name: str) -> bool:
    """Whether the name of a member says that what it holds is a credential."""
    return _TELLING.search(name) is not None


def _all(family: Family, what: str, text: str, pattern: re.Pattern[str]) -> Iterator[Leak]:
    return (Leak(family, what, *match.span()) for match in pattern.finditer(text))


def _begun(family: Family, what: str, text: str, pattern: re.Pattern[str], words: tuple[str, ...]) -> Iterator[Leak]:
    """As `_all`, of a pattern that finds nothing but what begins with one of these words, in any letter case."""
    folded = text.lower()
    if len(folded) != len(text):  # a letter that is two in lower case: the places in both are not the same
        yield from _all(family, what, text, pattern)
        return
    end = 0
    for start in merge(*(_places(folded, word) for word in words if word in folded)):  # a text may hold very many
        match = pattern.match(text, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield Leak(family, what, *match.span())


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _digits(text: str) -> int:
    return sum(map(text.count, "0123456789")) if _DIGIT.search(text) else 0


def _addresses(text: str, name: str, digits: int) -> Iterator[Leak]:
    if "://" in text:
        yield from _all(Family.ADDRESS, "a URL", text, _URL)
    if ":" in text:
        yield from _begun(Family.ADDRESS, "a URL", text, _OPAQUE_URL, _OPAQUE_SCHEMES)
    if "@" in text:
        yield from (Leak(Family.ADDRESS, "an e-mail address", *span) for span in _emails(text))
    if digits >= 4 and _IN_IPV4.search(text) and "version" not in name.lower():
        yield from (Leak(Family.ADDRESS, "an IPv4 address", *span) for span in _ipv4(text))
    if digits and _IN_IPV6.search(text):
        yield from (Leak(Family.ADDRESS, "an IPv6 address", *span) for span in _ipv6(text))
    if digits and _IN_HOST_PORT.search(text):
        yield from _all(Family.ADDRESS, "a host name with a port", text, _HOST_PORT)
    if "www." in text or _IN_HOST.search(text):
        yield from _all(Family.ADDRESS, "a host name", text, _HOST)
    if "/" in text:
        yield from _all(Family.ADDRESS, "a file-system path", text, _ROOTED_PATH)
    if "~" in text or "HOME" in text or "%\\" in text:
        yield from _all(Family.ADDRESS, "a file-system path", text, _HOME_PATH)
    if ("\\" in text or ":/" in text) and _IN_WINDOWS_PATH.search(text):
        yield from _all(Family.ADDRESS, "a file-system path", text, _WINDOWS_PATH)


def _emails(text: str) -> Spans:
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        if domain is not None and (local := _LOCAL_PART.search(text, max(0, at - 64), at)):
            yield local.start(), domain.end()
        at = text.find("@", at + 1)


def _ipv4(text: str) -> Spans:
    for match in _IPV4.finditer(text):
        address, _, prefix = match[0].partition("/")
        if _is_place(IPv4Address, IPv4Network, address, prefix) and not _COUNTED.search(
            text, max(0, match.start() - 24), match.start()
        ):
            yield match.span()


def _ipv6(text: str) -> Spans:
    for match in _IPV6.finditer(text):
        address, _, prefix = match[0].partition("/")
        # Two names with :: between them are how several languages write a path.
        if match[0].count(":") < 2 or not _DIGIT.search(match[0]):
            continue
        if _is_place(IPv6Address, IPv6Network, address, prefix):
            yield match.span()


def _is_place(
    of_address: type[IPv4Address | IPv6Address],
    of_network: type[IPv4Network | IPv6Network],
    address: str,
    prefix: str,
) -> bool:
    """Whether this is the address of a place, and not of a range, or none at all."""
    try:
        of_address(address)
    except AddressValueError:
        return False
    if not prefix:
        return True
    try:
        of_network(f"{address.partition('%')[0]}/{prefix}")
    except ValueError:
        return True  # it has bits of a host
    return False


def _numbers(text: str, digits: int) -> Iterator[Leak]:
    if _IN_HARDWARE.search(text):
        yield from _all(Family.ADDRESS, "a hardware address", text, _HARDWARE)
    if digits >= 8:
        if "+" in text or "(" in text or _IN_PHONE.search(text):
            yield from _all(Family.ADDRESS, "a phone number", text, _PHONE)
        for match in _IBAN.finditer(text):
            if _is_iban(match[0].replace(" ", "")):
                yield Leak(Family.ACCOUNT, "a bank account number (IBAN)", *match.span())
    if digits >= 6:
        yield from _begun(Family.ADDRESS, "a phone number", text, _TOLD_PHONE, _PHONE_WORDS)
    if digits >= 13:
        for match in _CARD.finditer(text):
            if _is_card(match[0].replace(" ", "").replace("-", "")):
                yield Leak(Family.ACCOUNT, "a card number", *match.span())
    if "0x" in text or "bc1" in text:
        yield from _all(Family.ACCOUNT, "a wallet address", text, _WALLET)
    yield from _begun(Family.ACCOUNT, "an account identifier", text, _SAID_ACCOUNT, _ACCOUNT_WORDS)


def _is_iban(text: str) -> bool:
    turned = text[4:] + text[:4]
    return 15 <= len(text) <= 34 and int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _is_card(digits: str) -> bool:
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    total = 0
    for place, digit in enumerate(map(int, reversed(digits))):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _tokens(text: str) -> Iterator[Leak]:
    for word in _WORD.finditer(text):
        match = _TOKEN.fullmatch(word[0])
        if match is None or (match["seed"] and not _is_seed(match["seed"])):
            continue
        what = "a signed token (JWT)" if match["jwt"] else "a key or token"
        yield Leak(Family.CREDENTIAL, what, word.start() + match.start("token"), word.end())


def _is_seed(text: str) -> bool:
    try:
        decode_seed(text)
    except DescriptorError:
        return False
    return True
