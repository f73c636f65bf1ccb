"""`engrain doctor`: what is installed, what the file is like, whether the embedder works, and what to do."""

import functools
import math
import operator
import os
import platform
import shutil
import stat
import sys
import time
from importlib import metadata
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engrain import __version__, config
from engrain.errors import EngrainError
from engrain.interfaces.cli import output
from engrain.interfaces.cli.failures import ExitCode
from engrain.interfaces.cli.invocation import Invocation, flag, path_of
from engrain.storage import mask_password
from engrain.storage.file_modes import describe_exposure

if TYPE_CHECKING:
    from pathlib import Path

    from engrain.config.tree import Settings
    from engrain.domain.ports import Embedder

_KILOBYTE = 1_000
_LEAST_FREE_BYTES = 50_000_000
_UNITS = ("KB", "MB", "GB", "TB")
_PACKAGES = ("apsw", "numpy", "onnxruntime", "tokenizers", "PyStemmer", "typer", "rich")


def doctor(
    invocation: Invocation,
    *,
    thorough: Annotated[bool, flag("--thorough", "Compare all rows, indexes and the file: reads everything.")] = False,
) -> None:
    """Check that everything works, and say what to do where it does not.

    Looks at versions, schema, indexes, totals, vectors, embedder and settings; --thorough reads the whole file.
    """
    report = examine(invocation, thorough=thorough)
    invocation.answer(report, describe(report))
    if report["problems"]:
        raise typer.Exit(ExitCode.PROBLEM)


def examine(invocation: Invocation, *, thorough: bool = False) -> dict[str, Any]:
    """Everything `doctor` shows, as JSON; `problems` are sentences that say what to do, none means sound."""
    problems = config.warnings(invocation.replaced_settings, file=invocation.config)
    notes: list[str] = []
    settings = invocation.settings()
    versions = _versions(problems)
    tried, embedder = _embedder(settings, problems)
    memory = _memory(invocation, embedder, problems, notes, thorough=thorough)
    return {
        "versions": versions,
        "memory": memory,
        "permissions": _permissions(path_of(settings.db), problems),
        "embedder": tried,
        "settings": {**settings.to_dict(), "db": mask_password(settings.db)},
        "notes": notes,
        "problems": problems,
    }


def describe(report: dict[str, Any]) -> str:
    """The text of what `examine` reports."""
    settings = {name: _as_written(value) for name, value in _by_dotted_name(report["settings"]).items()}
    shown = {**report, "settings": settings}
    if "size_bytes" in report["memory"]:
        shown["memory"] = {**report["memory"], "size_bytes": _size(report["memory"]["size_bytes"])}
    if "first_embedding_ms" in report["embedder"]:
        shown["embedder"] = {
            **report["embedder"],
            "first_embedding_ms": output.duration(report["embedder"]["first_embedding_ms"]),
        }
    sections = [(name, shown[name]) for name in ("versions", "memory", "permissions", "embedder", "settings")]
    width = max(len(key) for _, values in sections for key in values)
    lines = [f"{name}\n{indent(output.pairs(values, width=width), '  ')}\n" for name, values in sections if values]
    lines += [f"note: {note}" for note in report["notes"]]
    lines += [f"problem: {problem}" for problem in report["problems"]] or ["no problems found"]
    return "\n".join(lines)


def _versions(problems: list[str]) -> dict[str, str]:
    versions = {"engrain": __version__, "python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            problems.append(f"the package {package} is not installed: pip install --upgrade engrain")
    return versions


def _memory(
    invocation: Invocation, embedder: "Embedder | None", problems: list[str], notes: list[str], *, thorough: bool
) -> dict[str, Any]:
    """The file as the store sees it; nothing where it cannot be opened, which is a problem like any other."""
    try:
        with invocation.memory(embedder=embedder or "none") as memory:
            health, ready = memory.health(thorough=thorough), memory.readiness()
            has_lost_redis = memory.metrics().get("redis_connected") == 0
    except (EngrainError, OSError) as error:
        problems.append(str(error))
        return {}
    problems += health.problems
    if health.waiting and embedder is not None:
        waiting = output.counted(health.waiting, "memory waits", "memories wait")
        notes.append(f"{waiting} for a vector; the next command that adds something makes it")
    if has_lost_redis:
        problems.append("the Redis of redis.url does not answer, and the database answers for it: check that it runs")
    notes += [f"jobs: {check.detail}" for check in ready.checks if (check.name, check.status) == ("jobs", "degraded")]
    fields = ("location", "backend", "schema", "size_bytes", "memories", "indexed", "embedded", "waiting")
    values = {name: getattr(health, name) for name in fields}
    return {**values, "vectors_of": health.embedder, "readiness": ready.status}


def _permissions(path: "Path | None", problems: list[str]) -> dict[str, str]:
    """Mode of the file and its folder; Windows has access lists instead, and a server no file of ours."""
    if sys.platform == "win32" or path is None or not path.exists():
        return {}
    mode = stat.S_IMODE(path.stat().st_mode)
    if exposure := describe_exposure(path):
        problems.append(exposure)
    if not os.access(path, os.W_OK):
        problems.append(f"{path} cannot be written by this user: check who owns it")
    if (free := shutil.disk_usage(path.parent).free) < _LEAST_FREE_BYTES:
        problems.append(f"{path.parent} has {_size(free)} of room left, and a write may need more: free some space")
    return {"file": f"{mode:o}", "folder": f"{stat.S_IMODE(path.parent.stat().st_mode):o}"}


def _embedder(settings: "Settings", problems: list[str]) -> "tuple[dict[str, Any], Embedder | None]":
    """What one embedding took, the engine's start included; and the embedder, where it works."""
    from engrain.agent.wiring.engines import configured_embedder

    start = time.perf_counter()
    try:
        embedder = configured_embedder(settings)
        if embedder is None:
            return {"name": "none"}, None
        [vector] = embedder.embed(["Is anybody there?"], role="query")
    except EngrainError as error:
        problems.append(f"the embedder {settings.embedding.model} does not work: {error}")
        return {"name": settings.embedding.model}, None
    taken_ms = round((time.perf_counter() - start) * 1000, 1)
    norm = float(vector @ vector) ** 0.5
    if not abs(norm - 1) < 1e-3:  # noqa: PLR2004  # float32 over a few hundred dimensions, NaN refused
        problems.append(f"the embedder {embedder.name} gave a vector of length {norm:.3f}, not 1: reinstall engrain")
    return {"name": embedder.name, "dims": embedder.dims, "first_embedding_ms": taken_ms}, embedder


def _by_dotted_name(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings as they are written in messages and documents: `embedding.model`."""
    from engrain.config.tree import fields

    return {name: functools.reduce(operator.getitem, name.split("."), settings) for name in fields()}


def _as_written(value: Any) -> Any:
    """A number as a settings file has it: a port has no thousands."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _size(count: int) -> str:
    """`512 bytes`, `48.0 KB`, `1.2 GB`."""
    if count < _KILOBYTE:
        return f"{count} bytes"
    power = min(int(math.log(count, _KILOBYTE)), len(_UNITS))
    return f"{count / _KILOBYTE**power:,.1f} {_UNITS[power - 1]}"
