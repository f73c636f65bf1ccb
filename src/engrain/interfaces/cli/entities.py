"""Commands on whom facts are about: add, change, find, resolve a name, merge and part, and all that is known."""

from typing import TYPE_CHECKING, Annotated

import typer

from engrain.domain.records import ENTITY_TYPES
from engrain.errors import NotFound
from engrain.interfaces.cli import output, progress, rendering
from engrain.interfaces.cli.arguments import After, Metadata, json_object, one_of
from engrain.interfaces.cli.invocation import Invocation, command

if TYPE_CHECKING:
    from engrain.domain.entities.registry import EntityMerge, EntityProfile

entities = typer.Typer(help="Whom and what facts are about, known to all agents of a tenant.")

_Id = Annotated[str, typer.Argument(metavar="ID", help="Id of an entity, as list shows it.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Its canonical name.")]
_Type = Annotated[str | None, typer.Option("--type", metavar="TYPE", help=one_of(ENTITY_TYPES))]
_Aliases = Annotated[list[str] | None, typer.Option("--alias", metavar="NAME", help="Another name; may be repeated.")]
_Limit = Annotated[int | None, typer.Option("--limit", "-n", metavar="N", help="How many at most.")]


@command(entities, "create")
def create(
    invocation: Invocation,
    name: _Name,
    *,
    entity_type: _Type = None,
    alias: _Aliases = None,
    metadata: Metadata = None,
) -> None:
    """Add somebody or something that facts are about."""
    with invocation.memory() as memory:
        entity = memory.agent().entities.create(
            name, entity_type or "other", aliases=alias, metadata=json_object(metadata, what="metadata")
        )
        invocation.answer(entity.to_dict(), f"created {entity.entity_type} {entity.id}: {entity.canonical_name}")


@command(entities, "update")
def update(
    invocation: Invocation,
    id_: _Id,
    *,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="The new canonical name.")] = None,
    alias: _Aliases = None,
    metadata: Annotated[
        str | None, typer.Option("--metadata", metavar="JSON", help="A JSON object, added key by key to what there is.")
    ] = None,
) -> None:
    """Call an entity otherwise, or say more of it.

    The aliases given take the place of all it has; metadata is added to what there is.
    """
    with invocation.memory() as memory:
        entity = memory.agent().entities.update(
            id_, name=name, aliases=alias, metadata=json_object(metadata, what="metadata")
        )
        invocation.answer(entity.to_dict(), output.pairs(entity.to_dict()))


@command(entities, "show")
def show(invocation: Invocation, id_: _Id) -> None:
    """One entity by id."""
    with invocation.memory() as memory:
        agent = memory.agent()
        entity = agent.entities.get(id_)
        if entity is None:
            raise NotFound(f"no entity {id_} is known to tenant {agent.caller.tenant_id}; entities list shows ids")
        invocation.answer(entity.to_dict(), output.pairs(entity.to_dict()))


@command(entities, "list")
def show_all(
    invocation: Invocation,
    *,
    entity_type: _Type = None,
    limit: _Limit = None,
    after: After = None,
) -> None:
    """The entities, by name."""
    with invocation.memory() as memory:
        found = memory.agent().entities.find(entity_type=entity_type, after=after, limit=limit)
        lines = [f"{each.id}  {each.entity_type:<12}  {each.canonical_name}" for each in found]
        invocation.answer_list(found, "\n".join(lines))


@command(entities, "resolve")
def resolve(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name as somebody said it.")],
    *,
    entity_type: _Type = None,
    topic: Annotated[str | None, typer.Option("--topic", metavar="TEXT", help="What it is about.")] = None,
    mentioned_with: Annotated[
        list[str] | None, typer.Option("--with", metavar="NAME", help="Who else was named; may be repeated.")
    ] = None,
    fuzzy: Annotated[bool, typer.Option("--fuzzy", help="Names that are merely alike, too.")] = False,
    limit: _Limit = None,
) -> None:
    """Whom a name may mean, the likeliest first."""
    given = {"topic": topic, "mentioned_with": mentioned_with}
    with invocation.memory() as memory:
        found = memory.agent().entities.resolve(
            name,
            entity_type=entity_type,
            hints={hint: value for hint, value in given.items() if value is not None},
            fuzzy=fuzzy,
            limit=limit,
        )
        lines = [
            f"{each.score:8.4f}  {each.name_match:<6}  {each.entity_id}  {each.entity_type:<12}  {each.canonical_name}"
            for each in found
        ]
        invocation.answer_list(found, "\n".join(lines))


@command(entities, "merge")
def merge(
    invocation: Invocation,
    source_id: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the entity that is the other one.")],
    target_id: Annotated[str, typer.Argument(metavar="TARGET", help="Id of the entity that stays.")],
) -> None:
    """Let one entity take in another that is the same.

    Facts, mentions and names move; unmerge undoes it.
    """
    with invocation.memory() as memory:
        done = memory.agent().entities.merge(source_id, target_id)
        invocation.answer(done.to_dict(), f"merged {_said(done)}")


@command(entities, "unmerge")
def unmerge(
    invocation: Invocation,
    source_id: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the entity that was merged.")],
) -> None:
    """Undo the merge of an entity.

    What was done since stays.
    """
    with invocation.memory() as memory:
        done = memory.agent().entities.unmerge(source_id)
        invocation.answer(done.to_dict(), f"parted {_said(done)}")


@command(entities, "profile")
def profile(
    invocation: Invocation,
    id_or_name: Annotated[str, typer.Argument(metavar="NAME", help="Id or name of an entity.")],
) -> None:
    """Everything that is known of an entity."""
    with invocation.memory() as memory:
        found = memory.agent().entities.profile(id_or_name)
        invocation.answer(found.to_dict(), _shown(found))


@command(entities, "enrich")
def enrich(
    invocation: Invocation,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="How many memories at most.")] = 50,
    max_entities: Annotated[
        int, typer.Option("--max-entities", metavar="N", help="Those that mention at most so many entities.")
    ] = 2,
    publish: Annotated[
        bool, typer.Option("--publish", help="Names out of private memories may enter the registry, too.")
    ] = False,
) -> None:
    """Read memories again for the names in them, by the name finder.

    The newest episodes and facts that mention few and were not read so before. Made to be run every night.
    """
    with (
        invocation.memory() as memory,
        progress.counting("memories", total=limit, visible=not invocation.as_json) as tell,
    ):
        done = memory.agent().entities.enrich_waiting(
            most_entities=max_entities, limit=limit, publish=publish, progress=tell
        )
        read, links = output.counted(done.enriched, "memory", "memories"), output.counted(done.links, "mention")
        said = f"{read} read, {links} and {done.created:,} new entities noted"
        invocation.answer(done.to_dict(), said if done.skipped is None else f"skipped: {done.skipped}")


def _said(done: "EntityMerge") -> str:
    facts = output.counted(len(done.facts_repointed), "fact")
    return f"{done.source.canonical_name} ({done.source.id}) and {done.target.canonical_name}: {facts} moved"


def _shown(found: "EntityProfile") -> str:
    lines = [output.pairs(found.entity.to_dict())]
    for title, memories in (
        ("facts", [fact for facts in found.facts.values() for fact in facts]),
        ("episodes", found.episodes),
        ("rules", found.rules),
    ):
        if memories:
            lines += ["", title, *(f"  {output.one_line(rendering.statement_with_end(each))}" for each in memories)]
    if found.related:
        lines += ["", "mentioned with"]
        lines += [f"  {each.canonical_name} ({each.entity_type}, {each.memories})" for each in found.related]
    return "\n".join(lines)
