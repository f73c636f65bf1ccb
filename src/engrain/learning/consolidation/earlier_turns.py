"""Earlier turns of the sessions of a batch: loaded to be read before it, and not to be quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.domain.records import Episode
from engrain.learning.consolidation.prompt import EarlierTurns, SessionContext
from engrain.storage.selection import select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engrain.storage.unit_of_work import Snapshot

# Recaps of sessions, by their scope and name.
Recaps = dict[tuple[str, str], str]

MOST_TURNS, _MOST_SESSIONS = 5, 3
_OF_SESSION = "tenant_id = :tenant_id AND scope = :scope AND session = :session"
_IS_LIVE = "(expires_at IS NULL OR expires_at > :now)"
_BY_SESSION = "INDEXED BY episodes_session"


def load_session_context(
    snapshot: Snapshot, episodes: Sequence[Episode], recaps: Mapping[tuple[str, str], str], now: datetime
) -> SessionContext:
    """Load up to 5 turns before the batch in each of its first 3 sessions, with their recaps.

    Costs a statement for each of those sessions that begins before the batch, and one that asks whether the last one
    goes on after it.
    """
    first: dict[tuple[str, str], Episode] = {}
    for episode in episodes:
        if episode.session is not None:
            first.setdefault((episode.scope, episode.session), episode)
    earlier = [
        EarlierTurns(session=name[1], turns=_load_before(snapshot, episode, now), recap=recaps.get(name))
        for name, episode in [*first.items()][:_MOST_SESSIONS]
        if episode.turn > 1
    ]
    return SessionContext(
        earlier=tuple(found for found in earlier if found.turns), is_cut=_goes_on(snapshot, episodes[-1], now)
    )


def _load_before(snapshot: Snapshot, episode: Episode, now: datetime) -> tuple[Episode, ...]:
    """Load the live turns before an episode in its session, in their order."""
    condition = f"{_OF_SESSION} AND turn < :turn AND {_IS_LIVE}"
    order = f"ORDER BY turn DESC LIMIT {MOST_TURNS}"
    found = select(snapshot, "episode", condition, _bind(snapshot, episode, now), order=order, by=_BY_SESSION)
    return tuple(turn for _, turn in reversed(found) if isinstance(turn, Episode))


def _goes_on(snapshot: Snapshot, episode: Episode, now: datetime) -> bool:
    """Tell whether a later turn of the session waits for another batch."""
    if episode.session is None:
        return False
    waits = f"{_OF_SESSION} AND turn > :turn AND {_IS_LIVE} AND consolidation_status = 'pending'"
    return bool(
        select(snapshot, "episode", waits, _bind(snapshot, episode, now), order="ORDER BY turn LIMIT 1", by=_BY_SESSION)
    )


def _bind(snapshot: Snapshot, episode: Episode, now: datetime) -> dict[str, Any]:
    return {
        "tenant_id": snapshot.tenant_id,
        "scope": episode.scope,
        "session": episode.session,
        "turn": episode.turn,
        "now": snapshot.dialect.time(now),
    }
