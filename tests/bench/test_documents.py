"""Homes for the bench hold what publishing would have stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.documents import DOCUMENT_BYTES, FilledHome, fill_home
from descriptor.checker import check
from descriptor.document import Descriptor
from descriptor.signatures import Signature, verify_statement
from node.home import Home
from store import Reader

VERSIONS = 3


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FilledHome:
    monkeypatch.delenv("AGENT_NODE_HOME", raising=False)
    return fill_home(tmp_path / "home", VERSIONS)


@pytest.fixture
def reader(home: FilledHome) -> Iterator[Reader]:
    with Reader.open(Home(home.path).database) as reader:
        yield reader


def test_every_version_is_signed_and_without_errors_and_equally_long(home: FilledHome, reader: Reader) -> None:
    assert len(set(home.digests)) == VERSIONS
    for digest in home.digests:
        data = reader.artifact(digest)
        assert data is not None
        assert len(data) == DOCUMENT_BYTES
        assert verify_statement(Descriptor.read(data).members).state is Signature.VERIFIED
        assert not check(data).errors


def test_the_store_finds_nothing_wrong_and_the_last_version_current(home: FilledHome, reader: Reader) -> None:
    assert list(reader.verify()) == []
    subject = Descriptor.read(home.current).subject_id
    assert subject is not None
    versions, _ = reader.history(subject, VERSIONS + 1)
    assert [one.digest for one in reversed(versions)] == list(home.digests)
    current = reader.current(subject)
    assert current is not None
    assert current.digest == home.digests[-1] == Descriptor.read(home.current).digest
