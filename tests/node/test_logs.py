"""Logs: one event is one line, no secret is in it, and whatever strangers send stays text."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from descriptor.timestamps import parse_timestamp
from node import logs

SEED = "SUAEGDPNTWXACIF45CA23BUY36RIMWZXW5LEHSEOK2ONS5JWJ7PBC2EWBA"
HOSTILE = "x\n2026-01-01T00:00:00.000Z error   forged\r\x1b]0;title\x07\x1b[2J\x9b31m\u202eabc\u2028\ud800\x7f"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def undo() -> Iterator[None]:
    root = logging.getLogger()
    level = root.level
    yield
    root.handlers[:] = [one for one in root.handlers if not isinstance(one, logs._Bridge)]
    root.setLevel(level)
    structlog.reset_defaults()


def logger(level: str, form: str, stream: io.StringIO, environ: dict[str, str] | None = None) -> Any:
    logs.configure(level, form, stream, environ or {})
    return structlog.get_logger()


def members(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    value = json.loads(line)
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize(
    ("form", "stream", "people"),
    [
        ("auto", io.StringIO, False),
        ("auto", Terminal, True),
        ("people", io.StringIO, True),
        ("json", Terminal, False),
    ],
)
def test_people_read_a_terminal_and_programs_the_rest(form: str, stream: type[io.StringIO], people: bool) -> None:
    written = stream()
    logger("info", form, written).info("ready", port=7420)
    assert written.getvalue().startswith("{") is not people


@pytest.mark.parametrize(
    ("stream", "environ", "colors"),
    [
        (Terminal, {}, True),
        (Terminal, {"NO_COLOR": "1"}, False),
        (Terminal, {"NO_COLOR": ""}, True),
        (Terminal, {"TERM": "dumb"}, False),
        (io.StringIO, {}, False),
    ],
)
def test_colors_are_for_terminals_that_want_them(
    stream: type[io.StringIO], environ: dict[str, str], colors: bool
) -> None:
    written = stream()
    logger("info", "people", written, environ).info("ready")
    assert ("\x1b[" in written.getvalue()) is colors


def test_a_json_line_holds_when_how_bad_what_and_the_values() -> None:
    stream = io.StringIO()
    logger("info", "json", stream).warning("slow reader", address="::1", seconds=30.5, peer=None, gone=True)
    event = members(stream)
    assert parse_timestamp(event.pop("timestamp")) > 0
    assert event == {
        "level": "warning",
        "event": "slow reader",
        "address": "::1",
        "seconds": 30.5,
        "peer": None,
        "gone": True,
    }


def test_a_line_for_people_reads_left_to_right() -> None:
    stream = io.StringIO()
    logger("info", "people", stream).info("ready", url="http://127.0.0.1:7420", words="two words", n=[1, "a"])
    stamp, rest = stream.getvalue().split(" ", 1)
    assert stamp.endswith("Z")
    assert rest == 'info    ready url=http://127.0.0.1:7420 words="two words" n=[1, "a"]\n'


@pytest.mark.parametrize(("level", "count"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_a_line_below_the_level_is_not_written(level: str, count: int) -> None:
    stream = io.StringIO()
    log = logger(level, "json", stream)
    for write in (log.debug, log.info, log.warning, log.error):
        write("said")
    assert len(stream.getvalue().splitlines()) == count


def test_a_new_configuration_replaces_the_old_one() -> None:
    before, after = io.StringIO(), io.StringIO()
    log = logger("error", "json", before)
    logs.configure("info", "json", after, {})
    log.info("said")
    logging.getLogger("library").warning("said")
    assert before.getvalue() == ""
    assert len(after.getvalue().splitlines()) == 2


def test_a_logger_s_own_names_are_not_taken_over_by_values() -> None:
    stream = io.StringIO()
    logger("info", "json", stream).info("ready", timestamp="yesterday", level="error")
    assert members(stream)["timestamp"] != "yesterday"
    assert members(stream)["level"] == "info"


@pytest.mark.parametrize("form", ["people", "json"])
def test_a_hostile_text_forges_no_line_and_drives_no_terminal(form: str) -> None:
    stream = io.StringIO()
    log = logger("info", form, stream)
    log.info(HOSTILE, **{"handle": HOSTILE, HOSTILE: 1, "nested": {HOSTILE: [HOSTILE]}, "error": ValueError(HOSTILE)})
    line = stream.getvalue()
    assert line.endswith("\n")
    assert line[:-1].isprintable()


@given(st.text(), st.text(min_size=1), st.text() | st.binary() | st.integers() | st.floats() | st.lists(st.text()))
def test_any_event_is_one_printable_line(event: str, name: str, value: object) -> None:
    for form in ("people", "json"):
        stream = io.StringIO()
        logger("info", form, stream).info(event, **{f"_{name}": value})
        assert stream.getvalue()[:-1].isprintable()
        if form == "json":
            json.loads(stream.getvalue(), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "name",
    [
        "seed",
        "agent_seed",
        "SEED",
        "secret",
        "passphrase",
        "sig",
        "AgentSeed",
        "apiToken",
        "seeds",
        "client-secret",
        "cookie",
    ],
)
@pytest.mark.parametrize("form", ["people", "json"])
def test_a_value_under_a_secret_s_name_is_not_written(form: str, name: str) -> None:
    stream = io.StringIO()
    logger("info", form, stream).info("said", **{name: "hunter2", "deep": [{name: ["hunter2"]}]})
    assert "hunter2" not in stream.getvalue()
    assert "[redacted]" in stream.getvalue()


@pytest.mark.parametrize("name", ["design", "digest", "signed", "subject", "id", "encryption_key"])
def test_other_names_are_written(name: str) -> None:
    stream = io.StringIO()
    logger("info", "json", stream).info("said", **{name: "shown"})
    assert members(stream)[name] == "shown"


@pytest.mark.parametrize("form", ["people", "json"])
def test_the_text_of_a_seed_is_written_nowhere(form: str) -> None:
    stream = io.StringIO()
    log = logger("info", form, stream)
    log.info(f"said {SEED}", value=f"x{SEED}y", error=ValueError(SEED), deep=[{SEED: SEED}], **{SEED: 1})
    log.info("cut", long="." * (logs.TEXT_CHARACTERS - 30) + SEED)
    try:
        raise ValueError(SEED)
    except ValueError:
        log.exception("failed")
    assert "SUAEGDP" not in stream.getvalue()


def test_what_is_deep_or_long_is_cut() -> None:
    stream = io.StringIO()
    deep: object = "bottom"
    for _ in range(50):
        deep = {"passphrase_of_nobody": "x", "in": [deep]}
    logger("info", "json", stream).info(
        "said", deep=deep, long="x" * 10**6, many=list(range(10**5)), number=10**5000, nan=float("nan"), data=b"abc"
    )
    event = members(stream)
    assert len(stream.getvalue()) < 10_000
    assert event["long"].endswith("(1000000 characters)")
    assert event["many"] == list(range(logs.ITEMS))
    assert event["number"].startswith("0x")
    assert event["nan"] == "nan"
    assert event["data"] == "[3 bytes]"
    assert "bottom" not in stream.getvalue()


def test_a_traceback_for_people_is_a_marked_block() -> None:
    stream = io.StringIO()
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        logger("info", "people", stream).exception("failed")
    first, *below = stream.getvalue().splitlines()
    assert first.endswith("error   failed")
    assert below[0] == "    | Traceback (most recent call last):"
    assert all(line.startswith("    | ") and line.isprintable() for line in below)


def test_a_traceback_for_programs_keeps_its_end() -> None:
    stream = io.StringIO()
    try:
        raise ValueError("x" * 10**6 + " the end")
    except ValueError:
        logger("info", "json", stream).exception("failed")
    assert members(stream)["exception"].endswith("the end")
    assert len(stream.getvalue()) < 10_000


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("closed")])
def test_a_line_that_cannot_be_written_is_lost_and_nothing_else(error: Exception) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise error

    logger("info", "json", Full()).info("said")


def test_a_character_that_the_stream_cannot_spell_stops_nothing() -> None:
    raw = io.BytesIO()
    log = logger("info", "people", io.TextIOWrapper(raw, encoding="ascii"))  # type: ignore[arg-type]  # a text stream
    log.info("über")
    log.info("plain")
    assert raw.getvalue().endswith(b"plain\n")


@pytest.mark.parametrize("number", [31, 35, 100])
def test_what_libraries_log_goes_the_same_way(number: int) -> None:
    stream = io.StringIO()
    logger("info", "json", stream)
    logging.getLogger("zeroconf").log(number, "heard %s", HOSTILE)
    event = members(stream)
    assert event["library"] == "zeroconf"
    assert event["level"] == ("critical" if number == 100 else "warning")
    assert stream.getvalue()[:-1].isprintable()


def test_what_libraries_log_below_a_warning_is_not_written() -> None:
    stream = io.StringIO()
    logger("debug", "json", stream)
    logging.getLogger("httpx").info("HTTP Request")
    assert stream.getvalue() == ""


def test_a_library_s_broken_record_stops_nothing() -> None:
    stream = io.StringIO()
    logging.getLogger().handlers.clear()  # the test runner's own would raise
    logger("info", "json", stream)
    logging.getLogger("library").warning("%d of them", "many")
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("library").exception("failed")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first["event"] == "%d of them"
    assert second["exception"].endswith("ValueError: why")
