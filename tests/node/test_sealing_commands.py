"""`seal` and `unseal`: a file comes out as it went in, for the one agent whose signature vouches for the key."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nacl.public
import pytest

from descriptor.encoding import b64url_decode
from descriptor.keys import SealingKey
from entryway.sealing import seal
from node.home import Home
from tests.end_to_end.harness import command
from tests.entryway.parts import OTHER, OWNER, document
from tests.entryway.workplace import Workplace, in_thread, sealing, working
from tests.node.parts import draft, new_home, published, told

FILES: dict[str, bytes] = {
    "a text": "Grüße! 🚀\r\n\ttwo\n".encode(),
    "nothing": b"",
    "every byte": bytes(range(256)),
    "half a character": "ü".encode()[:1],
    "JSON": b'{"a": [1, 2.50]}\n',
    "NUL": b"a\0b",
    "a byte order mark": b"\xef\xbb\xbfa",
    "what stands for bytes": b'{"base64url": "YQ"}',
}


@pytest.fixture
def kept(home: Home, tmp_path: Path) -> Path:
    """The Descriptor of the home, in a file."""
    path = tmp_path / "descriptor.json"
    path.write_text(told("show", "--raw", home=home).out)
    return path


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_a_file_comes_out_as_it_went_in(home: Home, kept: Path, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    sealed = command("seal", "--key", kept, path)
    assert sealed.exit_code == 0, sealed.err
    assert sealed.document()["v"] == "sealedpayload.v1"
    path.write_bytes(sealed.out)
    assert command("unseal", path, home=home).out == data


def test_a_large_file_comes_out_as_it_went_in(home: Home, kept: Path, tmp_path: Path) -> None:
    data = os.urandom(5_000_000)
    sealed = command("seal", "--key", kept, "-", stdin=data)
    path = tmp_path / "sealed"
    path.write_bytes(sealed.out)
    assert command("unseal", path, home=home).out == data


def test_other_code_opens_what_is_sealed_here(tmp_path: Path) -> None:
    key = SealingKey.generate()
    descriptor = tmp_path / "descriptor.json"
    descriptor.write_bytes(working(**sealing("required", key)))
    sealed = told("seal", "--key", descriptor, "-", stdin=b"hello").document()
    box = nacl.public.Box(nacl.public.PrivateKey(key.secret), nacl.public.PublicKey(b64url_decode(sealed["epk"])))
    assert json.loads(box.decrypt(b64url_decode(sealed["ct"]), b64url_decode(sealed["nonce"]))) == "hello"


def test_it_is_sealed_to_the_agent_that_is_asked(home: Home) -> None:
    key = SealingKey.generate()
    with in_thread(Workplace(working(**sealing("preferred", key)), key=key)) as url:
        end = told("seal", "--id", OWNER.id, url, "-", home=home, stdin=b"hello")
        unnamed = told("seal", url, "-", home=home, stdin=b"hello")
        another = told("seal", "--id", OTHER.id, url, "-", home=home, stdin=b"hello")
    assert (end.exit_code, end.document()["v"]) == (0, "sealedpayload.v1")
    assert (unnamed.exit_code, unnamed.out, "[AGENT_NOT_NAMED]" in unnamed.err) == (1, "", True)
    assert (another.exit_code, another.out, "[NOT_VERIFIED]" in another.err) == (1, "", True)


OWN = SealingKey.generate()
NO_KEYS: dict[str, tuple[bytes, str]] = {
    "no posture and no key": (document(), "CANNOT_SEAL"),
    "a claim about another key": (document(**sealing("required") | {"encryption_key": OWN.public_text}), "CANNOT_SEAL"),
    "no claim": (document(**sealing("required") | {"trust": {}}), "CANNOT_SEAL"),
    "a Descriptor that is not signed": (document(sign=False, **sealing("required")), "NOT_VERIFIED"),
    "a Descriptor that was changed": (
        document(**sealing("required")).replace(b"receipts", b"everyone"),
        "NOT_VERIFIED",
    ),
    "no Descriptor": (b"[]", "NOT_AN_OBJECT"),
}


@pytest.mark.parametrize(("data", "code"), NO_KEYS.values(), ids=NO_KEYS)
def test_nothing_is_sealed_to_a_key_that_nobody_vouches_for(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "descriptor.json"
    path.write_bytes(data)
    end = told("seal", "--key", path, "-", stdin=b"hello")
    assert (end.exit_code != 0, end.out) == (True, "")
    assert f"[{code}]" in end.err


def test_a_descriptor_of_another_agent_than_the_one_named_is_refused(kept: Path) -> None:
    end = told("seal", "--key", kept, "--id", OWNER.id, "-", stdin=b"hello")
    assert (end.exit_code, "[ANOTHER_AGENT]" in end.err) == (1, True)


@pytest.mark.parametrize("arguments", [["-"], ["127.0.0.1:1", "-", "-"], ["--key", "x", "127.0.0.1:1", "-"]])
def test_what_is_missing_is_said(home: Home, arguments: list[str]) -> None:
    end = told("seal", *arguments, home=home)
    assert (end.exit_code, "--key DESCRIPTOR and a FILE" in end.err) == (2, True)


def unsealed(home: Home, sealed: Any, *flags: str) -> Any:
    return told("unseal", "-", *flags, home=home, stdin=json.dumps(sealed).encode())


def test_the_sealed_output_of_a_request_opens_as_what_it_is(home: Home) -> None:
    key = json.loads(told("show", "--raw", home=home).out)["encryption_key"]
    assert unsealed(home, seal({"a": 1}, key)).out == '{\n  "a": 1\n}\n'
    assert unsealed(home, seal("text", key, reply_key=OWN.public_text)).out == "text"
    document = unsealed(home, seal([1], key, reply_key=OWN.public_text), "--json").document()
    assert document == {"value": [1], "reply_key": OWN.public_text}
    assert unsealed(home, seal({"base64url": 1}, key)).out == '{\n  "base64url": 1\n}\n'
    assert unsealed(home, seal({"base64url": "="}, key)).out == '{\n  "base64url": "="\n}\n'


def test_what_is_sealed_to_another_does_not_open_and_says_so(home: Home, tmp_path: Path) -> None:
    other = new_home(tmp_path / "other")
    published(other, draft(sealing="preferred"))
    key = json.loads(told("show", "--raw", home=other).out)["encryption_key"]
    end = unsealed(home, seal("hello", key))
    assert (end.exit_code, end.out, "[UNSEALING_FAILED]" in end.err) == (1, "", True)
    for nothing in ("{}", "[1]", '"x"'):
        assert unsealed(home, json.loads(nothing)).exit_code == 1
    assert told("unseal", "-", home=home, stdin=b"{").exit_code == 2
    assert told("unseal", "no-such-file", home=home).exit_code == 2
