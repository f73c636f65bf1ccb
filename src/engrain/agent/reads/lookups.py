"""Lookups: one memory by its id, all that match a request, and ids and sessions that begin with a prefix."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from engrain.agent.wiring.view import enter
from engrain.domain.filters import Filter
from engrain.domain.records import Episode, Fact
from engrain.domain.requests import Request
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.agent.wiring.parts import Parts
    from engrain.agent.wiring.view import View
    from engrain.domain.ports import Store
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.verbs.words import Identified

_PAGE = 500
_NEWEST = 1_000
_AFTER_ALL = "\U0010ffff"  # greater than each character of an id


def find_memory(store: Store, caller: Caller, id_: str) -> MemoryRecord | None:
    """Return the memory of this id, None where the caller sees none."""
    return next(iter(store.get(caller, [id_])), None)


def get_memory(store: Store, caller: Caller, id_: str) -> MemoryRecord:
    """Return the memory of this id.

    Raises:
        NotFound: the caller sees no such memory.
    """
    memory = find_memory(store, caller, id_)
    if memory is None:
        raise memory_not_found(caller, id_)
    return memory


def get_active_fact(store: Store, caller: Caller, id_: str) -> Fact:
    """Return the fact of this id.

    Raises:
        NotFound: the caller sees no such memory.
        InvalidInput: it is no fact, or no longer active.
    """
    memory = get_memory(store, caller, id_)
    if not isinstance(memory, Fact):
        raise InvalidInput(f"{id_} is of kind {memory.kind}; only a fact can be corrected")
    if memory.validity != "active":
        raise InvalidInput(f"fact {id_} is {memory.validity}; its history shows what holds its place now")
    return memory


def read_all(store: Store, request: Request) -> Iterator[MemoryRecord]:
    """Yield all memories that match a request, the newest first, 500 a statement."""
    page = store.page(request, before=None, limit=_PAGE)
    yield from page
    while len(page) == _PAGE:
        page = store.page(request, before=page[-1].id, limit=_PAGE)
        yield from page


def memory_not_found(caller: Caller, id_: str) -> NotFound:
    """Return the error for an id that this agent does not see, whether or not another agent does."""
    return NotFound(f"no memory {id_} is visible to agent {caller.agent}; recall shows ids")


def find_ids(view: View, kind: Identified, prefix: str, *, limit: int) -> list[str]:
    """Ids that begin with a prefix: of memories, live or not, and of entities and runs; at most `limit`.

    Memories are newest first, by a range of the index of ids; runs too, of the newest 1,000; entities by name.
    """
    parts, caller = enter(view)
    if kind == "memory":
        request = Request(caller=caller, filter=Filter(include_inactive=True), now=parts.clock())
        before = f"{prefix}{_AFTER_ALL}"
        ids = [memory.id for memory in parts.store.page(request, before=before, limit=limit)]
        return [id_ for id_ in ids if id_.startswith(prefix)]
    ids_of_kind = {"entity": _entity_ids, "run": _run_ids}.get(kind)
    found = () if ids_of_kind is None else ids_of_kind(parts, caller)
    return list(islice((id_ for id_ in found if id_.startswith(prefix)), limit))


def find_sessions(view: View, prefix: str, *, limit: int) -> list[str]:
    """Sessions of the newest 1,000 episodes that begin with a prefix, the newest first; at most `limit`."""
    parts, caller = enter(view)
    request = Request(caller=caller, filter=Filter(kinds=("episode",)), now=parts.clock())
    episodes = [memory for memory in parts.store.recent(request, _NEWEST) if isinstance(memory, Episode)]
    names = dict.fromkeys(episode.session for episode in episodes if episode.session is not None)
    return [name for name in names if name.startswith(prefix)][:limit]


def _run_ids(parts: Parts, caller: Caller) -> Iterator[str]:
    yield from (run.id for run in parts.store.runs(caller, limit=_NEWEST))


def _entity_ids(parts: Parts, caller: Caller) -> Iterator[str]:
    last = ("", "")
    while page := parts.store.find_entities(caller, after=last, limit=_NEWEST):
        yield from (entity.id for entity in page)
        last = (page[-1].canonical_name, page[-1].entity_type)
