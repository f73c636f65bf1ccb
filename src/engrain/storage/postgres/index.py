"""Search index in PostgreSQL: every memory's entry, its words and its neighbours'.

All of it is written with the memory, in one transaction: nothing is left for later. The keyword index has the words of
large namespaces alone, as the others are read whole: the write that makes a namespace a large one adds all its words.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from engrain.domain.records import Episode, Kind, MemoryRecord
from engrain.domain.text import bm25
from engrain.domain.text.indexing import find_expiry, has_foreign_words, is_searched, own_terms
from engrain.storage.dialects import as_json
from engrain.storage.search.lent_words import StoredWords, join_words
from engrain.storage.search.neighbour_words import Words, WordsAround, find_lent, load_words_around

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from engrain.storage.postgres.table_maintenance import PlannerStatistics
    from engrain.storage.search.index import StoredTurns
    from engrain.storage.transaction import Transaction

# Up to so many memories, reading the words of all takes less than finding out which are worth it.
READ_ALL = 1_000
_WAITS, _GONE = 1, 3
_NAMESPACE_BYTES, _MOST_NUMBERS = 5, 20
_DOC_BYTES = 8
_PAGE = 1_000


class PostgresIndex:
    """Implements `SearchIndex` for one unit of work; `finish` ends it."""

    defers_turns = False

    def __init__(self, growth: PlannerStatistics | None = None, *, read_all: int = READ_ALL) -> None:
        """Nothing has changed yet; `growth` is told how many memories were added.

        The words of a namespace of more than `read_all` memories are in the keyword index.
        """
        self._growth = growth
        self._read_all = read_all
        self._memories: Counter[int] = Counter()
        self._words: Counter[int] = Counter()
        self._known: dict[int, tuple[int, bool]] = {}  # memories, and whether the keyword index has their words
        self._gone: list[int] = []

    def add(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index new memories, and the turns around new ones anew."""
        if not memories:
            return
        self.index_again(tx, memories)
        if self._growth is not None:
            self._growth.note(tx, len(memories))

    def add_turns(self, tx: Transaction, stored: StoredTurns) -> None:
        """Index new turns, and those around them anew."""
        self.add(tx, stored.build())

    def index_again(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index memories, new or not, and the turns around them."""
        numbers: dict[tuple[Kind, str], int] = {}
        for memory in memories.values():
            if (memory.kind, memory.scope) not in numbers:
                numbers[memory.kind, memory.scope] = self._namespace_of(tx, memory)
        namespaces = {doc: numbers[memory.kind, memory.scope] for doc, memory in memories.items()}
        live = {doc: memory for doc, memory in memories.items() if is_searched(memory)}
        words: Words = {}
        lenders: dict[int, list[int]] = {}
        turns: dict[int, Episode] = {}
        for doc, memory in live.items():
            if isinstance(memory, Episode) and memory.session is not None:
                turns[doc] = memory
            else:
                words[doc] = ([bm25.encode(own_terms(memory))], ())
        for (_, scope, _), around in load_words_around(tx, turns.values(), at_hand=turns).items():
            namespaces |= dict.fromkeys(around.words, numbers["episode", scope])
            words |= around.words
            lenders |= around.lenders
        ends = {doc: find_expiry(memory) for doc, memory in live.items()}
        tenant_id = next(iter(memories.values())).tenant_id
        self._write_entries(tx, namespaces, WordsAround(words, lenders), tenant_id=tenant_id, ends=ends)

    def add_later(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index new memories: nothing is left for later."""
        self.add(tx, memories)

    def is_stale(self, memory: MemoryRecord) -> bool:
        """True for turns, too: they were stored with the words of their neighbours."""
        return isinstance(memory, Episode) or has_foreign_words(memory)

    def is_out(self, tx: Transaction, doc: int) -> bool:
        """Tell whether a memory is out of the searches already."""
        return tx.one("is_out", doc=doc) is not None

    def take_out(
        self, tx: Transaction, tenant_id: str, docs: Sequence[int], *, turns: Sequence[Episode] = (), at: datetime
    ) -> None:
        """Take memories out of the searches; their vectors stay, and their neighbours forget their words."""
        named = {"tenant_id": tenant_id, "docs": list(docs)}
        before = tx.rows("take_out", **named)
        if not before:
            return
        self._gone += docs
        tx.run("take_out_vectors", **named)
        for namespace, memories, words in before:
            self._memories[namespace] -= memories
            self._words[namespace] -= words
        first_of = {turn.scope: turn for turn in turns}
        numbers = {scope: self._namespace_of(tx, turn) for scope, turn in first_of.items()}
        namespaces: dict[int, int] = {}
        near = WordsAround({}, {})
        for (_, scope, _), around in load_words_around(tx, turns, at_hand={}, now=at).items():
            namespaces |= dict.fromkeys(around.words, numbers[scope])
            near.words.update(around.words)
            near.lenders.update(around.lenders)
        self._write_entries(tx, namespaces, near, tenant_id=tenant_id, ends={})

    def put_back(self, tx: Transaction, doc: int, memory: MemoryRecord) -> None:
        """Give a fact that left the searches its place there again, with the vector it had."""
        self.add(tx, {doc: memory})
        named = {"tenant_id": memory.tenant_id, "doc": doc}
        tx.run("put_back", **named)
        tx.run("put_back_vectors", **named)

    def erase(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord], at: datetime) -> None:
        """Take out everything that was known of memories whose rows have just gone."""
        turns = [memory for memory in memories.values() if isinstance(memory, Episode)]
        docs = list(memories)
        self.take_out(tx, tenant_id, docs, turns=turns, at=at)
        tx.run("erase_entries", tenant_id=tenant_id, docs=docs)
        tx.run("erase_vectors", tenant_id=tenant_id, docs=docs)
        sessions = sorted({(turn.scope, turn.session) for turn in turns if turn.session is not None})
        if sessions:
            tx.run("recount_turns", tenant_id=tenant_id, sessions=as_json(sessions))

    def mark(self) -> object:
        """Return the totals so far, and what has left the searches."""
        return self._memories.copy(), self._words.copy(), self._known.copy(), self._gone.copy()

    def go_back(self, mark: object) -> None:
        """Restore what a mark has."""
        assert isinstance(mark, tuple)
        self._memories, self._words, self._known, self._gone = mark

    def finish(self, tx: Transaction, tenant_id: str) -> None:
        """Bring the totals up to date: last and in one order, since all writers of a namespace meet there.

        Whoever comes second waits, and begins again where the first has made the namespace a large one. What has left
        the searches leaves the keyword index only then, as the first may have added it meanwhile.
        """
        for namespace in sorted({*self._memories, *self._words, *self._known}):
            before, has_words = self._known.get(namespace, (0, None))
            is_large = has_words is False and before + self._memories[namespace] > self._read_all
            tx.run(
                "count_words",
                tenant_id=tenant_id,
                namespace=namespace,
                memories=self._memories[namespace],
                words=self._words[namespace],
                known=has_words,
                has_words=has_words or is_large,
            )
            if is_large:
                _write_all_words(tx, tenant_id, namespace)
        if self._gone:
            tx.run("drop_words", tenant_id=tenant_id, docs=sorted(self._gone))

    def _write_entries(
        self,
        tx: Transaction,
        namespaces: Mapping[int, int],
        around: WordsAround,
        *,
        tenant_id: str,
        ends: Mapping[int, datetime | None],
    ) -> None:
        """Write the places of docs: those without words are gone, the others are indexed in place of what they were.

        A turn's own words are stored with it, and the docs of those that lend it theirs.
        """
        words, lenders = around
        docs = sorted(namespaces)
        if not docs:
            return
        stored = [(own, [find_lent(own)] if doc in lenders else ()) for doc, (own, _) in words.items()]
        packed = dict(zip(words, bm25.pack_all(stored), strict=True))
        nears = {doc: sum(len(terms.words) for terms in near) for doc, (_, near) in words.items()}
        before = tx.rows(
            "write_entries",
            tenant_id=tenant_id,
            docs=docs,
            namespaces=[namespaces[doc] for doc in docs],
            states=[_WAITS if doc in words else _GONE for doc in docs],
            ends=[ends.get(doc) for doc in docs],
            owns=[packed[doc].own if doc in packed else 0 for doc in docs],
            nears=[nears.get(doc, 0) for doc in docs],
            packed=[packed[doc].packed if doc in packed else None for doc in docs],
            lenders=[np.array(lenders[doc], ">i8").tobytes() if lenders.get(doc) else None for doc in docs],
        )
        self._gone = [doc for doc in self._gone if doc not in packed]
        for namespace in sorted({*namespaces.values()}):
            if self._known[namespace][1]:
                spelt = {doc: _glue(namespace, *words[doc]) for doc in packed if namespaces[doc] == namespace}
                _write_words(tx, tenant_id, namespace, spelt)
        for doc, indexed in packed.items():
            self._memories[namespaces[doc]] += 1
            self._words[namespaces[doc]] += indexed.own + nears[doc]
        for namespace, memories, words_before in before:
            self._memories[namespace] -= memories
            self._words[namespace] -= words_before

    def _namespace_of(self, tx: Transaction, memory: MemoryRecord) -> int:
        """Return the number of the memory's (tenant, kind, scope), reserved on first use."""
        key = {"tenant_id": memory.tenant_id, "kind": memory.kind, "scope": memory.scope}
        for attempt in range(_MOST_NUMBERS):
            found = tx.one("find_namespace", **key)
            if found is None:
                number = draw_namespace(memory.tenant_id, memory.kind, memory.scope, attempt=attempt)
                found = tx.one("add_namespace", **key, namespace=number)
            if found is not None:
                namespace, memories, has_words = found
                self._known[namespace] = memories, has_words
                return int(namespace)
        raise AssertionError(f"no number is free for {memory.kind}s of a scope")


def draw_namespace(tenant_id: str, kind: Kind, scope: str, *, attempt: int) -> int:
    """Return a number for a namespace: the same on every server, and of 40 bits, as it is part of every word.

    Two scopes of one tenant have one number once in a million million, and then one of them takes its next. Two tenants
    may have the same: each statement names the tenant, and words in common cost a search a look at them alone.
    """
    named = json.dumps([tenant_id, kind, scope, attempt]).encode()
    return int.from_bytes(hashlib.blake2b(named, digest_size=_NAMESPACE_BYTES).digest())


def own_code(namespace: int, term: str) -> str:
    """Encode a memory's own word for the keyword index."""
    return f"{namespace}o{_spell(term)}"


def near_code(namespace: int, term: str) -> str:
    """Encode a neighbour's word for the keyword index."""
    return f"{namespace}n{_spell(term)}"


@lru_cache(maxsize=50_000)
def _spell(term: str) -> str:
    return f"{bm25.code(term):08x}"


def _glue(namespace: int, own: Sequence[bm25.Terms], near: Sequence[bm25.Terms]) -> str:
    """The codes of a memory's words as a tsvector is written: no character of theirs needs quoting."""
    glued = []
    for column, side in (("o", own), ("n", near)):
        words = {word for terms in side for word in terms.words}
        if words:
            glued.append(f"{namespace}{column}" + f" {namespace}{column}".join(map(_spell, words)))
    return " ".join(glued)


def _write_all_words(tx: Transaction, tenant_id: str, namespace: int) -> None:
    """Write the words of all memories of a namespace into the keyword index, as they are packed."""
    [row] = tx.rows("words_of_all", tenant_id=tenant_id, namespaces=[namespace], now=None)
    docs, table = join_words(read_words(row))
    rows, owners = table.rows, docs[table.owners]
    spelt: dict[int, list[str]] = {doc: [] for doc in docs.tolist()}
    for side, column in (("o", "own"), ("n", "near")):
        held = rows[column] > 0
        for doc, code in zip(owners[held].tolist(), rows["term"][held].tolist(), strict=True):
            spelt[doc].append(f"{namespace}{side}{code:08x}")
    for place in range(0, len(docs), _PAGE):
        page = docs[place : place + _PAGE].tolist()
        _write_words(tx, tenant_id, namespace, {doc: " ".join(spelt[doc]) for doc in page})


def _write_words(tx: Transaction, tenant_id: str, namespace: int, spelt: Mapping[int, str]) -> None:
    if spelt:
        docs = sorted(spelt)
        words = [spelt[doc] for doc in docs]
        tx.run("write_words", tenant_id=tenant_id, namespace=namespace, docs=docs, words=words)


def read_words(row: Sequence[Any]) -> StoredWords:
    """Read docs and their words from aggregates of one scan, which are in one order therefore."""
    docs, lengths, sizes, packed, counts, lenders, *_ = row
    return StoredWords(
        docs=decode_numbers(docs, ">i8"),
        lengths=decode_numbers(lengths, ">i4"),
        sizes=decode_numbers(sizes, ">i4"),
        packed=packed or b"",
        lender_counts=decode_numbers(counts, ">i4") // _DOC_BYTES,
        lenders=decode_numbers(lenders, ">i8"),
    )


def decode_numbers(sent: bytes | None, kind: str) -> NDArray[np.int64]:
    """Decode numbers that the server has written one after the other: an array of them takes twelve bytes each."""
    return np.frombuffer(sent or b"", kind).astype(np.int64)
