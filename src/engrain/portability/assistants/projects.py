"""Projects: the tag of the repository that an assistant works in, the same on every machine and in every worktree."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path

from engrain.domain.memories.fact_keys import PROJECT_PREFIX

_REMOTE = re.compile(r'^[ \t]*\[remote "origin"\][^\[]*?^[ \t]*url\s*=\s*(\S{1,2000})', re.MULTILINE)
_ADDRESS = re.compile(
    r"^(?:[a-z+]+://(?:[^/]*@)?|(?:[^@/]*@)?)([^:/]+)(?::\d+(?=/))?[:/]+(.+?)(?:\.git)?/*$", re.IGNORECASE
)
_MOST_CHARACTERS = 300


def tag_of(folder: str | Path) -> str:
    """Return the tag of a folder's project: by the address of its origin, else by the path of its root.

    An address is kept without its user and password.
    """
    here = Path(folder).absolute()
    root = _find_root(here) or here
    origin = _origin(root / ".git")
    if origin is not None:
        return f"{PROJECT_PREFIX}{origin}"[:_MOST_CHARACTERS]
    digest = hashlib.sha256(str(_main_root(root)).encode(errors="replace")).hexdigest()[:8]
    name = "".join(letter for letter in _main_root(root).name if letter.isprintable())
    return f"{PROJECT_PREFIX}{name[:100] or 'root'}-{digest}"


def find_tag(folder: str | Path) -> str | None:
    """Return the tag of the repository that a folder is in, as `tag_of` does; None outside of any."""
    return None if _find_root(Path(folder).absolute()) is None else tag_of(folder)


def read_tag(folder: object) -> str | None:
    """Return the tag of a folder that a file names, as `tag_of` does; None where it is no path of this system."""
    return tag_of(folder) if isinstance(folder, str) and Path(folder).is_absolute() else None


def _find_root(folder: Path) -> Path | None:
    """Return the root of the repository that a folder is in; a folder that cannot be looked into is none."""
    for place in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            if (place / ".git").exists():
                return place
    return None


def _origin(git: Path) -> str | None:
    """Return host and path of the remote `origin`; None where there is none."""
    try:
        found = _REMOTE.search((_shared(git) / "config").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    address = None if found is None else _ADDRESS.match(found[1])
    if address is None or not found or found[1].startswith(("/", ".", "file:")):
        return None
    return f"{address[1].lower()}/{address[2].strip('/')}"


def _shared(git: Path) -> Path:
    """Return the folder that all worktrees of a repository share."""
    if git.is_dir():
        return git
    own = Path(git.read_text(encoding="utf-8", errors="replace").partition("gitdir:")[2].strip())
    own = own if own.is_absolute() else git.parent / own
    common = own / "commondir"
    return (own / common.read_text(encoding="utf-8").strip()).resolve() if common.is_file() else own


def _main_root(root: Path) -> Path:
    """Return the folder of the main worktree of a repository."""
    try:
        shared = _shared(root / ".git") if (root / ".git").exists() else None
    except OSError:
        shared = None
    return shared.parent if shared is not None and shared.name == ".git" else root
