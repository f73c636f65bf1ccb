"""Recall of evidence in context blocks by budget, beside the same budget filled in plainer ways."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from bench.retrieval import variants
from engrain import Episode
from engrain.context.assembly import build
from engrain.context.entries import BlockSources
from engrain.context.recipes import ENGRAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bench.retrieval.corpus import Corpus, Place, Question
    from bench.retrieval.runner import Say
    from engrain import Agent, Memory
    from engrain.context.block import ContextBlock

_PLAIN = replace(ENGRAIN, length_price=0.0)
_NAME, _CELL = 30, 9
# More turns than a budget of 10,000 tokens holds.
_MOST = 300

Fill: TypeAlias = "Callable[[Agent, Question], Callable[[int], ContextBlock]]"
"""How budgets are filled for a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """One question's evidence in one block: the share of it, and how many memories stand there."""

    fill: str
    budget: int
    category: str
    recall: float
    memories: int


def fills() -> Mapping[str, Fill]:
    """The agent's own block; the same lines by vectors alone; the same lines of the newest turns."""
    return {"engrain": _context, "vectors alone": _by_vectors, "last turns": _last}


def judge(memory: Memory, corpus: Corpus, budgets: Sequence[int], say: Say) -> tuple[Filled, ...]:
    """Every question that has evidence, by every fill and budget."""
    judged: list[Filled] = []
    for conversation in corpus.conversations:
        agent = variants.agent(memory, conversation.name, [], now=conversation.now)
        for question in conversation.questions:
            if question.gold_turns:
                judged.extend(_filled(agent, question, budgets))
        say(f"asked {len(judged) // (len(budgets) * len(fills()))} questions")
    return tuple(judged)


def standing(block: ContextBlock, learned_from: Mapping[str, frozenset[Place]] | None = None) -> frozenset[Place]:
    """The turns that stand in a block whole, and those of `learned_from`, by the id of a fact that does."""
    turns: set[Place] = set()
    for memory in block.memories:
        if memory.id in block.clipped:
            continue
        if isinstance(memory, Episode) and memory.session is not None:
            turns.add((memory.session, memory.turn))
        elif learned_from is not None:
            turns |= learned_from.get(memory.id, frozenset())
    return frozenset(turns)


def as_json(judged: Sequence[Filled]) -> dict[str, object]:
    """`{fill: {budget: {"recall": ..., "recall_all": ..., "memories": ..., "categories": ...}}}`."""
    return {
        fill: {
            str(budget): {
                **_figures(_of(judged, fill, budget)),
                "categories": {
                    category: _figures([each for each in _of(judged, fill, budget) if each.category == category])
                    for category in sorted({each.category for each in judged})
                },
            }
            for budget in _budgets(judged)
        }
        for fill in fills()
    }


def table(judged: Sequence[Filled]) -> str:
    """Recall by fill and budget; then recall_all, the memories of a block, and the default's recall by category."""
    return "\n".join(_lines(judged))


def _lines(judged: Sequence[Filled]) -> Iterator[str]:
    budgets = _budgets(judged)
    for figure in ("recall", "recall_all", "memories"):
        yield f"{figure:<{_NAME}}" + "".join(f"{budget:>{_CELL},}" for budget in budgets)
        for fill in fills():
            found = [_figures(_of(judged, fill, budget))[figure] for budget in budgets]
            yield f"{fill:<{_NAME}}" + "".join(f"{each:>{_CELL}.{3 if 'recall' in figure else 1}f}" for each in found)
        yield ""
    yield f"{'recall, engrain':<{_NAME}}" + "".join(f"{budget:>{_CELL},}" for budget in budgets)
    for category in sorted({each.category for each in judged}):
        here = [[each for each in _of(judged, "engrain", budget) if each.category == category] for budget in budgets]
        counted = f"{category}, {len(here[0])}"
        yield f"{counted:<{_NAME}}" + "".join(f"{_figures(each)['recall']:>{_CELL}.3f}" for each in here)


def _filled(agent: Agent, question: Question, budgets: Sequence[int]) -> Iterator[Filled]:
    for name, fill in fills().items():
        filling = fill(agent, question)
        for budget in budgets:
            block = filling(budget)
            yield Filled(
                fill=name,
                budget=budget,
                category=question.category,
                recall=len(standing(block) & question.gold_turns) / len(question.gold_turns),
                memories=len(block.memories),
            )


def _context(agent: Agent, question: Question) -> Callable[[int], ContextBlock]:
    return lambda budget: agent.context(question.text, budget_tokens=budget)


def _by_vectors(agent: Agent, question: Question) -> Callable[[int], ContextBlock]:
    hits = agent.recall(question.text, limit=ENGRAIN.candidates, preset="semantic").hits
    return lambda budget: build(BlockSources(hits=hits), budget_tokens=budget, recipe=_PLAIN)


def _last(agent: Agent, question: Question) -> Callable[[int], ContextBlock]:
    hits = agent.recall(question.text, limit=_MOST, preset="recency").hits
    return lambda budget: build(BlockSources(hits=hits), budget_tokens=budget, recipe=_PLAIN)


def _of(judged: Sequence[Filled], fill: str, budget: int) -> list[Filled]:
    return [each for each in judged if each.fill == fill and each.budget == budget]


def _budgets(judged: Sequence[Filled]) -> list[int]:
    return sorted({each.budget for each in judged})


def _figures(filled: Sequence[Filled]) -> dict[str, float]:
    count = max(1, len(filled))
    return {
        "questions": len(filled),
        "recall": math.fsum(each.recall for each in filled) / count,
        "recall_all": sum(each.recall == 1 for each in filled) / count,
        "memories": sum(each.memories for each in filled) / count,
    }
