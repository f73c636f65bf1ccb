"""What time does to a fact or a rule nobody confirms: it fades, recovers, or expires. Nothing is deleted by it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import Fact, Rule

if TYPE_CHECKING:
    from datetime import datetime

Standing = Literal["active", "fading", "expired"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
_FADING = ("status", "fading")


def standing(memory: Fact | Rule, now: datetime) -> Standing:
    """How it stands: `expired` stands for whatever is no longer live."""
    if not memory.is_live(now):
        return "expired"
    return "fading" if memory.metadata.get("status") == "fading" else "active"


def aged(memory: Fact | Rule, to: Standing, at: datetime) -> Fact | Rule:
    """The memory in another standing: `metadata.status` says that it fades; an expired rule is a forgotten one."""
    metadata: dict[str, Any] = {key: value for key, value in memory.metadata.items() if (key, value) != _FADING}
    match to:
        case "active":
            return replace(memory, metadata=metadata)
        case "fading":
            return replace(memory, metadata={**metadata, "status": "fading"})
        case "expired" if isinstance(memory, Fact):
            return replace(memory, metadata=metadata, validity="expired", invalidated_at=at)
        case "expired":
            return replace(memory, metadata={**metadata, "forgotten": True}, invalidated_at=at)
