"""What a server writes down: a line for each verb, and for what went wrong, as text or JSON; never what was said."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from engrain.agent.operations.instrumentation import CURRENT_VERB, log_verbs

if TYPE_CHECKING:
    from types import TracebackType

    from engrain.config.server import Logging

# What every record has: the rest of its attributes are the fields that its author gave it.
_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# Who says nothing in its messages that somebody else said to it.
_OWN = ("engrain", "uvicorn.error")
_ASIDE = frozenset({"color_message"})  # what uvicorn says again for a terminal
_MOST_FRAMES = 20


class _Handler(logging.StreamHandler[TextIO]):
    """The handler that `configure` sets, so that it finds it again."""


def configure(settings: Logging, *, level: str = "info", stream: TextIO | None = None) -> None:
    """Write the log of this process to `stream` (stderr), one line for each record; a second call replaces the first.

    `level` holds where the settings name none.

    What engrain logs are fields. Of other packages only uvicorn's own messages are shown in full: of the rest a line
    from warning on says where in their code it comes from, and the message itself only at level debug, as it may quote
    anything. Of an exception stand its type and frames, not its message.
    """
    handler = _Handler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines() if settings.format == "json" else TextLines())
    root = logging.getLogger()
    for each in [each for each in root.handlers if isinstance(each, _Handler)]:
        root.removeHandler(each)
    root.addHandler(handler)
    least = logging.getLevelNamesMapping()[(settings.level or level).upper()]
    root.setLevel(least)
    if least > logging.DEBUG:
        handler.addFilter(lambda record: _is_own(record) or record.levelno >= logging.WARNING)
    log_verbs(enabled=least <= logging.INFO)


class JsonLines(logging.Formatter):
    """One JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """`timestamp`, `level`, `event` and `logger`, then the fields of the record."""
        return json.dumps(fields_of(record), ensure_ascii=False, default=_named)


class TextLines(logging.Formatter):
    """The same on one line for a person."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger and event, then the fields as `name=value`."""
        said = fields_of(record)
        head = [str(said.pop(name)) for name in ("timestamp", "level", "logger", "event")]
        return " ".join(head + [f"{name}={_plain(value)}" for name, value in said.items()])


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What a line says of a record."""
    said: dict[str, Any] = {
        "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
        "level": record.levelname.lower(),
        "event": _event(record),
        "logger": record.name,
    }
    verb = CURRENT_VERB.get()
    if verb is not None:
        said["verb"] = verb.verb
        if verb.request_id is not None:
            said["request_id"] = verb.request_id
    if _is_own(record):
        said |= {name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD | _ASIDE}
    if record.exc_info and record.exc_info[0] is not None:
        said |= _exception(record.exc_info[0], record.exc_info[2])
    return said


def _event(record: logging.LogRecord) -> str:
    if _is_own(record) or record.levelno < logging.INFO:
        return record.getMessage()
    return f"logged at {record.module}:{record.lineno}"


def _is_own(record: logging.LogRecord) -> bool:
    return any(record.name == each or record.name.startswith(f"{each}.") for each in _OWN)


def _exception(kind: type[BaseException], trace: TracebackType | None) -> dict[str, Any]:
    frames = traceback.extract_tb(trace)[-_MOST_FRAMES:]
    return {
        "exception": kind.__qualname__,
        "frames": [f"{each.filename}:{each.lineno} {each.name}" for each in frames],
    }


def _named(value: object) -> str:
    """A value that is no JSON, by its type: what it would print is anybody's guess."""
    return f"<{type(value).__name__}>"


def _plain(value: object) -> str:
    """A value as one word, or quoted."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_named)
    return text if text and text.isprintable() and " " not in text else json.dumps(text, ensure_ascii=False)
