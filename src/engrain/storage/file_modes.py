"""Modes of database files: who else on the machine may read them."""

from __future__ import annotations

import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_OTHERS_MAY = stat.S_IRWXG | stat.S_IRWXO


def describe_exposure(path: Path) -> str | None:
    """Describe a file that other users of the machine may read, and what to do; None for one that they may not.

    It is not mended: somebody may have shared it on purpose. Windows has access lists instead of modes.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if sys.platform == "win32" or not mode & _OTHERS_MAY:
        return None
    return f"other users may read {path} (mode {mode:o}): chmod 600 {path}"
