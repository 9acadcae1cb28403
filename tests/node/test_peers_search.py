"""`peers` searches what verified peers declare, and fails closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from descriptor.digests import digest_of
from node.home import Home
from store import Peer, Store
from tests.descriptor.rules.cases import OFFERING, bound
from tests.descriptor.rules.test_6_11 import CHAPTER
from tests.descriptor.whole import WHOLE
from tests.node.parts import draft, new_home, published, told

DOCUMENT = bound(offerings=[OFFERING, CHAPTER, WHOLE["offerings"][2]], data_use=WHOLE["data_use"])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = new_home(tmp_path / "h")
    published(home, draft("1"))
    data = json.dumps(DOCUMENT).encode()
    verified = Peer(
        DOCUMENT["subject"]["id"],
        "reader.example",
        "verified",
        "",
        "1.0",
        digest_of(data),
        ("192.0.2.7:7420",),
        1.0,
        2.0,
    )
    heard = Peer("UHEARD", "heard.example", "heard", "It has not been asked yet.", None, None, (), 1.0, 2.0)
    with Store.open(home.database) as store:
        store.put_peers([(verified, data), (heard, None)])
    return home


def found(home: Home, *arguments: str) -> list[str]:
    end = told("peers", *arguments, "--json", home=home)
    matches: list[dict[str, Any]] = end.document()["matches"]
    assert end.exit_code == (0 if matches else 1)
    return [str(match["id"]) for match in matches]


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["--wanting", "read contract"], ["read"]),
        (["--wanting", "repository"], []),
        (["--scope", "open-ended"], ["anything"]),
        (["--focus", "software"], ["change-a-repository"]),
        (["--role", "role-code-writer"], ["change-a-repository"]),
        (["--jurisdiction", "de", "--jurisdiction", "fr"], ["read", "change-a-repository", "anything"]),
        (["--jurisdiction", "de"], []),
    ],
)
def test_what_verified_peers_declare_is_searched(home: Home, arguments: list[str], ids: list[str]) -> None:
    assert found(home, *arguments) == ids


def test_what_has_to_be_shown_is_shown(home: Home) -> None:
    text = told("peers", "--focus", "software", home=home).out
    for said in ("open-with-focus", "software", "reads-files, writes-files, runs-commands", "job_seconds at most 3600"):
        assert said in text


def test_nothing_found_says_of_how_many(home: Home) -> None:
    assert "None of 1 verified peers declares that." in told("peers", "--wanting", "cooking", home=home).out
