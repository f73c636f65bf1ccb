"""Episodes from turns: the arguments of a turn parsed, once, for every verb that takes one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from engrain.agent.wiring.acts import new_id
from engrain.agent.wiring.arguments import mask_secrets, parse_label, parse_time
from engrain.domain import checks
from engrain.domain.memories import importance as estimates
from engrain.domain.records import ROLES, Caller, Episode, make_episode
from engrain.domain.text.secrets import may_hold_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engrain.agent.wiring.parts import Parts

MOST_TOKENS = 1_000_000_000


def new_episode(  # what a turn is made of
    parts: Parts,
    caller: Caller,
    *,
    at: datetime,
    content: object,
    role: object = "user",
    speaker: object = None,
    session: object = None,
    event_time: object = None,
    importance: object = None,
    ttl_days: object = None,
    tokens: object = None,
    model: object = None,
    tool_calls: Iterable[Any] | None = None,
    tags: Iterable[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
) -> Episode:
    """Return the episode that `Agent.observe` stores, made at `at`, not stored yet.

    Raises:
        InvalidInput: a value is refused.
    """
    lifetime = parts.settings.episodes.ttl_days
    if ttl_days is not None:
        lifetime = checks.number(ttl_days, name="ttl_days", low=0, high=36_500)
    parsed_role = checks.choice(role, ROLES, name="role")
    text = checks.content(content)
    if may_hold_secret(text):
        text = mask_secrets(parts, text)
    return make_episode(
        id=parts.ids() if idempotency_key is None else new_id(parts, caller, idempotency_key),
        tenant_id=caller.tenant_id,
        agent=caller.agent,
        scope=caller.own_scope,
        session=caller.session if session is None else checks.name(session, name="session"),
        role=parsed_role,
        speaker=None if speaker is None else checks.name(speaker, name="speaker"),
        content=text,
        event_time=at if event_time is None else _parse_event_time(event_time, at),
        created_at=at,
        expires_at=None if lifetime is None else at + timedelta(days=lifetime),
        importance=estimates.importance_of(text, role=parsed_role)
        if importance is None
        else _parse_importance(importance),
        tokens=None if tokens is None else checks.count(tokens, name="tokens", high=MOST_TOKENS),
        model=None if model is None else parse_label(parts, model, name="model"),
        tool_calls=() if tool_calls is None else mask_secrets(parts, checks.json_values(tool_calls, name="tool_calls")),
        tags=() if tags is None else checks.names(tags, name="tag"),
        metadata={} if metadata is None else mask_secrets(parts, checks.host_metadata(metadata)),
    )


def _parse_event_time(value: object, at: datetime) -> datetime:
    if isinstance(value, datetime):  # as `parse_time` takes it
        return value if value.tzinfo is UTC else checks.moment(value, name="event_time") or at
    return parse_time(value, name="event_time", now=at) or at


def parse_importance(importance: object, text: str) -> float:
    """Return the importance that a caller gives, or else estimate it from the words."""
    return estimates.importance_of(text) if importance is None else _parse_importance(importance)


def _parse_importance(value: object) -> float:
    return checks.number(value, name="importance", low=0, high=10)
