"""Seeds sealed at rest with a passphrase, and where the passphrase comes from.

A sealed seed file is one line:

    agent-node-sealed-seed-v1 argon2id <ops> <mem> <salt> <box>

`ops` and `mem` (bytes) are the cost of Argon2id, so that a file made today is read when the default has
moved on; `salt` (16 bytes) and `box` are base64url without padding. The key is Argon2id of the passphrase
(UTF-8 of its NFC form, so that two keyboards agree), and `box` is a NaCl secretbox (XSalsa20-Poly1305, its
24-byte nonce first) of the line that an unsealed seed file would hold.

The invariant: nothing is believed before it is bounded. A file that asks for more than `MOST` is damaged,
however well it is formed, and the cost it names is never spent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.exceptions import RuntimeError as NaclRuntimeError
from nacl.pwhash import argon2id
from nacl.secret import SecretBox
from nacl.utils import random

from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from node.errors import NodeError

TAG = "agent-node-sealed-seed-v1"
VARIABLE = "AGENT_NODE_PASSPHRASE"
CREDENTIAL = "agent-node-passphrase"
"""The name of the systemd credential, a file in `$CREDENTIALS_DIRECTORY`."""
CREDENTIAL_BYTES = 4096


@dataclass(frozen=True)
class Cost:
    """What one guess costs: passes over the memory, and the memory in bytes."""

    ops: int
    mem: int


LEAST = Cost(argon2id.OPSLIMIT_MIN, argon2id.MEMLIMIT_MIN)
MODERATE = Cost(argon2id.OPSLIMIT_MODERATE, argon2id.MEMLIMIT_MODERATE)
MOST = Cost(16, argon2id.MEMLIMIT_SENSITIVE)


def is_sealed(text: str) -> bool:
    """Whether a seed file's text says that it is sealed, readable or not."""
    return text.startswith("agent-node-sealed-seed-")


class Passphrase:
    """An operator's passphrase, and the keys derived from it so far.

    One object opens or seals both files of an identity, and spends the cost of a derivation once.
    """

    __slots__ = ("_keys", "_salt", "_secret")

    def __init__(self, text: str) -> None:
        """Raises NodeError PASSPHRASE_EMPTY."""
        if not text:
            raise NodeError("PASSPHRASE_EMPTY", "The passphrase is empty; choose one, or go without.")
        # "surrogatepass" lets a passphrase that was not UTF-8 in the environment be one like any other.
        self._secret = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
        self._salt = random(argon2id.SALTBYTES)
        self._keys: dict[tuple[Cost, bytes], bytes] = {}

    def __repr__(self) -> str:
        return "Passphrase()"

    def seal(self, seed_text: str, cost: Cost = MODERATE) -> str:
        """The line that keeps `seed_text` under this passphrase, without a newline.

        Raises NodeError NO_MEMORY.
        """
        box = bytes(SecretBox(self._key(cost, self._salt)).encrypt(seed_text.encode("ascii")))
        return f"{TAG} argon2id {cost.ops} {cost.mem} {b64url_encode(self._salt)} {b64url_encode(box)}"

    def unseal(self, line: str) -> str:
        """The seed text that `seal` was given.

        Raises NodeError: KEY_DAMAGED (not such a line, or a cost out of bounds), PASSPHRASE_WRONG (also what
        a changed salt or box looks like: the two cannot be told apart), NO_MEMORY.
        """
        cost, salt, box = _parse(line)
        key = self._key(cost, salt)
        try:
            return SecretBox(key).decrypt(box).decode("ascii")
        except (CryptoError, UnicodeDecodeError) as error:
            raise NodeError("PASSPHRASE_WRONG", "The passphrase does not open the sealed seed.") from error

    def _key(self, cost: Cost, salt: bytes) -> bytes:
        if (cost, salt) not in self._keys:
            try:
                key = argon2id.kdf(SecretBox.KEY_SIZE, self._secret, salt, cost.ops, cost.mem)
            except NaclRuntimeError as error:
                message = f"Opening a sealed seed needs {cost.mem // 2**20} MiB of free memory."
                raise NodeError("NO_MEMORY", message) from error
            self._keys[cost, salt] = key
        return self._keys[cost, salt]


def find(ask: Callable[[], str] | None, environ: Mapping[str, str]) -> str | None:
    """The operator's passphrase: `AGENT_NODE_PASSPHRASE`, else the systemd credential, else asked for.

    A value that is set already is taken before anybody is disturbed; `ask` is None where there is no
    terminal. An empty value counts as none. Returns None when nobody states one.
    Raises NodeError PASSPHRASE_UNREADABLE for a credential that is there and cannot be read.
    """
    return environ.get(VARIABLE) or _credential(environ) or (ask() if ask else None) or None


def _credential(environ: Mapping[str, str]) -> str | None:
    directory = environ.get("CREDENTIALS_DIRECTORY")
    if not directory:
        return None
    path = Path(directory) / CREDENTIAL
    try:
        with path.open("rb") as file:
            data = file.read(CREDENTIAL_BYTES + 1)
        text = data.decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NodeError("PASSPHRASE_UNREADABLE", f"The credential {path} cannot be read.") from error
    if len(data) > CREDENTIAL_BYTES:
        raise NodeError("PASSPHRASE_UNREADABLE", f"The credential {path} is over {CREDENTIAL_BYTES} bytes.")
    return text.removesuffix("\n")


def _parse(line: str) -> tuple[Cost, bytes, bytes]:
    fields = line.split(" ")
    if len(fields) != 6 or fields[0] != TAG or fields[1] != "argon2id":
        raise NodeError("KEY_DAMAGED", f"A sealed seed must be one line that begins with {TAG} argon2id.")
    cost = Cost(_number(fields[2]), _number(fields[3]))
    # Argon2id counts memory in KiB: what it would leave out of the account was not written here.
    if not (LEAST.ops <= cost.ops <= MOST.ops and LEAST.mem <= cost.mem <= MOST.mem) or cost.mem % 1024:
        raise NodeError("KEY_DAMAGED", "The sealed seed asks for a cost outside what this node will spend.")
    try:
        salt, box = b64url_decode(fields[4], argon2id.SALTBYTES), b64url_decode(fields[5])
    except DescriptorError as error:
        raise NodeError("KEY_DAMAGED", "The sealed seed's salt or box is not base64url.") from error
    if len(box) <= SecretBox.NONCE_SIZE + SecretBox.MACBYTES:
        raise NodeError("KEY_DAMAGED", "The sealed seed's box is too short.")
    return cost, salt, box


def _number(text: str) -> int:
    """A plain decimal of at most ten digits; 0, which no bound admits, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0
