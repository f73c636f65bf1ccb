"""Prompts that are no question by themselves: beside pasted logs and code, or after another one. Pure."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from engrain.domain.text.analysis import has_unspaced, terms
from engrain.domain.text.dialogue.questions import is_question, question_share, split_sentences
from engrain.domain.text.patterns import lazy_pattern
from engrain.domain.text.small_talk import is_small_talk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_CHARACTERS: Final = 1_000  # about the 256 tokens that the embedder in the package reads of a text
_MOST_IN_PARAGRAPH, _SHORT_PARAGRAPH = 500, 200
_MOST_READ: Final = 20_000  # characters at each end
# Fewer terms ask about nothing by name, where they point at what stands beside them: "Can you reply to this?"
_LEAST_TERMS, _LEAST_POINTING = 2, 4
_POINTING = lazy_pattern(
    r"\b(?:this|these|that|those|it|here|below|above|following|attached|dies\w*|das|hier|est[aeo]s?"
    r"|ceci|cela|\u00e7a|ce|cette|quest[aeio]|ist[ao]|isso)\b",
    re.IGNORECASE,
)
_LEAST_PROSE, _LEAST_WORDS = 0.8, 4

# Letters with the punctuation around them: of prose most words, of a log or code few.
_WORD = lazy_pattern(
    r"[\"'(\u201c\u2018\u00ab*_]*[^\W\d_]+(?:['\u2019-][^\W\d_]+)*[\"')\u201d\u2019\u00bb*_.,;:!?\u2026]*"
)
_SENTENCE_ENDS = (".", "!", "?", "\u2026", "\u3002", "\uff1f", "\uff01", "\u061f", "\u0964")
_FENCES, _NO_PROSE = ("```", "~~~"), (">", "|", "$", "#!", "//", "/*", "<", "{", "}", "@@", "+++", "---", "Traceback ")

_LONGEST_FOLLOW_UP: Final = 100  # characters
_FOLLOWS = lazy_pattern(
    r"^\W*(?:and|or|but|what about|how about|und|oder|was ist mit|y|\u00bfy|et|e|mais|ma|mas)\b"
    r"|\b(?:he|him|his|she|hers?|they|them|theirs?|that|those|ones?|(?<!time is )(?<!day is )it(?! going)|its"
    r"|er|ihn|ihm|ihre?[mnr]?|\u00e9l|ella|ellos|ellas|elle|ils|elles|lui|lei|loro|ele|ela|eles|elas)\b",
    re.IGNORECASE,
)

_WORK = lazy_pattern(
    r"\W*(?:please\W+)?(?:(?:can|could|would|will) you (?:please )?"
    r"(?!remind|tell|say|remember|recall|check|look|find|list)|tell me (?:a|an|another|some)\b)",
    re.IGNORECASE,
)


def asks_for_work(prompt: str) -> bool:
    """True for a question that has something made, and asks nothing: "Can you write me a haiku about rain?"."""
    return _WORK.match(prompt) is not None


def is_follow_up(prompt: str) -> bool:
    """True for a short question that goes on from another, or has a pronoun for what it is about: "How old is she?"."""
    if len(prompt) > _LONGEST_FOLLOW_UP or _FOLLOWS.search(prompt) is None:
        return False
    return is_question(prompt) and not is_small_talk(prompt)


def extract_question(prompt: str) -> str:
    """Extract what a prompt asks, as a search needs it: 1,000 characters of its own sentences at most.

    These are its first and its last paragraph of prose, as far as they ask or are short, and one between that asks
    where those do not. Where they ask about nothing by name ("Can you reply to this?") the beginning of the rest
    counts, and of a prompt without prose its beginning and its end.
    """
    read = prompt if len(prompt) <= 2 * _MOST_READ else f"{prompt[:_MOST_READ]}\n\n{prompt[-_MOST_READ:]}"
    paragraphs = list(_split_prose(read))
    own = _choose_asking(paragraphs)
    question = "\n".join(map(_shorten, own))
    least = _LEAST_TERMS if _POINTING.search(question) is None else _LEAST_POINTING
    if len(set(terms(question))) >= least:
        return question
    if len(prompt) <= _MOST_CHARACTERS:
        return prompt
    half = (_MOST_CHARACTERS - len(question)) // 2 - 1
    rest = " ".join(paragraph for paragraph in paragraphs if paragraph not in own) or f"{read[:half]}\n{read[-half:]}"
    return f"{question}\n{rest}".strip()[:_MOST_CHARACTERS]


def _split_prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of prose, each in one line; a blank line or one of something else ends a paragraph."""
    lines = [line.strip() for line in _drop_fenced(text.splitlines())]
    for is_prose, group in groupby(lines, key=_is_prose):
        if is_prose:
            yield " ".join(group)


def _drop_fenced(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines outside of fences; a fence that is never closed encloses nothing."""
    count = sum(line.lstrip().startswith(_FENCES) for line in lines)
    is_fenced = False
    for line in lines:
        if line.lstrip().startswith(_FENCES):
            count -= 1
            is_fenced = not is_fenced and count > 0
            yield ""
        elif not is_fenced:
            yield line


def _is_prose(line: str) -> bool:
    """True for a line of sentences, not of a log, of code or of data."""
    if not line or line.startswith(_NO_PROSE):
        return False
    if not line.isascii() and has_unspaced(line):
        return sum(map(str.isalnum, line)) >= _LEAST_PROSE * len(line)
    words = line.split()
    if len(words) < _LEAST_WORDS and not line.endswith(_SENTENCE_ENDS):
        return False
    return sum(_WORD.fullmatch(word) is not None for word in words) >= _LEAST_PROSE * len(words)


def _choose_asking(paragraphs: Sequence[str]) -> Sequence[str]:
    """Choose the paragraphs that ask: at the ends, else between; both ends where none does, and all of few words."""
    if sum(map(len, paragraphs)) <= _MOST_IN_PARAGRAPH:
        return paragraphs
    ends = [*paragraphs[:1], *paragraphs[1:][-1:]]
    if any(map(question_share, ends)):
        return [text for text in ends if len(text) <= _SHORT_PARAGRAPH or question_share(text) > 0]
    between = [text for text in paragraphs if len(text) <= _SHORT_PARAGRAPH and question_share(text) > 0]
    return between[-1:] or ends


def _shorten(paragraph: str) -> str:
    """Shorten a paragraph: its sentences that ask, and the first of the others that there is room for."""
    if len(paragraph) <= _MOST_IN_PARAGRAPH:
        return paragraph
    sentences = split_sentences(paragraph)
    left, chosen = _MOST_IN_PARAGRAPH, set[int]()
    for index in sorted(range(len(sentences)), key=lambda index: question_share(sentences[index]) == 0):
        if len(sentences[index]) <= left:
            chosen.add(index)
            left -= len(sentences[index])
    kept = " ".join(sentences[index] for index in sorted(chosen))
    return kept or paragraph[:_MOST_IN_PARAGRAPH]
