"""Maintenance: the verbs of a Memory that work on one tenant or agent, or on all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.arguments import parse_agent
from engrain.domain import checks, pagination

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.pagination import Page
    from engrain.domain.records import Caller
    from engrain.domain.requests import Act
    from engrain.domain.runs.runs import Run, UndoResult
    from engrain.learning.consolidation.report import ConsolidationReport
    from engrain.learning.reflection.reflections import ReflectionReport
    from engrain.lifecycle.cleanup import CleanupReport
    from engrain.lifecycle.sweep import DecayReport
    from engrain.portability.backups import BackupReport
    from engrain.portability.encryption import Cipher
    from engrain.portability.exports import ExportReport
    from engrain.portability.restores import RestoreReport
    from engrain.portability.signing import SigningKey
    from engrain.verbs import words

_MOST_ENTRIES = 1_000_000_000_000


@instrument()
class Maintenance(ABC):
    """The verbs of a Memory that maintain it: decay, cleanup, consolidation, backups and the like."""

    def decay(
        self,
        tenant: words.Tenant | None = None,
        *,
        dry_run: words.DryRun = False,
        progress: words.Progress | None = None,
    ) -> DecayReport:
        """Mark the facts and rules that fade or expire as nobody confirmed them for too long.

        A fading one is found as before and says so in `metadata["status"]`; an expired one leaves the searches and
        stays readable. The settings `decay` say when. Made to be run once a day; a second run changes nothing, and one
        after a run that was stopped does the rest. A dry run only counts. `progress` gets the number read after each
        batch.
        """
        from engrain.lifecycle.sweep import sweep

        try:
            return sweep(self.parts.store, self._acts(tenant), self.parts.decay, dry_run=dry_run, progress=progress)
        finally:
            self.parts.note_cache.clear()

    def cleanup(
        self,
        tenant: words.Tenant | None = None,
        *,
        max_entries: words.MaxEntries | None = None,
        dry_run: words.DryRun = False,
        progress: words.Progress | None = None,
    ) -> CleanupReport:
        """Remove expired episodes, of too many the oldest consolidated ones, and facts that ended long ago, for good.

        Episodes that are neither consolidated nor expired stay, even above `max_entries` of a tenant; so do facts and
        rules learned from what is removed. With `cleanup.fact_days` facts and rules that ended so many days ago are
        erased as `erase` does. With `events.keep_days` older audit events are sealed and removed; where a seal is
        broken, they stay. The settings `cleanup.tenants` have the retention of single tenants. A second run changes
        nothing; a dry run only counts. `progress` gets the number removed after each batch.

        Raises:
            InvalidInput: `max_entries` is no number from 0 on.
        """
        from engrain.agent.wiring.retention import retention_of
        from engrain.lifecycle.cleanup import cleanup

        most = None if max_entries is None else checks.count(max_entries, name="max_entries", high=_MOST_ENTRIES)
        return cleanup(
            self.parts.store,
            self._acts(tenant),
            lambda name: retention_of(self.parts.settings, name, max_entries=most),
            load_secret=lambda: load_signing_key(self.parts).secret,
            dry_run=dry_run,
            progress=progress,
        )

    def consolidate(
        self,
        tenant: words.Tenant | None = None,
        *,
        agent: words.OfAgent | None = None,
        session: words.OneSession | None = None,
        exclude_session: words.OtherSession | None = None,
        dry_run: words.DryRun = False,
        now: words.TryNow = False,
        max_batches: words.MaxBatches | None = None,
        progress: words.Progress | None = None,
    ) -> ConsolidationReport:
        """Learn facts and rules from the episodes that wait for it.

        The language model reads them in batches, and is believed where it quotes them. Repeated facts are confirmed,
        corrected ones superseded, and contradictions lower the confidence of a fact. A batch that fails is tried again
        later, and stops no other agent's: the report says what waits until when and why, and `now` tries it at once.
        Without a language model, and in a dry run, the answer only counts what is due. `progress` gets the number of
        episodes after each batch.

        Raises:
            InvalidInput: a name or number out of its range; nothing was asked.
        """
        from engrain.agent.learning import consolidation_runs

        selection = consolidation_runs.Selection(
            tenant_id=checks.optional_identity(tenant, name="tenant"),
            agent=checks.optional_identity(agent, name="agent"),
            sessions=checks.names(session, name="session"),
            exclude_sessions=checks.names(exclude_session, name="session"),
            dry_run=checks.flag(dry_run, name="dry_run"),
            now=checks.flag(now, name="now"),
            max_batches=None if max_batches is None else checks.count(max_batches, name="max_batches"),
        )
        return consolidation_runs.consolidate(self.parts, selection, progress=progress)

    def runs(
        self,
        agent: words.CallerAgent | None = None,
        *,
        user: words.CallerUser | None = None,
        tenant: words.Tenant | None = None,
        kind: words.OfRunKind | None = None,
        limit: words.PageLimit = 50,
        after: words.After | None = None,
    ) -> Page[Run]:
        """List the runs of an agent, newest first: what was learned, when, by whom, with which outcome.

        With `user`, those that learned from what this end user said. Of one time the larger id comes first.

        Raises:
            InvalidInput: an unknown kind, a limit outside 0-1000, or a cursor of another list.
        """
        from engrain.domain.runs.runs import RUN_KINDS
        from engrain.storage.runs import claims

        known = None if kind is None else checks.choice(kind, RUN_KINDS, name="kind")
        caller = self._caller_of(agent, tenant, user=user)
        most, position = checks.count(limit, name="limit"), pagination.decode_moment("runs", after)
        runs = self.parts.store.read(caller, claims.list_runs, kind=known, limit=most + 1, after=position)
        return pagination.cut("runs", runs, most, lambda run: (run.started_at, run.id))

    def undo(
        self,
        run_id: words.RunId,
        *,
        agent: words.CallerAgent | None = None,
        user: words.CallerUser | None = None,
        tenant: words.Tenant | None = None,
    ) -> UndoResult:
        """Undo a run of an agent in one transaction; what was changed since stays.

        Its episodes wait again, so they are learned from anew. `runs` shows the ids. With `user`, one that learned from
        what this end user said.

        Raises:
            NotFound: the agent has no such run; of one that learned from a user the message names the user to pass.
            InvalidInput: it is running, was never carried out, or is undone already; nothing was changed.
        """
        from engrain.agent.learning.undo import undo

        caller = self._caller_of(agent, tenant, user=user)
        return undo(self.parts, caller, checks.name(run_id, name="run_id"))

    def reflect(
        self,
        tenant: words.Tenant | None = None,
        *,
        agent: words.OfAgent | None = None,
        dry_run: words.DryRun = False,
        force: words.Force = False,
        progress: words.Progress | None = None,
    ) -> ReflectionReport:
        """Write a reflection for each agent that learned something of late.

        The settings `reflection` say when one is due. Made to be run once a day: a model that fails is reported, never
        raised. `progress` gets the number of agents after each.
        """
        from engrain.agent.learning.reflection import reflect

        return reflect(self.parts, self._acts(tenant), agent=agent, dry_run=dry_run, force=force, progress=progress)

    def backup(
        self,
        path: words.FilePath,
        *,
        agent: words.OfAgent | None = None,
        user: words.OfUser | None = None,
        tenant: words.Tenant | None = None,
        vectors: words.WithVectors = True,
        progress: words.StepProgress | None = None,
    ) -> BackupReport:
        """Back up an agent, a user, a tenant or the whole database into one file, as of one moment.

        An agent's (of the settings' tenant, where none is named) are the memories of its scope and those of `global`
        that it wrote, with all that belongs to them; nothing of pools, and no runs and events of others. A user's
        (likewise of the settings' tenant) are what any agent, or the one that is named, has of this end user: memories,
        entities, runs and events; nothing that is of the tenant or of another user, be it linked or named. The file is
        gzip with JSON lines, owner-only, signed with the key of this installation (the settings `backup`), and
        encrypted if they name a passphrase or key file. An earlier backup is replaced when the new one is whole. Others
        write meanwhile. `progress` gets the table and its rows so far.

        Raises:
            NotFound: there is nothing of the agent, tenant or user that is named; an earlier file is as it was.
            InvalidInput: the path is a folder, a link or a file of something else, or others can read a key file.
            DatabaseFull, StorageError: the file cannot be written; nothing is left of it.
        """
        from engrain.portability import backups

        parts, is_whole = self.parts, checks.flag(vectors, name="vectors")
        target, extent = Path(checks.path(path, name="path")), self._extent(agent, tenant, user)
        parts.references.flush()
        return backups.backup(
            parts.store,
            target,
            extent,
            made_at=parts.clock(),
            key=load_signing_key(parts),
            cipher=load_cipher(parts),
            vectors=is_whole,
            progress=progress,
        )

    def restore(
        self,
        path: words.FilePath,
        *,
        agent: words.OfAgent | None = None,
        tenant: words.Tenant | None = None,
        replace: words.Replace = False,
        with_erased: words.WithErased = False,
        untrusted: words.Untrusted = False,
        dry_run: words.DryRun = False,
        grant: words.KeyGrant | None = None,
        progress: words.StepProgress | None = None,
    ) -> RestoreReport:
        """Restore what is missing of a backup, for its own agent or tenant or another one.

        The file is checked from end to end first; then it is all or nothing, in one transaction. Restored again it adds
        nothing. Under another agent or tenant memories get new ids, the same at every repeat. What is there stays as it
        is; with `replace` the memories of the agent or tenant are removed first, whatever the file has of them. What
        was erased stays erased unless `with_erased`. Vectors of another embedder are made anew in the background;
        `flush` waits for them. A dry run only says what it would do; like a restore it keeps other writers of a SQLite
        file waiting.

        A backup of an agent brings only what that agent can have written itself, one of a user only what is the user's.
        A user who was erased since stays erased, with all that is older. A file that this installation did not
        sign is refused unless it is `untrusted`.

        Raises:
            Forbidden: `untrusted` with a key of one agent.
            UnusableBackup: the file is damaged, not signed here, edited, of a newer engrain, of another tenant without
                `tenant`, or holds more than the one `agent` or `tenant` that is named; nothing was touched.
            StorageError: the leaf that says why the database refused; it is as it was.
        """
        from engrain.portability import restores

        parts = self.parts
        options = restores.RestoreOptions(
            tenant=checks.optional_identity(tenant, name="tenant"),
            agent=None if agent is None else parse_agent(agent),
            replace=checks.flag(replace, name="replace"),
            with_erased=checks.flag(with_erased, name="with_erased"),
            untrusted=checks.flag(untrusted, name="untrusted"),
            dry_run=checks.flag(dry_run, name="dry_run"),
            grant=grant,
        )
        source, act = Path(checks.path(path, name="path")), new_act(parts, self._caller_of(None, None))
        try:
            report = restores.restore(
                parts.store,
                source,
                act,
                options,
                key=load_signing_key(parts),
                load_cipher=lambda: load_cipher(parts),
                progress=progress,
            )
        finally:
            parts.note_cache.clear()
        parts.queue.announce()
        return report

    def export(
        self,
        path: words.FilePath,
        *,
        agent: words.CallerAgent | None = None,
        tenant: words.Tenant | None = None,
        format: words.ExportFormat = "jsonl",  # noqa: A002  # the word of the command line
        kinds: words.ExportKinds | None = None,
        progress: words.Progress | None = None,
    ) -> ExportReport:
        """Export the memories of an agent into a new file, for people or other systems.

        They are those of a backup of the agent, without links and vectors, and without its users' (`export_user`).
        `Agent.import_file` reads jsonl back.
        `progress` gets the number written.

        Raises:
            InvalidInput: an unknown format or kind, or a path that is no place for a new file.
            DatabaseFull, StorageError: the file cannot be written; nothing is left of it.
        """
        from engrain.portability import exports

        return exports.export(
            self.parts.store,
            Path(checks.path(path, name="path")),
            replace(self._extent(agent or self.parts.settings.agent, tenant), user=""),
            form=checks.choice(format, get_args(exports.ExportFormat), name="format"),
            kinds=checks.choices(kinds, get_args(exports.ExportKind), name="kind") or get_args(exports.ExportKind),
            now=self.parts.clock(),
            progress=progress,
        )

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """The parts of this memory.

        Raises:
            MemoryClosed: after close(), and in a process forked from the one that opened it.
        """

    @abstractmethod
    def _caller_of(self, agent: str | None, tenant: str | None, *, user: str | None = None) -> Caller:
        """Return the caller: the settings' agent and tenant where none is named."""

    def _extent(self, agent: str | None, tenant: str | None, user: str | None = None) -> Extent:
        """Return the extent: an agent's, a user's or a tenant's memories, the whole database where none is named.

        Raises:
            NotFound: the tenant never had anything of the user.
        """
        from engrain.agent.reads.lookups import check_extent
        from engrain.domain.maintenance.backups import Extent

        if agent is None and tenant is None and user is None:
            return Extent()
        caller, named = self._caller_of(agent, tenant), checks.optional_identity(user, name="user")
        if named is not None and agent is None:  # an agent's key is not told whom others know
            check_extent(self.parts, Extent(tenant_id=caller.tenant_id, user=named))
        return Extent(tenant_id=caller.tenant_id, agent=None if agent is None else caller.agent, user=named)

    def _acts(self, tenant: str | None) -> Iterator[Act]:
        """Yield a write at this time for one tenant, or for every one."""
        from engrain.storage.reports import tenants

        caller = self._caller_of(None, tenant)
        names = self.parts.store.inspect(None, tenants.list_tenants) if tenant is None else [caller.tenant_id]
        return (new_act(self.parts, replace(caller, tenant_id=name)) for name in names)


def load_signing_key(parts: Parts) -> SigningKey:
    """Load the key that signs the backups and the events of this installation."""
    from engrain.portability.signing import SigningConfig

    chosen = parts.settings.backup
    return SigningConfig(
        location=parts.store.location, key=chosen.signing_key, key_file=chosen.signing_key_file
    ).load_key()


def load_cipher(parts: Parts) -> Cipher | None:
    """Load the cipher of backups, where the settings name a secret."""
    from engrain.portability import encryption

    chosen = parts.settings.backup
    return encryption.load_cipher(chosen.passphrase, chosen.encryption_key_file)
