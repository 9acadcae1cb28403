"""Jobs on the disk: one row a request, nothing of what was asked, and gone when they are forgotten."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store import Job, Reader, Store, StoreError
from tests.store.samples import ALICE, AT, BOB, execute

DAY = 86_400.0


def job(number: int, caller: str = ALICE, **members: object) -> Job:
    return Job(f"t{number}", caller, f"r{number}", "sort", "submitted", AT + number, **members)  # type: ignore[arg-type]  # each test states its own


def ended(store: Store, number: int, at: float, payload: str = "{}", caller: str = ALICE) -> None:
    assert store.add_job(job(number, caller))
    assert store.end_job(f"t{number}", "completed", at, payload)


def test_there_is_no_room_for_what_was_asked(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        columns = {name for _, name, *_ in connection.execute("PRAGMA table_info(jobs)")}
    assert columns == {
        *("seq", "task_id", "caller", "request_id", "offering", "state", "created_at", "began_at", "ended_at"),
        "payload",
    }


def test_a_job_from_its_acceptance_to_its_end(store: Store, reader: Reader) -> None:
    assert reader.job("t1") is None
    assert store.add_job(job(1))
    assert reader.job("t1") == Job("t1", ALICE, "r1", "sort", "submitted", AT + 1)
    store.begin_job("t1", "working", AT + 2)
    assert reader.job("t1") == Job("t1", ALICE, "r1", "sort", "working", AT + 1, AT + 2)
    assert store.end_job("t1", "completed", AT + 3, '{"status":"completed"}')
    whole = Job("t1", ALICE, "r1", "sort", "completed", AT + 1, AT + 2, AT + 3, '{"status":"completed"}')
    assert reader.job("t1") == whole


def test_a_request_is_one_job_and_another_callers_is_another(store: Store, reader: Reader) -> None:
    assert store.add_job(job(1))
    again = Job("t2", ALICE, "r1", "sort", "submitted", AT)
    assert not store.add_job(again)
    assert reader.job("t2") is None
    assert store.add_job(Job("t2", BOB, "r1", "sort", "submitted", AT))


def test_two_jobs_do_not_share_an_id(store: Store) -> None:
    store.add_job(job(1))
    with pytest.raises(StoreError):
        store.add_job(Job("t1", BOB, "r2", "sort", "submitted", AT))


def test_what_has_ended_stays_as_it_is(store: Store, reader: Reader) -> None:
    ended(store, 1, AT, '{"n":1}')
    before = reader.job("t1")
    store.begin_job("t1", "working", AT + 1)
    assert not store.end_job("t1", "failed", AT + 1, "{}")
    assert not store.end_job("t9", "failed", AT + 1, "{}")
    assert store.end_jobs(lambda _: ("failed", "{}"), AT + 1) == 0
    assert reader.job("t1") == before


def test_all_that_is_left_is_ended_together_or_not_at_all(store: Store, reader: Reader) -> None:
    ended(store, 1, AT)
    for number in (2, 3):
        store.add_job(job(number))

    def fails(left: Job) -> tuple[str, str]:
        if left.task_id == "t3":
            raise ZeroDivisionError
        return "failed", "{}"

    with pytest.raises(ZeroDivisionError):
        store.end_jobs(fails, AT + 9)
    assert [one.state for one in reader.jobs(9)] == ["submitted", "submitted", "completed"]
    assert store.end_jobs(lambda one: ("failed", one.task_id), AT + 9) == 2
    assert [(one.state, one.ended_at) for one in reader.jobs(9)] == [
        ("failed", AT + 9),
        ("failed", AT + 9),
        ("completed", AT),
    ]
    third = reader.job("t3")
    assert third is not None
    assert third.payload == "t3"


def test_the_list_is_newest_first_of_one_state_or_all_and_without_payloads(store: Store, reader: Reader) -> None:
    for number in range(1, 4):
        ended(store, number, AT)
    store.add_job(job(4))
    assert [one.task_id for one in reader.jobs(3)] == ["t4", "t3", "t2"]
    assert [one.task_id for one in reader.jobs(9, "submitted")] == ["t4"]
    assert reader.jobs(9, "rejected") == ()
    assert all(one.payload is None for one in reader.jobs(9))


@pytest.mark.parametrize(("until", "left"), [(AT - 0.001, ["t1", "t2"]), (AT, ["t2"]), (AT + 1, [])])
def test_what_ended_long_enough_ago_is_forgotten(store: Store, reader: Reader, until: float, left: list[str]) -> None:
    ended(store, 1, AT)
    ended(store, 2, AT + 1)
    assert store.forget_jobs(until, 100) == 2 - len(left)
    assert sorted(one.task_id for one in reader.jobs(9)) == left


def test_of_more_than_are_kept_the_oldest_go_but_none_that_has_not_ended(store: Store, reader: Reader) -> None:
    store.add_job(job(1))
    for number in range(2, 7):
        ended(store, number, AT)
    assert store.forget_jobs(0, 2) == 3
    assert [one.task_id for one in reader.jobs(9)] == ["t6", "t5", "t1"]
    assert store.forget_jobs(0, 2) == 0


def test_what_is_forgotten_is_gone_from_the_file(path: Path) -> None:
    with Store.open(path) as store:
        for number in range(1, 40):
            ended(store, number, AT, f'{{"output":"a word that is secret {number}"}}' * 100)
        store.forget_jobs(AT, 1000)
    assert b"secret" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_a_store_that_is_replaced_takes_no_job(store: Store) -> None:
    store.path.rename(store.path.with_suffix(".gone"))
    with pytest.raises(StoreError) as caught:
        store.add_job(job(1))
    assert caught.value.code == "STORE_REPLACED"


def test_a_job_that_was_damaged_does_not_stop_the_others(store: Store, reader: Reader) -> None:
    ended(store, 1, AT)
    ended(store, 2, AT, '{"n":2}')
    execute(store.path, "UPDATE jobs SET payload = x'00ff' WHERE task_id = 't1'")
    second = reader.job("t2")
    assert second is not None
    assert second.payload == '{"n":2}'
