"""The verbs of a Store that let workers learn, which differ between databases in what they hold before they write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Caller, Fact
from engrain.storage import actions, lookups, runs, undoing
from engrain.storage.verbs import Verbs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime
    from typing import Any

    from engrain.domain.filters import Place
    from engrain.domain.requests import Act
    from engrain.domain.runs.plans import Done, Plan
    from engrain.domain.runs.runs import Batch, Claim, PendingSession, Retry, Run, RunKind, Shard, Undone
    from engrain.storage.ledger import Ledger


class RunVerbs(Verbs):
    """`domain.runs.runs_port.Runs`."""

    def shards(self, now: datetime, *, tenant_id: str | None = None) -> list[Shard]:
        whose = None if tenant_id is None else Caller(tenant_id=tenant_id, agent="upkeep")
        return self._ask(whose, lambda tx: runs.shards(tx, now, tenant_id))

    def pending_sessions(self, caller: Caller, now: datetime, *, exclude: Collection[str] = ()) -> list[PendingSession]:
        return self._ask(caller, lambda tx: runs.pending_sessions(tx, caller, now, exclude=exclude))

    def is_session_consolidated(self, caller: Caller, session: str, now: datetime) -> bool:
        return self._ask(caller, lambda tx: runs.is_session_consolidated(tx, caller, session, now))

    def claim(self, act: Act, claim: Claim) -> Batch | None:
        return self._do(act, lambda ledger: runs.claim(ledger, claim))

    def renew(self, act: Act, run_id: str, lease_s: float) -> bool:
        return self._do(act, lambda ledger: runs.renew(ledger, run_id, lease_s))

    def carry_out(self, act: Act, run_id: str, plan: Plan, report: Mapping[str, Any]) -> list[Done] | None:
        def work(ledger: Ledger) -> list[Done] | None:
            if runs.held(ledger, run_id) is None:
                return None
            targets = [each.target_id for each in plan.actions if each.target_id is not None]
            there = [memory for _, memory in lookups.visible(ledger.tx, act.caller, targets)] if targets else []
            named = [*there, *(each.memory for each in plan.actions)]
            self._hold(ledger, plan.episode_ids, [each for each in named if isinstance(each, Fact)])
            return runs.carry_out(ledger, run_id, plan, report)

        return self._do(act, work)

    def doubt(self, act: Act, id_: str, by_id: str) -> Fact | None:
        def work(ledger: Ledger) -> Fact | None:
            there = [memory for _, memory in lookups.visible(ledger.tx, act.caller, [id_, by_id])]
            self._hold(ledger, (), [each for each in there if isinstance(each, Fact)])
            return actions.doubt(ledger, id_, by_id)

        return self._do(act, work)

    def give_up(self, act: Act, run_id: str, error: str, retry: Retry) -> Run | None:
        def work(ledger: Ledger) -> Run | None:
            run = runs.held(ledger, run_id)
            self._hold(ledger, () if run is None else run.episode_ids, ())
            return runs.give_up(ledger, run_id, error, retry)

        return self._do(act, work)

    def runs(
        self, caller: Caller, *, kind: RunKind | None = None, limit: int = 50, after: Place | None = None
    ) -> list[Run]:
        return self._ask(caller, lambda tx: runs.listed(tx, caller, kind=kind, limit=limit, after=after))

    def undo(self, act: Act, run_id: str) -> Undone:
        def work(ledger: Ledger) -> Undone:
            run = runs.held(ledger, run_id)
            self._hold(ledger, () if run is None else run.episode_ids, undoing.facts_of(ledger, run_id))
            return undoing.undo(ledger, run_id)

        return self._do(act, work)
