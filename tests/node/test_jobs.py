"""The workshop: every order is a row that ends, told to its own caller, in its turn and in its time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nacl.public
import pytest
import structlog.testing
import trio
import trio.testing

from descriptor.encoding import b64url_encode
from descriptor.view import Offering
from entryway.errors import EntrywayError
from entryway.work import Bounds, Completed, Declined, Ending, Order
from node.archive import StoreArchive, StoreKept
from node.handlers.results import failed
from node.handlers.settings import Handler
from node.job_rows import interrupt_jobs, job_document
from node.jobs import KEEP_AGAIN, SWEEP, Workshop
from node.settings import Jobs
from store import Job, Reader, Store, StoreError
from tests.node.handlers.parts import CALLER, handler, offering, order
from tests.node.parts import NOW

OTHER = "U" + "B" * 55
DEFAULTS = Jobs()
RUNS = handler(command=["x"], parallel=2)


@dataclass
class Behind:
    """What stands behind the offerings: it ends a job when it is told how."""

    begun: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ended: dict[str, Ending] = field(default_factory=dict)
    at_once: Ending | None = None
    _told: trio.Condition = field(default_factory=trio.Condition)

    async def do(self, _by: Handler, _offering: Offering, asked: Order, task_id: str, seconds: float) -> Ending:
        self.begun.append(asked.request_id)
        self.seconds.append(seconds)
        if self.at_once is not None:
            return self.at_once
        async with self._told:
            while asked.request_id not in self.ended:
                await self._told.wait()
        return self.ended[asked.request_id]

    async def end(self, request_id: str, ending: Ending) -> None:
        async with self._told:
            self.ended[request_id] = ending
            self._told.notify_all()


class Bench:
    """A workshop that runs, its store, and a clock that goes with trio's."""

    def __init__(self, store: Store, reader: Reader, settings: Jobs, handlers: Mapping[str, Handler]) -> None:
        self.store, self.reader, self.behind = store, reader, Behind()
        self.archive = StoreArchive(reader, CALLER)
        self.kept = StoreKept(store, self.archive, trio.CapacityLimiter(1))
        self.start = trio.current_time()
        self.declared: dict[str, Offering] = {name: offering(id=name) for name in handlers}
        self.workshop = Workshop(
            self.kept,
            self.behind,  # type: ignore[arg-type]  # it has the one method that is used
            self.find,
            self.clock,
            handlers,
            settings,
        )

    async def find(self, name: str) -> Offering | None:
        return self.declared.get(name)

    def clock(self) -> float:
        return NOW + trio.current_time() - self.start

    async def begin(self, request_id: str, **members: Any) -> str:
        return await self.workshop.begin(order(request_id=request_id, **members))

    def row(self, task_id: str) -> Job:
        row = self.reader.job(task_id)
        assert row is not None
        return row

    async def state(self, task_id: str, caller: str = CALLER) -> str:
        told = await self.workshop.state(caller, task_id)
        assert told is not None
        return str(told.get("state", told["status"]))

    async def settled(self, until: Callable[[], bool]) -> None:
        with trio.fail_after(1000):
            while not until():
                await trio.sleep(0.001)


@asynccontextmanager
async def bench(
    tmp_path: Path,
    settings: Jobs = DEFAULTS,
    handlers: Mapping[str, Handler] | None = None,
) -> AsyncIterator[Bench]:
    path = tmp_path / "node.db"
    with Store.open(path) as store, Reader.open(path) as reader:
        one = Bench(store, reader, settings, handlers or {"count-words": RUNS})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.archive.run)
            async with trio.open_nursery() as working:
                await working.start(one.workshop.run)
                yield one
                one.workshop.stop()
            nursery.cancel_scope.cancel()


@pytest.fixture
def quick_time(autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch) -> trio.testing.MockClock:
    """A clock that goes on as soon as everybody waits. A thread is done with at once: no clock waits for one."""

    async def run_sync(act: Callable[..., Any], *values: Any, **_: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return act(*values)

    monkeypatch.setattr("trio.to_thread.run_sync", run_sync)
    return autojump_clock


async def refused(act: Any) -> EntrywayError:
    with pytest.raises(EntrywayError) as caught:
        await act
    return caught.value


# From acceptance to the end.


async def test_an_order_is_a_row_before_it_is_begun_and_ends_as_it_is_told(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        task_id = await one.begin("r-1")
        row = one.row(task_id)
        assert (row.caller, row.request_id, row.offering, row.payload) == (CALLER, "r-1", "count-words", None)
        assert row.created_at == pytest.approx(NOW, abs=1)
        assert await one.state(task_id) in ("submitted", "working")
        await one.behind.end("r-1", Completed({"answer": "2"}))
        told = await one.workshop.ended(task_id)
        assert told == {"status": "completed", "task_id": task_id, "output": {"answer": "2"}}
        row = one.row(task_id)
        assert (row.state, json.loads(row.payload or "")) == ("completed", told)
        assert await one.workshop.ended(task_id) == await one.workshop.state(CALLER, task_id) == told
        assert one.workshop.status() == {"running": 0, "waiting": 0}


@pytest.mark.parametrize(
    ("ending", "state", "status", "code"),
    [
        (Completed(None), "completed", "completed", None),
        (failed(), "failed", "failed", "HANDLER_FAILED"),
        (Declined("That is no document."), "failed", "refused", "SCOPE_REFUSED"),
    ],
)
async def test_each_ending_has_its_state_and_its_payload(
    tmp_path: Path, ending: Ending, state: str, status: str, code: str | None
) -> None:
    async with bench(tmp_path) as one:
        one.behind.at_once = ending
        task_id = await one.begin("r-1")
        told = await one.workshop.ended(task_id)
        assert (told["status"], one.row(task_id).state) == (status, state)
        error = told.get("error")
        assert (error["code"] if isinstance(error, dict) else None) == code


async def test_an_answer_that_was_asked_for_sealed_is_nowhere_in_the_clear(tmp_path: Path) -> None:
    key = nacl.public.PrivateKey.generate()
    async with bench(tmp_path) as one:
        one.behind.at_once = Completed({"answer": "a word that is secret"})
        task_id = await one.begin("r-1", seal_to=b64url_encode(bytes(key.public_key)))
        told = await one.workshop.ended(task_id)
        assert isinstance(told["output"], dict)
        assert told["output"]["v"] == "sealedpayload.v1"
        assert "secret" not in (one.row(task_id).payload or "")


async def test_an_answer_that_cannot_be_sealed_is_a_job_that_failed(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        one.behind.at_once = Completed("a word that is secret")
        told = await one.workshop.ended(await one.begin("r-1", seal_to="AAAA"))
        assert told["status"] == "failed"
        assert "secret" not in json.dumps(told)


async def test_what_was_asked_is_nowhere_in_the_store(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        one.behind.at_once = Completed("done")
        await one.workshop.ended(await one.begin("r-1", words="a word that is secret"))
    assert b"secret" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


# Who is told.


async def test_a_job_is_told_to_its_own_caller_and_to_nobody_else(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        task_id = await one.begin("r-1")
        for _ in range(2):
            for act in (one.workshop.state, one.workshop.cancel):
                assert await act(OTHER, task_id) is None
                assert await act(CALLER, "no-such-job") is None
            await one.behind.end("r-1", Completed(1))
            await one.workshop.ended(task_id)


async def test_a_request_that_comes_again_is_not_worked_on_again(tmp_path: Path) -> None:
    for _ in range(2):  # the second time after a restart
        async with bench(tmp_path) as one:
            one.behind.at_once = Completed(1)
            if one.reader.jobs(1) == ():
                await one.workshop.ended(await one.begin("r-1"))
                before = list(one.behind.begun)
            error = await refused(one.begin("r-1"))
            assert error.code == "INVALID_ENVELOPE"
            assert one.behind.begun in ([], before)


# In its turn.


async def test_no_more_run_than_may_and_the_first_that_may_goes_first(tmp_path: Path) -> None:
    handlers = {"a": handler(command=["x"], parallel=1), "b": handler(command=["x"], parallel=2)}
    async with bench(tmp_path, Jobs(jobs_parallel=2), handlers) as one:
        tasks = {name: await one.begin(name, offering_id=name[0]) for name in ("a1", "a2", "b1", "a3", "b2")}
        await one.settled(lambda: len(one.behind.begun) == 2)
        assert one.behind.begun == ["a1", "b1"]  # a2 waits for its offering, and keeps nobody else
        assert [await one.state(tasks[name]) for name in ("a1", "a2", "b1", "b2")] == [
            *("working", "submitted", "working", "submitted")
        ]
        assert one.row(tasks["a2"]).began_at is None
        assert one.workshop.status() == {"running": 2, "waiting": 3}
        for ended, begun in (("b1", "b2"), ("a1", "a2"), ("a2", "a3")):
            await one.behind.end(ended, Completed(1))
            await one.settled(lambda begun=begun: begun in one.behind.begun)  # type: ignore[misc]  # a default binds it now
        assert one.row(tasks["a2"]).began_at is not None
        for name in ("a3", "b2"):
            await one.behind.end(name, Completed(1))
        for task_id in tasks.values():
            assert (await one.workshop.ended(task_id))["status"] == "completed"


async def test_a_job_that_gets_its_turn_while_it_is_made_a_row_is_a_row_that_was_begun(tmp_path: Path) -> None:
    async with bench(tmp_path, Jobs(jobs_parallel=1)) as one:
        await one.begin("r-1")
        begun: list[str] = []

        async def second() -> None:
            begun.append(await one.begin("r-2"))

        async with trio.open_nursery() as nursery, one.kept._writing:
            await one.behind.end("r-1", Completed(1))
            await one.settled(lambda: one.kept._writing.statistics().tasks_waiting == 1)
            nursery.start_soon(second)  # behind the end of the first, which leaves its place to this one
            await one.settled(lambda: one.kept._writing.statistics().tasks_waiting == 2)
        await one.settled(lambda: "r-2" in one.behind.begun)
        row = one.row(begun[0])
        assert (row.state, row.began_at is None) == ("working", False)
        await one.behind.end("r-2", Completed(1))


async def test_beyond_the_queue_a_caller_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with bench(tmp_path, Jobs(jobs_parallel=1, jobs_waiting=2)) as one:
        for number in range(3):
            await one.begin(f"r-{number}")
        error = await refused(one.begin("r-3"))
        assert (error.code, dict(error.headers)) == ("RATE_LIMITED", {"Retry-After": "5"})
        assert len(one.reader.jobs(9)) == 3
        await one.behind.end("r-0", Completed(1))
        await one.settled(lambda: one.workshop.status() == {"running": 1, "waiting": 1})
        await one.begin("r-4")


async def test_orders_that_come_at_once_are_bounded_as_well(tmp_path: Path) -> None:
    async with bench(tmp_path, Jobs(jobs_parallel=1, jobs_waiting=1)) as one:
        taken: list[str] = []

        async def come(number: int) -> None:
            try:
                taken.append(await one.begin(f"r-{number}"))
            except EntrywayError as error:
                assert error.code == "RATE_LIMITED"  # some are taken, and raise nothing

        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(come, number)
        assert len(taken) == 2


# In its time.


async def test_a_job_is_stopped_at_the_least_of_its_bounds(tmp_path: Path, quick_time: trio.testing.MockClock) -> None:
    cases: list[tuple[float, float | None, float | None, float]] = [
        (50.0, None, None, 50.0),
        (50.0, 20.0, None, 20.0),
        (10.0, 20.0, None, 10.0),
        (50.0, 20.0, 5.0, 5.0),
    ]
    for number, (seconds, bound, deadline, least) in enumerate(cases):
        (tmp_path / str(number)).mkdir()
        async with bench(tmp_path / str(number), handlers={"a": replace(RUNS, seconds=seconds)}) as one:
            at = None if deadline is None else one.clock() + deadline
            began = trio.current_time()
            task_id = await one.begin("r-1", offering_id="a", bounds=Bounds(bound, deadline=at))
            told = await one.workshop.ended(task_id)
            assert trio.current_time() - began == pytest.approx(least, abs=0.1)
            assert one.behind.seconds == [pytest.approx(least, abs=0.1)]
            assert isinstance(told["error"], dict)
            assert (told["status"], told["error"]["code"]) == ("failed", "DEADLINE_EXCEEDED")
            assert one.row(task_id).state == "exhausted"


async def test_a_deadline_passes_in_the_queue_too(tmp_path: Path, quick_time: trio.testing.MockClock) -> None:
    async with bench(tmp_path, Jobs(jobs_parallel=1)) as one:
        await one.begin("r-1")
        task_id = await one.begin("r-2", bounds=Bounds(deadline=one.clock() + 5))
        assert (await one.workshop.ended(task_id))["status"] == "failed"
        assert (one.row(task_id).state, one.row(task_id).began_at) == ("exhausted", None)
        assert one.behind.begun == ["r-1"]
        await one.behind.end("r-1", Completed(1))


# An end to it.


async def test_a_caller_cancels_his_own_job_whether_it_runs_or_waits(tmp_path: Path) -> None:
    async with bench(tmp_path, Jobs(jobs_parallel=1)) as one:
        tasks = [await one.begin("r-1"), await one.begin("r-2")]
        await one.settled(lambda: one.behind.begun == ["r-1"])
        for task_id in reversed(tasks):
            told = await one.workshop.cancel(CALLER, task_id)
            assert told is not None
            assert isinstance(told["error"], dict)
            assert (told["status"], told["error"]["code"]) == ("failed", "CANCELED")
            assert one.row(task_id).state == "canceled"
            assert await one.workshop.cancel(CALLER, task_id) == told
        assert one.behind.begun == ["r-1"]


async def test_a_job_that_has_ended_is_not_canceled(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        one.behind.at_once = Completed(1)
        task_id = await one.begin("r-1")
        told = await one.workshop.ended(task_id)
        assert await one.workshop.cancel(CALLER, task_id) == told
        assert not await one.workshop.cancel_any(task_id)


async def test_the_operator_cancels_any_job(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        task_id = await one.begin("r-1")
        assert await one.workshop.cancel_any(task_id)
        assert one.row(task_id).state == "canceled"
        assert not await one.workshop.cancel_any("no-such-job")


async def test_stopping_gives_jobs_a_moment_and_interrupts_the_rest(
    tmp_path: Path, quick_time: trio.testing.MockClock
) -> None:
    async with bench(tmp_path, Jobs(jobs_parallel=2, jobs_stop_wait=5)) as one:
        tasks = [await one.begin(f"r-{number}") for number in range(3)]
        await one.settled(lambda: len(one.behind.begun) == 2)
        one.workshop.stop()
        assert (await refused(one.begin("r-9"))).code == "AGENT_UNAVAILABLE"
        await trio.sleep(1)
        assert one.row(tasks[2]).state == "rejected"  # it had not begun, so it waits for nothing
        await one.behind.end("r-0", Completed(1))
        told = [await one.workshop.ended(task_id) for task_id in tasks]
        assert trio.current_time() - one.start == pytest.approx(5, abs=0.5)
        assert [one.row(task_id).state for task_id in tasks] == ["completed", "failed", "rejected"]
        for payload in told[1:]:
            assert isinstance(payload["error"], dict)
            assert (payload["status"], payload["error"]["code"]) == ("failed", "INTERRUPTED")


async def test_what_a_process_before_this_one_left_is_interrupted(tmp_path: Path) -> None:
    with Store.open(tmp_path / "node.db") as store, Reader.open(tmp_path / "node.db") as reader:
        store.add_job(Job("t-1", CALLER, "r-1", "count-words", "submitted", NOW))
        store.add_job(Job("t-2", CALLER, "r-2", "count-words", "working", NOW, NOW))
        assert interrupt_jobs(store, NOW + 5) == 2
        assert interrupt_jobs(store, NOW + 6) == 0
        assert [row.state for row in reader.jobs(9)] == ["failed", "rejected"]
    async with bench(tmp_path) as one:
        for task_id in ("t-1", "t-2"):
            told = await one.workshop.state(CALLER, task_id)
            assert told is not None
            assert (told["status"], told["task_id"]) == ("failed", task_id)
            assert isinstance(told["error"], dict)
            assert told["error"]["code"] == "INTERRUPTED"


async def test_a_caller_who_goes_away_while_his_order_is_taken_leaves_no_room_taken(tmp_path: Path) -> None:
    async with bench(tmp_path, Jobs(jobs_parallel=1, jobs_waiting=0)) as one:
        async with one.kept._writing, trio.open_nursery() as nursery:
            nursery.start_soon(one.begin, "r-1")
            await trio.testing.wait_all_tasks_blocked()
            assert one.workshop.status() == {"running": 1, "waiting": 0}
            nursery.cancel_scope.cancel()
        assert one.workshop.status() == {"running": 0, "waiting": 0}
        await one.begin("r-2")


# When it cannot be done.


async def test_what_nothing_stands_behind_or_nobody_declares_is_unavailable(tmp_path: Path) -> None:
    async with bench(tmp_path, handlers={"a": RUNS, "b": RUNS}) as one:
        del one.declared["b"]
        assert [one.workshop.serves(name) for name in ("a", "b", "c")] == [True, True, False]
        for name in ("b", "c"):
            assert (await refused(one.begin("r-1", offering_id=name))).code == "AGENT_UNAVAILABLE"
        assert one.reader.jobs(9) == ()


async def test_before_it_runs_nothing_is_taken(tmp_path: Path) -> None:
    with Store.open(tmp_path / "node.db") as store, Reader.open(tmp_path / "node.db") as reader:
        one = Bench(store, reader, Jobs(), {"count-words": RUNS})
        assert (await refused(one.begin("r-1"))).code == "AGENT_UNAVAILABLE"


async def test_a_disk_that_refuses_takes_no_order_and_loses_no_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("STORE_FULL", "The disk is full.")

    async with bench(tmp_path) as one:
        with monkeypatch.context() as patched:
            patched.setattr(one.store, "add_job", full)
            assert (await refused(one.begin("r-1"))).code == "AGENT_UNAVAILABLE"
        assert one.workshop.status() == {"running": 0, "waiting": 0}
        task_id = await one.begin("r-1")
        monkeypatch.setattr(one.store, "end_job", full)
        waiting: list[Mapping[str, object]] = []

        async def wait() -> None:
            waiting.append(await one.workshop.ended(task_id))

        with structlog.testing.capture_logs() as lines:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                await trio.testing.wait_all_tasks_blocked()
                await one.behind.end("r-1", Completed(1))
        assert waiting == [{"status": "completed", "task_id": task_id, "output": 1}]
        assert "job_end_not_kept" in [line["event"] for line in lines]


async def test_an_end_that_the_disk_does_not_take_is_told_and_put_there_when_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_time: trio.testing.MockClock
) -> None:
    def full(*_: object) -> None:
        raise StoreError("STORE_FULL", "The disk is full.")

    done = {"status": "completed", "output": 1}
    async with bench(tmp_path) as one:
        task_id = await one.begin("r-1")
        with monkeypatch.context() as patched:
            patched.setattr(one.store, "end_job", full)
            await one.behind.end("r-1", Completed(1))
            await one.settled(lambda: one.workshop.status()["running"] == 0)
            for ask in (one.workshop.state, one.workshop.cancel):
                assert await ask(CALLER, task_id) == {**done, "task_id": task_id}
                assert await ask(OTHER, task_id) is None
            assert await one.workshop.ended(task_id) == {**done, "task_id": task_id}
            assert not await one.workshop.cancel_any(task_id)
            # What is held in memory is bounded: nothing new is begun.
            assert (await refused(one.begin("r-2"))).code == "AGENT_UNAVAILABLE"
            await trio.sleep(2 * KEEP_AGAIN)
            assert one.row(task_id).payload is None
        await trio.sleep(2 * KEEP_AGAIN)
        assert (one.row(task_id).state, json.loads(one.row(task_id).payload or "")) == (
            "completed",
            {**done, "task_id": task_id},
        )
        one.behind.at_once = Completed(2)
        await one.workshop.ended(await one.begin("r-2"))


async def test_a_disk_that_never_takes_an_end_keeps_no_node_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("STORE_FULL", "The disk is full.")

    async with bench(tmp_path) as one:
        task_id = await one.begin("r-1")
        monkeypatch.setattr(one.store, "end_job", full)
        await one.behind.end("r-1", Completed(1))
        await one.workshop.ended(task_id)
    with Store.open(tmp_path / "node.db") as store:
        assert interrupt_jobs(store, NOW) == 1


# What is kept.


async def test_outcomes_are_forgotten_in_time(tmp_path: Path, quick_time: trio.testing.MockClock) -> None:
    async with bench(tmp_path, Jobs(jobs_keep_days=1)) as one:
        one.behind.at_once = Completed(1)
        task_id = await one.begin("r-1")
        await one.workshop.ended(task_id)
        await trio.sleep(86_400 - SWEEP)
        assert one.reader.job(task_id) is not None
        await trio.sleep(2 * SWEEP)
        assert await one.workshop.state(CALLER, task_id) is None
        assert (await refused(one.workshop.ended(task_id))).code == "AGENT_UNAVAILABLE"


async def test_no_more_outcomes_are_kept_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.jobs.SWEEP_ENDS", 4)
    async with bench(tmp_path, Jobs(jobs_kept=2)) as one:
        one.behind.at_once = Completed(1)
        for number in range(8):
            await one.workshop.ended(await one.begin(f"r-{number}"))
        assert len(one.reader.jobs(99)) == 2


def test_a_job_is_shown_without_what_came_of_it() -> None:
    document = job_document(Job("t-1", CALLER, "r-1", "a", "working", NOW, payload="secret"))
    assert document["ended_at"] is None
    assert "secret" not in json.dumps(document)
