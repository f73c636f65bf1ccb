"""A memory into a file and out of it: what is given is checked, and the rooms that do it are asked."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from engrain.domain import checks
from engrain.portability import backups, exporting, restoring
from engrain.storage.migrations import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engrain.agent.parts import Parts
    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import Caller

    Progress = Callable[[str, int], None]


def backup(
    parts: Parts, path: object, extent: Extent, *, vectors: object, progress: Progress | None
) -> backups.BackupReport:
    """Write an extent into a file."""
    where, kept = Path(checks.path(path, name="path")), checks.flag(vectors, name="vectors")
    parts.references.settle()
    maker = backups.Maker(version=version("engrain"), schema=HEAD, made_at=parts.clock())
    return backups.backup(parts.store, where, extent, maker=maker, vectors=kept, progress=progress)


def wish(*, tenant: object, agent: str | None, replace: object, with_erased: object, dry_run: object) -> restoring.Wish:
    """What is asked of a restore, checked."""
    return restoring.Wish(
        tenant=checks.optional_name(tenant, name="tenant"),
        agent=agent,
        replace=checks.flag(replace, name="replace"),
        with_erased=checks.flag(with_erased, name="with_erased"),
        dry_run=checks.flag(dry_run, name="dry_run"),
    )


def restore(
    parts: Parts, path: object, caller: Caller, asked: restoring.Wish, *, progress: Progress | None
) -> restoring.RestoreReport:
    """Take a file in, and let what waits for a vector be known."""
    where = Path(checks.path(path, name="path"))
    try:
        report = restoring.restore(parts.store, where, parts.act(caller), asked, progress=progress)
    finally:
        parts.note_cache.clear()
    parts.queue.announce()
    return report


def export(
    parts: Parts,
    path: object,
    extent: Extent,
    *,
    form: object,
    kinds: Iterable[str] | None,
    progress: Callable[[int], None] | None,
) -> exporting.ExportReport:
    """Write an agent's memories for others to read."""
    known: tuple[exporting.ExportKind, ...] = get_args(exporting.ExportKind)
    forms: tuple[exporting.ExportFormat, ...] = get_args(exporting.ExportFormat)
    return exporting.export(
        parts.store,
        Path(checks.path(path, name="path")),
        extent,
        form=checks.choice(form, forms, name="format"),
        kinds=checks.choices(kinds, known, name="kind") or known,
        progress=progress,
    )
