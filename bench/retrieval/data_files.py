"""Files of the data sets: their formats, and the part of a corpus that is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench.retrieval import locomo, longmemeval
from bench.retrieval.corpus import Conversation, Corpus, UnknownData

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

FORMATS: Mapping[str, tuple[Callable[[object], bool], Callable[[Any], Corpus]]] = {
    "locomo": (locomo.recognises, locomo.load),
    "longmemeval": (longmemeval.recognises, longmemeval.load),
}


def load_corpus(path: Path, format_name: str = "auto") -> Corpus:
    """The corpus of a file.

    Raises:
        UnknownData: it is no JSON, or of no format that is known.
    """
    try:
        samples = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnknownData(f"{path} is not JSON: {error}") from error
    for name, (recognises, load) in FORMATS.items():
        if format_name in ("auto", name) and recognises(samples):
            return load(samples)
    expected = "LoCoMo's list of samples or LongMemEval's list of questions" if format_name == "auto" else format_name
    raise UnknownData(f"{path} is not {expected}")


def narrow(corpus: Corpus, numbers: Sequence[int] | None, most: int | None) -> Corpus:
    """The corpus with those conversations alone, and its first questions; a conversation nobody asks of is left out."""
    kept: list[Conversation] = []
    left = most
    for number, conversation in enumerate(corpus.conversations, start=1):
        if numbers is None or number in numbers:
            questions = conversation.questions[:left]
            left = None if left is None else left - len(questions)
            if questions:
                kept.append(replace(conversation, questions=questions))
    if not kept:
        raise UnknownData(f"no question is left to ask: the data has {len(corpus.conversations)} conversations")
    return replace(corpus, conversations=tuple(kept))


def drop_apart(corpus: Corpus) -> Corpus:
    """The corpus without the questions apart: differences are of the others, and every variant costs time."""
    kept = [
        replace(
            conversation, questions=tuple(one for one in conversation.questions if one.category not in corpus.apart)
        )
        for conversation in corpus.conversations
    ]
    if not any(each.questions for each in kept):
        raise UnknownData("every question left is of a category apart, which is not asked here")
    return replace(corpus, conversations=tuple(each for each in kept if each.questions))
