"""Additions: the messages of a chat that were stored, and what was learned from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from engrain.domain.records import Degraded, Episode, Fact, Record, Rule

LearningTime = Literal["now", "background", "later"]
LEARNING_TIMES: tuple[LearningTime, ...] = get_args(LearningTime)
Learning = Literal["done", "waiting", "background", "later", "no_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedMessages(Record):
    """The result of adding messages.

    Attributes:
        episodes: the messages as they are stored, in their order.
        learning: done; waiting (a failure, or another run has the agent: they are tried again); background; later
            (nothing was asked); no_model (no language model is configured).
        learned: facts and rules that were stored or confirmed, as they are now.
        run_ids: of the runs that wrote, for `undo`, which takes the user from whom a run learned.
        failures: batches and actions that were not done, with the reason.
    """

    episodes: tuple[Episode, ...]
    learning: Learning
    learned: tuple[Fact | Rule, ...] = ()
    run_ids: tuple[str, ...] = ()
    failures: tuple[Degraded, ...] = ()
