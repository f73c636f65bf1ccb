"""Search index in SQLite: every memory's entry, its words and its neighbours'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engrain.domain.records import Episode, MemoryRecord
from engrain.domain.text import bm25
from engrain.domain.text.indexing import find_expiry, has_foreign_words, is_searched, own_terms
from engrain.storage import selection
from engrain.storage.search.neighbour_words import (
    Words,
    group_by_session,
    load_words_around,
    load_words_of_turns,
    session_of,
)
from engrain.storage.sqlite import word_index
from engrain.storage.sqlite.word_index import GONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.storage.search.index import StoredTurns
    from engrain.storage.transaction import Transaction

_SETTLE_AT_ONCE = 1_000
_WAITS: Final = 1
_FOREVER: Final = 2**62  # later than any time
_NO_WORDS: Final = (0, 0, None)  # of a memory that is not searched


class SqliteIndex:
    """Implements `SearchIndex` for every unit of work.

    One episode alone, the hot path, is indexed later; whatever else is indexed at once.
    """

    defers_turns = True

    def add(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        match list(memories.values()):
            case [] | [Episode()]:
                return
            case _:
                index_all(tx, memories)

    def add_turns(self, tx: Transaction, stored: StoredTurns) -> None:
        if len(stored.docs) > 1 and tx.one("is_indexed_before", doc=stored.docs[0]) == (1,):
            _index_turns(tx, stored)
        else:
            self.add(tx, stored.build())

    def add_later(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        """A session is indexed once when it is whole."""

    def index_again(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        turns: dict[int, Episode] = {}
        words: Words = {}
        for doc, memory in memories.items():
            if isinstance(memory, Episode) and memory.session is not None:
                turns[doc] = memory
            else:
                words[doc] = ([bm25.encode(own_terms(memory))], ())
        namespaces = {doc: find_or_add_namespace(tx, memory) for doc, memory in memories.items()}
        around = load_words_around(tx, turns.values(), at_hand=turns)
        for key, of_session in around.items():
            same = next(doc for doc, turn in turns.items() if session_of(turn) == key)
            namespaces |= dict.fromkeys(of_session.words, namespaces[same])
            words |= of_session.words
        listed = tx.dialect.listed(words)
        indexed = {doc for doc, state, *_ in tx.rows("indexed_lengths", docs=listed) if state != GONE}
        _index_again(tx, namespaces, {doc: found for doc, found in words.items() if doc in indexed})

    def is_stale(self, memory: MemoryRecord) -> bool:
        return has_foreign_words(memory)

    def is_out(self, tx: Transaction, doc: int) -> bool:
        return tx.one("state", doc=doc) == (GONE,)

    def take_out(
        self,
        tx: Transaction,
        tenant_id: str,  # noqa: ARG002  # a doc is unique in the file
        docs: Sequence[int],
        *,
        turns: Sequence[Episode] = (),
        at: datetime,
    ) -> None:
        if turns:
            index_all(tx)
        leaving = word_index.drop_words(tx, docs)
        if not leaving:
            return
        listed = tx.dialect.listed(leaving)
        tx.run("take_out", docs=listed)
        tx.run("count_rewrites", docs=listed)
        tx.run("take_out_vectors", docs=listed, change=take_numbers(tx, "change", len(leaving)))
        first_of = {turn.scope: turn for turn in turns}
        numbers = {scope: find_or_add_namespace(tx, turn) for scope, turn in first_of.items()}
        for (_, scope, _), (words, _) in load_words_around(tx, turns, at_hand={}, now=at).items():
            _index_again(tx, dict.fromkeys(words, numbers[scope]), words)

    def put_back(self, tx: Transaction, doc: int, memory: MemoryRecord) -> None:
        index_all(tx)
        tx.run("put_back", doc=doc)
        tx.run("count_rewrites", docs=tx.dialect.listed([doc]))
        tx.run("put_back_vectors", doc=doc, change=take_numbers(tx, "change", 1))
        _index_again(tx, {doc: find_or_add_namespace(tx, memory)}, {doc: ([bm25.encode(own_terms(memory))], ())})

    def erase(self, tx: Transaction, tenant_id: str, memories: Mapping[int, MemoryRecord], at: datetime) -> None:
        turns = [memory for memory in memories.values() if isinstance(memory, Episode)]
        self.take_out(tx, tenant_id, list(memories), turns=turns, at=at)
        docs = tx.dialect.listed(memories)
        tx.run("erase_vectors", docs=docs)
        tx.run("drop_packs", docs=docs)

    def mark(self) -> object:
        """All that it knows is in the database."""
        return None

    def go_back(self, mark: object) -> None:
        """There is nothing to take back."""

    def finish(self, tx: Transaction, tenant_id: str) -> None:
        """All of it is written."""


def take_numbers(tx: Transaction, name: str, count: int) -> int:
    """Reserve `count` numbers of a sequence, and return the first."""
    found = tx.one("next_numbers", count=count, name=name)
    assert found is not None
    return int(found[0]) - count + 1


def find_or_add_namespace(tx: Transaction, memory: MemoryRecord) -> int:
    """Return the number of the memory's (tenant, kind, scope), reserved on first use."""
    return _find_or_add_namespace(tx, tenant_id=memory.tenant_id, kind=memory.kind, scope=memory.scope)


def _find_or_add_namespace(tx: Transaction, **key: str) -> int:
    found = tx.one("find_namespace", **key)
    if found is not None:
        return int(found[0])
    number = take_numbers(tx, "namespace", 1)
    tx.run("add_namespace", **key, namespace=number)
    return number


def index_all(tx: Transaction, at_hand: Mapping[int, MemoryRecord] | None = None) -> None:
    """Index whatever was left for later; memories `at_hand`, by doc, are not read again."""
    while index_batch(tx, at_hand) == _SETTLE_AT_ONCE:
        pass


def index_batch(tx: Transaction, at_hand: Mapping[int, MemoryRecord] | None = None) -> int:
    """Index up to a thousand memories, their neighbours' words included, and return how many."""
    docs = unindexed_docs(tx, _SETTLE_AT_ONCE)
    if not docs:
        return 0
    known = at_hand or {}
    loaded = selection.load_docs(tx, unknown) if (unknown := [doc for doc in docs if doc not in known]) else {}
    memories = {doc: known[doc] if doc in known else loaded[doc] for doc in docs}
    _record_sessions(tx, memories)
    _index(tx, memories)
    tx.run("set_indexed", doc=docs[-1])
    return len(docs)


def unindexed_docs(tx: Transaction, limit: int) -> list[int]:
    """List the oldest docs that are not indexed, ascending."""
    return [doc for (doc,) in tx.rows("unindexed_docs", limit=limit)]


def _expiry(tx: Transaction, memory: MemoryRecord) -> int | None:
    """The time at which it leaves the searches by itself."""
    ends = find_expiry(memory)
    return None if ends is None else tx.dialect.time(ends)


def _record_sessions(tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
    """Note how far each session has come."""
    episodes = [memory for memory in memories.values() if isinstance(memory, Episode)]
    tx.run_each(
        "record_session",
        [
            {
                **dict(zip(("tenant_id", "scope", "session"), key, strict=True)),
                "last_turn": max(turn.turn for turn in turns),
                "first_seen_at": tx.dialect.time(min(turn.created_at for turn in turns)),
                "waits_until": max(
                    (_expiry(tx, turn) or _FOREVER for turn in turns if turn.consolidation_status == "pending"),
                    default=None,
                ),
            }
            for key, turns in sorted(group_by_session(episodes).items())
        ],
    )


def _index(tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
    """Index memories with their neighbours' words, and those neighbours with theirs.

    Docs beyond the last of them lend their words and wait for their own turn: they are found by another way until then.
    """
    keys = {doc: (memory.tenant_id, type(memory), memory.scope) for doc, memory in memories.items()}
    numbers = {key: find_or_add_namespace(tx, memories[doc]) for key, doc in {keys[doc]: doc for doc in keys}.items()}
    namespaces = {doc: numbers[key] for doc, key in keys.items()}
    states = {doc: state for doc, state, *_ in tx.rows("indexed_lengths", docs=tx.dialect.listed(memories))}
    words: Words = {}
    turns: dict[int, Episode] = {}
    for doc, memory in memories.items():
        if isinstance(memory, Episode) and memory.session is not None:
            if states.get(doc) != GONE:  # of a restored backup: forgotten where it was made
                turns[doc] = memory
        elif is_searched(memory):
            words[doc] = ([bm25.encode(own_terms(memory))], ())
    last = max(memories)
    for (tenant_id, scope, _), around in load_words_around(tx, turns.values(), at_hand=turns).items():
        near = {doc: found for doc, found in around.words.items() if doc <= last}
        namespaces |= dict.fromkeys(near, numbers[tenant_id, Episode, scope])
        words |= near
    packed = word_index.index_words(tx, namespaces, words, new=memories.keys() - states.keys())
    tx.run_each(
        "write_entries",
        [
            (
                doc,
                memory.tenant_id,
                namespaces[doc],
                _WAITS if type(memory) is Episode or is_searched(memory) else GONE,
                None if type(memory) is Episode and memory.expires_at is None else _expiry(tx, memory),
                *packed.pop(doc, _NO_WORDS),
            )
            for doc, memory in memories.items()
        ],
    )
    _set_terms(tx, packed)


def _index_turns(tx: Transaction, stored: StoredTurns) -> None:
    """Index new turns, which are all that is not indexed, as `index_batch` does, by columns."""
    turns, docs = stored.turns, stored.docs
    tenant_id, at = turns.act.caller.tenant_id, tx.dialect.time(turns.act.at)
    last_turns = dict(zip(turns.sessions, stored.numbers, strict=True))
    last_turns.pop(None, None)
    key = {"tenant_id": tenant_id, "scope": turns.scope}
    tx.run_each(
        "record_session",
        [
            {**key, "session": session, "last_turn": last_turn, "first_seen_at": at, "waits_until": _FOREVER}
            for session, last_turn in sorted(last_turns.items())
        ],
    )
    namespace = _find_or_add_namespace(tx, **key, kind="episode")
    words = load_words_of_turns(tx, stored)
    packed = word_index.index_words(tx, dict.fromkeys(words, namespace), words, new=set(docs))
    rows = ((doc, tenant_id, namespace, _WAITS, None, *packed.pop(doc)) for doc in docs)
    tx.run_each("write_entries", rows)
    _set_terms(tx, packed)
    tx.run("set_indexed", doc=docs[-1])


def _index_again(tx: Transaction, namespaces: Mapping[int, int], words: Words) -> None:
    """Index docs that have an entry under other words."""
    _set_terms(tx, word_index.index_words(tx, namespaces, words))


def _set_terms(tx: Transaction, packed: Mapping[int, bm25.IndexedWords]) -> None:
    tx.run_each("set_terms", [(*indexed, doc) for doc, indexed in packed.items()])
