"""Lookups of one memory by its id, and the error where an agent sees no such memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.domain.records import Fact
from engrain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.domain.ports import Store
    from engrain.domain.records import Caller, MemoryRecord
    from engrain.domain.requests import Request

_PAGE = 500


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
