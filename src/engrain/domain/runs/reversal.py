"""What an undo of a run takes back and what it leaves, decided from the run's events and how things stand now."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from engrain.domain.events import format_time
from engrain.domain.records import Episode, Fact, Rule
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engrain.domain.records import Caller, Event, MemoryRecord
    from engrain.domain.runs.runs import Run

_CREATIONS = frozenset({"fact_created", "rule_created"})
_CONFIRMATIONS = frozenset({"fact_confirmed", "rule_confirmed"})
_MARKS = frozenset({"rule_marked_helpful", "rule_marked_harmful"})
# Whoever did such a thing has made the memory their own.
STANDING_BY: tuple[str, ...] = tuple(sorted(_CONFIRMATIONS | _MARKS))


def check_undo(run: Run) -> None:
    """Whether there is something of a run to take back.

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


def check_visible(run: Run, told: Iterable[Event], caller: Caller) -> None:
    """Whether a caller sees all that a run has done.

    Raises:
        InvalidInput: it wrote to a scope that the caller does not see.
    """
    hidden = sorted({event.scope for event in told} - set(caller.scopes))
    if hidden:
        said_ = f"run {run.id} wrote to {', '.join(hidden)}, which agent {caller.agent} does not see here"
        raise InvalidInput(f"{said_}; undo it as a member of those pools")


def find_kept(told: Sequence[Event], now: Mapping[str, MemoryRecord], others: Iterable[Event]) -> Mapping[str, str]:
    """Why memories that a run made are kept, by their ids; `told`: its events in order; `others`: of STANDING_BY."""
    made = [event.memory_id for event in told if event.event_type in _CREATIONS and event.memory_id is not None]
    run_id = told[0].run_id if told else None
    stood_by = [event for event in others if event.run_id != run_id]
    superseded = {
        event.memory_id: str(event.payload["superseded_by"])
        for event in told
        if event.event_type == "fact_superseded" and event.memory_id in now
    }
    why: dict[str, str] = {}
    for id_ in reversed(made):
        if id_ not in now:
            why[id_] = "it is no longer there"
            continue
        memory = now[id_]
        newer = superseded.get(id_)
        if newer is not None and newer not in why and _is_superseded(memory):
            reason = _why_theirs(memory, stood_by)  # the newer one goes, and this one would come back
        else:
            reason = _why_gone(memory) or _why_theirs(memory, stood_by)
        if reason is not None:
            why[id_] = reason
    return why


def explain_superseded(event: Event, fact: Fact) -> str | None:
    """Why a fact that a run superseded is not believed again, as far as it says so itself; None where it may be."""
    if fact.validity != "superseded" or fact.invalidated_at != event.created_at:
        return f"it is {fact.state} by something else since"
    return None


def restore_episode(event: Event, episode: Episode) -> Episode | None:
    """An episode as it was before a run consolidated it or failed at it; None where that is not how it stands now."""
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


def _is_superseded(memory: MemoryRecord) -> bool:
    return isinstance(memory, Fact) and memory.validity == "superseded"


def _why_gone(memory: MemoryRecord) -> str | None:
    match memory:
        case Fact(validity="active"):
            return None
        case Fact():
            return f"it was {memory.validity} since"
        case Rule():
            return "it was forgotten since" if memory.is_forgotten else None
        case Episode():
            return None


def _why_theirs(memory: MemoryRecord, others: Iterable[Event]) -> str | None:
    """Whether somebody confirmed it, and that still stands, or said what came of following it."""
    assert not isinstance(memory, Episode)
    for event in others:
        if event.memory_id != memory.id:
            continue
        if event.event_type in _MARKS:
            return "it was followed and marked since"
        if event.payload["last_confirmed_at"][1] == format_time(memory.last_confirmed_at):
            return "it was confirmed since"
    return None
