"""Errors on the command line: each is an exit code, and one line on stderr.

| code | meaning |
|---|---|
| 0 | done |
| 1 | `doctor` found problems, a reflection failed, no such memory, no to a question, a copy differs, an old schema |
| 2 | usage, or a value that is refused: nothing was written |
| 3 | a broken or unreadable import; storage: not our file, damaged, read-only, full, out of reach, of a newer engrain |
| 4 | busy: another process is writing |
| 5 | an engine (the embedder) is unavailable |
| 130 | interrupted (Ctrl-C) |
| 141 | whoever read the output went away, as `head -1` does |
"""

from __future__ import annotations

import errno
import json
import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

import typer

from engrain import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

# The root of what typer raises for a wrong command line. Newer versions hold a copy of click, older ones import it, so
# neither module can be named here.
UsageError: type[Exception] = typer.BadParameter.__mro__[2]


class ExitCode(IntEnum):
    """Stable across releases; the table above says when."""

    OK = 0
    PROBLEM = 1
    INVALID = 2
    STORAGE = 3
    BROKEN_RECORDS = 3  # one code for a file that is not what it should be
    BUSY = 4
    ENGINE = 5
    INTERRUPTED = 130  # 128 + SIGINT, as a shell says it
    OUTPUT_CLOSED = 141  # 128 + SIGPIPE


# The nearest class wins: a busy database is a storage error that a caller may simply try again.
EXIT_CODES: Mapping[type[errors.EngrainError], ExitCode] = {
    errors.EngrainError: ExitCode.PROBLEM,
    errors.InvalidInput: ExitCode.INVALID,
    errors.CannotListen: ExitCode.INVALID,
    errors.UnreadableImport: ExitCode.BROKEN_RECORDS,
    errors.StorageError: ExitCode.STORAGE,
    errors.DatabaseBusy: ExitCode.BUSY,
    errors.EngineUnavailable: ExitCode.ENGINE,
}


def exit_code(error: BaseException) -> ExitCode:
    """The exit code of an error of ours, of the operating system, of usage, or of an interrupt."""
    match error:
        case errors.EngrainError():
            return next(EXIT_CODES[base] for base in type(error).__mro__ if base in EXIT_CODES)
        case BrokenPipeError():
            return ExitCode.OUTPUT_CLOSED
        case OSError(errno=errno.EINVAL, filename=None) if sys.platform == "win32":  # a pipe without a reader
            return ExitCode.OUTPUT_CLOSED
        case OSError():
            return ExitCode.STORAGE
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.INVALID


def report(error: BaseException, *, as_json: bool) -> ExitCode:
    """Say on stderr what happened, in one line or as a JSON object; the exit code."""
    code = exit_code(error)
    if code is ExitCode.OUTPUT_CLOSED:
        _give_up_output()
        return code
    word, message = _describe(error)
    if as_json:
        sys.stderr.write(json.dumps({"error": {"code": word, "message": message}}, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stderr.write(f"engrain: {message}\n")
    sys.stderr.flush()
    return code


def _describe(error: BaseException) -> tuple[str, str]:
    match error:
        case errors.EngrainError():
            return error.code, str(error)
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return errors.StorageError.code, f"{where}{error.strerror or error}"
        case KeyboardInterrupt():
            return "interrupted", str(error) or "interrupted"
        case _:
            context = getattr(error, "ctx", None)
            command = "engrain" if context is None else context.command_path
            message = getattr(error, "format_message", error.__str__)()
            if context is not None and "extra argument" in message:
                wanted = " ".join(context.command.collect_usage_pieces(context))
                quotes = ", with a text of several words in quotes" if "{" in wanted else ""
                message += f"; the usage is {command} {wanted}{quotes}"
            return "usage", f"{message} ({command} --help shows what there is)"


def _give_up_output() -> None:
    """Point stdout at nothing, or the interpreter would complain once more when it flushes at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
