"""Writes of memories with the parts of one Memory, and the work that each sets going: vectors, names, caches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engrain.agent.reads.lookups import find_memory, get_active_fact, memory_not_found
from engrain.agent.wiring.acts import new_id
from engrain.agent.wiring.arguments import check_interval, mask_fields, parse_time
from engrain.agent.writes import linking
from engrain.domain.access.scopes import user_of
from engrain.domain.memories.decay import without_fading
from engrain.domain.memories.fact_keys import USER, is_note_slot, subject_key, value_key
from engrain.domain.memories.lineage import inherit_project, inherit_trust
from engrain.domain.memories.predicates import is_free_text
from engrain.domain.records import DECAY_RATES, Caller, Episode, Fact, Link, MemoryRecord, Permanence, Rule
from engrain.domain.text.names import NAMES_USER
from engrain.domain.text.small_talk import is_about_speaker
from engrain.errors import InvalidInput
from engrain.storage import selection
from engrain.storage.entities.mentions import put_with_mentions
from engrain.storage.entities.subjects import Subject, find_namesakes
from engrain.storage.selection import load_memories
from engrain.storage.transaction import repeatable
from engrain.storage.write import arrivals, changes, periods, removal, updates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.requests import Act
    from engrain.storage.unit_of_work import UnitOfWork

_Memory = TypeVar("_Memory", Episode, Fact, Rule)
_Learned = TypeVar("_Learned", bound="Fact | Rule")

_BEGINNING: Final = 40  # characters, of "The user's ...", "La esposa del usuario ..."


def default_subject(caller: Caller, *, scope: str, predicate: str, content: str) -> str:
    """Return whom a fact without a subject is about: the user, where it says so, or they say it of themselves."""
    if not is_free_text(predicate):
        return caller.agent
    is_of_user = user_of(scope) is not None and is_about_speaker(content)
    return USER if is_of_user or _names_user(content) else caller.agent


def _names_user(content: str) -> bool:
    if NAMES_USER.search(content[:_BEGINNING]) is None:
        return False
    from engrain.domain.text.dialogue.third_person import is_about_user  # which few writes need

    return is_about_user(content)


def new_fact(
    parts: Parts, act: Act, *, permanence: Permanence = "standard", idempotency_key: str | None = None, **values: Any
) -> Fact:
    """Return a fact of the caller made now, with these values, not stored yet; with a key it has the id of the key."""
    return Fact(
        id=new_id(parts, act.caller, idempotency_key),
        tenant_id=act.caller.tenant_id,
        agent=act.caller.agent,
        permanence=permanence,
        decay_rate=DECAY_RATES[permanence],
        created_at=act.at,
        last_confirmed_at=act.at,
        **mask_fields(parts, values),
    )


def new_rule(parts: Parts, act: Act, *, idempotency_key: str | None = None, **values: Any) -> Rule:
    """Return a rule of the caller made now, with these values, not stored yet; with a key it has the id of the key."""
    return Rule(
        id=new_id(parts, act.caller, idempotency_key),
        tenant_id=act.caller.tenant_id,
        agent=act.caller.agent,
        created_at=act.at,
        last_confirmed_at=act.at,
        **mask_fields(parts, values),
    )


def store_turn(
    parts: Parts, act: Act, turn: Episode, key: str | None, *, time: object = None, in_any_session: bool = False
) -> Episode:
    """Store an episode and announce it to the background work.

    Returns it as stored, now or when the idempotency key was first used; `time` is that of the turn, as it was given.

    Raises:
        InvalidInput: the caller does not see its scope, the key was used for something else, or the source of ids
            repeats itself; nothing was written.
    """
    stored = parts.store.write(act, linking.put_turn, parts, turn)
    parts.queue.announce()
    if stored is None:
        return _stored_before(parts, act.caller, turn, key, time=time, in_any_session=in_any_session)
    if parts.buffers.recent is not None:
        parts.buffers.add_recent([stored])
    return stored


def store_rule(parts: Parts, act: Act, rule: Rule, *, idempotency_key: str | None = None) -> Rule:
    """Store a rule as `store_turn` does an episode; where its scope has one of the same words, confirm that one.

    Returns the rule as stored, or the one that was confirmed.
    """
    stored = parts.store.write(act, _store_or_confirm, parts, rule, key=idempotency_key)
    parts.queue.announce()
    return stored or _stored_before(parts, act.caller, rule, idempotency_key)


def store_fact(parts: Parts, act: Act, fact: Fact, *, idempotency_key: str | None = None, time: object = None) -> Fact:
    """Store a fact as `store_turn` does an episode; where its slot has one that says the same, confirm that one.

    It says the same where content, period and permanence are alike, and tags and metadata are nothing new. `time` is
    the beginning of its period, as it was given.
    """
    stored = parts.store.write(act, _store_or_confirm, parts, fact, key=idempotency_key)
    parts.note_cache.drop(fact)
    parts.queue.announce()
    return stored or _stored_before(parts, act.caller, fact, idempotency_key, time=time)


def store_statement(parts: Parts, act: Act, turn: Episode, fact: Fact) -> tuple[Episode, Fact]:
    """Store a turn, and the fact that it states as `store_fact` does, in one transaction; return both as stored."""
    said, kept = parts.store.write(act, _put_statement, parts, turn, replace(fact, source_episode_id=turn.id))
    parts.note_cache.drop(fact)
    parts.queue.announce()
    parts.buffers.add_recent([said])
    return said, kept


@repeatable
def _put_statement(work: UnitOfWork, parts: Parts, turn: Episode, fact: Fact) -> tuple[Episode, Fact]:
    is_new = bool(arrivals.put(work, [turn]))  # its session is locked before the slot of the fact, whom it names after
    kept = _store_or_confirm(work, parts, fact, key=None) or find_memory(work, fact.id)
    if is_new:
        linking.link(work, parts, turn)
    said = find_memory(work, turn.id)
    assert isinstance(said, Episode)
    assert isinstance(kept, Fact)
    return said, kept


@repeatable
def _store_or_confirm(work: UnitOfWork, parts: Parts, new: _Learned, *, key: str | None) -> _Learned | None:
    """Store a fact or a rule, or confirm the one that says the same; None where the id is taken."""
    if isinstance(new, Fact) and new.source_episode_id is not None:
        sources = load_memories(work, [new.source_episode_id])
        new = replace(inherit_trust(new, sources), tags=inherit_project(new.tags, sources))
    confirmed = _confirm_same(work, new, key=key)
    stored = linking.put(work, parts, [new]) if confirmed is None else [confirmed]
    return next((memory for memory in stored if isinstance(memory, type(new))), None)


def _confirm_same(work: UnitOfWork, new: _Learned, *, key: str | None) -> _Learned | None:
    """Confirm the fact or rule beside which a new one says nothing new; None where there is none.

    Raises:
        InvalidInput: the key has confirmed one that says something else.
    """
    if work.one("has_memory", tenant_id=work.tenant_id, id=new.id) is not None:
        return None
    if key is not None:
        earlier = changes.load_changed(work, new.id)
        if isinstance(earlier, type(new)):
            if not _is_confirmed_by(work, new, earlier):
                raise _key_refusal(key, earlier)
            return earlier
    known = _find_same(work, new)
    if known is None:
        return None
    sources = [] if new.source_episode_id is None else updates.lock_visible(work, [new.source_episode_id])
    if new.source_episode_id is not None and not any(isinstance(source, Episode) for _, source in sources):
        return None
    locked = updates.lock_one(work, known.id)
    if locked is None or not locked[1].is_active(work.act.at):
        return None
    confirmed = changes.confirm(work, known.id, event_id=new.id)
    for _, source in sources:
        link = Link(source_id=known.id, target_id=source.id, relation="derived_from", created_at=work.act.at)
        updates.add_link(work, known, source, link)
    return confirmed if isinstance(confirmed, type(new)) else None


def _find_same(work: UnitOfWork, new: Fact | Rule) -> Fact | Rule | None:
    """Find the fact of its slot, or the rule, that says all a new one says."""
    if isinstance(new, Rule):
        return _find_same_rule(work, new)
    work.backend.lock(work, (), [new])
    holders = arrivals.find_slot_holders(work, new)
    return holders[0][1] if len(holders) == 1 and _adds_nothing(new, holders[0][1]) else None


def _find_same_rule(work: UnitOfWork, rule: Rule) -> Rule | None:
    """Find the newest live rule of the same words in the scope of a new one, which has no more to it."""
    size = len(rule.content)
    for _, known in selection.select(
        work,
        "rule",
        "tenant_id = :tenant_id AND scope = :scope AND length(content) BETWEEN :shortest AND :longest",
        {"tenant_id": rule.tenant_id, "scope": rule.scope, "shortest": size - 3, "longest": size + 3},
        order="ORDER BY created_at DESC, id DESC",
    ):
        if (
            isinstance(known, Rule)
            and known.is_live(work.act.at)
            and rule.trust == known.trust
            and _is_covered(rule, known)
        ):
            return known
    return None


def _is_confirmed_by(work: UnitOfWork, new: Fact | Rule, known: Fact | Rule) -> bool:
    """True if a fact or rule says what one says that was confirmed by its key, under any name of its subject."""
    if value_key(known.content) != value_key(new.content) or known.scope != new.scope:
        return False
    if not isinstance(new, Fact) or not isinstance(known, Fact):
        return True
    subject = Subject(new.subject, new.entity_id)
    names = find_namesakes(work, [subject])[subject]
    is_about = known.entity_id in names.entity_ids or subject_key(known.subject) in {
        subject_key(new.subject),
        *names.keys,
    }
    return is_about and known.key.predicate == new.key.predicate


def _adds_nothing(new: Fact, known: Fact) -> bool:
    """True if a fact says what another of its slot says, and no more."""
    return (
        not is_note_slot(scope=new.scope, subject=new.subject, predicate=new.predicate)  # a note is saved anew
        and _is_covered(new, known)
        and (new.permanence, new.entity_id or known.entity_id) == (known.permanence, known.entity_id)
        and new.confidence <= known.confidence
        and new.valid_from in {None, known.valid_from}
        and new.valid_to in {None, known.valid_to}
    )


def _is_covered(new: Fact | Rule, known: Fact | Rule) -> bool:
    """True if one has the content of another, all of its tags and all of its metadata."""
    return (
        value_key(new.content) == value_key(known.content)
        and set(new.tags) <= set(known.tags)
        and new.metadata.items() <= without_fading(known.metadata).items()
    )


def store_conversation(
    parts: Parts, act: Act, episodes: Sequence[Episode], *, times: Sequence[object], idempotency_key: str | None = None
) -> tuple[Episode, ...]:
    """Store the turns of a conversation in one transaction; return them as stored, now or when the key was first used.

    `times` are those of the turns, as they were given.

    Raises:
        InvalidInput: as `store_turn`; nothing was written.
    """
    turns = list(zip(episodes, times, strict=True))
    stored = parts.store.write(act, _put_conversation, parts, turns, idempotency_key)
    parts.queue.announce()
    parts.buffers.add_recent(stored)
    return stored


def _put_conversation(
    work: UnitOfWork, parts: Parts, turns: Sequence[tuple[Episode, object]], key: str | None
) -> tuple[Episode, ...]:
    added = linking.put(work, parts, [episode for episode, _ in turns])
    stored = {memory.id: memory for memory in added if isinstance(memory, Episode)}
    return tuple(
        stored.get(episode.id) or check_first_use(find_memory(work, episode.id), episode, key, time=time)
        for episode, time in turns
    )


def store_memories(parts: Parts, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Store memories as `linking.put` does, in one transaction, and announce them to the background work."""
    stored = parts.store.write(act, linking.put, parts, memories)
    parts.queue.announce()
    if parts.buffers.recent is not None:
        parts.buffers.add_recent(stored)
    return stored


def replace_memory(parts: Parts, act: Act, id_: str, memories: Sequence[MemoryRecord]) -> MemoryRecord:
    """Forget a memory and store others in its place, in one transaction: turns, and last a fact or rule, the answer.

    Raises:
        NotFound: the caller sees no such memory.
        InvalidInput: the caller may not change it, or as `store_turn`; nothing was written.
    """
    try:
        forgotten, *stored = parts.store.write(act, _put_instead, parts, id_, memories)
    finally:
        parts.note_cache.drop_agent(act.caller)
    parts.queue.announce()
    parts.buffers.drop_recent([forgotten])
    parts.buffers.add_recent(stored)
    return stored[-1]


@repeatable
def _put_instead(work: UnitOfWork, parts: Parts, id_: str, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Put memories in the place of one; return that as it is now, and them as stored."""
    *turns, last = memories
    said = arrivals.put(work, turns)  # their session is locked before the slot of the fact, whom they name after
    work.backend.lock(work, [id_], [last] if isinstance(last, Fact) else ())
    mentioned = linking.find_mentioned(work, parts, [last])
    seen = updates.lock_one(work, id_)
    if seen is None:
        raise memory_not_found(work.act.caller, id_)
    updates.check_change(work, seen[1], says=True)
    forgotten = removal.forget(work, id_) or seen[1]
    put_with_mentions(work, [last], mentioned)
    for turn in said:
        linking.link(work, parts, turn)
    return [forgotten, *load_memories(work, [memory.id for memory in memories])]


def replace_fact(parts: Parts, act: Act, id_: str, **changes: Any) -> Fact:
    """Supersede an active fact by one with `changes`, which is as the old one stands when this is written otherwise.

    The new fact is the caller's, of now, and has no references.

    Raises:
        NotFound, InvalidInput: as `get_active_fact`, or of the changes; nothing was written.
    """
    anew = {"id": parts.ids(), "agent": act.caller.agent, "created_at": act.at, "last_confirmed_at": act.at}
    fresh = {"supersedes_id": None, "reference_count": 0, "last_referenced_at": None}
    try:
        stored = parts.store.write(act, _replace_fact, parts, id_, {**anew, **fresh, **changes})
    finally:
        parts.note_cache.drop_agent(act.caller)
    parts.queue.announce()
    return stored


@repeatable
def _replace_fact(work: UnitOfWork, parts: Parts, id_: str, changes: Mapping[str, Any]) -> Fact:
    before = get_active_fact(work, id_)
    changes = mask_fields(parts, changes, predicate=before.predicate)
    new = replace(before, **changes)
    work.backend.lock(work, (), [before, new])
    mentioned = linking.find_mentioned(work, parts, [new])
    locked = arrivals.lock_facts(work, [id_])
    doc, old = locked[id_] if locked else (0, get_active_fact(work, id_))  # which says what became of it
    updates.check_change(work, old, says=True)
    new = _date_correction(replace(old, **changes), old, work.act.at)
    makes_way = not old.has_begun(work.act.at) or new.has_ended(work.act.at)
    if makes_way:  # before the new one is fitted in
        was_true = old.is_live(work.act.at) and new.valid_from is not None
        updates.close(work, doc, old, new, was_never=not was_true)
        periods.reopen(work, old)
    is_elsewhere = new.slot != old.slot  # one of many values
    is_named = makes_way or is_elsewhere
    for stored in put_with_mentions(work, [replace(new, supersedes_id=id_) if is_named else new], mentioned):
        if isinstance(stored, Fact):
            if makes_way:
                updates.connect_superseded(work, stored, old)
            elif is_elsewhere:
                arrivals.supersede_from(work, doc, old, stored)
            return stored
    raise InvalidInput(f"id {changes['id']} is taken and nothing was written; the source of ids repeats itself")


def _date_correction(new: Fact, old: Fact, at: datetime) -> Fact:
    """Return a correction with the times of the fact before it that it does not give: of a plan, or of what is over.

    Raises:
        InvalidInput: it ends before it begins.
    """
    start, end = new.valid_from, new.valid_to
    if start is None and end is None and old.has_ended(at):
        end = old.valid_to
    if start is None and (not old.has_begun(at) or (end is not None and old.happened_at < end <= at)):
        start = old.happened_at
    check_interval(start, end)
    return replace(new, valid_from=start, valid_to=end)


def _stored_before(parts: Parts, caller: Caller, memory: _Memory, key: str | None, **options: Any) -> _Memory:
    """Return the memory that a key was first used for, if it is that of `check_first_use`."""
    return check_first_use(parts.store.read(caller, find_memory, memory.id), memory, key, **options)


def check_first_use(
    stored: MemoryRecord | None, memory: _Memory, key: str | None, *, time: object = None, in_any_session: bool = False
) -> _Memory:
    """Return what is stored under the id of a memory, if it says the same, and at the `time` that the call gives.

    Words of a time are read as of the first use: so a repeat means what the first call meant.

    Raises:
        InvalidInput: it is another one, or gone.
    """
    if key is None:
        raise InvalidInput(f"id {memory.id} is taken and nothing was written; the source of ids repeats itself")
    is_same = isinstance(stored, type(memory)) and _says_same(stored, memory, in_any_session=in_any_session)
    if isinstance(stored, type(memory)) and is_same and _is_at(stored, time):
        return stored
    raise _key_refusal(key, stored)


def _is_at(stored: MemoryRecord, time: object) -> bool:
    """True for an episode of a time, or a fact that holds from then on; the end of a fact may have moved since."""
    known = stored.event_time if isinstance(stored, Episode) else getattr(stored, "valid_from", None)
    return time is None or parse_time(time, name="time", now=stored.created_at) == known


def _key_refusal(key: str, stored: MemoryRecord | None) -> InvalidInput:
    other = "a memory that is gone" if stored is None else f"another {stored.kind}"
    return InvalidInput(f"idempotency_key {key!r} was used for {other} and nothing was written; use a fresh key")


def _says_same(stored: MemoryRecord, new: MemoryRecord, *, in_any_session: bool) -> bool:
    """True for two memories of one kind, statement and place, by what no later change of the stored one moves."""
    match stored, new:
        case Episode(), Episode():
            is_there = in_any_session or stored.session == new.session
            return is_there and (stored.content, stored.role, stored.speaker) == (new.content, new.role, new.speaker)
        case Fact(), Fact():
            about = (new.subject, new.predicate, new.content, new.scope)
            return (stored.subject, stored.predicate, stored.content, stored.scope) == about
        case Rule(), Rule():
            said = (stored.content, stored.metadata.get("original_content"))  # of a warning
            return new.content in said and stored.scope == new.scope
        case _:
            return False
