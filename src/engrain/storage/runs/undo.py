"""Undo of a run: reads its events from the last to the first, and reverses each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.memories import decay
from engrain.domain.records import Episode, Event, Fact, MemoryRecord, Rule, format_time
from engrain.domain.runs import reversal
from engrain.domain.runs.runs import KeptItem, RestoredItem, UndoResult
from engrain.errors import NotFound
from engrain.storage import selection
from engrain.storage.runs import claims
from engrain.storage.write import periods, updates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.storage.transaction import Transaction
    from engrain.storage.unit_of_work import UnitOfWork


def undo_run(work: UnitOfWork, run_id: str) -> UndoResult:
    """Undo all changes of a run, by its events; every reversal has an event of its own.

    Added facts are retracted and added rules forgotten (`fact_taken_back`, `rule_taken_back`): out of the searches,
    those of the past too, readable by id. Facts that they superseded are active and searched again
    (`fact_restored`); confirmations (`fact_confirmation_undone`, `rule_confirmation_undone`), confidences
    (`fact_doubt_undone`) and periods (`fact_period_restored`) are as before; links are removed (`link_removed`);
    episodes wait again with their old attempts (`episode_reopened`), and so do their sessions. The run is `undone`.

    Changes made since are kept, with what depends on them, and `UndoResult.kept` says why: a new fact or rule that was
    confirmed, marked, superseded or forgotten since, a fact whose slot another one has taken, one that was confirmed or
    doubted again, an episode that is no longer there, what was erased and restored since.

    Raises:
        NotFound: the agent has no such run.
        InvalidInput: it is running, was abandoned and had claimed nothing, or is undone already; its events are gone;
            or it wrote to a scope the caller does not see. Nothing was written.
    """
    run = claims.lock_run(work, run_id)
    if run is None:
        raise NotFound(f"agent {work.agent} has no run {run_id}; list the runs to see their ids")
    facts = [memory for memory in _load_changed(work, run_id) if isinstance(memory, Fact)]
    work.backend.lock(work, run.episode_ids, facts)
    reversal.check_undo(run)
    run_events = _load_run_events(work, run_id)
    reversal.check_events(run, run_events)
    reversal.check_visible(run, run_events, work.caller)
    of_run = work.within_run(run.id)
    undo = _Undo.of(of_run, run_events)
    for event in reversed(run_events):
        undo.reverse(event)
    undo.reopen_periods()
    undo.reopen_sessions()
    undone = replace(run, status="undone", finished_at=of_run.act.at)
    counts = {"kind": run.kind, "restored": len(undo.restored), "kept": len(undo.kept)}
    claims.end_run(of_run, undone, payload=counts)
    return UndoResult(run=undone, restored=tuple(undo.restored), kept=tuple(undo.kept))


@dataclass(slots=True)
class _Undo:
    """An undo under way: the events that are taken back, and what came of them so far."""

    work: UnitOfWork
    memories: dict[str, tuple[int, MemoryRecord]]  # docs and records as they are now, all locked
    stays: Mapping[str, str]  # why a memory that the run made is kept, by its id
    restored: list[RestoredItem] = field(default_factory=list)
    kept: list[KeptItem] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)  # facts that no longer end the period of another

    @classmethod
    def of(cls, work: UnitOfWork, run_events: Sequence[Event]) -> _Undo:
        """Load the memories that a run's events are about and the caller sees, locked until the transaction ends."""
        ids = sorted({event.memory_id for event in run_events if event.memory_id is not None})
        visible = selection.load_visible(work, ids, lock=work.dialect.lock) if ids else []
        memories = {memory.id: (doc, memory) for doc, memory in visible}
        others = _load_later_events(work, ids)
        stays = reversal.find_kept(run_events, {id_: memory for id_, (_, memory) in memories.items()}, others)
        return cls(work, memories, stays)

    def reverse(self, event: Event) -> None:
        """Take back what one event tells of."""
        reversal = _REVERSALS.get(event.event_type)
        if reversal is None or event.memory_id is None:
            return
        found = self.memories.get(event.memory_id)
        if found is not None and (event.payload or reversal == _Undo.take_back):
            reversal(self, event, *found)
        elif event.event_type != "link_created":  # an edge goes with its ends
            emptied = "it was erased and restored since, and its events tell no more what it was"
            self._keep(event.memory_id, "it is no longer there" if found is None else emptied)

    def reopen_sessions(self) -> None:
        """Sessions whose episodes wait again wait themselves."""
        if self.reopened:
            tx = self.work
            tx.run("reopen_sessions", tenant_id=self._tenant_id, ids=tx.dialect.listed(self.reopened))

    def take_back(self, event: Event, doc: int, memory: MemoryRecord) -> None:  # noqa: ARG002  # one of _REVERSALS
        """A fact or rule that the run made: out of the searches, and readable by id."""
        if memory.id in self.stays:
            self._keep(memory.id, self.stays[memory.id])
            return
        tx, act = self.work, self.work.act
        metadata = {**memory.metadata, "hidden": True}  # of the past, too, where what it superseded holds again
        after: MemoryRecord
        match memory:
            case Fact():
                after = replace(memory, validity="retracted", invalidated_at=act.at, metadata=metadata)
                changed: dict[str, Any] = {"validity": [memory.validity, "retracted"]}
            case Rule():
                after = replace(memory, metadata=metadata | {"forgotten": True}, invalidated_at=act.at)
                changed = {"forgotten": [False, True]}
            case Episode():
                return
        named = {"tenant_id": memory.tenant_id, "id": memory.id, "at": tx.dialect.time(act.at)}
        tx.run(f"forget_{memory.kind}", **named, metadata=tx.dialect.json(after.metadata))
        self.work.index.take_out(tx, memory.tenant_id, [doc], at=act.at)
        self._tell(f"{memory.kind}_taken_back", doc, after, changed)
        self.gone.add(memory.id)

    def believe_again(self, event: Event, doc: int, memory: MemoryRecord) -> None:
        """A fact that one of the run's superseded."""
        assert isinstance(memory, Fact)
        newer = str(event.payload["superseded_by"])
        tx = self.work
        ended = reversal.find_end(event)
        own = periods.load_own_end(tx, memory) if ended is None else ended
        back = replace(memory, validity="active", invalidated_at=None, valid_to=own)
        why = reversal.explain_superseded(event, memory) or self._why_in_force(newer) or self._why_taken(back)
        if why is not None:
            self._keep(memory.id, why)
            return
        for relation in ("supersedes", "derived_from"):
            self._drop_link(newer, memory, relation)
        after, before = periods.fit_again(tx, back)
        end = None if after.valid_to is None else tx.dialect.time(after.valid_to)
        tx.run("reactivate_fact", tenant_id=memory.tenant_id, id=memory.id, valid_to=end)
        self.work.index.put_back(tx, doc, after)
        changed: dict[str, Any] = {"validity": [memory.validity, "active"]}
        if after.valid_to != own:
            changed["valid_to"] = [format_time(own), format_time(after.valid_to)]
        self._tell("fact_restored", doc, after, changed)
        periods.end_before(tx, after, before)

    def unconfirm(self, event: Event, doc: int, memory: MemoryRecord) -> None:
        """A confirmation, and the fading that it ended."""
        assert isinstance(memory, Fact | Rule)
        before, after = event.payload["last_confirmed_at"]
        if format_time(memory.last_confirmed_at) != after:
            self._keep(memory.id, "it was confirmed again since")
            return
        tx = self.work
        moment = None if before is None else datetime.fromisoformat(before)
        metadata = decay.with_fading(memory.metadata) if "standing" in event.payload else memory.metadata
        tx.run(
            f"set_{memory.kind}_confirmation",
            tenant_id=memory.tenant_id,
            id=memory.id,
            last_confirmed_at=None if moment is None else tx.dialect.time(moment),
            metadata=tx.dialect.json(metadata),
        )
        restored = replace(memory, last_confirmed_at=moment, metadata=metadata)
        self._tell(f"{memory.kind}_confirmation_undone", doc, restored, {"last_confirmed_at": [after, before]})

    def restore_confidence(self, event: Event, doc: int, memory: MemoryRecord) -> None:
        """A fact that one of the run's spoke against."""
        assert isinstance(memory, Fact)
        by = str(event.payload["by"])
        before, after = event.payload["confidence"]
        why = self._why_in_force(by)
        if why is not None:
            self._keep(memory.id, why)
            return
        if event.payload["linked"]:
            self._drop_link(by, memory, "supersedes")
        if memory.confidence != after:
            self._keep(memory.id, "its confidence was changed since")
            return
        self.work.run("doubt_fact", tenant_id=memory.tenant_id, id=memory.id, confidence=before)
        restored = replace(memory, confidence=before)
        self._tell("fact_doubt_undone", doc, restored, {"confidence": [after, before], "by": by})

    def restore_period(self, event: Event, doc: int, memory: MemoryRecord) -> None:
        """A fact whose period was to end where one of the run's began."""
        assert isinstance(memory, Fact)
        by = str(event.payload["by"])
        before, after = event.payload["valid_to"]
        why = self._why_in_force(by)
        if why is None and (memory.validity not in {"active", "superseded"} or format_time(memory.valid_to) != after):
            why = "its period was changed since"
        if why is not None:
            self._keep(memory.id, why)
            return
        self._drop_link(by, memory, "supersedes")
        if memory.validity == "active":
            self.gone.add(by)
            return
        own = replace(memory, valid_to=None if before is None else datetime.fromisoformat(before))
        self._set_period(doc, memory, periods.fit_again(self.work, own)[0].valid_to, by=by)

    def reopen_periods(self) -> None:
        """Let those go on that end where a fact begins which was taken back."""
        for _, going in [self.memories[id_] for id_ in sorted(self.gone & self.memories.keys())]:
            for doc, fact, end in periods.find_reopened(self.work, going) if isinstance(going, Fact) else ():
                self._set_period(doc, fact, end, by=going.id)

    def _set_period(self, doc: int, fact: Fact, end: datetime | None, *, by: str) -> None:
        updates.set_end(self.work, doc, fact, end)
        changed = {"valid_to": [format_time(fact.valid_to), format_time(end)], "by": by}
        self._tell("fact_period_restored", doc, replace(fact, valid_to=end), changed)

    def unlink(self, event: Event, doc: int, memory: MemoryRecord) -> None:  # noqa: ARG002  # one of _REVERSALS
        """An edge that the run added, unless it is of something that is kept."""
        if memory.id in self.stays:
            return
        edge = {"target_id": event.payload["target_id"], "relation": event.payload["relation"]}
        tx = self.work
        if tx.one("drop_link", tenant_id=memory.tenant_id, source_id=memory.id, **edge) is not None:
            self.work.record(events.link_removed(self.work.act, event, self.work.ids))

    def wait_again(self, event: Event, doc: int, memory: MemoryRecord) -> None:
        """An episode that the run was done with, or failed at."""
        assert isinstance(memory, Episode)
        before = reversal.restore_episode(event, memory)
        if before is None:
            self._keep(memory.id, f"it is {memory.consolidation_status} by another run since")
            return
        tx = self.work
        retry_at = before.next_consolidation_retry_at
        tx.run(
            "set_consolidation",
            tenant_id=memory.tenant_id,
            id=memory.id,
            status=before.consolidation_status,
            attempts=before.consolidation_attempts,
            error=before.last_consolidation_error,
            retry_at=None if retry_at is None else tx.dialect.time(retry_at),
        )
        self.reopened.append(memory.id)
        changed = {
            "status": [memory.consolidation_status, before.consolidation_status],
            "attempts": [memory.consolidation_attempts, before.consolidation_attempts],
        }
        self._tell("episode_reopened", doc, before, changed)

    @property
    def _tenant_id(self) -> str:
        return self.work.tenant_id

    def _drop_link(self, source_id: str, target: MemoryRecord, relation: str) -> None:
        """Remove a link from a memory of the run; of another one it stays."""
        if source_id in self.memories:
            named = {"tenant_id": target.tenant_id, "source_id": source_id, "target_id": target.id}
            self.work.run("drop_link", **named, relation=relation)

    def _why_taken(self, fact: Fact) -> str | None:
        """Whose the place is that a fact would come back to, where it is somebody's."""
        holder = periods.find_holder(self.work, fact)
        return None if holder is None else f"fact {holder.id} has its place now"

    def _why_in_force(self, newer: str) -> str | None:
        """Why what a fact of the run did to another goes on: it was kept, and is believed."""
        found = self.memories.get(newer)
        if newer not in self.stays or found is None or not found[1].is_active(self.work.act.at):
            return None
        return f"fact {newer}, which speaks against it, was kept"

    def _keep(self, memory_id: str, reason: str) -> None:
        kept = KeptItem(memory_id=memory_id, reason=reason)
        if kept not in self.kept:
            self.kept.append(kept)

    def _tell(self, what: str, doc: int, after: MemoryRecord, changed: Mapping[str, Any]) -> None:
        self.memories[after.id] = (doc, after)
        self.restored.append(RestoredItem(memory_id=after.id, kind=after.kind, what=what))
        act, ids = self.work.act, self.work.ids
        self.work.record(events.memory_event(act, what, after, ids, payload=changed))


_REVERSALS: Mapping[str, Callable[[_Undo, Event, int, MemoryRecord], None]] = {
    "fact_created": _Undo.take_back,
    "rule_created": _Undo.take_back,
    "fact_superseded": _Undo.believe_again,
    "fact_confirmed": _Undo.unconfirm,
    "rule_confirmed": _Undo.unconfirm,
    "fact_doubted": _Undo.restore_confidence,
    "fact_period_changed": _Undo.restore_period,
    "link_created": _Undo.unlink,
    "episode_consolidated": _Undo.wait_again,
    "episode_consolidation_failed": _Undo.wait_again,
}


def _load_run_events(work: UnitOfWork, run_id: str) -> list[Event]:
    """Load the events of a run, in order, whoever sees them."""
    bound = {"tenant_id": work.tenant_id, "run_id": run_id}
    return _load_events(work, "memory_events_run", "run_id = :run_id", bound)


def _load_later_events(work: UnitOfWork, ids: Sequence[str]) -> list[Event]:
    """Load later events by which somebody stands by some memories, in order."""
    if not ids:
        return []
    listed = work.dialect.listed
    bound = {"tenant_id": work.tenant_id, "ids": listed(ids), "types": listed(reversal.STANDING_BY)}
    return _load_events(work, "memory_events_memory", "memory_id IN :ids AND event_type IN :types", bound)


def _load_events(tx: Transaction, index: str, condition: str, bound: Mapping[str, Any]) -> list[Event]:
    rest = f"FROM memory_events INDEXED BY {index} WHERE tenant_id = :tenant_id AND {condition} ORDER BY id"
    return tx.load(tx.statements.records.events, rest, bound)


def _load_changed(work: UnitOfWork, run_id: str) -> list[MemoryRecord]:
    """Load the memories that a run changed and the caller sees, before anything is locked."""
    ids = sorted({event.memory_id for event in _load_run_events(work, run_id) if event.memory_id is not None})
    return selection.load_memories(work, ids) if ids else []
