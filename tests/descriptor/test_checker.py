"""The checker: every rule is broken by a document that breaks it alone, and by no sound one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.checker import MOST_FINDINGS_OF_A_RULE, Finding, Report, Rule, Severity, check
from descriptor.document import Descriptor
from descriptor.pointers import pointer_to, tokens
from descriptor.rules.chapter import RULES
from tests.descriptor.rules.cases import BOUND, DRAFT, ID, SEALED, SEED, signed, without

EMPTY: dict[str, Any] = {"inputs": [], "outputs": []}


def offerings(*kinds: Any) -> dict[str, Any]:
    inputs = [{"name": f"i{place}", "kind": kind} for place, kind in enumerate(kinds)]
    outputs = [{"name": "o", "kind": "text", "when": "per_task"}]
    read = {"id": "read", "name": "Read", "description": "Reads.", "inputs": inputs, "outputs": outputs}
    return {"offerings": [{"id": "first", "name": "First", "description": "Is first.", **EMPTY}, read]}


def report(document: object) -> Report:
    return check(json.dumps(document).encode())


def broken(document: object) -> list[tuple[str, str]]:
    return [(finding.rule, finding.pointer) for finding in report(document).findings]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(DRAFT, id="draft"),
        pytest.param({**DRAFT, "sealing": "required"}, id="draft that asks to be sealed to"),
        pytest.param({**DRAFT, "signatures": [{"tag": "vouched-v1"}]}, id="draft with another signature"),
        pytest.param({**DRAFT, **offerings("text", "url", "application/pdf", "Image/PNG")}, id="draft with kinds"),
        pytest.param({**DRAFT, "unknown": {"shape": 1}}, id="unknown members"),
        pytest.param(signed(BOUND), id="bound"),
        pytest.param(signed({**BOUND, "subject": {"id": ID}}), id="bound without a handle"),
        pytest.param(signed({**BOUND, "acts_for": "anyone"}), id="acts for anyone"),
        pytest.param(signed({**BOUND, "acts_for": "organization"}), id="organization, not named"),
        pytest.param(signed({**BOUND, "acts_for": "organization", "organization_name": "Ad"}), id="organization"),
        pytest.param(signed(SEALED), id="sealed"),
        pytest.param(signed(without(SEALED, "sealing")), id="a key and no posture"),
        pytest.param({**DRAFT, "n": [2**53, -(2**53), 1e300]}, id="numbers a double holds"),
    ],
)
def test_a_sound_document_is_clean(document: dict[str, Any]) -> None:
    result = report(document)
    assert result.findings == ()
    assert result.verdict == "clean"
    assert result.errors == ()
    assert result.descriptor == Descriptor.read(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("subject", "pointer"),
    [
        (None, "/subject"),
        ("U", "/subject"),
        ([ID], "/subject"),
        ({}, "/subject/id"),
        ({"id": 7}, "/subject/id"),
        ({"id": ID[:-1] + "A"}, "/subject/id"),
        ({"id": SEED}, "/subject/id"),
        ({"handle": "reader.example"}, "/subject/id"),
    ],
)
def test_a_subject_that_names_no_key_is_an_error(subject: Any, pointer: str) -> None:
    found = [finding for finding in report({**BOUND, "subject": subject}).errors if finding.rule == "D6.2-subject"]
    assert [finding.pointer for finding in found] == [pointer]
    assert SEED not in found[0].message


@pytest.mark.parametrize(
    "change", [lambda d: d.update(does="Other."), lambda d: d["signatures"][0].update(sig="A" * 86 + "==")]
)
def test_a_signature_over_something_else_is_failed(change: Callable[[dict[str, Any]], None]) -> None:
    document = signed(BOUND)
    change(document)
    (finding,) = report(document).findings
    assert (finding.rule, finding.severity) == ("D6.6-signature", Severity.ERROR)
    assert finding.pointer.startswith("/signatures/0")


def test_a_key_claim_of_another_key_is_failed() -> None:
    (finding,) = report(signed({**SEALED, "encryption_key": "A" * 43})).findings
    assert (finding.rule, finding.severity) == ("D6.9-key-claim", Severity.ERROR)


def test_a_key_without_a_claim_is_failed() -> None:
    (finding,) = report(signed(without(SEALED, "trust"))).findings
    assert (finding.rule, finding.severity) == ("D6.9-key-claim", Severity.ERROR)


def test_a_warning_alone_is_a_finding_and_no_error() -> None:
    result = report(BOUND)
    assert result.verdict == "findings"
    assert result.errors == ()


@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        (b"", "NOT_JSON", None),
        (b"{", "NOT_JSON", None),
        (b"[]", "NOT_AN_OBJECT", ""),
        (b'{"a":1,"a":1}', "DUPLICATE_MEMBER", None),
        (b"\xef\xbb\xbf{}", "BYTE_ORDER_MARK", None),
        (b'{"a":"\xff"}', "NOT_UTF8", None),
        (b'{"a":"' + b"x" * 2**20 + b'"}', "TOO_LARGE", None),
        (b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", "TOO_DEEP", None),
    ],
)
def test_unreadable_bytes_are_one_finding_with_the_code(data: bytes, code: str, pointer: str | None) -> None:
    result = check(data)
    assert result.verdict == "unreadable"
    assert result.descriptor is None
    (finding,) = result.findings
    assert (finding.rule, finding.severity) == (code, Severity.ERROR)
    assert pointer is None or finding.pointer == pointer
    assert finding.message
    assert finding.remedy
    assert result.errors == result.findings


def test_findings_stand_in_the_order_of_the_document() -> None:
    output = {"name": "o", "kind": "b", "when": "per_task"}
    inputs = [{"name": f"i{place}", "kind": "x"} for place in range(11)]
    document = {
        "shape": {},
        "n": {"z": 2**60, "a": 2**60},
        "offerings": [{"outputs": [output], "inputs": inputs, "id": "i", "name": "n", "description": "d"}],
        "format": "x",
        "agent_version": "",
    }
    assert [finding.pointer for finding in report(document).findings] == [
        "/shape",
        "/n/z",
        "/n/a",
        "/offerings/0/outputs/0/kind",
        *(f"/offerings/0/inputs/{place}/kind" for place in range(11)),
        "/format",
        "/agent_version",
        "/does",
    ]


def test_a_mistake_made_very_often_is_listed_a_hundred_times() -> None:
    findings = report({**DRAFT, **offerings(*["pdf"] * (MOST_FINDINGS_OF_A_RULE + 1))}).findings
    assert len(findings) == MOST_FINDINGS_OF_A_RULE
    assert "more like this" in findings[-1].message
    assert "more like this" not in findings[-2].message
    findings = report({**DRAFT, **offerings(*["pdf"] * MOST_FINDINGS_OF_A_RULE)}).findings
    assert "more like this" not in findings[-1].message


def test_the_table_is_one_to_add_rules_to() -> None:
    rule = Rule("X", "6.2", Severity.NOTE, "No x.", "Take x out.", lambda document: iter([("/x", "x.")]))
    assert check(b'{"x": 1}', [rule]).findings == (Finding("/x", "X", "6.2", Severity.NOTE, "x.", "Take x out."),)


@pytest.mark.parametrize(
    "pointer", ["", "/", "/x/²", "/x/-", "/x/1", "/x/0/y", "/x/00000", "no pointer", "/x/" + "9" * 5_000]
)
def test_a_rule_may_point_anywhere(pointer: str) -> None:
    rule = Rule("X", "6.2", Severity.NOTE, "x.", "x.", lambda document: iter([(pointer, "x."), ("/x", "x.")]))
    assert {finding.pointer for finding in check(b'{"x": [1]}', [rule]).findings} == {pointer, "/x"}


def test_rules_say_what_they_are() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.id.startswith(f"D{rule.section}-")
        assert rule.sentence.endswith(".")
        assert rule.remedy.rstrip('"').endswith(".")


# Objects that look like Descriptors in their names and like anything in their values.

names = st.sampled_from(
    [
        *("format", "agent_version", "does", "subject", "id", "handle", "acts_for", "organization_name", "shape"),
        *("offerings", "inputs", "outputs", "kind", "signatures", "tag", "by", "sig", "alg"),
        *("sealing", "encryption_key", "trust", "a/~"),
        *("standing", "price_ref", "handling_ref", "systems", "access", "schemes", "name", "role", "compliance"),
        *("attestation", "expires_at", "data_use", "promises", "retention", "memory", "processors", "processed_in"),
        *("jurisdictions", "scope", "focus", "workspace", "system", "authority", "ceilings", "job_seconds", "most"),
        *("cost_per_job", "needs", "resource", "file", "delivers", "reporting", "level", "every", "input_modes"),
    ]
)
texts = (
    st.sampled_from([ID, "descriptor-statement-v1", "agent-descriptor-v1", "organization", "A" * 43, "²"]) | st.text()
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | st.text(max_size=2), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(names, values, max_size=12))
def test_no_rule_raises_on_any_object(document: dict[str, Any]) -> None:
    result = report(document)
    if result.descriptor is None:  # hypothesis finds half surrogate pairs and integers past any double
        assert result.verdict == "unreadable"
        return
    assert (result.verdict == "clean") == (not result.findings)
    for finding in result.findings:
        assert len(finding.message) < 1_000
        assert finding.pointer == "" or finding.pointer.startswith("/")
    if "subject" not in document:
        assert not {"D6.6-signature", "D6.6-unsigned", "D6.2-acts_for"} & {finding.rule for finding in result.findings}


@given(st.binary())
def test_any_bytes_are_judged(data: bytes) -> None:
    assert check(data).findings


@pytest.mark.parametrize(
    ("path", "pointer"),
    [((), ""), (("",), "/"), (("a/b", 0), "/a~1b/0"), (("m~n",), "/m~0n"), (("~1",), "/~01"), (("/", "~0"), "/~1/~00")],
)
def test_pointers_are_those_of_rfc_6901(path: tuple[str | int, ...], pointer: str) -> None:
    assert pointer_to(*path) == pointer
    assert tokens(pointer) == [str(step) for step in path]


@given(st.lists(st.text() | st.text("~/01") | st.integers(0, 99)))
def test_a_pointer_gives_its_path_back(path: list[str | int]) -> None:
    assert tokens(pointer_to(*path)) == [str(step) for step in path]
