"""Arguments of verbs that several modules parse: scopes, agent names, intervals, limits and presets."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from engrain import metrics
from engrain.domain import checks
from engrain.domain.access.scopes import GLOBAL_SCOPE, USER_SCOPE, is_reserved, user_of, user_scope
from engrain.domain.memories.trust import PENDING_LEVELS, TRUST_LEVELS, TrustLevel, levels_from
from engrain.domain.text.patterns import lazy_pattern
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller
    from engrain.retrieval.presets import Preset

_Value = TypeVar("_Value")
_MOMENT = timedelta(microseconds=1)
_WEEK = lazy_pattern(r"\d{4}-?W\d\d")


def parse_text(parts: Parts, content: object, *, name: str = "content") -> str:
    """Return a text that is to be stored, its secrets treated as the settings say.

    Raises:
        InvalidInput: it is empty, too long, or holds a secret that is refused.
    """
    return mask_secrets(parts, checks.content(content, name=name))


def parse_label(parts: Parts, value: object, *, name: str) -> str:
    """Return a name that a person or a model words freely, such as a subject, as it is to be stored.

    Raises:
        InvalidInput: it is empty, too long, or holds a secret that is refused.
    """
    return mask_secrets(parts, checks.name(value, name=name), is_label=True)


def stored_text(parts: Parts, text: str, *, context: str = "", is_label: bool = True) -> str:
    """Return a name or text to look up as `mask_secrets` stores it; nothing is refused, as nothing is written."""
    from engrain.domain.text.secrets import apply_policy

    is_masked = parts.settings.privacy.secrets == "mask"
    return apply_policy(text, "mask", context=context, is_label=is_label) if is_masked else text


def mask_secrets(parts: Parts, value: _Value, *, context: str = "", is_label: bool = False) -> _Value:
    """Return a text, or a value of JSON, as it is to be stored, its secrets treated as the settings say.

    `context` stands before a text and says what it is; names are labels, in which `find_secrets` takes fewer numbers.

    Raises:
        InvalidInput: it holds a secret that is refused.
    """
    from engrain.domain.text.secrets import apply_policy, apply_policy_to_value

    policy = parts.settings.privacy.secrets
    if isinstance(value, str):
        return _counted(value, cast("_Value", apply_policy(value, policy, context=context, is_label=is_label)))
    return _counted(value, cast("_Value", apply_policy_to_value(value, policy)))


def mask_fields(parts: Parts, fields: Mapping[str, Any], *, predicate: str | None = None) -> dict[str, Any]:
    """Return the fields of a memory or an entity as they are to be stored, their secrets treated as the settings say.

    `predicate` is that of a fact, where it is not among them.

    Raises:
        InvalidInput: one holds a secret that is refused.
    """
    from engrain.domain.memories.secret_fields import apply_policy_to_fields

    return _counted(dict(fields), apply_policy_to_fields(fields, parts.settings.privacy.secrets, predicate=predicate))


def _counted(value: _Value, stored: _Value) -> _Value:
    if stored is not value and stored != value:
        metrics.count("secrets_masked")
    return stored


def parse_trust(least: object, *, pending: bool = False) -> tuple[TrustLevel, ...]:
    """Return the trust levels from one on; with `pending` those of facts that wait for a confirmation; none for all.

    Raises:
        InvalidInput: it is no level, or no pending fact has it.
    """
    levels = () if least is None else levels_from(checks.choice(least, TRUST_LEVELS, name="min_trust"))
    if not pending:
        return levels
    waiting = tuple(level for level in PENDING_LEVELS if level in (levels or PENDING_LEVELS))
    if not waiting:
        raise InvalidInput(f"no pending fact has the min_trust {least!r:.80}; leave out one of the two")
    return waiting


def parse_time(value: object, *, name: str, now: datetime) -> datetime | None:
    """Return a time given as such, as ISO 8601 or in English words, which mean the beginning of what they name.

    Raises:
        InvalidInput: it is none of these.
    """
    span = _parse_words(value, now)
    return checks.moment(value, name=name) if span is None else span[0]


def parse_end(value: object, *, name: str, now: datetime, after: datetime | None = None) -> datetime | None:
    """Return a time as `parse_time` does; words mean the end of what they name, so "until yesterday" has all of it.

    With `after` a weekday, and a month or day without a year, is the first one whose end comes after it.
    """
    span = _parse_words(value, now, after=after)
    return checks.moment(value, name=name) if span is None else span[1]


def parse_point(value: object, *, name: str, now: datetime) -> datetime | None:
    """Return a time as `parse_time` does; words mean the last moment of what they name that is not to come."""
    span = _parse_words(value, now)
    if span is None:
        return checks.moment(value, name=name)
    start, end = span
    return start if start >= now else min(max(start, end - _MOMENT), now)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTimes:
    """Times that a search is narrowed by; `in_words` has those that were given in words, as they were understood."""

    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None
    in_words: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def asks_past(self) -> bool:
        """True where they ask for what was believed, or true, at another time."""
        return self.as_of is not None or self.valid_at is not None


def parse_times(now: datetime, **values: object) -> SearchTimes:
    """Return times by the names of `SearchTimes`, as `parse_time`, `parse_end` and `parse_point` read them.

    Raises:
        InvalidInput: one is no time, or `until` lies before `since`.
    """
    parsers = {"since": parse_time, "until": parse_end}
    given = {name: value for name, value in values.items() if value is not None}
    meant = {name: parsers.get(name, parse_point)(value, name=name, now=now) for name, value in given.items()}
    since, until = meant.get("since"), meant.get("until")
    if since is not None and until is not None and until < since:
        raise InvalidInput(f"until {until.isoformat()} lies before since {since.isoformat()}; exchange the two")
    named = [name for name, value in given.items() if _parse_words(value, now) is not None]
    in_words = {name: moment for name in named if (moment := meant[name]) is not None}
    return SearchTimes(
        since=since,
        until=until,
        as_of=meant.get("as_of"),
        valid_at=meant.get("valid_at"),
        in_words=in_words,
    )


def _parse_words(value: object, now: datetime, *, after: datetime | None = None) -> tuple[datetime, datetime] | None:
    """Return the beginning and end of a time in words; None for what is no such text."""
    if not isinstance(value, str) or _is_in_digits(value):
        return None
    from engrain.retrieval.chronology.time_expressions import parse_span

    span = parse_span(value, now, after=after)
    return None if span is None else (span.start.astimezone(UTC), span.end.astimezone(UTC))


def _is_in_digits(text: str) -> bool:
    """True for a day or moment in ISO 8601; the week "2026-W12" is no day."""
    with suppress(ValueError):
        datetime.fromisoformat(text.strip())
        return not _WEEK.fullmatch(text.strip())
    return False


def parse_interval(valid_from: object, valid_to: object, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the two times between which a fact is true, given as `parse_time` and `parse_end` take them.

    "Friday", "May" or "1 May" as an end is the first one after the beginning; without a beginning, after now.

    Raises:
        InvalidInput: one of them is no time, or it ends before it begins.
    """
    start = parse_time(valid_from, name="valid_from", now=now)
    end = parse_end(valid_to, name="valid_to", now=now, after=start or now)
    check_interval(start, end)
    return start, end


def check_interval(start: datetime | None, end: datetime | None) -> None:
    """Check the two times between which a fact is true.

    Raises:
        InvalidInput: it ends before it begins.
    """
    if start is not None and end is not None and end < start:
        raise InvalidInput(f"valid_to {end:%Y-%m-%d} lies before valid_from {start:%Y-%m-%d}")


def parse_agent(value: object, *, name: str = "agent") -> str:
    """Return the name of an agent, which is that of its own scope, so no other scope's.

    Raises:
        InvalidInput: it is the name of another scope, or would be cleaned to another's.
    """
    agent = checks.identity(value, name=name)
    if is_reserved(agent):
        raise InvalidInput(f"{name} {agent!r:.80} is the name of a scope; agents have other names")
    return agent


def parse_scope(caller: Caller, value: object) -> str:
    """Return the scope that a caller means, None for its default.

    Acting for a user, the agent's own name and pools mean those of this user, "user" all agents that act for this user,
    and "global" everybody, which a caller that is bound to a user may not write to.

    Raises:
        InvalidInput: no name, or everybody's where the caller is bound to a user.
    """
    scope = checks.optional_name(value, name="scope")
    if scope is None:
        return caller.own_scope
    if caller.user is None or user_of(scope) is not None:
        return scope
    if scope == USER_SCOPE:
        return caller.shared_scope
    return GLOBAL_SCOPE if scope == GLOBAL_SCOPE else user_scope(caller.user, scope)


def parse_reading(caller: Caller, value: object) -> tuple[str, ...]:
    """Return the scopes that a search in one scope looks at: everybody's and that one, and the same of the user."""
    scope = checks.name(value, name="scope")
    if caller.user is None:
        return (GLOBAL_SCOPE, scope)
    named = () if scope == USER_SCOPE else (scope,)
    return tuple(dict.fromkeys((GLOBAL_SCOPE, *named, caller.shared_scope, parse_scope(caller, scope))))


def check_reading(caller: Caller, scope: str) -> str:
    """Return a scope to read in as rows name it, once it is one that the caller sees, its pools known.

    Raises:
        InvalidInput: it is none of those.
    """
    if scope == USER_SCOPE and caller.user is not None:
        return caller.shared_scope
    return checks.choice(scope, caller.scopes, name="scope")


def parse_limit(parts: Parts, limit: int | None) -> int:
    """Return the number of results to give, None for the settings' number.

    Raises:
        InvalidInput: no whole number, or more than the settings allow.
    """
    chosen = parts.settings.retrieval
    return chosen.limit if limit is None else checks.count(limit, name="limit", high=chosen.max_limit)


def find_preset(parts: Parts, name: str | None) -> Preset:
    """Return the ranking of that name, None for the settings' choice.

    Raises:
        InvalidInput: with the known names.
    """
    from engrain.retrieval import presets

    return presets.find_preset(parts.settings.retrieval.preset if name is None else name, parts.presets)
