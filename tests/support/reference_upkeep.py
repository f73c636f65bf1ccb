"""What the reference store does as time goes by: rules learn, memories age, episodes are cleaned away."""

from collections import Counter
from datetime import datetime

from engrain.domain import events
from engrain.domain.filters import TimePosition, matches
from engrain.domain.maintenance.overview import COUNTED, MOST_EVENTS, MOST_MEMORIES, Highlights
from engrain.domain.maintenance.retention import CleanupBatch, Retention, has_run_out
from engrain.domain.maintenance.stats import AgentCounts
from engrain.domain.memories import decay, maturity
from engrain.domain.memories.decay import AgingKind, DecayPolicy, SweepBatch
from engrain.domain.memories.maturity import DEFAULT_THRESHOLDS, Application, Outcome, Thresholds
from engrain.domain.records import KINDS, Caller, Episode, Fact, Rule
from engrain.domain.requests import Act, Request
from engrain.errors import InvalidInput
from tests.support.reference_entries import Entry, turn_of
from tests.support.reference_records import ReferenceRecords, aged_event


class ReferenceUpkeep(ReferenceRecords):
    """Marks, sweeps and cleanups, each a loop over all there is."""

    def __init__(self) -> None:
        super().__init__()
        self._applications: list[Application] = []

    def mark(
        self,
        act: Act,
        id_: str,
        outcome: Outcome,
        *,
        reason: str | None = None,
        thresholds: Thresholds = DEFAULT_THRESHOLDS,
    ) -> Rule | None:
        for entry in self._entries.named(act.caller, [id_]):
            before = entry.memory
            if not isinstance(before, Rule) or before.is_forgotten:
                raise InvalidInput(f"{id_} is no rule, or a forgotten one; mark a live rule")
            entry.memory = after = maturity.apply_outcome(
                before, outcome, reason=reason, at=act.at, thresholds=thresholds
            )
            values = {"tenant_id": after.tenant_id, "rule_id": id_, "agent": act.caller.agent, "outcome": outcome}
            self._applications.append(Application(id=self._ids(), **values, context=reason, created_at=act.at))
            self._events.append(events.rule_marked(act, before, after, self._ids, outcome=outcome))
            if after.content != before.content:
                del self._entries[entry.ref]
                self._arrive(after)
                self._entries.flush_index(self._entries.unflushed())
                self._events.append(events.rule_inverted(act, before, self._ids))
            return after
        return None

    def applications(
        self, caller: Caller, rule_id: str, limit: int, *, after: TimePosition | None = None
    ) -> list[Application]:
        seen = {entry.memory.id for entry in self._entries.named(caller, [rule_id])}
        found = [each for each in self._applications if each.rule_id in seen and each.tenant_id == caller.tenant_id]
        found = [each for each in found if after is None or (each.created_at, each.id) < after]
        return sorted(found, key=lambda each: (each.created_at, each.id), reverse=True)[: max(limit, 0)]

    def tenants(self) -> list[str]:
        return sorted(self._tenants)

    def activity(
        self, caller: Caller, *, since: datetime, most: int = MOST_EVENTS
    ) -> tuple[dict[tuple[str, str], int], datetime | None]:
        types = {each for several in COUNTED.values() for each in several}
        told = [each for each in self._events if each.tenant_id == caller.tenant_id and each.scope in caller.scopes]
        told = [each for each in told if each.event_type in types and each.created_at >= since]
        newest = sorted(told, key=lambda each: each.created_at, reverse=True)[:most]
        counts = Counter((f"{each.created_at:%Y-%m-%d}", each.event_type) for each in newest)
        return dict(counts), newest[-1].created_at if newest and len(newest) == most else None

    def standouts(self, request: Request, *, limit: int, most: int = MOST_MEMORIES) -> Highlights:
        seen = [each.memory for each in self._entries.visible(request.caller)]
        seen = [each for each in seen if matches(request.filter, each, request.now)]
        seen.sort(key=lambda each: (each.happened_at, each.id), reverse=True)
        places = {(each.kind, each.scope): [] for each in seen}
        for each in seen:
            places[each.kind, each.scope].append(each)
        newest = [each for held in places.values() for each in held[:most]]
        referenced = [each for each in newest if each.reference_count]
        referenced.sort(key=lambda each: (each.reference_count, each.happened_at, each.id), reverse=True)
        facts = [each for each in newest if isinstance(each, Fact) and each.validity == "active"]
        about = Counter(each.entity_id for each in facts if each.entity_id is not None)
        return Highlights(
            most_referenced=tuple(referenced[:limit]),
            entities=tuple(sorted(about.items(), key=lambda each: (-each[1], each[0]))[:limit]),
            looked_at={kind: sum(each.kind == kind for each in newest) for kind in KINDS},
            content_bytes={kind: sum(len(m.content.encode()) for m in newest if m.kind == kind) for kind in KINDS},
        )

    def agent_counts(self, tenant_id: str, now: datetime) -> list[AgentCounts]:
        live = [
            (entry.memory.agent, entry.memory.kind)
            for entry in self._entries.values()
            if entry.memory.tenant_id == tenant_id and entry.memory.is_live(now)
        ]
        counts = Counter(live)
        return [
            AgentCounts(
                tenant_id=tenant_id,
                agent=agent,
                episodes=counts[agent, "episode"],
                facts=counts[agent, "fact"],
                rules=counts[agent, "rule"],
            )
            for agent in sorted({agent for agent, _ in live})
        ]

    def agents(self, tenant_id: str) -> list[str]:
        kept = [each.memory for each in self._entries.values() if each.memory.tenant_id == tenant_id]
        scopes = {each.scope for each in kept if each.scope != "global" and not each.scope.startswith("pool:")}
        pools = getattr(self, "_pools", {})
        members = {name for (tenant, _), pool in pools.items() if tenant == tenant_id for name in pool.members}
        return sorted(scopes | members)

    def learners(self, tenant_id: str, *, since: datetime) -> list[str]:
        stored = [each for each in self._events if each.event_type == "fact_created"]
        return sorted({each.actor for each in stored if each.tenant_id == tenant_id and each.created_at >= since})

    def sweep(
        self, act: Act, kind: AgingKind, policy: DecayPolicy, *, after: str, limit: int, dry_run: bool = False
    ) -> SweepBatch:
        aging_ones = sorted(
            (entry for entry in self._entries.values() if _ages(entry, act, kind, after)),
            key=lambda entry: entry.memory.id,
        )[:limit]
        counts = Counter(to for entry in aging_ones if (to := self._aged(entry, act, policy, dry_run=dry_run)))
        last = aging_ones[-1].memory.id if len(aging_ones) == limit else None
        return SweepBatch(looked_at=len(aging_ones), last=last, **counts)

    def clean(self, act: Act, retention: Retention, *, limit: int, dry_run: bool = False) -> CleanupBatch:
        self._entries.flush_index(self._entries.unflushed())
        every = [entry for entry in self._entries.values() if _is_episode_of(entry, act)]
        expired = [entry for entry in every if has_run_out(turn_of(entry), retention, now=act.at)]
        kept = [entry for entry in every if entry not in expired]
        over = 0 if retention.max_entries is None else max(len(kept) - retention.max_entries, 0)
        loose = [entry for entry in kept if turn_of(entry).consolidated and not self._is_needed(entry)]
        surplus = sorted(loose, key=lambda entry: (entry.memory.created_at, entry.memory.id))[:over]
        left = len(kept) - len(surplus)
        if dry_run:
            return CleanupBatch(expired=len(expired), capacity=len(surplus), remaining=left)
        expired.sort(key=lambda entry: turn_of(entry).expires_at or act.at)
        going = [(entry, "expired") for entry in expired] + [(entry, "capacity") for entry in surplus]
        now = going[:limit]
        self._remove([entry for entry, _ in now], act)
        self._events += [events.episode_cleaned(act, turn_of(entry), why, self._ids) for entry, why in now]
        counts = Counter(why for _, why in now)
        return CleanupBatch(**counts, remaining=left if len(now) < limit else None)

    def _aged(self, entry: Entry, act: Act, policy: DecayPolicy, *, dry_run: bool) -> decay.Standing | None:
        before = entry.memory
        assert not isinstance(before, Episode)
        to = decay.due_standing(before, policy, now=act.at)
        if to is not None and not dry_run:
            entry.memory = decay.with_standing(before, to, act.at)
            if to == "expired":
                entry.take_out()
            self._events.append(aged_event(act, before, to, self._ids))
        return to

    def _is_needed(self, entry: Entry) -> bool:
        """Whether it has its vector, and something that was learned of it waits for one."""
        version = next((each.version for each in self._versions if each.state == "active"), 0)
        learned = {
            link.source_id
            for (tenant_id, *_), link in self._links.items()
            if (tenant_id, link.target_id, link.relation) == (entry.memory.tenant_id, entry.memory.id, "derived_from")
        }
        waiting = [
            each
            for each in self._entries.values()
            if each.memory.tenant_id == entry.memory.tenant_id
            and each.memory.id in learned
            and each.memory.kind != "episode"
            and not each.gone
            and version not in each.vectors
        ]
        return bool(waiting) and version in entry.vectors

    def _remove(self, going: list[Entry], act: Act) -> None:
        for entry in going:
            del self._entries[entry.ref]
        for entry in going:
            if turn_of(entry).session is not None:
                self._entries.index_around([turn_of(entry)], act.at)
        self._cut_loose(act.caller.tenant_id, {entry.memory.id for entry in going})


def _ages(entry: Entry, act: Act, kind: AgingKind, after: str) -> bool:
    memory = entry.memory
    if isinstance(memory, Episode) or memory.kind != kind or memory.tenant_id != act.caller.tenant_id:
        return False
    return memory.id > after and memory.decay_rate > 0 and memory.is_live(act.at)


def _is_episode_of(entry: Entry, act: Act) -> bool:
    return isinstance(entry.memory, Episode) and entry.memory.tenant_id == act.caller.tenant_id
