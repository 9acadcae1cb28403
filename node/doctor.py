"""What a node's operator would want to know before it matters: keys, store, Descriptor, clock, disk, mDNS.

Each examination looks at one thing, changes nothing, and says what it saw. The invariant: one that cannot look says so
("unknown") and never passes for one that looked and found nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.signatures import Signature, verify_key_claim, verify_statement
from descriptor.timestamps import format_timestamp
from entryway.roster import enforced
from node.errors import NodeError
from node.home import Home
from node.identity import Keys
from node.interfaces import Adapter, Link, chosen
from node.roster import unapplied_admission
from node.settings import Settings
from store import Reader, StoreError

FREE_BYTES = 64 * 2**20
CLOCK_START = 1_767_225_600.0  # 2026-01-01: a clock before the program was written is wrong
CLOCK_AHEAD = 5.0  # seconds
SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """What one examination saw. `state`: good, bad, or unknown when it could not look."""

    subject: str
    state: Literal["good", "bad", "unknown"]
    message: str


def examine(
    home: Home,
    load_settings: Callable[[], Settings],
    load_keys: Callable[[], Keys],
    agent_id: Callable[[], str],
    now: float,
) -> Iterator[Seen]:
    """All examinations of a home. Raises nothing of ours: what they raise is what they saw."""
    yield _looked("home", "is yours and closed to others", home.check)
    yield _looked("settings", "can be read", load_settings)
    yield from _keys(load_keys, agent_id)
    yield _clock(now)
    yield _disk(home)
    try:
        with Reader.open(home.database) as reader:
            yield from _store(reader)
            yield from _roster(reader, agent_id())
            yield from _descriptor(reader, agent_id(), now)
    except StoreError as error:
        missing = error.code == "NO_STORE"
        message = "nothing is published yet" if missing else error.message
        yield Seen("store", "unknown" if missing else "bad", message)
    except NodeError as error:
        yield Seen("descriptor", "unknown", error.message)


def examine_mdns(
    load_settings: Callable[[], Settings],
    status: Mapping[str, object] | None,
    seen: Iterable[Adapter],
    probe: Callable[[Link], str | None],
) -> Iterator[Seen]:
    """Whether neighbors can hear the node, and it them.

    `status`: what the running node says of its discovery, None when none runs. `seen`: the interfaces of this machine.
    `probe`: why a link does not carry mDNS, None when it does.
    """
    try:
        settings = load_settings()
    except NodeError:
        yield Seen("mdns", "unknown", "the settings cannot be read")
        return
    if not settings.discovery.mdns:
        yield Seen("mdns", "unknown", "it is switched off in the settings: nobody is heard, and this node by nobody")
        return
    seen = list(seen)
    links = chosen(seen, settings.discovery.interfaces)
    if not links:
        yield Seen("mdns", "bad", f"there is no network to be heard on. {_why_none(seen)} Check [discovery] interfaces")
        return
    refused = {link.name: why for link in links if (why := probe(link)) is not None}
    problems = {} if status is None else status.get("problems")
    refused |= {str(name): str(why) for name, why in problems.items()} if isinstance(problems, dict) else {}
    for name, why in refused.items():
        yield Seen("mdns", "bad", f"{name}: {why}" if name else why)
    carried = ", ".join(link.name for link in links if link.name not in refused)
    if carried:
        yield Seen("mdns", "good", f"it gets through on {carried}; a Wi-Fi may still keep its clients from one another")
    if all(_is_loopback(host) for host in settings.http.host):
        yield Seen("mdns", "unknown", "the node listens on this machine alone, so it is not announced: see [http] host")


def _why_none(seen: Iterable[Adapter]) -> str:
    reasons = []
    for one in seen:
        if one.loopback:
            continue
        if not one.up:
            reasons.append(f"{one.name} is down or has no cable.")
        elif not one.addresses:
            reasons.append(f"{one.name} has no address.")
        elif not one.multicast:
            reasons.append(f"{one.name} does no multicast.")
        else:
            reasons.append(f"{one.name} is not among those that are meant.")
    return " ".join(reasons) or "There is no interface but loopback."


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _looked(subject: str, good: str, look: Callable[[], object]) -> Seen:
    try:
        look()
    except NodeError as error:
        return Seen(subject, "bad", error.message)
    return Seen(subject, "good", good)


def _keys(load_keys: Callable[[], Keys], agent_id: Callable[[], str]) -> Iterator[Seen]:
    try:
        keys = load_keys()
    except NodeError as error:
        yield Seen("keys", "unknown" if error.code == "PASSPHRASE_NEEDED" else "bad", error.message)
        return
    try:
        stated = agent_id()
    except NodeError as error:
        yield Seen("keys", "bad", error.message)
        return
    if stated != keys.identity.id:
        yield Seen("keys", "bad", f"identity/agent.id says {stated}, and the seed is that of {keys.identity.id}")
    else:
        yield Seen("keys", "good", f"both can be read; this agent is {keys.identity.id}")


def _clock(now: float) -> Seen:
    if now < CLOCK_START:
        return Seen("clock", "bad", f"it says {format_timestamp(now)}; set it, or peers refuse what this node signs")
    return Seen("clock", "good", f"it says {format_timestamp(now)}")


def _disk(home: Home) -> Seen:
    try:
        free = shutil.disk_usage(home.path).free
    except OSError as error:
        return Seen("disk", "unknown", f"{home.path}: {error.strerror}")
    state: Literal["good", "bad"] = "good" if free >= FREE_BYTES else "bad"
    return Seen("disk", state, f"{free // 2**20} MiB are free where the home is")


def _store(reader: Reader) -> Iterator[Seen]:
    found = 0
    for problem in reader.verify():
        found += 1
        if found <= SHOWN_PROBLEMS:
            yield Seen("store", "bad", problem.message)
    if found > SHOWN_PROBLEMS:
        yield Seen("store", "bad", f"there are {found} problems; the first {SHOWN_PROBLEMS} are shown")
    if not found:
        counts = reader.counts()
        yield Seen("store", "good", f"{counts.versions} versions; all {counts.artifacts} artifacts match their digests")


def _roster(reader: Reader, agent_id: str) -> Iterator[Seen]:
    document = reader.roster(agent_id)
    found = enforced(document, agent_id)
    why = unapplied_admission(reader, agent_id, found.policy)
    if found.problem is not None:
        yield Seen("roster", "bad", f"it is not enforced, the conservative defaults hold: {found.problem}")
    elif document is None:
        yield Seen("roster", "good", "none is kept: the conservative defaults hold")
    else:
        yield Seen("roster", "good", f"it is signed by this agent; entries in force: {len(found.policy.entries)}")
    if why is not None:
        yield Seen("roster", "bad", f"the current Descriptor does not fit it. {why}")


def _descriptor(reader: Reader, agent_id: str, now: float) -> Iterator[Seen]:
    current = reader.current(agent_id)
    if current is None:
        yield Seen("descriptor", "unknown", "nothing is published yet")
        return
    if current.published_at > now + CLOCK_AHEAD:
        published = format_timestamp(current.published_at)
        yield Seen("clock", "bad", f"it is behind: the current version was published at {published}")
    try:
        data = reader.artifact(current.digest)
        descriptor = Descriptor.read(data or b"")
    except (StoreError, DescriptorError) as error:
        yield Seen("descriptor", "bad", error.message)
        return
    statement, claim = verify_statement(descriptor.members), verify_key_claim(descriptor.members)
    if descriptor.subject_id != agent_id or statement.state is not Signature.VERIFIED:
        unsigned = statement.state is Signature.UNSIGNED
        why = statement.reason or ("it is unsigned" if unsigned else f"it is about {descriptor.subject_id}")
        yield Seen("descriptor", "bad", f"the current version is not this agent's signed word: {why}")
    elif claim.state is Signature.FAILED:
        yield Seen("descriptor", "bad", f"nobody will seal to this agent: {claim.reason}")
    else:
        yield Seen("descriptor", "good", f"version {current.agent_version} is current and its signature holds")
