"""An AgentDoc states what its sources state, says where each part is from, and lists what nobody said."""

from __future__ import annotations

import base64
import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.pointers import pointer_to, tokens
from descriptor.projections import agentdoc_sections
from descriptor.projections.agentdoc import AgentDoc, Fetched, Observation, Origin, assemble
from descriptor.projections.agentdoc_check import check
from descriptor.projections.agentdoc_sections import PLACES, SECTIONS, read
from descriptor.projections.card import card_of
from descriptor.view import view
from tests.descriptor.projections.cases import SERVING
from tests.descriptor.projections.samples import SAMPLES, bound, sample
from tests.descriptor.rules.cases import BOUND, DRAFT, ID, OFFERING, SEALED, SIGNER
from tests.descriptor.test_view import nearly_whole
from tests.descriptor.whole import WHOLE
from tests.vectors import NKEYS

NOW = 1_790_000_000.0
OWNER = Identity.from_seed_text(NKEYS[0]["seed"])
ORIGIN = Origin(url="/.well-known/agent-descriptor.json", fetched_at=NOW)
SNAPSHOTS = Path(__file__).parent / "snapshots"


def doc_of(document: dict[str, Any] | Descriptor, **more: Any) -> AgentDoc:
    descriptor = document if isinstance(document, Descriptor) else bound(document)
    return assemble(OWNER, NOW, descriptor, ORIGIN, **more)


def stated(document: Any, pointer: str) -> Any:
    """What stands at a pointer; `...` when nothing does."""
    for step in tokens(pointer):
        if isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        elif isinstance(document, dict) and step in document:
            document = document[step]
        else:
            return ...
    return document


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value that is no object and no list that is not empty, with its path."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [leaf for step, one in steps for leaf in leaves(one, (*path, step))]
    yield from inner or [(path, value)]


def sections_of(doc: AgentDoc) -> dict[str, dict[str, Any]]:
    """The sections, without what is said about their members."""
    sections: Any = doc.members["sections"]
    return {
        name: {
            member: value
            for member, value in section.items()
            if member not in ("from", "state") and not member.endswith(("_from", "_state"))
        }
        for name, section in sections.items()
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_the_document_is_the_one_that_was_looked_at(name: str) -> None:
    """Compared with a file, which somebody has read. AGENT_NODE_SNAPSHOTS=write writes the files anew."""
    file = SNAPSHOTS / f"{name}.json"
    text = json.dumps(json.loads(doc_of(sample(name)).data), ensure_ascii=False, indent=2) + "\n"
    if os.environ.get("AGENT_NODE_SNAPSHOTS") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SAMPLES)
def test_it_passes_its_own_check(name: str) -> None:
    descriptor = sample(name)
    checked = check(doc_of(descriptor, stale_after=NOW + 1).data, {"descriptor": descriptor.data}, NOW)
    assert checked.remarks == ()
    assert set(checked.checks.values()) == {True}


def test_the_signature_is_over_the_canonical_form() -> None:
    """Verified with PyNaCl and rfc8785 alone."""
    members: dict[str, Any] = json.loads(doc_of(WHOLE | BOUND).data)
    (entry,) = members.pop("signatures")
    assert (entry["tag"], entry["by"], members["assembled_by"]) == ("agentdoc-assembly-v1", ID, ID)
    SIGNER.verify_key.verify(b"agentdoc-assembly-v1\n" + rfc8785.dumps(members), base64.b64decode(entry["sig"]))


def test_every_member_of_the_whole_document_is_carried() -> None:
    document = WHOLE | SEALED
    carried = {
        pointer_to(*path)
        for one in sections_of(doc_of(document)).values()
        for path, value in leaves(one)
        if value != {}
    }
    left = {
        pointer_to(*path)
        for path, _ in leaves(document)
        if not any(pointer_to(*path).startswith(f"{whole}/") for whole in carried) and pointer_to(*path) not in carried
    }
    # The claim to the key is what makes the key stated; what the chapter does not name is somebody else's business.
    assert {tokens(pointer)[0] for pointer in left} == {"trust", "somebody_elses", "offerings"}
    assert {pointer for pointer in left if pointer.startswith("/offerings")} == {
        "/offerings/0/steps/0/id",
        "/offerings/0/steps/1/id",
    }


@settings(max_examples=200)
@given(nearly_whole())
def test_every_value_stands_in_the_descriptor_at_its_own_place(document: dict[str, Any]) -> None:
    document = document | {"subject": BOUND["subject"]}
    doc = doc_of(document)
    assert {section["from"] for section in doc.members["sections"].values()} == {"descriptor"}
    former: Any = doc.members.get("former", [])
    for section, members in sections_of(doc).items():
        for path, value in leaves(members):
            pointer = pointer_to(*path)
            if path and value != {} and not any(f"/{section}{pointer}".startswith(one["path"]) for one in former):
                assert stated(document, _spelled(pointer, document)) == value


def _spelled(pointer: str, document: Any) -> str:
    """A place by the name that the document gives it."""
    holder, _, name = pointer.rpartition("/")
    if name == "name" and holder.startswith("/systems/") and stated(document, pointer) is ...:
        return f"{holder}/role"
    return pointer.replace("/processed_in", "/jurisdictions") if stated(document, pointer) is ... else pointer


@settings(max_examples=200)
@given(nearly_whole())
def test_what_a_reader_does_not_have_is_listed_and_never_a_value(document: dict[str, Any]) -> None:
    document = document | {"subject": BOUND["subject"]}
    doc, seen = doc_of(document), view(document)
    listed: Any = doc.members["not_stated"]
    sections = sections_of(doc)
    for pointer in listed:
        assert stated(sections, pointer) in (..., {})
    places = {"/" + "/".join(tokens(pointer)[1:]) for pointer in listed}
    for pointer in seen.not_stated():
        now = agentdoc_sections._SYSTEM_ALIAS.sub(r"\1/name", pointer)
        assert any(now == place or now.startswith(f"{place}/") for place in places), pointer


@settings(max_examples=100)
@given(nearly_whole())
def test_whatever_a_descriptor_holds_its_agentdoc_passes_the_check(document: dict[str, Any]) -> None:
    descriptor = bound({**document, "subject": BOUND["subject"]})
    checked = check(doc_of(descriptor).data, {"descriptor": descriptor.data}, NOW)
    assert checked.remarks == ()
    assert check(doc_of(descriptor).data, {}, NOW).holds


@pytest.mark.parametrize("section", SECTIONS)
def test_no_place_is_in_two_sections(section: str) -> None:
    others = {name for other in SECTIONS if other != section for name in PLACES[other]}
    assert others & set(PLACES[section]) <= {"offerings", "role"}


def test_silence_is_listed_section_by_section() -> None:
    listed = doc_of({**DRAFT, "subject": {"id": ID}}).members["not_stated"]
    assert isinstance(listed, list)
    assert listed[0] == "/identity/acts_for"
    assert {"/sells/offerings", "/reaches/systems", "/access/access", "/handling/data_use"} <= set(map(str, listed))
    assert "/asked/offerings" not in listed


def test_an_empty_list_is_a_statement() -> None:
    doc = doc_of({**BOUND, "offerings": [], "systems": [], "access": {"schemes": []}})
    sections = sections_of(doc)
    assert (sections["sells"]["offerings"], sections["reaches"]["systems"]) == ([], [])
    assert sections["access"]["access"] == {"schemes": []}
    assert "/access/access/admission" in doc.members["not_stated"]


def test_what_cannot_be_read_is_not_stated_and_is_named() -> None:
    doc = doc_of(sample("odd"))
    sections = sections_of(doc)
    assert sections["sells"]["offerings"] == [{}, {"id": "a", "name": "A"}, {"id": "b"}, {}, {"id": "c"}]
    assert "data_use" not in sections["handling"]
    unreadable = {one["pointer"] for one in doc.members["unreadable"]}
    assert {"/offerings/0", "/offerings/1/authority", "/data_use", "/acts_for", "/compliance/1"} <= unreadable


def test_a_door_with_a_secret_in_it_is_dropped_whole() -> None:
    doc = doc_of(sample("odd"))
    assert "access" not in sections_of(doc)["access"]
    assert b"sk-0123" not in doc.data


@pytest.mark.parametrize("claimed", [True, False])
def test_a_key_is_told_when_its_claim_verifies(claimed: bool) -> None:
    document = SEALED if claimed else {**SEALED, "trust": {**SEALED["trust"], "issued_at": "2020-01-01T00:00:00Z"}}
    doc = doc_of(document)
    assert ("encryption_key" in sections_of(doc)["access"]) is claimed
    assert ("/access/encryption_key" in doc.members["not_stated"]) is not claimed


def test_what_shape_said_enters_under_its_new_name_with_where_it_was_said() -> None:
    doc = doc_of(sample("old"))
    sections = sections_of(doc)
    assert sections["handling"]["data_use"] == {
        "memory": "remembers-across-jobs",
        "processors": ["example/a"],
        "processed_in": ["de"],
    }
    assert sections["shape"]["fleet"] is True
    assert doc.members["former"] == [
        {"path": path, "source": "descriptor", "pointer": pointer}
        for path, pointer in (
            ("/shape/fleet", "/shape/fleet"),
            ("/handling/data_use/memory", "/shape/memory"),
            ("/handling/data_use/processors", "/shape/model"),
        )
    ]
    assert "harness" not in json.dumps(sections)


@pytest.mark.parametrize("change", ["none", "another key", "unsigned"])
def test_the_state_of_the_signature_is_said(change: str) -> None:
    document = copy.deepcopy(dict(sample("demo").members))
    if change == "another key":
        document["does"] = "Something else."
    elif change == "unsigned":
        del document["signatures"]
    doc = assemble(OWNER, NOW, Descriptor.read(json.dumps(document).encode()), ORIGIN)
    (source,) = doc.members["sources"]
    states = {"none": "verified", "another key": "failed", "unsigned": "unsigned"}
    assert source["signature"] == states[change]


def test_a_draft_has_no_agentdoc() -> None:
    with pytest.raises(DescriptorError) as caught:
        assemble(OWNER, NOW, Descriptor.read(json.dumps(DRAFT).encode()), ORIGIN)
    assert caught.value.code == "NOT_BOUND"


def test_a_descriptor_made_to_be_a_burden_is_refused() -> None:
    with pytest.raises(DescriptorError) as caught:
        read(bound({**BOUND, "offerings": [{} for _ in range(20_000)]}))
    assert caught.value.code == "TOO_LARGE"


# What stands beside the Descriptor.


def fetched(value: object) -> Fetched:
    return Fetched(json.dumps(value).encode(), Origin(url="https://a.example/card", fetched_at=NOW))


CARD = {
    "name": "reader.example",
    "description": BOUND["does"],
    "version": BOUND["agent_version"],
    "skills": [
        {
            "id": OFFERING["id"],
            "name": OFFERING["name"],
            "description": OFFERING["description"],
            "tags": ["task-specific"],
        }
    ],
    "supportedInterfaces": [{"url": "https://a.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "securitySchemes": {},
}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_card_that_the_node_makes_differs_in_nothing(name: str) -> None:
    descriptor = sample(name)
    card = Fetched(json.dumps(card_of(descriptor, SERVING).members).encode(), ORIGIN, "unsigned")
    doc = assemble(OWNER, NOW, descriptor, ORIGIN, card=card)
    assert "differences" not in doc.members
    access: Any = doc.members["sections"]["access"]  # type: ignore[index,call-overload]  # read from JSON
    assert access.get("interfaces_served_from") == "card"


def test_a_card_adds_where_it_answers_and_nothing_that_the_descriptor_says() -> None:
    doc = doc_of({**BOUND, "offerings": [OFFERING]}, card=fetched(CARD))
    section: Any = doc.members["sections"]["access"]
    assert section["interfaces_served"] == CARD["supportedInterfaces"]
    assert section["interfaces_served_from"] == "card"
    assert "security_schemes" not in section
    assert "differences" not in doc.members
    assert [one["id"] for one in doc.members["sources"]] == ["descriptor", "card"]


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"description": "Another."}, [("/description", "/does")]),
        ({"version": "9"}, [("/version", "/agent_version")]),
        ({"skills": []}, [("/skills/0", "/offerings")]),
        ({"skills": [{**CARD["skills"][0], "tags": ["open-ended"]}]}, [("/skills/0/tags", "/offerings/0/scope")]),
        ({"defaultInputModes": ["text/html"]}, [("/defaultInputModes", "/default_input_modes")]),
        ({"skills": [{**CARD["skills"][0], "name": "Other"}]}, [("/skills/0/name", "/offerings/0/name")]),
        ({"skills": [*CARD["skills"], {"id": "more"}]}, [("/skills/1", "/offerings")]),
    ],
)
def test_a_card_that_differs_is_reported_and_the_descriptor_carried(
    changes: dict[str, Any], pointers: list[tuple[str, str]]
) -> None:
    doc = doc_of({**BOUND, "offerings": [OFFERING]}, card=fetched({**CARD, **changes}))
    assert doc.members["differences"] == [
        {"source": "card", "pointer": there, "descriptor": here} for there, here in pointers
    ]
    assert sections_of(doc)["identity"]["does"] == BOUND["does"]


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"skills": 5, "supportedInterfaces": null}'])
def test_a_card_that_cannot_be_read_gives_nothing_and_stays_a_source(data: bytes) -> None:
    doc = doc_of({**BOUND, "offerings": []}, card=Fetched(data, ORIGIN))
    assert "interfaces_served" not in sections_of(doc)["access"]
    assert len(doc.members["sources"]) == 2


def test_the_door_adds_only_what_the_descriptor_does_not_say() -> None:
    door = {"status": "stated", "admission": "screened", "schemes": [], "statement": "Knock.", "not_stated": []}
    doc = doc_of({**BOUND, "access": {"admission": "open", "schemes": []}}, door=fetched(door))
    section: Any = doc.members["sections"]["access"]
    assert section["access"] == {"admission": "open", "schemes": []}
    assert (section["accepting"], section["accepting_from"]) == ({"statement": "Knock."}, "door")
    assert doc.members["differences"] == [
        {"source": "door", "pointer": "/admission", "descriptor": "/access/admission"}
    ]


def test_what_was_seen_is_a_source_of_its_own() -> None:
    seen = [
        Observation("The versions that are kept.", NOW - 5, {"versions": [], "older_versions": True}),
        Observation("What is made of it.", NOW - 9, {"peer": {"state": "verified"}}),
    ]
    doc = doc_of(BOUND, observations=seen)
    section: Any = doc.members["sections"]["standing"]
    assert section["versions_from"] == section["older_versions_from"] == "observed-1"
    assert (section["peer_from"], section["peer_state"], section["state"]) == ("observed-2", "observed", "declared")
    assert check(doc.data, {}, NOW).holds
