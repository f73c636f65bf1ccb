"""Events of the library's log: each says in its message what its fields say, to whoever formats messages alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping


class LogEvent(str):
    """Name of an event, which prints with its fields: "embedding stopped: no room is left (error=DatabaseFull)".

    `name` is without them, as formatters write it that write the fields of a record by themselves.
    """

    __slots__ = ("_fields",)
    _fields: Mapping[str, object]

    def __new__(cls, name: str, fields: Mapping[str, object] | None = None) -> Self:
        """Make the event of a name and the fields of its record; a copy gets these after it is made."""
        event = super().__new__(cls, name)
        event._fields = fields or {}
        return event

    @property
    def name(self) -> str:
        """The event without its fields."""
        return super().__str__()

    def __str__(self) -> str:
        reason = self._fields.get("reason")
        others = ", ".join(f"{name}={value}" for name, value in self._fields.items() if name != "reason")
        return self.name + (f": {reason}" if reason else "") + (f" ({others})" if others else "")


class _EventLogger(logging.LoggerAdapter[logging.Logger]):
    def process(self, msg: str, kwargs: MutableMapping[str, Any]) -> tuple[str, MutableMapping[str, Any]]:
        fields = kwargs.get("extra")
        return LogEvent(msg, fields) if fields else msg, kwargs


def get_logger(name: str) -> logging.LoggerAdapter[logging.Logger]:
    """Get the logger of a module; a call with `extra` logs an event with those fields, and takes no arguments."""
    return _EventLogger(logging.getLogger(name))
