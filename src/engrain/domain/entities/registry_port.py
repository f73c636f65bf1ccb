"""The part of the Store port that keeps the registry of entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engrain.domain.entities.registry import EntityMerge, Mentions
    from engrain.domain.records import Caller, Entity, EntityType, Fact, MemoryRecord
    from engrain.domain.requests import Act, Request


class Registry(Protocol):
    """Entities: a registry that all agents of a tenant share. What memories say of them is the caller's to see alone.

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
        """Replace the name and all aliases, merge the metadata; what is None stays. None where there is no such entity.

        It is called `also` so afterwards, besides all aliases it has by then (`entities.names.new_names`): of several
        calls at once each adds its own. One that adds nothing new, and says nothing else, changes nothing.

        Raises:
            InvalidInput: the name is taken with this type, or the entity was merged; nothing was written.
        """

    def find_entities(
        self, caller: Caller, *, entity_type: EntityType | None = None, after: tuple[str, str] = ("", ""), limit: int
    ) -> list[Entity]:
        """Those that stand for themselves, by canonical name, then type, both after `after`."""

    def entities_named(self, caller: Caller, names: Collection[str]) -> list[Entity]:
        """Whom names name, canonically or as an alias, by id.

        With tombstones whose canonical name is exactly one of them, and those that these were merged into.
        """

    def resembling(self, caller: Caller, name: str, *, fuzzy: bool, limit: int) -> list[Entity]:
        """Whom `entities.names.name_key` of a name may mean, by id: a proposal, for `entities.resolution` to judge.

        All whom it names; those with a name that holds it, of the first `limit` such names; with `fuzzy` the `limit`
        with the most of its trigrams (of equals the smaller id), at least 0.3 of them.
        """

    def facts_about(self, caller: Caller, entity_ids: Collection[str], limit: int) -> list[Fact]:
        """The newest `limit` facts about each entity the caller sees, live or not; newest (happened_at, id) first."""

    def sightings(self, request: Request, entity_id: str, limit: int) -> Mentions:
        """The newest `limit` memories that mention an entity or are about it, live or not, whatever the filter.

        Of each kind and scope the newest 2,000 are looked at; the span is of all.
        """

    def merge_entities(self, act: Act, source_id: str, target_id: str) -> EntityMerge:
        """Let one entity take in another, as `domain.entities.merges` decides; facts and mentions of every scope move.

        The source becomes a tombstone. An event `entity_merge` of the target tells what its reverse needs, one in each
        scope of what moved there; each fact that is superseded has its own event.

        Raises:
            InvalidInput: they are the same, one is unknown or was merged already; nothing was written.
        """

    def unmerge_entities(self, act: Act, source_id: str) -> EntityMerge:
        """Undo the merge of an entity, the last that its target still holds; what was done since the merge stays.

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
        """`put`, and in the same transaction `mention` of whom `whom` chooses for each memory, by its id.

        `whom` is given what `entities_named` answers to `names`; it may be asked again where a transaction is repeated.
        What it chooses that is unknown or was merged meanwhile is left out, and so is what it says of a memory that was
        there already.

        Raises:
            InvalidInput: as `put`; nothing was written.
        """

    def introduce(self, act: Act, entities: Sequence[Entity], memories: Sequence[MemoryRecord]) -> list[MemoryRecord]:
        """`put_entity` of each, then `put` of memories that may be about them: all or nothing, one transaction.

        Raises:
            InvalidInput: as these two; nothing was written.
        """

    def remove_entities(self, act: Act, ids: Collection[str], *, forgetting: Collection[str] = ()) -> list[Entity]:
        """`forget` memories, and let the registry know some entities no more: all or nothing, one transaction.

        What mentioned one mentions it no longer, and with it go those that were merged into it. Facts that were about
        it, of whatever scope, keep the name of their subject; where that place is held by another active one, the one
        of lower confidence is superseded (of equals that of the entity). The entities as they were; unknown ids and
        tombstones are none. The event `entity_removed`
        tells each scope of its own.
        """

    def enrich(self, act: Act, memory_id: str, entity_ids: Collection[str]) -> list[str]:
        """`mention`, and `metadata.enriched_at` of the memory is now, which `memory_enriched` tells of.

        Raises:
            NotFound: the caller sees no such memory.
            InvalidInput: an entity is unknown or was merged; nothing was written.
        """

    def unenriched(self, request: Request, *, most_entities: int, limit: int) -> list[MemoryRecord]:
        """The newest episodes and facts that match, lack `metadata.enriched_at` and mention at most so many."""
