"""However a stream is cut, its events are the same; and an announcement is the followed agent's own word."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.keys import Identity
from descriptor.timestamps import format_timestamp
from entryway.client import ClientError
from entryway.envelope import new_uuid, sign_envelope
from entryway.feed import MAX_LINE, Announced, Message, StreamParser, judge_event

AGENT, OTHER = Identity.generate(), Identity.generate()
DIGEST = "sha256:" + "0a" * 32
AT = 1_790_000_000.0


def messages(*pieces: bytes) -> list[tuple[str, str, str]]:
    parser = StreamParser()
    return [(one.event, one.id, one.data) for piece in pieces for one in parser.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [("message", "", "a")]),
        (b"event: x\nid: 7\ndata: a\n\n", [("x", "7", "a")]),
        (b"data: a\r\rdata: b\r\n\r\n", [("message", "", "a"), ("message", "", "b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("message", "", "a")]),
        (b"data: a\ndata: b\ndata\n\n", [("message", "", "a\nb\n")]),
        (b"data:a\ndata:  b\n\n", [("message", "", "a\n b")]),
        (b": comment\n\n:\n\n", []),
        (b"event: x\n\ndata: a\n\n", [("message", "", "a")]),
        (
            b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
            [("message", "1", "a"), ("message", "1", "b"), ("message", "", "c")],
        ),
        (b"id: 1\x002\ndata: a\n\n", [("message", "", "a")]),
        (b"retry: 10\nunknown: x\ndata: a\n\n", [("message", "", "a")]),
        (b"data: a\n", []),
        (b"data: a\r\n\n", [("message", "", "a")]),
        (b"data: a\n\n\n\n", [("message", "", "a")]),
        ("data: é\n\n".encode(), [("message", "", "é")]),
    ],
)
def test_a_stream_reads_as_the_standard_says(stream: bytes, expected: list[tuple[str, str, str]]) -> None:
    assert messages(stream) == expected
    assert messages(*(stream[place : place + 1] for place in range(len(stream)))) == expected


@given(
    st.lists(
        st.sampled_from([b"data: a", b"data:", b"id: 1", b"event: e", b":", b"\n", b"\r", b"\r\n", b"x", b"\n\n"]),
        max_size=30,
    ),
    st.lists(st.integers(1, 9), max_size=30),
)
def test_any_cutting_gives_the_same_events(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts)
    pieces, rest = [], stream
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    assert messages(*pieces, rest) == messages(stream)


@pytest.mark.parametrize(
    "stream",
    [
        b"data: " + b"x" * MAX_LINE + b"\n\n",
        b"x" * (MAX_LINE + 1),
        b"data: 0123456789\n" * (MAX_LINE // 10),
        b"data: \xff\n\n",
    ],
)
def test_a_stream_is_bounded_and_utf_8(stream: bytes) -> None:
    with pytest.raises(ClientError) as raised:
        messages(*(stream[place : place + 1000] for place in range(0, len(stream), 1000)))
    assert raised.value.code == "UNREADABLE_REPLY"


def announced(identity: Identity = AGENT, number: str = "3", **changes: Any) -> Message:
    payload = {
        "event": "descriptor.replaced",
        "subject": {"id": AGENT.id},
        "digest": DIGEST,
        "previous_digest": None,
        "agent_version": "2",
        "published_at": format_timestamp(AT),
        "seq": 3,
        **changes,
    }
    members = {
        "v": "0.3.0",
        "id": new_uuid(),
        "type": "emit",
        "ts": format_timestamp(AT),
        "from": identity.id,
        "payload": {name: value for name, value in payload.items() if value is not ...},
    }
    return Message("descriptor.replaced", number, json.dumps(sign_envelope(identity, members)))


def test_an_announcement_of_the_agent_s_own_is_believed() -> None:
    assert judge_event(announced(), AGENT.id) == Announced(3, DIGEST, None, "2", AT)
    assert judge_event(announced(previous_digest=DIGEST), AGENT.id) == Announced(3, DIGEST, DIGEST, "2", AT)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (announced(OTHER), "by another agent"),
        (announced(number="4"), "another number"),
        (announced(seq=True, number="True"), "another number"),
        (announced(subject={"id": OTHER.id}), "about another agent"),
        (announced(subject=AGENT.id), "about another agent"),
        (announced(digest=...), "which version"),
        (announced(digest="0a"), "cannot be read"),
        (announced(published_at="today"), "cannot be read"),
        (announced(agent_version=2), "which version"),
        (Message("descriptor.replaced", "3", "{"), "no well-formed envelope"),
        (Message("descriptor.replaced", "3", "[]"), "no well-formed envelope"),
        (Message("descriptor.replaced", "3", "\ud800"), "no well-formed envelope"),
    ],
)
def test_anything_else_is_not(message: Message, why: str) -> None:
    judged = judge_event(message, AGENT.id)
    assert isinstance(judged, str)
    assert why in judged


@pytest.mark.parametrize("change", [lambda one: one.update(ts=format_timestamp(AT + 1)), lambda one: one.pop("sig")])
def test_an_event_that_was_changed_is_not_believed(change: Any) -> None:
    envelope = json.loads(announced().data)
    change(envelope)
    judged = judge_event(Message("descriptor.replaced", "3", json.dumps(envelope)), AGENT.id)
    assert judged == "The signature of the event does not hold."
