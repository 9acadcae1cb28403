"""Asks another node, and trusts nothing it sends.

    ask, fetch, history, card    questions to any node, each by itself
    register, registered         a registry
    Caller, Agent                work: discover, knock, prepare, send, poll, cancel

httpx is imported here and in `feed`, and nowhere else, so that a daemon that asks nobody does not pay for it. What only
work needs, the reader of Descriptors above all, is imported when it is first named: a node that hears its peers asks
for none.

Source: binding 3, 4, 5, 8 and 9.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from entryway.client.asking import Answer, ask
from entryway.client.documents import CARD_BYTES, card, fetch, history, register, registered
from entryway.client.errors import ClientError
from entryway.client.targets import DEFAULT_PORT, SCHEMES, target_url
from entryway.client.transport import DEFAULT_LIMITS, ClientLimits

if TYPE_CHECKING:
    from entryway.client.agent import Agent, Caller, Standing
    from entryway.client.outcome import Accepted, Completed, Failed, Outcome, Refused
    from entryway.client.parcel import Parcel
    from entryway.client.request import Budget, Resource, Work

_WORK = {
    **dict.fromkeys(("Agent", "Caller", "Standing"), "agent"),
    **dict.fromkeys(("Accepted", "Completed", "Failed", "Outcome", "Refused"), "outcome"),
    "Parcel": "parcel",
    **dict.fromkeys(("Budget", "Resource", "Work"), "request"),
}
"""The names that only work needs, and the module of each."""

__all__ = [
    "CARD_BYTES",
    "DEFAULT_LIMITS",
    "DEFAULT_PORT",
    "SCHEMES",
    "Accepted",
    "Agent",
    "Answer",
    "Budget",
    "Caller",
    "ClientError",
    "ClientLimits",
    "Completed",
    "Failed",
    "Outcome",
    "Parcel",
    "Refused",
    "Resource",
    "Standing",
    "Work",
    "ask",
    "card",
    "fetch",
    "history",
    "register",
    "registered",
    "target_url",
]


def __getattr__(name: str) -> object:
    if name not in _WORK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_WORK[name]}"), name)
    globals()[name] = found
    return found
