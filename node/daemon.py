"""The daemon: one nursery in which everything that runs, runs.

    serve          the entryway, on every listening socket
    control        the control socket
    following      keeps the versions of the agents that are followed
    workshop       does the work of callers who are admitted
    vicinity       announces the node, hears and asks its peers
    projections    compares what is served with its Descriptor, and keeps its addresses true
    signals        SIGTERM and SIGINT stop, SIGHUP reloads; a second SIGTERM or SIGINT stops at once
    watchdog       tells systemd that the loop still turns

The invariant: what is answered is a snapshot of a version that is on the disk. A publish runs in a worker thread, one
at a time; when its transaction is committed, and not before, the snapshot is swapped in the loop.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version

import structlog
import trio

from descriptor.checker import Finding
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp
from entryway.door import Door, Keep
from entryway.events import Feed
from entryway.precedence import Precedence
from entryway.protections import AddressLimits
from entryway.registry import Registry
from entryway.requests import Means
from entryway.roster import enforced
from entryway.routes import Entryway
from entryway.server import Server
from entryway.snapshot import Damaged, NonePublished, Published, Snapshot, card_representation, published
from node.addresses import listen, urls
from node.archive import KnockKeeper, StoreArchive, StoreKept, load_snapshot
from node.bounds import feed_limits, follow_limits, knock_limits, registry_limits, server_limits
from node.control import control_listener, control_router, remove_socket
from node.errors import NodeError
from node.following import Following, follow_document
from node.handlers.behind import Behind
from node.handlers.settings import Served
from node.home import Home
from node.identity import Keys
from node.job_rows import interrupt_jobs
from node.jobs import Workshop
from node.offered import Offered
from node.open_files import allow_open_files
from node.projecting import Projector, check_served, serving_at
from node.publisher import Outcome, Publisher, terms_of, with_terms
from node.roster import RosterKeeper
from node.senders import KeptSenders
from node.settings import Settings, changed, served_of
from node.systemd import Notifier, watchdog_interval
from node.vicinity import PRIVATE, Vicinity
from store import Reader, Store

ADDRESSES_RECHECK = 30.0  # seconds: a lease, a cable or a network may have changed

log = structlog.get_logger("node")

ENFORCED = "enforced"


@dataclass(frozen=True)
class Settled:
    """What a daemon is started with. `load_settings` reads them anew; `apply_log` puts the log settings in force.

    `on_ready` is told the URLs once the node answers.
    """

    home: Home
    keys: Keys
    settings: Settings
    load_settings: Callable[[], Settings]
    apply_log: Callable[[Settings], None]
    on_ready: Callable[[Sequence[str]], None]
    environ: Mapping[str, str]


class Daemon:
    """One node, from start to stop. The home is locked by the caller."""

    def __init__(self, settled: Settled) -> None:
        self._settled = settled
        self._settings = settled.settings
        self._started = time.monotonic()
        self._notifier = Notifier.from_environ(settled.environ)
        self._writing = trio.CapacityLimiter(1)
        self._served_anew = trio.Event()
        self._listeners: list[socket.socket] = []

    async def run(self) -> None:
        """Runs until a signal stops it. Raises NodeError and StoreError for what keeps it from starting."""
        home, identity = self._settled.home, self._settled.keys.identity
        limits = self._settings.limits
        allow_open_files(limits)
        with (
            Store.open(home.database) as store,
            Reader.open(home.database) as writers_reader,
            Reader.open(home.database) as reader,
            ExitStack() as opened,
        ):
            terms = terms_of(self._settled.keys, self._settings)
            self._publisher = Publisher(store, writers_reader, terms, limits, time.time, served_of(self._settings))
            self._roster = RosterKeeper(store, writers_reader, identity, time.time)
            archive = StoreArchive(reader, identity.id, others=self._settings.registry.registry)
            keep = KnockKeeper(store, self._writing).keep
            self._kept = StoreKept(store, archive, self._writing)
            self._following = Following(self._kept, time.time, follow_limits(self._settings.following))
            interrupted = interrupt_jobs(store, time.time())
            if interrupted:
                log.warning("jobs_interrupted", count=interrupted)
            behind = Behind(home, self._settled.environ)
            offered = Offered(lambda: self._entryway.snapshot)
            self._workshop = Workshop(
                self._kept, behind, offered.find, time.time, self._settings.handlers, self._settings.jobs
            )
            precedence = Precedence(self._workshop.busy)
            self._feed = Feed(archive, self._current_digest, head=reader.last_event_seq(), limits=feed_limits(limits))
            self._registry = (
                Registry(identity.id, self._kept, time.time, registry_limits(self._settings.registry))
                if self._settings.registry.registry
                else None
            )
            self._listeners = listeners = [
                opened.enter_context(listener)
                for listener in listen(self._settings.http.host, self._settings.http.port)
            ]
            self._projector = Projector(identity, lambda: serving_at(self._urls(), self._settings.http.public_url))
            self._entryway = Entryway(
                identity,
                archive,
                time.time,
                snapshot=load_snapshot(reader, identity.id, self._projector.card),
                door=self._door(reader, keep),
                feed=self._feed,
                body_limit=limits.entryway_body,
                request_limit=limits.request_body,
                registry=self._registry,
                means=Means(self._settled.keys.sealing, KeptSenders(archive), self._workshop, precedence),
            )
            self._addresses = AddressLimits(
                limits.answers_per_second,
                limits.answers_burst,
                limits.connections_per_address,
                limit_loopback=limits.limit_loopback,
            )
            self._server = Server(self._entryway.router, server_limits(limits), self._addresses, precedence)
            self._control = Server(control_router(self), server_limits(limits))
            control = opened.enter_context(control_listener(home))
            self._socket = home.socket.stat().st_ino
            opened.callback(remove_socket, home, self._socket)
            self._entryway.private = self._settings.discovery.visibility == PRIVATE
            self._vicinity = Vicinity(
                identity.id,
                self._settings,
                listeners,
                reader.peers(),
                self._kept.write,
                time.time,
                self._following.hint,
            )
            async with behind, trio.open_nursery() as nursery:
                await nursery.start(self._heed_signals, nursery.cancel_scope)
                nursery.start_soon(self._tell_watchdog)
                nursery.start_soon(archive.run)
                nursery.start_soon(self._feed.run)
                nursery.start_soon(self._following.run)
                nursery.start_soon(self._keep_projections)
                nursery.start_soon(self._say_unapplied)
                async with trio.open_nursery() as serving:
                    await serving.start(self._workshop.run)
                    await serving.start(self._server.serve, listeners)
                    await serving.start(self._control.serve, [control])
                    self._announce_ready()
                    self._vicinity.announce(self._entryway.snapshot)
                    nursery.start_soon(self._vicinity.run)
                nursery.cancel_scope.cancel()
        log.info("stopped", id=identity.id)

    # What the control socket operates.

    def status(self) -> dict[str, object]:
        """What the node is and how it fares."""
        snapshot = self._entryway.snapshot
        descriptor = snapshot.descriptor if isinstance(snapshot, Published) else None
        return {
            "id": self._settled.keys.identity.id,
            "handle": descriptor.handle if descriptor else self._settings.agent.handle,
            "state": "published" if descriptor else "damaged" if isinstance(snapshot, Damaged) else "none-published",
            "digest": snapshot.digest if isinstance(snapshot, Damaged) else descriptor and descriptor.digest,
            "agent_version": descriptor and descriptor.agent_version,
            "published_at": format_timestamp(snapshot.published_at) if isinstance(snapshot, Published) else None,
            "urls": self._urls(),
            "uptime_seconds": round(time.monotonic() - self._started, 1),
            "connections": len(self._server.connections),
            "roster": self._roster_state,
            "knocks": len(self._entryway.door.waiting(time.time())),
            "subscribers": self._feed.listening,
            "follows": self._following.document(),
            "jobs": self._workshop.status(),
            "peers": self._vicinity.verified,
            "discovery": self._vicinity.status(),
            "answers": sum(self._entryway.router.answered.values()),
            "pid": os.getpid(),
            "program_version": version("agent-node"),
        }

    async def metrics(self) -> tuple[str, bytes]:
        """The metrics page, made in a worker thread: the first look also imports what makes it."""
        snapshot = self._entryway.snapshot
        info = {"id": self._settled.keys.identity.id}
        if isinstance(snapshot, Published):
            info |= {"digest": snapshot.descriptor.digest, "agent_version": snapshot.descriptor.agent_version or ""}
        values = {
            "connections": len(self._server.connections),
            "subscribers": self._feed.listening,
            "subscribers_cut_total": self._feed.cut,
            "connections_refused_total": self._server.refused_connections,
            "uptime_seconds": time.monotonic() - self._started,
            "tasks": trio.lowlevel.current_statistics().tasks_living,
        }
        return await trio.to_thread.run_sync(_render_metrics, Counter(self._entryway.router.answered), values, info)

    async def publish(self, data: bytes, respell: bool, acts_for: str | None, name: str | None) -> Outcome:
        """Publishes, and answers with the new version from then on. Raises DescriptorError and StoreError."""
        terms = with_terms(self._publisher.terms, acts_for, name)
        return await self._changing(lambda: self._publisher.publish(data, respell=respell, terms=terms))

    async def rollback(self, digest: str, agent_version: str) -> Outcome:
        """Publishes an older version's content again. Raises NodeError, DescriptorError and StoreError."""
        return await self._changing(lambda: self._publisher.rollback(digest, agent_version))

    def card(self) -> bytes:
        """The A2A card as it is served, to whomever. Raises NodeError NOT_PUBLISHED."""
        snapshot = self._entryway.snapshot
        if not isinstance(snapshot, Published):
            raise NodeError("NOT_PUBLISHED", "The node serves no card: no version that can be read is published.")
        return snapshot.card.full.body

    async def change_roster(self, change: Mapping[str, JsonValue]) -> Mapping[str, object]:
        """Changes the roster, and goes by it from then on. Raises NodeError, DescriptorError and StoreError."""
        async with self._writing:
            changed_roster = await trio.to_thread.run_sync(self._roster.change, change)
            self._entryway.door.policy = changed_roster.policy
            if changed_roster.admitted is not None:
                self._entryway.door.forget(changed_roster.admitted)
            self._roster_state = ENFORCED
        log.info("roster_changed", act=change.get("act"), subject=change.get("subject"))
        return changed_roster.document

    def peers(self, since: int | None) -> Mapping[str, object]:
        """The peers, and a number that counts their changes; only the number when it is `since` still."""
        return self._vicinity.peers(since)

    def forget_peer(self, agent_id: str) -> bool:
        """Forgets a peer, and the handle that is pinned to it; False when it is not known."""
        return self._vicinity.forget(agent_id)

    async def follow(self, agent_id: str, url: str) -> Mapping[str, object]:
        """Follows an agent from now on, wherever it was found. Raises NodeError and StoreError."""
        if agent_id == self._settled.keys.identity.id:
            raise NodeError("INPUT_INVALID", "That is this node's own agent, which does not follow itself.")
        return follow_document(await self._following.add(agent_id, url), state="connecting", reason="")

    async def unfollow(self, agent_id: str) -> bool:
        """Follows an agent no more; False when it was not followed. Raises StoreError."""
        return await self._following.drop(agent_id)

    def follows(self) -> Sequence[Mapping[str, object]]:
        """What is followed, and how it fares."""
        return self._following.document()

    async def cancel_job(self, task_id: str) -> bool:
        """Ends a job; False when none of that id has yet to end."""
        return await self._workshop.cancel_any(task_id)

    def reload(self) -> dict[str, list[str]]:
        """Takes the settings anew. Raises NodeError, and then nothing has changed."""
        settings = self._settled.load_settings()
        taken, waiting = changed(self._settings, settings)
        self._publisher.terms = terms_of(self._settled.keys, settings)
        self._publisher.limits = settings.limits
        self._publisher.served = served_of(settings)
        self._workshop.handlers, self._workshop.settings = settings.handlers, settings.jobs
        self._entryway.router.limit_bodies(settings.limits.entryway_body, requests=settings.limits.request_body)
        self._settled.apply_log(settings)
        limits = settings.limits
        self._entryway.door.limits = knock_limits(limits)
        allow_open_files(limits)
        self._server.limits = self._control.limits = server_limits(limits)
        self._feed.limits = feed_limits(limits)
        self._following.limits = follow_limits(settings.following)
        if self._registry is not None:
            self._registry.limits = registry_limits(settings.registry)
        self._addresses.change(
            limits.answers_per_second,
            limits.answers_burst,
            limits.connections_per_address,
            limit_loopback=limits.limit_loopback,
        )
        self._settings = settings
        self._entryway.private = settings.discovery.visibility == PRIVATE
        self._vicinity.take(settings)
        self._vicinity.announce(self._entryway.snapshot)
        self._served_anew.set()
        log.info("settings_reloaded", taken=taken, need_restart=waiting)
        return {"taken": taken, "need_restart": waiting}

    def _urls(self) -> list[str]:
        """The base URLs that the node is reached under just now."""
        return urls(self._listeners)

    def _current_digest(self) -> str | None:
        snapshot = self._entryway.snapshot
        return snapshot.descriptor.digest if isinstance(snapshot, Published) else None

    async def _changing(self, act: Callable[[], Outcome]) -> Outcome:
        # The lock spans the swap, so that two publishes are answered in the order in which they were committed.
        async with self._writing:
            # One trip to the worker thread: between the commit and the swap nothing may be given up.
            outcome, card = await trio.to_thread.run_sync(self._done, act)
            if card is not None:
                self._entryway.snapshot = published(outcome.descriptor, outcome.seq, outcome.published_at, card)
                self._vicinity.announce(self._entryway.snapshot)
                self._served_anew.set()
            if outcome.event is not None:
                self._feed.announce(outcome.event)
        if outcome.changed:
            log.info(
                "published",
                digest=outcome.descriptor.digest,
                agent_version=outcome.descriptor.agent_version,
                previous_digest=outcome.previous_digest,
            )
        return outcome

    def _done(self, act: Callable[[], Outcome]) -> tuple[Outcome, bytes | None]:
        """Does it, and makes the card of what is answered with from then on; None where that stays as it was."""
        outcome = act()
        anew = outcome.changed or (outcome.current and isinstance(self._entryway.snapshot, Damaged))
        return outcome, self._projector.card(outcome.descriptor) if anew else None

    async def _keep_projections(self) -> None:
        """Compares what is served with its Descriptor, and makes it anew whenever the node is served otherwise."""
        checked: Snapshot | None = None
        while True:
            if checked is not self._entryway.snapshot:
                checked = self._entryway.snapshot
                await trio.to_thread.run_sync(check_served, checked)
            with trio.move_on_after(ADDRESSES_RECHECK):
                await self._served_anew.wait()
            self._served_anew = trio.Event()
            async with self._writing:
                snapshot = self._entryway.snapshot
                if isinstance(snapshot, Published) and self._projector.is_stale():
                    card = await trio.to_thread.run_sync(self._projector.card, snapshot.descriptor)
                    self._entryway.snapshot = replace(snapshot, card=card_representation(card))
                    log.info("card_made_anew", digest=snapshot.descriptor.digest)

    def _door(self, reader: Reader, keep: Keep) -> Door:
        """The door as the roster that is kept has it. One that is not enforced is said loudly, and is not gone by."""
        owner = self._settled.keys.identity.id
        document = reader.roster(owner)
        found = enforced(document, owner)
        self._roster_state = ENFORCED if document is not None else "none: the conservative defaults hold"
        if found.problem is not None:
            self._roster_state = f"not enforced, the conservative defaults hold: {found.problem}"
            log.error("roster_not_enforced", reason=found.problem, remedy="agent-node roster import FILE")
        return Door(found.policy, reader.knocks(), keep, knock_limits(self._settings.limits))

    def _announce_ready(self) -> None:
        snapshot = self._entryway.snapshot
        digest = snapshot.descriptor.digest if isinstance(snapshot, Published) else None
        log.info("ready", id=self._settled.keys.identity.id, url=self._urls()[0], digest=digest)
        if isinstance(snapshot, NonePublished):
            log.warning("nothing_published", remedy="agent-node publish FILE")
        self._notifier.ready(f"listening on {self._urls()[0]}")
        self._settled.on_ready(self._urls())

    async def _heed_signals(
        self, scope: trio.CancelScope, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            task_status.started()
            async for number in signals:
                if number == signal.SIGHUP:
                    self._reload_on_signal()
                elif self._server.stopping.is_set():
                    scope.cancel()
                else:
                    log.info("stopping", signal=signal.Signals(number).name)
                    self._notifier.stopping()
                    self._vicinity.leave()
                    self._workshop.stop()
                    self._server.stopping.set()
                    self._control.stopping.set()
                    # Whoever comes now would wait for an answer that nobody gives any more.
                    remove_socket(self._settled.home, self._socket)

    async def _say_unapplied(self) -> None:
        """Says in the log what is promised and not applied; a handler may be taken out after a publish."""
        snapshot, served = self._entryway.snapshot, served_of(self._settings)
        if isinstance(snapshot, Published) and served.handlers:
            for finding in await trio.to_thread.run_sync(_unapplied, snapshot.descriptor, served):
                log.warning("promise_not_applied", rule=finding.rule, pointer=finding.pointer, reason=finding.message)

    def _reload_on_signal(self) -> None:
        self._notifier.reloading()
        try:
            self.reload()
        except (NodeError, DescriptorError) as error:
            log.error("settings_kept", code=error.code, reason=error.message)
        self._notifier.ready(f"listening on {self._urls()[0]}")

    async def _tell_watchdog(self) -> None:
        interval = watchdog_interval(self._settled.environ)
        while interval is not None:
            self._notifier.watchdog()
            await trio.sleep(interval)


def _unapplied(descriptor: Descriptor, served: Served) -> Sequence[Finding]:
    from node.promises import unapplied  # noqa: PLC0415  # loads the reader of Descriptors

    return unapplied(descriptor.members, served)


def _render_metrics(
    answered: Counter[tuple[str, int]], values: dict[str, float], info: dict[str, str]
) -> tuple[str, bytes]:
    # A node that nobody measures does not carry the library in memory.
    from node.metrics import CONTENT_TYPE, render  # noqa: PLC0415  # imported when somebody first looks

    return CONTENT_TYPE, render(answered, values, info)
