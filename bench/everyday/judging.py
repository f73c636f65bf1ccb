"""Judgement of a reply by the expectations of its step. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from engrain.domain.text.tokens import approximate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.everyday.script import Aspect, Expectation

_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")  # Japanese and Chinese have no spaces between words
_SHOWN_HITS = 3
_SHOWN_CHARACTERS = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Reply of a memory to one step; an aspect that failed has its error instead."""

    hits: tuple[str, ...] = ()  # best first
    evidence: str | None = None
    evidence_score: float | None = None
    block: str = ""
    facts: tuple[str, ...] = ()  # statements
    handled: frozenset[str] = frozenset()  # labels of the memories that the result of `handle` names
    errors: Mapping[Aspect, str] = field(default_factory=dict)


def judge(expectation: Expectation, reply: Reply) -> str | None:
    """Return None where the expectation holds, else what the reply had instead."""
    error = reply.errors.get(expectation.aspect)
    if error is not None:
        return error
    return None if _CHECKS[expectation.name](expectation, reply) else _describe(expectation, reply)


def holds_text(text: str, options: Sequence[str]) -> bool:
    """True if a text has one of several texts as whole words, whatever their case and spaces.

    Words of scripts without spaces may stand anywhere. A colon before a space counts as a space: a fact may read "user
    likes: jazz" or "user likes jazz".
    """
    plain = text.replace(": ", " ")
    return any(_pattern(option).search(plain) for option in options)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in text.replace(": ", " ").split())
    if _UNSPACED.search(text):
        return re.compile(words)
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _place(texts: Sequence[str], options: Sequence[str]) -> int | None:
    """Return the place of the first text that has one of several, from 0."""
    return next((place for place, text in enumerate(texts) if holds_text(text, options)), None)


def _within(expectation: Expectation, reply: Reply, most: int) -> bool:
    return _place(reply.hits[:most], expectation.wanted) is not None


def _is_before(expectation: Expectation, reply: Reply) -> bool:
    """True if the first is among the hits, and the other nowhere before it."""
    earlier, later = _place(reply.hits, expectation.wanted), _place(reply.hits, expectation.before)
    return earlier is not None and (later is None or earlier < later)


def _count(texts: Sequence[str], expectation: Expectation) -> int:
    return sum(holds_text(text, expectation.wanted) for text in texts)


_CHECKS: Mapping[str, Callable[[Expectation, Reply], bool]] = {
    "first": lambda wanted, reply: _within(wanted, reply, 1),
    "not first": lambda wanted, reply: not _within(wanted, reply, 1),
    "top": lambda wanted, reply: _within(wanted, reply, wanted.number),
    "not top": lambda wanted, reply: not _within(wanted, reply, wanted.number),
    "not hits": lambda wanted, reply: _place(reply.hits, wanted.wanted) is None,
    "before": _is_before,
    "once": lambda wanted, reply: _count(reply.hits, wanted) == 1,
    "at most once": lambda wanted, reply: _count(reply.hits, wanted) <= 1,
    "evidence": lambda wanted, reply: reply.evidence in wanted.wanted,
    "block": lambda wanted, reply: holds_text(reply.block, wanted.wanted),
    "not block": lambda wanted, reply: not holds_text(reply.block, wanted.wanted),
    "block once": lambda wanted, reply: _count(reply.block.splitlines(), wanted) == 1,
    "block at most once": lambda wanted, reply: _count(reply.block.splitlines(), wanted) <= 1,
    "block at most": lambda wanted, reply: approximate_tokens(reply.block) <= wanted.number,
    "block empty": lambda _, reply: not reply.block.strip(),
    "has": lambda wanted, reply: _place(reply.facts, wanted.wanted) is not None,
    "has not": lambda wanted, reply: _place(reply.facts, wanted.wanted) is None,
    "count": lambda wanted, reply: len(reply.facts) == wanted.number,
    "names": lambda wanted, reply: set(wanted.wanted) <= reply.handled,
    "names not": lambda wanted, reply: not set(wanted.wanted) & reply.handled,
}


def _describe(expectation: Expectation, reply: Reply) -> str:
    """Return what a reply has in the place of what was expected."""
    match expectation.aspect:
        case "hits":
            places = [place for place, text in enumerate(reply.hits, start=1) if holds_text(text, expectation.wanted)]
            where = f"at {', '.join(map(str, places))}; " if places else ""
            shown = "; ".join(f"{place}. {_shorten(text)}" for place, text in enumerate(reply.hits[:_SHOWN_HITS], 1))
            return f"{where}{shown or 'no hits'}"
        case "evidence":
            score = "" if reply.evidence_score is None else f" ({reply.evidence_score:.2f})"
            return f"{reply.evidence}{score}"
        case "block":
            lines = [line for line in reply.block.splitlines() if holds_text(line, expectation.wanted)]
            shown = "".join(f"; {_shorten(line)}" for line in lines[:_SHOWN_HITS])
            return f"{approximate_tokens(reply.block)} tokens, {len(lines)} such lines{shown}"
        case "facts":
            return "; ".join(_shorten(fact) for fact in reply.facts) or "no facts"
        case "handled":
            return f"it names {', '.join(sorted(reply.handled)) or 'none of them'}"


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN_CHARACTERS else f"{plain[: _SHOWN_CHARACTERS - 3]}..."
