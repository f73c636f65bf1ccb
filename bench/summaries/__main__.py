"""`python -m bench.summaries DATA`: how much of a reference each way to choose sentences keeps at the same tokens."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.retrieval import locomo, longmemeval
from bench.summaries import rivals
from engrain.domain.text.analysis import terms, words
from engrain.domain.text.tokens import approximate_tokens
from engrain.learning.summaries.extractive import extract
from engrain.learning.summaries.passages import Passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_TARGETS = (100, 200, 400)


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, and texts that say what a summary of it should tell."""

    turns: tuple[Passage, ...]
    references: Mapping[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the data, measure, print the table; 2 where the data is of no use."""
    parser = argparse.ArgumentParser(prog="python -m bench.summaries", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="LoCoMo's or LongMemEval's JSON file")
    parser.add_argument("--tokens", type=int, nargs="+", default=_TARGETS, metavar="N", help="lengths of the summaries")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    asked = parser.parse_args(arguments)
    try:
        sessions = list(_sessions(json.loads(asked.data.read_text(encoding="utf-8"))))
    except (OSError, ValueError) as error:
        print(f"bench.summaries: {error}", file=sys.stderr)
        return 2
    if not sessions:
        print(f"bench.summaries: {asked.data} is neither LoCoMo's nor LongMemEval's", file=sys.stderr)
        return 2
    rows = [row for tokens in asked.tokens for row in measured(sessions, tokens)]
    print(_table(rows, len(sessions)))
    if asked.json is not None:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


def measured(sessions: Sequence[Session], tokens: int) -> Iterator[dict[str, Any]]:
    """A row for each way to choose: the mean recall of each reference, and the time a summary takes."""
    for name in ("engrain", *rivals.ORDERS):
        begun = time.process_time()
        texts = [
            extract(session.turns, tokens, approximate_tokens).text
            if name == "engrain"
            else rivals.summary(session.turns, tokens, name)
            for session in sessions
        ]
        spent_ms = 1_000 * (time.process_time() - begun) / len(sessions)
        recalls: dict[str, float | None] = {}
        for reference in sessions[0].references:
            for length in (1, 2):
                found = [
                    recall(each.references[reference], text, length) for each, text in zip(sessions, texts, strict=True)
                ]
                judged = [each for each in found if each is not None]
                recalls[f"{reference} R{length}"] = statistics.fmean(judged) if judged else None
        yield {"tokens": tokens, "chosen by": name, **recalls, "ms": spent_ms}


def recall(reference: str, summary: str, length: int) -> float | None:
    """The share of a reference's terms (length 1) or pairs of words (2) that a summary has; None where it has none.

    Counted as by Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004), with our analyzer: terms are
    stems without stop words.
    """
    wanted, there = _grams(reference, length), _grams(summary, length)
    return (wanted & there).total() / wanted.total() if wanted else None


def _grams(text: str, length: int) -> Counter[tuple[str, ...]]:
    said = terms(text) if length == 1 else words(text)
    return Counter(zip(*(said[start:] for start in range(length)), strict=False))


def _sessions(samples: Any) -> Iterator[Session]:
    if locomo.recognises(samples):
        return (session for sample in samples for session in _of_locomo(sample))
    if longmemeval.recognises(samples):
        return (session for sample in samples for session in _of_longmemeval(sample))
    return iter(())


def _of_locomo(sample: Mapping[str, Any]) -> Iterator[Session]:
    """Sessions with the summary and the observations that the data set has of them."""
    for key, turns in sample["conversation"].items():
        said = sample["session_summary"].get(f"{key}_summary")
        if not isinstance(turns, list) or not said:
            continue
        observed = sample["observation"].get(f"{key}_observation", {})
        noted = " ".join(note[0] for notes in observed.values() for note in notes)
        shown = tuple(Passage(turn["text"], turn["speaker"]) for turn in turns)
        yield Session(shown, {"summary": said, "observations": noted})


def _of_longmemeval(sample: Mapping[str, Any]) -> Iterator[Session]:
    """The sessions that hold an answer, with the turns it stands in and the answer itself."""
    answers = set(sample["answer_session_ids"])
    for id_, turns in zip(sample["haystack_session_ids"], sample["haystack_sessions"], strict=True):
        evidence = " ".join(turn["content"] for turn in turns if turn.get("has_answer"))
        if id_ in answers and evidence:
            shown = tuple(Passage(turn["content"], turn["role"]) for turn in turns)
            yield Session(shown, {"evidence": evidence, "answer": str(sample["answer"])})


def _table(rows: Iterable[Mapping[str, Any]], count: int) -> str:
    listed = list(rows)
    heads = list(listed[0])
    lines = [f"{count} sessions", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in listed:
        said = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()]
        lines.append("| " + " | ".join(said) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
