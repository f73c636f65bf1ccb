"""Backups, restores and exports with the parts of one Memory; their arguments are parsed here."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from engrain.agent.wiring.acts import new_act
from engrain.domain import checks
from engrain.portability import backups, exports, restores
from engrain.storage.migrations import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.maintenance.backups import Extent
    from engrain.domain.records import Caller

    Progress = Callable[[str, int], None]


def backup(
    parts: Parts, path: object, extent: Extent, *, vectors: object, progress: Progress | None
) -> backups.BackupReport:
    """Write an extent of the database into a file."""
    target, is_whole = Path(checks.path(path, name="path")), checks.flag(vectors, name="vectors")
    parts.references.flush()
    origin = backups.BackupOrigin(version=version("engrain"), schema=HEAD, made_at=parts.clock())
    return backups.backup(parts.store, target, extent, origin=origin, vectors=is_whole, progress=progress)


def parse_restore(
    *, tenant: object, agent: str | None, replace: object, with_erased: object, dry_run: object
) -> restores.RestoreOptions:
    """Return the request of a restore."""
    return restores.RestoreOptions(
        tenant=checks.optional_name(tenant, name="tenant"),
        agent=agent,
        replace=checks.flag(replace, name="replace"),
        with_erased=checks.flag(with_erased, name="with_erased"),
        dry_run=checks.flag(dry_run, name="dry_run"),
    )


def restore(
    parts: Parts, path: object, caller: Caller, request: restores.RestoreOptions, *, progress: Progress | None
) -> restores.RestoreReport:
    """Restore a backup, and announce what waits for a vector."""
    source = Path(checks.path(path, name="path"))
    try:
        report = restores.restore(parts.store, source, new_act(parts, caller), request, progress=progress)
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
) -> exports.ExportReport:
    """Write an agent's memories into a file for people or other systems."""
    known: tuple[exports.ExportKind, ...] = get_args(exports.ExportKind)
    forms: tuple[exports.ExportFormat, ...] = get_args(exports.ExportFormat)
    return exports.export(
        parts.store,
        Path(checks.path(path, name="path")),
        extent,
        form=checks.choice(form, forms, name="format"),
        kinds=checks.choices(kinds, known, name="kind") or known,
        progress=progress,
    )
