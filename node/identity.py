"""The identity on disk: two seed files, made once, read at every start.

`identity/agent.seed` holds the Ed25519 seed (`SU…`) and `identity/seal.seed` the X25519 secret (base64url), one
line each, plain or sealed with a passphrase (`node.passphrase`).

The invariant: a seed file that exists is whole and is never overwritten by another key. A seed is written
beside its place, forced to disk, and then linked to its name, which fails if the name is taken. `agent.seed` comes
first, so a crash leaves nothing, or an identity without its sealing key, which `create` finishes.

    files there        create              load
    none               makes both          KEY_MISSING
    agent.seed         makes seal.seed     KEY_MISSING
    seal.seed          IDENTITY_INCOMPLETE KEY_MISSING
    both               IDENTITY_EXISTS     the keys
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey, decode_public
from node import files
from node.errors import NodeError
from node.home import Home, read_secret, unusable
from node.passphrase import MODERATE, VARIABLE, Cost, Passphrase, find, is_sealed

Key = TypeVar("Key")


@dataclass(frozen=True)
class Keys:
    """The agent's two keys; `repr` shows only what is public. Source: binding 1."""

    identity: Identity
    sealing: SealingKey


def create(home: Home, passphrase: str | None = None, cost: Cost = MODERATE) -> Keys:
    """Makes the home's identity, sealed when there is a passphrase, or finishes one that a crash cut short.

    Raises NodeError: IDENTITY_EXISTS, IDENTITY_INCOMPLETE, PASSPHRASE_EMPTY, HOME_UNUSABLE and what
    `Home.create` and `Home.check` raise; for an identity to be finished, what `load` raises.
    """
    home.create()
    home.check()
    refuse_existing(home)
    known = _passphrases(passphrase)
    if home.agent_seed.exists():
        identity = _unfinished(home, known)
    else:
        identity = Identity.generate()
        _write(home.agent_seed, _closed(identity.seed_text(), known, cost), replace=False)
    _write(home.agent_id, identity.id, replace=True)
    sealing = SealingKey.generate()
    _write(home.seal_seed, _closed(sealing.secret_text(), known, cost), replace=False)
    return Keys(identity, sealing)


def refuse_existing(home: Home) -> None:
    """Raises NodeError IDENTITY_EXISTS or IDENTITY_INCOMPLETE for a home in which no identity can be made."""
    if home.seal_seed.exists():
        raise _exists(home) if home.agent_seed.exists() else _incomplete(home)


def public_id(home: Home) -> str | None:
    """The agent's id as `agent.id` states it, without opening the seed; None when the file is not there.

    Raises NodeError KEY_DAMAGED, KEY_UNREADABLE.
    """
    try:
        text = home.agent_id.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NodeError("KEY_UNREADABLE", f"{home.agent_id} cannot be read; restore it from a backup.") from error
    _parsed(home.agent_id, decode_public, text)
    return text


def load(home: Home, ask: Callable[[], str] | None, environ: Mapping[str, str]) -> Keys:
    """The keys of a home that `Home.check` found good; `ask` asks a person for the passphrase.

    Raises NodeError: KEY_MISSING, KEY_UNREADABLE, KEY_LOOSE, HOME_NOT_YOURS, KEY_DAMAGED, PASSPHRASE_NEEDED,
    PASSPHRASE_WRONG, PASSPHRASE_UNREADABLE, NO_MEMORY.
    """
    agent, seal = read_secret(home.agent_seed), read_secret(home.seal_seed)
    passphrase = find(ask, environ) if is_sealed(agent) or is_sealed(seal) else None
    known = _passphrases(passphrase)
    return Keys(
        _parsed(home.agent_seed, Identity.from_seed_text, _opened(home.agent_seed, agent, known)),
        _parsed(home.seal_seed, SealingKey.from_secret_text, _opened(home.seal_seed, seal, known)),
    )


def change_passphrase(home: Home, old: str | None, new: str | None, cost: Cost = MODERATE) -> None:
    """Seals both seeds with `new` instead of `old`; None leaves them plain.

    Nothing is written unless both open. A change that was cut short between the files is finished by the same
    call again. Raises NodeError as `load` does, and PASSPHRASE_EMPTY, HOME_UNUSABLE.
    """
    after = _passphrases(new)
    known = [*_passphrases(old), *after]
    agent = _opened(home.agent_seed, read_secret(home.agent_seed), known)
    seal = _opened(home.seal_seed, read_secret(home.seal_seed), known)
    _parsed(home.agent_seed, Identity.from_seed_text, agent)
    _parsed(home.seal_seed, SealingKey.from_secret_text, seal)
    _write(home.agent_seed, _closed(agent, after, cost), replace=True)
    _write(home.seal_seed, _closed(seal, after, cost), replace=True)


def _passphrases(text: str | None) -> list[Passphrase]:
    return [] if text is None else [Passphrase(text)]


def _unfinished(home: Home, known: Sequence[Passphrase]) -> Identity:
    text = read_secret(home.agent_seed)
    if known and not is_sealed(text):
        raise NodeError(
            "IDENTITY_INCOMPLETE",
            f"{home.agent_seed} was made without a passphrase and {home.seal_seed.name} is still missing; "
            "finish the identity without a passphrase.",
        )
    return _parsed(home.agent_seed, Identity.from_seed_text, _opened(home.agent_seed, text, known))


def _closed(seed_text: str, known: Sequence[Passphrase], cost: Cost) -> str:
    return known[0].seal(seed_text, cost) if known else seed_text


def _opened(path: Path, text: str, known: Sequence[Passphrase]) -> str:
    """The seed text of a file, by whichever passphrase opens it."""
    if not is_sealed(text):
        return text
    for passphrase in known:
        try:
            return passphrase.unseal(text)
        except NodeError as error:
            if error.code != "PASSPHRASE_WRONG":
                raise NodeError(error.code, f"{path}: {error.message}", error.exit_code) from error
    if known:
        raise NodeError("PASSPHRASE_WRONG", f"The passphrase does not open {path}, or the file is damaged.")
    raise NodeError(
        "PASSPHRASE_NEEDED",
        f"{path} is sealed with a passphrase; run agent-node on a terminal to be asked for it, or set "
        f"{VARIABLE}, or hand it over as a systemd credential.",
    )


def _parsed(path: Path, parse: Callable[[str], Key], text: str) -> Key:
    try:
        return parse(text)
    except DescriptorError as error:
        message = f"{path} is damaged; restore it from a backup. {error.message}"
        raise NodeError("KEY_DAMAGED", message) from error


def _write(path: Path, text: str, *, replace: bool) -> None:
    try:
        written = files.write(path, f"{text}\n".encode("ascii"), replace=replace)
    except OSError as error:
        raise unusable(path, error) from error
    if not written:
        raise NodeError("IDENTITY_EXISTS", f"{path} is there already, and a key is never overwritten.")


def _exists(home: Home) -> NodeError:
    return NodeError(
        "IDENTITY_EXISTS",
        f"{home.path} holds an identity already, and a key is never overwritten. What it says of itself is "
        f"changed in {home.config}; a second agent gets a home of its own: agent-node init --home DIR",
    )


def _incomplete(home: Home) -> NodeError:
    return NodeError(
        "IDENTITY_INCOMPLETE",
        f"{home.seal_seed} is there and {home.agent_seed.name} is not; restore it from a backup, or move "
        f"{home.seal_seed.name} away to make a new identity.",
    )
