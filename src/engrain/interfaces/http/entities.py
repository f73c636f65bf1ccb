"""Entities: whom and what facts are about."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import Field

from engrain.agent.entities import Entities
from engrain.domain.entities.registry import Enrichment, EntityMatch, EntityMerge, EntityProfile
from engrain.domain.pagination import Page
from engrain.domain.records import Entity, EntityType
from engrain.interfaces.http import words
from engrain.interfaces.http.answers import Waiting, created, listed, said, versioned
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.verbs import Room
from engrain.interfaces.http.words import Body

room = Room("entities", "Whom and what facts are about, known to the whole tenant.", group="entities")

_MostEntities = Annotated[int, Field(ge=0, le=1000, description="Mentions at most so many.")]


class NewEntity(Body):
    """Somebody or something."""

    name: words.EntityName
    entity_type: words.TypeOfEntity = "other"
    aliases: words.Aliases = None
    metadata: words.Metadata = None


class EntityChange(Body):
    """What is otherwise; what is left out stays."""

    name: Annotated[str | None, Field(description="Its name from now on.")] = None
    aliases: Annotated[list[str] | None, Field(description="All its other names.")] = None
    metadata: Annotated[dict[str, Any] | None, Field(description="Merged into its metadata.")] = None


class NameAsked(Body):
    """A name, and what helps to tell whom it means."""

    name: words.EntityName
    entity_type: Annotated[EntityType | None, Field(description="Of this sort alone.")] = None
    hints: Annotated[
        dict[str, Any] | None, Field(description="`topic`, `mentioned_with` (names), `domain_scores` (by entity id).")
    ] = None
    fuzzy: Annotated[bool, Field(description="Names that are alike, too.")] = False
    limit: words.Limit = None


class ToMerge(Body):
    """Two entities that are one."""

    source_id: Annotated[str, Field(description="Id of the entity that becomes a tombstone.")]
    target_id: Annotated[str, Field(description="Id of the entity that takes it in.")]


class ToUnmerge(Body):
    """An entity that was merged."""

    source_id: Annotated[str, Field(description="Id of the entity that was taken in.")]


class ToEnrich(Body):
    """Memories to read for names."""

    ids: words.Ids
    strategy: Annotated[str, Field(description="accurate (the name finder, and spelling) or fast.")] = "accurate"
    publish: words.Publish = False


class Backlog(Body):
    """Which memories wait to be read for names."""

    most_entities: _MostEntities = 2
    limit: Annotated[int, Field(ge=0, le=1000, description="How many at most.")] = 50
    publish: words.Publish = False


@room.verb("POST", "/entities", Entities.create, needs="writer", answers=Entity, status=HTTPStatus.CREATED)
def create(asked: Asked, body: NewEntity) -> Response:
    """Add somebody or something under its canonical name."""
    entity = asked.agent().entities.create(**body.given())
    return created(entity, f"/v1/entities/{entity.id}")


@room.verb("GET", "/entities", Entities.find, needs="reader", answers=Page[Entity])
def find(
    asked: Asked,
    entity_type: words.OfEntityType = None,
    limit: Annotated[int, Query(ge=0, le=1000, description="How many at most.")] = 100,
    after: words.After = None,
) -> Response:
    """List the entities by canonical name, then type."""
    found = asked.agent().entities.find(entity_type=entity_type, after=after, limit=limit)
    return listed(found)


@room.verb("GET", "/entities/profile", Entities.profile, needs="reader", answers=EntityProfile)
def profile(
    asked: Asked, id_or_name: Annotated[str, Query(description="Id or name of an entity.", examples=["Ana"])]
) -> Response:
    """Read all that the agent knows of an entity: facts with their history, episodes, rules, who is with it."""
    return said(asked.agent().entities.profile(id_or_name))


@room.verb("GET", "/entities/to_enrich", Entities.to_enrich, needs="reader", answers=Waiting)
def to_enrich(
    asked: Asked,
    most_entities: Annotated[int, Query(ge=0, le=1000, description="Mentions at most so many.")] = 2,
    limit: words.PageLimit = 50,
) -> Response:
    """List ids of the newest episodes and facts that were never read for names."""
    found = asked.agent().entities.to_enrich(most_entities=most_entities, limit=limit)
    return said(Waiting(ids=tuple(found)))


@room.verb("GET", "/entities/{id}", Entities.get, needs="reader", answers=Entity)
def get(asked: Asked, id_: words.EntityId, if_none_match: words.IfNoneMatch = None) -> Response:
    """Read one entity; of one that was merged `metadata.merged_into` names the one that took it in."""
    return versioned(asked.agent().entities.get(id_), if_none_match, what=f"entity {id_!r:.80} in this tenant")


@room.verb("PATCH", "/entities/{id}", Entities.update, needs="writer", answers=Entity)
def update(asked: Asked, id_: words.EntityId, body: EntityChange) -> Response:
    """Call an entity otherwise, or say more of it: name and aliases are replaced, metadata is merged."""
    return said(asked.agent().entities.update(id_, **body.given()))


@room.verb("POST", "/entities/resolve", Entities.resolve, needs="reader", answers=Page[EntityMatch])
def resolve(asked: Asked, body: NameAsked) -> Response:
    """Say whom a name may mean, the likeliest first; nothing is created."""
    return listed(asked.agent().entities.resolve(**body.given()))


@room.verb("POST", "/entities/merge", Entities.merge, needs="writer", answers=EntityMerge)
def merge(asked: Asked, body: ToMerge) -> Response:
    """Let one entity take in another that is the same; `unmerge` undoes it."""
    return said(asked.agent().entities.merge(**body.given()))


@room.verb("POST", "/entities/unmerge", Entities.unmerge, needs="writer", answers=EntityMerge)
def unmerge(asked: Asked, body: ToUnmerge) -> Response:
    """Undo the merge of an entity, but for what was done since."""
    return said(asked.agent().entities.unmerge(body.source_id))


@room.verb("POST", "/entities/enrich", Entities.enrich, needs="writer", answers=Enrichment)
def enrich(asked: Asked, body: ToEnrich) -> Response:
    """Read memories for the names in them, and note whom they mention."""
    return said(asked.agent().entities.enrich(**body.given()))


@room.verb("POST", "/entities/enrich_waiting", Entities.enrich_waiting, needs="writer", answers=Enrichment)
def enrich_waiting(asked: Asked, body: Backlog) -> Response:
    """Read what `to_enrich` names with the name finder of the settings; `skipped` says why where there is none."""
    return said(asked.agent().entities.enrich_waiting(**body.given()))
