"""Lookups: one memory by its id, all that match a request, and ids and sessions that begin with a prefix."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from engrain.agent.wiring.arguments import stored_text
from engrain.agent.wiring.view import View, enter
from engrain.domain.filters import Filter
from engrain.domain.records import Caller, Entity, Episode, Fact, MemoryRecord
from engrain.domain.requests import Request
from engrain.domain.text.names import name_key
from engrain.errors import InvalidInput, NotFound
from engrain.storage.selection import load_memories

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engrain.agent.wiring.parts import Parts
    from engrain.agent.wiring.view import View
    from engrain.domain.maintenance.backups import Extent
    from engrain.storage.unit_of_work import Snapshot
    from engrain.verbs.words import Identified

_PAGE = 500
_NEWEST = 1_000
_AFTER_ALL = "\U0010ffff"  # greater than each character of an id


def find_memory(snapshot: Snapshot, id_: str) -> MemoryRecord | None:
    """Return the memory of this id, None where the caller sees none."""
    return next(iter(load_memories(snapshot, [id_])), None)


def get_memory(snapshot: Snapshot, id_: str) -> MemoryRecord:
    """Return the memory of this id.

    Raises:
        NotFound: the caller sees no such memory.
    """
    memory = find_memory(snapshot, id_)
    if memory is None:
        raise memory_not_found(snapshot.caller, id_)
    return memory


def check_extent(parts: Parts, extent: Extent) -> None:
    """Check that there is, or was, anything of a user, an agent or a tenant, stored or in this process.

    Raises:
        NotFound: there never was; the message has the nearest name.
    """
    from engrain.storage.reports import tenants

    if not parts.buffers.holds_extent(extent):
        parts.store.inspect(extent.tenant_id, tenants.check_extent, extent, parts.clock())


def get_active_fact(snapshot: Snapshot, id_: str) -> Fact:
    """Return the fact of this id.

    Raises:
        NotFound: the caller sees no such memory.
        InvalidInput: it is no fact, or no longer active.
    """
    memory = get_memory(snapshot, id_)
    if not isinstance(memory, Fact):
        raise InvalidInput(f"{id_} is of kind {memory.kind}; only a fact can be corrected")
    if memory.validity != "active":
        raise InvalidInput(f"fact {id_} is {memory.validity}; its history shows what holds its place now")
    return memory


def with_namesakes(parts: Parts, caller: Caller, narrowed: Filter) -> Filter:
    """Return a filter that finds subjects by all their names, speakers however spelled, and predicates as stored."""
    from engrain.storage.entities.subjects import expand_subjects
    from engrain.storage.search.matching import list_speakers

    if narrowed.speakers:
        keys = set(map(name_key, narrowed.speakers))
        alike = [name for name in parts.store.read(caller, list_speakers) if name_key(name) in keys]
        narrowed = replace(narrowed, speakers=tuple(dict.fromkeys([*narrowed.speakers, *alike])))
    if narrowed.predicates:
        narrowed = replace(narrowed, predicates=tuple(stored_text(parts, name) for name in narrowed.predicates))
    if not narrowed.subjects:
        return narrowed
    names = parts.store.read(caller, expand_subjects, [stored_text(parts, name) for name in narrowed.subjects])
    return replace(narrowed, subjects=names.keys, entity_ids=names.entity_ids)


def read_all(snapshot: Snapshot, request: Request) -> Iterator[MemoryRecord]:
    """Yield all memories that match a request, the newest first, 500 a statement."""
    from engrain.storage.reports.surveys import load_page

    page = load_page(snapshot, request, before=None, limit=_PAGE)
    yield from page
    while len(page) == _PAGE:
        page = load_page(snapshot, request, before=page[-1].id, limit=_PAGE)
        yield from page


def read_entities(snapshot: Snapshot) -> Iterator[Entity]:
    """Yield all entities of the tenant, by name, 1,000 a statement."""
    from engrain.storage.entities.lookup import entity_position, list_entities

    last = ("", "")
    while page := list_entities(snapshot, after=last, limit=_NEWEST):
        yield from page
        last = entity_position(page[-1])


def memory_not_found(caller: Caller, id_: str) -> NotFound:
    """Return the error for an id that this agent does not see, whether or not another agent does."""
    return NotFound(f"no memory {id_} is visible to agent {caller.agent}; recall shows ids")


def find_ids(view: View, kind: Identified, prefix: str, *, limit: int) -> list[str]:
    """Ids that begin with a prefix: of memories, live or not, and of entities and runs; at most `limit`.

    Memories are newest first, by a range of the index of ids; runs too, of the newest 1,000; entities by name.
    """
    parts, caller = enter(view)
    request = Request(caller=caller, filter=Filter(include_inactive=True), now=parts.clock())
    return parts.store.read(caller, _find_ids, request, kind, prefix, limit=limit)


def find_sessions(view: View, prefix: str, *, limit: int) -> list[str]:
    """Sessions of the newest 1,000 episodes that begin with a prefix, the newest first; at most `limit`."""
    from engrain.storage.search.recency import load_newest

    parts, caller = enter(view)
    request = Request(caller=caller, filter=Filter(kinds=("episode",)), now=parts.clock())
    episodes = parts.store.read(caller, load_newest, request, _NEWEST)
    names = dict.fromkeys(memory.session for memory in episodes if isinstance(memory, Episode))
    return [name for name in names if name is not None and name.startswith(prefix)][:limit]


def _find_ids(snapshot: Snapshot, request: Request, kind: Identified, prefix: str, *, limit: int) -> list[str]:
    from engrain.storage.reports.surveys import load_page
    from engrain.storage.runs.claims import list_runs

    ids: Iterable[str]
    match kind:
        case "memory":
            before = f"{prefix}{_AFTER_ALL}"
            ids = (memory.id for memory in load_page(snapshot, request, before=before, limit=limit))
        case "entity":
            ids = (entity.id for entity in read_entities(snapshot))
        case "run":
            ids = (run.id for run in list_runs(snapshot, limit=_NEWEST))
        case _:
            ids = ()
    return list(islice((id_ for id_ in ids if id_.startswith(prefix)), limit))
