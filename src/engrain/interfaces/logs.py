"""Logs of a server: a line for each verb and each failure, as text or JSON; never the text of a memory."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from engrain.agent.operations.instrumentation import CURRENT_VERB, log_verbs
from engrain.log_events import LogEvent

if TYPE_CHECKING:
    from types import TracebackType

    from engrain.config.server import Logging

# Attributes of every record; the others are the fields of the one who logged it.
_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# Loggers whose messages never quote input.
_OWN = ("engrain", "uvicorn.error")
_LEFT_OUT = frozenset({"color_message"})  # uvicorn repeats its message in it for a terminal
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
    for earlier in [entry for entry in root.handlers if isinstance(entry, _Handler)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    least = logging.getLevelNamesMapping()[(settings.level or level).upper()]
    root.setLevel(least)
    if least > logging.DEBUG:
        handler.addFilter(lambda record: _is_own(record) or record.levelno >= logging.WARNING)
    log_verbs(enabled=least <= logging.INFO)


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write `timestamp`, `level`, `event` and `logger`, then the fields of the record."""
        return json.dumps(record_fields(record), ensure_ascii=False, default=_type_name)


class TextLines(logging.Formatter):
    """Formats a record as one line of text."""

    def format(self, record: logging.LogRecord) -> str:
        """Write time, level, logger and event, then the fields as `name=value`."""
        fields = record_fields(record)
        head = [str(fields.pop(name)) for name in ("timestamp", "level", "logger", "event")]
        return " ".join(head + [f"{name}={_format_value(value)}" for name, value in fields.items()])


def record_fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record's line."""
    fields: dict[str, Any] = {
        "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
        "level": record.levelname.lower(),
        "event": _event_text(record),
        "logger": record.name,
    }
    verb = CURRENT_VERB.get()
    if verb is not None:
        fields["verb"] = verb.verb
        if verb.request_id is not None:
            fields["request_id"] = verb.request_id
    if _is_own(record):
        fields |= {name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD | _LEFT_OUT}
    if record.exc_info and record.exc_info[0] is not None:
        fields |= _exception_fields(record.exc_info[0], record.exc_info[2])
    return fields


def _event_text(record: logging.LogRecord) -> str:
    if isinstance(record.msg, LogEvent):
        return record.msg.name
    if _is_own(record) or record.levelno < logging.INFO:
        return record.getMessage()
    return f"logged at {record.module}:{record.lineno}"


def _is_own(record: logging.LogRecord) -> bool:
    return any(record.name == own or record.name.startswith(f"{own}.") for own in _OWN)


def _exception_fields(kind: type[BaseException], trace: TracebackType | None) -> dict[str, Any]:
    frames = traceback.extract_tb(trace)[-_MOST_FRAMES:]
    return {
        "exception": kind.__qualname__,
        "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def _type_name(value: object) -> str:
    """Return the type of a value that is no JSON; its text could be anything."""
    return f"<{type(value).__name__}>"


def _format_value(value: object) -> str:
    """Return a value as one word, or quoted."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_type_name)
    return text if text and text.isprintable() and " " not in text else json.dumps(text, ensure_ascii=False)
