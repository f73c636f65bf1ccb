"""Records of a Store: put, change, forget and erase memories, and age and clean up those of a tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.memories.maturity import DEFAULT_THRESHOLDS
from engrain.domain.records import Fact
from engrain.errors import OutcomeUnknown
from engrain.storage import selection
from engrain.storage.transactions import Transactions
from engrain.storage.write import cleanup, sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engrain.domain.maintenance.retention import CleanupBatch, Retention
    from engrain.domain.memories.decay import AgingKind, DecayPolicy, Standing, SweepBatch
    from engrain.domain.memories.maturity import Outcome, Thresholds
    from engrain.domain.records import Caller, Link, MemoryRecord, Rule
    from engrain.domain.requests import Act
    from engrain.storage.transaction import Transaction
    from engrain.storage.write.memories import MemoryWrites


class SqlRecords(Transactions):
    """Implements the writes of `ports.Records`, `get`, and the sweep and cleanup of `ports.Maintenance`."""

    def put(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        if not memories:
            return []
        added: list[MemoryRecord] = []

        def work(unit: MemoryWrites) -> list[MemoryRecord]:
            self._lock(unit, (), [memory for memory in memories if isinstance(memory, Fact)])
            added[:] = unit.add(memories)
            return list(added)

        try:
            return self._write(act, work)
        except OutcomeUnknown:
            ids = [memory.id for memory in added]
            return added if self.get(act.caller, ids) == added else self._write(act, work)

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        return self._read(caller, lambda tx: [memory for _, memory in selection.load_visible(tx, caller, ids)])

    def find_active_fact(self, caller: Caller, *, scope: str, subject: str, predicate: str) -> Fact | None:
        def work(tx: Transaction) -> Fact | None:
            return selection.find_active_fact(tx, caller, scope=scope, subject=subject, predicate=predicate)

        return self._read(caller, work)

    def put_related(
        self, act: Act, fact: Fact, related: Mapping[str, float], *, after: Callable[[Fact, Fact], Fact] | None = None
    ) -> Fact | None:
        def work(unit: MemoryWrites) -> Fact | None:
            self._lock(unit, (), [fact])
            return unit.add_related(fact, related, after)

        return self._write(act, work)

    def supersede(self, act: Act, fact: Fact, ids: Sequence[str], *, derives: bool = True) -> Fact | None:
        def work(unit: MemoryWrites) -> Fact | None:
            old = [memory for _, memory in selection.load_visible(unit.tx, act.caller, ids)]
            self._lock(unit, (), [fact, *(memory for memory in old if isinstance(memory, Fact))])
            return unit.supersede(fact, ids, derives=derives)

        return self._write(act, work)

    def touch(self, act: Act, ids: Sequence[str]) -> list[MemoryRecord]:
        return self._write(act, lambda unit: unit.touch(ids))

    def confirm(self, act: Act, id_: str) -> MemoryRecord | None:
        return self._write(act, lambda unit: unit.confirm(id_))

    def age(self, act: Act, id_: str, to: Standing) -> MemoryRecord | None:
        return self._write(act, lambda unit: unit.age(id_, to), repeatable=True)

    def mark(
        self,
        act: Act,
        id_: str,
        outcome: Outcome,
        *,
        reason: str | None = None,
        thresholds: Thresholds = DEFAULT_THRESHOLDS,
    ) -> Rule | None:
        return self._write(act, lambda unit: unit.mark(id_, outcome, reason, thresholds))

    def forget(self, act: Act, id_: str) -> MemoryRecord | None:
        def work(unit: MemoryWrites) -> MemoryRecord | None:
            self._lock(unit, [id_], ())
            return unit.forget(id_)

        return self._write(act, work, repeatable=True)

    def erase(self, act: Act, ids: Sequence[str]) -> list[str]:
        def work(unit: MemoryWrites) -> list[str]:
            self._lock_removal(unit, ids)
            return unit.erase(ids)

        return self._write(act, work)

    def link(self, act: Act, link: Link) -> bool:
        return self._write(act, lambda unit: unit.link(link))

    def sweep(
        self, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int, dry_run: bool = False
    ) -> SweepBatch:
        def look(tx: Transaction) -> tuple[sweeps.Stretch, SweepBatch | None]:
            stretch = sweeps.find_due(tx, act, kind, policy, after=after, limit=limit)
            only_looks = dry_run or not stretch.ids
            return stretch, sweeps.preview_sweep(tx, act, kind, policy, seen=stretch) if only_looks else None

        stretch, preview = self._read(act.caller, look)
        if preview is not None:
            return preview
        return self._write(act, lambda unit: sweeps.sweep(unit, kind, policy, stretch), repeatable=True)

    def clean(self, act: Act, retention: Retention, *, limit: int, dry_run: bool = False) -> CleanupBatch:
        if dry_run:
            return self._read(act.caller, lambda tx: cleanup.preview_cleanup(tx, act, retention))
        plan = self._read(act.caller, lambda tx: cleanup.plan_cleanup(tx, act, retention, limit))

        def work(unit: MemoryWrites) -> CleanupBatch:
            self._lock_removal(unit, list(plan.removals), everywhere=True)
            return cleanup.clean_up(unit, retention, plan)

        return self._write(act, work, repeatable=True)
