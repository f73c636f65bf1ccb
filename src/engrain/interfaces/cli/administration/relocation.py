"""`engrain reembed`, `copy` and `migrate`: the memory as a whole, from one shape into another."""

import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engrain.interfaces.cli import output, progress
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, flag

if TYPE_CHECKING:
    from engrain.portability.copies import CopyReport
    from engrain.service import Memory
    from engrain.storage.upgrades import SchemaState


def reembed(
    invocation: Invocation,
    *,
    embedder: Annotated[
        str | None, flag("--embedder NAME", "Embedder to change to (ENGRAIN_EMBEDDING__MODEL).")
    ] = None,
) -> None:
    """Make the vectors of all memories with another embedder, and search by them.

    Searches go on meanwhile. Stopped anywhere, the same command goes on.
    """
    with invocation.memory(embedder=embedder) as memory:
        total = _vectors_to_make(invocation, memory)
        kept = "searches go on as before, and the new vectors so far are kept"
        with (
            progress.counting("making vectors", total=total, visible=not invocation.as_json) as done,
            progress.explain_interrupt(f"{kept}; run the same command again to complete them"),
        ):
            report = memory.reembed(progress.sums(done))
        invocation.answer(
            report.to_dict(),
            f"searches use {report.embedder} now: {output.counted(report.embedded, 'vector')} made, "
            f"{output.counted(report.pruned, 'old one')} removed",
        )


def copy(
    invocation: Invocation,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="File or PostgreSQL URL to copy from.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="New file or empty PostgreSQL database.")],
) -> None:
    """Copy a whole memory into another database, and compare the two.

    Every tenant, vectors included. Stopped anywhere, the same command goes on.
    """
    from engrain.portability.copies import copy_database

    settings = invocation.settings()
    kept = "what was copied is whole; run the same command again to complete it"
    with ExitStack() as shown, progress.explain_interrupt(kept):
        report = copy_database(
            source,
            target,
            busy_timeout_s=settings.storage.busy_timeout_s,
            synchronous=settings.storage.synchronous,
            progress=progress.steps(shown, visible=not invocation.as_json),
        )
    invocation.answer({**report.to_dict(), "differing": list(report.differing)}, _copied(report))
    if report.differing:
        invocation.note(
            f"problem: {', '.join(report.differing)} differ: somebody wrote to one of the two meanwhile; "
            "copy into a new target while nobody does"
        )
        raise typer.Exit(ExitCode.PROBLEM)


def migrate(
    invocation: Invocation,
    location: Annotated[
        str | None, typer.Argument(metavar="LOCATION", help="File or PostgreSQL URL; ENGRAIN_DB if left out.")
    ] = None,
    *,
    check: Annotated[bool, flag("--check", "Say only whether it is up to date; nothing is written.")] = False,
) -> None:
    """Bring a database to the newest schema, as opening it does."""
    from engrain.storage import upgrades
    from engrain.storage.migrations import HEAD

    settings = invocation.settings()
    storage = settings.storage
    shards = [url.get_secret_value() for url in storage.shards.values()]
    places = [settings.db, *shards] if location is None else [location]
    inspect = partial(upgrades.inspect_schema, busy_timeout_s=storage.busy_timeout_s)
    upgrade = partial(upgrades.upgrade_schema, busy_timeout_s=storage.busy_timeout_s, synchronous=storage.synchronous)
    found = [inspect(place) if check else upgrade(place) for place in places]
    documents = [
        {
            "location": schema.location,
            "before": schema.revision or None,
            "newest": HEAD,
            "behind": schema.is_behind,
            "migrated": schema.is_behind and not check,
        }
        for schema in found
    ]
    text = "\n".join(_migrated(schema, HEAD, check=check) for schema in found)
    invocation.answer(documents[0] if len(documents) == 1 else {"servers": documents}, text)
    if check and any(schema.is_behind for schema in found):
        raise typer.Exit(ExitCode.PROBLEM)


def _vectors_to_make(invocation: Invocation, memory: "Memory") -> int | None:
    """Count the vectors to make, for a bar; None where nobody sees one, or some are there from an earlier run."""
    if invocation.as_json or not sys.stderr.isatty():
        return None
    if memory.is_reembedding:
        return None
    health = memory.health()
    return health.embedded + health.waiting


def _copied(report: "CopyReport") -> str:
    rows = {table.table: table.rows for table in report.tables}
    memories = sum(rows[kind] for kind in ("episodes", "facts", "rules"))
    added = sum(table.added for table in report.tables)
    counts: dict[str, Any] = {
        table.table: f"{table.rows:,}  sha256 {table.sha256}" for table in report.tables if table.rows
    }
    ended = "the target says the same" if not report.differing else "the target differs"
    return (
        f"{output.pairs(counts)}\n"
        f"{output.counted(memories, 'memory', 'memories')} in {output.counted(sum(rows.values()), 'row')}, "
        f"{added:,} of them copied now; {ended}"
    )


def _migrated(schema: "SchemaState", newest: str, *, check: bool) -> str:
    if not schema.is_behind:
        return f"{schema.location}: schema {schema.revision}, the newest"
    if check:
        missing = f"schema {schema.revision}, behind {newest}" if schema.revision else "no memory there yet"
        return f"{schema.location}: {missing}; bring it up to date: engrain migrate {schema.location}"
    return f"{schema.location}: schema {schema.revision or '(new)'} -> {newest}"
