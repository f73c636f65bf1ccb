"""Filters as SQL: the condition for the rows that a caller may see and a filter lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from engrain.domain.memories.fact_keys import PENDING_MARK, PROJECT_MARK, FactKey, subject_key
from engrain.domain.memories.predicates import MANY_VALUED
from engrain.domain.memories.trust import DERIVED, PENDING_LEVELS, TRUST, TRUST_LEVELS

if TYPE_CHECKING:
    from engrain.domain.filters import Filter, TimePosition
    from engrain.domain.records import Fact, Kind
    from engrain.domain.requests import Request
    from engrain.storage.dialects import Dialect
    from engrain.storage.unit_of_work import Snapshot

HAPPENED_AT = {"episode": "event_time", "fact": "coalesce(valid_from, created_at)", "rule": "created_at"}
_ENDS = {"episode": "expires_at", "fact": "invalidated_at", "rule": "invalidated_at"}
# A pending fact has a slot of its own, beside the one it may come to hold.
NOT_PENDING = f"substr(value_key, 1, 1) <> '{PENDING_MARK}'"
_STANDING = "(permanence = 'permanent' OR last_confirmed_at > created_at)"
HAS_BEGUN = "(valid_from IS NULL OR valid_from <= :now)"
IS_LEFT = "(valid_to IS NULL OR valid_to > :now)"
_SCOPES = "scope IN :scopes"
_BY_SUBJECT = "entity_id IS NULL AND subject_key = :subject"
SEEN = f"tenant_id = :tenant_id AND {_SCOPES}"


class Namesakes(NamedTuple):
    """The keys of all names of one subject, sorted, and the ids of the entity that has them."""

    keys: tuple[str, ...]
    entity_ids: tuple[str, ...] = ()

    @property
    def is_alone(self) -> bool:
        """True for a subject with one name that the registry does not know."""
        return len(self.keys) == 1 and not self.entity_ids


def holds_value(key: FactKey) -> str:
    """Build a condition over the facts of a subject and predicate: those that may have the `:value` of a key.

    Those of some periods have their ids as value keys. One value is looked for in every project: a fact of one that was
    stored before projects had slots of their own has none.
    """
    is_one_of_many = key.value and not key.value.startswith(PROJECT_MARK)
    return "(value_key = :value OR value_key = id)" if is_one_of_many else NOT_PENDING


def position_bindings(after: TimePosition, dialect: Dialect) -> dict[str, Any]:
    """Return the bindings of what comes after a position in a list."""
    at, id_ = after
    return {"after_at": dialect.time(at), "after_id": id_}


def same_slot(key: FactKey, *, tenant_id: str, scope: str, entity_id: str | None) -> tuple[str, dict[str, Any]]:
    """Build a condition over facts, and its bindings: those in the slot of a key (`Fact.slot`)."""
    about, bound = "entity_id = :entity_id", {"entity_id": entity_id}
    if entity_id is None:
        about, bound = _BY_SUBJECT, {"subject": key.subject}
    return _in_slot(key, about, {**bound, "tenant_id": tenant_id, "scope": scope})


def same_slot_of(
    fact: Fact, namesakes: Namesakes, dialect: Dialect, *, where: str = "TRUE", is_any_value: bool = False
) -> tuple[str, dict[str, Any]]:
    """Build a condition over facts, and its bindings: those in the slot of this one, under all names of its subject."""
    key, place = fact.key, {"tenant_id": fact.tenant_id, "scope": fact.scope}
    if namesakes.is_alone:
        same, bound = _in_slot(key, _BY_SUBJECT, {**place, "subject": key.subject}, is_any_value=is_any_value)
        return f"{same} AND {where}", bound
    forms = {"entity_id IS NULL AND subject_key IN :subjects": {"subjects": dialect.listed(namesakes.keys)}}
    if namesakes.entity_ids:
        forms["entity_id IN :entity_ids"] = {"entity_ids": dialect.listed(namesakes.entity_ids)}
    parts = [_in_slot(key, about, place | bound, is_any_value=is_any_value) for about, bound in forms.items()]
    bound = {name: value for _, values in parts for name, value in values.items()}
    found = " UNION ALL ".join(f"SELECT id FROM facts WHERE {same} AND {where}" for same, _ in parts)  # noqa: S608  # no input in it
    return f"tenant_id = :tenant_id AND id IN ({found})", bound


def _in_slot(
    key: FactKey, about: str, bound: dict[str, Any], *, is_any_value: bool = False
) -> tuple[str, dict[str, Any]]:
    condition = f"tenant_id = :tenant_id AND {about} AND predicate_key = :predicate AND scope = :scope"
    bound = {**bound, "predicate": key.predicate}
    if is_any_value:
        return condition, bound
    condition += " AND value_key >= ''"  # is always true; SQLite seeks the index of active facts for it, not of all
    return f"{condition} AND {holds_value(key)}", {**bound, "value": key.value}


def _trust(kind: Kind) -> str:
    """Build the expression of a memory's trust level: in its metadata, or by the role of an episode."""
    in_metadata = f"metadata ->> '{TRUST}'"
    cases = ""
    for level in TRUST_LEVELS[:-1]:
        by_role = f" OR role = '{level}'" if kind == "episode" else ""
        cases += f" WHEN {in_metadata} = '{level}'{by_role} THEN '{level}'"
    return f"CASE{cases} ELSE '{TRUST_LEVELS[-1]}' END"


# A predicate that is `domain.memories.predicates.is_free_text`; its digest has no characters but these.
IS_FREE_TEXT = (
    "length(predicate) = 24 AND substr(predicate, 1, 12) = 'observation ' "
    "AND ltrim(substr(predicate, 13), '0123456789abcdef') = ''"
)
# A fact that is `domain.filters.is_under_key`.
_UNDER_KEY = (
    "entity_id IS NULL AND subject_key = :notes_of_key AND NOT category IN :derived "
    f"AND NOT {_trust('fact')} IN :pending_levels AND NOT ({IS_FREE_TEXT}) "
    "AND (subject = :notes_of OR NOT predicate_key IN :many_valued)"
)


def compile_request(
    snapshot: Snapshot, request: Request, kind: Kind, *, scope: str = _SCOPES
) -> tuple[str, dict[str, Any]]:
    """Build a condition over the table of `kind`, and its bindings: the filter and the caller's wall.

    `matches` of tests/support/reference_filters.py says the same of a record. `scope` may name
    one of the caller's in place of all. What is bound for one kind is bound alike for another.
    """
    criteria, dialect, bound = request.filter, snapshot.dialect, snapshot.bindings()
    if kind not in criteria.kinds or not _has(kind, criteria):
        return "FALSE", {}
    if criteria.scopes:
        bound["scopes"] = dialect.listed([scope for scope in snapshot.caller.scopes if scope in criteria.scopes])
    conditions = [f"tenant_id = :tenant_id AND {scope}", _is_valid(request, kind, dialect, bound)]
    conditions += [_STANDING] if criteria.standing else []
    of_episodes = {"session": criteria.sessions, "role": criteria.roles, "speaker": criteria.speakers}
    of_facts = {"predicate_key": criteria.predicate_keys, "category": criteria.categories}
    for column, wanted in {**of_episodes, **of_facts}.items():
        if wanted:
            conditions.append(f"{column} IN :wanted_{column}")
            bound[f"wanted_{column}"] = dialect.listed(wanted)
    if criteria.subjects:
        conditions.append("(subject_key IN :subject_keys OR entity_id IN :entity_ids)")
        bound["subject_keys"] = dialect.listed(criteria.subject_keys)
        bound["entity_ids"] = dialect.listed(criteria.entity_ids)
    if criteria.exclude_sessions and kind == "episode":
        conditions.append("(session IS NULL OR NOT session IN :exclude_sessions OR turn < :exclude_from_turn)")
        bound["exclude_sessions"] = dialect.listed(criteria.exclude_sessions)
        bound["exclude_from_turn"] = criteria.exclude_from_turn
    if criteria.trust:
        conditions.append(f"{_trust(kind)} IN :trust")
        bound["trust"] = dialect.listed(criteria.trust)
    if criteria.notes_of is not None:
        conditions.append(_UNDER_KEY)
        bound |= {"notes_of": criteria.notes_of, "notes_of_key": subject_key(criteria.notes_of)}
        bound |= {"derived": dialect.listed(DERIVED), "many_valued": dialect.listed(MANY_VALUED)}
        bound["pending_levels"] = dialect.listed(PENDING_LEVELS)
    if criteria.tags:
        conditions.append(dialect.all_tags)
        bound["tags"] = dialect.listed(criteria.tags)
    conditions += _in_time(criteria, kind, dialect, bound)
    return " AND ".join(conditions), bound


def _in_time(criteria: Filter, kind: Kind, dialect: Dialect, bound: dict[str, Any]) -> list[str]:
    """Conditions on when it happened."""
    conditions: list[str] = []
    for name, comparison, moment in (("since", ">=", criteria.since), ("until", "<", criteria.until)):
        if moment is not None:
            conditions.append(f"{HAPPENED_AT[kind]} {comparison} :{name}")
            bound[name] = dialect.time(moment)
    if criteria.after is not None:
        conditions.append(f"({HAPPENED_AT[kind]}, id) < (:after_at, :after_id)")
        bound |= position_bindings(criteria.after, dialect)
    return conditions


def _has(kind: Kind, criteria: Filter) -> bool:
    """True if the kind has what is asked for at all."""
    of_episodes = criteria.sessions, criteria.roles, criteria.speakers
    of_facts = criteria.subjects, criteria.predicates, criteria.categories, criteria.standing, criteria.notes_of
    return not (any(of_episodes) and kind != "episode") and not (any(of_facts) and kind != "fact")


def _is_valid(request: Request, kind: Kind, dialect: Dialect, bound: dict[str, Any]) -> str:
    """Live now, believed then, or either; of facts also true at a time."""
    asked = request.filter
    if kind != "fact" or asked.valid_at is None:
        return _is_believed(request, kind, dialect, bound)
    bound["valid_at"] = dialect.time(asked.valid_at)
    believed = "validity IN ('active', 'superseded')"
    if asked.as_of is not None or asked.include_inactive:
        believed = _is_believed(request, kind, dialect, bound)
    ended = "(valid_to > :valid_at OR valid_to IS NULL AND validity = 'active')"
    return f"{believed} AND {HAPPENED_AT[kind]} <= :valid_at AND {ended}"


def _is_believed(request: Request, kind: Kind, dialect: Dialect, bound: dict[str, Any]) -> str:
    """Live now, believed then, or either."""
    if request.filter.as_of is not None:
        bound["as_of"] = dialect.time(request.filter.as_of)
        return _was_believed(request, kind, dialect)
    if request.filter.include_inactive:
        return "TRUE"
    match kind:
        case "episode":
            bound["now"] = dialect.time(request.now)
            return "(expires_at IS NULL OR expires_at > :now)"
        case "fact":
            bound["now"] = dialect.time(request.now)
            return f"validity = 'active' AND {_of_period(request)}"
        case "rule":
            return f"NOT ({dialect.is_true('metadata', 'forgotten')})"


def _of_period(request: Request, *, left: str = IS_LEFT) -> str:
    """Build the condition on the period of a fact; `left` says that it is not over."""
    match request.filter.period:
        case "any":
            return "TRUE"
        case "open":
            return left
        case "current":
            return f"{left} AND {HAS_BEGUN}"


def _was_believed(request: Request, kind: Kind, dialect: Dialect) -> str:
    """Believed then; a fact whose period was not that time is left out, unless a time is asked for besides."""
    criteria = request.filter
    believed = f"created_at <= :as_of AND ({_ENDS[kind]} IS NULL OR {_ENDS[kind]} > :as_of)"
    if criteria.include_inactive:
        return believed
    believed = f"{believed} AND NOT ({dialect.is_true('metadata', 'hidden')})"
    if kind != "fact" or criteria.valid_at is not None:
        return believed
    # The end of one that was superseded became known later.
    period = _of_period(request, left=f"(validity <> 'active' OR {IS_LEFT})")
    return f"{believed} AND {period.replace(':now', ':as_of')}"
