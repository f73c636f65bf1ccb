"""Faults: the code of an error, its public message, and what of it is for the operator alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engrain import errors
from engrain.domain.records import Degraded
from engrain.errors import EngrainError

if TYPE_CHECKING:
    from collections.abc import Mapping

UNEXPECTED = "unexpected"  # the code of what is no error of ours
Engine = Literal["embedder", "reranker", "llm", "summarizer"]
_ENGINES: Mapping[Engine, str] = {
    "embedder": "the embedder",
    "reranker": "the reranker",
    "llm": "the language model",
    "summarizer": "the summarizer",
}
# Errors about the request: their own words are public.
_OF_THE_REQUEST = (
    errors.InvalidInput,
    errors.NotFound,
    errors.VersionConflict,
    errors.Unauthenticated,
    errors.Forbidden,
    errors.RateLimited,
)
# Public messages of the others: their own words name files, hosts and users, or are a driver's.
_OUR_OWN: Mapping[type[EngrainError], str] = {
    EngrainError: "the memory could not do this; the server's log has the cause under the request id",
    errors.MemoryClosed: "the server is closing; try again soon",
    errors.EngineUnavailable: "an engine (embedder, language model) cannot answer now; try again soon",
    errors.StorageError: "the database refused; the server's log has the cause under the request id",
    errors.DatabaseBusy: "another writer holds the database; nothing was written: try again soon",
    errors.DatabaseUnreachable: "the database is out of reach; try again soon",
    errors.DatabaseFull: "the database has no room left; nothing was written",
    errors.DatabaseReadOnly: "the database cannot be written; nothing was written",
    errors.IntegrityViolated: "a write broke an invariant of the database and was rolled back; read, then try again",
    errors.OutcomeUnknown: "the connection was lost while committing: look whether it is there, or repeat the call "
    "with the same Idempotency-Key",
}
_UNFORESEEN = "an unexpected error; the server's log has the cause under the request id"


def describe_fault(error: BaseException, engine: Engine | None = None) -> Degraded:
    """Describe an error: its code, its public message, and its own words as the detail where these are not public.

    `engine` is the engine that cannot answer, where it is one: the code is then `ENGINE_unavailable`.
    """
    is_engine = engine is not None and isinstance(error, errors.EngineUnavailable)
    return Degraded(
        code=f"{engine}_unavailable" if is_engine else code_of(error),
        message=public_message(error, engine),
        detail=None if is_of_the_request(error) else str(error),
    )


def public_message(error: BaseException, engine: Engine | None = None) -> str:
    """The message of an error for clients over a network: its own words where it is about their request."""
    if isinstance(error, _OF_THE_REQUEST):
        return str(error)
    if engine is not None and isinstance(error, errors.EngineUnavailable):
        return f"{_ENGINES[engine]} cannot answer now"
    return next((_OUR_OWN[kind] for kind in type(error).__mro__ if kind in _OUR_OWN), _UNFORESEEN)


def is_of_the_request(error: BaseException) -> bool:
    """True if an error is about the request alone."""
    return isinstance(error, _OF_THE_REQUEST)


def code_of(error: BaseException) -> str:
    """The stable code of an error; UNEXPECTED of one that is not ours."""
    return error.code if isinstance(error, EngrainError) else UNEXPECTED
