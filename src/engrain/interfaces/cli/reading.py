"""Commands that find and show, and change nothing but the count of references."""

from typing import Annotated

import typer

from engrain.domain.records import KINDS, RELATIONS, ROLES
from engrain.errors import NotFound
from engrain.interfaces.cli import output, rendering
from engrain.interfaces.cli.arguments import After, AsOf, Id, IncludeInactive, Limit, PresetName, Query, one_of
from engrain.interfaces.cli.invocation import Invocation, command

app = typer.Typer()

HitLimit = Annotated[
    int | None, typer.Option("--limit", metavar="N", help="How many hits at most, 0-1000 (ENGRAIN_RETRIEVAL__LIMIT).")
]


@command(app, "recall")
def recall(
    invocation: Invocation,
    query: Query,
    *,
    limit: HitLimit = None,
    preset: PresetName = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help=f"{one_of(KINDS)} May be repeated.")
    ] = None,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="NAME", help="Of this scope and global alone.")
    ] = None,
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="NAME", help="Of this session; repeated, of any of them.")
    ] = None,
    exclude_session: Annotated[
        list[str] | None,
        typer.Option("--exclude-session", metavar="NAME", help="Not of this session; may be repeated."),
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE", help=f"{one_of(ROLES)} May be repeated.")
    ] = None,
    speaker: Annotated[
        list[str] | None, typer.Option("--speaker", metavar="NAME", help="Said by this one; repeated, by any of them.")
    ] = None,
    subject: Annotated[
        list[str] | None,
        typer.Option("--subject", metavar="NAME", help="Fact about this; repeated, about any of them."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="With this tag; repeated, with all of them.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before, ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before, ISO 8601.")] = None,
    as_of: AsOf = None,
    include_inactive: IncludeInactive = False,
    min_confidence: Annotated[
        float | None, typer.Option("--min-confidence", metavar="P", help="Believed at least so much, 0-1.")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Let the re-ranker order the best (ENGRAIN_RERANKING__MODEL).")
    ] = False,
    neighbours: Annotated[
        int, typer.Option("--neighbours", metavar="N", help="With the turns before and after each episode, 0-5.")
    ] = 0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell what was considered and is no hit, and why.")
    ] = False,
) -> None:
    """The best memories for a question, best first, each saying why."""
    with invocation.memory() as memory:
        answer = memory.agent().recall(
            query,
            limit=limit,
            preset=preset,
            kinds=kind,
            scope=scope,
            sessions=session,
            exclude_sessions=exclude_session,
            roles=role,
            speakers=speaker,
            subjects=subject,
            tags=tag,
            since=since,
            until=until,
            as_of=as_of,
            include_inactive=include_inactive,
            min_confidence=min_confidence,
            deep=deep,
            neighbours=neighbours,
            explain=explain,
        )
        if invocation.as_json:
            output.document(answer.to_dict())
            return
        rendering.show_hits(answer.hits)
        for line in rendering.dropped(answer.dropped):
            output.say(line)
        invocation.degraded(answer.degraded)
        if answer.hits and answer.evidence == "none":
            invocation.note("note: the answer is probably not among these (evidence: none)")
        if not answer.hits:
            invocation.note("nothing found")


@command(app, "get")
def get(invocation: Invocation, id_: Id, *, as_of: AsOf = None) -> None:
    """One memory by id, live or not."""
    with invocation.memory() as memory:
        agent = memory.agent()
        found = agent.get(id_, as_of=as_of)
        if found is None:
            then = f" of {as_of}" if as_of else ""
            raise NotFound(f"no memory {id_}{then} is visible to agent {agent.caller.agent}; recall shows ids")
        invocation.answer(found.to_dict(), rendering.record(found))


@command(app, "route")
def route(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was said.")],
    *,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=one_of(ROLES))] = "user",
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")] = None,
) -> None:
    """Where an input belongs, and why.

    An episode, a fact, a rule, a note, a question, or the work at hand; by its English words. Nothing is stored.
    """
    with invocation.memory() as memory:
        found = memory.agent().route(text, role=role, speaker=speaker)
        invocation.answer(found.to_dict(), rendering.routing(found))


@command(app, "facts")
def facts(
    invocation: Invocation,
    *,
    subject: Annotated[str | None, typer.Option("--subject", metavar="NAME", help="Facts about this alone.")] = None,
    predicate: Annotated[
        str | None, typer.Option("--predicate", metavar="WORDS", help="Facts that say this alone.")
    ] = None,
    as_of: AsOf = None,
    include_inactive: IncludeInactive = False,
    limit: Limit = 100,
    after: After = None,
) -> None:
    """What is known, the newest first."""
    with invocation.memory() as memory:
        found = memory.agent().facts(
            subject, predicate, as_of=as_of, include_inactive=include_inactive, limit=limit, after=after
        )
        invocation.answer_list(found, rendering.facts(found))


@command(app, "history")
def history(invocation: Invocation, id_: Id) -> None:
    """Every fact that ever held the place of this one, oldest first."""
    with invocation.memory() as memory:
        found = memory.agent().history(id_)
        invocation.answer_list(found, rendering.facts(found))


@command(app, "links")
def links(
    invocation: Invocation,
    id_: Id,
    *,
    direction: Annotated[
        str, typer.Option("--direction", metavar="WORD", help="outgoing (it is the source), incoming or both.")
    ] = "both",
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="WORD", help=f"Of this relation alone. {one_of(RELATIONS)}")
    ] = None,
) -> None:
    """How a memory bears on others, and others on it."""
    with invocation.memory() as memory:
        found = memory.agent().links(id_, direction=direction, relation=relation)
        invocation.answer_list(found, rendering.links(found))


@command(app, "events")
def events(
    invocation: Invocation,
    id_: Annotated[str | None, typer.Argument(metavar="ID", help="Of this memory alone.")] = None,
    *,
    event_type: Annotated[
        str | None, typer.Option("--type", metavar="WORD", help="Of this type alone, such as fact_superseded.")
    ] = None,
    limit: Limit = 100,
    after: After = None,
) -> None:
    """What was done, by whom and when, the newest first."""
    with invocation.memory() as memory:
        found = memory.agent().events(id_, event_type=event_type, limit=limit, after=after)
        invocation.answer_list(found, rendering.events(found))
