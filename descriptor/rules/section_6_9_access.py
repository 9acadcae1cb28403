"""Chapter 6.9, access and compliance: who gets in, what a caller presents, and what postures are claimed.

Schemes are shapes: they name a header, and never hold what is in it. What is never in an access block is looked for at
every depth of it and under any name, because it is served to strangers, and a registry refuses the document by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from descriptor.errors import DescriptorError
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.section_6_4 import given_away
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp
from descriptor.vocabulary import ADMISSION, SCHEME_TRANSPORTS, SCHEME_TYPES

_TOKEN = re.compile(r"[a-z0-9][a-z0-9._+-]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# A header's name (RFC 9110 section 5.6.2), and a name with what would be in the header behind it.
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_AND_VALUE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\s?[:=]\s*\S.*", re.DOTALL)
_FOLLOWED = re.compile(r"https?://[^\s/?#]+(?:[/?#]\S*)?", re.IGNORECASE)
# Names of what would hold the callers that get in, or do not; compared without case and separators.
_MEMBERSHIP = frozenset(
    {
        *("allow", "allowed", "allowedcallers", "allowlist", "whitelist", "members", "membership", "roster"),
        *("deny", "denied", "denylist", "block", "blocked", "blocklist", "callers", "clients", "customers", "users"),
    }
)
# Names of what would hold one caller's own value; compared without case and separators.
_VALUES = frozenset(
    {
        *("apikey", "credential", "credentials", "key", "password", "passphrase", "secret", "sharedsecret"),
        *("clientid", "clientsecret", "token", "tokens", "accesstoken", "bearertoken", "refreshtoken"),
        *("account", "accountid", "tenant", "tenantid", "url", "callbackurl", "value", "values"),
    }
)

_Block = dict[str, JsonValue]


def _block(document: Document) -> _Block:
    value = document.get("access")
    return value if isinstance(value, dict) else {}


def _access(document: Document) -> Iterator[Problem]:
    yield from forms.mapping(document, "access", ())
    access = _block(document)
    yield from forms.word(access, "admission", ("access",), ADMISSION)
    yield from forms.text(access, "statement", ("access",))


def _schemes(document: Document) -> Iterator[Problem]:
    access = _block(document)
    yield from forms.list_of_objects(access, "schemes", ("access",))
    seen = set()
    for index, scheme in objects(access.get("schemes")):
        path: forms.Path = ("access", "schemes", index)
        yield from forms.text(scheme, "id", path, required=True)
        yield from forms.word(scheme, "transport", path, SCHEME_TRANSPORTS, required=True)
        yield from forms.word(scheme, "type", path, SCHEME_TYPES, required=True)
        for name in ("in", "name", "scheme", "description"):
            yield from forms.text(scheme, name, path)
        header = scheme.get("name")
        if isinstance(header, str) and header.strip() and _is_misspelled(header, (*path, "name")):
            yield pointer_to(*path, "name"), f"{described(header)} is no name of a header, such as X-Door-Key."
        if isinstance(scheme_id := scheme.get("id"), str) and scheme_id.strip():
            if scheme_id in seen:
                yield pointer_to(*path, "id"), f"{described(scheme_id)} is the `id` of two schemes."
            seen.add(scheme_id)


def _is_misspelled(header: str, path: forms.Path) -> bool:
    if _HEADER.fullmatch(header):
        return False
    # A header with what is in it is worse than misspelled, and `_secrets` tells.
    return not _HEADER_AND_VALUE.fullmatch(header) and next(given_away(header, path), None) is None


def _membership(document: Document) -> Iterator[Problem]:
    for path, value in _members(document.get("access"), ("access",)):
        if _plain(path[-1]) in _MEMBERSHIP and isinstance(value, list | dict):
            yield pointer_to(*path), f"{described(path[-1])} would publish who gets in."


def _secrets(document: Document) -> Iterator[Problem]:
    access = document.get("access")
    told = set()
    for path, value in _members(access, ("access",)):
        if _plain(path[-1]) in _VALUES:
            told.add(where := pointer_to(*path))
            yield where, f"{described(path[-1])} would hold what one caller presents or is known by."
        elif path[-1] == "name" and isinstance(value, str) and _HEADER_AND_VALUE.fullmatch(value):
            told.add(where := pointer_to(*path))
            yield where, "This is a header with what is in it, where only the name of a header belongs."
    yield from (problem for problem in given_away(access, ("access",)) if not _within(problem[0], told))


def _within(pointer: str, places: set[str]) -> bool:
    """Whether `pointer` leads to one of `places` or into it."""
    steps = pointer.split("/")
    return any("/".join(steps[:end]) in places for end in range(2, len(steps) + 1))


def _plain(name: str | int) -> str:
    return str(name).lower().replace("_", "").replace("-", "")


def _members(value: JsonValue, path: forms.Path) -> Iterator[tuple[forms.Path, JsonValue]]:
    """Every member of every object within `value`, which stands at `path`: its own path, and its value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name), inner
            yield from _members(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _members(inner, (*path, index))


def _compliance(document: Document) -> Iterator[Problem]:
    yield from forms.list_of_objects(document, "compliance", ())
    for index, claim in objects(document.get("compliance")):
        path: forms.Path = ("compliance", index)
        yield from forms.text(claim, "standard", path, required=True)
        standard = claim.get("standard")
        if isinstance(standard, str) and standard.strip() and not _TOKEN.fullmatch(standard):
            yield (
                pointer_to(*path, "standard"),
                f"{described(standard)} is no token of lower-case letters and digits, such as iso-27001.",
            )
        yield from forms.text(claim, "scope", path, required=True)
        yield from forms.mapping(claim, "attestation", path)
        attestation = claim.get("attestation")
        if isinstance(attestation, dict):
            yield from _attestation(attestation, (*path, "attestation"))


def _attestation(attestation: _Block, path: forms.Path) -> Iterator[Problem]:
    yield from forms.text(attestation, "by", path, required=True)
    yield from forms.text(attestation, "url", path)
    yield from forms.text(attestation, "expires_at", path)
    url = attestation.get("url")
    if isinstance(url, str) and url.strip() and not _FOLLOWED.fullmatch(url):
        yield pointer_to(*path, "url"), f"{described(url)} is no URL that a reader can follow."
    expires = attestation.get("expires_at")
    if isinstance(expires, str) and expires.strip() and not is_moment(expires):
        yield pointer_to(*path, "expires_at"), f"{described(expires)} is no date or time, such as 2027-06-30."


def is_moment(text: str) -> bool:
    """Whether `text` is a date, or a time as RFC 3339 writes it."""
    try:
        parse_timestamp(f"{text}T00:00:00Z" if _DATE.fullmatch(text) else text)
    except DescriptorError:
        return False
    return True


RULES = (
    Rule(
        "D6.9-access",
        "6.9",
        Severity.ERROR,
        "`access` says who gets in: `admission` is one of " + ", ".join(ADMISSION) + ", and `statement` says it in "
        "words.",
        "Write one of the four words, or leave `admission` out; readers take any other word as not stated.",
        _access,
    ),
    Rule(
        "D6.9-access-scheme",
        "6.9",
        Severity.ERROR,
        "A scheme says how a caller presents identity: an `id`, a `transport` (" + " or ".join(SCHEME_TRANSPORTS) + ") "
        "and a `type`; `name` is the name of a header. An empty list says that nothing has to be presented.",
        'Write it as {"id": "household", "transport": "mesh", "type": "mesh-identity"}. The types are '
        + ", ".join(SCHEME_TYPES)
        + ".",
        _schemes,
    ),
    Rule(
        "D6.9-access-membership",
        "6.9",
        Severity.ERROR,
        "Who is on an access list is never published.",
        "Take the list out; the door is kept in the roster, which stays with the node.",
        _membership,
    ),
    Rule(
        "D6.9-access-secret",
        "6.9",
        Severity.ERROR,
        "An access declaration carries no credential, token, key, secret, account or tenant identifier, and nothing "
        "that differs from one caller to the next.",
        "Name the header or the scheme, never what is in it. A registry refuses the document, and what was published "
        "has leaked already: revoke it.",
        _secrets,
    ),
    Rule(
        "D6.9-compliance",
        "6.9",
        Severity.ERROR,
        "A compliance posture names a `standard` as a token, its `scope` in words, and may point at an `attestation`.",
        'Write it as {"standard": "iso-27001", "scope": "…", "attestation": {"by": "…", "url": "…", "expires_at": '
        '"2027-06-30"}}.',
        _compliance,
    ),
)
