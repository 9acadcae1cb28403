"""Publishing onto the disk: every row of `docs/publishing.md`, the event beside it, and repairs."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from descriptor.digests import digest_of
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey
from descriptor.publishing import Terms, bind
from descriptor.timestamps import format_timestamp
from entryway.roster import sign_roster
from node.config import load
from node.errors import NodeError
from node.identity import Keys
from node.publisher import Outcome, Publisher, terms_of, with_terms
from node.roster import RosterKeeper
from node.settings import Limits, Settings
from store import Reader, Store, StoreError
from tests.node.parts import NOW, damage, draft, key_of, verified_document, verified_envelope
from tests.vectors import NKEYS, SEALED

OWNER = Identity.from_seed_text(NKEYS[0]["seed"])
OTHER = Identity.from_seed_text(NKEYS[1]["seed"])
SEALING_KEY = SealingKey.from_secret_text(SEALED["recipient_secret"])
TERMS = Terms(OWNER, handle="paperwork.home", acts_for="person", sealing_key=SEALING_KEY)


@dataclass
class Bench:
    """A store, its publisher, and a clock that goes on a day with every look."""

    path: Path
    store: Store
    reader: Reader
    publisher: Publisher
    now: float = NOW

    def clock(self) -> float:
        self.now += 86_400.0
        return self.now

    def publish(self, data: bytes, **how: Any) -> Outcome:
        return self.publisher.publish(data, **how)

    def refuses(self, code: str, act: Callable[[], object]) -> Any:
        """That `act` is refused with a code, and that the refusal changed nothing."""
        before = self.everything()
        with pytest.raises((DescriptorError, StoreError, NodeError)) as caught:
            act()
        error: Any = caught.value
        assert error.code == code, error.message
        assert self.everything() == before
        return error

    def everything(self) -> object:
        versions, _ = self.reader.history(OWNER.id, 500)
        return self.reader.current(OWNER.id), versions, self.reader.events_after(0, 500), self.reader.counts()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    path = tmp_path / "node.db"
    with ExitStack() as stack:
        store, reader = stack.enter_context(Store.open(path)), stack.enter_context(Reader.open(path))
        bench = Bench(path, store, reader, publisher=None)  # type: ignore[arg-type]  # it needs the bench's clock
        bench.publisher = Publisher(store, reader, TERMS, Limits(), bench.clock)
        yield bench


# What is declared of admission, and the roster.


def allow_whoever_signs(bench: Bench, stance: str = "allow") -> None:
    keeper = RosterKeeper(bench.store, bench.reader, OWNER, bench.clock)
    keeper.change({"act": "defaults", "defaults": {"registered": stance}})


@pytest.mark.parametrize(
    ("admission", "registered", "published"),
    [
        ("open", None, False),
        ("open", "allow", True),
        ("open", "block", False),
        ("allowlist", None, True),
        ("allowlist", "allow", False),
        ("screened", None, True),
        ("screened", "block", False),
        ("negotiated", None, True),
        ("negotiated", "allow", False),
    ],
)
def test_an_admission_that_the_roster_does_not_apply_is_not_published(
    bench: Bench, admission: str, registered: str | None, published: bool
) -> None:
    if registered is not None:
        allow_whoever_signs(bench, registered)
    data = draft(access={"admission": admission})
    if published:
        assert bench.publish(data).changed
    else:
        error = bench.refuses("ADMISSION_NOT_APPLIED", lambda: bench.publish(data))
        assert error.pointer == "/access/admission"
        assert "agent-node roster defaults --registered" in error.message


def test_a_roster_that_is_not_enforced_does_not_make_an_agent_open(bench: Bench) -> None:
    forged = sign_roster({"defaults": {"registered": "allow"}}, OTHER, NOW)
    bench.store.put_roster(OWNER.id, forged, NOW)
    bench.refuses("ADMISSION_NOT_APPLIED", lambda: bench.publish(draft(access={"admission": "open"})))


def test_what_is_current_already_stays_whatever_the_roster_has_become(bench: Bench) -> None:
    allow_whoever_signs(bench)
    data = draft(access={"admission": "open"})
    first = bench.publish(data)
    allow_whoever_signs(bench, "hold")
    assert not bench.publish(data).changed
    bench.refuses("ADMISSION_NOT_APPLIED", lambda: bench.publisher.rollback(first.descriptor.digest, "2.0"))


# What publishing adds.


def test_a_draft_is_bound_signed_and_stored_as_it_is_told(bench: Bench) -> None:
    outcome = bench.publish(draft())
    assert bench.reader.artifact(outcome.descriptor.digest) == outcome.descriptor.data
    document = verified_document(outcome.descriptor.data)
    assert document["subject"] == {"id": OWNER.id, "handle": "paperwork.home"}
    assert document["acts_for"] == "person"
    assert document.keys() - json.loads(draft()) == {"subject", "acts_for", "signatures"}


def test_the_operators_text_survives(bench: Bench) -> None:
    kept, _, _ = draft().rstrip().rpartition(b"\n}")
    assert bench.publish(draft()).descriptor.data.startswith(kept)


def test_a_draft_that_states_sealing_is_given_the_key_and_its_claim(bench: Bench) -> None:
    document = verified_document(bench.publish(draft(sealing="preferred")).descriptor.data)
    assert document["encryption_key"] == SEALING_KEY.public_text
    assert document["trust"]["issued_at"] == format_timestamp(bench.now)


def test_a_document_that_this_agent_has_signed_is_stored_byte_for_byte(bench: Bench) -> None:
    signed = bind(draft(), TERMS, NOW)
    assert bench.publish(signed).descriptor.data == signed
    assert bench.reader.artifact(digest_of(signed)) == signed


def test_the_outcome_is_what_history_says(bench: Bench) -> None:
    first, second = bench.publish(draft("1")), bench.publish(draft("2"))
    row = bench.reader.current(OWNER.id)
    assert row is not None
    assert (row.seq, row.digest, row.previous_digest) == (second.seq, second.descriptor.digest, first.descriptor.digest)
    assert (row.published_at, row.agent_version) == (second.published_at, "2")
    assert (first.previous_digest, second.previous_digest) == (None, first.descriptor.digest)


# What is refused, with nothing changed.


def altered(data: bytes) -> bytes:
    return data.replace(b"Reads letters.", b"Burns letters.")


REFUSED: list[tuple[str, bytes, str]] = [
    ("another subject", bind(draft("2"), Terms(OTHER, acts_for="person"), NOW), "ANOTHER_SUBJECT"),
    ("another handle", bind(draft("2"), Terms(OWNER, "else.home", acts_for="person"), NOW), "ANOTHER_HANDLE"),
    ("a signature that fails", altered(bind(draft("2"), TERMS, NOW)), "SIGNATURE_FAILED"),
    ("a draft that carries a signature", draft("2", signatures=[]), "DRAFT_SIGNED"),
    ("a draft that says whom it acts for", draft("2", acts_for="person"), "DRAFT_BOUND_MEMBER"),
    ("a document that breaks a MUST", draft("2", format="agent-descriptor-v9"), "FINDINGS"),
    ("no document", b"{", "NOT_JSON"),
    ("a list", b"[]", "NOT_AN_OBJECT"),
    ("other content under the current agent_version", draft("1.0", does="Reads bills."), "SAME_AGENT_VERSION"),
    ("an agent_version that sorts below the current one", draft("0.9"), "OLDER_AGENT_VERSION"),
]


@pytest.mark.parametrize(("data", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_must_not_be_published_is_refused_and_changes_nothing(bench: Bench, data: bytes, code: str) -> None:
    bench.publish(draft("1.0"))
    bench.refuses(code, lambda: bench.publish(data))


def test_whom_the_agent_acts_for_is_never_guessed(bench: Bench) -> None:
    bench.publisher.terms = Terms(OWNER)
    error = bench.refuses("ACTS_FOR_NOT_STATED", lambda: bench.publish(draft()))
    assert "--acts-for" in str(error)


def test_a_refusal_for_findings_tells_all_of_them(bench: Bench) -> None:
    error = bench.refuses("FINDINGS", lambda: bench.publish(draft(format="x", does="", offerings_="y")))
    assert {"/format", "/does"} <= {finding.pointer for finding in error.findings}


@pytest.mark.parametrize(
    ("limits", "data", "code"),
    [
        (Limits(descriptor_bytes=1024), draft(does="a" * 1024), "TOO_LARGE"),
        (Limits(descriptor_nesting=8), draft(deep=[[[[[[[[1]]]]]]]]), "TOO_DEEP"),
    ],
)
def test_the_operators_own_limits_hold(bench: Bench, limits: Limits, data: bytes, code: str) -> None:
    bench.publisher.limits = limits
    bench.refuses(code, lambda: bench.publish(data))
    bench.publisher.limits = Limits()
    assert bench.publish(data).changed


# What follows what.


@pytest.mark.parametrize("members", [{}, {"sealing": "preferred"}])
@pytest.mark.parametrize("again", ["the draft", "what was published"])
def test_the_same_again_changes_nothing(bench: Bench, members: dict[str, Any], again: str) -> None:
    data = draft(**members)
    first = bench.publish(data)
    before = bench.everything()
    second = bench.publish(data if again == "the draft" else first.descriptor.data)
    assert bench.everything() == before
    assert (second.changed, second.healed, second.current) == (False, False, True)
    assert second.descriptor.digest == first.descriptor.digest
    assert (second.seq, second.published_at) == (first.seq, first.published_at)


def test_a_later_agent_version_becomes_current_and_the_earlier_stays(bench: Bench) -> None:
    first, second = bench.publish(draft("1.9")), bench.publish(draft("1.10"))
    current = bench.reader.current(OWNER.id)
    assert current is not None
    assert current.digest == second.descriptor.digest
    assert bench.reader.artifact(first.descriptor.digest) == first.descriptor.data


def test_respelling_keeps_both_spellings_of_one_agent_version(bench: Bench) -> None:
    first = bench.publish(draft("1.0"))
    second = bench.publish(draft("1.0", does="Reads letters and bills."), respell=True)
    assert second.changed
    for outcome in (first, second):
        assert bench.reader.artifact(outcome.descriptor.digest) == outcome.descriptor.data


def test_respelling_is_no_way_back(bench: Bench) -> None:
    bench.publish(draft("1.0"))
    bench.refuses("OLDER_AGENT_VERSION", lambda: bench.publish(draft("0.9"), respell=True))


@pytest.mark.parametrize(
    ("order", "earlier", "later"),
    [
        ("natural", "1.9", "1.10"),
        ("natural", "r9", "r10"),
        ("semver", "1.0.0-rc.1", "1.0.0"),
        ("pep440", "1.0rc1", "1.0"),
        ("pep440", "1.0", "1.0.post1"),
        ("calver", "2026.9.30", "2026.11.1"),
    ],
)
def test_agent_versions_are_ordered_as_the_operator_says(bench: Bench, order: str, earlier: str, later: str) -> None:
    bench.publisher.terms = Terms(OWNER, acts_for="person", version_order=order)
    bench.publish(draft(earlier))
    assert bench.publish(draft(later)).changed
    bench.refuses("OLDER_AGENT_VERSION", lambda: bench.publish(draft(earlier)))


@pytest.mark.parametrize("order", ["semver", "pep440", "calver"])
def test_a_string_that_does_not_fit_the_order_is_refused(bench: Bench, order: str) -> None:
    bench.publisher.terms = Terms(OWNER, acts_for="person", version_order=order)
    bench.refuses("VERSION_UNREADABLE", lambda: bench.publish(draft("the blue one")))


def test_a_rollback_publishes_older_content_under_a_new_agent_version(bench: Bench) -> None:
    first = bench.publish(draft("1.0", does="Reads letters."))
    bench.publish(draft("2.0", does="Reads minds."))
    back = bench.publisher.rollback(first.descriptor.digest, "2.1")
    document = verified_document(back.descriptor.data)
    assert (document["does"], document["agent_version"]) == ("Reads letters.", "2.1")
    assert [version.agent_version for version in bench.reader.history(OWNER.id, 9)[0]] == ["2.1", "2.0", "1.0"]


@pytest.mark.parametrize(
    ("agent_version", "code"), [("2.0", "SAME_AGENT_VERSION"), ("1.5", "OLDER_AGENT_VERSION"), ("", "FINDINGS")]
)
def test_history_does_not_run_backwards(bench: Bench, agent_version: str, code: str) -> None:
    first = bench.publish(draft("1.0"))
    bench.publish(draft("2.0", does="Reads minds."))
    bench.refuses(code, lambda: bench.publisher.rollback(first.descriptor.digest, agent_version))


def test_a_rollback_to_what_was_never_here_is_refused(bench: Bench) -> None:
    bench.publish(draft())
    bench.refuses("NOT_FOUND", lambda: bench.publisher.rollback(digest_of(b"else"), "2.0"))


# Two at once.


def test_the_second_of_two_publishers_is_judged_against_what_the_first_made_current(bench: Bench) -> None:
    with Store.open(bench.path) as store, Reader.open(bench.path) as reader:
        second = Publisher(store, reader, TERMS, Limits(), bench.clock)
        bench.publish(draft("2"))
        bench.refuses("OLDER_AGENT_VERSION", lambda: second.publish(draft("1")))
        assert second.publish(draft("3")).previous_digest == bench.reader.history(OWNER.id, 2)[0][1].digest


def test_a_publish_that_comes_between_wins_and_the_other_is_told(bench: Bench) -> None:
    def clock() -> float:
        # Looked at between reading what is current and writing: here the other publisher is quicker.
        with Store.open(bench.path) as store, Reader.open(bench.path) as reader:
            Publisher(store, reader, TERMS, Limits(), bench.clock).publish(draft("2"))
        return NOW

    bench.publish(draft("1"))
    slow = Publisher(bench.store, bench.reader, TERMS, Limits(), clock)
    with pytest.raises(StoreError) as caught:
        slow.publish(draft("3"))
    assert caught.value.code == "CONFLICT"
    assert [version.agent_version for version in bench.reader.history(OWNER.id, 9)[0]] == ["2", "1"]
    assert [event.seq for event in bench.reader.events_after(0, 9)] == [1, 2]


# The event.


def test_each_publish_appends_one_signed_event_in_canonical_form(bench: Bench) -> None:
    outcomes = [bench.publish(draft(str(number), sealing="required")) for number in range(1, 4)]
    events = bench.reader.events_after(0, 9)
    assert [event.seq for event in events] == [1, 2, 3]
    for event, outcome in zip(events, outcomes, strict=True):
        envelope = verified_envelope(event.data)
        assert event.data.encode() == rfc8785.dumps(envelope)
        assert key_of(envelope["from"]) == key_of(OWNER.id)
        assert set(envelope) == {"v", "id", "type", "ts", "from", "payload", "sig"}
        assert (envelope["v"], envelope["type"]) == ("0.3.0", "emit")
        assert envelope["payload"] == {
            "event": "descriptor.replaced",
            "subject": {"id": OWNER.id, "handle": "paperwork.home"},
            "digest": outcome.descriptor.digest,
            "previous_digest": outcome.previous_digest,
            "agent_version": outcome.descriptor.agent_version,
            "published_at": format_timestamp(outcome.published_at),
            "seq": event.seq,
        }
        assert envelope["ts"] == format_timestamp(outcome.published_at)
    assert len({json.loads(event.data)["id"] for event in events}) == 3


def test_an_agent_without_a_handle_states_none_in_the_event(bench: Bench) -> None:
    bench.publisher.terms = Terms(OWNER, acts_for="anyone")
    bench.publish(draft())
    (event,) = bench.reader.events_after(0, 9)
    assert verified_envelope(event.data)["payload"]["subject"] == {"id": OWNER.id}


# When the store is damaged.

KINDS = [{}, {"sealing": "preferred"}]


@pytest.mark.parametrize("members", KINDS)
@pytest.mark.parametrize("what", ["the draft", "what was published"])
def test_the_file_that_was_published_last_repairs_the_current_version(
    bench: Bench, members: dict[str, Any], what: str
) -> None:
    data = draft(**members)
    first = bench.publish(data)
    before = bench.everything()
    damage(bench.path, first.descriptor.digest)
    again = bench.publish(data if what == "the draft" else first.descriptor.data)
    assert (again.changed, again.healed, again.current) == (False, True, True)
    assert bench.reader.artifact(first.descriptor.digest) == again.descriptor.data == first.descriptor.data
    assert bench.everything() == before


@pytest.mark.parametrize("what", ["the draft", "what was published"])
def test_the_file_of_an_older_version_repairs_it_and_the_current_one_stays(bench: Bench, what: str) -> None:
    first, second = bench.publish(draft("1")), bench.publish(draft("2"))
    before = bench.everything()
    damage(bench.path, first.descriptor.digest)
    again = bench.publish(draft("1") if what == "the draft" else first.descriptor.data)
    assert (again.changed, again.healed, again.current) == (False, True, False)
    assert again.descriptor.digest == first.descriptor.digest
    assert bench.reader.artifact(first.descriptor.digest) == first.descriptor.data
    assert bench.everything() == before
    assert second.descriptor.digest == bench.reader.current(OWNER.id).digest  # type: ignore[union-attr]  # published


def test_a_signed_file_repairs_its_version_whatever_the_settings_say_now(bench: Bench) -> None:
    first = bench.publish(draft())
    damage(bench.path, first.descriptor.digest)
    bench.publisher.terms = Terms(OWNER, handle="renamed.home", version_order="semver")
    assert bench.publish(first.descriptor.data).healed


@pytest.mark.parametrize("agent_version", ["1.0", "0.9"])
@pytest.mark.parametrize("respell", [False, True])
def test_over_a_damaged_version_only_a_later_one_is_published(bench: Bench, agent_version: str, respell: bool) -> None:
    damage(bench.path, bench.publish(draft("1.0")).descriptor.digest)
    data = draft(agent_version, does="Reads bills.")
    bench.refuses("CURRENT_DAMAGED", lambda: bench.publish(data, respell=respell))
    assert bench.publish(draft("1.1", does="Reads bills.")).changed


def test_bytes_that_are_gone_are_not_said_to_be_there(bench: Bench) -> None:
    first = bench.publish(draft())
    with closing(sqlite3.connect(bench.path)) as connection, connection:
        connection.execute("DELETE FROM artifacts")
    for data in (draft(), first.descriptor.data):
        bench.refuses("CURRENT_DAMAGED", functools.partial(bench.publish, data))
    assert bench.publish(draft("1.1")).changed


def test_a_damaged_version_is_not_rolled_back_to(bench: Bench) -> None:
    first = bench.publish(draft("1"))
    bench.publish(draft("2"))
    damage(bench.path, first.descriptor.digest)
    bench.refuses("DAMAGED", lambda: bench.publisher.rollback(first.descriptor.digest, "3"))


# What is stated for one publish.


@pytest.mark.parametrize(
    ("terms", "acts_for", "name", "expected"),
    [
        (("person", None), None, None, ("person", None)),
        (("person", None), "anyone", None, ("anyone", None)),
        (("person", None), "organization", "Library", ("organization", "Library")),
        (("organization", "Library"), None, None, ("organization", "Library")),
        (("organization", "Library"), "organization", None, ("organization", "Library")),
        (("organization", "Library"), None, "School", ("organization", "School")),
        (("organization", "Library"), "person", None, ("person", None)),
        ((None, None), "organization", "Library", ("organization", "Library")),
    ],
)
def test_what_is_stated_for_one_publish_stands_over_the_settings(
    terms: tuple[str | None, str | None],
    acts_for: str | None,
    name: str | None,
    expected: tuple[str | None, str | None],
) -> None:
    stated = with_terms(Terms(OWNER, acts_for=terms[0], organization_name=terms[1]), acts_for, name)
    assert (stated.acts_for, stated.organization_name) == expected


@pytest.mark.parametrize(("before", "acts_for"), [("person", None), ("organization", "anyone"), (None, "person")])
def test_a_name_that_would_not_be_published_is_refused(before: str | None, acts_for: str | None) -> None:
    with pytest.raises(NodeError) as caught:
        with_terms(Terms(OWNER, acts_for=before), acts_for, "Library")
    assert (caught.value.code, caught.value.exit_code) == ("ORGANIZATION_NAME_ALONE", 2)


def test_the_settings_are_the_terms() -> None:
    environ = {
        "AGENT_NODE_HANDLE": "library.home",
        "AGENT_NODE_ACTS_FOR": "organization",
        "AGENT_NODE_ORGANIZATION_NAME": "Library",
        "AGENT_NODE_VERSION_ORDER": "semver",
    }
    terms = terms_of(Keys(OWNER, SEALING_KEY), load(None, environ, {}))
    assert terms == Terms(OWNER, "library.home", "organization", "Library", SEALING_KEY, "semver")
    assert terms_of(Keys(OWNER, SEALING_KEY), Settings()) == Terms(OWNER, sealing_key=SEALING_KEY)
