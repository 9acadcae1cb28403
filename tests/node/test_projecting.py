"""What the node makes of its Descriptor: which addresses it names, and that a defect in what it serves is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
import structlog

from descriptor.document import Descriptor
from entryway.snapshot import NonePublished, Published, card_representation, published
from node.projecting import Projector, card_bytes, check_served, serving_at
from tests.entryway.parts import NOW, OTHER, OWNER, document

DESK, LOOP = "http://192.168.1.20:7420", "http://127.0.0.1:7420"
SERVING = serving_at([DESK], None)
CURRENT = Descriptor.read(document())


def served(card: bytes) -> Published:
    return published(CURRENT, 1, NOW, card)


@pytest.mark.parametrize(
    ("urls", "named"),
    [
        ([DESK, LOOP], (DESK,)),
        ([LOOP, "http://[::1]:7420", "http://localhost:7420", DESK], (DESK,)),
        ([LOOP, "http://[::1]:7420"], (LOOP, "http://[::1]:7420")),
        ([], ()),
    ],
)
def test_loopback_is_named_only_where_there_is_nothing_else(urls: list[str], named: tuple[str, ...]) -> None:
    assert serving_at(urls, None).named(None) == named


def test_a_stated_url_is_named_without_the_slash_at_its_end() -> None:
    assert serving_at([DESK], "http://desk.local/agent/").named(None) == ("http://desk.local/agent",)


def test_the_card_that_is_served_agrees() -> None:
    with structlog.testing.capture_logs() as logs:
        assert check_served(served(card_bytes(CURRENT, SERVING, OWNER)))
        assert check_served(NonePublished())
    assert logs == []


LATER = Descriptor.read(document(agent_version="1.5.0", does="Reads less."))


@pytest.mark.parametrize(
    ("card", "told"),
    [
        (
            card_bytes(LATER, SERVING, OWNER),
            {"differences": ["/description", "/version", "/capabilities/extensions/0/params/digest"]},
        ),
        (card_bytes(CURRENT, SERVING, OTHER), {"signature": "unsigned"}),
        (card_bytes(CURRENT, SERVING, OWNER).replace(b"192.168.1.20", b"192.168.1.21"), {"signature": "failed"}),
        (card_bytes(CURRENT, SERVING, OWNER).replace(b"receipts", b"recipes"), {"differences": ["/description"]}),
        (b"{}", {"reason": "This is neither"}),
        (b"[]", {"reason": "This is neither"}),
        (b"", {"reason": ""}),
    ],
    ids=["of-another-version", "by-another", "moved", "edited", "empty", "a-list", "nothing"],
)
def test_a_card_that_differs_is_a_defect_that_is_told(card: bytes, told: dict[str, object]) -> None:
    with structlog.testing.capture_logs() as logs:
        assert not check_served(served(card))
    (line,) = logs
    assert (line["event"], line["log_level"], line["digest"]) == ("projection_drifted", "error", CURRENT.digest)
    for name, value in told.items():
        assert line[name].startswith(value) if name == "reason" else line[name] == value


def test_a_card_is_stale_when_the_node_is_served_otherwise() -> None:
    places = [DESK]
    projector = Projector(OWNER, lambda: serving_at(places, None))
    assert projector.is_stale()
    first = projector.card(CURRENT)
    assert not projector.is_stale()
    places.append("http://10.0.0.7:7420")
    assert projector.is_stale()
    assert projector.card(CURRENT) != first
    assert not projector.is_stale()


def test_a_card_is_swapped_without_touching_anything_else() -> None:
    before = served(card_bytes(CURRENT, SERVING, OWNER))
    after = replace(before, card=card_representation(card_bytes(CURRENT, serving_at([LOOP], None), OWNER)))
    assert check_served(after)
    assert (after.well_known, after.by_digest) == (before.well_known, before.by_digest)
    assert after.card.digest != before.card.digest


@pytest.mark.parametrize(
    ("urls", "public_url", "events"),
    [
        ([DESK], None, []),
        ([DESK], "http://desk.local", []),
        ([DESK], "https://desk.example.net", ["public_url_not_named"]),
        (["http://8.8.8.8:7420"], None, ["no_address_named"]),
    ],
)
def test_an_operator_is_told_which_address_is_not_named(
    urls: list[str], public_url: str | None, events: list[str]
) -> None:
    with structlog.testing.capture_logs() as logs:
        Projector(OWNER, lambda: serving_at(urls, public_url)).card(CURRENT)
    assert [line["event"] for line in logs] == events
