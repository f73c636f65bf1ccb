"""Runs of learning as a part of the Store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Caller, Fact
from engrain.storage import selection
from engrain.storage.runs import actions, claims, undo
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime
    from typing import Any

    from engrain.domain.filters import TimePosition
    from engrain.domain.requests import Act
    from engrain.domain.runs.plans import ActionResult, Plan
    from engrain.domain.runs.retries import Retry
    from engrain.domain.runs.runs import AgentBacklog, Batch, Claim, PendingSession, Run, RunKind, UndoResult
    from engrain.storage.write.memories import MemoryWrites


class SqlRuns(Transactions):
    """Implements `domain.runs.runs_port.Runs`."""

    def backlogs(self, now: datetime, *, tenant_id: str | None = None) -> list[AgentBacklog]:
        whose = None if tenant_id is None else Caller(tenant_id=tenant_id, agent="upkeep")
        return self._read(whose, lambda tx: claims.list_backlogs(tx, now, tenant_id))

    def pending_sessions(self, caller: Caller, now: datetime, *, exclude: Collection[str] = ()) -> list[PendingSession]:
        return self._read(caller, lambda tx: claims.list_pending_sessions(tx, caller, now, exclude=exclude))

    def is_session_consolidated(self, caller: Caller, session: str, now: datetime) -> bool:
        return self._read(caller, lambda tx: claims.is_session_consolidated(tx, caller, session, now))

    def claim(self, act: Act, claim: Claim) -> Batch | None:
        return self._write(act, lambda unit: claims.claim_run(unit, claim))

    def renew(self, act: Act, run_id: str, lease_s: float) -> bool:
        return self._write(act, lambda unit: claims.renew_run(unit, run_id, lease_s))

    def carry_out(self, act: Act, run_id: str, plan: Plan, report: Mapping[str, Any]) -> list[ActionResult] | None:
        def work(unit: MemoryWrites) -> list[ActionResult] | None:
            if claims.lock_run(unit, run_id) is None:
                return None
            targets = [action.target_id for action in plan.actions if action.target_id is not None]
            there = [memory for _, memory in selection.load_visible(unit.tx, act.caller, targets)] if targets else []
            named = [*there, *(action.memory for action in plan.actions)]
            self._lock(unit, plan.episode_ids, [memory for memory in named if isinstance(memory, Fact)])
            return claims.carry_out(unit, run_id, plan, report)

        return self._write(act, work)

    def doubt(self, act: Act, id_: str, by_id: str) -> Fact | None:
        def work(unit: MemoryWrites) -> Fact | None:
            there = [memory for _, memory in selection.load_visible(unit.tx, act.caller, [id_, by_id])]
            self._lock(unit, (), [memory for memory in there if isinstance(memory, Fact)])
            return actions.doubt_fact(unit, id_, by_id)

        return self._write(act, work)

    def give_up(self, act: Act, run_id: str, error: str, retry: Retry) -> Run | None:
        def work(unit: MemoryWrites) -> Run | None:
            run = claims.lock_run(unit, run_id)
            self._lock(unit, () if run is None else run.episode_ids, ())
            return claims.give_up(unit, run_id, error, retry)

        return self._write(act, work)

    def runs(
        self, caller: Caller, *, kind: RunKind | None = None, limit: int = 50, after: TimePosition | None = None
    ) -> list[Run]:
        return self._read(caller, lambda tx: claims.list_runs(tx, caller, kind=kind, limit=limit, after=after))

    def undo(self, act: Act, run_id: str) -> UndoResult:
        def work(unit: MemoryWrites) -> UndoResult:
            run = claims.lock_run(unit, run_id)
            self._lock(unit, () if run is None else run.episode_ids, undo.load_facts_of_run(unit, run_id))
            return undo.undo_run(unit, run_id)

        return self._write(act, work)
