"""Namespaces that a search looks at, with their totals, and the version of vectors it compares."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from engrain.domain.records import KINDS, Caller, Kind

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from engrain.domain.requests import Request
    from engrain.storage.unit_of_work import Snapshot


_COUNT_UP_TO = 1_000


@dataclass(frozen=True, slots=True)
class Namespace:
    """One kind and scope that something was written to, with the totals of its index."""

    kind: Kind
    scope: str
    number: int
    memories: int
    words: int
    has_expired: bool  # something it holds has run out
    has_waiting: bool  # something it holds waits for a vector
    rewrites: int  # how often words of its memories have changed, but for new neighbours
    has_words: bool = True  # the keyword index has its words


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """Search space of one request. `places` are the kinds and scopes where any memory of the caller may be."""

    spaces: tuple[Namespace, ...]
    places: tuple[tuple[Kind, str], ...]
    version: int | None  # of the embedder whose vectors are searched
    dims: int | None
    change: int  # the newest of the file's vectors, where a process keeps its own copy of them
    indexed: int  # the last doc that has a place in the searches, where some are left for later
    has_unindexed: bool  # memories, of whomever, have no place in the searches yet

    namespaces: list[int] = field(init=False)  # numbers, ascending
    kinds: list[Kind] = field(init=False)  # that have memories
    memories: int = field(init=False, default=0)  # that are indexed
    words: int = field(init=False, default=0)  # of those memories
    has_expired: bool = field(init=False, default=False)  # an indexed memory has
    has_waiting: bool = field(init=False)  # anything may wait for a vector

    def __post_init__(self) -> None:
        """Add up the totals once: a search asks for them again and again."""
        add = partial(object.__setattr__, self)
        there = {kind for kind, _ in self.places}
        add("namespaces", sorted([space.number for space in self.spaces]))
        add("kinds", [kind for kind in KINDS if kind in there])
        add("memories", sum([space.memories for space in self.spaces]))
        add("words", sum([space.words for space in self.spaces]))
        add("has_expired", True in [space.has_expired for space in self.spaces])
        add("has_waiting", self.has_unindexed or True in [space.has_waiting for space in self.spaces])

    def of(self, kinds: Collection[Kind], scopes: Collection[str]) -> SearchSpace:
        """Return the part of some kinds and scopes, of every scope where none is named."""
        return replace(
            self,
            spaces=tuple(
                space for space in self.spaces if space.kind in kinds and (not scopes or space.scope in scopes)
            ),
            places=tuple(
                (kind, scope) for kind, scope in self.places if kind in kinds and (not scopes or scope in scopes)
            ),
        )


def load_search_space(snapshot: Snapshot, request: Request) -> SearchSpace:
    """Load the search space of a request's scopes and kinds."""
    return narrow(load_caller_space(snapshot, request.now), request)


def narrow(where: SearchSpace, request: Request) -> SearchSpace:
    """Narrow a caller's search space to the scopes and kinds of a request."""
    criteria = request.filter
    is_all = not criteria.scopes and set(criteria.kinds) >= set(where.kinds)
    return where if is_all else where.of(criteria.kinds, criteria.scopes)


def load_caller_space(snapshot: Snapshot, now: datetime) -> SearchSpace:
    """Load the search space of a caller's scopes, of whatever kind."""
    known = snapshot.known
    if known is None:
        return _load_space(snapshot, now)
    key = "searched", snapshot.identity, now
    where: SearchSpace | None = known.get(key)
    if where is None:
        where = known[key] = _load_space(snapshot, now)
        known[_waiting_key(snapshot)] = where.has_waiting
    return where


def has_waiting(snapshot: Snapshot) -> bool:
    """Tell whether a memory of the caller may wait for a vector, as far as this transaction knows without asking."""
    return snapshot.known is None or bool(snapshot.known.get(_waiting_key(snapshot), True))


def count_waiting(snapshot: Snapshot) -> int:
    """Count the caller's memories that wait for a vector, up to 1,000."""
    if not has_waiting(snapshot):
        return 0
    [(count,)] = snapshot.rows("count_waiting", **snapshot.bindings(), limit=_COUNT_UP_TO)
    return min(int(count), _COUNT_UP_TO)


def _load_space(snapshot: Snapshot, now: datetime) -> SearchSpace:
    rows = snapshot.rows("searched", **snapshot.bindings(), now=snapshot.dialect.time(now))
    version, dims, change, indexed, has_unindexed = rows[0][:5]
    spaces = tuple([Namespace(*row[5:]) for row in rows if row[5] is not None])
    # What is not indexed may be the first of its kind and scope.
    places = [(space.kind, space.scope) for space in spaces]
    if has_unindexed:
        places = [(kind, scope) for kind in KINDS for scope in dict.fromkeys(snapshot.caller.scopes)]
    return SearchSpace(
        spaces=spaces,
        places=tuple(places),
        version=version,
        dims=dims,
        change=change,
        indexed=indexed,
        has_unindexed=bool(has_unindexed),
    )


def _waiting_key(snapshot: Snapshot) -> tuple[str, Caller]:
    return "waiting", snapshot.identity
