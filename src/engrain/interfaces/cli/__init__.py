"""The command line: `engrain COMMAND`; docs/cli.md shows all of it."""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import logging
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run"]

_FEW_COLLECTIONS = 200_000  # new objects: a question keeps 83,000; by the interpreter's 700 it looks 115 times


def run() -> int:
    """Run the command of the process; its exit code.

    Garbage is looked for seldom, by a question never, and the process ends at once when all threads and exit handlers
    are done: to free each object of the interpreter takes a tenth of a command's time, and the system frees them all
    together.
    """
    gc.set_threshold(_FEW_COLLECTIONS)
    codes: list[int] = []
    atexit.register(_end, codes)  # the first to be registered is the last to run
    codes.append(main())
    return codes[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (of the process, where none is given); its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    if given[:1] == ["hook"] and not {"--help", "-h"} & set(given):
        from engrain.interfaces.assistants.hook import run

        return run(given[1:])  # a parser of command lines would take longer than the hook
    try:
        from engrain.interfaces.cli import failures
        from engrain.interfaces.cli.commands import parser
    except KeyboardInterrupt:
        return 130
    try:
        code = parser()(given, prog_name="engrain", standalone_mode=False)
    except (failures.UsageError, KeyboardInterrupt, OSError) as error:
        return failures.report(error, as_json="--json" in given)
    return code if isinstance(code, int) else 0


def _end(codes: Sequence[int]) -> None:
    """End the process, unless an error is on its way out, or what was written could not be told."""
    logging.shutdown()
    with contextlib.suppress(OSError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if codes:
            os._exit(codes[0])


def _prepare_streams() -> None:
    """No text may fail for the encoding of a pipe, and what the library logs is reported by the commands themselves.

    On Windows a pipe has the code page of its console, without the letters of most languages: it gets UTF-8.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us (`>&-`): a database may not get its number
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8", closefd=False))
    encoding = "utf-8" if sys.platform == "win32" else None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(io.UnsupportedOperation):
                stream.reconfigure(encoding=encoding, errors="backslashreplace")
    logging.getLogger("engrain").addHandler(logging.NullHandler())
