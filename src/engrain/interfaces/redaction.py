"""Redaction of answers over a network: nothing of the machine leaves; the log has what is left out."""

import logging
from contextvars import ContextVar
from typing import Any

from engrain.domain.wording import Wording

_LOG = logging.getLogger(__name__)
# Id of the current request over a network; None elsewhere.
REQUEST: ContextVar[str | None] = ContextVar("engrain_request_id", default=None)
_PLAIN = frozenset((str, int, float, bool, type(None)))  # exactly: a Wording is a str


def redacted(value: Any) -> Any:
    """A JSON value without what only the log may have: each `Wording` in it is logged whole."""
    if isinstance(value, dict):
        return {name: each if type(each) in _PLAIN else redacted(each) for name, each in value.items()}
    if isinstance(value, list):
        return [each if type(each) in _PLAIN else redacted(each) for each in value]
    if not isinstance(value, Wording):
        return value
    if value.outside != value:
        _LOG.warning("an answer is degraded", extra={"reason": str(value), "request_id": REQUEST.get()})
    return value.outside
