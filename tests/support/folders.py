"""The folder for temporary files of tests, which is in memory where the machine has the room."""

import os
import shutil
import tempfile
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")
_ENOUGH_MEMORY = 4 << 30


def folder_in_memory():
    """A folder whose files are in memory, or None where there is none, or too little room, or no program of it runs."""
    if not _IN_MEMORY.is_dir() or os.statvfs(_IN_MEMORY).f_flag & os.ST_NOEXEC:
        return None
    return _IN_MEMORY if shutil.disk_usage(_IN_MEMORY).free > _ENOUGH_MEMORY else None


def use_memory():
    """Let temporary files of this process and of those it starts be in memory, unless a folder is named for them.

    A SQLite file forces each checkpoint to disk, of which a run has 40,000.
    """
    folder = folder_in_memory()
    if folder is not None and "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = None  # found anew


def use_disk():
    """Let temporary files be where the system has them again, beside what they are links to."""
    if os.environ.get("TMPDIR") == str(_IN_MEMORY):
        del os.environ["TMPDIR"]
        tempfile.tempdir = None
