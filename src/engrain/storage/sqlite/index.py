"""Search index in SQLite: every memory's entry, its words and its neighbours'."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from engrain.domain.records import Episode, MemoryRecord
from engrain.domain.text.indexing import is_searched, own_terms
from engrain.storage import selection
from engrain.storage.search import neighbour_words
from engrain.storage.sqlite import word_index

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.storage.transaction import Transaction

_SETTLE_AT_ONCE = 1_000
_WAITS, _GONE = 1, 3


class SqliteIndex:
    """Implements `SearchIndex` for every unit of work.

    One episode alone, the hot path, is indexed later; whatever else is indexed at once.
    """

    def add(self, tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
        match list(memories.values()):
            case [] | [Episode()]:
                return
            case _:
                index_all(tx)

    def is_out(self, tx: Transaction, doc: int) -> bool:
        return tx.one("state", doc=doc) == (_GONE,)

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
        # Each doc's change is a number of its own, as far from the first as the doc is from the least.
        first = take_numbers(tx, "change", max(leaving) - min(leaving) + 1)
        tx.run("take_out_vectors", docs=listed, change=first - min(leaving))
        for turn in turns:
            _index_around(tx, find_or_add_namespace(tx, turn), [turn], at)

    def put_back(self, tx: Transaction, doc: int, memory: MemoryRecord) -> None:
        index_all(tx)
        tx.run("put_back", doc=doc)
        tx.run("put_back_vectors", doc=doc, change=take_numbers(tx, "change", 1))
        word_index.index_words(tx, find_or_add_namespace(tx, memory), {doc: (own_terms(memory), ())})

    def erase(self, tx: Transaction, doc: int, memory: MemoryRecord, at: datetime) -> None:
        self.take_out(tx, memory.tenant_id, [doc], turns=[memory] if isinstance(memory, Episode) else [], at=at)
        tx.run("erase_vectors", doc=doc)

    def mark(self) -> object:
        """All that it knows is in the database."""
        return None

    def go_back(self, mark: object) -> None:
        """There is nothing to take back."""


def take_numbers(tx: Transaction, name: str, count: int) -> int:
    """Reserve `count` numbers of a sequence, and return the first."""
    found = tx.one("next_numbers", count=count, name=name)
    assert found is not None
    return int(found[0]) - count + 1


def find_or_add_namespace(tx: Transaction, memory: MemoryRecord) -> int:
    """Return the number of the memory's (tenant, kind, scope), reserved on first use."""
    key = {"tenant_id": memory.tenant_id, "kind": memory.kind, "scope": memory.scope}
    found = tx.one("find_namespace", **key)
    if found is not None:
        return int(found[0])
    number = take_numbers(tx, "namespace", 1)
    tx.run("add_namespace", **key, namespace=number)
    return number


def index_all(tx: Transaction) -> None:
    """Index whatever was left for later."""
    while index_batch(tx) == _SETTLE_AT_ONCE:
        pass


def index_batch(tx: Transaction) -> int:
    """Index up to a thousand memories, their neighbours' words included, and return how many."""
    docs = unindexed_docs(tx, _SETTLE_AT_ONCE)
    if not docs:
        return 0
    memories = dict(sorted(selection.load_docs(tx, docs).items()))
    namespaces = {doc: find_or_add_namespace(tx, memory) for doc, memory in memories.items()}
    tx.run_each(
        "write_entries",
        [
            {
                "doc": doc,
                "tenant_id": memory.tenant_id,
                "namespace": namespaces[doc],
                "state": _WAITS if is_searched(memory) else _GONE,
                "expires_at": _expiry(tx, memory),
            }
            for doc, memory in memories.items()
        ],
    )
    _record_sessions(tx, memories)
    _index(tx, memories, namespaces)
    tx.run("set_indexed", doc=docs[-1])
    return len(docs)


def unindexed_docs(tx: Transaction, limit: int) -> list[int]:
    """List the oldest docs that are not indexed, ascending."""
    return [doc for (doc,) in tx.rows("unindexed_docs", limit=limit)]


def _expiry(tx: Transaction, memory: MemoryRecord) -> int | None:
    """When time alone takes it out of the searches."""
    ends = memory.expires_at if isinstance(memory, Episode) else None
    return None if ends is None else tx.dialect.time(ends)


def _record_sessions(tx: Transaction, memories: Mapping[int, MemoryRecord]) -> None:
    """Note how far each session has come."""
    turns = [memory for memory in memories.values() if isinstance(memory, Episode) and memory.session is not None]
    for (tenant_id, scope, session), episodes in itertools.groupby(sorted(turns, key=_session_key), key=_session_key):
        there = list(episodes)
        tx.run(
            "record_session",
            tenant_id=tenant_id,
            scope=scope,
            session=session,
            last_turn=max(episode.turn for episode in there),
            first_seen_at=tx.dialect.time(min(episode.created_at for episode in there)),
            waits=any(episode.consolidation_status == "pending" for episode in there),
        )


def _session_key(episode: Episode) -> tuple[str, str, str]:
    return (episode.tenant_id, episode.scope, episode.session or "")


def _index(tx: Transaction, memories: Mapping[int, MemoryRecord], namespaces: Mapping[int, int]) -> None:
    """Index memories with their neighbours' words, and those neighbours with theirs."""
    sessions: dict[tuple[int, str], list[Episode]] = {}
    for doc, memory in memories.items():
        if isinstance(memory, Episode) and memory.session is not None:
            sessions.setdefault((namespaces[doc], memory.session), []).append(memory)
        elif is_searched(memory):
            word_index.index_words(tx, namespaces[doc], {doc: (own_terms(memory), ())})
    for (namespace, _), episodes in sessions.items():
        _index_around(
            tx, namespace, episodes, max(episode.created_at for episode in episodes), indexed_up_to=max(memories)
        )


def _index_around(
    tx: Transaction, namespace: int, episodes: Sequence[Episode], now: datetime, *, indexed_up_to: int | None = None
) -> None:
    """Index the turns of one session that stand at most two places from one of `episodes`, those included.

    Docs beyond `indexed_up_to` lend their words and wait for their own turn: they are found by another way until then.
    """
    session = {
        "tenant_id": episodes[0].tenant_id,
        "scope": episodes[0].scope,
        "session": episodes[0].session,
        "now": tx.dialect.time(now),
    }
    for bounds, near in neighbour_words.split_stretches([episode.turn for episode in episodes]):
        turns = neighbour_words.read_turns(tx.rows("turns_between", **session, **bounds), tx.dialect.moment)
        touched = {
            turn.turn for turn in turns if turn.turn in near and (indexed_up_to is None or turn.doc <= indexed_up_to)
        }
        word_index.index_words(tx, namespace, neighbour_words.collect_words(turns, touched))
