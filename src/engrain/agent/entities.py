"""Entities: the registry of people, places and things that all agents of a tenant share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_limit
from engrain.agent.wiring.view import View, enter
from engrain.domain import checks, pagination
from engrain.domain.entities.registry import MERGED_INTO, Enrichment, EntityMatch, EntityMerge, EntityProfile
from engrain.domain.filters import Filter
from engrain.domain.records import ENTITY_TYPES, Entity
from engrain.domain.requests import Request
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from engrain.domain.pagination import Page
    from engrain.domain.records import Caller, EntityType, Fact
    from engrain.verbs import words

_MOST_CANDIDATES = 200
_FACTS_OF_CANDIDATE = 500
_MOST_SIGHTINGS = 100


@instrument("entities")
class Entities(View):
    """The registry of people, places and things of a tenant."""

    __slots__ = ()

    def create(
        self,
        name: words.EntityName,
        entity_type: words.TypeOfEntity = "other",
        *,
        aliases: words.Aliases | None = None,
        metadata: words.Metadata | None = None,
    ) -> Entity:
        """Add an entity to the registry under its canonical name.

        `remember(..., entity_id=)` stores facts about it.

        Raises:
            InvalidInput: the name is taken by another entity of this type, or a value is refused; nothing was written.
        """
        parts, caller = enter(self)
        act = new_act(parts, caller)
        entity = Entity(
            id=parts.ids(),
            tenant_id=caller.tenant_id,
            canonical_name=checks.name(name, name="name"),
            entity_type=_type(entity_type),
            aliases=checks.names(aliases, name="alias"),
            created_at=act.at,
            updated_at=act.at,
            metadata=_metadata(metadata),
        )
        return parts.store.put_entity(act, entity)

    def get(self, id_: words.EntityId) -> Entity | None:
        """Read one entity by id; None where the tenant has none of that id.

        One that was merged is a tombstone: its `metadata["merged_into"]` is the id of the entity that took it in.
        """
        return next(iter(self._parts().store.entities(self._caller, [checks.name(id_, name="id")])), None)

    def update(
        self,
        id_: words.EntityId,
        *,
        name: words.NewEntityName | None = None,
        aliases: words.Aliases | None = None,
        metadata: words.MergedMetadata | None = None,
    ) -> Entity:
        """Rename an entity, replace its aliases, or add to its metadata.

        Values that are not given stay. The old name is no alias unless it is among `aliases`.

        Raises:
            NotFound: the tenant has no such entity.
            InvalidInput: the name is taken, the entity was merged, or a value is refused; nothing was written.
        """
        parts, caller = enter(self)
        known = checks.name(id_, name="id")
        changed = parts.store.change_entity(
            new_act(parts, caller),
            known,
            canonical_name=checks.optional_name(name, name="name"),
            aliases=None if aliases is None else checks.names(aliases, name="alias"),
            metadata=None if metadata is None else _metadata(metadata),
        )
        if changed is None:
            raise self._unknown(known)
        return next(iter(parts.store.entities(caller, [known])), changed)

    def find(
        self,
        *,
        entity_type: words.OfEntityType | None = None,
        after: words.After | None = None,
        limit: words.PageLimit = 100,
    ) -> Page[Entity]:
        """List the entities of the registry by canonical name, then type, without tombstones.

        Raises:
            InvalidInput: an unknown type, a limit out of range, or a cursor of another list.
        """
        parts = self._parts()
        most = parse_limit(parts, limit)
        entities = parts.store.find_entities(
            self._caller,
            entity_type=None if entity_type is None else _type(entity_type),
            after=pagination.decode("entities.find", after) or ("", ""),
            limit=most + 1,
        )
        return pagination.cut(
            "entities.find", entities, most, lambda entity: (entity.canonical_name, entity.entity_type)
        )

    def resolve(
        self,
        name: words.EntityName,
        *,
        entity_type: words.OfEntityType | None = None,
        hints: words.NameHints | None = None,
        fuzzy: words.Fuzzy = False,
        limit: words.Limit | None = None,
    ) -> list[EntityMatch]:
        """Rank the entities that a name may mean, the likeliest first; create none.

        A canonical name scores 100, an alias 80, a name that begins with or holds the text 50; with `fuzzy` a similar
        one (trigram similarity of 0.3 or more) 20. Of the hints, words that `topic` and `mentioned_with` share with
        facts that this agent sees add up to 20; `domain_scores` are added. Of names that merely hold the text, or are
        similar, the first 200 are judged.

        Raises:
            InvalidInput: an empty name, an unknown type or hint, or a limit out of range.
        """
        from engrain.entities import resolution

        parts, caller = enter(self)
        text = checks.name(name, name="name")
        known = resolution.parse_hints(hints)
        most = parse_limit(parts, limit)
        wanted = None if entity_type is None else _type(entity_type)
        is_fuzzy = checks.flag(fuzzy, name="fuzzy") and resolution.is_long_enough(text)

        def read() -> tuple[list[Entity], list[Fact]]:
            similar = parts.store.resembling(caller, text, fuzzy=is_fuzzy, limit=_MOST_CANDIDATES)
            of_type = [entity for entity in similar if wanted in (None, entity.entity_type)]
            ids = [entity.id for entity in of_type]
            return of_type, parts.store.facts_about(caller, ids, _FACTS_OF_CANDIDATE) if known.terms else []

        candidates, facts = parts.store.in_one_snapshot(caller, read)
        by_entity = {
            entity.id: [fact for fact in facts if fact.entity_id == entity.id]
            for entity in (candidates if facts else [])
        }
        return resolution.rank_matches(text, candidates, fuzzy=is_fuzzy, hints=known, facts=by_entity)[:most]

    def merge(self, source_id: words.MergeSource, target_id: words.MergeTarget) -> EntityMerge:
        """Merge one entity into another: facts, mentions, aliases and metadata move to the target.

        Where both have an active fact in one slot, the one of lower confidence is superseded (of equals the source's).
        The source stays as a tombstone. Facts and mentions that this agent does not see move too; the answer leaves
        them out. `unmerge` undoes it.

        Raises:
            InvalidInput: they are the same, one is unknown or was merged already; nothing was written.
        """
        parts = self._parts()
        source, target = checks.name(source_id, name="source_id"), checks.name(target_id, name="target_id")
        return self._counted(parts.store.merge_entities(new_act(parts, self._caller), source, target))

    def unmerge(self, source_id: words.MergedEntity) -> EntityMerge:
        """Undo the merge of an entity: its facts, mentions and aliases go back to it.

        Facts that were superseded by the merge are active again; changes since the merge stay. Merges come apart in the
        reverse of their order.

        Raises:
            NotFound: the tenant has no such entity.
            InvalidInput: it was not merged, or another merge has to be undone first; nothing was written.
        """
        parts = self._parts()
        source = checks.name(source_id, name="source_id")
        return self._counted(parts.store.unmerge_entities(new_act(parts, self._caller), source))

    def profile(self, id_or_name: words.EntityIdOrName) -> EntityProfile:
        """Show an entity's facts with their history, episodes, rules and related entities.

        The newest 100 memories that mention it or are about it; `related` entities are mentioned in the same ones. A
        tombstone's profile is that of the entity it was merged into.

        Raises:
            NotFound: no entity has that id or name.
            InvalidInput: several have that name; the message has their ids.
        """
        from engrain.entities import profile

        parts, caller = enter(self)
        named = checks.name(id_or_name, name="id_or_name")
        request = Request(caller=caller, filter=Filter(include_inactive=True), now=parts.clock())

        def read() -> EntityProfile:
            entity = self._standing(caller, named)
            sightings = parts.store.mentions_of(request, entity.id, _MOST_SIGHTINGS)
            related = parts.store.entities(caller, [id_ for id_, _ in profile.related_ids(entity.id, sightings)])
            return profile.build_profile(entity, sightings, {other.id: other for other in related})

        return parts.store.in_one_snapshot(caller, read)

    def enrich(
        self, ids: words.Ids, *, strategy: words.EnrichStrategy = "accurate", publish: words.Publish = False
    ) -> Enrichment:
        """Read memories for the names in them, and link them to the entities they mention.

        Each is stamped `metadata.enriched_at`. Without a name finder in the settings accurate is skipped. A name is
        linked to the entity of its type that has it canonically, else to one that has it as an alias. Unknown names and
        new spellings enter the registry from memories of scope global alone, unless `publish` is set: the registry is
        the whole tenant's, and a name out of a private memory would give it away.

        Raises:
            NotFound: this agent sees no such memory; those before it are enriched.
            EngineUnavailable: the name finder cannot answer; likewise.
        """
        from engrain.agent.writes.linking import enrich

        chosen = checks.choice(strategy, ["fast", "accurate"], name="strategy")
        return enrich(
            self._parts(),
            self._caller,
            checks.required_names(ids, name="id"),
            accurate=chosen == "accurate",
            publish=checks.flag(publish, name="publish"),
        )

    def enrich_waiting(
        self,
        *,
        most_entities: words.MostEntities = 2,
        limit: words.PageLimit = 50,
        publish: words.Publish = False,
        progress: words.Progress | None = None,
    ) -> Enrichment:
        """Enrich the newest episodes and facts that `to_enrich` lists, with the name finder.

        Made to be run every night. Without a name finder nothing is read, and the answer's `skipped` says so: names
        that their spelling gives away were linked when the memories were stored. `progress` gets the number read after
        each memory.

        Raises:
            EngineUnavailable: the name finder cannot answer; those before it are enriched.
        """
        from engrain.agent.writes.linking import enrich_waiting

        return enrich_waiting(
            self._parts(),
            self._unread(),
            most_entities=checks.count(most_entities, name="most_entities", high=1_000),
            limit=checks.count(limit, name="limit"),
            publish=checks.flag(publish, name="publish"),
            progress=progress or (lambda _: None),
        )

    def to_enrich(self, *, most_entities: words.MostEntities = 2, limit: words.PageLimit = 50) -> list[str]:
        """List the ids of the newest episodes and facts that mention few entities and were never enriched."""
        parts = self._parts()
        request = self._unread()
        few = checks.count(most_entities, name="most_entities", high=1_000)
        memories = parts.store.unenriched(request, most_entities=few, limit=checks.count(limit, name="limit"))
        return [memory.id for memory in memories]

    def _unread(self) -> Request:
        return Request(caller=self._caller, filter=Filter(kinds=("episode", "fact")), now=self._parts().clock())

    def _standing(self, caller: Caller, id_or_name: str) -> Entity:
        """Return the entity of an id or a name, or the one that it was merged into."""
        store = self._parts().store
        named = store.entities(caller, [id_or_name]) or store.entities_named(caller, [id_or_name])
        by_id = {entity.id: entity for entity in named}
        while targets := {entity.metadata[MERGED_INTO] for entity in by_id.values() if MERGED_INTO in entity.metadata}:
            standing = {id_: entity for id_, entity in by_id.items() if MERGED_INTO not in entity.metadata}
            by_id = standing | {entity.id: entity for entity in store.entities(caller, sorted(targets))}
        match list(by_id.values()):
            case [entity]:
                return entity
            case []:
                raise self._unknown(id_or_name)
            case several:
                ids = ", ".join(f"{one.id} ({one.entity_type} {one.canonical_name!r:.80})" for one in several[:10])
                raise InvalidInput(f"{id_or_name!r:.80} names {len(several)} entities: {ids}; give an id")

    def _counted(self, merge: EntityMerge) -> EntityMerge:
        """Return a merge with the mentions that this agent sees."""
        source, target = merge.source, merge.target
        visible = {entity.id: entity for entity in self._parts().store.entities(self._caller, [source.id, target.id])}
        return replace(merge, source=visible.get(source.id, source), target=visible.get(target.id, target))

    def _unknown(self, id_: str) -> NotFound:
        return NotFound(f"no entity {id_!r:.80} is known to tenant {self._who.tenant_id}; entities.find shows them")


def _type(value: object) -> EntityType:
    return checks.choice(value, ENTITY_TYPES, name="entity_type")


def _metadata(value: object) -> dict[str, Any]:
    """Return metadata without the key by which the registry knows a tombstone."""
    metadata = checks.metadata(value)
    if MERGED_INTO in metadata:
        raise InvalidInput(f"metadata key {MERGED_INTO!r} is kept for merges; use entities.merge, or another key")
    return metadata
