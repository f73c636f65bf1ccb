"""Calibration of evidence: scores for questions of this conversation against those of others.

Three groups for each conversation: its own questions, its adversarial ones (the categories apart), and the questions of
the conversation after it, which is about other people.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from bench.retrieval import variants

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.retrieval.corpus import Corpus
    from bench.retrieval.runner import Say
    from engrain import Answer, Memory

Group: TypeAlias = Literal["own", "adversarial", "foreign"]
GROUPS: tuple[Group, ...] = ("own", "adversarial", "foreign")
LEVELS = ("none", "weak", "strong")
_NAME, _CELL = 14, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One answer: the group of its question, its score, and the level it names where it names one."""

    group: Group
    score: float
    level: str | None


def score(answer: Answer) -> float:
    """The evidence score of an answer; the score of its best hit where it has none."""
    if answer.evidence_score is not None:
        return answer.evidence_score
    return answer[0].score if len(answer) else 0.0


def select_questions(corpus: Corpus, group: Group, place: int) -> tuple[str, ...]:
    """The questions of a group for the conversation at that place; of its own neighbour none."""
    conversations = corpus.conversations
    here, after = conversations[place], conversations[(place + 1) % len(conversations)]
    source = after if group == "foreign" else here
    if group == "foreign" and source is here:
        return ()
    wants_apart = group == "adversarial"
    return tuple(question.text for question in source.questions if (question.category in corpus.apart) is wants_apart)


def judge(memory: Memory, corpus: Corpus, say: Say) -> tuple[Judged, ...]:
    """Every group's questions, asked of every conversation."""
    judged = []
    for at, conversation in enumerate(corpus.conversations):
        agent = variants.agent(memory, conversation.name, [], now=conversation.now)
        for group in GROUPS:
            for text in select_questions(corpus, group, at):
                answer = agent.recall(text)
                judged.append(Judged(group=group, score=score(answer), level=answer.evidence))
        say(f"asked {len(judged)} questions of three groups")
    return tuple(judged)


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The share of pairs in which the positive is larger; equals count half.

    The area under the ROC curve: Hanley and McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve" (Radiology 143, 1982).

    Raises:
        ValueError: a side is empty.
    """
    if not len(positive) or not len(negative):
        raise ValueError("an AUC needs scores on both sides")
    below = np.searchsorted(np.sort(negative), positive, side="left")
    not_above = np.searchsorted(np.sort(negative), positive, side="right")
    return float((below + not_above).sum() / (2 * len(positive) * len(negative)))


def aucs(judged: Sequence[Judged]) -> dict[str, float | None]:
    """Own questions against each other group; None where one of them is empty."""
    own = [each.score for each in judged if each.group == "own"]
    others = {group: [each.score for each in judged if each.group == group] for group in GROUPS[1:]}
    return {group: auc(own, scores) if own and scores else None for group, scores in others.items()}


def as_json(judged: Sequence[Judged]) -> dict[str, object]:
    """`{"auc": {group: area}, "levels": {group: {level: answers}}}`; no levels where answers name none."""
    return {"auc": aucs(judged), "levels": {group: dict(counts) for group, counts in _levels(judged).items() if counts}}


def table(judged: Sequence[Judged]) -> str:
    """The areas, then how many answers of each group name each level."""
    return "\n".join(_lines(judged))


def _lines(judged: Sequence[Judged]) -> Iterator[str]:
    yield f"{'':<{_NAME}}{'asked':>{_CELL}}{'median':>{_CELL}}{'AUC of own':>{_CELL + 2}}"
    areas = aucs(judged)
    for group in GROUPS:
        scores = [each.score for each in judged if each.group == group]
        middle = f"{float(np.median(scores)):.3f}" if scores else "-"
        area = areas.get(group)
        shown = "" if area is None else f"{area:.3f}"
        yield f"{group:<{_NAME}}{len(scores):>{_CELL}}{middle:>{_CELL}}{shown:>{_CELL + 2}}".rstrip()
    levels = _levels(judged)
    if any(levels.values()):
        yield ""
        yield f"{'share of':<{_NAME}}" + "".join(f"{level:>{_CELL}}" for level in LEVELS)
        for group, counts in levels.items():
            total = max(1, counts.total())
            yield f"{group:<{_NAME}}" + "".join(f"{counts[level] / total:>{_CELL}.3f}" for level in LEVELS)


def _levels(judged: Sequence[Judged]) -> dict[Group, Counter[str]]:
    return {
        group: Counter(each.level for each in judged if each.group == group and each.level is not None)
        for group in GROUPS
    }
