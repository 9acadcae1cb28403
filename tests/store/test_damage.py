"""What does not match its digest is never served, is found, and is healed by the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from store import Reader, Store, StoreError
from tests.store.samples import ALICE, BOB, digest, document, execute, publish, publish_many

Asked = TypeVar("Asked")

DAMAGE = {
    "a bit flipped": "UPDATE artifacts SET bytes = x'7b' || substr(bytes, 2, length(bytes) - 2) || x'7c'",
    "cut short": "UPDATE artifacts SET bytes = substr(bytes, 1, 10)",
    "emptied": "UPDATE artifacts SET bytes = x''",
    "another artifact's bytes": "UPDATE artifacts SET bytes = (SELECT bytes FROM artifacts WHERE digest = '{other}')",
    "turned into text": "UPDATE artifacts SET bytes = CAST(bytes AS TEXT)",
    "turned into text that is no UTF-8": "UPDATE artifacts SET bytes = CAST(x'ff' AS TEXT)",
}


@pytest.fixture(params=DAMAGE)
def damaged(request: pytest.FixtureRequest, store: Store) -> Store:
    """A store of three versions, the second of them damaged."""
    publish_many(store, 3)
    change = DAMAGE[request.param].format(other=digest(1))
    execute(store.path, f"{change} WHERE digest = '{digest(2)}'")
    return store


def test_a_damaged_artifact_is_never_served(damaged: Store, reader: Reader) -> None:
    with pytest.raises(StoreError) as caught:
        reader.artifact(digest(2))
    assert (caught.value.code, caught.value.digest) == ("DAMAGED", digest(2))
    assert digest(2) in caught.value.message


def test_the_others_are_served(damaged: Store, reader: Reader) -> None:
    assert reader.artifact(digest(1)) == document(1)
    assert reader.artifact(digest(3)) == document(3)
    assert len(reader.history(ALICE, 10)[0]) == 3


def test_verify_finds_it_and_nothing_else(damaged: Store, reader: Reader) -> None:
    assert [(problem.code, problem.digest) for problem in reader.verify()] == [("DAMAGED", digest(2))]


def test_the_same_bytes_heal_it(damaged: Store, reader: Reader) -> None:
    assert damaged.heal(data=document(2), digest=digest(2))
    assert reader.artifact(digest(2)) == document(2)
    assert list(reader.verify()) == []


def test_publishing_the_same_bytes_heals_it(damaged: Store, reader: Reader) -> None:
    publish(damaged, 2, 3)
    assert reader.artifact(digest(2)) == document(2)
    assert list(reader.verify()) == []


def test_there_is_nothing_to_heal_in_what_is_sound_or_was_never_stored(store: Store, reader: Reader) -> None:
    publish(store, 1, None)
    assert not store.heal(data=document(1), digest=digest(1))
    assert not store.heal(data=document(2), digest=digest(2))
    assert reader.artifact(digest(2)) is None


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        pytest.param(
            [f"DELETE FROM artifacts WHERE digest = '{digest(2)}'"],
            "DANGLING",
            f"Version 2 names {digest(2)}, which is not stored.",
            id="an artifact is gone",
        ),
        pytest.param(
            ["UPDATE current SET seq = 99"],
            "DANGLING",
            f"The current version of {ALICE} is number 99, which is not in its history.",
            id="current points nowhere",
        ),
        pytest.param(
            [f"UPDATE versions SET subject = '{BOB}' WHERE seq = 3"],
            "DANGLING",
            f"The current version of {ALICE} is number 3, which is not in its history.",
            id="current points at another subject's version",
        ),
        pytest.param(
            ["DELETE FROM events WHERE seq = 2"], "EVENT_GAP", "The event log has no number 2.", id="an event is gone"
        ),
        pytest.param(
            ["DELETE FROM events WHERE seq = 3"],
            "EVENT_GAP",
            "The newest event is 2, and 3 numbers were given.",
            id="the newest event is gone",
        ),
        pytest.param(
            ["UPDATE sqlite_sequence SET seq = 1 WHERE name = 'events'"],
            "EVENT_GAP",
            "The newest event is 3, and 1 numbers were given.",
            id="a number would be given again",
        ),
        pytest.param(
            [
                "PRAGMA writable_schema = ON",
                "DELETE FROM sqlite_master WHERE name = 'idx_versions_subject'",
            ],
            "INTEGRITY",
            "is never used",
            id="the file is malformed",
        ),
    ],
)
def test_verify_finds_what_does_not_fit_together(path: Path, change: list[str], code: str, says: str) -> None:
    with Store.open(path) as store:
        publish_many(store, 3)
    execute(path, *change)
    with Reader.open(path) as reader:
        (found,) = reader.verify()
    assert found.code == code
    assert says in found.message


def test_a_page_of_garbage_anywhere_is_an_error_and_never_wrong_bytes(path: Path) -> None:
    with Store.open(path) as store:
        publish_many(store, 30)
    sound = path.read_bytes()
    outcomes = set()
    for start in range(4_096, len(sound), 4_096):
        path.write_bytes(sound[:start] + b"\xa5" * 4_096 + sound[start + 4_096 :])
        with Reader.open(path) as reader:
            assert list(reader.verify())
            outcomes |= {outcome(reader.artifact, digest(number), document(number)) for number in range(1, 31)}
            outcomes.add(outcome(lambda asked: asked.counts().versions, reader, 30))
            outcomes.add(outcome(lambda asked: len(asked.history(ALICE, 100)[0]), reader, 30))
            outcomes.add(outcome(lambda asked: len(asked.events_after(0, 100)), reader, 30))
            outcomes.add(outcome(lambda asked: asked.last_event_seq(), reader, 30))
            outcomes.add(outcome(lambda asked: getattr(asked.current(ALICE), "digest", None), reader, digest(30)))
    assert outcomes == {"right", "DAMAGED"}


def outcome(ask: Callable[[Asked], object], asked: Asked, right: object) -> str:
    """What came of asking a damaged store: the right answer, or the code of its error."""
    try:
        answer = ask(asked)
    except StoreError as error:
        return error.code
    assert answer == right
    return "right"
