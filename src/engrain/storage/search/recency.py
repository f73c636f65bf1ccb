"""Newest and most important memories, read along an index of each kind and scope."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.filters import Filter
from engrain.domain.memories.trust import levels_from
from engrain.domain.records import REFLECTION, Fact, Kind, MemoryRecord, Rule
from engrain.domain.requests import Candidate, Request
from engrain.storage.filters import HAPPENED_AT, compile_request
from engrain.storage.rows import KIND_TABLES
from engrain.storage.search import matching
from engrain.storage.search.namespaces import load_search_space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.storage.unit_of_work import Snapshot

# The importance of each kind; a rule has none of its own: 5, the middle.
IMPORTANCE: Mapping[Kind, str] = {
    "episode": "importance",
    "fact": "importance",
    "rule": "CAST(5 AS double precision)",
}


_MOST_TO_SORT = 4_000  # memories, which takes 6 ms
# By an index each, which SQLite does not use for "one or the other".
_OF_SUBJECTS = (
    "SELECT {0} FROM facts WHERE tenant_id = :tenant_id AND subject_key IN :subject_keys "
    "UNION ALL SELECT {0} FROM facts WHERE tenant_id = :tenant_id AND entity_id IN :entity_ids"
)


@dataclass(frozen=True, slots=True, order=True)
class _Ranked:
    """A memory's place in an order: larger stands first."""

    importance: float
    happened_at: Any
    id: str
    doc: int


def find_newest(snapshot: Snapshot, request: Request, limit: int) -> list[Candidate]:
    """Find the newest memories that match, by happened_at, then id."""
    first = sorted(_find_first(snapshot, request, limit, by_importance=False), reverse=True)[: max(limit, 0)]
    return [Candidate(memory.doc, snapshot.dialect.moment(memory.happened_at).timestamp()) for memory in first]


def find_important(snapshot: Snapshot, request: Request, limit: int) -> list[Candidate]:
    """Find the most important memories that match, then the newest."""
    first = sorted(_find_first(snapshot, request, limit, by_importance=True), reverse=True)[: max(limit, 0)]
    return [Candidate(memory.doc, memory.importance) for memory in first]


def load_newest(snapshot: Snapshot, request: Request, limit: int) -> list[MemoryRecord]:
    """Load the newest memories that match, in their order."""
    docs = [candidate.ref for candidate in find_newest(snapshot, request, limit)]
    found = matching.load_matching(snapshot, request, docs)
    return [found[doc] for doc in docs if doc in found]


def load_newest_rules(snapshot: Snapshot, request: Request, limit: int) -> list[Rule]:
    """Load the newest rules that match, in their order, in one statement."""
    asked = replace(request, filter=replace(request.filter, kinds=("rule",)))
    parts, bound = _select_first(snapshot, asked, limit, by_importance=False)
    if not parts:
        return []
    rest = f"FROM rules WHERE doc IN (SELECT doc FROM ({' UNION ALL '.join(parts)}) AS newest)"  # noqa: S608  # no input in it
    found = snapshot.load(snapshot.statements.records.kinds["rule"], rest, bound)
    return sorted(found, key=lambda rule: (rule.happened_at, rule.id), reverse=True)[:limit]


def find_newest_turn(snapshot: Snapshot, session: str) -> int:
    """Find the number of the newest turn of a session in the caller's own scope; 0 for none."""
    own = "tenant_id = :tenant_id AND scope = :scope AND session = :session"
    bound = {"tenant_id": snapshot.tenant_id, "scope": snapshot.caller.own_scope, "session": session}
    [(turn,)] = snapshot.ask(f"SELECT max(turn) FROM episodes WHERE {own}", bound)  # noqa: S608  # no input in it
    return turn or 0


def load_latest_reflection(snapshot: Snapshot, now: datetime, *, own: bool) -> Fact | None:
    """Load the newest active reflection, of the agent itself, or also of what everybody sees; None for none."""
    caller = snapshot.caller
    everybodys = (GLOBAL_SCOPE, caller.agent, caller.shared_scope, caller.own_scope)
    criteria = Filter(
        kinds=("fact",),
        scopes=(caller.own_scope,) if own else everybodys,
        subjects=(caller.agent,) if own else (),
        categories=(REFLECTION,),
        trust=levels_from("import"),
    )
    newest = load_newest(snapshot, Request(caller=caller, filter=criteria, now=now), 1)
    return next((memory for memory in newest if isinstance(memory, Fact)), None)


def _find_first(snapshot: Snapshot, request: Request, limit: int, *, by_importance: bool) -> list[_Ranked]:
    parts, bound = _select_first(snapshot, request, limit, by_importance=by_importance)
    return [_Ranked(*row) for row in snapshot.ask_parts(parts, bound)]


def _select_first(
    snapshot: Snapshot, request: Request, limit: int, *, by_importance: bool
) -> tuple[list[str], dict[str, Any]]:
    """The first `limit` of every place: an index gives the rows of one scope in order, not those of several."""
    parts: list[str] = []
    bound: dict[str, Any] = {"limit": limit}
    places = load_search_space(snapshot, request).places if limit > 0 else ()
    scopes = [scope for _, scope in places]
    rows = {kind: _choose_rows(snapshot, kind, request.filter, scopes) for kind in dict(places)}
    for place, (kind, scope) in enumerate(places):
        condition, values = compile_request(snapshot, request, kind, scope=f"scope = :scope_{place}")
        if values:
            bound |= {**values, f"scope_{place}": scope}
            parts.append(_first_of_scope(kind, rows[kind] + condition, by_importance=by_importance))
    return parts, bound


def _choose_rows(snapshot: Snapshot, kind: Kind, criteria: Filter, scopes: Sequence[str]) -> str:
    """The table, up to its further conditions; the memories of some sessions or subjects by these, where they are few.

    Those are quicker sorted than looked for among all by time. PostgreSQL knows from its statistics; SQLite would read
    a whole scope for a session of few turns.
    """
    listed, table = snapshot.dialect.listed, KIND_TABLES[kind]
    everything = f"{table} WHERE "
    if snapshot.dialect.name != "sqlite":
        return everything
    if kind == "episode" and criteria.sessions:
        wanted = "SELECT 1 FROM episodes WHERE tenant_id = :tenant_id AND scope IN :scopes AND session IN :sessions"
        bound = {"scopes": listed(scopes), "sessions": listed(criteria.sessions)}
        few = f"{table} INDEXED BY episodes_session WHERE "
    elif kind == "fact" and (criteria.subject_keys or criteria.entity_ids):
        wanted = _OF_SUBJECTS.format(1)
        bound = {"subject_keys": listed(criteria.subject_keys), "entity_ids": listed(criteria.entity_ids)}
        few = f"{table} NOT INDEXED WHERE doc IN ({_OF_SUBJECTS.format('doc')}) AND "
    else:
        return everything
    bound |= {"tenant_id": snapshot.tenant_id, "most": _MOST_TO_SORT}
    [(count,)] = snapshot.ask(f"SELECT count(*) FROM ({wanted} LIMIT :most)", bound)  # noqa: S608  # no input in it
    return few if count < _MOST_TO_SORT else everything


def _first_of_scope(kind: Kind, rows: str, *, by_importance: bool) -> str:
    """The first of one kind and scope. A rule has no importance of its own, so that the newest come first."""
    importance = IMPORTANCE[kind] if by_importance else "0"
    order = ["importance"] if by_importance and importance == "importance" else []
    by = " DESC, ".join([*order, HAPPENED_AT[kind], "id"])
    return (
        f"SELECT * FROM (SELECT {importance}, {HAPPENED_AT[kind]}, id, doc FROM {rows} "  # noqa: S608  # no input in it
        f"ORDER BY {by} DESC LIMIT :limit) AS part"
    )
