"""Work of each job: a verb of the Memory for one tenant or every one, and its report in numbers.

A job may be done again after it was stopped anywhere, or twice at once: the verbs are idempotent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from engrain.agent.maintenance import load_cipher, load_signing_key
from engrain.domain.filters import Filter
from engrain.domain.maintenance.backups import Extent
from engrain.domain.records import Caller
from engrain.domain.requests import Request
from engrain.domain.runs.jobs import EVERY_TENANT, Job, JobName
from engrain.errors import InvalidInput
from engrain.storage.jobs import prune_jobs
from engrain.storage.reports import tenants

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engrain.agent.operations.event_log import EventLog
    from engrain.agent.wiring.parts import Parts
    from engrain.portability.backups import BackupReport
    from engrain.storage.store import SqlStore

# For each agent in one night; a name finder reads some tens a second, a language model a few.
_MOST_ENRICHED, _FEW_ENTITIES = 1_000, 2
_REMOVED_AT_ONCE = 1_000
_OF_WHOLE_DATABASE = ("compaction", "backup")
_NO_FOLDER = "no folder is set for backups; set jobs.backup_folder, or use `backup`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A job under way, and the function it calls after each piece."""

    memory: EventLog
    parts: Parts
    job: Job
    progress: Callable[..., None]

    @property
    def tenant(self) -> str | None:
        """The tenant whose memories the job works on; None for every one."""
        return self.job.tenant_id or None


def run_job(memory: EventLog, parts: Parts, job: Job, check_lease: Callable[[], None]) -> Mapping[str, Any]:
    """Do a job; return its report. `check_lease` is called after each piece, and raises where the job should stop."""
    return _WORK[job.name](Work(memory=memory, parts=parts, job=job, progress=lambda *_: check_lease()))


def check_job(name: JobName, tenant_id: str, parts: Parts) -> None:
    """Check that there is such a job.

    Raises:
        InvalidInput: a job of the whole database, asked for one tenant; a backup without a folder.
    """
    if name in _OF_WHOLE_DATABASE and tenant_id != EVERY_TENANT:
        raise InvalidInput(f"a {name} is of the whole database; leave out the tenant")
    if name == "backup" and parts.settings.jobs.backup_folder is None:
        raise InvalidInput(_NO_FOLDER)


def _decay(work: Work) -> Mapping[str, Any]:
    return work.memory.decay(work.tenant, progress=work.progress).to_dict()


def _clean_up(work: Work) -> Mapping[str, Any]:
    """Clean up, and seal the events of each tenant."""
    removed = work.memory.cleanup(work.tenant, progress=work.progress).to_dict()
    sealed = 0
    for tenant in work.parts.store.inspect(None, tenants.list_tenants) if work.tenant is None else [work.tenant]:
        sealed += work.memory.seal_events(tenant=tenant).events
        work.progress()
    return {**removed, "sealed_events": sealed}


def _consolidate(work: Work) -> Mapping[str, Any]:
    done = work.memory.consolidate(work.tenant, progress=work.progress)
    counts = {"batches": done.batches, "episodes": done.episodes, "failures": len(done.failures)}
    return {**counts, "new": done.new, "updated": done.updated, "confirmed": done.confirmed}


def _reflect(work: Work) -> Mapping[str, Any]:
    done = work.memory.reflect(work.tenant, progress=work.progress)
    failures = sum(reflected.outcome == "failed" for reflected in done.agents)
    return {"agents": len(done.agents), "reflected": done.reflected, "failures": failures}


def _enrich(work: Work) -> Mapping[str, Any]:
    """Read the newest memories of each agent again for the names in them; what is global, as the first that sees it."""
    from engrain.agent.writes.linking import enrich_waiting

    parts = work.parts
    counts = {"agents": 0, "enriched": 0, "links": 0, "created": 0}
    for tenant in parts.store.inspect(None, tenants.list_tenants) if work.tenant is None else [work.tenant]:
        for agent in parts.store.inspect(tenant, tenants.list_agents, tenant) or [parts.settings.agent]:
            caller = Caller(tenant_id=tenant, agent=agent)
            unread = Request(caller=caller, filter=Filter(kinds=("episode", "fact")), now=parts.clock())
            few = {"most_entities": _FEW_ENTITIES, "limit": _MOST_ENRICHED}
            done = enrich_waiting(parts, unread, **few, publish=False, progress=work.progress)
            if done.skipped is not None:
                return {**counts, "skipped": done.skipped}
            new = {"agents": 1, "enriched": done.enriched, "links": done.links, "created": done.created}
            counts = {name: counts[name] + new[name] for name in counts}
    return counts


def _compact(work: Work) -> Mapping[str, Any]:
    """Remove jobs that ended long ago and vectors of former embedders, and compact the database."""
    store, chosen = work.parts.store, work.parts.settings.jobs
    before = work.parts.clock() - timedelta(days=chosen.retention_days)
    jobs = _remove_all(lambda limit: store.maintain(None, prune_jobs, before, limit=limit), work.progress)
    vectors = _remove_all(store.prune_vectors, work.progress)
    return {"jobs": jobs, "vectors": vectors, **store.compact().to_dict()}


def _remove_all(remove: Callable[[int], int], progress: Callable[..., None]) -> int:
    total = 0
    while removed := remove(_REMOVED_AT_ONCE):
        total += removed
        progress()
    return total


def _back_up(work: Work) -> Mapping[str, Any]:
    """Write each server's whole database into a file named by the job's time; remove all but the newest such files."""
    chosen = work.parts.settings.jobs
    if chosen.backup_folder is None:
        raise InvalidInput(_NO_FOLDER)
    folder = Path(chosen.backup_folder).expanduser()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = f"engrain-{work.job.created_at:%Y%m%dT%H%M%SZ}"
    servers = work.parts.store.servers
    if len(servers) == 1:
        reports = [work.memory.backup(folder / f"{stem}.backup.gz", progress=work.progress)]
    else:
        reports = [
            _back_up_server(work, server, folder / f"{stem}-{quote(name, safe='')}.backup.gz")
            for name, server in servers.items()
        ]
    # Their names say when they were made, so that they sort by it.
    files = sorted(folder.glob("engrain-????????T??????Z*.backup.gz"))
    kept = sorted({file.name[: len(stem)] for file in files})[-chosen.backup_keep :]
    old = [file for file in files if file.name[: len(stem)] not in kept]
    for file in old:
        file.unlink(missing_ok=True)
    counts = {"bytes": sum(report.bytes for report in reports), "memories": sum(report.memories for report in reports)}
    return {"path": ", ".join(report.path for report in reports), **counts, "removed": len(old)}


def _back_up_server(work: Work, server: SqlStore, path: Path) -> BackupReport:
    """Write the database of one of several servers, each as of a moment of its own."""
    from engrain.portability import backups

    work.parts.references.flush()
    return backups.backup(
        server,
        path,
        Extent(),
        made_at=work.parts.clock(),
        key=load_signing_key(work.parts),
        cipher=load_cipher(work.parts),
        progress=work.progress,
    )


_WORK: Mapping[JobName, Callable[[Work], Mapping[str, Any]]] = {
    "enrichment": _enrich,
    "consolidation": _consolidate,
    "decay": _decay,
    "reflection": _reflect,
    "cleanup": _clean_up,
    "compaction": _compact,
    "backup": _back_up,
}
