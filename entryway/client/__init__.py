"""Asks another node, and trusts nothing it sends.

httpx is imported here and in `feed`, and nowhere else, so that a daemon that asks nobody does not pay for it.

Source: binding 3, 4, 5 and 9.
"""

from entryway.client.agent import Agent, Caller, Parcel, Standing
from entryway.client.asking import Answer, ask
from entryway.client.documents import fetch, history, register, registered
from entryway.client.errors import ClientError
from entryway.client.outcome import Accepted, Completed, Failed, Outcome, Refused
from entryway.client.request import Budget, Resource, Work
from entryway.client.targets import DEFAULT_PORT, SCHEMES, target_url
from entryway.client.transport import DEFAULT_LIMITS, ClientLimits

__all__ = [
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
    "fetch",
    "history",
    "register",
    "registered",
    "target_url",
]
