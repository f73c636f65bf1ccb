"""Commands of pools: what an agent shares with some others, and nobody else sees."""

from typing import Annotated

import typer

from engrain.domain.access.pools import Pool
from engrain.interfaces.cli import output, rendering
from engrain.interfaces.cli.arguments import Id, Metadata, PresetName, Query, json_object
from engrain.interfaces.cli.invocation import Invocation, command

pools = typer.Typer(help="What an agent shares with some others, and nobody else sees.")

Name = Annotated[str, typer.Argument(metavar="POOL", help="The pool's name.")]
Member = Annotated[str, typer.Argument(metavar="MEMBER", help="The agent who comes or goes.")]


@command(pools, "create")
def create(
    invocation: Invocation,
    name: Name,
    members: Annotated[
        list[str] | None, typer.Argument(metavar="[MEMBER]...", help="Who is in it besides this agent.")
    ] = None,
    *,
    metadata: Metadata = None,
) -> None:
    """Make a pool that this agent and others are in.

    `remember --scope pool:NAME` writes to it; `recall` finds it with everything else.
    """
    with invocation.memory() as memory:
        pool = memory.agent().pools.create(name, members, metadata=json_object(metadata, what="metadata"))
        invocation.answer(pool.to_dict(), f"created {_line(pool)}")


@command(pools, "list")
def list_(invocation: Invocation) -> None:
    """The pools this agent is in."""
    with invocation.memory() as memory:
        found = memory.agent().pools.list()
        invocation.answer_list(found, "\n".join(map(_line, found)))


@command(pools, "add")
def add(invocation: Invocation, name: Name, member: Member) -> None:
    """Let another agent in; it sees all that the pool holds, at once."""
    with invocation.memory() as memory:
        pool = memory.agent().pools.add(name, member)
        invocation.answer(pool.to_dict(), _line(pool))


@command(pools, "remove")
def remove(invocation: Invocation, name: Name, member: Member) -> None:
    """Take somebody out, or leave; its next call sees nothing of the pool."""
    with invocation.memory() as memory:
        pool = memory.agent().pools.remove(name, member)
        invocation.answer(pool.to_dict(), _line(pool))


@command(pools, "delete")
def delete(invocation: Invocation, name: Name) -> None:
    """Remove a pool that holds nothing."""
    with invocation.memory() as memory:
        memory.agent().pools.delete(name)
        invocation.answer({"deleted": name}, f"deleted pool {name}")


@command(pools, "contribute")
def contribute(invocation: Invocation, name: Name, id_: Id) -> None:
    """Put a copy of a memory into a pool."""
    with invocation.adding() as memory:
        copy = memory.agent().pools.contribute(name, id_)
        invocation.answer(copy.to_dict(), f"{copy.kind} {copy.id} is in pool {name} now")


@command(pools, "query")
def query(
    invocation: Invocation,
    name: Name,
    query: Query,
    *,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="How many hits at most, 0-1000; 10 if left out.")
    ] = 10,
    preset: PresetName = None,
) -> None:
    """What a pool knows of a question, best first."""
    with invocation.memory() as memory:
        answer = memory.agent().pools.query(name, query, limit=limit, preset=preset)
        if invocation.as_json:
            output.document(answer.to_dict())
            return
        invocation.degraded(answer.degraded)
        rendering.show_hits(answer.hits)
        if not answer.hits:
            invocation.note("nothing found")


@command(pools, "sync")
def sync(invocation: Invocation, name: Name) -> None:
    """Copy what others put into a pool into this agent's own scope.

    It stays there when the agent leaves. A repeat copies what is new.
    """
    with invocation.adding() as memory:
        report = memory.agent().pools.sync_to_agent(name)
        copied = output.counted(len(report.copied), "memory", "memories")
        said = f"copied {copied}, {report.unchanged:,} unchanged, {len(report.kept):,} of its own kept"
        invocation.answer(report.to_dict(), said)


def _line(pool: Pool) -> str:
    return f"{pool.name}: {', '.join(pool.members)}"
