"""Reversal of runs: which changes an undo takes back and which it keeps, from events and present memories. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from engrain.domain.records import Caller, Episode, Event, Fact, MemoryRecord, Rule
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.runs.runs import Run

_CREATIONS = frozenset({"fact_created", "rule_created"})
_CONFIRMATIONS = frozenset({"fact_confirmed", "rule_confirmed"})
_MARKS = frozenset({"rule_marked_helpful", "rule_marked_harmful"})
# Events by which a caller has made a memory its own: an undo keeps it.
STANDING_BY: tuple[str, ...] = tuple(sorted(_CONFIRMATIONS | _MARKS))


def check_undo(run: Run) -> None:
    """Check that there is something of a run to undo.

    Raises:
        InvalidInput: it is running, wrote nothing, or was undone before.
    """
    match run.status:
        case "undone":
            raise InvalidInput(f"run {run.id} is undone already; there is nothing left of it to take back")
        case "running":
            raise InvalidInput(f"run {run.id} is still running; let it end before it is undone")
        case "abandoned" if not run.episode_ids:
            raise InvalidInput(f"run {run.id} was abandoned and wrote nothing; there is nothing to take back")
        case "done" | "failed" | "abandoned":
            return


def check_events(run: Run, events: Iterable[Event]) -> None:
    """Check that the events of a run are there, by its first one, which leaves before all others.

    Raises:
        InvalidInput: they were removed by their age.
    """
    if not any(event.event_type == "run_started" for event in events):
        reason = f"run {run.id} began on {run.started_at:%Y-%m-%d}, and its audit events were removed since"
        raise InvalidInput(
            f"{reason} (events.keep_days), so nothing says what it changed; correct or forget what it wrote instead"
        )


def check_visible(run: Run, events: Iterable[Event], caller: Caller) -> None:
    """Check that a caller sees all changes of a run.

    Raises:
        InvalidInput: it wrote to a scope that the caller does not see.
    """
    hidden = sorted({event.scope for event in events} - set(caller.scopes))
    if hidden:
        reason = f"run {run.id} wrote to {', '.join(hidden)}, which agent {caller.agent} does not see here"
        raise InvalidInput(f"{reason}; undo it as a member of those pools")


def find_kept(events: Sequence[Event], now: Mapping[str, MemoryRecord], others: Iterable[Event]) -> Mapping[str, str]:
    """Reasons to keep memories of a run, by id; `events`: the run's in order; `others`: events of STANDING_BY."""
    created = [event.memory_id for event in events if event.event_type in _CREATIONS and event.memory_id is not None]
    run_id = events[0].run_id if events else None
    later = [event for event in others if event.run_id != run_id]
    superseded = {
        event.memory_id: str(event.payload["superseded_by"])
        for event in events
        if event.event_type == "fact_superseded" and event.memory_id in now and event.payload
    }
    reasons: dict[str, str] = {}
    for id_ in reversed(created):
        if id_ not in now:
            reasons[id_] = "it is no longer there"
            continue
        memory = now[id_]
        newer = superseded.get(id_)
        if newer is not None and newer not in reasons and isinstance(memory, Fact) and memory.validity == "superseded":
            reason = _explain_claimed(memory, later)  # the newer one goes, and this one would come back
        else:
            reason = _explain_inactive(memory) or _explain_claimed(memory, later)
        if reason is not None:
            reasons[id_] = reason
    return reasons


def explain_superseded(event: Event, fact: Fact) -> str | None:
    """Reason not to restore a fact that a run superseded, from the fact alone; None if it may be restored."""
    if fact.validity != "superseded" or fact.invalidated_at != event.created_at:
        return f"it is {fact.state} by something else since"
    return None


def find_end(event: Event) -> datetime | None:
    """End of the period of a fact that was over when it was superseded; None of any other.

    Whose end it was, its own or that of another fact, is settled by then.
    """
    match event.payload.get("valid_to"):
        case [str() as before, _] if datetime.fromisoformat(before) <= event.created_at:
            return datetime.fromisoformat(before)
    return None


def restore_episode(event: Event, episode: Episode) -> Episode | None:
    """The episode as before a run consolidated it or failed at it; None if it has changed since."""
    before, after = event.payload["status"]
    if episode.consolidation_status != after:
        return None
    if event.event_type == "episode_consolidated":
        return replace(episode, consolidation_status=before)
    attempts, attempts_after = event.payload["attempts"]
    if episode.consolidation_attempts != attempts_after:
        return None
    retry_at = event.payload["retry_at"][0]
    return replace(
        episode,
        consolidation_status=before,
        consolidation_attempts=attempts,
        last_consolidation_error=event.payload["error"][0],
        next_consolidation_retry_at=None if retry_at is None else datetime.fromisoformat(retry_at),
    )


def _explain_inactive(memory: MemoryRecord) -> str | None:
    match memory:
        case Fact(validity="active"):
            return None
        case Fact():
            return f"it was {memory.validity} since"
        case Rule():
            return "it was forgotten since" if memory.is_forgotten else None
        case Episode():
            return None


def _explain_claimed(memory: MemoryRecord, others: Iterable[Event]) -> str | None:
    """Reason if a caller confirmed the memory, and that still stands, or marked a rule."""
    assert not isinstance(memory, Episode)
    for event in others:
        if event.memory_id != memory.id:
            continue
        if event.event_type in _MARKS:
            return "it was followed and marked since"
        if event.created_at == memory.last_confirmed_at:
            return "it was confirmed since"
    return None
