"""Candidates of one query, as signals weigh them, and the gains that a signal finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from engrain.domain.memories import decay
from engrain.retrieval import speakers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from engrain.retrieval.chronology.time_expressions import Span

_MOST_COMPARED: Final = 12  # statements


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingInput:
    """All candidates of one query with their traits and their scores so far, a row for each.

    `speakers`: all speakers, for rankings that weigh them. `spans`: the times that the query names. `traits` are rows
    of `storage.search.traits.TRAITS`, and so are `echoes`, the turns that only repeat the query, which are no
    candidates.
    """

    now: datetime
    text: str
    decay: decay.DecayPolicy = decay.DecayPolicy()  # noqa: RUF009  # frozen
    speakers: Sequence[str]
    spans: Sequence[Span]
    traits: NDArray[Any]
    scores: NDArray[np.float64]
    echoes: NDArray[Any] | None = None

    @property
    def names_speaker(self) -> bool:
        """True where the query has the name of a speaker."""
        return bool(speakers.list_named(self.text, self.speakers))

    def list_best_statements(self) -> list[int]:
        """List the rows of the best statements, best first."""
        stated = np.flatnonzero(self.traits["statement"] != None)  # noqa: E711  # of each row
        best: list[int] = stated[np.argsort(-self.scores[stated], kind="stable")[:_MOST_COMPARED]].tolist()
        return best


@dataclass(frozen=True, slots=True)
class Gains:
    """Gains of the candidates by one signal: its own numbers, and their worth at a weight of 1.

    `is_given` false: it says nothing of a candidate. Without `worths` these are the numbers themselves.
    """

    raws: NDArray[np.float64]
    worths: NDArray[np.float64] | None = None
    is_given: NDArray[np.bool_] | None = field(default=None)
