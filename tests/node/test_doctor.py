"""What the doctor sees: each thing that can be wrong, and that one that cannot look never passes for one that did."""

from __future__ import annotations

import ipaddress
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from descriptor.digests import digest_of
from descriptor.keys import Identity
from descriptor.publishing import Terms, bind
from node import doctor
from node.config import load
from node.doctor import SHOWN_PROBLEMS, Seen, examine, examine_mdns
from node.errors import NodeError
from node.home import Home
from node.identity import change_passphrase, public_id
from node.identity import load as load_keys
from node.interfaces import Adapter
from node.passphrase import LEAST
from node.settings import Settings
from store import Store
from tests.node.parts import damage, draft, identity_of, new_home, told

SUBJECTS = ["home", "settings", "keys", "clock", "disk", "store", "roster", "descriptor"]


def examined(home: Home, now: float | None = None) -> list[Seen]:
    def agent_id() -> str:
        return public_id(home) or load_keys(home, None, {}).identity.id

    return list(
        examine(
            home,
            lambda: load(home.config, {}, {}),
            lambda: load_keys(home, None, {}),
            agent_id,
            time.time() if now is None else now,
        )
    )


def states(seen: list[Seen]) -> dict[str, str]:
    """The worst state of each subject."""
    worst = sorted(seen, key=lambda one: ["good", "unknown", "bad"].index(one.state))
    return {one.subject: one.state for one in worst}


def test_a_sound_home_is_good_in_every_respect(home: Home) -> None:
    seen = examined(home)
    assert [one.subject for one in seen] == SUBJECTS
    assert {one.state for one in seen} == {"good"}


def test_the_examination_changes_nothing(home: Home) -> None:
    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in home.path.rglob("*") if path.is_file()}

    before = everything()
    examined(home)
    # SQLite leaves an empty log beside a store that was only read; what was there is as it was.
    after = everything()
    assert {name: after[name] for name in before} == before


def execute(home: Home, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute(statement, values)


def digests(home: Home) -> list[str]:
    """Of the versions, newest first."""
    return [row["digest"] for row in told("history", "--json", home=home).document()["versions"]]


def open_identity(home: Home) -> None:
    home.identity_dir.chmod(0o755)


def break_settings(home: Home) -> None:
    home.config.write_text("port = ")


def lose_the_seed(home: Home) -> None:
    home.agent_seed.unlink()


def spoil_the_seed(home: Home) -> None:
    home.seal_seed.write_text("AAAA\n")


def spoil_the_id(home: Home) -> None:
    home.agent_id.write_text("U123\n")


def swap_the_id(home: Home) -> None:
    home.agent_id.write_text(Identity.generate().id + "\n")


def damage_the_current(home: Home) -> None:
    damage(home.database, digests(home)[0])


def damage_the_oldest(home: Home) -> None:
    damage(home.database, digests(home)[-1])


def lose_the_bytes(home: Home) -> None:
    execute(home, "DELETE FROM artifacts WHERE digest = ?", digests(home)[0])


def lose_an_event(home: Home) -> None:
    execute(home, "DELETE FROM events WHERE seq = 2")


def spoil_the_file(home: Home) -> None:
    home.database.write_bytes(b"no store at all" * 1000)


def make_it_newer(home: Home) -> None:
    execute(home, "PRAGMA user_version = 99")


def publish_ahead(home: Home) -> None:
    execute(home, "UPDATE versions SET published_at = published_at + 86400")


def store_as_current(home: Home, data: bytes) -> None:
    """Puts bytes in the place of what is current, digest and all, as only somebody at the disk could."""
    digest = digest_of(data)
    execute(home, "PRAGMA foreign_keys = OFF")
    execute(home, "INSERT INTO artifacts (digest, stored_at, bytes) VALUES (?, 0, ?)", digest, data)
    execute(home, "UPDATE versions SET digest = ? WHERE seq = 2", digest)


def store_a_strangers(home: Home) -> None:
    store_as_current(home, bind(draft("2"), Terms(Identity.generate(), acts_for="person"), 0))


def store_unsigned(home: Home) -> None:
    store_as_current(home, draft("2", subject={"id": identity_of(home).id}, acts_for="person"))


def store_no_document(home: Home) -> None:
    store_as_current(home, b"{")


def store_a_false_claim(home: Home) -> None:
    key, identity = "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9_AsrhtHHw", identity_of(home)
    claim = {"issued_at": "2026-01-01T00:00:00.000Z", "signature": "A" * 86}
    data = draft(
        "2", subject={"id": identity.id}, acts_for="person", sealing="required", encryption_key=key, trust=claim
    )
    store_as_current(home, bind(data, Terms(identity), 0))


@pytest.mark.parametrize(
    ("harm", "bad"),
    [
        (open_identity, {"home"}),
        (break_settings, {"settings"}),
        (lose_the_seed, {"keys"}),
        (spoil_the_seed, {"keys"}),
        (spoil_the_id, {"keys"}),
        (swap_the_id, {"keys"}),
        (damage_the_current, {"store", "descriptor"}),
        (damage_the_oldest, {"store"}),
        (lose_the_bytes, {"store", "descriptor"}),
        (lose_an_event, {"store"}),
        (spoil_the_file, {"store"}),
        (make_it_newer, {"store"}),
        (publish_ahead, {"clock"}),
        (store_a_strangers, {"descriptor"}),
        (store_unsigned, {"descriptor"}),
        (store_no_document, {"descriptor"}),
        (store_a_false_claim, {"descriptor"}),
    ],
)
def test_what_is_wrong_is_seen_and_nothing_else(home: Home, harm: Callable[[Home], None], bad: set[str]) -> None:
    harm(home)
    seen = examined(home)
    assert {one.subject for one in seen if one.state == "bad"} == bad
    assert all("\n" not in one.message and "None" not in one.message for one in seen)
    end = told("doctor", "--json", home=home)
    assert end.exit_code == 1
    assert end.document()["healthy"] is False


def test_a_damaged_version_is_named(home: Home) -> None:
    damage_the_oldest(home)
    (message,) = [one.message for one in examined(home) if one.state == "bad"]
    assert digests(home)[-1] in message


def test_many_problems_are_counted_and_the_first_are_shown(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as connection, connection:
        rows = [(f"sha256:{number:064x}", 0.0, b"x") for number in range(SHOWN_PROBLEMS + 5)]
        connection.executemany("INSERT INTO artifacts (digest, stored_at, bytes) VALUES (?, ?, ?)", rows)
    messages = [one.message for one in examined(home) if (one.subject, one.state) == ("store", "bad")]
    assert len(messages) == SHOWN_PROBLEMS + 1
    assert messages[-1].startswith(f"there are {SHOWN_PROBLEMS + 5} problems")


@pytest.mark.parametrize(("now", "state"), [(0.0, "bad"), (doctor.CLOCK_START - 1, "bad"), (4e9, "good")])
def test_a_clock_from_before_the_program_is_wrong(home: Home, now: float, state: str) -> None:
    clock = [one.state for one in examined(home, now) if one.subject == "clock"]
    assert clock[0] == state


@pytest.mark.parametrize(("free", "state"), [(doctor.FREE_BYTES, "good"), (doctor.FREE_BYTES - 1, "bad")])
def test_a_disk_that_is_nearly_full_is_told(monkeypatch: pytest.MonkeyPatch, home: Home, free: int, state: str) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _path: type("Usage", (), {"free": free})())
    assert states(examined(home))["disk"] == state


def test_sealed_keys_without_a_passphrase_are_unknown_not_bad(home: Home) -> None:
    change_passphrase(home, None, "correct horse", LEAST)
    assert states(examined(home)) == {**dict.fromkeys(SUBJECTS, "good"), "keys": "unknown"}
    assert told("doctor", home=home).exit_code == 0
    opened = told("doctor", "--json", home=home, env={"AGENT_NODE_PASSPHRASE": "correct horse"}).document()
    assert {one["state"] for one in opened["seen"] if one["subject"] != "mdns"} == {"good"}


def test_where_nothing_is_published_the_rest_is_unknown_not_bad(tmp_path: Path) -> None:
    home = new_home(tmp_path / "h")
    assert states(examined(home))["store"] == "unknown"
    Store.open(home.database).close()
    assert states(examined(home))["descriptor"] == "unknown"
    assert told("doctor", home=home).exit_code == 0


def test_a_home_that_is_not_there_is_bad_and_raises_nothing(tmp_path: Path) -> None:
    seen = states(examined(Home(tmp_path / "missing")))
    assert (seen["home"], seen["keys"], seen["disk"], seen["store"]) == ("bad", "bad", "unknown", "unknown")


def test_an_id_that_cannot_be_told_leaves_the_descriptor_unknown(home: Home) -> None:
    spoil_the_id(home)
    assert states(examined(home))["descriptor"] == "unknown"


def test_what_examinations_raise_is_what_they_saw(home: Home) -> None:
    def broken() -> None:
        raise NodeError("SETTING_INVALID", "said")

    seen = list(examine(home, broken, broken, lambda: identity_of(home).id, time.time()))  # type: ignore[arg-type]  # one that raises
    assert [one.message for one in seen if one.state == "bad"] == ["said", "said"]


def test_the_document_has_its_shape(home: Home) -> None:
    document = told("doctor", "--json", home=home).document()
    assert set(document) == {"healthy", "seen"}
    assert document["healthy"] is True
    assert all(set(one) == {"subject", "state", "message"} for one in document["seen"])


# mDNS.

ETH0 = Adapter("eth0", 2, (ipaddress.ip_interface("10.0.0.1/24"),))
LO = Adapter("lo", 1, (ipaddress.ip_interface("127.0.0.1/8"),), multicast=False, loopback=True)


def seen_of_mdns(
    adapters: list[Adapter],
    environ: dict[str, str] | None = None,
    status: dict[str, object] | None = None,
    refused: str | None = None,
) -> list[tuple[str, str]]:
    def settings() -> Settings:
        return load(None, environ or {}, {})

    seen = list(examine_mdns(settings, status, adapters, lambda link: refused))
    assert {one.subject for one in seen} == {"mdns"}
    return [(one.state, one.message) for one in seen]


def test_mdns_that_gets_through_is_good() -> None:
    ((state, message),) = seen_of_mdns([LO, ETH0], status={"problems": {}})
    assert state == "good" and "eth0" in message and "lo" not in message.split()


@pytest.mark.parametrize(
    ("adapters", "why"),
    [
        ([LO], "There is no interface but loopback."),
        ([LO, replace(ETH0, up=False)], "eth0 is down or has no cable."),
        ([LO, replace(ETH0, addresses=())], "eth0 has no address."),
        ([LO, replace(ETH0, multicast=False)], "eth0 does no multicast."),
        ([LO, replace(ETH0, name="docker0")], "docker0 is not among those that are meant."),
    ],
)
def test_no_network_to_be_heard_on_is_bad_and_says_why(adapters: list[Adapter], why: str) -> None:
    ((state, message),) = seen_of_mdns(adapters)
    assert state == "bad" and why in message and "[discovery] interfaces" in message


def test_a_link_that_does_not_carry_mdns_is_bad() -> None:
    assert seen_of_mdns([ETH0], refused="the firewall holds it") == [("bad", "eth0: the firewall holds it")]


def test_what_the_running_node_has_trouble_with_is_bad() -> None:
    seen = seen_of_mdns([ETH0], status={"problems": {"eth0": "it is odd", "": "discovery does not run"}})
    assert seen == [("bad", "eth0: it is odd"), ("bad", "discovery does not run")]


def test_what_was_switched_off_is_unknown() -> None:
    ((state, message),) = seen_of_mdns([ETH0], {"AGENT_NODE_MDNS": "false"})
    assert state == "unknown" and "switched off" in message
    ((state, message),) = seen_of_mdns([ETH0], {"AGENT_NODE_MDNS": "perhaps"})
    assert state == "unknown"


@pytest.mark.parametrize(("host", "told_so"), [("127.0.0.1", True), ("localhost,::1", True), ("0.0.0.0", False)])
def test_a_node_on_loopback_alone_is_told_that_it_is_not_announced(host: str, told_so: bool) -> None:
    seen = seen_of_mdns([ETH0], {"AGENT_NODE_HOST": host})
    assert any("this machine alone" in message for _, message in seen) is told_so
