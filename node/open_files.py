"""How many files this process may have open: each connection and each subscriber is one.

The limit that shells and service managers hand on is often 1,024, kept that low for programs that use `select`. This
one does not, so it takes what it is allowed to take.
"""

from __future__ import annotations

import resource

import structlog

from node.settings import Limits

OWN = 128  # files beside those of callers: the store, the log, listeners, what is asked of others

log = structlog.get_logger("node")


def allow_open_files(limits: Limits) -> None:
    """Raises the soft limit as far as `limits` need and the hard one allows; says so where that is not far enough."""
    needed = limits.connections + limits.subscribers + OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    if soft != resource.RLIM_INFINITY and soft < needed:
        log.warning(
            "open_files_too_few",
            allowed=soft,
            needed=needed,
            remedy="raise the limit (ulimit -n, LimitNOFILE), or lower connections and subscribers",
        )
