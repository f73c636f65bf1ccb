"""Turns of a conversation by columns: what many have in common is decided once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from engrain.domain import checks
from engrain.domain.id_columns import derive_ids
from engrain.domain.joined_texts import JoinedTexts
from engrain.domain.memories.importance import importances_of
from engrain.domain.memories.trust import TRUST, lowest_trust, read_trust, with_trust
from engrain.domain.records import Episode, Role
from engrain.domain.text.secrets import SecretPolicy, apply_policy_to_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.requests import Act

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_COLUMNS = {
    "id": "ids",
    "session": "sessions",
    "role": "roles",
    "speaker": "speakers",
    "content": "contents",
    "event_time": "event_times",
    "importance": "importances",
}


class Turns(NamedTuple):
    """Turns as their source has them, by columns; `metadata` is that of all."""

    sessions: Sequence[str | None]
    roles: Sequence[Role]
    speakers: Sequence[str | None]
    contents: Sequence[str]
    event_times: Sequence[datetime | None]
    source_ids: Sequence[str]
    metadata: Mapping[str, Any]


class NewTurns(NamedTuple):
    """New turns of one caller in its own scope, by columns; `metadata` is that of all."""

    act: Act
    ids: Sequence[str]
    sessions: Sequence[str | None]
    roles: Sequence[Role]
    speakers: Sequence[str | None]
    contents: Sequence[str]
    event_times: Sequence[datetime]
    importances: Sequence[float]
    metadata: Mapping[str, Any]

    @property
    def scope(self) -> str:
        return self.act.caller.own_scope

    @property
    def columns(self) -> dict[str, Sequence[Any]]:
        """Return what differs from turn to turn, by the names of the fields of an episode."""
        return {name: getattr(self, column) for name, column in _COLUMNS.items()}

    def choose(self, positions: Sequence[int]) -> NewTurns:
        """Return the turns at some positions."""
        chosen: dict[str, Any] = {
            column: [getattr(self, column)[position] for position in positions] for column in _COLUMNS.values()
        }
        return self._replace(**chosen)

    def build(self, numbers: Sequence[int]) -> list[Episode]:
        """Build the episodes, with their numbers in their sessions."""
        caller, columns = self.act.caller, {**self.columns, "turn": numbers}
        same: dict[str, Any] = {
            "tenant_id": caller.tenant_id,
            "agent": caller.agent,
            "scope": self.scope,
            "created_at": self.act.at,
            "metadata": self.metadata,
        }
        rows = zip(*columns.values(), strict=True)
        return [Episode(**same, **dict(zip(columns, row, strict=True))) for row in rows]


def prepare_turns(turns: Turns, act: Act, *, secrets: SecretPolicy) -> NewTurns:
    """Prepare turns of the caller for storage; their ids are derived from what they are: the same every time.

    Raises:
        InvalidInput: one has a value that no episode can have, whichever that is.
    """
    caller = act.caller
    contents = checks.contents(turns.contents)
    joined = JoinedTexts(contents)
    contents = apply_policy_to_all(contents, joined, secrets)
    sessions, speakers = _parse_names(turns.sessions, "session"), _parse_names(turns.speakers, "speaker")
    milliseconds = [0 if moment is None else (moment - _EPOCH) // _MILLISECOND for moment in turns.event_times]
    named = ["" if session is None else session for session in sessions]
    parts = (caller.tenant_id, caller.own_scope, named, turns.source_ids, turns.roles, contents)
    return NewTurns(
        act=act,
        ids=derive_ids(parts, milliseconds),
        sessions=sessions,
        roles=turns.roles,
        speakers=speakers,
        contents=contents,
        event_times=[moment or act.at for moment in turns.event_times],
        importances=importances_of(contents, turns.roles, joined),
        metadata=turns.metadata,
    )


def import_metadata(metadata: object) -> Mapping[str, Any]:
    """Return the metadata of a memory that is trusted as what a file says, or less if it says so itself.

    Raises:
        InvalidInput: these are no metadata.
    """
    if metadata == {}:
        return {TRUST: "import"}
    checked = checks.metadata(metadata)
    if TRUST not in checked:
        return {**checked, TRUST: "import"}
    return with_trust(checked, lowest_trust(("import", read_trust(checked))))


def _parse_names(values: Sequence[str | None], name: str) -> list[str | None]:
    known = {value: checks.optional_name(value, name=name) for value in set(values)}
    return [known[value] for value in values]
