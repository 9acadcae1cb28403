"""A job runs under the settings that are declared, with the values that a job may give and that they take."""

from __future__ import annotations

from typing import Any

import pytest

from descriptor.view import View, view
from entryway.asked import Asked
from tests.descriptor.rules.cases import OFFERING, draft
from tests.entryway.judged import ordered, refused


def agent(*settings: dict[str, Any]) -> View:
    return view(draft(offerings=[{**OFFERING, "inputs": []}], run_config={"settings": list(settings)}))


def setting(name: str, kind: str, default: Any, **members: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "default": default, "job_may_set": True, **members}


AGENT = agent(
    setting("model", "rule", "example/a", allowed=["example/a", "example/b"]),
    setting("speaker", "preference", "the author", allowed=["the author", "a narrator"]),
    setting("voice", "preference", "warm"),
    setting("pages", "rule", 10),
    setting("speed", "preference", 1.5),
    setting("depth", "rule", 3, allowed=[1, 3, 5]),
    setting("drafts", "rule", False),
    setting("keep", "rule", "no", allowed=["no"], job_may_set=False),
    {"name": "tone", "kind": "preference", "default": "dry"},
)
DEFAULTS = {
    "model": "example/a",
    "speaker": "the author",
    "voice": "warm",
    "pages": 10,
    "speed": 1.5,
    "depth": 3,
    "drafts": False,
    "keep": "no",
    "tone": "dry",
}


def test_what_is_not_set_is_as_it_is_declared() -> None:
    assert ordered(AGENT, Asked("read")).settings == DEFAULTS


TAKEN = [
    *({"model": value} for value in ("example/a", "example/b")),
    *({"pages": value} for value in (10, 0, -3, 9.5)),
    *({"depth": value} for value in (1, 3)),
    *({"speed": value} for value in (1, 99)),
    {"speaker": "a narrator"},
    {"voice": "anything at all"},
    {"drafts": True},
    {"model": "example/b", "pages": 1},
]


@pytest.mark.parametrize("settings", TAKEN, ids=str)
def test_a_value_that_a_setting_takes_is_the_job_s(settings: dict[str, Any]) -> None:
    assert ordered(AGENT, Asked("read", settings=settings)).settings == {**DEFAULTS, **settings}


MAY_SET = ["model", "speaker", "voice", "pages", "speed", "depth", "drafts"]
REFUSED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"mood": "x"}, {"allowed": MAY_SET}),
    ({"keep": "no"}, {"allowed": MAY_SET}),
    ({"tone": "dry"}, {"allowed": MAY_SET}),
    ({"model": "example/c"}, {"allowed": ["example/a", "example/b"]}),
    ({"model": "EXAMPLE/A"}, {"allowed": ["example/a", "example/b"]}),
    ({"speaker": "a crowd"}, {"allowed": ["the author", "a narrator"]}),
    ({"voice": 7}, {"default": "warm"}),
    ({"pages": 11}, {"most": 10}),
    ({"pages": 10.5}, {"most": 10}),
    ({"pages": "10"}, {"most": 10}),
    ({"pages": True}, {"most": 10}),
    ({"depth": 2}, {"allowed": [1, 3]}),
    ({"depth": 5}, {"allowed": [1, 3]}),  # in the list, and over the ceiling
    ({"depth": True}, {"allowed": [1, 3]}),
    ({"drafts": 1}, {"default": False}),
    ({"drafts": None}, {"default": False}),
    ({"voice": ["warm"]}, {"default": "warm"}),
]


@pytest.mark.parametrize(("settings", "told"), REFUSED, ids=str)
def test_what_a_setting_does_not_take_is_refused(settings: dict[str, Any], told: dict[str, Any]) -> None:
    (name,) = settings
    assert refused(AGENT, Asked("read", settings=settings), "RUN_CONFIG_REFUSED") == {
        "offering": "read",
        "setting": name,
        **told,
    }


@pytest.mark.parametrize("declared", [(), (setting("a", "preference", "x"), setting("a", "preference", "y"))])
def test_what_is_not_declared_once_cannot_be_set(declared: tuple[dict[str, Any], ...]) -> None:
    assert refused(agent(*declared), Asked("read", settings={"a": "x"}), "RUN_CONFIG_REFUSED")["allowed"] == []


def test_an_agent_without_a_run_config_takes_no_settings() -> None:
    silent = view(draft(offerings=[{**OFFERING, "inputs": []}]))
    assert ordered(silent, Asked("read")).settings == {}
    assert refused(silent, Asked("read", settings={"model": "x"}), "RUN_CONFIG_REFUSED")["allowed"] == []


def test_a_setting_that_cannot_be_read_cannot_be_set() -> None:
    broken = agent(setting("model", "rule", "example/a"))  # a rule of words without its list
    refused(broken, Asked("read", settings={"model": "example/a"}), "RUN_CONFIG_REFUSED")
