"""The settings as each part takes them: one function a part, and nothing decided."""

from __future__ import annotations

from entryway.door import KnockLimits
from entryway.events import FeedLimits
from entryway.registry import RegistryLimits
from entryway.server import ServerLimits
from node.following import FollowLimits
from node.settings import FollowingLimits, Limits, RegistryRole


def knock_limits(limits: Limits) -> KnockLimits:
    """The settings as the door takes them."""
    return KnockLimits(limits.knock_wait, limits.knocks_per_day)


def follow_limits(limits: FollowingLimits) -> FollowLimits:
    """The settings as those who follow take them."""
    return FollowLimits(versions=limits.followed_versions, bytes=limits.followed_bytes)


def registry_limits(role: RegistryRole) -> RegistryLimits:
    """The settings as the registry takes them."""
    return RegistryLimits(
        versions_of_subject=role.registry_versions,
        bytes=role.registry_bytes,
        puts_per_hour=role.registry_puts_per_hour,
    )


def feed_limits(limits: Limits) -> FeedLimits:
    """The settings as the event feed takes them."""
    return FeedLimits(
        subscribers=limits.subscribers,
        subscribers_per_address=limits.subscribers_per_address,
        write_wait=limits.write_wait,
    )


def server_limits(limits: Limits) -> ServerLimits:
    """The settings as the server takes them."""
    return ServerLimits(
        limits.header_block,
        limits.header_wait,
        limits.body_wait,
        limits.idle_wait,
        limits.write_wait,
        limits.drain_wait,
        limits.connections,
    )
