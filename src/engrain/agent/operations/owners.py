"""Owners of memories: the agents, users and tenants of a Memory, and the erasure of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from engrain.agent.operations.event_log import EventLog
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.domain import checks, pagination
from engrain.errors import Forbidden

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.maintenance.erasure import TenantErasure, UserErasure
    from engrain.domain.maintenance.stats import AgentCounts, UserCounts
    from engrain.domain.pagination import Page
    from engrain.portability.exports import ExportReport
    from engrain.storage.transaction import Transaction
    from engrain.verbs import words

_Counts = TypeVar("_Counts", "AgentCounts", "UserCounts")


@instrument()
class Owners(EventLog):
    """The verbs of a Memory about its agents, users and tenants."""

    def agents(
        self, tenant: words.Tenant | None = None, *, limit: words.PageLimit = 100, after: words.After | None = None
    ) -> Page[AgentCounts]:
        """List the agents of a tenant, or of all, with counts of the live memories that each stored.

        Ordered by tenant, then agent.

        Raises:
            InvalidInput: an empty name, a limit outside 0-1000, or a cursor of another list.
        """
        from engrain.storage.reports import tenants

        return _list_counts(self.parts, "agents", tenants.load_agent_counts, tenant=tenant, limit=limit, after=after)

    def users(
        self, tenant: words.Tenant | None = None, *, limit: words.PageLimit = 100, after: words.After | None = None
    ) -> Page[UserCounts]:
        """List the end users of a tenant, or of all, with counts of their live memories.

        Ordered by tenant, then user. One who has only forgotten memories, or entities, is listed too.

        Raises:
            InvalidInput: an empty name, a limit outside 0-1000, or a cursor of another list.
        """
        from engrain.storage.reports import tenants

        return _list_counts(self.parts, "users", tenants.load_user_counts, tenant=tenant, limit=limit, after=after)

    def export_user(
        self,
        name: words.NamedUser,
        path: words.FilePath,
        *,
        tenant: words.Tenant | None = None,
        format: words.ExportFormat = "jsonl",  # noqa: A002  # the word of the command line
        progress: words.Progress | None = None,
    ) -> ExportReport:
        """Export all that a tenant has of an end user, by whichever agents, into a new file.

        Memories with all their history, and the user's entities; in jsonl the links between them and the events, too.
        `Agent.import_file` of an agent that acts for the user reads jsonl back, all but links and events: each line has
        its agent and scope, and an agent takes its own. `progress` gets the number written.

        Raises:
            NotFound: the tenant never had anything of this user; no file is written.
            InvalidInput: an empty name, an unknown format, or a path that is no place for a new file.
            DatabaseFull, StorageError: the file cannot be written; nothing is left of it.
        """
        from engrain.portability import exports

        user, target = checks.identity(name, name="name"), Path(checks.path(path, name="path"))
        form = checks.choice(format, get_args(exports.ExportFormat), name="format")
        return exports.export(
            self.parts.store,
            target,
            form=form,
            extent=self._extent(None, tenant, user),
            kinds=(*get_args(exports.ExportKind), *(exports.HISTORY if form == "jsonl" else ())),
            now=self.parts.clock(),
            progress=progress,
        )

    def erase_user(
        self, name: words.NamedUser, *, tenant: words.Tenant | None = None, dry_run: words.DryRun = False
    ) -> UserErasure:
        """Erase all that a tenant has of an end user, by whichever agents, for good; give the proof of what went.

        Memories, with their vectors, words and links, the user's entities, runs of learning and access keys, and the
        texts of all events. All or nothing, and it cannot be undone. Tombstones and bare events stay: they name the
        user, and keep what was erased from coming back. Memories of others that are derived from the user's stay, and
        the answer lists them as `copies`; so do files that were written before. A dry run only says what would go.

        A user who was erased before may be erased again.

        Raises:
            NotFound: the tenant never had anything of this user.
            InvalidInput: an empty name; nothing was erased.
        """
        from engrain.agent.writes.extent_erasures import erase_extent
        from engrain.domain.maintenance.erasure import ErasedRows, UserErasure

        user, is_dry = checks.identity(name, name="name"), checks.flag(dry_run, name="dry_run")
        act = new_act(self.parts, self._caller_of(None, tenant))
        extent = self._extent(None, act.caller.tenant_id, user)
        proof = erase_extent(self.parts, act, extent, dry_run=is_dry)
        return UserErasure(
            tenant_id=act.caller.tenant_id,
            user_id=user,
            erased_at=act.at,
            tables=tuple(
                ErasedRows(table=table, rows=len(ids), ids=tuple(ids)) for table, ids in proof.ids.items() if ids
            ),
            copies=proof.copies,
            sha256=proof.sha256,
            dry_run=is_dry,
        )

    def erase_tenant(
        self,
        name: words.NamedTenant,
        *,
        agent: words.OfAgent | None = None,
        tenant: words.Tenant | None = None,
        dry_run: words.DryRun = False,
    ) -> TenantErasure:
        """Erase all that there is of a tenant, or of one of its agents, for good; give the proof of what went.

        Of a tenant everything goes: memories of every agent and user, registry, pools, logs, items, runs, settings, the
        audit log, and keys, which open nothing from then on. Of an agent its memories for whichever users, those that
        it wrote to `global`, its logs, items, runs and keys, its place in pools, and the texts of its events. All or
        nothing, and it cannot be undone; after an error it may be repeated. Tombstones stay, and an event that keeps
        backups and exports from bringing anything back; so do files that were written before. A dry run only says what
        would go.

        Raises:
            NotFound: there never was anything of this tenant or agent.
            Forbidden: the caller's own tenant is another one; nothing was erased.
            DatabaseBusy: the tenant is being moved between servers, and what a move has left elsewhere stays for now.
        """
        from engrain.agent.writes.extent_erasures import erase_extent, erase_leftovers
        from engrain.domain.maintenance.backups import Extent
        from engrain.domain.maintenance.erasure import TenantErasure

        target, is_dry = checks.identity(name, name="name"), checks.flag(dry_run, name="dry_run")
        own = checks.optional_identity(tenant, name="tenant")
        if own not in (None, target):
            raise Forbidden(f"tenant {own!r:.80} erases itself alone, and not {target!r:.80}; nothing was erased")
        act = new_act(self.parts, self._caller_of(agent, target))
        extent = Extent(tenant_id=target, agent=None if agent is None else act.caller.agent)
        proof = erase_extent(self.parts, act, extent, dry_run=is_dry)
        if agent is None and not is_dry:
            erase_leftovers(self.parts, target)
        return TenantErasure(
            tenant_id=target,
            agent=extent.agent,
            erased_at=act.at,
            rows=proof.rows,
            copies=proof.copies,
            sha256=proof.sha256,
            dry_run=is_dry,
        )


def _list_counts(
    parts: Parts,
    kind: str,
    load: Callable[[Transaction, str, datetime], list[_Counts]],
    *,
    tenant: str | None,
    limit: int,
    after: str | None,
) -> Page[_Counts]:
    """Return the page of a tenant's counts, or of every one's, after a cursor of this kind of list."""
    from engrain.storage.reports import tenants

    named = checks.optional_identity(tenant, name="tenant")
    most, position = checks.count(limit, name="limit"), pagination.decode(kind, after) or ("", "")
    found = parts.store.inspect(named, tenants.load_page, load, named, parts.clock(), after=position, limit=most + 1)
    return pagination.cut(kind, found, most, lambda counts: counts.position)
