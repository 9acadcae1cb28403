"""Two real nodes: one asks, one works. Knocked, let in, asked sealed, answered sealed, sent away; killed in between."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from descriptor.keys import SealingKey
from entryway.sealing import unseal
from node.home import Home
from tests.end_to_end.harness import WAIT, Ended, Node, begun, command, fresh_home, running
from tests.node.parts import draft, identity_of, published, verified_envelope

pytest.importorskip("node.handlers", reason="there is nothing yet that could stand behind an offering")

PROGRAM = """
import time
from pathlib import Path

def shout(job):
    return {"louder": job["input"]["words"].upper()}

def nap(job):
    time.sleep(60)
    return {}
"""
SETTINGS = """
[agent]
acts_for = "person"

[handlers.shout]
python = "noise:shout"

[handlers.nap]
python = "noise:nap"

[handlers.doze]
python = "noise:nap"
"""
OFFERINGS: list[dict[str, Any]] = [
    {
        "id": "shout",
        "name": "Shout",
        "description": "Gives a text back, louder.",
        "inputs": [{"name": "words", "kind": "text", "required": True, "max_bytes": 2000}],
        "outputs": [{"name": "louder", "kind": "text", "when": "per_task"}],
        "workspace": [{"kind": "git", "access": "read", "for": "reading how loud it was before"}],
        "authority": ["reads-files", "spends-money"],
        "ceilings": {
            "job_seconds": {"most": 20, "decided_by": "rule"},
            "spend_per_job": {"most": {"amount_micro": 5_000_000, "currency": "USD"}, "decided_by": "model"},
        },
    },
    {
        "id": "doze",
        "name": "Doze",
        "description": "Takes its time, and has little of it.",
        "inputs": [],
        "outputs": [{"name": "rest", "kind": "text", "when": "per_task"}],
        "authority": [],
        "ceilings": {"job_seconds": {"most": 1, "decided_by": "rule"}},
    },
    {
        "id": "nap",
        "name": "Nap",
        "description": "Takes its time.",
        "inputs": [],
        "outputs": [{"name": "rest", "kind": "text", "when": "per_task"}],
        "authority": [],
    },
]
REGISTRY = {"AGENT_NODE_REGISTRY": "true"}
SCREENED = {"admission": "screened", "schemes": []}


@dataclass
class Two:
    """A node that works, and the home of an agent that asks it. `asking` has published a key to be answered to."""

    works: Home
    asking: Home
    node: Node

    def ask(self, *arguments: str | Path, verb: str = "request", stdin: bytes = b"") -> Ended:
        named = ("--id", identity_of(self.works).id)
        return command(verb, self.node.url, *named, *arguments, home=self.asking, stdin=stdin)

    def document(self, *arguments: str | Path, verb: str = "request") -> dict[str, Any]:
        return self.ask(*arguments, "--json", verb=verb).document()

    def decide(self, act: str) -> None:
        assert command("roster", act, identity_of(self.asking).id, home=self.works).exit_code == 0


def working_home(home: Home, **members: Any) -> None:
    home.config.write_text(SETTINGS)
    handlers = home.path / "handlers"
    handlers.mkdir(mode=0o700)
    (handlers / "noise.py").write_text(PROGRAM)
    content = json.loads(draft("1", access=SCREENED, **members))
    published(home, json.dumps({**content, "offerings": OFFERINGS}).encode())


@contextmanager
def two(**members: Any) -> Iterator[Two]:
    with fresh_home() as works, fresh_home() as asking:
        working_home(works, **members)
        published(asking, draft("1", sealing="preferred"))
        with running(works, env=REGISTRY) as node:
            # Whom a node answers sealed, it has to know: what was handed to its registry, it does.
            assert command("register", node.url, home=asking).exit_code == 0
            yield Two(works, asking, node)


@pytest.mark.parametrize("posture", ["required", "preferred", None])
def test_a_caller_knocks_is_let_in_is_answered_and_is_sent_away(posture: str | None) -> None:
    with two(**({} if posture is None else {"sealing": posture})) as pair:
        outside = pair.document("shout", "words=hello", "--authority", "none")
        assert (outside["status"], outside["error"]["code"]) == ("refused", "UNAUTHORIZED")
        with begun(
            *("request", pair.node.url, "--id", identity_of(pair.works).id, "--knock"),
            *("shout", "words=hello", "--authority", "none"),
            home=pair.asking,
        ) as waiting:
            knocked(pair.works)
            pair.decide("admit")
            out, err = waiting.communicate(timeout=WAIT)
        assert waiting.returncode == 0, err
        assert json.loads(out) == {"louder": "HELLO"}
        assert (b"in the clear" in err) is (posture is None)
        answered = pair.document("shout", "words=hello", "--authority", "none")
        assert (answered["sealed"], answered["output_sealed"]) == (posture is not None, posture is not None)
        reply = verified_envelope(answered["envelope"])
        assert (reply["from"], reply["to"]) == (identity_of(pair.works).id, identity_of(pair.asking).id)
        if posture is not None:
            key = SealingKey.from_secret_text(pair.asking.seal_seed.read_text().strip())
            assert unseal(reply["payload"]["output"], key).value == {"louder": "HELLO"}
        pair.decide("revoke")
        gone = pair.document("shout", "words=hello", "--authority", "none")
        assert gone["error"]["code"] == "UNAUTHORIZED"
        standing = command("ask", pair.node.url, "--exchange", "5", "--json", home=pair.asking).document()
        assert standing["envelope"]["payload"] == {"status": "refused", "reason": "revoked"}


def knocked(home: Home) -> None:
    """Waits until somebody has knocked."""
    awaited(lambda: bool(command("knocks", "--json", home=home).document()["knocks"]))


def awaited(so: Callable[[], bool]) -> None:
    """Waits until it is so."""
    until = time.monotonic() + WAIT
    while not so():
        assert time.monotonic() < until
        time.sleep(0.02)


def states(home: Home) -> list[str]:
    """The states of a node's jobs, the newest first."""
    return [one["state"] for one in command("jobs", "--json", home=home).document()["jobs"]]


def below(pid: int) -> set[int]:
    """The processes that a process has begun, and they."""
    children = {
        int(child)
        for thread in Path(f"/proc/{pid}/task").iterdir()
        for child in (thread / "children").read_text().split()
    }
    return children.union(*map(below, children))


def alive(pid: int) -> bool:
    """Whether there is such a process, other than as the number of one that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("posture", ["required", None])
def test_a_real_node_holds_in_the_five_cases(posture: str | None) -> None:
    with two(**({} if posture is None else {"sealing": posture})) as pair:
        pair.decide("admit")
        found = pair.document("--run", "--offering", "shout", verb="conformance")
        assert {one["case"]: one["verdict"] for one in found["cases"]} == dict.fromkeys(
            ("undeclared-offering", "workspace", "authority", "spend-limit", "inside-every-bound"), "holds"
        ), found["cases"]
        without = pair.document("--offering", "nap", verb="conformance")
        assert [one["verdict"] for one in without["cases"]] == [
            "holds",
            "does not apply",
            "holds",
            "does not apply",
            "not tried",
        ]


@pytest.mark.parametrize("posture", ["required", "preferred", None])
def test_a_job_survives_its_node_as_an_answer(posture: str | None) -> None:
    with two(**({} if posture is None else {"sealing": posture})) as pair:
        pair.decide("admit")
        task = pair.document("nap", "--async")["task_id"]
        ended = pair.document("nap", "--async")["task_id"]
        assert pair.document("--cancel", ended)["error"]["code"] == "CANCELED"
        named = ("request", pair.node.url, "--id", identity_of(pair.works).id)
        with begun(*named, "nap", home=pair.asking) as waiting:
            awaited(lambda: states(pair.works) == ["submitted", "canceled", "working"])
            left = below(pair.node.process.pid)
            pair.node.signal(signal.SIGKILL)
            pair.node.stopped()
            _, err = waiting.communicate(timeout=WAIT)
        # Who waited is told that he does not know, and what worked for him is gone with its node.
        assert (waiting.returncode, b"may have arrived all the same, and may be done" in err) == (1, True), err
        awaited(lambda: not any(map(alive, left)))
        assert len(left) > 2
        with running(pair.works, env=REGISTRY) as node:
            after = Two(pair.works, pair.asking, node)
            told = after.document("--task", task, "--wait")
            assert (told["status"], told["error"]["code"], told["task_id"]) == ("failed", "INTERRUPTED", task)
            assert after.document("--task", ended)["error"]["code"] == "CANCELED"
            assert states(after.works) == ["rejected", "canceled", "failed"]
            works = identity_of(after.works).id
            own = command("request", node.url, "--id", works, "--task", task, "--json", home=after.works)
            assert own.document()["error"]["code"] in ("UNAUTHORIZED", "NOT_FOUND")
            again = after.document("shout", "words=hello", "--authority", "none")
            assert (again["output"], again["output_sealed"]) == ({"louder": "HELLO"}, posture is not None)


def test_the_seconds_that_a_descriptor_states_are_applied_by_the_node() -> None:
    with two() as pair:
        pair.decide("admit")
        began = time.monotonic()
        told = pair.document("doze")
        assert (told["status"], told["error"]["code"]) == ("failed", "DEADLINE_EXCEEDED")
        assert 1 <= time.monotonic() - began < WAIT
        assert states(pair.works) == ["exhausted"]


def test_the_operator_sees_the_jobs_and_ends_one() -> None:
    with two() as pair:
        pair.decide("admit")
        assert command("jobs", home=pair.works).out == b"There are no jobs.\n"
        done = pair.document("shout", "words=hello", "--authority", "none")["task_id"]
        task = pair.document("nap", "--async")["task_id"]
        awaited(lambda: states(pair.works) == ["working", "completed"])
        canceled = command("jobs", "cancel", task, home=pair.works)
        assert (canceled.exit_code, canceled.out.decode()) == (0, f"{task} is canceled.\n")
        assert pair.document("--task", task)["error"]["code"] == "CANCELED"
        listed = command("jobs", "--json", home=pair.works).document()["jobs"]
        assert [(one["task_id"], one["state"], one["offering"]) for one in listed] == [
            (task, "canceled", "nap"),
            (done, "completed", "shout"),
        ]
        assert all(one["caller"] == identity_of(pair.asking).id for one in listed)
        again = command("jobs", "cancel", task, "--json", home=pair.works)
        assert (again.exit_code, again.document()["error"]["code"]) == (1, "NOT_FOUND")


def test_who_stops_waiting_leaves_nothing_running() -> None:
    with two() as pair:
        pair.decide("admit")
        end = pair.ask("nap", "--timeout", "1")
        assert (end.exit_code, "[TIMEOUT]" in end.err) == (3, True)
        awaited(lambda: not command("status", "--json", home=pair.works).document()["jobs"]["running"])


def test_a_file_is_sealed_to_a_node_and_opens_in_its_home(tmp_path: Path) -> None:
    data = bytes(range(256)) * 4
    with two(sealing="preferred") as pair:
        path = tmp_path / "sealed"
        sealed = pair.ask("-", verb="seal", stdin=data)
        assert sealed.exit_code == 0, sealed.err
        path.write_bytes(sealed.out)
        assert command("unseal", path, home=pair.works).out == data
        assert command("unseal", path, home=pair.asking).exit_code == 1
