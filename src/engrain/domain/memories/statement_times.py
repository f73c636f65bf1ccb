"""Statement times: when the newest of the episodes that a memory was learned from was said. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SAID_AT = "said_at"


def read_said_at(metadata: Mapping[str, Any]) -> datetime | None:
    """Read the time from the metadata of a memory; None where it was not learned from episodes."""
    try:
        moment = datetime.fromisoformat(str(metadata.get(SAID_AT)))
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC)
