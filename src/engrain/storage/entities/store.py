"""Registry of entities as a part of the Store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Fact
from engrain.storage.entities import lookup, mentions, registry, removal
from engrain.storage.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from engrain.domain.entities.registry import EntityMerge, Mentions
    from engrain.domain.records import Caller, Entity, EntityType, MemoryRecord
    from engrain.domain.requests import Act, Candidate, Request
    from engrain.storage.write.memories import MemoryWrites


class SqlRegistry(Transactions):
    """Implements `domain.entities.registry_port.Registry`, and of `domain.ports.Records` what is about entities."""

    def mention(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        return self._write(act, lambda unit: unit.mention(memory_id, entity_ids))

    def put_mentioning(
        self,
        act: Act,
        memories: Sequence[MemoryRecord],
        names: Collection[str],
        whom: Callable[[Sequence[Entity]], Mapping[str, Collection[str]]],
    ) -> list[MemoryRecord]:
        def work(unit: MemoryWrites) -> list[MemoryRecord]:
            self._lock(unit, (), [memory for memory in memories if isinstance(memory, Fact)])
            return mentions.put_with_mentions(unit, memories, names, whom)

        return self._write(act, work)

    def introduce(self, act: Act, entities: Sequence[Entity], memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        def work(unit: MemoryWrites) -> list[MemoryRecord]:
            self._lock(unit, (), [memory for memory in memories if isinstance(memory, Fact)])
            for entity in entities:
                unit.put_entity(entity)
            return unit.add(memories)

        return self._write(act, work)

    def remove_entities(self, act: Act, ids: Collection[str], *, forgetting: Collection[str] = ()) -> list[Entity]:
        return self._write(act, lambda unit: removal.remove_entities(unit, ids, forgetting=forgetting))

    def put_entity(self, act: Act, entity: Entity) -> Entity:
        return self._write(act, lambda unit: unit.put_entity(entity))

    def entities(self, caller: Caller, ids: Sequence[str]) -> list[Entity]:
        return self._read(caller, lambda tx: lookup.load_entities(tx, caller, ids))

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
        def work(unit: MemoryWrites) -> Entity | None:
            return registry.change_entity(
                unit, id_, canonical_name=canonical_name, aliases=aliases, also=also, metadata=metadata
            )

        return self._write(act, work)

    def find_entities(
        self, caller: Caller, *, entity_type: EntityType | None = None, after: tuple[str, str] = ("", ""), limit: int
    ) -> list[Entity]:
        return self._read(
            caller, lambda tx: lookup.list_entities(tx, caller, entity_type=entity_type, after=after, limit=limit)
        )

    def entities_named(self, caller: Caller, names: Collection[str]) -> list[Entity]:
        return self._read(caller, lambda tx: lookup.find_named(tx, caller, names))

    def resembling(self, caller: Caller, name: str, *, fuzzy: bool, limit: int) -> list[Entity]:
        return self._read(caller, lambda tx: lookup.find_resembling(tx, caller, name, fuzzy=fuzzy, limit=limit))

    def facts_about(self, caller: Caller, entity_ids: Collection[str], limit: int) -> list[Fact]:
        return self._read(caller, lambda tx: lookup.load_facts_about(tx, caller, entity_ids, limit))

    def mentions_of(self, request: Request, entity_id: str, limit: int) -> Mentions:
        return self._read(request.caller, lambda tx: mentions.load_mentions(tx, request, entity_id, limit))

    def mentioning(self, request: Request, names: Collection[str], limit: int) -> list[Candidate]:
        return self._read(request.caller, lambda tx: mentions.find_mentioning(tx, request, names, limit))

    def merge_entities(self, act: Act, source_id: str, target_id: str) -> EntityMerge:
        return self._write(act, lambda unit: registry.merge_entities(unit, source_id, target_id))

    def unmerge_entities(self, act: Act, source_id: str) -> EntityMerge:
        return self._write(act, lambda unit: registry.unmerge_entities(unit, source_id))

    def enrich(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        return self._write(act, lambda unit: unit.enrich(memory_id, entity_ids))

    def unenriched(self, request: Request, *, most_entities: int, limit: int) -> list[MemoryRecord]:
        return self._read(
            request.caller,
            lambda tx: lookup.find_unenriched(tx, request, most_entities=most_entities, limit=limit),
        )
