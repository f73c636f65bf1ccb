"""What one write transaction does, statement by statement; the store opens and commits it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from engrain.domain.indexing import NEIGHBOURS, own_terms
from engrain.domain.records import Episode, Fact, MemoryRecord
from engrain.storage.named_sql import load
from engrain.storage.sqlite import lookups, word_index
from engrain.storage.sqlite.rows import micros, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import apsw

SQL = load("engrain.storage.sqlite", "queries.sql")

_SETTLE_AT_ONCE = 1_000
_WAITS, _GONE = 1, 3


def take_numbers(db: apsw.Connection, name: str, count: int) -> int:
    """Reserve `count` numbers of a sequence; the first of them."""
    return int(db.execute(SQL["next_numbers"], (count, name)).get) - count + 1


def namespace_of(db: apsw.Connection, memory: MemoryRecord) -> int:
    """The number of the memory's (tenant, kind, scope), given out on first use."""
    key = (memory.tenant_id, memory.kind, memory.scope)
    found = db.execute(SQL["find_namespace"], key).get
    if found is None:
        found = take_numbers(db, "namespace", 1)
        db.execute(SQL["add_namespace"], (*key, found))
    return int(found)


def add(db: apsw.Connection, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Insert memories; those that were new, as stored.

    One episode alone, the hot path, is settled later; whatever else is settled at once.
    """
    match memories:
        case [Episode() as episode]:
            added = _add_episode(db, episode)
            return [] if added is None else [added[1]]
        case _:
            docs = [doc for doc, _ in _add_all(db, memories)]
            while settle(db) == _SETTLE_AT_ONCE:
                pass
            stored = lookups.of_docs(db, docs)  # a fact may have been superseded by a later one of the same call
            return [stored[doc] for doc in docs]


def settle(db: apsw.Connection) -> int:
    """Give up to a thousand memories their place in the searches, their neighbours' words included; how many it was."""
    docs = unsettled(db, _SETTLE_AT_ONCE)
    memories = dict(sorted(lookups.of_docs(db, docs).items()))
    namespaces = {doc: namespace_of(db, memory) for doc, memory in memories.items()}
    _index(db, memories, namespaces)
    places = (
        (doc, memory.tenant_id, namespaces[doc], _WAITS if _is_kept(memory) else _GONE, _ends(memory))
        for doc, memory in memories.items()
    )
    db.executemany(SQL["place"], places)
    if docs:
        db.execute(SQL["set_settled"], (docs[-1],))
    return len(docs)


def unsettled(db: apsw.Connection, limit: int) -> list[int]:
    """The oldest docs that are not settled, ascending."""
    return [doc for (doc,) in db.execute(SQL["unsettled"], {"limit": limit})]


def retire(db: apsw.Connection, doc: int, memory: MemoryRecord, at: datetime) -> None:
    """Forget one live memory: its row says so, its words and vector are gone, and its neighbours forget its words."""
    while settle(db) == _SETTLE_AT_ONCE:
        pass
    if db.execute(SQL["state"], (doc,)).get == _GONE:
        return  # forgotten before, by a clock that is ahead of `at`
    namespace = namespace_of(db, memory)
    _drop_from_index(db, namespace, doc)
    match memory:
        case Episode():
            db.execute(SQL["expire_episode"], {"doc": doc, "at": micros(at)})
            _index_around(db, namespace, [memory], at)
        case Fact():
            db.execute(SQL["retract_fact"], {"doc": doc})


def _add_all(db: apsw.Connection, memories: Iterable[MemoryRecord]) -> Iterator[tuple[int, MemoryRecord]]:
    for memory in memories:
        added = _add_episode(db, memory) if isinstance(memory, Episode) else _add_fact(db, memory)
        if added is not None:
            yield added


def _add_episode(db: apsw.Connection, episode: Episode) -> tuple[int, Episode] | None:
    """Insert an episode as the next turn of its session; None where its id is there already."""
    if db.execute(SQL["has_memory"], (episode.tenant_id, episode.id)).get is not None:
        return None
    placed = replace(episode, turn=_next_turn(db, episode))
    doc = db.execute(SQL["next_doc"]).get
    db.execute(SQL["add_episode"], (doc, *values(placed)))
    if episode.speaker is not None:
        speaker = (episode.tenant_id, episode.scope, episode.speaker)
        if db.execute(SQL["has_speaker"], speaker).get is None:
            db.execute(SQL["add_speaker"], speaker)
    return doc, placed


def _next_turn(db: apsw.Connection, episode: Episode) -> int:
    """Its place in the session, from 1; 0 where there is no session."""
    if episode.session is None:
        return 0
    return (db.execute(SQL["last_turn"], (episode.tenant_id, episode.scope, episode.session)).get or 0) + 1


def _add_fact(db: apsw.Connection, fact: Fact) -> tuple[int, Fact] | None:
    """Insert a fact; an active one closes the fact that held its place. None where its id is there already."""
    if db.execute(SQL["has_memory"], (fact.tenant_id, fact.id)).get is not None:
        return None
    place = (fact.tenant_id, fact.scope, fact.subject, fact.predicate)
    old = db.execute(SQL["active_fact"], place).fetchone() if fact.validity == "active" else None
    if old is not None:
        old_doc, old_id = old
        at, ends = micros(fact.created_at), micros(fact.happened_at)
        db.execute(SQL["supersede_fact"], {"doc": old_doc, "at": at, "valid_to": ends})
        _drop_from_index(db, namespace_of(db, fact), old_doc)
        fact = replace(fact, supersedes_id=old_id)
    doc = db.execute(SQL["next_doc"]).get
    db.execute(SQL["add_fact"], (doc, *values(fact)))
    return doc, fact


def _is_kept(memory: MemoryRecord) -> bool:
    """Whether searches may find it: an episode's end is a matter of time, a fact's of its validity."""
    return isinstance(memory, Episode) or memory.validity == "active"


def _ends(memory: MemoryRecord) -> int | None:
    """When time alone takes it out of the searches."""
    return micros(memory.expires_at) if isinstance(memory, Episode) and memory.expires_at is not None else None


def _index(db: apsw.Connection, memories: Mapping[int, MemoryRecord], namespaces: Mapping[int, int]) -> None:
    """Index memories with their neighbours' words, and those neighbours with theirs."""
    sessions: dict[tuple[int, str], list[Episode]] = {}
    for doc, memory in memories.items():
        if isinstance(memory, Episode) and memory.session is not None:
            sessions.setdefault((namespaces[doc], memory.session), []).append(memory)
        elif _is_kept(memory):
            word_index.index(db, namespaces[doc], {doc: (own_terms(memory), ())})
    for (namespace, _), episodes in sessions.items():
        _index_around(db, namespace, episodes, max(episode.created_at for episode in episodes), settled=max(memories))


def _index_around(
    db: apsw.Connection, namespace: int, episodes: Sequence[Episode], now: datetime, *, settled: int | None = None
) -> None:
    """Index the turns of one session that stand at most two places from one of `episodes`, those included.

    Docs beyond `settled` lend their words and wait for their own turn: they are found by another way until then.
    """
    session = {
        "tenant_id": episodes[0].tenant_id,
        "scope": episodes[0].scope,
        "session": episodes[0].session,
        "now": micros(now),
    }
    for stretch in _stretches(sorted({episode.turn for episode in episodes}), gap=2 * NEIGHBOURS + 1):
        bounds = {"first": stretch[0] - 2 * NEIGHBOURS, "last": stretch[-1] + 2 * NEIGHBOURS}
        turns = word_index.turns_of(db.execute(SQL["turns_between"], {**session, **bounds}))
        places = {turn + offset for turn in stretch for offset in range(-NEIGHBOURS, NEIGHBOURS + 1)}
        touched = {each.turn for each in turns if each.turn in places and (settled is None or each.doc <= settled)}
        word_index.index_turns(db, namespace, turns, touched)


def _stretches(places: Sequence[int], *, gap: int) -> Iterator[list[int]]:
    """Ascending places in runs: a step of more than `gap` begins a new one."""
    breaks = [place for place in range(1, len(places)) if places[place] - places[place - 1] > gap]
    for start, end in itertools.pairwise([0, *breaks, len(places)]):
        yield list(places[start:end])


def _drop_from_index(db: apsw.Connection, namespace: int, doc: int) -> None:
    word_index.drop(db, namespace, doc)
    db.execute(SQL["drop_index"], {"doc": doc, "change": take_numbers(db, "change", 1)})
