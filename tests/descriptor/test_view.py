"""A reader never fails, never guesses, and reads in full what checks clean."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from descriptor.checker import check
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import tokens
from descriptor.view import Money, View, view
from descriptor.vocabulary import CEILINGS
from tests.descriptor.rules.cases import DRAFT, OFFERING, SEALED, draft, offering, without
from tests.descriptor.rules.test_6_11 import CHAPTER
from tests.descriptor.whole import WHOLE


def first(document: dict[str, Any]) -> Any:
    offerings = view(document).offerings
    assert offerings
    return offerings[0]


def test_the_whole_document_reads_back_in_full() -> None:
    read = view(WHOLE)
    assert read.unreadable() == ()
    assert read.other == {"somebody_elses": WHOLE["somebody_elses"]}
    assert read.does == WHOLE["does"]
    letter, program, anything = read.offerings or ()
    assert (letter.scope, program.scope, anything.scope) == ("task-specific", "open-with-focus", "open-ended")
    assert letter.ceilings["spend_per_job"].most == Money(0, "EUR")
    assert letter.ceilings["cost_per_job"].enforced is False
    assert [need.kind for need in letter.needs or ()] == ["resource", "file", "tool", "credential", "text"]
    assert letter.revisions is not None
    assert set(letter.revisions.steps or {}) == {"read", "explain"}
    assert program.input_modes == read.default_input_modes == ("text/plain", "application/pdf")
    assert read.default_output_modes == ("text/markdown",)
    assert read.run_config is not None
    assert [setting.job_may_set for setting in read.run_config.settings.values()] == [False, True, True, False]
    assert read.data_use is not None
    assert read.data_use.processed_in == frozenset({"de", "fr"})
    assert read.access is not None
    assert len(read.access.schemes or ()) == 2
    assert read.limits is not None
    assert (read.limits.requests_per_hour.enforced, read.limits.model_budget_per_day.enforced) == (True, False)  # type: ignore[union-attr]  # both are stated
    assert read.former == {}


def test_a_descriptor_and_its_members_read_alike() -> None:
    data = json.dumps(WHOLE).encode()
    assert view(Descriptor.read(data)) == view(data) == view(WHOLE)
    for no_object in (b"{", b"[]", b"", b'{"a": 1, "a": 2}'):
        with pytest.raises(DescriptorError):
            view(no_object)


def test_an_empty_document_states_nothing() -> None:
    read = view({})
    stated = {name: value for name, value in vars(read).items() if value is not None and not name.startswith("_")}
    assert stated == {"format_known": False, "former": {}, "other": {}}
    assert {"/does", "/acts_for", "/offerings", "/data_use", "/access", "/sealing"} <= set(read.not_stated())
    assert read.unreadable() == ()


@pytest.mark.parametrize(
    ("scope", "focus", "read"),
    [
        (..., ..., "task-specific"),
        ("task-specific", ..., "task-specific"),
        ("open-with-focus", "software", "open-with-focus"),
        ("open-with-focus", ..., "open-ended"),
        ("open-with-focus", "cooking", "open-ended"),
        ("open-ended", ..., "open-ended"),
        ("anything", ..., "open-ended"),
        (None, ..., "open-ended"),
        (["task-specific"], "software", "open-ended"),
    ],
)
def test_a_scope_that_is_not_recognized_claims_least(scope: Any, focus: Any, read: str) -> None:
    members = {name: value for name, value in {"scope": scope, "focus": focus}.items() if value is not ...}
    one = first(offering(**members))
    assert one.scope == read
    assert one.scope_stated == (scope if scope in ("task-specific", "open-with-focus", "open-ended") else None)
    assert one.focus == ("software" if focus == "software" else None)


@pytest.mark.parametrize(
    ("authority", "read"),
    [
        (["reads-files", "runs-commands"], ("reads-files", "runs-commands")),
        ([], ()),
        (..., None),
        (["reads-files", "reads-minds"], None),
        (["reads-files", 7], None),
        ("reads-files", None),
        (None, None),
    ],
)
def test_an_authority_is_read_whole_or_not_at_all(authority: Any, read: Any) -> None:
    assert first(offering() if authority is ... else offering(authority=authority)).authority == read


@pytest.mark.parametrize(
    ("ceiling", "read"),
    [
        ({"most": 60, "decided_by": "rule"}, (60, "rule", True)),
        ({"most": 60, "decided_by": "model"}, (60, "model", False)),
        ({"most": 60}, (60, None, False)),
        ({"most": 60, "decided_by": "me"}, (60, None, False)),
        ({"decided_by": "rule"}, None),
        ({"most": "60", "decided_by": "rule"}, None),
        (60, None),
    ],
)
def test_a_ceiling_without_decided_by_is_never_enforced(ceiling: Any, read: Any) -> None:
    got = first(offering(ceilings={"job_seconds": ceiling})).ceilings.get("job_seconds")
    assert (got and (got.most, got.decided_by, got.enforced)) == read


@pytest.mark.parametrize(
    ("limit", "read"),
    [
        (30, (30, None, False)),
        ({"most": 30, "decided_by": "rule"}, (30, "rule", True)),
        ({"most": 30}, (30, None, False)),
        ("30", None),
        (True, None),
        (-1, None),
        ({"decided_by": "rule"}, None),
    ],
)
def test_a_limit_is_read_in_both_forms(limit: Any, read: Any) -> None:
    limits = view(draft(limits={"requests_per_hour": limit})).limits
    got = limits and limits.requests_per_hour
    assert (got and (got.most, got.decided_by, got.enforced)) == read


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("acts_for", ("person", "organization", "anyone")),
        ("interaction", ("interactive", "service")),
        ("standing", ("guest",)),
        ("sealing", ("required", "preferred")),
    ],
)
def test_a_word_that_is_not_recognized_is_not_stated(name: str, words: tuple[str, ...]) -> None:
    for word in words:
        assert getattr(view(draft(**{name: word})), name) == word
    for strange in ("resident", "", words[0].upper(), None, True, [words[0]]):
        read = view(draft(**{name: strange}))
        assert getattr(read, name) is None
        assert read.unreadable() == (f"/{name}",)


@pytest.mark.parametrize(
    ("interaction", "may"), [("service", False), ("interactive", True), ("?", True), (None, True), (..., True)]
)
def test_a_careful_sender_takes_silence_for_somebody_s_presence(interaction: Any, may: bool) -> None:
    read = view(DRAFT if interaction is ... else draft(interaction=interaction))
    assert read.may_interrupt is may


@pytest.mark.parametrize(
    ("reporting", "level"),
    [
        ({"level": "records_only"}, "records_only"),
        ({"level": "check_ins", "every": "P1W"}, "check_ins"),
        ({"level": "check_ins"}, None),
        ({"level": "check_ins", "every": "weekly"}, None),
        ({"level": "on_change", "every": "P1W"}, None),
        ({"level": "always"}, None),
        ("on_change", None),
    ],
)
def test_a_reporting_level_that_cannot_be_read_is_dropped(reporting: Any, level: str | None) -> None:
    one = first(offering(reporting=reporting))
    assert (one.reporting and one.reporting.level) == level


PRICE = {"amount_micro": 1, "currency": "EUR"}
INCLUDED = {"included": {"count": 1, "window_days": 7}}


@pytest.mark.parametrize(
    ("revisions", "readable"),
    [
        ({**INCLUDED, "flat": PRICE}, True),
        ({**INCLUDED, "steps": [{"step": "a", "price": PRICE}]}, True),
        (INCLUDED, False),
        ({**INCLUDED, "flat": PRICE, "steps": []}, False),
        ({"flat": PRICE}, False),
        ({"included": {"count": 1}, "flat": PRICE}, False),
        ({**INCLUDED, "steps": [{"step": "a", "price": PRICE}, {"step": "b"}]}, False),
        ({**INCLUDED, "steps": [{"step": "a", "price": PRICE}, {"step": "a", "price": {}}]}, False),
    ],
)
def test_revisions_of_no_known_price_are_not_offered(revisions: Any, readable: bool) -> None:
    read = view(offering(revisions=revisions))
    assert read.offerings is not None
    assert (read.offerings[0].revisions is not None) is readable
    assert ("/offerings/0/revisions" not in read.unreadable()) is readable


def test_needs_are_read_whole_so_that_no_credential_is_missed() -> None:
    needs: list[dict[str, Any]] = WHOLE["offerings"][0]["needs"]
    assert len(first(offering(needs=needs)).needs) == len(needs)
    for broken in ({}, {"file": "application/pdf", "text": "x"}, {"credential": "a bank"}, {"file": "paper"}):
        assert first(offering(needs=[*needs, broken])).needs is None


def test_a_format_that_is_not_known_is_said_and_the_rest_is_read() -> None:
    read = view({**DRAFT, "format": "agent-descriptor-v9"})
    assert (read.format_known, read.does, read.unreadable()) == (False, DRAFT["does"], ())
    assert view(DRAFT).format_known


def test_what_is_not_stated_is_listed_by_place() -> None:
    read = view(offering(scope="open-ended", authority=["reads-minds"], ceilings={"job_seconds": {"most": 60}}))
    listed = read.not_stated()
    assert read.unreadable() == ("/offerings/0/authority",)
    assert listed[-1] == "/offerings/0/authority"
    assert {
        "/data_use",
        "/interaction",
        "/offerings/0/needs",
        "/offerings/0/ceilings/cost_per_job",
        "/offerings/0/ceilings/job_seconds/decided_by",
        "/offerings/0/inputs/0/max_bytes",
    } <= set(listed)
    assert not {"/does", "/format", "/offerings", "/offerings/0/ceilings", "/offerings/0/inputs/0/required"} & set(
        listed
    )
    assert "/data_use/processed_in" in view(draft(data_use={"processors": []})).not_stated()


def test_what_shape_says_is_stated() -> None:
    read = view(draft(shape={"memory": "keeps", "fleet": True}))
    listed = {pointer for pointer in read.not_stated() if pointer.startswith(("/data_use", "/fleet"))}
    assert listed == {f"/data_use/{name}" for name in ("promises", "retention", "processors", "processed_in")}
    assert read.former == {"/data_use/memory": "/shape/memory", "/fleet": "/shape/fleet"}


@pytest.mark.parametrize("admission", ["everybody", None, True, ["open"], "Open"])
def test_an_admission_that_is_not_recognized_is_unstated(admission: Any) -> None:
    access = view(draft(access={"admission": admission})).access
    assert access is not None
    assert access.admission is None


SCHEME: dict[str, Any] = {"id": "a", "transport": "mesh", "type": "mesh-identity"}


@pytest.mark.parametrize(
    ("block", "read"),
    [
        ({}, None),
        ({"schemes": []}, 0),
        ({"schemes": [SCHEME]}, 1),
        ({"schemes": [SCHEME, {}]}, None),
        ({"schemes": [{**SCHEME, "type": "?"}]}, None),
        ({"schemes": {}}, None),
    ],
)
def test_three_states_of_schemes_and_silence_is_one(block: dict[str, Any], read: int | None) -> None:
    access = view(draft(access=block)).access
    assert access is not None
    assert (None if access.schemes is None else len(access.schemes)) == read


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ({"name": "calendar"}, "calendar"),
        ({"role": "calendar"}, "calendar"),
        ({"name": "calendar", "role": "diary"}, "calendar"),
        ({"name": 7, "role": "diary"}, None),
    ],
)
def test_role_of_a_system_is_its_name(system: dict[str, Any], name: str | None) -> None:
    systems = view(draft(systems=[{**system, "access": "read"}])).systems
    assert systems is not None
    assert systems[0].name == name


@pytest.mark.parametrize("broken", ["promises", "retention", "memory", "processors", "processed_in"])
def test_data_use_is_dropped_whole(broken: str) -> None:
    read = view(draft(data_use={**WHOLE["data_use"], broken: 7}))
    assert read.data_use is None
    assert read.unreadable() == ("/data_use",)


def test_jurisdictions_is_another_name_of_processed_in() -> None:
    block = {**without(WHOLE["data_use"], "processed_in"), "jurisdictions": ["fr"]}
    assert view(draft(data_use=block)).data_use.processed_in == {"fr"}  # type: ignore[union-attr]  # it reads


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"acts_for": "organization", "organization_name": "Ad"}, "Ad"),
        ({"acts_for": "person", "organization_name": "Ad"}, None),
        ({"organization_name": "Ad"}, None),
        ({"acts_for": "somebody", "organization_name": "Ad"}, None),
    ],
)
def test_an_organization_is_named_only_beside_organization(members: dict[str, Any], name: str | None) -> None:
    assert view(draft(**members)).organization_name == name


def test_modes_are_the_offering_s_then_the_agent_s_then_nothing() -> None:
    assert first(offering()).input_modes is None
    assert first({**offering(), "default_input_modes": ["text/html"]}).input_modes == ("text/html",)
    assert first({**offering(input_modes=[]), "default_input_modes": ["text/html"]}).input_modes == ()
    assert first({**offering(input_modes=["pdf"]), "default_input_modes": ["text/html"]}).input_modes == ("text/html",)


def test_a_key_is_one_that_is_claimed() -> None:
    assert view(SEALED).sealing_key() == SEALED["encryption_key"]
    assert view({**SEALED, "encryption_key": "A" * 43}).sealing_key() is None
    assert view(without(SEALED, "trust")).sealing_key() is None
    assert view(SEALED).sealing == "preferred"
    assert view({**SEALED, "sealing": "perhaps"}).sealing is None


def test_one_offering_of_an_id() -> None:
    read = view(draft(offerings=[OFFERING, {**OFFERING, "id": "b"}, {**OFFERING, "id": "b"}, "no offering"]))
    assert read.offering("read") is not None
    assert read.offering("b") is None
    assert read.offering("c") is None
    assert read.unreadable() == ("/offerings/3",)


def test_a_setting_that_cannot_be_read_cannot_be_set() -> None:
    settings = [
        {"name": "a", "kind": "rule", "default": 1},
        {"name": "b", "kind": "wish", "default": 1},
        {"name": "c", "kind": "rule", "default": "word"},
        {"name": "e", "kind": "preference", "default": "word", "allowed": "word"},
        {"name": "d", "kind": "preference", "default": "x"},
        {"name": "d", "kind": "preference", "default": "y"},
        7,
    ]
    run_config = view(draft(run_config={"settings": settings})).run_config
    assert run_config is not None
    assert set(run_config.settings) == {"a"}
    assert "/run_config/settings" in view(draft(run_config={"settings": settings})).unreadable()
    assert (run_config.replay, run_config.settings["a"].job_may_set) == (False, False)


# Chapter 6.12: how a reader takes what an older document says in `shape`.
SHAPES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"shape": {"kind": "model", "harness": "x", "steps": "fixed", "tools_runtime": "fixed"}}, {}),
    ({"shape": {"memory": "keeps"}}, {"memory": "remembers-across-jobs"}),
    ({"shape": {"memory": "starts_clean"}}, {"memory": "starts-clean-each-job"}),
    ({"shape": {"memory": "sometimes"}}, {}),
    ({"shape": {"model": "example/a"}}, {"processors": ["example/a"]}),
    ({"shape": {"model": 7}}, {}),
    ({"shape": {"fleet": True}}, {"fleet": True}),
    ({"shape": {"fleet": True}, "fleet": False}, {"fleet": False}),
    ({"shape": {"fleet": True}, "fleet": "no"}, {}),
    (
        {"shape": {"memory": "keeps"}, "data_use": {"memory": "starts-clean-each-job"}},
        {"memory": "starts-clean-each-job"},
    ),
    (
        {"shape": {"memory": "keeps"}, "data_use": {"processors": []}},
        {"memory": "remembers-across-jobs", "processors": []},
    ),
    ({"shape": {"model": "example/a"}, "data_use": {"processors": []}}, {"processors": []}),
    ({"shape": {"memory": "keeps", "model": "example/a"}, "data_use": {"memory": "?"}}, {}),
    ({"shape": "model"}, {}),
]


@pytest.mark.parametrize(("members", "read"), SHAPES)
def test_shape_is_mapped_member_by_member(members: dict[str, Any], read: dict[str, Any]) -> None:
    got = view({**offering(), **members})
    use = got.data_use
    processors = None if use is None or use.processors is None else [one.name for one in use.processors]
    told = {"fleet": got.fleet, "memory": use and use.memory, "processors": processors}
    assert {name: value for name, value in told.items() if value is not None} == read
    assert got.offerings is not None
    assert (got.offerings[0].scope_stated, got.offerings[0].authority) == (None, None)
    assert "shape" not in got.other
    for now, before in got.former.items():
        assert (now, before) in {
            ("/fleet", "/shape/fleet"),
            ("/data_use/memory", "/shape/memory"),
            ("/data_use/processors", "/shape/model"),
        }


def test_the_chapter_s_example_reads() -> None:
    one = first(draft(offerings=[CHAPTER]))
    assert (one.scope, one.focus, one.role) == ("open-with-focus", "software", "role-code-writer")
    assert one.authority == ("reads-files", "writes-files", "runs-commands")
    assert one.workspace[0].access == "read-write"
    assert one.ceilings["cost_per_job"].most == Money(20_000_000, "USD")


NAMES = st.sampled_from(sorted({name for place in json.dumps(WHOLE).split('"') if (name := place).isidentifier()}))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


def placed(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, inner in steps for place in placed(inner, (*path, step)))]


def holder_of(document: Any, path: tuple[Any, ...]) -> Any:
    """What holds the last step of a path, or None where an earlier change took the way there."""
    for step in path[:-1]:
        if not has(document, step):
            return None
        document = document[step]
    return document if has(document, path[-1]) else None


def has(holder: Any, step: str | int) -> bool:
    if isinstance(holder, list):
        return isinstance(step, int) and step < len(holder)
    return isinstance(holder, dict) and step in holder


PLACES = [path for path in placed(WHOLE) if path]


def role(path: tuple[Any, ...]) -> tuple[str, bool]:
    """The name that a place has, and whether it is an item of the list that has it."""
    name = next(step for step in reversed(path) if isinstance(step, str))
    return name, isinstance(path[-1], int)


VALUES = [(role(path), holder_of(WHOLE, path)[path[-1]]) for path in PLACES]


@st.composite
def nearly_whole(draw: st.DrawFn, changes: tuple[str, ...] = ("taken away", "kin", "anything")) -> dict[str, Any]:
    """The whole document with a few places changed: without them, with a value of the same name, or with any."""
    document: Any = copy.deepcopy(WHOLE)
    for path in draw(st.lists(st.sampled_from(PLACES), max_size=4)):
        holder = holder_of(document, path)
        change = draw(st.sampled_from(changes))
        if holder is not None and change == "taken away":
            del holder[path[-1]]
        elif holder is not None:
            kin = st.sampled_from([value for of, value in VALUES if of == role(path)])
            holder[path[-1]] = copy.deepcopy(draw(kin)) if change == "kin" else draw(JSON)
    assert isinstance(document, dict)
    return document


@given(st.dictionaries(NAMES, JSON, max_size=12) | nearly_whole())
def test_a_view_never_raises(document: dict[str, Any]) -> None:
    read = view(document)
    assert isinstance(read, View)
    read.sealing_key()
    for pointer in (*read.not_stated(), *read.unreadable()):
        tokens(pointer)
    assert set(read.unreadable()) <= set(read.not_stated())
    # What is there is stated, or listed as unreadable.
    unreadable = set(read.unreadable())
    assert {f"/{name}" for name in document if getattr(read, name, "") is None} <= unreadable
    for one in read.offerings or ():
        there = document["offerings"][int(tokens(one.pointer)[1])]
        silent = {name for name in there if getattr(one, name, "") is None}
        assert {f"{one.pointer}/{name}" for name in silent} <= unreadable
        assert {f"{one.pointer}/ceilings/{name}" for name in CEILINGS if has(there.get("ceilings"), name)} <= {
            f"{one.pointer}/ceilings/{name}" for name in one.ceilings
        } | unreadable


@settings(max_examples=300)
@given(nearly_whole(("taken away", "kin")))
@example(WHOLE)
def test_what_checks_clean_reads_back_in_full(document: dict[str, Any]) -> None:
    sound = not check(json.dumps(document).encode()).errors
    event("sound" if sound else "unsound")
    if sound:
        read = view(document)
        assert read.unreadable() == ()
        assert {name for other in others(read) for name in other} <= {"somebody_elses", "steps"}


def others(value: Any) -> Iterator[Mapping[str, Any]]:
    """What is passed on unread, wherever in a view it stands."""
    if isinstance(value, tuple):
        for one in value:
            yield from others(one)
    elif dataclasses.is_dataclass(value):
        for one in dataclasses.fields(value):
            inner = getattr(value, one.name)
            if one.name == "other":
                yield inner
            elif not one.name.startswith("_"):
                yield from others(inner)


def test_every_member_counts() -> None:
    """Whatever is taken out of the whole document, the view says something else: no member goes unread."""
    whole, uncounted = view(WHOLE), []
    for path in PLACES:
        document = copy.deepcopy(WHOLE)
        del holder_of(document, path)[path[-1]]
        if view(document) == whole:
            uncounted.append(path)
    # What says no more than its absence does: false is what the chapter reads there, and `steps` is another chapter's.
    assert uncounted == [("run_config", "settings", 3, "job_may_set")]


def test_what_nobody_knows_is_passed_on_as_it_stands() -> None:
    strange = {"x-mine": [None, {"deep": 1}]}
    parts = {"inputs": OFFERING["inputs"], "outputs": OFFERING["outputs"], "workspace": CHAPTER["workspace"]}
    one = first(offering(**strange, **{name: [{**entry, **strange} for entry in parts[name]] for name in parts}))
    system = {"name": "diary", "access": "read", "needs": "seeing what is due", **strange}
    read = view(draft(systems=[system], limits={**strange}, access={**strange}, **strange))
    assert read.systems and read.limits and read.access
    held = (one, one.inputs[0], one.outputs[0], one.workspace[0], read, read.systems[0], read.limits, read.access)
    assert [part.other for part in held] == [strange] * len(held)
    assert read.unreadable() == ()


def test_what_is_required_alone_reads_back() -> None:
    assert view(DRAFT).unreadable() == ()
