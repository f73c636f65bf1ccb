"""Registry of entities: its part of the Store port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engrain.domain.entities.registry import EntityMerge, Mentions
    from engrain.domain.records import Caller, Entity, EntityType, Fact, MemoryRecord
    from engrain.domain.requests import Act, Request


class Registry(Protocol):
    """Registry of entities, shared by all agents of a tenant; memories about them stay in their scopes.

    An entity that was merged is a tombstone (`entities.registry.merged_into`): readable by its id, and nothing else.
    """

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
        """Replace the name and all aliases, merge the metadata; None leaves a part. None where there is no such entity.

        `also` is added to the aliases that it has by then (`entities.registry.new_names`): concurrent calls each add
        their own. A call without any change writes nothing.

        Raises:
            InvalidInput: the name is taken with this type, or the entity was merged; nothing was written.
        """

    def find_entities(
        self, caller: Caller, *, entity_type: EntityType | None = None, after: tuple[str, str] = ("", ""), limit: int
    ) -> list[Entity]:
        """Entities that were not merged, by canonical name, then type, both after `after`."""

    def entities_named(self, caller: Caller, names: Collection[str]) -> list[Entity]:
        """Entities with one of these names, canonically or as an alias, by id.

        Includes tombstones whose canonical name is exactly one of them, and the entities these were merged into.
        """

    def resembling(self, caller: Caller, name: str, *, fuzzy: bool, limit: int) -> list[Entity]:
        """Entities that `name_key` of a name may mean, by id: candidates, for `entities.resolution` to judge.

        All entities of that name; those with a name that contains it, of the first `limit` such names; with `fuzzy` the
        `limit` with the most of its trigrams (of equals the smaller id), at least 0.3 of them.
        """

    def facts_about(self, caller: Caller, entity_ids: Collection[str], limit: int) -> list[Fact]:
        """The newest `limit` facts about each entity the caller sees, live or not; newest (happened_at, id) first."""

    def mentions_of(self, request: Request, entity_id: str, limit: int) -> Mentions:
        """The newest `limit` memories that mention an entity or are about it, live or not, whatever the filter.

        Of each kind and scope the newest 2,000 are looked at; the span is of all.
        """

    def merge_entities(self, act: Act, source_id: str, target_id: str) -> EntityMerge:
        """Merge one entity into another, as `entities.merges` decides; facts and mentions of every scope move.

        The source becomes a tombstone. An event `entity_merge` of the target has what the reversal needs, one in each
        scope of what moved there; each superseded fact has its own event.

        Raises:
            InvalidInput: they are the same, one is unknown or was merged already; nothing was written.
        """

    def unmerge_entities(self, act: Act, source_id: str) -> EntityMerge:
        """Undo the merge of an entity, the last one of its target; changes since the merge stay.

        Raises:
            NotFound: there is no such entity.
            InvalidInput: it was not merged, or another merge has to be undone first; nothing was written.
        """

    def put_mentioning(
        self,
        act: Act,
        memories: Sequence[MemoryRecord],
        names: Collection[str],
        whom: Callable[[Sequence[Entity]], Mapping[str, Collection[str]]],
    ) -> list[MemoryRecord]:
        """`put` memories, and in the same transaction `mention` the entities that `whom` chooses, by memory id.

        `whom` is called with the answer of `entities_named` to `names`, again where a transaction is repeated. Chosen
        entities that are unknown or were merged meanwhile are left out, as are those of a memory that was there before.

        Raises:
            InvalidInput: as `put`; nothing was written.
        """

    def introduce(self, act: Act, entities: Sequence[Entity], memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """`put_entity` every entity, then `put` memories that may be about them: all or nothing, one transaction.

        Raises:
            InvalidInput: as these two; nothing was written.
        """

    def remove_entities(self, act: Act, ids: Collection[str], *, forgetting: Collection[str] = ()) -> list[Entity]:
        """`forget` memories, and remove entities from the registry: all or nothing, one transaction.

        Their mentions are removed, and so are the entities that were merged into them. Facts about them, of whatever
        scope, keep the name of their subject; where another active fact is in that slot, the one of lower confidence is
        superseded (of equals that of the entity). Returns the entities as before, without unknown ids and tombstones.
        An event `entity_removed` lists, in each scope, the facts of that scope.
        """

    def enrich(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        """`mention` entities and set `metadata.enriched_at` of the memory to now, with an event `memory_enriched`.

        Raises:
            NotFound: the caller sees no such memory.
            InvalidInput: an entity is unknown or was merged; nothing was written.
        """

    def unenriched(self, request: Request, *, most_entities: int, limit: int) -> list[MemoryRecord]:
        """The newest episodes and facts that match, lack `metadata.enriched_at` and mention at most so many."""
