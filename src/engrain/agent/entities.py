"""Entities: the registry of people, places and things that all agents of a tenant share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import mask_fields, parse_limit, stored_text
from engrain.agent.wiring.view import View
from engrain.domain import checks, pagination
from engrain.domain.entities.registry import (
    MERGED_INTO,
    Enrichment,
    EntityMatch,
    EntityMerge,
    EntityProfile,
    parse_metadata,
)
from engrain.domain.filters import Filter
from engrain.domain.records import ENTITY_TYPES, Entity, EntityType, Fact
from engrain.domain.requests import Request
from engrain.errors import InvalidInput, NotFound
from engrain.storage.entities import entity_merges, lookup, registry
from engrain.storage.entities.subjects import Subject, find_namesakes
from engrain.storage.search import entity_mentions
from engrain.storage.search.recency import load_newest
from engrain.storage.transaction import for_every_user

if TYPE_CHECKING:
    from datetime import datetime

    from engrain.domain.pagination import Page
    from engrain.storage.unit_of_work import Snapshot, UnitOfWork
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
        parts = self._parts()
        act = new_act(parts, self._caller)
        entity = Entity(
            id=parts.ids(),
            tenant_id=self._caller.tenant_id,
            user_id=self._caller.user_id,
            entity_type=_type(entity_type),
            created_at=act.at,
            updated_at=act.at,
            **mask_fields(
                parts,
                {
                    "canonical_name": checks.name(name, name="name"),
                    "aliases": checks.names(aliases, name="alias"),
                    "metadata": parse_metadata(metadata),
                },
            ),
        )
        return parts.store.write(act, registry.put_entity, entity)

    def get(self, id_: words.EntityId) -> Entity | None:
        """Read one entity by id; None where the tenant has none of that id.

        One that was merged is a tombstone: its `metadata["merged_into"]` is the id of the entity that took it in.
        """
        known = checks.name(id_, name="id")
        return next(iter(self._parts().store.read(self._caller, lookup.load_entities, [known])), None)

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
        parts, known = self._parts(), checks.name(id_, name="id")
        changes = {
            "canonical_name": checks.optional_name(name, name="name"),
            "aliases": None if aliases is None else checks.names(aliases, name="alias"),
            "metadata": None if metadata is None else parse_metadata(metadata),
        }
        return parts.store.write(new_act(parts, self._caller), _change, known, **mask_fields(parts, changes))

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
        entities = parts.store.read(
            self._caller,
            lookup.list_entities,
            entity_type=None if entity_type is None else _type(entity_type),
            after=pagination.decode("entities.find", after) or ("", ""),
            limit=most + 1,
        )
        return pagination.cut("entities.find", entities, most, lookup.entity_position)

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

        parts = self._parts()
        text = stored_text(parts, checks.name(name, name="name"))
        known = resolution.parse_hints(hints)
        most = parse_limit(parts, limit)
        wanted = None if entity_type is None else _type(entity_type)
        is_fuzzy = checks.flag(fuzzy, name="fuzzy") and resolution.is_long_enough(text)
        candidates, facts = parts.store.read(
            self._caller, _find_candidates, text, fuzzy=is_fuzzy, of_type=wanted, with_facts=bool(known.terms)
        )
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
        return parts.store.write(new_act(parts, self._caller), _merge, source, target)

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
        return parts.store.write(new_act(parts, self._caller), _unmerge, source)

    def profile(self, id_or_name: words.EntityIdOrName) -> EntityProfile:
        """Show an entity's facts with their history, episodes, rules and related entities.

        The newest 100 memories that mention it, and facts about it under any of its names; `related` entities are
        mentioned in the same ones. A tombstone's profile is that of the entity it was merged into. Whom facts are
        about and the registry does not know, such as "user", has a profile of these, and an entity without an id.

        Raises:
            NotFound: no entity has that id or name, and no fact is about it.
            InvalidInput: several have that name; the message has their ids.
        """
        parts = self._parts()
        named = stored_text(parts, checks.name(id_or_name, name="id_or_name"))
        return parts.store.read(self._caller, _load_profile, named, parts.clock())

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
        few = checks.count(most_entities, name="most_entities", high=1_000)
        most = checks.count(limit, name="limit")
        memories = self._parts().store.read(
            self._caller, lookup.find_unenriched, self._unread(), most_entities=few, limit=most
        )
        return [memory.id for memory in memories]

    def _unread(self) -> Request:
        return Request(caller=self._caller, filter=Filter(kinds=("episode", "fact")), now=self._parts().clock())


def _change(work: UnitOfWork, id_: str, /, **changes: Any) -> Entity:
    """Change an entity; return it with the mentions that the caller sees."""
    if registry.change_entity(work, id_, **changes) is None:
        raise _entity_not_found(work, id_)
    [entity] = lookup.load_entities(work, [id_])
    return entity


@for_every_user
def _merge(work: UnitOfWork, source_id: str, target_id: str) -> EntityMerge:
    return _count_mentions(work, entity_merges.merge_entities(work, source_id, target_id))


@for_every_user
def _unmerge(work: UnitOfWork, source_id: str) -> EntityMerge:
    return _count_mentions(work, entity_merges.unmerge_entities(work, source_id))


def _count_mentions(work: UnitOfWork, merge: EntityMerge) -> EntityMerge:
    """Return a merge with the mentions that the caller sees."""
    source, target = lookup.load_entities(work, [merge.source.id, merge.target.id])
    return replace(merge, source=source, target=target)


def _find_candidates(
    snapshot: Snapshot, name: str, *, fuzzy: bool, of_type: EntityType | None, with_facts: bool
) -> tuple[list[Entity], list[Fact]]:
    """Find the entities that a name may mean, and facts about them where they are asked for."""
    similar = lookup.find_resembling(snapshot, name, fuzzy=fuzzy, limit=_MOST_CANDIDATES)
    entities = [entity for entity in similar if of_type in (None, entity.entity_type)]
    ids = [entity.id for entity in entities] if with_facts else []
    return entities, lookup.load_facts_about(snapshot, ids, _FACTS_OF_CANDIDATE)


def _load_profile(snapshot: Snapshot, id_or_name: str, now: datetime) -> EntityProfile:
    from engrain.entities import profile

    request = Request(caller=snapshot.caller, filter=Filter(include_inactive=True), now=now)
    entity = _find_standing(snapshot, id_or_name)
    subject = Subject(id_or_name) if entity is None else Subject(entity.canonical_name, entity.id)
    names = find_namesakes(snapshot, [subject])[subject]
    by_name = Filter(kinds=("fact",), subjects=names.keys, entity_ids=names.entity_ids, include_inactive=True)
    newest = load_newest(snapshot, replace(request, filter=by_name), _MOST_SIGHTINGS)
    facts = [fact for fact in newest if isinstance(fact, Fact) and fact.entity_id in (None, *names.entity_ids)]
    if entity is None:
        if not facts:
            raise _entity_not_found(snapshot, id_or_name)
        return profile.build_unregistered(id_or_name, facts)
    sightings = entity_mentions.load_mentions(snapshot, request, entity.id, _MOST_SIGHTINGS)
    related = lookup.load_entities(snapshot, [id_ for id_, _ in profile.related_ids(entity.id, sightings)])
    return profile.build_profile(entity, sightings, facts, {other.id: other for other in related})


def _find_standing(snapshot: Snapshot, id_or_name: str) -> Entity | None:
    """Find the entity of an id or a name, or the one that it was merged into.

    Raises:
        InvalidInput: as `Entities.profile`.
    """
    named = lookup.load_entities(snapshot, [id_or_name]) or lookup.find_named(snapshot, [id_or_name])
    by_id = {entity.id: entity for entity in named}
    while targets := {entity.metadata[MERGED_INTO] for entity in by_id.values() if MERGED_INTO in entity.metadata}:
        standing = {id_: entity for id_, entity in by_id.items() if MERGED_INTO not in entity.metadata}
        by_id = standing | {entity.id: entity for entity in lookup.load_entities(snapshot, sorted(targets))}
    match list(by_id.values()):
        case [entity]:
            return entity
        case []:
            return None
        case several:
            ids = ", ".join(f"{one.id} ({one.entity_type} {one.canonical_name!r:.80})" for one in several[:10])
            raise InvalidInput(f"{id_or_name!r:.80} names {len(several)} entities: {ids}; give an id")


def _entity_not_found(snapshot: Snapshot, id_: str) -> NotFound:
    return NotFound(f"no entity {id_!r:.80} is known to tenant {snapshot.tenant_id}; list the entities to see them")


def _type(value: object) -> EntityType:
    return checks.choice(value, ENTITY_TYPES, name="entity_type")
