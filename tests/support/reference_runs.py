"""What the reference store does for workers: it remembers how everything stood before a run, and puts that back."""

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from engrain.domain import events
from engrain.domain.filters import TimePosition
from engrain.domain.records import Caller, Episode, Event, Fact, Link, MemoryRecord
from engrain.domain.requests import Act
from engrain.domain.runs.plans import DOUBTED_CONFIDENCE, Action, ActionResult, Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import (
    WORKER_GONE,
    AgentBacklog,
    Batch,
    Claim,
    KeptItem,
    PendingSession,
    RestoredItem,
    Run,
    RunKind,
    Setback,
    UndoResult,
    after_failure,
    after_loss,
)
from engrain.errors import InvalidInput, NotFound
from tests.support.reference_entries import Entry, turn_of
from tests.support.reference_upkeep import ReferenceUpkeep


@dataclass
class Trace:
    """How the memories that a run touched stood before and after it, in order, and the edges it added."""

    memories: dict[str, tuple[MemoryRecord | None, MemoryRecord]] = field(default_factory=dict)
    links: dict[Any, Link] = field(default_factory=dict)


class ReferenceRuns(ReferenceUpkeep):
    """Runs in a list, and for each of them what it changed."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: dict[str, Run] = {}
        self._traces: dict[str, Trace] = {}

    def backlogs(self, now: datetime, *, tenant_id: str | None = None) -> list[AgentBacklog]:
        found: dict[tuple[str, str], list[Episode]] = {}
        for entry in self._entries.values():
            episode = entry.memory
            if not isinstance(episode, Episode) or not _is_due(episode, now):
                continue
            scopes = {"global", episode.agent}
            if episode.scope in scopes or episode.scope.startswith("pool:"):
                found.setdefault((episode.tenant_id, episode.agent), []).append(episode)
        leases = {
            (run.tenant_id, run.agent): run.lease_until
            for run in self._runs.values()
            if run.kind == "consolidation" and run.status == "running" and run.lease_until > now
        }
        return [
            AgentBacklog(
                tenant_id=tenant,
                agent=agent,
                pools=tuple(sorted({e.scope[5:] for e in due if e.scope.startswith("pool:")})),
                episodes=len(due),
                sessions=len({(e.scope, e.session) for e in due if e.session is not None}),
                leased_until=leases.get((tenant, agent)),
            )
            for (tenant, agent), due in sorted(found.items())
            if tenant_id in (None, tenant)
        ]

    def pending_sessions(self, caller: Caller, now: datetime, *, exclude: Collection[str] = ()) -> list[PendingSession]:
        waiting: dict[str, list[Episode]] = {}
        for episode in self._own(caller):
            if episode.session is not None and episode.session not in exclude and _waits(episode, now):
                waiting.setdefault(episode.session, []).append(episode)
        found = []
        for session, episodes in waiting.items():
            scopes = {episode.scope for episode in episodes}
            turns = [
                entry.memory.created_at
                for entry in self._entries.values()
                if isinstance(entry.memory, Episode)
                and entry.memory.tenant_id == caller.tenant_id
                and entry.memory.session == session
                and entry.memory.scope in scopes
            ]
            found.append(PendingSession(session=session, first_seen_at=min(turns), episodes=len(episodes)))
        return sorted(found, key=lambda each: (each.first_seen_at, each.session))

    def is_session_consolidated(self, caller: Caller, session: str, now: datetime) -> bool:
        there = [episode for episode in self._own(caller) if episode.session == session]
        return bool(there) and not any(_waits(episode, now) for episode in there)

    def claim(self, act: Act, claim: Claim) -> Batch | None:
        if claim.limit < 1 or claim.lease_s <= 0:
            raise InvalidInput("claim at least one episode for more than no time")
        for run in list(self._runs.values()):
            if (run.tenant_id, run.agent, run.kind) != (act.caller.tenant_id, act.caller.agent, claim.kind):
                continue
            if run.status == "running" and run.lease_until > act.at:
                return None
            if run.status == "running":
                before = {entry.memory.id: entry.memory for entry in self._entries.values()}
                self._set_back(act, run, WORKER_GONE, lambda turn: after_loss(turn, claim.retry, act.at))
                self._trace(run, before, dict(self._links))
                self._end(act, replace(run, status="abandoned", error=WORKER_GONE))
        claimed: list[Episode] = []
        if claim.kind == "consolidation":
            due = sorted(
                (e for e in self._own(act.caller) if _is_due(e, act.at) and _is_asked(e, claim)),
                key=lambda episode: (episode.created_at, episode.id),
            )
            alike = [e for e in due if e.consolidation_attempts == due[0].consolidation_attempts]
            claimed = alike[: claim.limit]
            if not claimed:
                return None
        run = Run(
            id=self._ids(),
            tenant_id=act.caller.tenant_id,
            kind=claim.kind,
            agent=act.caller.agent,
            worker=claim.worker,
            lease_until=act.at + timedelta(seconds=claim.lease_s),
            started_at=act.at,
            model=claim.model,
            prompt_version=claim.prompt_version,
            episode_ids=tuple(episode.id for episode in claimed),
        )
        self._runs[run.id] = run
        self._events.append(events.run_changed(act, run, self._ids, payload={}))
        return Batch(run=run, episodes=tuple(claimed))

    def renew(self, act: Act, run_id: str, lease_s: float) -> bool:
        if lease_s <= 0:
            raise InvalidInput("renew for more than no time")
        run = self._running(act, run_id)
        if run is not None:
            self._runs[run_id] = replace(run, lease_until=act.at + timedelta(seconds=lease_s))
        return run is not None

    def carry_out(self, act: Act, run_id: str, plan: Plan, report: Mapping[str, Any]) -> list[ActionResult] | None:
        run = self._running(act, run_id)
        if run is None:
            return None
        of_run = replace(act, run_id=run_id)
        before = {entry.memory.id: entry.memory for entry in self._entries.values()}
        edges = dict(self._links)
        done: list[ActionResult] = []
        renamed: dict[str, str] = {}
        for action in plan.actions:
            done.append(self._tried(of_run, action.with_ids(renamed)))
            if action.memory is not None and done[-1].memory_id is not None:
                renamed[action.memory.id] = done[-1].memory_id
        for entry in self._claimed(run, plan.episode_ids):
            self._events.append(events.episode_consolidated(of_run, turn_of(entry), self._ids))
            entry.memory = replace(turn_of(entry), consolidation_status="consolidated")
        self._trace(run, before, edges)
        self._end(act, replace(run, status="done", report=report))
        return done

    def give_up(self, act: Act, run_id: str, error: str, retry: Retry) -> Run | None:
        run = self._running(act, run_id)
        if run is None:
            return None
        before = {entry.memory.id: entry.memory for entry in self._entries.values()}
        self._set_back(act, run, error, lambda turn: after_failure(turn, retry, act.at))
        self._trace(run, before, dict(self._links))
        return self._end(act, replace(run, status="failed", error=error))

    def _set_back(self, act: Act, run: Run, error: str, after: Callable[[Episode], Setback]) -> None:
        for entry in self._claimed(run, run.episode_ids):
            episode = turn_of(entry)
            stands = after(episode)
            self._events.append(
                events.consolidation_failed(replace(act, run_id=run.id), episode, stands, self._ids, error=error)
            )
            entry.memory = replace(
                episode,
                consolidation_status=stands.status,
                consolidation_attempts=stands.attempts,
                next_consolidation_retry_at=stands.retry_at,
                last_consolidation_error=error,
            )

    def runs(
        self, caller: Caller, *, kind: RunKind | None = None, limit: int = 50, after: TimePosition | None = None
    ) -> list[Run]:
        mine = [run for run in self._runs.values() if (run.tenant_id, run.agent) == (caller.tenant_id, caller.agent)]
        of_kind = [run for run in mine if kind in (None, run.kind)]
        of_kind = [run for run in of_kind if after is None or (run.started_at, run.id) < after]
        return sorted(of_kind, key=lambda run: (run.started_at, run.id), reverse=True)[: max(limit, 0)]

    def undo(self, act: Act, run_id: str) -> UndoResult:
        run = self._undoable(act, run_id)
        of_run = replace(act, run_id=run_id)
        trace = self._traces[run_id]
        restored: list[RestoredItem] = []
        kept: list[KeptItem] = []
        stays: set[str] = set()
        # What it made goes first: only then is the place of what that superseded free.
        for before, after in reversed(list(trace.memories.values())):
            if before is None:
                self._take_back(of_run, after, restored, kept, stays=stays)
        for key, link in trace.links.items():
            if link.source_id not in stays and self._links.pop(key, None) is not None and link.relation != "supersedes":
                self._events.append(_event(of_run, "link_removed", link.source_id, self._ids()))
        against = [link for link in trace.links.values() if link.relation == "supersedes"]
        spoken_against = {link.target_id for link in against if link.source_id in stays}
        for before, after in reversed(list(trace.memories.values())):
            if before is not None and before.id in spoken_against:
                kept.append(KeptItem(memory_id=before.id, reason="what speaks against it was kept"))
            elif before is not None:
                self._put_back(of_run, before, after, restored, kept)
        undone = self._end(act, replace(run, status="undone", finished_at=None))
        return UndoResult(run=undone, restored=tuple(restored), kept=tuple(kept))

    def _undoable(self, act: Act, run_id: str) -> Run:
        run = self._runs.get(run_id)
        if run is None or (run.tenant_id, run.agent) != (act.caller.tenant_id, act.caller.agent):
            raise NotFound(f"no run {run_id}")
        if run.status not in {"done", "failed"} and (run.status != "abandoned" or not run.episode_ids):
            why = {"running": "still running", "undone": "undone already"}
            raise InvalidInput(f"run {run_id} is {why.get(run.status, run.status)}")
        told = [event for event in self._events if event.run_id == run_id and event.tenant_id == run.tenant_id]
        if {event.scope for event in told} - set(act.caller.scopes):
            raise InvalidInput(f"run {run_id} wrote where the caller does not see")
        return run

    def _tried(self, act: Act, action: Action) -> ActionResult:
        kept = copy.deepcopy((self._entries, self._links, self._events, self._arrived))
        try:
            return ActionResult(kind=action.kind, memory_id=self._carried_out(act, action))
        except (InvalidInput, NotFound) as error:
            self._entries, self._links, self._events, self._arrived = kept
            return ActionResult(kind=action.kind, error=str(error))

    def _carried_out(self, act: Act, action: Action) -> str:
        memory = action.memory
        if action.kind == "confirmation" or memory is None:
            if action.kind != "confirmation" or self.confirm(act, action.target_id or "") is None:
                raise NotFound(f"nothing to store, or to confirm as {action.target_id}")
            return action.target_id or ""
        if any(e.memory_id == memory.id and e.event_type.endswith("_taken_back") for e in self._events):
            memory = replace(memory, id=self._ids())
        target = self._target(act, action) if action.kind == "updated_fact" else None
        if target is not None:
            memory = replace(memory, supersedes_id=target.memory.id)
        named = {*action.sources, *action.doubts}
        if len(self._entries.named(act.caller, named)) < len(named):
            raise NotFound(f"not all of {sorted(named)} are there")
        stored = self.put(act, [memory])
        if not stored:
            return memory.id
        if target is not None and target.memory.validity == "active":
            self._close(act, target, stored[0])
            self._edge(act, memory.id, target.memory.id)
        for id_ in dict.fromkeys(action.sources):
            self.link(act, Link(source_id=memory.id, target_id=id_, relation="derived_from", created_at=act.at))
        for doubted in self._entries.named(act.caller, action.doubts):
            self._doubt(act, stored[0], doubted)
        return memory.id

    def _target(self, act: Act, action: Action) -> Entry:
        found = self._entries.named(act.caller, [action.target_id or ""])
        if not found or not isinstance(found[0].memory, Fact) or found[0].memory.validity != "active":
            raise NotFound(f"no active fact {action.target_id} to update")
        return found[0]

    def doubt(self, act: Act, id_: str, by_id: str) -> Fact | None:
        if id_ == by_id:
            raise InvalidInput("a fact cannot doubt itself")
        found = {entry.memory.id: entry for entry in self._entries.named(act.caller, [id_, by_id])}
        if len(found) < 2:
            return None
        self._doubt(act, found[by_id].memory, found[id_])
        return found[id_].memory

    def _doubt(self, act: Act, by: MemoryRecord, doubted: Entry) -> None:
        before = doubted.memory
        if not isinstance(before, Fact) or not isinstance(by, Fact):
            raise InvalidInput("only facts doubt facts")
        if before.validity != "active" or before.id == by.id:
            return
        doubted.memory = after = replace(before, confidence=min(before.confidence, DOUBTED_CONFIDENCE))
        linked = self._edge(act, by.id, before.id)
        self._events.append(events.fact_doubted(act, before, after, self._ids, by=by, linked=linked))

    def _edge(self, act: Act, source_id: str, target_id: str) -> bool:
        edge = Link(source_id=source_id, target_id=target_id, relation="supersedes", created_at=act.at)
        return self._connect(act.caller.tenant_id, edge)

    def _trace(self, run: Run, before: Mapping[str, MemoryRecord], edges: Mapping[Any, Link]) -> None:
        after = {entry.memory.id: entry.memory for entry in self._entries.values()}
        self._traces[run.id] = Trace(
            {id_: (before.get(id_), now) for id_, now in after.items() if before.get(id_) != now},
            {key: link for key, link in self._links.items() if key not in edges},
        )

    def _take_back(
        self, act: Act, made: MemoryRecord, restored: list[RestoredItem], kept: list[KeptItem], *, stays: set[str]
    ) -> None:
        id_ = made.id
        entry = self._find(act, id_)
        why = None
        if entry is None:
            why = "it is gone"
        elif not entry.memory.is_live(act.at) and made.is_live(act.at):
            why = "it is no longer live"
        elif entry.memory.last_confirmed_at != made.last_confirmed_at:
            why = "it was confirmed since"
        elif getattr(entry.memory, "applied_count", 0) != getattr(made, "applied_count", 0):
            why = "it was marked since"
        if why is not None:
            kept.append(KeptItem(memory_id=id_, reason=why))
            stays |= {id_} if entry is not None and entry.memory.is_live(act.at) else set()
            return
        assert entry is not None
        now = entry.memory
        if isinstance(now, Fact):
            entry.memory = replace(now, validity="retracted", invalidated_at=act.at)
        else:
            entry.memory = replace(now, metadata={**now.metadata, "forgotten": True}, invalidated_at=act.at)
        entry.take_out()
        self._restored(act, entry.memory, f"{now.kind}_taken_back", restored)

    def _put_back(
        self, act: Act, before: MemoryRecord, after: MemoryRecord, restored: list[RestoredItem], kept: list[KeptItem]
    ) -> None:
        entry = self._find(act, before.id)
        if entry is None:
            kept.append(KeptItem(memory_id=before.id, reason="it is gone"))
            return
        for names, what in _WHAT[before.kind]:
            if all(getattr(before, name) == getattr(after, name) for name in names):
                continue
            now = entry.memory
            if any(getattr(now, name) != getattr(after, name) for name in names) or self._is_taken(before, now):
                kept.append(KeptItem(memory_id=before.id, reason="it was changed since, or its place is taken"))
                continue
            entry.memory = replace(now, **{name: getattr(before, name) for name in names})
            if what == "fact_restored":
                entry.put_back()
            self._restored(act, entry.memory, what, restored)

    def _is_taken(self, before: MemoryRecord, now: MemoryRecord) -> bool:
        if not isinstance(before, Fact) or not isinstance(now, Fact) or before.validity == now.validity:
            return False
        facts = [entry.memory for entry in self._entries.values() if isinstance(entry.memory, Fact)]
        return any(each.validity == "active" and each.slot == now.slot for each in facts)

    def _restored(self, act: Act, memory: MemoryRecord, what: str, restored: list[RestoredItem]) -> None:
        restored.append(RestoredItem(memory_id=memory.id, kind=memory.kind, what=what))
        self._events.append(events.memory_event(act, what, memory, self._ids, payload={}))

    def _find(self, act: Act, id_: str) -> Entry | None:
        named = [e for e in self._entries.values() if (e.memory.tenant_id, e.memory.id) == (act.caller.tenant_id, id_)]
        return named[0] if named else None

    def _own(self, caller: Caller) -> list[Episode]:
        seen = [entry.memory for entry in self._entries.visible(caller)]
        return [each for each in seen if isinstance(each, Episode) and each.agent == caller.agent]

    def _running(self, act: Act, run_id: str) -> Run | None:
        run = self._runs.get(run_id)
        mine = run is not None and (run.tenant_id, run.agent) == (act.caller.tenant_id, act.caller.agent)
        return run if run is not None and mine and run.status == "running" else None

    def _claimed(self, run: Run, ids: Collection[str]) -> list[Entry]:
        wanted = set(run.episode_ids) & set(ids)
        return [
            entry
            for entry in self._entries.values()
            if isinstance(entry.memory, Episode)
            and (entry.memory.tenant_id, entry.memory.consolidation_status) == (run.tenant_id, "pending")
            and entry.memory.id in wanted
        ]

    def _end(self, act: Act, run: Run) -> Run:
        self._runs[run.id] = ended = replace(run, finished_at=act.at)
        self._events.append(events.run_changed(act, ended, self._ids, payload={}))
        return ended


# What a run changes of a memory that was there, and what putting it back is called.
_WHAT: Mapping[str, list[tuple[tuple[str, ...], str]]] = {
    "episode": [
        (
            (
                "consolidation_status",
                "consolidation_attempts",
                "last_consolidation_error",
                "next_consolidation_retry_at",
            ),
            "episode_reopened",
        )
    ],
    "fact": [
        (("validity", "invalidated_at", "valid_to"), "fact_restored"),
        (("last_confirmed_at", "metadata"), "fact_confirmation_undone"),
        (("confidence",), "fact_doubt_undone"),
    ],
    "rule": [(("last_confirmed_at", "metadata"), "rule_confirmation_undone")],
}


def _waits(episode: Episode, now: datetime) -> bool:
    return episode.consolidation_status == "pending" and episode.is_live(now)


def _is_due(episode: Episode, now: datetime) -> bool:
    retry_at = episode.next_consolidation_retry_at
    return _waits(episode, now) and (retry_at is None or retry_at <= now)


def _is_asked(episode: Episode, claim: Claim) -> bool:
    is_named = not claim.sessions or episode.session in claim.sessions
    return is_named and (episode.session is None or episode.session not in claim.exclude_sessions)


def _event(act: Act, event_type: str, memory_id: str, id_: str) -> Event:
    return Event(
        id=id_,
        tenant_id=act.caller.tenant_id,
        event_type=event_type,
        scope=act.caller.agent,
        actor=act.caller.agent,
        memory_id=memory_id,
        run_id=act.run_id,
        created_at=act.at,
    )
