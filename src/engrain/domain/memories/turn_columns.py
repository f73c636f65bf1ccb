"""Turns of a conversation by columns: what many have in common is decided once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from engrain.domain import checks
from engrain.domain.id_columns import derive_ids
from engrain.domain.joined_texts import JoinedTexts
from engrain.domain.memories.importance import importances_of
from engrain.domain.records import Episode, Role
from engrain.domain.text.secrets import SecretPolicy, apply_policy_to_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.requests import Act

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Turns as their source has them, by columns; `metadata` is that of all."""

    sessions: Sequence[str | None]
    roles: Sequence[Role]
    speakers: Sequence[str | None]
    contents: Sequence[str]
    event_times: Sequence[datetime | None]
    source_ids: Sequence[str]
    metadata: Mapping[str, Any]


def build_episodes(turns: Turns, act: Act, *, secrets: SecretPolicy) -> list[Episode]:
    """Build the episodes of turns of the caller, whose ids are derived from what they are: the same every time.

    Raises:
        InvalidInput: one has a value that no episode can have, whichever that is.
    """
    caller, scope = act.caller, act.caller.own_scope
    contents = checks.contents(turns.contents)
    joined = JoinedTexts(contents)
    contents = apply_policy_to_all(contents, joined, secrets)
    importances = importances_of(contents, turns.roles, joined)
    sessions, speakers = _parse_names(turns.sessions, "session"), _parse_names(turns.speakers, "speaker")
    milliseconds = [0 if moment is None else (moment - _EPOCH) // _MILLISECOND for moment in turns.event_times]
    named = ["" if session is None else session for session in sessions]
    parts = (caller.tenant_id, scope, named, turns.source_ids, turns.roles, contents)
    ids = derive_ids(parts, milliseconds)
    columns = (ids, sessions, turns.roles, speakers, contents, turns.event_times, importances)
    return [
        Episode(
            id=id_,
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=scope,
            session=session,
            role=role,
            speaker=speaker,
            content=content,
            event_time=moment or act.at,
            created_at=act.at,
            importance=importance,
            metadata=turns.metadata,
        )
        for id_, session, role, speaker, content, moment, importance in zip(*columns, strict=True)
    ]


def _parse_names(values: Sequence[str | None], name: str) -> list[str | None]:
    known = {value: checks.optional_name(value, name=name) for value in set(values)}
    return [known[value] for value in values]
