"""`engrain tenants list` and `move`: the tenants of a memory on several servers."""

from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from engrain.errors import InvalidInput
from engrain.interfaces.cli import output, progress
from engrain.interfaces.cli.invocation import Invocation, flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.storage.shards.store import ShardedStore


def list_tenants(invocation: Invocation) -> None:
    """List the tenants, each with the server that it is on."""
    from engrain.storage.reports import tenants

    with _open_shards(invocation) as store:
        names = store.inspect(None, tenants.list_tenants)
        servers = {name: store.directory.locate(name) for name in names}
        invocation.answer(
            {"tenants": [{"tenant": name, "server": server} for name, server in servers.items()]},
            output.pairs(servers) if servers else "no tenants",
        )


def move(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Tenant to move.")],
    to: Annotated[str, flag("--to SERVER", "Server of storage.shards, or home.")],
) -> None:
    """Move a tenant to another server; reads and writes go on meanwhile.

    Stopped anywhere, the tenant is whole on one of the two, and the same command completes the move.
    """
    from engrain.storage.shards.moves import move_tenant

    with _open_shards(invocation) as store, ExitStack() as shown:
        steps = progress.steps(shown, visible=not invocation.as_json)
        kept = "the tenant is whole where it was or where it goes; run the same command again"
        with progress.explain_interrupt(kept):
            report = move_tenant(store, name, to, steps)
        if report.source == report.target:
            text = (
                f"{name} is on {to} already; {output.counted(report.removed, 'row')} of earlier moves removed elsewhere"
            )
        elif not report.rows + report.last_rows:
            text = f"{name} is on {to} now, and has no rows yet; it was on {report.source}"
        else:
            text = (
                f"{name} is on {to} now: {output.counted(report.rows + report.last_rows, 'row')} copied from "
                f"{report.source}, {report.last_rows:,} of them while writes waited; {report.removed:,} removed there"
            )
        invocation.answer(report.to_dict(), text)


@contextmanager
def _open_shards(invocation: Invocation) -> "Iterator[ShardedStore]":
    """Open the servers of the settings, without an embedder: rows move with the vectors that they have."""
    from engrain.storage import open_store
    from engrain.storage.shards.store import ShardedStore

    settings = invocation.settings()
    shards = {name: url.get_secret_value() for name, url in settings.storage.shards.items()}
    with closing(open_store(settings.db, busy_timeout_s=settings.storage.busy_timeout_s, shards=shards)) as store:
        if not isinstance(store, ShardedStore):
            raise InvalidInput(
                f"all tenants are in {store.location}: name further PostgreSQL servers in storage.shards "
                '(ENGRAIN_STORAGE__SHARDS=\'{"b": "postgresql://..."}\') to have some there'
            )
        yield store
