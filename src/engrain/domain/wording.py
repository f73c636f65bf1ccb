"""What is said of a fault: its own words to whoever runs the memory, ours to whoever asks it over a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from engrain import errors
from engrain.errors import EngrainError

if TYPE_CHECKING:
    from collections.abc import Mapping

UNEXPECTED = "unexpected"  # the code of what is no error of ours
# These are about the request, so their own words are for whoever made it.
_OF_THE_REQUEST = (errors.InvalidInput, errors.NotFound, errors.Unauthenticated, errors.Forbidden, errors.RateLimited)
# What the others say outside: their own words name files, hosts and users, or are a driver's.
_OUR_OWN: Mapping[type[EngrainError], str] = {
    EngrainError: "the memory could not do this; whoever runs the server finds why in its log, by the request id",
    errors.MemoryClosed: "the server is closing; try again soon",
    errors.EngineUnavailable: "an engine (embedder, language model) cannot answer now; try again soon",
    errors.StorageError: "the database refused; whoever runs the server finds why in its log, by the request id",
    errors.DatabaseBusy: "another writer holds the database; nothing was written: try again soon",
    errors.DatabaseUnreachable: "the database is out of reach; try again soon",
    errors.DatabaseFull: "the database has no room left; nothing was written",
    errors.DatabaseReadOnly: "the database cannot be written; nothing was written",
    errors.IntegrityViolated: "a write broke an invariant of the database and was rolled back; read, then try again",
    errors.OutcomeUnknown: "the connection was lost while committing: look whether it is there, or repeat the call "
    "with the same Idempotency-Key",
}
_UNFORESEEN = (
    "something went wrong that nobody foresaw; whoever runs the server finds where in its log, by the request id"
)


class Wording(str):
    """A sentence whole, as whoever runs the memory reads it; `outside` is what others are told in its place.

    `outside` names no host, port, path, user, and nothing of what a driver or a service said. It is the sentence itself
    where none is given, which is for words of our own alone. As a text it is the whole one: who hands it to strangers
    asks for `outside`. What is made of it, as by an f-string, is a plain text again: use `after`.
    """

    __slots__ = ("outside",)
    outside: str

    def __new__(cls, said: str, outside: str | None = None) -> Self:
        made = super().__new__(cls, said)
        made.outside = getattr(said, "outside", said) if outside is None else outside
        return made

    def after(self, before: str) -> Wording:
        """It, and before it words of our own."""
        return Wording(f"{before}{self}", f"{before}{self.outside}")


def sentence(error: BaseException, who: str | None = None) -> str:
    """An error as whoever asks over a network is told of it: in its own words where it is about what was asked.

    `who` is the engine that cannot answer, where it is one.
    """
    if isinstance(error, _OF_THE_REQUEST):
        return str(error)
    if who is not None and isinstance(error, errors.EngineUnavailable):
        return f"{who} cannot answer now"
    return next((_OUR_OWN[each] for each in type(error).__mro__ if each in _OUR_OWN), _UNFORESEEN)


def is_of_the_request(error: BaseException) -> bool:
    """Whether an error is about what was asked, and nothing of the server's own."""
    return isinstance(error, _OF_THE_REQUEST)


def worded(error: BaseException, who: str | None = None) -> Wording:
    """An error's own words; outside its `sentence`, and its code."""
    return Wording(str(error), f"{sentence(error, who)} ({code_of(error)})")


def code_of(error: BaseException) -> str:
    """The stable code of an error; UNEXPECTED of what is none of ours."""
    return error.code if isinstance(error, EngrainError) else UNEXPECTED
