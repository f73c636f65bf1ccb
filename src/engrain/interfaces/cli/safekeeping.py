"""`engrain backup` and `restore`: a memory into one file, and out of it."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from engrain.interfaces.cli import output
from engrain.interfaces.cli.arguments import one_of
from engrain.interfaces.cli.invocation import Invocation, command
from engrain.interfaces.cli.progress import counting, steps
from engrain.portability.exports import ExportFormat, ExportKind

if TYPE_CHECKING:
    from engrain.portability.backups import BackupReport
    from engrain.portability.restores import RestoreReport

app = typer.Typer()


@command(app, "backup")
def backup(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to write; a backup that is there is replaced.")],
    *,
    no_vectors: Annotated[
        bool, typer.Option("--no-vectors", help="Leave vectors out: smaller, and a restore makes them anew.")
    ] = False,
) -> None:
    """Write a memory into one file, as it is at one moment: of --agent, of --tenant, or the whole database.

    Others may write meanwhile. `zcat FILE` shows what it holds.
    """
    with invocation.memory() as memory, ExitStack() as shown:
        report = memory.backup(
            file,
            agent=invocation.agent,
            tenant=invocation.tenant,
            vectors=not no_vectors,
            progress=steps(shown, visible=not invocation.as_json),
        )
    invocation.answer({**report.to_dict(), "memories": report.memories}, _backed_up(report))


@command(app, "restore")
def restore(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="File that `engrain backup` wrote.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove the memories of the agent or tenant first; all or nothing.")
    ] = False,
    with_erased: Annotated[bool, typer.Option("--with-erased", help="Bring back what was erased since, too.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the file, say what would be done; change nothing.")
    ] = False,
) -> None:
    """Add what is missing of a backup to its own agent or tenant, or to --agent or --tenant.

    The whole file is checked first, then all of it is restored or nothing. Again, it adds nothing.
    """
    with invocation.adding() as memory, ExitStack() as shown:
        report = memory.restore(
            file,
            agent=invocation.agent,
            tenant=invocation.tenant,
            replace=replace,
            with_erased=with_erased,
            dry_run=dry_run,
            progress=steps(shown, visible=not invocation.as_json),
        )
    invocation.answer({**report.to_dict(), "memories": report.memories}, _restored(report))


@command(app, "export")
def export(
    invocation: Invocation,
    file: Annotated[str, typer.Argument(metavar="FILE", help="New file to write.")],
    *,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help=one_of(get_args(ExportFormat)))] = "jsonl",
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kinds", metavar="KIND", help=f"{one_of(get_args(ExportKind))} All if left out; may be repeated."
        ),
    ] = None,
) -> None:
    """Write what the agent remembers as JSON lines, which import reads back, or as Markdown.

    Its own memories and those it wrote for all, facts with their history. A backup keeps more.
    """
    with (
        invocation.memory() as memory,
        counting("writing memories", total=None, visible=not invocation.as_json) as done,
    ):
        report = memory.export(file, format=form, kinds=kinds, progress=done)
    counted = {f"{kind}": f"{count:,}" for kind, count in report.kinds.items()}
    invocation.answer(report.to_dict(), f"{output.pairs(counted)}\n{report.path}: {report.bytes:,} bytes".strip())


def _backed_up(report: "BackupReport") -> str:
    said = {each.table: f"{each.rows:,}" for each in report.tables if each.rows}
    whose = _whose(report.tenant_id, report.agent)
    vectors = "no vectors" if report.embedder is None else f"vectors of {report.embedder.name}"
    counted = output.counted(report.memories, "memory", "memories")
    end = f"{report.path}: {counted} of {whose}, {vectors}, {report.bytes:,} bytes\nsha256 {report.sha256}"
    return f"{output.pairs(said)}\n{end}".strip()


def _restored(report: "RestoreReport") -> str:
    added = output.counted(report.memories, "memory", "memories")
    verb = "would be added" if report.dry_run else "added"
    lines = [f"{added} {verb} to {_whose(report.tenant_id, report.agent)}"]
    for count, words in (
        (report.cleared, "removed first"),
        (report.present, "there before, left as they are"),
        (report.superseded, "of them facts whose place another has: its past now"),
        (report.erased, "erased before, and still so (--with-erased brings them back)"),
    ):
        if count:
            lines.append(f"{count:,} {words}")
    return "\n".join(lines)


def _whose(tenant: str | None, agent: str | None) -> str:
    if tenant is None:
        return "the whole database"
    return f"tenant {tenant}" if agent is None else f"agent {agent} of tenant {tenant}"
