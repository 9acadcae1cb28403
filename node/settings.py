"""Every setting, once: its type, default, bounds, documentation and whether a running node can take it anew.

The invariant: the annotated default file and the reference of settings are made from these declarations
(`node.reference`), and what is read is held against them (`node.config`), so none can say anything else.

A setting's name is unique over all sections, so its variable is `AGENT_NODE_` and the name in capitals.
Sizes are bytes, durations are seconds. Source: binding 9 and 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from descriptor.versions import ORDERS
from node.declared import Declared, declared_in, setting
from node.handlers.settings import Handlers, Served


@dataclass(frozen=True)
class Agent:
    """Who the agent is. Publishing writes these into a draft; none of them is ever guessed."""

    handle: str | None = setting(
        None,
        "The agent's handle, written into the subject beside its id. A handle that was published stays.",
        one_word=True,
        example="paperwork.home",
    )
    acts_for: str | None = setting(
        None,
        "Whom the agent represents: its owner, a business or a team, or nobody (a public service). Publishing a "
        "draft needs it, here or as --acts-for.",
        choices=("person", "organization", "anyone"),
        example="person",
    )
    organization_name: str | None = setting(
        None,
        'The name the organization is publicly known by; only beside acts_for = "organization".',
        example="Willow Street Library",
    )
    version_order: str = setting(
        "natural",
        "How two values of agent_version are ordered; publishing refuses one that sorts below the current one. natural "
        "compares runs of digits as numbers and reads no words, so 1.0-rc1 sorts above 1.0: whoever publishes release "
        "candidates chooses semver or pep440.",
        choices=ORDERS,
    )


@dataclass(frozen=True)
class Http:
    """Where strangers reach the agent."""

    host: tuple[str, ...] = setting(
        ("0.0.0.0", "::"),  # noqa: S104  # answering the whole local network is what a node is for
        "The addresses to listen on. The default is every interface, over IPv4 and IPv6.",
        reload=False,
        one_word=True,
    )
    port: int = setting(7420, "The TCP port; 0 takes any free one.", low=0, high=65535, reload=False)
    public_url: str | None = setting(
        None,
        "The URL under which callers reach the node where it is another than those it listens on: a name, a proxy, a "
        "forwarded port. The A2A card and the registration name it, and nothing else. One that leads here from outside "
        "the network is named only where the Descriptor's access declares a scheme over http, which is what opens an "
        "agent to outside callers.",
        base_url=True,
        example="https://desk.example.net",
    )


@dataclass(frozen=True)
class Discovery:
    """How the node is found on the local network (mDNS, DNS-SD), and how it finds others."""

    mdns: bool = setting(True, "Whether the node announces itself and listens for others by mDNS.", reload=False)
    visibility: str = setting(
        "listed",
        "Who learns of the agent. listed: it is announced. unlisted: it answers whoever knows its address, and is not "
        "announced. private: it is not announced, and does not show its Descriptor to anybody.",
        choices=("listed", "unlisted", "private"),
    )
    interfaces: tuple[str, ...] = setting(
        ("*",),
        "The network interfaces to announce on and to listen on, by name. * is every one but loopback and the bridges "
        "of containers and virtual machines (docker*, br-*, veth*, virbr*, cni*), which have to be named.",
        one_word=True,
    )
    peers_kept: int = setting(
        1000,
        "How many peers are kept, and how many records are attended to at a time; beyond them those that did not "
        "verify go first.",
        unit="peers",
        low=1,
        high=65536,
    )
    peer_recheck: float = setting(
        60.0,
        "How long a peer's answer stands before it is asked again; longer where there are more than 30 peers, who "
        "are asked in turn. One whose record changes is asked at once.",
        unit="seconds",
        low=1,
        high=86400,
    )


@dataclass(frozen=True)
class FollowingLimits:
    """What following others may cost. Their versions are kept in this node's store."""

    followed_versions: int = setting(
        10_000,
        "The most versions that are kept of one agent that is followed. Beyond it no more of that agent are kept, and "
        "it is reported.",
        unit="versions",
        low=1,
        high=10**6,
    )
    followed_bytes: int = setting(
        256 * 2**20,
        "The most that all versions kept of one agent that is followed may be together.",
        unit="bytes",
        low=2**20,
        high=2**40,
    )


@dataclass(frozen=True)
class RegistryRole:
    """Keeping other agents' Descriptors for whoever looks for them. Off unless it is turned on."""

    registry: bool = setting(
        False, "Take Descriptors that agents hand over (PUT /registry), and serve them by subject.", reload=False
    )
    registry_versions: int = setting(
        1000, "Versions kept of one subject that was handed over.", unit="versions", low=1, high=10**6
    )
    registry_bytes: int = setting(
        2**30,
        "The most that all versions of other agents may be together, those that are followed among them.",
        unit="bytes",
        low=2**20,
        high=2**40,
    )
    registry_puts_per_hour: int = setting(
        60, "Descriptors one address may hand over.", unit="Descriptors an hour", low=1, high=10**6
    )


@dataclass(frozen=True)
class Limits:
    """What one caller, or all of them, may use up. Connections that are open keep the limits they began with."""

    header_block: int = setting(
        16 * 1024, "The most a request's line and headers may be.", unit="bytes", low=1024, high=2**20
    )
    entryway_body: int = setting(
        64 * 1024, "The most a question to the entryway may be.", unit="bytes", low=1024, high=2**24
    )
    request_body: int = setting(2**20, "The most a request for work may be.", unit="bytes", low=1024, high=2**24)
    descriptor_bytes: int = setting(
        2**20, "The most a Descriptor may be that is published here.", unit="bytes", low=1024, high=2**20
    )
    descriptor_nesting: int = setting(
        64,
        "How deep arrays and objects of a Descriptor that is published here may nest.",
        unit="levels",
        low=8,
        high=64,
    )
    header_wait: float = setting(
        10.0, "How long a request's headers may take to arrive.", unit="seconds", low=0.1, high=3600
    )
    body_wait: float = setting(
        30.0, "How long a request's body may take to arrive.", unit="seconds", low=0.1, high=3600
    )
    idle_wait: float = setting(
        75.0, "How long a connection may stay open between two requests.", unit="seconds", low=0.1, high=3600
    )
    write_wait: float = setting(
        30.0, "How long a reader may take to accept an answer.", unit="seconds", low=0.1, high=3600
    )
    drain_wait: float = setting(
        10.0, "How long answers under way may take when the node stops.", unit="seconds", low=0.0, high=3600
    )
    connections: int = setting(512, "Open connections in all.", unit="connections", low=1, high=65536)
    connections_per_address: int = setting(
        64, "Open connections of one address.", unit="connections", low=1, high=65536
    )
    subscribers: int = setting(
        1000, "Readers of the event feed in all, beside the connections.", unit="readers", low=0, high=65536
    )
    subscribers_per_address: int = setting(
        16, "Readers of the event feed of one address.", unit="readers", low=0, high=65536
    )
    answers_per_second: float = setting(
        50.0,
        "Answers one address gets, over time. Beyond them it is told when to come back.",
        unit="answers a second",
        low=0.01,
        high=1e6,
    )
    answers_burst: int = setting(
        200, "Answers one address may get at once, after a pause.", unit="answers", low=1, high=10**6
    )
    knock_wait: float = setting(
        86_400.0,
        "How long one sender waits between two knocks that count; a knock sooner than that is the same one.",
        unit="seconds",
        low=1.0,
        high=2_592_000,
    )
    knocks_per_day: int = setting(
        1_000, "Knocks of all senders that are kept in a day.", unit="knocks", low=0, high=100_000
    )
    limit_loopback: bool = setting(False, "Whether the limits by address bind this machine's own programs too.")


@dataclass(frozen=True)
class Jobs:
    """Work for callers who are admitted. What does it is stated for each offering, in [handlers] below."""

    jobs_parallel: int = setting(4, "Jobs that run at the same time, in all.", unit="jobs", low=1, high=1024)
    jobs_waiting: int = setting(
        32,
        "Jobs that wait for their turn. Beyond them a caller is told to come back later.",
        unit="jobs",
        low=0,
        high=65536,
    )
    jobs_keep_days: float = setting(
        7.0,
        "How long the outcome of a job is kept for its caller to ask for. A Descriptor that states a retention of "
        "fewer days (data_use) is not published.",
        unit="days",
        low=0,
        high=3650,
    )
    jobs_kept: int = setting(
        10_000, "Jobs that are kept; beyond them the oldest that ended go first.", unit="jobs", low=1, high=10**7
    )
    jobs_stop_wait: float = setting(
        5.0,
        "How long jobs may take to end when the node stops; then they are ended. Callers who wait are told of it "
        "within drain_wait.",
        unit="seconds",
        low=0,
        high=3600,
    )


@dataclass(frozen=True)
class Log:
    """What the node writes to its standard error."""

    log_level: str = setting("info", "The least a line must matter.", choices=("debug", "info", "warning", "error"))
    log_format: str = setting(
        "auto",
        "The form of a line: for people, or one JSON object. auto is people on a terminal and json elsewhere.",
        choices=("auto", "people", "json"),
    )


@dataclass(frozen=True)
class Settings:
    """All settings of a node, by section."""

    agent: Agent = Agent()
    http: Http = Http()
    discovery: Discovery = Discovery()
    following: FollowingLimits = FollowingLimits()
    registry: RegistryRole = RegistryRole()
    limits: Limits = Limits()
    jobs: Jobs = Jobs()
    log: Log = Log()
    handlers: Handlers = field(default_factory=dict)
    """What stands behind the offerings: by their ids, in tables of their own."""


def served_of(settings: Settings) -> Served:
    """The settings that a Descriptor's promises are held against."""
    return Served(settings.handlers, settings.jobs.jobs_keep_days)


SECTIONS: Mapping[str, type[Any]] = {
    "agent": Agent,
    "http": Http,
    "discovery": Discovery,
    "following": FollowingLimits,
    "registry": RegistryRole,
    "limits": Limits,
    "jobs": Jobs,
    "log": Log,
}
HANDLERS = "handlers"
"""The one section that is made of tables."""


DECLARED: Mapping[str, Declared] = {one.name: one for one in declared_in(SECTIONS)}
"""Every setting by its name, in the order of the file."""


def changed(old: Settings, new: Settings) -> tuple[list[str], list[str]]:
    """The settings that differ, as `section.name`: those a running node takes, and those that need a restart."""
    taken: list[str] = []
    waiting: list[str] = []
    for one in DECLARED.values():
        before, after = (getattr(getattr(settings, one.section), one.name) for settings in (old, new))
        if before != after:
            (taken if one.about.reload else waiting).append(f"{one.section}.{one.name}")
    for offering in {**old.handlers, **new.handlers}:
        if old.handlers.get(offering) != new.handlers.get(offering):
            taken.append(f"{HANDLERS}.{offering}")
    return taken, waiting
