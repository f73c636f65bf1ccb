"""Arrival of many memories at once: each table and each look-up takes one statement, however many they are."""

from __future__ import annotations

from collections import Counter
from itertools import count, repeat
from operator import attrgetter
from typing import TYPE_CHECKING

from engrain.domain import events
from engrain.domain.memories.fact_keys import PROJECT_MARK
from engrain.domain.records import Episode, Fact, MemoryRecord, Rule
from engrain.domain.text.dialogue.questions import question_shares
from engrain.storage import selection
from engrain.storage.dialects import as_json
from engrain.storage.entities.subjects import Subject, find_namesakes
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search.index import StoredTurns
from engrain.storage.search.neighbour_words import Session, group_by_session, session_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from engrain.domain.memories.turn_columns import NewTurns
    from engrain.storage.unit_of_work import UnitOfWork


_created_at, _status = attrgetter("created_at"), attrgetter("consolidation_status")


def insert_episodes(work: UnitOfWork, episodes: Iterable[Episode]) -> dict[int, Episode]:
    """Insert those episodes of the unit's tenant whose ids are not taken, each with its event.

    Returns them as stored, by doc, in their order. Sessions are locked first, then speakers, in one order for all.
    """
    unique: dict[str, Episode] = {}
    for episode in episodes:
        unique.setdefault(episode.id, episode)
    taken = _find_taken(work, unique)
    new = [episode for id_, episode in unique.items() if id_ not in taken]
    if not new:
        return {}
    stored = _number_episodes(work, new)
    docs = work.backend.number_docs(work, "episode", len(new))
    _add_speakers(work, {(turn.scope, turn.speaker) for turn in new if turn.speaker is not None})
    asking = question_shares([episode.content for episode in new])
    work.add_each(work.statements.records.kinds["episode"], "episodes", stored, doc=docs, asking=asking)
    payloads = {episode.session: events.creation_payload(episode) for episode in stored}
    created = [(episode.scope, episode.id, payloads[episode.session]) for episode in stored]
    work.record_all(events.EPISODE_CREATED, created)
    return dict(zip(docs, stored, strict=True))


def insert_turns(work: UnitOfWork, turns: NewTurns) -> int:
    """Insert those new turns whose ids are not taken, as `insert_episodes` does, and index them; return how many."""
    firsts = dict(zip(reversed(turns.ids), range(len(turns.ids) - 1, -1, -1), strict=True))
    taken = _find_taken(work, firsts)
    if taken or len(firsts) < len(turns.ids):
        turns = turns.choose(sorted([position for id_, position in firsts.items() if id_ not in taken]))
    if not turns.ids:
        return 0
    numbers = _number_turns(work, turns)
    docs = work.backend.number_docs(work, "episode", len(numbers))
    _add_speakers(work, {(turns.scope, speaker) for speaker in turns.speakers if speaker is not None})
    [sample] = turns.choose([0]).build(numbers[:1])
    work.add_like(
        work.statements.records.kinds["episode"],
        "episodes",
        sample,
        **turns.columns,
        turn=numbers,
        doc=docs,
        asking=question_shares(turns.contents),
    )
    payloads = {session: {"session": session} for session in set(turns.sessions)}
    created = zip(repeat(turns.scope), turns.ids, map(payloads.__getitem__, turns.sessions), strict=False)
    work.record_all(events.EPISODE_CREATED, list(created))
    work.index.add_turns(work, StoredTurns(turns, docs, numbers))
    return len(docs)


def find_plain(work: UnitOfWork, memories: Sequence[Fact | Rule]) -> set[int]:
    """Find the places of those facts or rules that change nothing else, and name nothing that is not there.

    Their ids and slots are free, and none before them has the same, or waits there for a confirmation.
    """
    taken = _find_taken(work, [memory.id for memory in memories])
    held = _find_held_slots(work, [memory for memory in memories if isinstance(memory, Fact)])
    namesakes = find_namesakes(work, (Subject(memory.subject) for memory in memories if isinstance(memory, Fact)))
    sources = {memory.source_episode_id for memory in memories if memory.source_episode_id is not None}
    seen = selection.load_visible(work, list(sources)) if sources else []
    known = {None, *(source.id for _, source in seen if isinstance(source, Episode))}
    plain = set()
    for place, memory in enumerate(memories):
        is_plain = memory.id not in taken and memory.source_episode_id in known
        if isinstance(memory, Fact):
            is_plain = is_plain and memory.supersedes_id is None and memory.entity_id is None
            is_plain = is_plain and (memory.validity != "active" or held.isdisjoint((memory.slot, memory.slot[:-1])))
            is_plain = is_plain and (memory.validity != "active" or memory.is_live(work.act.at))
            is_plain = is_plain and namesakes[Subject(memory.subject)].is_alone
            held.add(memory.slot[:-1] if memory.is_pending else memory.slot)
        taken.add(memory.id)
        if is_plain:
            plain.add(place)
    return plain


def insert_plain(work: UnitOfWork, memories: Sequence[Fact | Rule]) -> dict[int, MemoryRecord]:
    """Insert facts, or rules, that `find_plain` found, each with its event; returns them by doc, in their order."""
    kind = memories[0].kind
    docs = work.backend.number_docs(work, kind, len(memories))
    keys = [key_columns(memory) for memory in memories if isinstance(memory, Fact)]
    further = {name: [key[name] for key in keys] for name in (keys[0] if keys else ())}
    work.add_each(work.statements.records.kinds[kind], KIND_TABLES[kind], memories, doc=docs, **further)
    created = [(memory.scope, memory.id, events.creation_payload(memory)) for memory in memories]
    work.record_all(f"{kind}_created", created)
    return dict(zip(docs, memories, strict=True))


def key_columns(fact: Fact) -> dict[str, str]:
    """Return the columns of a fact's key; the value of one with a period of its own is its id."""
    key = fact.key._replace(value=fact.id) if fact.is_bounded and not fact.is_pending else fact.key
    return {f"{name}_key": value for name, value in key._asdict().items()}


def _find_taken(work: UnitOfWork, ids: Iterable[str]) -> set[str]:
    rows = work.rows("fates", tenant_id=work.tenant_id, ids=work.dialect.listed(ids))
    return {id_ for id_, _ in rows}


def _find_held_slots(work: UnitOfWork, facts: Sequence[Fact]) -> set[tuple[str, ...]]:
    if not facts:
        return set()
    keys = ((place, fact.scope, fact.key) for place, fact in enumerate(facts) if fact.entity_id is None)
    slots = [
        (
            *(place, scope, key.predicate, key.subject),
            "" if key.value.startswith(PROJECT_MARK) else key.value,
            "" if facts[place].valid_from is None else "superseded",  # its period may end where this one begins
        )
        for place, scope, key in keys
    ]
    rows = work.rows("held_slots", tenant_id=work.tenant_id, slots=as_json(slots))
    return {facts[place].slot for (place,) in rows}


def _number_episodes(work: UnitOfWork, episodes: Sequence[Episode]) -> list[Episode]:
    """Give each episode the next turn of its session."""
    sessions = {
        key: (len(turns), min(map(_created_at, turns)), "pending" in map(_status, turns))
        for key, turns in group_by_session(episodes).items()
    }
    last_turns = _take_turns(work, sessions)
    numbered = []
    for episode in episodes:
        turn = 0
        if episode.session is not None:
            key = session_of(episode)
            turn = last_turns[key] = last_turns[key] + 1
        numbered.append(episode.in_turn(turn))
    return numbered


def _number_turns(work: UnitOfWork, turns: NewTurns) -> list[int]:
    """Return the number of each turn in its session."""
    sizes = Counter([session for session in turns.sessions if session is not None])
    sessions = {(work.tenant_id, turns.scope, session): (size, turns.act.at, True) for session, size in sizes.items()}
    last_turns = _take_turns(work, sessions)
    numbers: dict[str | None, Iterator[int]] = {session: count(last + 1) for (*_, session), last in last_turns.items()}
    numbers[None] = repeat(0)
    return list(map(next, map(numbers.__getitem__, turns.sessions)))


def _take_turns(work: UnitOfWork, sessions: Mapping[Session, tuple[int, datetime, bool]]) -> dict[Session, int]:
    """Return the last turn of sessions, which get so many: nobody else gets them until the end of the transaction.

    With how many turns of a session comes when the first was stored, and whether any waits.
    """
    keys = sorted(sessions)
    given = [
        [place, *key[1:], size, at.isoformat(), waits]
        for place, key in enumerate(keys)
        for size, at, waits in [sessions[key]]
    ]
    last_turns: dict[Session, int] = {}
    for place, last_turn, is_reopened in work.rows("take_turns", tenant_id=work.tenant_id, sessions=as_json(given)):
        last_turns[keys[place]] = last_turn
        if is_reopened:
            _, scope, session = keys[place]
            work.run("reopen_session", tenant_id=work.tenant_id, scope=scope, session=session)
    return last_turns


def _add_speakers(work: UnitOfWork, speakers: AbstractSet[tuple[str, str]]) -> None:
    known = work.rows("hold_speakers", tenant_id=work.tenant_id, speakers=as_json(sorted(speakers)))
    new = sorted(speakers - {(scope, speaker) for scope, speaker in known})
    work.run_each(
        "add_speaker", [{"tenant_id": work.tenant_id, "scope": scope, "speaker": speaker} for scope, speaker in new]
    )
