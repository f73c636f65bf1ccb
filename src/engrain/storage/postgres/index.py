"""Search index in PostgreSQL: every memory's entry, its words and its neighbours'.

All of it is written with the memory, in one transaction: nothing is left for later.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, MemoryRecord
from engrain.domain.text import bm25
from engrain.domain.text.indexing import find_expiry, is_searched, own_terms
from engrain.storage.search.neighbour_words import load_words_around

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engrain.domain.records import Kind
    from engrain.storage.postgres.planner_statistics import PlannerStatistics
    from engrain.storage.search.neighbour_words import Words
    from engrain.storage.transaction import Transaction

_WAITS, _GONE = 1, 3
_NAMESPACE_BYTES, _MOST_NUMBERS = 5, 20


class PostgresIndex:
    """Implements `SearchIndex` for one unit of work; `finish` ends it."""

    def __init__(self, growth: PlannerStatistics | None = None) -> None:
        """Nothing has changed yet; `growth` is told how many memories were added."""
        self._growth = growth
        self._memories: Counter[int] = Counter()
        self._words: Counter[int] = Counter()

    def add(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index new memories, and the turns around new ones anew."""
        if not memories:
            return
        self.index_again(tx, memories)
        if self._growth is not None:
            self._growth.note(tx, len(memories))

    def index_again(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index memories, new or not, and the turns around them."""
        numbers: dict[tuple[Kind, str], int] = {}
        for memory in memories.values():
            if (memory.kind, memory.scope) not in numbers:
                numbers[memory.kind, memory.scope] = self._namespace_of(tx, memory)
        namespaces = {doc: numbers[memory.kind, memory.scope] for doc, memory in memories.items()}
        live = {doc: memory for doc, memory in memories.items() if is_searched(memory)}
        words: Words = {}
        turns: dict[int, Episode] = {}
        for doc, memory in live.items():
            if isinstance(memory, Episode) and memory.session is not None:
                turns[doc] = memory
            else:
                words[doc] = ([bm25.encode(own_terms(memory))], ())
        for (_, scope, _), around in load_words_around(tx, turns.values(), at_hand=turns).items():
            namespaces |= dict.fromkeys(around, numbers["episode", scope])
            words |= around
        ends = {doc: find_expiry(memory) for doc, memory in live.items()}
        self._write_entries(tx, namespaces, words, tenant_id=_tenant_of(memories.values()), ends=ends)

    def add_later(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """Index new memories: nothing is left for later."""
        self.add(tx, memories)

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
        tx.run("drop_words", **named)
        tx.run("take_out_vectors", **named)
        for namespace, memories, words in before:
            self._memories[namespace] -= memories
            self._words[namespace] -= words
        for turn in turns:
            for around in load_words_around(tx, [turn], at_hand={}, now=at).values():
                namespaces = dict.fromkeys(around, self._namespace_of(tx, turn))
                self._write_entries(tx, namespaces, around, tenant_id=tenant_id, ends={})

    def put_back(self, tx: Transaction, doc: int, memory: MemoryRecord) -> None:
        """Give a fact that left the searches its place there again, with the vector it had."""
        self.add(tx, {doc: memory})
        named = {"tenant_id": memory.tenant_id, "doc": doc}
        tx.run("put_back", **named)
        tx.run("put_back_vectors", **named)

    def erase(self, tx: Transaction, doc: int, memory: MemoryRecord, at: datetime) -> None:
        """Take out everything that was known of a memory whose row has just gone."""
        self.take_out(tx, memory.tenant_id, [doc], turns=[memory] if isinstance(memory, Episode) else [], at=at)
        tx.run("erase_entry", tenant_id=memory.tenant_id, doc=doc)
        tx.run("erase_vectors", tenant_id=memory.tenant_id, doc=doc)
        if isinstance(memory, Episode) and memory.session is not None:
            tx.run("recount_turns", tenant_id=memory.tenant_id, scope=memory.scope, session=memory.session)

    def mark(self) -> object:
        """Return the totals so far."""
        return self._memories.copy(), self._words.copy()

    def go_back(self, mark: object) -> None:
        """Restore the totals of a mark."""
        assert isinstance(mark, tuple)
        self._memories, self._words = mark

    def finish(self, tx: Transaction, tenant_id: str) -> None:
        """Bring the totals up to date: last and in one order, since all writers of a namespace meet there."""
        for namespace in sorted(self._memories.keys() | self._words.keys()):
            memories, words = self._memories[namespace], self._words[namespace]
            if memories or words:
                tx.run("count_words", tenant_id=tenant_id, namespace=namespace, memories=memories, words=words)

    def _write_entries(
        self,
        tx: Transaction,
        namespaces: Mapping[int, int],
        words: Words,
        *,
        tenant_id: str,
        ends: Mapping[int, datetime | None],
    ) -> None:
        """Write the places of docs: those without words are gone, the others are indexed in place of what they were."""
        docs = sorted(namespaces)
        if not docs:
            return
        packed = dict(zip(words, bm25.pack_all(list(words.values())), strict=True))
        before = tx.rows(
            "write_entries",
            tenant_id=tenant_id,
            docs=docs,
            namespaces=[namespaces[doc] for doc in docs],
            states=[_WAITS if doc in words else _GONE for doc in docs],
            ends=[ends.get(doc) for doc in docs],
            owns=[packed[doc].own if doc in packed else 0 for doc in docs],
            nears=[packed[doc].near if doc in packed else 0 for doc in docs],
            packed=[packed[doc].packed if doc in packed else None for doc in docs],
            words=[_glue(namespaces[doc], *words[doc]) if doc in words else None for doc in docs],
        )
        for doc, indexed in packed.items():
            self._memories[namespaces[doc]] += 1
            self._words[namespaces[doc]] += indexed.length
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
                return int(found[0])
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


def _tenant_of(memories: Iterable[MemoryRecord]) -> str:
    return next(iter(memories)).tenant_id
