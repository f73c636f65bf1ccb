"""Word cache of a process: the posting lists of namespaces that are searched again and again, as columns."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from engrain.domain.text.indexing import NEIGHBOURS
from engrain.storage.search.word_columns import WordColumns, build_columns, merge_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engrain.storage.search.namespaces import Namespace, SearchSpace
    from engrain.storage.unit_of_work import Snapshot

# Reading a namespace takes what its columns spare in so many searches, and in one more for this many memories.
FEWEST_SEARCHES: Final = 4
_MEMORIES_A_SEARCH: Final = 8_000
# A search reads so many of them at most, which takes a twentieth of a second.
READ_AT_ONCE: Final = 20_000
# What came since is columns of its own once it has so many memories; so many columns of like size become one, which
# takes 30 ms for this many memories, and leaves some 8 bytes a word of theirs to the allocator.
_FEWEST_MERGED: Final = 256
_MERGED_AT_ONCE: Final = 4
_LARGEST_MERGED: Final = 20_000
_BYTES_A_MEMORY: Final = 400
# Of an allowance in bytes for vectors, the share of words.
SHARE_OF_WORDS: Final = 8


@dataclass(slots=True)
class _CachedNamespace:
    """One namespace: its columns where it has been searched often enough, and the state of the file they hold.

    `old` hold the memories up to one doc, and all once they are whole; `new` holds what has changed since.
    """

    searches: int = 0
    old: list[WordColumns] = field(default_factory=list)
    new: WordColumns | None = None
    read_to: int = 0
    is_whole: bool = False
    indexed: int = 0  # the last doc whose words, and those it lent to its neighbours, they hold
    rewrites: int = 0  # of its words, so far
    nbytes: int = 0  # as counted in the cache

    @property
    def columns(self) -> list[WordColumns]:
        return self.old if self.new is None else [*self.old, self.new]

    def take(self, rows: Sequence[tuple[int, int, int, bytes]]) -> None:
        """Take newer words of memories that were read before."""
        if not rows:
            return
        newer = build_columns(rows)
        self.old = [part.without(newer.docs) for part in self.old]
        self.new = newer if self.new is None else merge_columns([self.new.without(newer.docs), newer])
        if len(self.new.docs) > _FEWEST_MERGED:
            newer, self.new = self.new, None
            self.add(newer)

    def add(self, newer: WordColumns) -> None:
        """Add columns behind the others."""
        self.old = [*self.old, newer]
        while len(self.old) >= _MERGED_AT_ONCE:
            sizes = [len(part.docs) for part in self.old[-_MERGED_AT_ONCE:]]
            if sizes[0] > 2 * sizes[-1] or sum(sizes) > _LARGEST_MERGED:
                break
            self.old = [*self.old[:-_MERGED_AT_ONCE], merge_columns(self.old[-_MERGED_AT_ONCE:])]


class WordCache:
    """Posting lists of namespaces of a file that any number of processes write, brought up to date before a search.

    New memories change the words of their own and of their neighbours: these are read again. Whatever else changes
    words takes a number of the namespace (`rewrites`), and its columns go. Beyond `most_bytes` the least used leave.
    Thread-safe.
    """

    def __init__(
        self, most_bytes: int, *, fewest_searches: int = FEWEST_SEARCHES, read_at_once: int = READ_AT_ONCE
    ) -> None:
        self._fewest_searches = fewest_searches
        self._read_at_once = read_at_once
        self._lock = threading.Lock()
        self._most_bytes = most_bytes
        self.nbytes = 0  # held by the columns
        self._namespaces: OrderedDict[int, _CachedNamespace] = OrderedDict()

    def find(self, tx: Snapshot, where: SearchSpace) -> list[WordColumns] | None:
        """Return the columns of all namespaces of a search; None where the index is to be asked."""
        if where.memories * _BYTES_A_MEMORY > self._most_bytes:
            return None
        with self._lock:
            found = [self._catch_up(tx, where, space) for space in where.spaces if space.memories]
            while self.nbytes > self._most_bytes and self._namespaces:
                _, gone = self._namespaces.popitem(last=False)
                self.nbytes -= gone.nbytes
        columns = [part for parts in found if parts is not None for part in parts]
        return None if None in found else columns

    def _catch_up(self, tx: Snapshot, where: SearchSpace, space: Namespace) -> list[WordColumns] | None:
        """The columns of a namespace as the searcher's own view of the file has it; None where they are not whole."""
        seen = self._namespaces.get(space.number)
        if seen is None or seen.rewrites < space.rewrites:
            self.nbytes -= 0 if seen is None else seen.nbytes
            seen = self._namespaces[space.number] = _CachedNamespace(rewrites=space.rewrites)
        self._namespaces.move_to_end(space.number)
        if seen.rewrites > space.rewrites or seen.indexed > where.indexed:  # an older view than another thread's
            return None
        if seen.is_whole and seen.indexed == where.indexed:
            return seen.columns
        seen.searches += 1
        if seen.searches < self._fewest_searches + space.memories // _MEMORIES_A_SEARCH:
            return None
        if seen.read_to and seen.indexed < where.indexed:
            changed = _read(tx, "words_since", space, seen=seen.indexed, reach=NEIGHBOURS)
            seen.take([row for row in changed if seen.is_whole or row[0] <= seen.read_to])
        seen.indexed = where.indexed
        if not seen.is_whole:
            rows = _read(tx, "words_of_namespace", space, first=seen.read_to, limit=self._read_at_once)
            seen.is_whole = 0 < len(rows) < self._read_at_once or bool(not rows and seen.read_to)
            if rows:
                seen.add(build_columns(rows))
                seen.read_to = rows[-1][0]
        self.nbytes -= seen.nbytes
        seen.nbytes = sum(part.nbytes for part in seen.columns)
        self.nbytes += seen.nbytes
        return seen.columns if seen.is_whole else None


def _read(tx: Snapshot, name: str, space: Namespace, **more: int) -> list[tuple[int, int, int, bytes]]:
    """Read the counts of words of a namespace's memories, by doc."""
    bound = {"tenant_id": tx.tenant_id, "scope": space.scope, "namespace": space.number}
    return [(doc, own, near, packed) for doc, own, near, packed in tx.rows(name, **bound, **more)]
