"""The disk: digest-addressed artifacts, the history of each subject, the event log, in one SQLite file.

Nothing outside this room writes SQL or meets a `sqlite3.Error`.
"""

from store.backup import backup
from store.errors import StoreError
from store.reader import Reader
from store.records import (
    Copy,
    Counts,
    Event,
    Follow,
    Job,
    Knock,
    Peer,
    Problem,
    Publication,
    Reported,
    Standing,
    Version,
)
from store.writer import DESCRIPTOR_REPLACED, Store

__all__ = [
    "DESCRIPTOR_REPLACED",
    "Copy",
    "Counts",
    "Event",
    "Follow",
    "Job",
    "Knock",
    "Peer",
    "Problem",
    "Publication",
    "Reader",
    "Reported",
    "Standing",
    "Store",
    "StoreError",
    "Version",
    "backup",
]
