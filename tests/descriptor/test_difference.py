"""A difference names what changed, and nothing that did not."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.canonical import canonical
from descriptor.difference import Change, ChangeKind, NewVersion, diff
from descriptor.strictjson import JsonValue, RoundedInteger

ADDED, REMOVED, CHANGED = ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.CHANGED


def offering(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "name": name.title(), **more}


@pytest.mark.parametrize(
    ("a", "b", "changes"),
    [
        pytest.param({"does": "x"}, {"does": "x"}, [], id="the same"),
        pytest.param({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, [], id="order and spelling of numbers"),
        pytest.param({"a": RoundedInteger(2**60)}, {"a": float(2**60)}, [], id="a rounded integer is its double"),
        pytest.param({"does": "x"}, {"does": "y"}, [Change("/does", "x", "y", CHANGED)], id="changed"),
        pytest.param({"a": 1}, {"a": True}, [Change("/a", 1, True, CHANGED)], id="1 is not true"),
        pytest.param({}, {"a": None}, [Change("/a", None, None, ADDED)], id="null is a value"),
        pytest.param({"a/b": {"~": 1}}, {"a/b": {}}, [Change("/a~1b/~0", 1, None, REMOVED)], id="pointer escapes"),
        pytest.param({"a": {"b": 1}}, {"a": [1]}, [Change("/a", {"b": 1}, [1], CHANGED)], id="another type"),
        pytest.param(
            {"subject": {"id": "U", "handle": "h"}},
            {"subject": {"id": "U", "handle": "i"}},
            [Change("/subject/handle", "h", "i", CHANGED)],
            id="inside an object",
        ),
        pytest.param(
            {"authority": ["a", "b"]},
            {"authority": ["b"]},
            [Change("/authority", ["a", "b"], ["b"], CHANGED)],
            id="a plain list is one value",
        ),
        pytest.param(
            {"offerings": [offering("a"), offering("b", does="x")]},
            {"offerings": [offering("c"), offering("a"), offering("b", does="y")]},
            [
                Change("/offerings/2/does", "x", "y", CHANGED),
                Change("/offerings/0", None, offering("c"), ADDED),
            ],
            id="offerings by id, not by place",
        ),
        pytest.param(
            {"offerings": [offering("a"), offering("b")]},
            {"offerings": [offering("a")]},
            [Change("/offerings/1", offering("b"), None, REMOVED)],
            id="an offering removed",
        ),
        pytest.param(
            {"systems": [{"name": "crm", "access": "read"}]},
            {"systems": [{"name": "crm", "access": "write"}]},
            [Change("/systems/0/access", "read", "write", CHANGED)],
            id="by name where there is no id",
        ),
        pytest.param(
            {"x": [{"name": "a"}, {"name": "a"}]},
            {"x": [{"name": "a"}]},
            [Change("/x", [{"name": "a"}, {"name": "a"}], [{"name": "a"}], CHANGED)],
            id="names that tell nothing apart",
        ),
        pytest.param(
            {"offerings": []},
            {"offerings": [offering("a")]},
            [Change("/offerings/0", None, offering("a"), ADDED)],
            id="the first one",
        ),
    ],
)
def test_changes_are_listed(a: dict[str, JsonValue], b: dict[str, JsonValue], changes: list[Change]) -> None:
    assert diff(a, b) == changes


def test_signatures_and_trust_are_left_out_unless_asked_for() -> None:
    a: dict[str, JsonValue] = {"trust": {"signature": "a"}, "signatures": [{"sig": "a"}]}
    b: dict[str, JsonValue] = {"trust": {"signature": "b"}, "signatures": [{"sig": "b"}]}
    assert diff(a, b) == []
    assert [change.pointer for change in diff(a, b, signed=True)] == ["/trust/signature", "/signatures"]


names = st.sampled_from(["id", "name", "offerings", "a", "b"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)
documents = st.dictionaries(names, values, max_size=4)


def _settled(value: Any) -> Any:
    """A value with lists of named entries in the order of their names: what a difference is blind to."""
    if isinstance(value, dict):
        return {name: _settled(member) for name, member in value.items()}
    if isinstance(value, list):
        entries = [_settled(item) for item in value]
        for by in ("id", "name"):
            keys = [entry[by] for entry in entries if isinstance(entry, dict) and isinstance(entry.get(by), str)]
            if len(keys) == len(entries) == len(set(keys)):
                return sorted(entries, key=lambda entry: str(entry[by]))
        return entries
    return value


@given(documents, documents)
def test_no_change_means_the_same_content(a: dict[str, Any], b: dict[str, Any]) -> None:
    untouched = copy.deepcopy((a, b))
    assert diff(a, a) == []
    if not diff(a, b):
        assert canonical(_settled(a)) == canonical(_settled(b))
    elif canonical(a) == canonical(b):
        pytest.fail("equal documents differ")
    assert (a, b) == untouched


@given(documents, documents)
def test_turned_round_it_names_as_many_changes(a: dict[str, Any], b: dict[str, Any]) -> None:
    there, back = diff(a, b), diff(b, a)
    assert sorted(change.kind for change in there if change.kind is CHANGED) == sorted(
        change.kind for change in back if change.kind is CHANGED
    )
    assert sum(change.kind is ADDED for change in there) == sum(change.kind is REMOVED for change in back)


@pytest.mark.parametrize(
    ("pointer", "kind", "owed"),
    [
        ("/acts_for", CHANGED, NewVersion.YES),
        ("/offerings/0", ADDED, NewVersion.YES),
        ("/offerings/0/authority", CHANGED, NewVersion.YES),
        ("/offerings/0/inputs/1/kind", CHANGED, NewVersion.YES),
        ("/offerings/0/description", ADDED, NewVersion.YES),
        ("/systems/0/access", CHANGED, NewVersion.YES),
        ("/data_use", REMOVED, NewVersion.YES),
        ("/price_ref/digest", CHANGED, NewVersion.YES),
        ("/does", CHANGED, NewVersion.PERHAPS),
        ("/offerings/0/description", CHANGED, NewVersion.PERHAPS),
        ("/refusals", CHANGED, NewVersion.PERHAPS),
        ("/somebody_elses", CHANGED, NewVersion.PERHAPS),
        ("/url", ADDED, NewVersion.PERHAPS),
        ("/agent_version", CHANGED, NewVersion.NO),
        ("/subject/handle", CHANGED, NewVersion.NO),
        ("/encryption_key", CHANGED, NewVersion.NO),
        ("/price_ref/location", CHANGED, NewVersion.NO),
        ("/compliance/0/attestation/url", CHANGED, NewVersion.NO),
    ],
)
def test_what_describes_a_changed_agent_owes_a_new_version(pointer: str, kind: ChangeKind, owed: NewVersion) -> None:
    assert Change(pointer, None, None, kind).new_version is owed
