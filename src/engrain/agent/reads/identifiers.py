"""Ids and sessions that begin with a prefix: of what an agent sees, for people who type and shells that complete."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from engrain.agent.wiring.view import enter
from engrain.domain.filters import Filter
from engrain.domain.records import Episode
from engrain.domain.requests import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engrain.agent.wiring.parts import Parts
    from engrain.agent.wiring.view import View
    from engrain.domain.records import Caller
    from engrain.verbs.words import Identified

_PAGE = 1_000
_AFTER_ALL = "\U0010ffff"  # greater than each character of an id


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
    episodes = [memory for memory in parts.store.recent(request, _PAGE) if isinstance(memory, Episode)]
    names = dict.fromkeys(episode.session for episode in episodes if episode.session is not None)
    return [name for name in names if name.startswith(prefix)][:limit]


def _run_ids(parts: Parts, caller: Caller) -> Iterator[str]:
    yield from (run.id for run in parts.store.runs(caller, limit=_PAGE))


def _entity_ids(parts: Parts, caller: Caller) -> Iterator[str]:
    last = ("", "")
    while page := parts.store.find_entities(caller, after=last, limit=_PAGE):
        yield from (entity.id for entity in page)
        last = (page[-1].canonical_name, page[-1].entity_type)
