"""Ways to search that a run sets side by side: the presets, and the default preset with one part taken away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench.retrieval import index_changes
from bench.retrieval.corpus import UnknownData
from engrain.agent.agent import Agent
from engrain.agent.wiring.usage import References
from engrain.config.tree import Settings
from engrain.retrieval import fusion, presets
from engrain.retrieval.channels import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bench.retrieval.index_changes import IndexChange
    from engrain.domain.records import MemoryRecord
    from engrain.domain.requests import Act
    from engrain.retrieval.presets import Preset
    from engrain.service import Memory

DEFAULT: str = Settings().retrieval.preset
BY_RANK = "by rank (RRF)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A ranking by its name here, and the change its index is made under."""

    name: str
    preset: Preset
    index: IndexChange = index_changes.AS_SHIPPED


def default() -> Variant:
    """The ranking of a search that names none."""
    return Variant(name=DEFAULT, preset=presets.PRESETS[DEFAULT])


def of_presets(names: Iterable[str]) -> tuple[Variant, ...]:
    """The presets of those names; "all" stands for each there is.

    Raises:
        UnknownData: a name that is no preset's.
    """
    wanted = dict.fromkeys(each for name in names for each in (presets.PRESETS if name == "all" else [name]))
    unknown = [name for name in wanted if name not in presets.PRESETS]
    if unknown:
        raise UnknownData(f"no preset is called {unknown[0]!r}; there are {', '.join(presets.PRESETS)}, and all")
    return tuple(Variant(name=name, preset=presets.PRESETS[name]) for name in wanted)


def ablations() -> tuple[Variant, ...]:
    """The default with one thing taken away: a part of its index, each channel it weighs, fusion by value."""
    whole = default().preset
    changed_indexes = [
        Variant(name=change.name, preset=replace(whole, name=change.name), index=change)
        for change in index_changes.CHANGES
    ]
    channels = [_without(whole, channel) for channel in whole.weights]
    return (*changed_indexes, *channels, Variant(name=BY_RANK, preset=_by_rank(whole)))


def agent(memory: Memory, name: str, mine: Iterable[Variant], *, now: datetime | None = None) -> Agent:
    """An agent of that memory who knows their rankings beside those that ship, and whose recalls leave no trace.

    An answer must not depend on the questions that happened to be asked before it, nor wait while they are counted. It
    asks as if it were `now`, where that is given.
    """
    shipped = memory.parts
    parts = replace(
        shipped,
        clock=shipped.clock if now is None else lambda: now,
        presets={**shipped.presets, **{each.name: each.preset for each in mine}},
        references=_Uncounted(shipped.store, shipped.workers),
    )
    return Agent(lambda: parts, memory.agent(name).caller)


class _Uncounted(References):
    """References that nobody counts."""

    def add(self, act: Act, memories: Sequence[MemoryRecord]) -> None:
        """Nothing."""


def _without(whole: Preset, channel: str) -> Variant:
    name = f"without {channel}"
    weights = {each: weight for each, weight in whole.weights.items() if each != channel}
    return Variant(name=name, preset=replace(whole, name=name, weights=weights))


def _by_rank(whole: Preset) -> Preset:
    """The lists fused by rank, a first place giving its channel's weight as it does by value.

    At 1 / 61 of it, which the formula gives, the other channels would decide alone.
    """
    first_place = fusion.RRF_K + 1
    weights = {
        channel: weight * first_place if channel in CHANNELS else weight for channel, weight in whole.weights.items()
    }
    return replace(whole, name=BY_RANK, fusion="rrf_full", weights=weights)
