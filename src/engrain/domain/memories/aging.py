"""What time does to a fact or a rule nobody confirms: it fades, recovers, or expires. Nothing is deleted by it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from engrain.domain.records import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engrain.domain.records import Rule

AgingKind = Literal["fact", "rule"]
Standing = Literal["active", "fading", "expired"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
_FADING = ("status", "fading")


def standing(memory: Fact | Rule, now: datetime) -> Standing:
    """How it stands: `expired` stands for whatever is no longer live."""
    if not memory.is_live(now):
        return "expired"
    return "fading" if memory.metadata.get("status") == "fading" else "active"


def with_standing(memory: Fact | Rule, to: Standing, at: datetime) -> Fact | Rule:
    """The memory in another standing."""
    metadata = standing_metadata(memory.metadata, "fact" if isinstance(memory, Fact) else "rule", to)
    if to != "expired":
        return replace(memory, metadata=metadata)
    if isinstance(memory, Fact):
        return replace(memory, metadata=metadata, validity="expired", invalidated_at=at)
    return replace(memory, metadata=metadata, invalidated_at=at)


def standing_metadata(metadata: Mapping[str, Any], kind: AgingKind, to: Standing) -> dict[str, Any]:
    """The metadata of a fact or rule in another standing: `status` says that it fades, `forgotten` that a rule did."""
    without = {key: value for key, value in metadata.items() if (key, value) != _FADING}
    match to:
        case "fading":
            return {**without, "status": "fading"}
        case "expired" if kind == "rule":
            return {**without, "forgotten": True}
        case _:
            return without
