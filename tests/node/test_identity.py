"""The identity on disk: made once, whole or not at all, sealed when there is a passphrase, never shown."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node import identity
from node.errors import NodeError
from node.home import Home
from node.identity import Keys, change_passphrase, create, load, public_id
from node.passphrase import CREDENTIAL, CREDENTIAL_BYTES, LEAST, MODERATE, MOST, TAG, Cost, Passphrase, find

PLAIN: dict[str, str] = {}
OPEN = {"AGENT_NODE_PASSPHRASE": "correct horse"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def refused(code: str, call: Callable[[], object]) -> NodeError:
    with pytest.raises(NodeError) as caught:
        call()
    assert caught.value.code == code, caught.value.message
    return caught.value


def same(one: Keys, other: Keys) -> bool:
    return one.identity.id == other.identity.id and one.sealing.public_text == other.sealing.public_text


@pytest.mark.parametrize(("passphrase", "environ"), [(None, PLAIN), ("correct horse", OPEN)])
def test_what_was_created_is_loaded(home: Home, passphrase: str | None, environ: dict[str, str]) -> None:
    created = create(home, passphrase, LEAST)
    assert same(created, load(home, None, environ))


def test_a_plain_seed_is_its_text_form_on_one_line(home: Home) -> None:
    keys = create(home)
    assert home.agent_seed.read_text() == keys.identity.seed_text() + "\n"
    assert home.seal_seed.read_text() == keys.sealing.secret_text() + "\n"


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_seeds_are_closed_to_others_whatever_the_umask(home: Home, umask: int) -> None:
    before = os.umask(umask)
    try:
        create(home)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (home.agent_seed, home.seal_seed)] == [0o600, 0o600]


def test_nothing_but_the_seeds_and_the_id_is_left(home: Home) -> None:
    create(home, "correct horse", LEAST)
    assert sorted(path.name for path in home.identity_dir.iterdir()) == ["agent.id", "agent.seed", "seal.seed"]


def test_an_identity_is_never_overwritten(home: Home) -> None:
    keys = create(home)
    refused("IDENTITY_EXISTS", lambda: create(home))
    refused("IDENTITY_EXISTS", lambda: create(home, "correct horse", LEAST))
    assert same(keys, load(home, None, PLAIN))


def test_many_at_once_make_one_identity(home: Home) -> None:
    def attempt(_: int) -> Keys | None:
        try:
            return create(home)
        except NodeError as error:
            assert error.code == "IDENTITY_EXISTS"
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [keys for keys in pool.map(attempt, range(8)) if keys]
    assert len(made) == 1
    assert same(made[0], load(home, None, PLAIN))


@pytest.mark.parametrize(("passphrase", "environ"), [(None, PLAIN), ("correct horse", OPEN)])
def test_an_identity_cut_short_between_the_files_is_finished(
    home: Home, passphrase: str | None, environ: dict[str, str]
) -> None:
    first = create(home, passphrase, LEAST)
    home.seal_seed.unlink()
    refused("KEY_MISSING", lambda: load(home, None, environ))
    finished = create(home, passphrase, LEAST)
    assert finished.identity.id == first.identity.id
    assert same(finished, load(home, None, environ))


def test_an_identity_is_finished_with_the_passphrase_it_was_begun_with(home: Home) -> None:
    create(home, "correct horse", LEAST)
    home.seal_seed.unlink()
    refused("PASSPHRASE_NEEDED", lambda: create(home))
    refused("PASSPHRASE_WRONG", lambda: create(home, "wrong", LEAST))
    assert not home.seal_seed.exists()


def test_an_identity_begun_without_a_passphrase_is_not_finished_with_one(home: Home) -> None:
    create(home)
    home.seal_seed.unlink()
    refused("IDENTITY_INCOMPLETE", lambda: create(home, "correct horse", LEAST))
    assert not home.seal_seed.exists()


@pytest.mark.parametrize("passphrase", [None, "correct horse"])
def test_the_id_is_known_without_opening_the_seed(home: Home, passphrase: str | None) -> None:
    home.create()
    assert public_id(home) is None
    keys = create(home, passphrase, LEAST)
    assert public_id(home) == keys.identity.id


@pytest.mark.parametrize(
    ("data", "code"), [(b"", "KEY_DAMAGED"), (b"UABC", "KEY_DAMAGED"), (b"\xff", "KEY_UNREADABLE")]
)
def test_a_damaged_id_is_said_to_be_damaged(home: Home, data: bytes, code: str) -> None:
    create(home)
    home.agent_id.write_bytes(data)
    refused(code, lambda: public_id(home))


def test_an_identity_cut_short_before_its_id_is_finished(home: Home) -> None:
    first = create(home)
    home.agent_id.unlink()
    home.seal_seed.unlink()
    create(home)
    assert public_id(home) == first.identity.id


def test_a_lost_agent_seed_is_not_replaced_by_a_new_agent(home: Home) -> None:
    create(home)
    home.agent_seed.unlink()
    refused("IDENTITY_INCOMPLETE", lambda: create(home))
    refused("KEY_MISSING", lambda: load(home, None, PLAIN))


def test_a_seed_is_on_disk_before_it_has_its_name(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    sync, link, replace = os.fsync, os.link, os.replace

    def synced(file: int) -> None:
        order.append("directory" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        sync(file)

    def linked(source: Path, target: Path) -> None:
        order.append(target.name)
        link(source, target)

    def replaced(source: Path, target: Path) -> None:
        order.append(target.name)
        replace(source, target)

    home.create()
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "link", linked)
    monkeypatch.setattr(os, "replace", replaced)
    create(home)
    assert order == [step for name in ("agent.seed", "agent.id", "seal.seed") for step in ("file", name, "directory")]


def test_a_full_disk_leaves_no_part_of_a_seed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    home.create()
    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in refused("HOME_UNUSABLE", lambda: create(home)).message
    assert list(home.identity_dir.iterdir()) == []


def test_a_symbolic_link_in_a_seed_s_place_is_not_written_through(home: Home, tmp_path: Path) -> None:
    home.create()
    home.agent_seed.symlink_to(tmp_path / "elsewhere")
    refused("KEY_UNREADABLE", lambda: create(home))
    assert not (tmp_path / "elsewhere").exists()


def test_a_loose_seed_is_refused(home: Home) -> None:
    create(home)
    home.seal_seed.chmod(0o640)
    refused("KEY_LOOSE", lambda: load(home, None, PLAIN))


def flipped(text: str) -> str:
    return text[:20] + ("A" if text[20] != "A" else "B") + text[21:]


@pytest.mark.parametrize("name", ["agent.seed", "seal.seed"])
@pytest.mark.parametrize("damage", [lambda _: "", lambda text: text[:-3], lambda text: text + "A", lambda _: "SU\nSU"])
def test_a_damaged_seed_is_said_to_be_damaged_and_not_shown(
    home: Home, name: str, damage: Callable[[str], str]
) -> None:
    create(home)
    path = home.identity_dir / name
    text = path.read_text().strip()
    path.write_text(damage(text))
    message = refused("KEY_DAMAGED", lambda: load(home, None, PLAIN)).message
    assert str(path) in message
    assert text[:20] not in message


def test_a_seed_with_a_bad_checksum_is_damaged(home: Home) -> None:
    create(home)
    home.agent_seed.write_text(flipped(home.agent_seed.read_text()))
    refused("KEY_DAMAGED", lambda: load(home, None, PLAIN))


def test_seeds_in_each_other_s_place_are_damaged(home: Home) -> None:
    create(home, "correct horse", LEAST)
    agent, seal = home.agent_seed.read_text(), home.seal_seed.read_text()
    home.agent_seed.write_text(seal)
    home.seal_seed.write_text(agent)
    refused("KEY_DAMAGED", lambda: load(home, None, OPEN))


@pytest.mark.parametrize("passphrase", [None, "correct horse"])
def test_secrets_are_not_shown(home: Home, passphrase: str | None) -> None:
    keys = create(home, passphrase, LEAST)
    shown = f"{keys!r} {keys} {Passphrase('correct horse')!r}"
    assert keys.identity.id in shown
    for secret in (keys.identity.seed_text(), keys.sealing.secret_text(), str(keys.sealing.secret), "correct horse"):
        assert secret not in shown
    if passphrase:
        for path in (home.agent_seed, home.seal_seed):
            assert keys.identity.seed_text() not in path.read_text()
            assert keys.sealing.secret_text() not in path.read_text()


def test_a_passphrase_is_needed_and_must_be_the_right_one(home: Home) -> None:
    create(home, "correct horse", LEAST)
    assert "AGENT_NODE_PASSPHRASE" in refused("PASSPHRASE_NEEDED", lambda: load(home, None, PLAIN)).message
    refused("PASSPHRASE_NEEDED", lambda: load(home, lambda: "", {"AGENT_NODE_PASSPHRASE": ""}))
    refused("PASSPHRASE_WRONG", lambda: load(home, lambda: "wrong", PLAIN))
    message = refused("PASSPHRASE_WRONG", lambda: load(home, None, {"AGENT_NODE_PASSPHRASE": "hunter2"})).message
    assert "hunter2" not in message


def test_nobody_is_asked_for_a_passphrase_of_plain_seeds(home: Home) -> None:
    create(home)
    load(home, lambda: pytest.fail("asked"), PLAIN)


def test_an_empty_passphrase_is_refused(home: Home) -> None:
    refused("PASSPHRASE_EMPTY", lambda: create(home, ""))
    assert not home.agent_seed.exists()


def test_a_passphrase_is_one_however_it_is_typed(home: Home) -> None:
    keys = create(home, "Gru\u0308n", LEAST)
    assert same(keys, load(home, lambda: "Gr\u00fcn", PLAIN))


def test_a_passphrase_that_is_not_utf_8_is_one_like_any_other(home: Home) -> None:
    keys = create(home, "gr\udcfcn", LEAST)
    assert same(keys, load(home, None, {"AGENT_NODE_PASSPHRASE": "gr\udcfcn"}))


def test_a_passphrase_is_derived_once_for_both_seeds(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Cost] = []
    derive = Passphrase._key

    def counted(self: Passphrase, cost: Cost, salt: bytes) -> bytes:
        if (cost, salt) not in self._keys:
            spent.append(cost)
        return derive(self, cost, salt)

    create(home, "correct horse", LEAST)
    monkeypatch.setattr(Passphrase, "_key", counted)
    load(home, None, OPEN)
    assert spent == [LEAST]


def test_the_passphrase_is_the_variable_s_or_the_credential_s_or_asked_for(tmp_path: Path) -> None:
    (tmp_path / CREDENTIAL).write_text("from systemd\n")
    credential = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert find(lambda: "asked", {"AGENT_NODE_PASSPHRASE": "variable", **credential}) == "variable"
    assert find(lambda: "asked", {"AGENT_NODE_PASSPHRASE": "", **credential}) == "from systemd"
    assert find(lambda: "asked", {"CREDENTIALS_DIRECTORY": str(tmp_path / "none")}) == "asked"
    assert find(None, PLAIN) is None


@pytest.mark.parametrize("data", [b"\xff", b"x" * (CREDENTIAL_BYTES + 1)])
def test_a_credential_that_cannot_be_read_is_not_passed_over(tmp_path: Path, data: bytes) -> None:
    (tmp_path / CREDENTIAL).write_bytes(data)
    refused("PASSPHRASE_UNREADABLE", lambda: find(lambda: "asked", {"CREDENTIALS_DIRECTORY": str(tmp_path)}))


@pytest.mark.parametrize("before", [None, "correct horse"])
@pytest.mark.parametrize("after", [None, "new"])
def test_a_passphrase_is_changed(home: Home, before: str | None, after: str | None) -> None:
    keys = create(home, before, LEAST)
    change_passphrase(home, before, after, LEAST)
    assert same(keys, load(home, lambda: "new", PLAIN))
    assert home.agent_seed.read_text().startswith("SU" if after is None else TAG)


@pytest.mark.parametrize("before", [None, "correct horse"])
def test_a_change_cut_short_between_the_files_is_finished_by_the_same_call(
    home: Home, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    keys = create(home, before, LEAST)
    seal = home.seal_seed.read_bytes()
    change_passphrase(home, before, "new", LEAST)
    home.seal_seed.write_bytes(seal)
    change_passphrase(home, before, "new", LEAST)
    assert same(keys, load(home, lambda: "new", PLAIN))


def test_a_wrong_passphrase_changes_nothing(home: Home) -> None:
    create(home, "correct horse", LEAST)
    before = home.agent_seed.read_bytes(), home.seal_seed.read_bytes()
    refused("PASSPHRASE_WRONG", lambda: change_passphrase(home, "wrong", "new", LEAST))
    refused("PASSPHRASE_NEEDED", lambda: change_passphrase(home, None, None, LEAST))
    assert before == (home.agent_seed.read_bytes(), home.seal_seed.read_bytes())


def test_a_sealed_seed_states_its_own_cost(home: Home) -> None:
    cost = Cost(LEAST.ops + 1, LEAST.mem * 2)
    line = Passphrase("correct horse").seal("SU", cost)
    assert line.split(" ")[:4] == [TAG, "argon2id", str(cost.ops), str(cost.mem)]
    assert Passphrase("correct horse").unseal(line) == "SU"


def test_the_cost_of_a_new_seed_is_argon2id_moderate() -> None:
    assert (MODERATE.ops, MODERATE.mem) == (3, 256 * 2**20)
    assert MODERATE.mem <= MOST.mem


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (0, "agent-node-sealed-seed-v2"),
        (1, "scrypt"),
        (2, "0"),
        (2, str(MOST.ops + 1)),
        (2, "-1"),
        (2, "²"),
        (3, str(LEAST.mem - 1)),
        (3, str(MOST.mem + 1)),
        (3, str(LEAST.mem + 100)),
        (3, "9" * 5000),
        (4, "AAAA"),
        (5, "AAAA"),
        (5, "!"),
        (5, ""),
    ],
)
def test_a_hostile_line_is_damaged_and_costs_nothing(monkeypatch: pytest.MonkeyPatch, field: int, text: str) -> None:
    fields = Passphrase("correct horse").seal("SU", LEAST).split(" ")
    fields[field] = text
    monkeypatch.setattr(Passphrase, "_key", lambda *_: pytest.fail("spent"))
    refused("KEY_DAMAGED", lambda: Passphrase("correct horse").unseal(" ".join(fields)))


def test_too_little_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from nacl.exceptions import RuntimeError as NaclRuntimeError
    from nacl.pwhash import argon2id

    def none_left(*_: object) -> bytes:
        raise NaclRuntimeError

    monkeypatch.setattr(argon2id, "kdf", none_left)
    assert "256 MiB" in refused("NO_MEMORY", lambda: Passphrase("x").seal("SU")).message


SEALED = Passphrase("correct horse").seal("S" * 58, LEAST)


@given(st.integers(0, len(SEALED) - 1), st.characters(codec="ascii"))
def test_any_other_character_in_a_sealed_line_is_noticed(at: int, character: str) -> None:
    line = SEALED[:at] + character + SEALED[at + 1 :]
    try:
        assert Passphrase("correct horse").unseal(line) == "S" * 58
    except NodeError as error:
        assert error.code in ("KEY_DAMAGED", "PASSPHRASE_WRONG")
    else:
        assert line == SEALED


@given(st.text(max_size=200) | st.text(max_size=100).map(lambda text: f"{TAG} argon2id {text}"))
def test_any_text_is_no_sealed_seed(text: str) -> None:
    with pytest.raises(NodeError):
        Passphrase("correct horse").unseal(text)


def test_the_module_s_table_of_states_is_complete() -> None:
    assert identity.__doc__ is not None
    assert all(code in identity.__doc__ for code in ("KEY_MISSING", "IDENTITY_EXISTS", "IDENTITY_INCOMPLETE"))
