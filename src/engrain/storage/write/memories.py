"""Mutations of memories as rows, each with its events, inside one unit of work.

Searches are the backend's own business: its `SearchIndex` gets what is added and what goes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engrain.domain import events
from engrain.domain.memories import decay, maturity
from engrain.domain.memories.maturity import Application
from engrain.domain.records import Episode, Fact, Link, MemoryRecord, Rule, format_time
from engrain.domain.text.indexing import question_share
from engrain.errors import InvalidInput, NotFound
from engrain.storage import selection
from engrain.storage.access import membership
from engrain.storage.dialects import as_json
from engrain.storage.entities import registry
from engrain.storage.filters import caller_bindings, same_slot
from engrain.storage.rows import KIND_TABLES
from engrain.storage.write import sweeps
from engrain.storage.write.unit_of_work import UnitOfWork

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engrain.domain.memories.decay import Standing
    from engrain.domain.memories.maturity import Outcome, Thresholds
    from engrain.domain.records import Entity, Kind

_SET_METADATA: Mapping[Kind, str] = {
    "episode": "set_episode_metadata",
    "fact": "set_fact_metadata",
    "rule": "set_rule_metadata",
}


@dataclass(frozen=True, slots=True)
class MemoryWrites(UnitOfWork):
    """Mutations of memories in one unit of work."""

    def add(self, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """Insert memories, and return those that were new, as stored."""
        if self.act.checks_pools:
            membership.check_membership(self, {memory.scope for memory in memories})
        facts = [memory for memory in memories if isinstance(memory, Fact)]
        about = {fact.entity_id for fact in facts if fact.entity_id is not None}
        # Before any fact is, as whoever merges them does.
        registry.lock_entities(self.tx, self.act.caller.tenant_id, about)
        added: dict[int, MemoryRecord] = {}
        for memory in memories:
            self._check_reach(memory)
            arrived = self._arrive(memory) if isinstance(memory, Episode) else self._add(memory)
            if arrived is not None:
                doc, stored = arrived
                added[doc] = stored
                self.record(events.memory_created(self.act, stored, self.ids))
        if facts:  # one may have been superseded by a later one of the same call
            found = selection.load_docs(self.tx, added, [self.act.caller.tenant_id])
            added = {doc: found[doc] for doc in added}
        self.index.add(self.tx, added)
        return list(added.values())

    def add_related(
        self, fact: Fact, related: Mapping[str, float], after: Callable[[Fact, Fact], Fact] | None
    ) -> Fact | None:
        """Insert a fact, as it is to be after the one before it, and its relations; None where its id is taken."""
        self._check_reach(fact)
        before = None if after is None else self._lock_slot_holder(fact)
        if after is not None and before is not None:
            fact = after(fact, before[1])
        for stored in self.add([fact]):
            assert isinstance(stored, Fact)
            if stored.supersedes_id is not None:
                self.tx.run("erase_relations", tenant_id=stored.tenant_id, id=stored.supersedes_id)
            for _, other in self._lock_visible(list(related)):
                weight, at = related[other.id], self.act.at
                link = Link(source_id=fact.id, target_id=other.id, relation="related_to", weight=weight, created_at=at)
                if self.connect(stored, other, link):
                    self.record(events.link_created(self.act, link, self.ids, ends=(stored, other)))
            return stored
        return None

    def supersede(self, fact: Fact, ids: Sequence[str], *, derives: bool) -> Fact | None:
        """Insert a fact in place of several; None where they are not as the caller believes."""
        self._check_reach(fact)
        locked = selection.load_visible(self.tx, self.act.caller, ids, lock=self.tx.dialect.lock)
        old = {
            memory.id: (doc, memory)
            for doc, memory in locked
            if isinstance(memory, Fact) and memory.validity == "active"
        }
        holder = self._lock_slot_holder(fact)
        if old.keys() != set(ids) or (holder is not None and holder[1].id not in old):
            return None
        stored = next(iter(self.add([fact])), None)
        if not isinstance(stored, Fact):  # its id is taken, and nothing was written
            return None
        for id_, (doc, superseded) in old.items():
            if id_ != stored.supersedes_id:
                self.close(doc, superseded, stored)
            if derives:
                link = Link(source_id=fact.id, target_id=id_, relation="derived_from", created_at=self.act.at)
                self.connect(stored, superseded, link)
        return stored

    def touch(self, ids: Sequence[str]) -> list[MemoryRecord]:
        """Count a reference to each memory the caller sees; in the order asked."""
        found: dict[str, MemoryRecord] = {}
        bound = {**caller_bindings(self.act.caller, self.tx.dialect), "ids": self.tx.dialect.listed(ids), "at": self.at}
        for kind, table in KIND_TABLES.items():
            rows = self.tx.statements.records.kinds[kind]
            statement = (
                f"UPDATE {table} SET reference_count = reference_count + 1, last_referenced_at = :at "  # noqa: S608  # names of the schema
                f"WHERE tenant_id = :tenant_id AND id IN :ids AND +scope IN :scopes RETURNING {rows.columns}"
            )
            found |= {memory.id: memory for memory in map(rows.record, self.tx.ask(statement, bound))}
        return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]

    def confirm(self, id_: str) -> MemoryRecord | None:
        """Move the confirmation of a fact or rule to now; it fades no longer."""
        seen = self._lock_one(id_)
        if seen is None:
            return None
        _, memory = seen
        if isinstance(memory, Episode):
            raise InvalidInput(f"{id_} is an episode; only facts and rules can be confirmed")
        if not memory.is_live(self.act.at):
            raise InvalidInput(f"{memory.kind} {id_} is no longer active; store it again instead of confirming it")
        metadata = {key: value for key, value in memory.metadata.items() if (key, value) != ("status", "fading")}
        self._update(f"confirm_{memory.kind}", memory, metadata=self.tx.dialect.json(metadata))
        self.record(events.memory_confirmed(self.act, memory, self.ids))
        return replace(memory, last_confirmed_at=self.act.at, metadata=metadata)

    def age(self, id_: str, to: Standing) -> MemoryRecord | None:
        """Let a fact or rule fade, recover or expire."""
        seen = self._lock_one(id_)
        if seen is None:
            return None
        doc, memory = seen
        if isinstance(memory, Episode):
            raise InvalidInput(f"{id_} is an episode; only facts and rules age")
        if not memory.is_live(self.act.at) or decay.standing(memory, self.act.at) == to:
            return memory
        moved = sweeps.Change(
            doc=doc,
            id=memory.id,
            scope=memory.scope,
            metadata=as_json(memory.metadata),
            before=decay.standing(memory, self.act.at),
            to=to,
        )
        sweeps.apply_changes(self, "fact" if isinstance(memory, Fact) else "rule", [moved])
        return decay.with_standing(memory, to, self.act.at)

    def mark(self, id_: str, outcome: Outcome, reason: str | None, thresholds: Thresholds) -> Rule | None:
        """Count what came of following a rule; one that does too much harm becomes a warning."""
        seen = self._lock_one(id_)
        if seen is None:
            return None
        doc, memory = seen
        if not isinstance(memory, Rule):
            raise InvalidInput(f"{id_} is of kind {memory.kind}; only a rule can be marked {outcome}")
        if memory.is_forgotten:
            raise InvalidInput(f"rule {id_} is forgotten; add it again before marking it {outcome}")
        marked = maturity.apply_outcome(memory, outcome, reason=reason, at=self.act.at, thresholds=thresholds)
        self._update("mark_rule", marked, **self._outcome(marked))
        self.tx.add(
            self.tx.statements.records.applications, "rule_applications", self._application(marked, outcome, reason)
        )
        self.record(events.rule_marked(self.act, memory, marked, self.ids, outcome=outcome))
        if marked.content != memory.content:
            self._move(doc, memory, marked)
            self.record(events.rule_inverted(self.act, memory, self.ids))
        return marked

    def forget(self, id_: str) -> MemoryRecord | None:
        """Forget one memory; twice is once."""
        seen = self._lock_one(id_)
        if seen is None or not seen[1].is_live(self.act.at):
            return None if seen is None else seen[1]
        doc, memory = seen
        if self.index.is_out(self.tx, doc):
            return memory  # forgotten before, by a clock that is ahead of this one
        at = self.act.at
        forgotten: MemoryRecord
        match memory:
            case Episode():
                self._update("forget_episode", memory)
                forgotten = replace(memory, expires_at=at)
            case Fact():
                self._update("forget_fact", memory)
                forgotten = replace(memory, validity="retracted", invalidated_at=at)
            case Rule():
                metadata = {**memory.metadata, "forgotten": True}
                self._update("forget_rule", memory, metadata=self.tx.dialect.json(metadata))
                forgotten = replace(memory, metadata=metadata, invalidated_at=at)
        self._take_out(doc, memory)
        self.record(events.memory_forgotten(self.act, memory, self.ids))
        return forgotten

    def erase(self, ids: Sequence[str]) -> list[str]:
        """Remove memories for good; a tombstone and an event stay.

        Locked whole before anything of them goes: whoever links them, or writes down what happened to one, has finished
        by then, or finds nothing.
        """
        found = selection.load_visible(self.tx, self.act.caller, ids, lock=self.tx.dialect.lock_whole)
        for doc, memory in found:
            self._erase(doc, memory)
        return [memory.id for _, memory in found]

    def link(self, link: Link) -> bool:
        """Add an edge between two memories the caller sees; False where it is there already."""
        ends = {memory.id: memory for _, memory in self._lock_visible([link.source_id, link.target_id])}
        for id_ in (link.source_id, link.target_id):
            if id_ not in ends:
                raise NotFound(f"no memory {id_} is visible to agent {self.act.caller.agent}; a link needs both ends")
        source, target = ends[link.source_id], ends[link.target_id]
        if not self.connect(source, target, link):
            return False
        self.record(events.link_created(self.act, link, self.ids, ends=(source, target)))
        return True

    def mention(self, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        """Record the mentions of a memory, and return the ids of entities that are new, sorted."""
        known = registry.lock_entities(self.tx, self.act.caller.tenant_id, entity_ids)
        seen = self._lock_one(memory_id)
        if seen is None:
            denial = f"no memory {memory_id} is visible to agent {self.act.caller.agent}"
            raise NotFound(f"{denial}; only what is there can mention somebody")
        registry.check_unmerged(entity_ids, known)
        return self.note_mentions(seen[1], entity_ids)

    def note_mentions(self, memory: MemoryRecord, entity_ids: Collection[str]) -> list[str]:
        """Record the mentions of a memory, all locked by this transaction, and return the new ids, sorted."""
        if not entity_ids:
            return []
        rows = self.tx.rows(
            "add_mentions",
            tenant_id=memory.tenant_id,
            ids=self.tx.dialect.listed(sorted(set(entity_ids))),
            kind=memory.kind,
            memory_id=memory.id,
            scope=memory.scope,
            happened_at=self.tx.dialect.time(memory.happened_at),
            at=self.at,
        )
        new = sorted(id_ for (id_,) in rows)
        if new:
            self.record(events.entities_mentioned(self.act, memory, new, self.ids))
        return new

    def put_entity(self, entity: Entity) -> Entity:
        """Add an entity to the registry."""
        return registry.put_entity(self, entity)

    def enrich(self, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        """Record the mentions of a memory and mark it enriched, and return the new ids, sorted."""
        new = self.mention(memory_id, entity_ids)
        for _, memory in self._load_visible([memory_id]):
            metadata = {**memory.metadata, "enriched_at": format_time(self.act.at)}
            self._update(_SET_METADATA[memory.kind], memory, metadata=self.tx.dialect.json(metadata))
            self.record(events.memory_enriched(self.act, memory, self.ids))
        return new

    def _check_reach(self, memory: MemoryRecord) -> None:
        caller = self.act.caller
        if memory.tenant_id != caller.tenant_id:
            raise InvalidInput(f"{memory.kind} {memory.id} is of another tenant than its caller; nothing was written")
        if memory.scope not in caller.scopes:
            denial = f"agent {caller.agent} cannot write to scope {memory.scope!r}"
            raise InvalidInput(f"{denial}; choose one of: {', '.join(caller.scopes)}")

    def _arrive(self, episode: Episode) -> tuple[int, Episode] | None:
        """Insert one episode; its doc, and itself as stored. None where its id is taken."""
        place = {"tenant_id": episode.tenant_id, "scope": episode.scope}
        session, speaker = episode.session, episode.speaker
        found = self.tx.one(
            "prepare_episode",
            **place,
            id=episode.id,
            session=session,
            speaker=speaker,
            at=self.tx.dialect.time(episode.created_at),
            waits=episode.consolidation_status == "pending",
        )
        if found is None:
            return None
        doc, turn, knows_speaker, is_reopened = found
        if speaker is not None and not knows_speaker:
            self.tx.run("add_speaker", **place, speaker=speaker)
        if is_reopened:
            self.tx.run("reopen_session", **place, session=session)
        stored = episode.in_turn(turn)
        self.tx.add(
            self.tx.statements.records.kinds["episode"],
            "episodes",
            stored,
            doc=doc,
            asking=question_share(episode.content),
        )
        return int(doc), stored

    def _add(self, memory: Fact | Rule) -> tuple[int, Fact | Rule] | None:
        """Insert one memory; its doc, and itself as stored. None where its id is taken."""
        if self.tx.one("has_memory", tenant_id=memory.tenant_id, id=memory.id) is not None:
            return None
        match memory:
            case Fact():
                self._check_source(memory)
                self._check_references(memory)
                old = self._lock_slot_holder(memory) if memory.validity == "active" else None
                if old is not None:
                    memory = replace(memory, supersedes_id=old[1].id)
                    self.close(*old, memory)
                doc = self._insert(memory)
                if old is not None:
                    superseding = Link(
                        source_id=memory.id, target_id=old[1].id, relation="supersedes", created_at=self.act.at
                    )
                    self.connect(memory, old[1], superseding)
                return doc, memory
            case Rule():
                self._check_source(memory)
        return self._insert(memory), memory

    def _insert(self, memory: Fact | Rule) -> int:
        found = self.tx.one("next_doc")
        assert found is not None
        self.tx.add(self.tx.statements.records.kinds[memory.kind], KIND_TABLES[memory.kind], memory, doc=found[0])
        return int(found[0])

    def _check_source(self, memory: Fact | Rule) -> None:
        source = memory.source_episode_id
        if source is not None and not self._sees_episode(source):
            raise InvalidInput(f"source_episode_id {source!r} names no episode that agent {self.act.caller.agent} sees")

    def _sees_episode(self, id_: str) -> bool:
        return any(isinstance(memory, Episode) for _, memory in self._load_visible([id_]))

    def _check_references(self, fact: Fact) -> None:
        superseded, entity = fact.supersedes_id, fact.entity_id
        if superseded is not None and not any(
            isinstance(memory, Fact) for _, memory in self._load_visible([superseded])
        ):
            raise InvalidInput(f"supersedes_id {superseded!r} names no fact that agent {self.act.caller.agent} sees")
        if entity is not None:
            registry.check_unmerged(
                [entity], registry.lock_entities(self.tx, fact.tenant_id, [entity]), what="entity_id"
            )

    def _lock_slot_holder(self, fact: Fact) -> tuple[int, Fact] | None:
        """The active fact in the place that a new one takes."""
        same, bound = same_slot(fact)
        active = f"{same} AND validity = 'active'"
        for doc, old in selection.select(self.tx, "fact", active, bound, order=self.tx.dialect.lock):
            assert isinstance(old, Fact)
            return doc, old
        return None

    def close(self, doc: int, old: Fact, new: Fact) -> None:
        """End the interval of a fact where the new one begins."""
        ends = old.valid_to or max(new.happened_at, old.happened_at)
        closed = replace(old, validity="superseded", invalidated_at=self.act.at, valid_to=ends)
        self._update("supersede_fact", old, valid_to=self.tx.dialect.time(ends))
        self._take_out(doc, old)
        self.record(events.fact_superseded(self.act, closed, new, self.ids, was_open=old.valid_to is None))

    def connect(self, source: MemoryRecord, target: MemoryRecord, link: Link) -> bool:
        """Add an edge, without an event; False where it is there already."""
        added = self.tx.one(
            "add_link",
            tenant_id=self.act.caller.tenant_id,
            source_kind=source.kind,
            source_id=source.id,
            target_kind=target.kind,
            target_id=target.id,
            relation=link.relation,
            weight=link.weight,
            created_at=self.tx.dialect.time(link.created_at),
        )
        return added is not None

    def remove(self, doc: int, memory: MemoryRecord) -> None:
        """Take away a row, its place in the searches, its links and mentions; what named it names nothing."""
        named = {"tenant_id": memory.tenant_id, "id": memory.id}
        self.tx.run("erase_links_out", **named, kind=memory.kind)
        self.tx.run("erase_links_in", **named, kind=memory.kind)
        match memory:
            case Episode():
                self.tx.run("clear_fact_source", **named)
                self.tx.run("clear_rule_source", **named)
            case Fact():
                self.tx.run("clear_supersedes", **named)
            case Rule():
                self.tx.run("erase_applications", **named)
        self.tx.run(f"erase_{memory.kind}", **named)
        # Whoever noted a mention held the row: now that it is gone, all are there.
        self.tx.run("erase_mentions", **named, kind=memory.kind)
        if isinstance(memory, Episode):
            place = {"tenant_id": memory.tenant_id, "scope": memory.scope}
            self.tx.run("erase_speaker", **place, speaker=memory.speaker or "")
            self.tx.run("erase_session", **place, session=memory.session or "")
        self.index.erase(self.tx, doc, memory, self.act.at)

    def _erase(self, doc: int, memory: MemoryRecord) -> None:
        named = {"tenant_id": memory.tenant_id, "id": memory.id}
        self.tx.run("erase_event_payloads", **named, payload=self.tx.dialect.json({}))
        self.remove(doc, memory)
        tombstone = {"kind": memory.kind, "scope": memory.scope, "digest": events.digest_memory(memory)}
        self.tx.run("add_tombstone", **named, **tombstone, erased_at=self.at)
        self.record(events.memory_erased(self.act, memory, self.ids))

    def _outcome(self, rule: Rule) -> dict[str, Any]:
        """The columns that a mark changes."""
        names = "content maturity effectiveness_score applied_count success_count harmful_count".split()
        return {name: getattr(rule, name) for name in names} | {"metadata": self.tx.dialect.json(rule.metadata)}

    def _application(self, rule: Rule, outcome: Outcome, context: str | None) -> Application:
        return Application(
            id=self.ids(),
            tenant_id=rule.tenant_id,
            rule_id=rule.id,
            agent=self.act.caller.agent,
            outcome=outcome,
            context=context,
            created_at=self.act.at,
        )

    def _move(self, doc: int, before: Rule, after: Rule) -> None:
        """Search a rule by what it says now: under a new doc, as a vector of its old words may be on its way."""
        found = self.tx.one("next_doc")
        assert found is not None
        self.index.erase(self.tx, doc, before, self.act.at)
        self.tx.run("move_rule", tenant_id=after.tenant_id, id=after.id, doc=found[0])
        self.index.add(self.tx, {int(found[0]): after})

    def _take_out(self, doc: int, memory: MemoryRecord) -> None:
        turns = [memory] if isinstance(memory, Episode) else []
        self.index.take_out(self.tx, memory.tenant_id, [doc], turns=turns, at=self.act.at)

    def _update(self, statement: str, memory: MemoryRecord, **values: Any) -> None:
        self.tx.run(statement, tenant_id=memory.tenant_id, id=memory.id, at=self.at, **values)

    def _load_visible(self, ids: Sequence[str]) -> list[tuple[int, MemoryRecord]]:
        return selection.load_visible(self.tx, self.act.caller, ids)

    def _lock_visible(self, ids: Sequence[str]) -> list[tuple[int, MemoryRecord]]:
        """Those the caller sees, which nobody removes until the end of the transaction: an edge may lead to them."""
        return selection.load_visible(self.tx, self.act.caller, ids, lock=self.tx.dialect.hold)

    def _lock_one(self, id_: str) -> tuple[int, MemoryRecord] | None:
        """One memory the caller sees, which nobody else changes until the end of the transaction."""
        found = selection.load_visible(self.tx, self.act.caller, [id_], lock=self.tx.dialect.lock)
        return found[0] if found else None
