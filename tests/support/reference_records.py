"""The memories of the reference store as rows: what is written, what it changes, and what is written down of it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from engrain.domain import events
from engrain.domain.entities.registry import merged_into
from engrain.domain.filters import TimePosition, is_hidden
from engrain.domain.ids import IdSource
from engrain.domain.memories import decay
from engrain.domain.memories.decay import Standing
from engrain.domain.memories.fact_keys import fact_key, subject_key
from engrain.domain.records import (
    Caller,
    EmbeddingVersion,
    Entity,
    Episode,
    Event,
    Fact,
    Link,
    MemoryRecord,
    Relation,
    Rule,
)
from engrain.domain.requests import Act, Direction
from engrain.domain.text.indexing import own_terms
from engrain.errors import InvalidInput, NotFound
from tests.support.aging import with_standing
from tests.support.reference_entries import Entries, Entry, turn_of

AT_MOST = 1_000
Store = TypeVar("Store")


def aged_event(act, before, to, ids):
    """What is written down when time moves a fact or rule to another standing."""
    event_type, payload = events.standing_changed(before.kind, decay.standing(before, act.at), to)
    return events.memory_event(act, event_type, before, ids, payload=payload)


class ReferenceRecords:
    """Every memory in one dictionary, every verb a loop over it."""

    def __init__(self) -> None:
        self._ids = IdSource(lambda: datetime.now(UTC))
        self._arrived = 0
        self._tenants: set[str] = set()
        self._entries = Entries()
        self._entities: dict[tuple[str, str], Entity] = {}
        self._mentions: set[tuple[str, str, str]] = set()  # tenant, memory and entity
        self._links: dict[tuple[str, str, str, Relation], Link] = {}
        self._events: list[Event] = []
        self._own_ends: dict[str, datetime | None] = {}  # of facts, whatever follows them
        self._tombstones: dict[tuple[str, str], str] = {}
        self._versions: list[EmbeddingVersion] = []
        self._searched_with: int | None = None

    def put(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        new = self._new(act, memories)
        self._check_references(act, new)
        added = [self._add(act, memory) for memory in new]
        if len(memories) > 1 or any(not isinstance(each, Episode) for each in memories):
            self._entries.flush_index(self._entries.unflushed())
        return [entry.memory for entry in added]

    def get(self, caller: Caller, ids: Sequence[str]) -> list[MemoryRecord]:
        return [entry.memory for entry in self._entries.named(caller, ids)]

    def find_active_fact(self, caller: Caller, *, scope: str, subject: str, predicate: str) -> Fact | None:
        seen = [entry.memory for entry in self._entries.visible(caller)]
        active = [each for each in seen if isinstance(each, Fact) and each.validity == "active"]
        key = fact_key(scope=scope, subject=subject, predicate=predicate, content="")
        asked = (None, scope, key.subject, key.predicate)
        return next((f for f in active if (f.entity_id, f.scope, *f.key[:2]) == asked), None)

    def put_related(self, act: Act, fact: Fact, related: Mapping[str, float]) -> Fact | None:
        for stored in self.put(act, [fact]):
            self._links = {
                key: link
                for key, link in self._links.items()
                if (key[0], key[1], link.relation) != (fact.tenant_id, stored.supersedes_id, "related_to")
            }
            for entry in self._entries.named(act.caller, list(related)):
                weight = related[entry.memory.id]
                edge = Link(
                    source_id=fact.id,
                    target_id=entry.memory.id,
                    relation="related_to",
                    weight=weight,
                    created_at=act.at,
                )
                self.link(act, edge)
            return stored
        return None

    def supersede(self, act: Act, fact: Fact, ids: Sequence[str], *, derives: bool = True) -> Fact | None:
        is_new = bool(self._new(act, [fact]))
        named = self._entries.named(act.caller, ids)
        active = [each for each in named if isinstance(each.memory, Fact) and each.memory.validity == "active"]
        holders = {entry.memory.id for entry in self._holders(act, fact)}
        if not is_new or {each.memory.id for each in active} != set(ids) or not holders <= set(ids):
            return None
        self._check_references(act, [fact])
        for entry in active:
            if entry.memory.id not in holders:
                self._close(act, entry, fact)
        [stored] = self.put(act, [fact])
        for id_ in ids if derives else ():
            edge = Link(source_id=fact.id, target_id=id_, relation="derived_from", created_at=act.at)
            self._connect(fact.tenant_id, edge)
        return stored

    def touch(self, act: Act, ids: Sequence[str]) -> list[MemoryRecord]:
        touched = self._entries.named(act.caller, ids)
        for entry in touched:
            count = entry.memory.reference_count + 1
            entry.memory = replace(entry.memory, reference_count=count, last_referenced_at=act.at)
        return [entry.memory for entry in touched]

    def count_references(self, act: Act, references: Sequence[tuple[str, str, datetime]]) -> None:
        for _, id_, at in references:
            self.touch(replace(act, at=at), [id_])

    def confirm(self, act: Act, id_: str) -> MemoryRecord | None:
        for entry in self._entries.named(act.caller, [id_]):
            before = entry.memory
            if isinstance(before, Episode) or not before.is_active(act.at):
                raise InvalidInput(f"{id_} is an episode or no longer active; confirm a live fact or rule")
            kept = decay.without_fading(before.metadata)
            entry.memory = replace(before, last_confirmed_at=act.at, metadata=kept)
            self._events.append(events.memory_confirmed(act, before, self._ids))
            return entry.memory
        return None

    def age(self, act: Act, id_: str, to: Standing) -> MemoryRecord | None:
        for entry in self._entries.named(act.caller, [id_]):
            before = entry.memory
            if isinstance(before, Episode):
                raise InvalidInput(f"{id_} is an episode; age a fact or a rule")
            if before.is_active(act.at) and decay.standing(before, act.at) != to:
                entry.memory = with_standing(before, to, act.at)
                if to == "expired":
                    entry.take_out()
                self._events.append(aged_event(act, before, to, self._ids))
            return entry.memory
        return None

    def forget(self, act: Act, id_: str) -> MemoryRecord | None:
        for entry in self._entries.named(act.caller, [id_]):
            before = entry.memory
            if is_hidden(before):
                return before
            self._entries.flush_index(self._entries.unflushed())
            entry.memory = _forgotten(before, act.at)
            if isinstance(before, Fact) and before.validity == "active":
                self._reopen(act, before)
            entry.take_out()
            if isinstance(before, Episode) and before.session is not None:
                self._entries.index_around([before], act.at)
            self._events.append(events.memory_forgotten(act, before, self._ids))
            return entry.memory
        return None

    def erase(self, act: Act, ids: Sequence[str]) -> list[str]:
        self._entries.flush_index(self._entries.unflushed())
        going = self._entries.named(act.caller, ids)
        tenant_id = act.caller.tenant_id
        gone = {entry.memory.id for entry in going}
        for entry in going:
            if isinstance(entry.memory, Fact) and entry.memory.validity == "active":
                self._reopen(act, entry.memory)
        for entry in going:
            del self._entries[entry.ref]
            self._tombstones[tenant_id, entry.memory.id] = events.digest_memory(entry.memory)
        for entry in going:
            if isinstance(entry.memory, Episode) and entry.memory.session is not None:
                self._entries.index_around([entry.memory], act.at)
        self._forget_everywhere(tenant_id, gone)
        self._events += [events.memory_erased(act, entry.memory, self._ids) for entry in going]
        return [entry.memory.id for entry in going]

    def history(self, caller: Caller, id_: str) -> list[Fact]:
        seen = [entry.memory for entry in self._entries.visible(caller)]
        facts = [memory for memory in seen if isinstance(memory, Fact)]
        places = {self._slot(fact) for fact in facts if fact.id == id_}
        alike = [fact for fact in facts if self._slot(fact)[:-1] in {place[:-1] for place in places}]
        found, new = set(), {fact.id for fact in alike if self._slot(fact) in places}
        while new:
            found |= new
            ends = [{fact.id, fact.supersedes_id} - {None} for fact in alike if fact.supersedes_id]
            new = {end for pair in ends if pair & found for end in pair} - found
        return sorted((fact for fact in alike if fact.id in found), key=lambda fact: (fact.created_at, fact.id))

    def link(self, act: Act, link: Link) -> bool:
        ends = self._entries.named(act.caller, [link.source_id, link.target_id])
        found = {entry.memory.id: entry.memory for entry in ends}
        for id_ in (link.source_id, link.target_id):
            if id_ not in found:
                raise NotFound(f"no memory {id_}; link two that are there")
        if not self._connect(act.caller.tenant_id, link):
            return False
        self._events.append(events.link_created(act, link, self._ids, ends=list(found.values())))
        return True

    def links(
        self, caller: Caller, id_: str, *, direction: Direction = "both", relation: Relation | None = None
    ) -> list[Link]:
        seen = {entry.memory.id for entry in self._entries.visible(caller)}
        found = [
            link
            for (tenant_id, *_), link in self._links.items()
            if tenant_id == caller.tenant_id
            and {link.source_id, link.target_id} <= seen
            and relation in (None, link.relation)
            and (
                (direction != "incoming" and link.source_id == id_)
                or (direction != "outgoing" and link.target_id == id_)
            )
        ]
        return sorted(found, key=lambda link: (link.created_at, link.source_id, link.target_id, link.relation))

    def events(
        self,
        caller: Caller,
        *,
        memory_id: str | None = None,
        event_type: str | None = None,
        run_id: str | None = None,
        limit: int = AT_MOST,
        after: TimePosition | None = None,
    ) -> list[Event]:
        found = [
            event
            for event in self._events
            if event.tenant_id == caller.tenant_id
            and event.scope in caller.scopes
            and memory_id in (None, event.memory_id)
            and event_type in (None, event.event_type)
            and run_id in (None, event.run_id)
            and (after is None or (event.created_at, event.id) < after)
        ]
        return sorted(found, key=lambda event: (event.created_at, event.id), reverse=True)[: max(limit, 0)]

    def mention(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        found = self._entries.named(act.caller, [memory_id])
        if not found:
            raise NotFound(f"no memory {memory_id} to mention anybody")
        tenant_id = act.caller.tenant_id
        for id_ in sorted(entity_ids):
            self._check_entity(tenant_id, id_)
        new = sorted(id_ for id_ in set(entity_ids) if (tenant_id, memory_id, id_) not in self._mentions)
        self._mentions |= {(tenant_id, memory_id, id_) for id_ in new}
        if new:
            self._events.append(events.entities_mentioned(act, found[0].memory, new, self._ids))
        return new

    def put_entity(self, act: Act, entity: Entity) -> Entity:
        if entity.tenant_id != act.caller.tenant_id:
            raise InvalidInput(f"the entity {entity.id} is of another tenant")
        name = (entity.tenant_id, entity.canonical_name, entity.entity_type)
        known = self._entities.values()
        if (entity.tenant_id, entity.id) in self._entities or name in {
            (each.tenant_id, each.canonical_name, each.entity_type) for each in known
        }:
            raise InvalidInput(f"there is an entity {entity.id} or {entity.canonical_name!r} already; update that")
        self._entities[entity.tenant_id, entity.id] = entity
        self._events.append(events.entity_created(act, entity, self._ids))
        return entity

    def entities(self, caller: Caller, ids: Sequence[str]) -> list[Entity]:
        asked = [(caller.tenant_id, id_) for id_ in dict.fromkeys(ids)]
        found = [self._entities[key] for key in asked if key in self._entities]
        seen = {entry.memory.id for entry in self._entries.visible(caller)}
        counts = Counter(
            entity for tenant_id, memory, entity in self._mentions if tenant_id == caller.tenant_id and memory in seen
        )
        return [replace(entity, mention_count=entity.mention_count + counts[entity.id]) for entity in found]

    def _mentioned_by(self, caller: Caller, id_: str) -> set[str]:
        """Whom a memory mentions, and whom it is about."""
        about = {
            entry.memory.entity_id for entry in self._entries.named(caller, [id_]) if isinstance(entry.memory, Fact)
        }
        return {
            entity for tenant_id, memory, entity in self._mentions if (tenant_id, memory) == (caller.tenant_id, id_)
        } | (about - {None})

    def _check_entity(self, tenant_id: str, id_: str) -> None:
        entity = self._entities.get((tenant_id, id_))
        if entity is None or merged_into(entity) is not None:
            raise InvalidInput(f"there is no entity {id_}; create it first, or use what it was merged into")

    def _new(self, act: Act, memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """Those not there yet, the first of each id."""
        for memory in memories:
            if memory.tenant_id != act.caller.tenant_id or memory.scope not in act.caller.scopes:
                raise InvalidInput(f"{act.caller.agent} sees nothing of {memory.tenant_id}, {memory.scope}")
        known = self._entries.ids(act.caller.tenant_id)
        first = {memory.id: memory for memory in reversed(memories)}
        return [
            first[id_]
            for id_ in dict.fromkeys(memory.id for memory in memories)
            if id_ not in known and (act.caller.tenant_id, id_) not in self._tombstones
        ]

    def _check_references(self, act: Act, memories: Sequence[MemoryRecord]) -> None:
        """What a memory names must be there, or come before it in the same call."""
        seen = {entry.memory.id: entry.memory.kind for entry in self._entries.visible(act.caller)}
        for memory in memories:
            named = [(memory.source_episode_id, "episode")] if not isinstance(memory, Episode) else []
            if isinstance(memory, Fact):
                named.append((memory.supersedes_id, "fact"))
                entity = memory.entity_id
                if entity is not None:
                    self._check_entity(memory.tenant_id, entity)
            for id_, kind in named:
                if id_ is not None and seen.get(id_) != kind:
                    raise InvalidInput(f"there is no {kind} {id_}; store it first")
            seen[memory.id] = memory.kind

    def _add(self, act: Act, memory: MemoryRecord) -> Entry:
        match memory:
            case Fact():
                self._own_ends[memory.id] = memory.valid_to
                placed: MemoryRecord = self._supersede(act, memory)
            case Episode():
                placed = self._with_turn(memory)
            case Rule():
                placed = memory
        entry = self._arrive(placed)
        entry.gone = not isinstance(placed, Episode) and not placed.is_active(act.at)
        self._events.append(events.memory_created(act, placed, self._ids, original=memory))
        return entry

    def _arrive(self, memory: MemoryRecord) -> Entry:
        self._arrived += 1
        self._tenants.add(memory.tenant_id)
        entry = self._entries[self._arrived] = Entry(ref=self._arrived, memory=memory, own=own_terms(memory))
        return entry

    def _with_turn(self, episode: Episode) -> Episode:
        """With its place in the session, from 1; 0 where there is no session."""
        if episode.session is None:
            return replace(episode, turn=0)
        return replace(episode, turn=max((turn_of(e).turn for e in self._entries.session(episode)), default=0) + 1)

    def _supersede(self, act: Act, fact: Fact) -> Fact:
        """Close the active facts in the new one's place and time; the new one, naming the newest of them."""
        if fact.validity != "active":
            return fact
        holders = self._holders(act, fact)
        for entry in holders:
            self._close(act, entry, fact)
        if holders:
            fact = replace(fact, supersedes_id=holders[0].memory.id)
        before = (
            []
            if fact.has_begun(act.at)
            else [
                entry
                for entry in self._same_slot(fact)
                if entry.memory.is_true_until(fact.happened_at) and entry.memory.valid_to != fact.happened_at
            ]
        )
        if fact.is_live(act.at) or not fact.has_begun(act.at):
            fact = replace(fact, valid_to=self._end_among(act, fact, self._same_slot(fact)))
        for entry in before:
            self._set_end(act, entry, fact.happened_at, fact)
        for entry in (*holders, *before):
            edge = Link(source_id=fact.id, target_id=entry.memory.id, relation="supersedes", created_at=act.at)
            self._connect(fact.tenant_id, edge)
        if fact.valid_from is not None and fact.is_live(act.at):
            for entry in self._same_slot(fact, validity="superseded"):
                old = entry.memory
                self._set_end(act, entry, min(old.valid_to, max(old.happened_at, fact.valid_from)), fact)
        return fact

    def _same_slot(self, fact: Fact, *, validity: str = "active") -> list[Entry]:
        """The active facts in the slot of one, or those of another validity, the newest first."""
        entries = [entry for entry in self._entries.values() if isinstance(entry.memory, Fact)]
        slot = self._slot(fact)
        same = [e for e in entries if e.memory.validity == validity and self._slot(e.memory) == slot]
        return sorted(same, key=lambda entry: (entry.memory.created_at, entry.memory.id), reverse=True)

    def _slot(self, fact: Fact) -> tuple[str, ...]:
        """The slot of a fact under all names of its subject: that of the entity, where one alone has the name."""
        tenant_id, scope, about, *rest = fact.slot
        if fact.entity_id is None:
            known = [entity for entity in self._entities.values() if entity.tenant_id == tenant_id]
            named = [e.id for e in known if fact.key.subject in map(subject_key, (e.canonical_name, *e.aliases))]
            about = f"entity {named[0]}" if len(named) == 1 else about
        return (tenant_id, scope, about, *rest)

    def _holders(self, act: Act, fact: Fact) -> list[Entry]:
        """Those of its slot that have begun; for a fact of another time than now, those that begin with it."""
        if fact.is_live(act.at):
            return [entry for entry in self._same_slot(fact) if entry.memory.has_begun(act.at)]
        found = [entry for entry in self._same_slot(fact) if entry.memory.is_bounded]
        return [entry for entry in found if entry.memory.happened_at == fact.happened_at]

    def _set_end(self, act: Act, entry: Entry, end: datetime | None, by: Fact) -> None:
        """Let the period of a fact end where another will begin, or nowhere."""
        if entry.memory.valid_to != end:
            self._events.append(events.fact_period_changed(act, entry.memory, self._ids, end=end, by=by))
            entry.memory = replace(entry.memory, valid_to=end)

    def _reopen(self, act: Act, gone: Fact) -> None:
        """Take back what a fact that has not begun did to the periods of others."""
        if gone.has_begun(act.at):
            return
        others = [entry for entry in self._same_slot(gone) if entry.memory.id != gone.id]
        for entry in others:
            if entry.memory.valid_to == gone.valid_from:
                own = replace(entry.memory, valid_to=self._own_ends[entry.memory.id])
                self._set_end(act, entry, self._end_among(act, own, [each for each in others if each != entry]), gone)

    def _end_among(self, act: Act, fact: Fact, others: list[Entry]) -> datetime | None:
        """Its own end, or where the next of its slot begins."""
        later = [entry.memory.happened_at for entry in others]
        later = [moment for moment in later if moment > max(fact.happened_at, act.at)]
        return min([*later, *filter(None, [fact.valid_to])], default=None)

    def _close(self, act: Act, entry: Entry, fact: Fact) -> None:
        """End the interval of a fact where the new one begins."""
        old = entry.memory
        end = max(fact.happened_at, old.happened_at) if old.has_begun(act.at) else old.happened_at
        end = end if old.valid_to is None or not old.has_begun(act.at) else min(end, old.valid_to)
        entry.memory = replace(old, validity="superseded", invalidated_at=act.at, valid_to=end)
        entry.take_out()
        self._events.append(events.fact_superseded(act, old, fact, self._ids, end=end))

    def _connect(self, tenant_id: str, link: Link) -> bool:
        key = (tenant_id, link.source_id, link.target_id, link.relation)
        if key in self._links:
            return False
        self._links[key] = link
        return True

    def _forget_everywhere(self, tenant_id: str, gone: Collection[str]) -> None:
        """What still speaks of erased memories: edges, references from others, and what events say."""
        self._cut_loose(tenant_id, gone)
        self._events = [
            replace(event, payload={}) if event.tenant_id == tenant_id and event.memory_id in gone else event
            for event in self._events
        ]

    def _cut_loose(self, tenant_id: str, gone: Collection[str]) -> None:
        """Without the edges and mentions of memories that are gone, and without references to them."""
        self._links = {
            key: link
            for key, link in self._links.items()
            if key[0] != tenant_id or not {link.source_id, link.target_id} & set(gone)
        }
        self._mentions = {each for each in self._mentions if each[0] != tenant_id or each[1] not in gone}
        for entry in self._entries.values():
            memory = entry.memory
            if memory.tenant_id != tenant_id or isinstance(memory, Episode):
                continue
            if memory.source_episode_id in gone:
                entry.memory = memory = replace(memory, source_episode_id=None)
            if isinstance(memory, Fact) and memory.supersedes_id in gone:
                entry.memory = replace(memory, supersedes_id=None)


def _forgotten(memory: MemoryRecord, at: datetime) -> MemoryRecord:
    metadata = {**memory.metadata, "hidden": True}
    if not memory.is_active(at):  # it keeps the time of its end
        at = (memory.expires_at if isinstance(memory, Episode) else memory.invalidated_at) or at
    match memory:
        case Episode():
            return replace(memory, metadata=metadata, expires_at=at)
        case Fact():
            return replace(memory, metadata=metadata, validity="retracted", invalidated_at=at)
        case Rule():
            return replace(memory, metadata={**metadata, "forgotten": True}, invalidated_at=at)
