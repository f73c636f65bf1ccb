"""The registry of entities as the reference store keeps it: loops over all there is."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import ceil
from typing import Any

from engrain.domain import events
from engrain.domain.entities import merges
from engrain.domain.entities.registry import EntityMerge, Mentions, merged_into, name_key, new_names
from engrain.domain.filters import matches
from engrain.domain.records import GLOBAL_SCOPE, Caller, Entity, EntityType, Fact, Link, MemoryRecord, format_time
from engrain.domain.requests import Act, Request
from engrain.domain.text.similarity import trigrams
from engrain.errors import InvalidInput, NotFound
from tests.support.reference_records import ReferenceRecords

_LISTS = ("facts_repointed", "facts_superseded", "facts_restored", "conflicts", "mentions_moved")


class ReferenceRegistry(ReferenceRecords):
    """Entities in a dictionary, mentions in a set; what a merge did is read off its events."""

    def change_entity(
        self,
        act: Act,
        id_: str,
        *,
        canonical_name: str | None = None,
        aliases: Sequence[str] | None = None,
        also: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Entity | None:
        before = self._entities.get((act.caller.tenant_id, id_))
        if before is None:
            return None
        if merged_into(before) is not None:
            raise InvalidInput(f"{id_} was merged; change what it was merged into")
        name, kept = canonical_name or before.canonical_name, before.aliases if aliases is None else tuple(aliases)
        new = new_names((name, *kept), also)
        if also and not new and (canonical_name, aliases, metadata) == (None, None, None):
            return before
        after = replace(
            before,
            canonical_name=name,
            aliases=(*kept, *new),
            metadata={**before.metadata, **(metadata or {})},
            updated_at=act.at,
        )
        for other in self._of_tenant(act.caller):
            if other.id != id_ and _name(other) == _name(after):
                raise InvalidInput(f"{other.id} is called so")
        self._keep(after)
        self._events.append(events.entity_updated(act, before, after, self._ids))
        return after

    def put_mentioning(
        self,
        act: Act,
        memories: Sequence[MemoryRecord],
        names: Collection[str],
        whom: Callable[[Sequence[Entity]], Mapping[str, Collection[str]]],
    ) -> list[MemoryRecord]:
        chosen = whom(self.entities_named(act.caller, names))
        added = self.put(act, memories)
        for memory in added:
            known = self.entities(act.caller, list(chosen.get(memory.id, ())))
            self.mention(act, memory.id, [each.id for each in known if merged_into(each) is None])
        return added

    def introduce(self, act: Act, entities: Sequence[Entity], memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        before = dict(self._entities), list(self._events)
        try:
            for entity in entities:
                self.put_entity(act, entity)
            return self.put(act, memories)
        except InvalidInput:
            self._entities, self._events = before
            raise

    def remove_entities(self, act: Act, ids: Collection[str], *, forgetting: Collection[str] = ()) -> list[Entity]:
        tenant_id = act.caller.tenant_id
        there = sorted((each for each in self._of_tenant(act.caller) if each.id in ids), key=lambda one: one.id)
        going = [each for each in there if merged_into(each) is None]
        for id_ in sorted(set(forgetting)):
            self.forget(act, id_)
        gone = {each.id for each in going}
        for _ in self._entities:  # as deep as merges may go
            gone |= {each.id for each in self._of_tenant(act.caller) if merged_into(each) in gone}
        parted = [each for each in self._facts(tenant_id) if each.entity_id in gone]
        for fact in sorted(parted, key=lambda one: one.id):
            self._part(act, fact)
        self._mentions = {each for each in self._mentions if each[0] != tenant_id or each[2] not in gone}
        for id_ in gone:
            del self._entities[tenant_id, id_]
        for each in going:
            about = [fact for fact in parted if fact.entity_id == each.id]
            self._events += events.entity_removed(act, each, about, self._ids)
        return going

    def find_entities(
        self, caller: Caller, *, entity_type: EntityType | None = None, after: tuple[str, str] = ("", ""), limit: int
    ) -> list[Entity]:
        found = [
            each
            for each in self._of_tenant(caller)
            if merged_into(each) is None and entity_type in (None, each.entity_type) and _name(each) > after
        ]
        found.sort(key=_name)
        return self.entities(caller, [each.id for each in found[: max(limit, 0)]])

    def entities_named(self, caller: Caller, names: Collection[str]) -> list[Entity]:
        keys = {name_key(name) for name in names} - {""}
        ids = {each.id for each in self._of_tenant(caller) if each.canonical_name in names or keys & set(_keys(each))}
        while (
            more := {into for each in self.entities(caller, sorted(ids)) if (into := merged_into(each)) is not None}
            - ids
        ):
            ids |= more
        return self.entities(caller, sorted(ids))

    def resembling(self, caller: Caller, name: str, *, fuzzy: bool, limit: int) -> list[Entity]:
        key = name_key(name)
        if not key:
            return []
        known = self._of_tenant(caller)
        ids = {each.id for each in known if key in _keys(each)}
        ids |= {id_ for _, id_ in sorted((k, each.id) for each in known for k in _keys(each) if key in k)[:limit]}
        asked = trigrams(key)
        if fuzzy and asked:
            shared = [(-len(asked & _grams(each)), each.id) for each in known]
            least = ceil(0.3 * len(asked))
            ids |= {id_ for count, id_ in sorted(shared)[:limit] if -count >= least}
        return self.entities(caller, sorted(ids))

    def facts_about(self, caller: Caller, entity_ids: Collection[str], limit: int) -> list[Fact]:
        facts = sorted(self._facts_seen(caller), key=_age, reverse=True)
        newest = [[each for each in facts if each.entity_id == id_][: max(limit, 0)] for id_ in set(entity_ids)]
        return sorted((each for some in newest for each in some), key=_age, reverse=True)

    def mentions_of(self, request: Request, entity_id: str, limit: int) -> Mentions:
        caller = request.caller
        seen = [entry.memory for entry in self._entries.visible(caller)]
        whom = {each.id: self._mentioned_by(caller, each.id) for each in seen}
        found = sorted((each for each in seen if entity_id in whom[each.id]), key=_age, reverse=True)
        return Mentions(
            memories=tuple(found[: max(limit, 0)]),
            mentions={each.id: tuple(sorted(whom[each.id])) for each in found[: max(limit, 0)]},
            first_at=found[-1].happened_at if found else None,
            last_at=found[0].happened_at if found else None,
        )

    def merge_entities(self, act: Act, source_id: str, target_id: str) -> EntityMerge:
        tenant_id = act.caller.tenant_id
        known = {each.id: each for each in self._of_tenant(act.caller)}
        merges.check_merge(source_id, target_id, known)
        source, target = known[source_id], known[target_id]
        facts = {each.id: each for each in self._facts(tenant_id)}
        of_source = [each for each in facts.values() if each.entity_id == source_id]
        conflicts = merges.find_conflicts(of_source, [each for each in facts.values() if each.entity_id == target_id])
        scopes: defaultdict[str, dict[str, Any]] = defaultdict(_nothing)
        for each in conflicts:
            self._replace(merges.supersede(each.loser, act.at), leaves=True)
            edge = Link(source_id=each.winner.id, target_id=each.loser.id, relation="supersedes", created_at=act.at)
            told = scopes[each.loser.scope]
            told["facts_superseded"].append(each.loser.id)
            told["conflicts"].append([each.loser.id, each.winner.id, self._connect(tenant_id, edge)])
            closed = merges.supersede(each.loser, act.at)
            self._events.append(events.fact_superseded(act, closed, each.winner, self._ids, was_open=False))
        for each in sorted(of_source, key=lambda fact: fact.id):
            scopes[each.scope]["facts_repointed"].append(each.id)
            self._point(tenant_id, each.id, target_id)
        scope_of = {entry.memory.id: entry.memory.scope for entry in self._entries.values()}
        for memory_id in sorted(m for t, m, e in self._mentions if (t, e) == (tenant_id, source_id)):
            told = scopes[scope_of[memory_id]]
            if (tenant_id, memory_id, target_id) in self._mentions:
                told["mentions_shared"][memory_id] = format_time(act.at)
            else:
                told["mentions_moved"].append(memory_id)
                self._mentions.add((tenant_id, memory_id, target_id))
            self._mentions.discard((tenant_id, memory_id, source_id))
        tombstone, united = merges.unite(source, target, act.at)
        self._keep(tombstone)
        self._keep(united)
        added = merges.aliases_added(source, target)
        everywhere = {
            "number": 1 + max((each["number"] for each in self._told(tenant_id, target_id)), default=0),
            "merged_at": format_time(act.at),
            "source_entity_id": source_id,
            "target_entity_id": target_id,
            "aliases_added": list(added),
            "metadata_added": merges.metadata_added(source, target),
        }
        self._tell(act, "entity_merge", scopes, everywhere)
        return _seen(act, tombstone, united, scopes, added)

    def unmerge_entities(self, act: Act, source_id: str) -> EntityMerge:
        tenant_id = act.caller.tenant_id
        source = self._entities.get((tenant_id, source_id))
        if source is None:
            raise NotFound(f"no entity {source_id}; look for it first")
        target_id = merged_into(source)
        target = self._entities.get((tenant_id, target_id or ""))
        if target is None or merged_into(target) is not None:
            raise InvalidInput(f"{source_id} was not merged, or unmerge {target_id} first")
        told = self._told(tenant_id, target.id)
        number = merges.last_merge(told, source_id, target.id)
        parts = [each for each in told if each["number"] == number]
        scopes: defaultdict[str, dict[str, Any]] = defaultdict(_nothing)
        facts = {each.id: each for each in self._facts(tenant_id)}
        for id_ in [id_ for part in parts for id_ in part["facts_repointed"]]:
            if id_ in facts and facts[id_].entity_id == target.id:
                self._point(tenant_id, id_, source_id)
                scopes[facts[id_].scope]["facts_repointed"].append(id_)
        merged_at = datetime.fromisoformat(parts[0]["merged_at"])
        for loser, winner, was_linked in [each for part in parts for each in part["conflicts"]]:
            if was_linked:
                self._links.pop((tenant_id, winner, loser, "supersedes"), None)
            fact = self._restore(act, loser, merged_at)
            if fact is not None:
                scopes[fact.scope]["facts_restored"].append(fact.id)
        self._return_mentions(tenant_id, parts, source_id, target.id)
        apart, left = merges.separate(source, target, gave=parts[0], at=act.at)
        self._keep(apart)
        self._keep(left)
        same = {"number": number, "undone": True, "source_entity_id": source_id, "target_entity_id": target.id}
        self._tell(act, "entity_unmerge", scopes, {**same, "aliases_removed": parts[0]["aliases_added"]})
        return _seen(act, apart, left, scopes, ())

    def _return_mentions(
        self, tenant_id: str, parts: Sequence[Mapping[str, Any]], source_id: str, target_id: str
    ) -> None:
        for part in parts:
            for memory_id in (*part["mentions_moved"], *part["mentions_shared"]):
                if (tenant_id, memory_id, target_id) in self._mentions:
                    self._mentions.add((tenant_id, memory_id, source_id))
                    if memory_id in part["mentions_moved"]:
                        self._mentions.remove((tenant_id, memory_id, target_id))

    def enrich(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        new = self.mention(act, memory_id, entity_ids)
        for entry in self._entries.named(act.caller, [memory_id]):
            metadata = {**entry.memory.metadata, "enriched_at": format_time(act.at)}
            entry.memory = replace(entry.memory, metadata=metadata)
            self._events.append(events.memory_enriched(act, entry.memory, self._ids))
        return new

    def unenriched(self, request: Request, *, most_entities: int, limit: int) -> list[MemoryRecord]:
        found = [
            entry.memory
            for entry in self._entries.visible(request.caller)
            if matches(request.filter, entry.memory, request.now)
            and "enriched_at" not in entry.memory.metadata
            and sum((request.caller.tenant_id, entry.memory.id) == each[:2] for each in self._mentions) <= most_entities
        ]
        return sorted(found, key=_age, reverse=True)[: max(limit, 0)]

    def _of_tenant(self, caller: Caller) -> list[Entity]:
        return [each for each in self._entities.values() if each.tenant_id == caller.tenant_id]

    def _keep(self, entity: Entity) -> None:
        self._entities[entity.tenant_id, entity.id] = entity

    def _facts(self, tenant_id: str) -> list[Fact]:
        found = [entry.memory for entry in self._entries.values()]
        return [each for each in found if isinstance(each, Fact) and each.tenant_id == tenant_id]

    def _facts_seen(self, caller: Caller) -> list[Fact]:
        return [each for each in self._facts(caller.tenant_id) if each.scope in caller.scopes]

    def _replace(self, fact: Fact, *, leaves: bool = False) -> None:
        for entry in self._entries.values():
            if (entry.memory.tenant_id, entry.memory.id) == (fact.tenant_id, fact.id):
                entry.memory = fact
                if leaves:
                    entry.take_out()

    def _part(self, act: Act, fact: Fact) -> None:
        """Let a fact be about nobody, in a place of its own."""
        left = replace(fact, entity_id=None)
        for other in self._facts(fact.tenant_id):
            if fact.validity == other.validity == "active" and other.slot == left.slot:
                loser, winner = (other, left) if fact.confidence > other.confidence else (left, other)
                closed = merges.supersede(loser, act.at)
                edge = Link(source_id=winner.id, target_id=loser.id, relation="supersedes", created_at=act.at)
                self._connect(fact.tenant_id, edge)
                self._events.append(events.fact_superseded(act, closed, winner, self._ids, was_open=False))
                self._replace(closed, leaves=True)
                left = closed if loser is left else left
        self._replace(left)

    def _point(self, tenant_id: str, fact_id: str, entity_id: str) -> None:
        for fact in self._facts(tenant_id):
            if fact.id == fact_id:
                self._replace(replace(fact, entity_id=entity_id))

    def _restore(self, act: Act, fact_id: str, merged_at: datetime) -> Fact | None:
        facts = self._facts(act.caller.tenant_id)
        for fact in facts:
            if fact.id != fact_id or fact.validity != "superseded" or fact.invalidated_at != merged_at:
                continue
            if any(other.slot == fact.slot and other.validity == "active" for other in facts):
                continue
            believed = replace(fact, validity="active", invalidated_at=None)
            self._replace(believed)
            for entry in self._entries.values():
                if entry.memory is believed:
                    entry.put_back()
            self._events.append(events.fact_restored(act, fact, self._ids))
            return believed
        return None

    def _told(self, tenant_id: str, target_id: str) -> list[Mapping[str, Any]]:
        return [
            each.payload
            for each in self._events
            if (each.tenant_id, each.memory_id) == (tenant_id, target_id)
            and each.event_type in ("entity_merge", "entity_unmerge")
        ]

    def _tell(
        self, act: Act, event_type: str, scopes: defaultdict[str, dict[str, Any]], everywhere: Mapping[str, Any]
    ) -> None:
        for scope in sorted({GLOBAL_SCOPE, *scopes}):
            whom = {"entity_id": everywhere["target_entity_id"], "scope": scope}
            told = {**everywhere, **scopes[scope]}
            self._events.append(events.registry_event(act, event_type, told, self._ids, **whom))


def _nothing() -> dict[str, Any]:
    return {**{name: [] for name in _LISTS}, "mentions_shared": {}}


def _seen(
    act: Act, source: Entity, target: Entity, scopes: Mapping[str, Mapping[str, Any]], added: Sequence[str]
) -> EntityMerge:
    seen = [scopes[scope] for scope in act.caller.scopes if scope in scopes]
    return EntityMerge(
        source=source,
        target=target,
        facts_repointed=tuple(sorted(id_ for each in seen for id_ in each["facts_repointed"])),
        facts_superseded=tuple(sorted(id_ for each in seen for id_ in each["facts_superseded"])),
        aliases_added=tuple(added),
    )


def _name(entity: Entity) -> tuple[str, str]:
    return (entity.canonical_name, entity.entity_type)


def _keys(entity: Entity) -> list[str]:
    if merged_into(entity) is not None:
        return []
    return [key for name in (entity.canonical_name, *entity.aliases) if (key := name_key(name))]


def _grams(entity: Entity) -> set[str]:
    if entity.entity_type in ("email", "url"):
        return set()
    return {each for key in _keys(entity) for each in trigrams(key)}


def _age(memory: MemoryRecord) -> tuple[datetime, str]:
    return (memory.happened_at, memory.id)
