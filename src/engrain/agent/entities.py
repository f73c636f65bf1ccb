"""Entities: whom and what facts are about, in a registry that all agents of a tenant share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_limit
from engrain.agent.wiring.view import View
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

_MOST_PROPOSED = 200
_FACTS_OF_CANDIDATE = 500
_MOST_SIGHTINGS = 100


@instrument("entities")
class Entities(View):
    """Whom and what facts are about: a registry that all agents of a tenant share."""

    __slots__ = ()

    def create(
        self,
        name: words.EntityName,
        entity_type: words.TypeOfEntity = "other",
        *,
        aliases: words.Aliases | None = None,
        metadata: words.Metadata | None = None,
    ) -> Entity:
        """Add somebody or something under its canonical name; `remember(..., entity_id=)` says facts about it.

        `entity_type` is person, organization, place, project, email, url or other.

        Raises:
            InvalidInput: the name is taken by another entity of this type, or a value is refused; nothing was written.
        """
        parts = self._parts()
        caller = self._caller
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
        """One entity by id; None where the tenant knows none of that id.

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
        """Call an entity otherwise, or say more of it: the name is replaced, all aliases are, metadata is merged.

        What is not given stays. The old name is no alias unless it is among `aliases`.

        Raises:
            NotFound: the tenant knows no such entity.
            InvalidInput: the name is taken, the entity was merged, or a value is refused; nothing was written.
        """
        parts = self._parts()
        caller = self._caller
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
        """The entities that stand for themselves, by canonical name, then type.

        `after` is the `next` of the page before.

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
        """Whom a name may mean, the likeliest first; empty where nobody answers to it. Nothing is created.

        A canonical name scores 100, an alias 80, a name that begins with or holds the text 50; with `fuzzy` one that
        is alike (trigram similarity of 0.3 or more) 20. `hints` may hold `topic` (a text) and `mentioned_with` (names):
        words they share with facts that this agent sees add up to 20; and `domain_scores`, numbers by entity id that
        are added. Of names that merely hold the text, or are alike, the first 200 are judged.

        Raises:
            InvalidInput: an empty name, an unknown type or hint, or a limit out of range.
        """
        from engrain.entities import resolution

        parts = self._parts()
        caller = self._caller
        asked = checks.name(name, name="name")
        known = resolution.parse_hints(hints)
        most = parse_limit(parts, limit)
        wanted = None if entity_type is None else _type(entity_type)
        alike = checks.flag(fuzzy, name="fuzzy") and resolution.is_long_enough(asked)

        def looked_up() -> tuple[list[Entity], list[Fact]]:
            similar = parts.store.resembling(caller, asked, fuzzy=alike, limit=_MOST_PROPOSED)
            of_type = [each for each in similar if wanted in (None, each.entity_type)]
            ids = [each.id for each in of_type]
            return of_type, parts.store.facts_about(caller, ids, _FACTS_OF_CANDIDATE) if known.terms else []

        proposed, facts = parts.store.in_one_snapshot(caller, looked_up)
        by_entity = {
            each.id: [fact for fact in facts if fact.entity_id == each.id] for each in (proposed if facts else [])
        }
        return resolution.rank_matches(asked, proposed, fuzzy=alike, hints=known, facts=by_entity)[:most]

    def merge(self, source_id: words.MergeSource, target_id: words.MergeTarget) -> EntityMerge:
        """Let one entity take in another that is the same: facts, mentions, aliases and metadata move to the target.

        Where both have an active fact in one place, the one of lower confidence is superseded (of equals the source's).
        The source stays as a tombstone. Facts and mentions that this agent does not see move too; the answer leaves
        them out. `unmerge` undoes it.

        Raises:
            InvalidInput: they are the same, one is unknown or was merged already; nothing was written.
        """
        parts = self._parts()
        source, target = checks.name(source_id, name="source_id"), checks.name(target_id, name="target_id")
        return self._counted(parts.store.merge_entities(new_act(parts, self._caller), source, target))

    def unmerge(self, source_id: words.MergedEntity) -> EntityMerge:
        """Undo the merge of an entity: what moved goes back, what was superseded by it is believed again.

        What was done since the merge stays as it is. Merges come apart in the reverse of their order.

        Raises:
            NotFound: the tenant knows no such entity.
            InvalidInput: it was not merged, or another merge has to be undone first; nothing was written.
        """
        parts = self._parts()
        source = checks.name(source_id, name="source_id")
        return self._counted(parts.store.unmerge_entities(new_act(parts, self._caller), source))

    def profile(self, id_or_name: words.EntityIdOrName) -> EntityProfile:
        """Everything this agent knows of an entity: its facts with their history, episodes, rules, who is with it.

        The newest 100 memories that mention it or are about it; `related` are those mentioned in the same ones. A
        tombstone's profile is that of the entity it was merged into.

        Raises:
            NotFound: nobody has that id or name.
            InvalidInput: several have that name; the message names their ids.
        """
        from engrain.entities import profile

        parts = self._parts()
        caller = self._caller
        asked = checks.name(id_or_name, name="id_or_name")
        request = Request(caller=caller, filter=Filter(include_inactive=True), now=parts.clock())

        def told() -> EntityProfile:
            entity = self._standing(caller, asked)
            sightings = parts.store.sightings(request, entity.id, _MOST_SIGHTINGS)
            related = parts.store.entities(caller, [id_ for id_, _ in profile.related_ids(entity.id, sightings)])
            return profile.build_profile(entity, sightings, {each.id: each for each in related})

        return parts.store.in_one_snapshot(caller, told)

    def enrich(
        self, ids: words.Ids, *, strategy: words.EnrichStrategy = "accurate", publish: words.Publish = False
    ) -> Enrichment:
        """Read memories for the names in them, and note whom they mention; each is stamped `metadata.enriched_at`.

        `strategy` is accurate (spelling and the name finder that the settings name) or fast (spelling alone); accurate
        is skipped where no name finder is configured. A name is linked to the entity of its type that has it
        canonically, else to one that has it as an alias. What the registry does not know is added to it, and so are
        new spellings, from memories of scope global alone: the registry is the whole tenant's, and a name out of a
        private memory would tell of it. `publish` says that these may be told too.

        Raises:
            NotFound: this agent sees no such memory; those before it are enriched.
            EngineUnavailable: the name finder cannot answer; likewise.
        """
        from engrain.agent.writes.linking import enrich

        chosen = checks.choice(strategy, ["fast", "accurate"], name="strategy")
        return enrich(
            self._parts(),
            self._caller,
            checks.names(ids, name="id"),
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
        """Enrich the newest episodes and facts that `to_enrich` names, with the name finder of the settings.

        Made to be run every night. Without a name finder nothing is read, and the answer's `skipped` says so: what
        spelling gives away was linked when they were stored. `progress` is told after each memory how many were read.

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
        """The ids of the newest episodes and facts that mention at most so many entities and were never enriched."""
        parts = self._parts()
        request = self._unread()
        few = checks.count(most_entities, name="most_entities", high=1_000)
        found = parts.store.unenriched(request, most_entities=few, limit=checks.count(limit, name="limit"))
        return [each.id for each in found]

    def _unread(self) -> Request:
        return Request(caller=self._caller, filter=Filter(kinds=("episode", "fact")), now=self._parts().clock())

    def _standing(self, caller: Caller, id_or_name: str) -> Entity:
        store = self._parts().store
        found = store.entities(caller, [id_or_name]) or store.entities_named(caller, [id_or_name])
        by_id = {each.id: each for each in found}
        while merged := {each.metadata[MERGED_INTO] for each in by_id.values() if MERGED_INTO in each.metadata}:
            kept = {id_: each for id_, each in by_id.items() if MERGED_INTO not in each.metadata}
            by_id = {**kept, **{each.id: each for each in store.entities(caller, sorted(merged))}}
        match list(by_id.values()):
            case [entity]:
                return entity
            case []:
                raise self._unknown(id_or_name)
            case several:
                said = ", ".join(f"{each.id} ({each.entity_type} {each.canonical_name!r:.80})" for each in several[:10])
                raise InvalidInput(f"{id_or_name!r:.80} names {len(several)} entities: {said}; give an id")

    def _counted(self, done: EntityMerge) -> EntityMerge:
        """With the mentions that this agent sees."""
        found = {each.id: each for each in self._parts().store.entities(self._caller, [done.source.id, done.target.id])}
        return replace(
            done, source=found.get(done.source.id, done.source), target=found.get(done.target.id, done.target)
        )

    def _unknown(self, id_: str) -> NotFound:
        return NotFound(f"no entity {id_!r:.80} is known to tenant {self._who.tenant_id}; entities.find shows them")


def _type(value: object) -> EntityType:
    return checks.choice(value, ENTITY_TYPES, name="entity_type")


def _metadata(value: object) -> dict[str, Any]:
    """Metadata as given, but for the key by which the registry knows a tombstone."""
    metadata = checks.metadata(value)
    if MERGED_INTO in metadata:
        raise InvalidInput(f"metadata key {MERGED_INTO!r} is kept for merges; use entities.merge, or another key")
    return metadata
