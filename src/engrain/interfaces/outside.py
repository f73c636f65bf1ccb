"""What leaves for whoever asks over a network: nothing of the machine in it, and what is left out in the log."""

import logging
from contextvars import ContextVar
from typing import Any

from engrain.domain.wording import Wording

_LOG = logging.getLogger(__name__)
# What the request in hand is called in its answer; None where nobody asks over a network.
REQUEST: ContextVar[str | None] = ContextVar("engrain_request_id", default=None)
_PLAIN = frozenset((str, int, float, bool, type(None)))  # exactly: a Wording is a str


def outside(value: Any) -> Any:
    """A JSON value as others may have it: each `Wording` in it says what it says outside, and is logged whole."""
    if isinstance(value, dict):
        return {name: each if type(each) in _PLAIN else outside(each) for name, each in value.items()}
    if isinstance(value, list):
        return [each if type(each) in _PLAIN else outside(each) for each in value]
    if not isinstance(value, Wording):
        return value
    if value.outside != value:
        _LOG.warning("an answer is degraded", extra={"reason": str(value), "request_id": REQUEST.get()})
    return value.outside
