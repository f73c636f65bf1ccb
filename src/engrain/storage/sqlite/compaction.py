"""Compaction of a file: merge its keyword index, vacuum it, and update the planner's statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.runs.jobs import Compaction
from engrain.storage.sqlite import health

if TYPE_CHECKING:
    from engrain.storage.sqlite.connections import Connections

# Copying a file costs its whole size twice, in the log and back; empty pages are used again anyway.
_EMPTY_SHARE, _EMPTY_PAGES = 0.25, 256


def compact(connections: Connections) -> Compaction:
    """Merge the words' index, copy the file where a quarter of it is empty, look at the tables anew."""
    with connections.reading() as db:
        before = health.count_rows(db, "size")
    connections.merge_removed_words()
    connections.merge_words()
    with connections.compacting() as db:
        pages, empty = db.pragma("page_count"), db.pragma("freelist_count")
        if empty > max(_EMPTY_PAGES, pages * _EMPTY_SHARE):
            db.execute("VACUUM")
        db.execute("PRAGMA optimize")
    with connections.reading() as db:
        return Compaction(bytes_before=before, bytes_after=health.count_rows(db, "size"))
