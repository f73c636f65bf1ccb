"""Size of the base install, and cost of `import engrain`."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import engrain

_ROOT = Path(__file__).parents[2]
_IMPORT = """
import json, sys, time
before, start = len(sys.modules), time.process_time()
{imported}
print(json.dumps([time.process_time() - start, len(sys.modules) - before]))
"""


def import_cost(imported: str, repeats: int = 5) -> tuple[float, int]:
    """The least CPU seconds of a statement in a fresh interpreter, and how many modules it loads."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-c", _IMPORT.format(imported=imported)]
        found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        seconds, modules = json.loads(found.stdout)
        runs.append((float(seconds), int(modules)))
    return min(runs)


def distribution_sizes() -> dict[str, int]:
    """Bytes of engrain and of each distribution that its base requirements pull in, largest first."""
    sizes = {name: _size(metadata.distribution(name)) for name in _needed(_base_requirements())}
    sizes["engrain"] = _folder_size(Path(engrain.__file__).parent)
    return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))


def _base_requirements() -> list[str]:
    """From the project's own file: the metadata of a checkout's install is as old as that install."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def _needed(requirements: list[str]) -> set[str]:
    """Names of the distributions that these requirements pull in on this machine, the extras they name followed."""
    seen: set[tuple[str, str]] = set()
    waiting = _applying(requirements, "")
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            name, extra = each
            waiting += _applying(metadata.distribution(name).requires or [], extra)
    return {name for name, _ in seen}


def _applying(requirements: list[str], extra: str) -> list[tuple[str, str]]:
    """Name and extra (or none) of each requirement that holds under an extra of who states it."""
    found = [
        each for each in map(Requirement, requirements) if each.marker is None or each.marker.evaluate({"extra": extra})
    ]
    return [(canonicalize_name(each.name), chosen) for each in found for chosen in ("", *sorted(each.extras))]


def _size(distribution: metadata.Distribution) -> int:
    """Bytes on disk, compiled bytecode left out: whether it is there depends on the installer."""
    files = [Path(str(file.locate())) for file in distribution.files or () if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file())


def _folder_size(folder: Path) -> int:
    files = (file for file in folder.rglob("*") if "__pycache__" not in file.parts and file.is_file())
    return sum(file.stat().st_size for file in files)
