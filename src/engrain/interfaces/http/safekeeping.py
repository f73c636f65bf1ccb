"""A tenant's or an agent's memories as a file, out and in; and files of other systems, in."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from engrain import Memory
from engrain.agent import Agent
from engrain.interfaces.http import files, words
from engrain.interfaces.http.answers import said
from engrain.interfaces.http.asking import Asked
from engrain.interfaces.http.schemas import File
from engrain.interfaces.http.verbs import Room
from engrain.portability.exporting import ExportFormat
from engrain.portability.importer import ImportReport
from engrain.portability.restoring import RestoreReport

room = Room("safekeeping", "Memories as a file, out and in; files of other systems, in.")

_GZIP, _BYTES = "application/gzip", "application/octet-stream"
_Agent = Annotated[str | None, Query(description="Of this agent alone; of the whole tenant if left out.")]


@room.verb("GET", "/backup", Memory.backup, needs="admin", answers=File(_GZIP))
def backup(
    asked: Asked,
    *,
    agent: _Agent = None,
    vectors: Annotated[bool, Query(description="False: smaller, and a restore makes them anew.")] = True,
) -> Response:
    """Write the tenant, or one agent, into one sealed file, as of one moment.

    The header Engrain-Report has the counts and digests of what is in it.
    """
    whose = asked.extent(agent)
    return files.sent(
        "engrain-backup.gz",
        _GZIP,
        lambda path: asked.memory.backup(path, agent=whose, tenant=asked.tenant, vectors=vectors),
    )


@room.verb("POST", "/restore", Memory.restore, needs="admin", answers=RestoreReport, takes=File(_GZIP))
async def restore(
    request: Request,
    asked: Asked,
    *,
    agent: _Agent = None,
    replace_: Annotated[
        bool, Query(alias="replace", description="Remove the memories of the agent or tenant first.")
    ] = False,
    with_erased: Annotated[bool, Query(description="Bring back what was erased since, too.")] = False,
    dry_run: Annotated[bool, Query(description="Check the file, say what would be done; change nothing.")] = False,
) -> Response:
    """Add what is missing of a backup to the tenant, or to one agent of it; all or nothing. Again, it adds nothing."""
    whose = asked.extent(agent)

    def work(path: Path) -> RestoreReport:
        return asked.memory.restore(
            path, agent=whose, tenant=asked.tenant, replace=replace_, with_erased=with_erased, dry_run=dry_run
        )

    async with files.received(request, name="backup") as path:
        report = await run_in_threadpool(files.reading, path, work)
    return said(replace(report, path=path.name))


@room.verb("GET", "/export", Memory.export, needs="admin", answers=File("application/jsonl", "text/markdown"))
def export(
    asked: Asked,
    format_: Annotated[ExportFormat, Query(alias="format", description="jsonl is read back by import.")] = "jsonl",
    kinds: words.ExportKinds = None,
) -> Response:
    """Write what the agent remembers as JSON lines, which `import_file` reads back, or as Markdown.

    The header Engrain-Report has the counts.
    """
    name, media_type = {
        "jsonl": ("engrain-export.jsonl", "application/jsonl"),
        "markdown": ("engrain-export.md", "text/markdown"),
    }[format_]
    return files.sent(
        name,
        media_type,
        lambda path: asked.memory.export(
            path, agent=asked.agent_name, tenant=asked.tenant, format=format_, kinds=kinds
        ),
    )


@room.verb("POST", "/import_file", Agent.import_file, needs="writer", answers=ImportReport, takes=File(_BYTES))
async def import_file(
    request: Request,
    asked: Asked,
    *,
    filename: Annotated[str, Query(description="What the file is called; its ending tells Markdown.")] = "import",
    format_: Annotated[str, Query(alias="format", description="auto (see what it is), or its name.")] = "auto",
    strict: Annotated[bool, Query(description="Stop at the first broken record.")] = False,
) -> Response:
    """Add what a file of another system holds: conversations, facts, notes. Again, it adds only what is new."""

    def work(path: Path) -> ImportReport:
        return asked.agent().import_file(path, format=format_, strict=strict)

    async with files.received(request, name=filename) as path:
        report = await run_in_threadpool(files.reading, path, work)
    return said(replace(report, path=path.name))
