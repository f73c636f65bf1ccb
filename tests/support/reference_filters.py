"""The meaning of a filter: the compilation to SQL of each backend is tested against it."""

from datetime import datetime

from engrain.domain.filters import Filter, is_hidden, is_under_key
from engrain.domain.memories.fact_keys import FactKey
from engrain.domain.records import Episode, Fact, MemoryRecord

_NO_KEY = FactKey("", "", "")


def matches(filter_: Filter, memory: MemoryRecord, now: datetime) -> bool:
    """True if a memory matches a filter."""
    session, turn, role, speaker = (
        (memory.session, memory.turn, memory.role, memory.speaker)
        if isinstance(memory, Episode)
        else (None, 0, None, None)
    )
    key, entity_id, category = (
        (memory.key, memory.entity_id, memory.category) if isinstance(memory, Fact) else (_NO_KEY, None, None)
    )
    return (
        memory.kind in filter_.kinds
        and (not filter_.scopes or memory.scope in filter_.scopes)
        and _is_there(filter_, memory, now)
        and (not filter_.sessions or session in filter_.sessions)
        and (session not in filter_.exclude_sessions or turn < filter_.exclude_from_turn)
        and (not filter_.roles or role in filter_.roles)
        and (not filter_.speakers or speaker in filter_.speakers)
        and (not filter_.subjects or key.subject in filter_.subject_keys or entity_id in filter_.entity_ids)
        and (not filter_.predicates or key.predicate in filter_.predicate_keys)
        and (not filter_.categories or category in filter_.categories)
        and set(filter_.tags) <= set(memory.tags)
        and (not filter_.standing or (isinstance(memory, Fact) and _is_standing(memory)))
        and (not filter_.trust or memory.trust in filter_.trust)
        and (filter_.notes_of is None or (isinstance(memory, Fact) and is_under_key(memory, filter_.notes_of)))
        and (filter_.since is None or memory.happened_at >= filter_.since)
        and (filter_.until is None or memory.happened_at < filter_.until)
        and (filter_.after is None or (memory.happened_at, memory.id) < filter_.after)
    )


def _is_there(filter_: Filter, memory: MemoryRecord, now: datetime) -> bool:
    at = now if filter_.as_of is None else filter_.as_of
    if isinstance(memory, Fact) and filter_.valid_at is not None:
        if not _was_true(memory, filter_.valid_at):
            return False
        if filter_.as_of is None:
            return filter_.include_inactive or memory.validity in {"active", "superseded"}
    elif isinstance(memory, Fact) and not filter_.include_inactive and not _holds(filter_, memory, at):
        return False
    if filter_.as_of is not None:
        return memory.was_believed(at) and (filter_.include_inactive or not is_hidden(memory))
    return filter_.include_inactive or memory.is_active(at)


def _holds(filter_: Filter, fact: Fact, at: datetime) -> bool:
    """True if the period of a fact holds a moment; the end of one that was superseded became known later."""
    if filter_.period == "any":
        return True
    is_over = fact.validity == "active" and fact.valid_to is not None and fact.valid_to <= at
    return not is_over and (filter_.period == "open" or fact.has_begun(at))


def _was_true(fact: Fact, at: datetime) -> bool:
    """True if its period has a moment; one that was superseded without an end has none."""
    end = fact.valid_to
    return fact.happened_at <= at and (fact.validity == "active" if end is None else end > at)


def _is_standing(fact: Fact) -> bool:
    """True if it is permanent, or was confirmed after it was stored."""
    was_confirmed = fact.last_confirmed_at is not None and fact.last_confirmed_at > fact.created_at
    return fact.permanence == "permanent" or was_confirmed
