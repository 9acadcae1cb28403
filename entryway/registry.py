"""The registry role: keeping what other agents hand over, and serving it.

What comes is believed for what its subject signed, and is judged as any registry must (`descriptor.intake`). Anybody
may bring anybody's Descriptor, so what is brought again changes nothing: a version that is known stays where it stands,
and an older `agent_version` than the current one is kept by its digest and does not become current. That is decided in
the transaction that keeps it: of two that come at once, each is judged by what the other has made of the history.

    known digest                          200, nothing changes
    later agent_version, or the first     201, current
    the same agent_version, other bytes   201, current: its subject signed both, and this one is new here
    older agent_version                   201, kept, not current

Source: binding 8; chapter 6.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import unquote

import structlog
import trio

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.intake import intake
from descriptor.keys import decode_public
from descriptor.timestamps import format_timestamp
from descriptor.versions import compare
from entryway.errors import EntrywayError
from entryway.http import Request, Response, json_body, response
from entryway.paging import page_of
from entryway.protections import HourlyCounts
from entryway.router import CORS, EXPOSED, NO_STORE, PLAIN_TYPE
from entryway.snapshot import full, matches, not_modified, validators
from store import Copy, Reader, Standing, Store, StoreError, Version

PATH = b"/registry"
PREFIX = b"/registry/"
VERSIONS = "/versions"
MOST_FINDINGS = 20  # told to whoever handed something over
JSON_HEADERS = (("Content-Type", "application/json"), PLAIN_TYPE, NO_STORE, CORS, EXPOSED)

Value = TypeVar("Value")

log = structlog.get_logger("registry")


class Shelf(Protocol):
    """The store, read and written elsewhere than in the loop. Reads raise EntrywayError AGENT_UNAVAILABLE."""

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        """Reads."""

    async def write(self, act: Callable[[Store], Value]) -> Value:
        """Writes, when it is this one's turn. Raises StoreError."""


@dataclass(frozen=True, slots=True)
class RegistryLimits:
    """Versions kept of one subject, bytes kept of all but the node's own, and what one address hands over an hour."""

    versions_of_subject: int
    bytes: int
    puts_per_hour: int


def becomes_current(agent_version: str, current_version: str | None) -> bool:
    """Whether a version that is new here becomes current: unless it is older than the current one, `None` for none.

    By the natural order, as the registry does not know which one its operator chose. What cannot be ordered is new.
    """
    if current_version is None:
        return True
    try:
        return compare(agent_version, current_version, "natural") >= 0
    except DescriptorError:
        return True


class Registry:
    """The two routes of the role."""

    def __init__(self, own_id: str, shelf: Shelf, clock: Callable[[], float], limits: RegistryLimits) -> None:
        self.limits = limits
        self._own_id = own_id
        self._shelf = shelf
        self._clock = clock
        self._puts = HourlyCounts()
        self._apart = trio.CapacityLimiter(1)

    async def put(self, request: Request) -> Response:
        """Takes a Descriptor, or says by which rules it is not taken."""
        self._count(request.peer)
        # A document of 1 MiB is checked for a third of a second, which everybody else would wait for.
        taken = await trio.to_thread.run_sync(intake, request.body, limiter=self._apart)
        descriptor = taken.descriptor
        if descriptor is None or descriptor.subject_id is None or descriptor.agent_version is None:
            findings = [
                {"pointer": one.pointer, "rule": one.rule, "message": one.message}
                for one in taken.refusals[:MOST_FINDINGS]
            ]
            raise EntrywayError(
                "DESCRIPTOR_REFUSED",
                "A registry does not keep this document. Mend what `findings` tells, and hand it over again.",
                {"findings": findings},
            )
        subject = descriptor.subject_id
        if subject == self._own_id:
            raise EntrywayError(
                "INPUT_INVALID",
                "This is the node's own agent, which is not registered here but published. Hand over another.",
            )
        return await self._keep(descriptor, subject, descriptor.agent_version)

    async def _keep(self, descriptor: Descriptor, subject: str, agent_version: str) -> Response:
        copy = Copy(descriptor.data, descriptor.digest, agent_version, round(self._clock(), 3))
        # What others bring meanwhile is not in it: the disk is bounded, and not to the byte.
        kept = await self._shelf.read(lambda reader: reader.size_of_others(self._own_id))

        def is_current(standing: Standing) -> bool:
            if standing.kept:
                return False
            if standing.versions >= self.limits.versions_of_subject:
                raise EntrywayError(
                    "REGISTRY_FULL",
                    "As many versions of this subject are kept as this registry keeps. Use another registry.",
                )
            if kept + len(copy.data) > self.limits.bytes:
                raise EntrywayError(
                    "REGISTRY_FULL", "This registry keeps as many bytes as it may. Use another, or ask its operator."
                )
            return becomes_current(agent_version, standing.current_version)

        try:
            before = await self._shelf.write(lambda store: store.keep(subject, copy, current=is_current))
        except StoreError as error:
            log.error("descriptor_not_kept", code=error.code, reason=error.message)
            raise EntrywayError(
                "AGENT_UNAVAILABLE", "The Descriptor could not be kept just now. Hand it over again later."
            ) from error
        if before.kept:
            return _taken(200, descriptor, subject, agent_version, current=before.current_digest == descriptor.digest)
        new = becomes_current(agent_version, before.current_version)
        return _taken(201, descriptor, subject, agent_version, current=new)

    async def get(self, request: Request) -> Response:
        """The current Descriptor of a subject, or its history."""
        named = unquote(request.path.removeprefix(PREFIX).decode("latin-1"))
        subject = named.removesuffix(VERSIONS)
        try:
            decode_public(subject)
        except DescriptorError as error:
            raise EntrywayError(
                "NOT_FOUND", f"No subject is named here. {error.message} Name an agent by its id."
            ) from None
        if named.endswith(VERSIONS):
            return await self._history(subject, request)
        current = await self._shelf.read(lambda reader: reader.current(subject))
        data = None if current is None else await self._shelf.read(lambda reader: reader.artifact(current.digest))
        if current is None or data is None:
            raise EntrywayError(
                "NOT_FOUND", "Nothing is registered of this subject. Hand its Descriptor over with PUT."
            )
        fields = validators(current.digest, "no-cache")
        return (
            not_modified(fields)
            if matches(request.headers.get(b"if-none-match"), current.digest)
            else full(data, fields)
        )

    async def _history(self, subject: str, request: Request) -> Response:
        limit, before = page_of(request)
        versions, following = await self._shelf.read(lambda reader: reader.history(subject, limit, before))
        return response(200, JSON_HEADERS, json_body({"versions": list(map(listed, versions)), "next": following}))

    def _count(self, key: str | None) -> None:
        """Raises EntrywayError RATE_LIMITED when an address hands over more than it may."""
        wait = 0.0 if key is None else self._puts.take(key, self._clock(), self.limits.puts_per_hour)
        if wait:
            seconds = (("Retry-After", str(math.ceil(wait))),)
            raise EntrywayError(
                "RATE_LIMITED",
                f"Your address hands over more than is taken in an hour. Come back in {math.ceil(wait)} seconds.",
                headers=seconds,
            )


def _taken(status: int, descriptor: Descriptor, subject: str, agent_version: str, *, current: bool) -> Response:
    kept = {"subject": subject, "digest": descriptor.digest, "agent_version": agent_version, "current": current}
    return response(status, JSON_HEADERS, json_body(kept))


def listed(version: Version) -> dict[str, object]:
    """A version in a history. Source: binding 3."""
    return {
        "digest": version.digest,
        "agent_version": version.agent_version,
        "published_at": format_timestamp(version.published_at),
        "size": version.size,
        "current": version.current,
    }
