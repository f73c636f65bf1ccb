"""Redaction: removes from answers over a network what is for the operator alone, and logs it."""

import logging
from contextvars import ContextVar
from typing import Any

from engrain.domain.records import Detail

_LOG = logging.getLogger(__name__)
# The id of the current request, as its answer names it; None outside network interfaces.
CURRENT_REQUEST_ID: ContextVar[str | None] = ContextVar("engrain_request_id", default=None)
_PLAIN = frozenset((str, int, float, bool, type(None)))  # exactly: a Detail is a str


def redact(value: Any) -> Any:
    """Return a JSON value for clients over a network: every `Detail` in it is null, and logged."""
    if isinstance(value, dict):
        return {name: item if type(item) in _PLAIN else redact(item) for name, item in value.items()}
    if isinstance(value, list):
        return [item if type(item) in _PLAIN else redact(item) for item in value]
    if not isinstance(value, Detail):
        return value
    _LOG.warning("an answer is degraded", extra={"reason": str(value), "request_id": CURRENT_REQUEST_ID.get()})
    return None
