"""LongMemEval's questions, each with a haystack of chats of its own: https://github.com/xiaowu0162/LongMemEval.

Ids are kept out of everything a search can see: those of evidence sessions start with "answer_".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bench.retrieval.corpus import Conversation, Corpus, Question, Turn, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ABSTENTION = "abstention"
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})\s*(?:\(\w+\))?\s*(\d{2}):(\d{2})")


def recognises(samples: object) -> bool:
    """True for the JSON of a LongMemEval file."""
    return (
        isinstance(samples, list)
        and bool(samples)
        and isinstance(samples[0], dict)
        and "haystack_sessions" in samples[0]
    )


def load(samples: Iterable[Mapping[str, Any]]) -> Corpus:
    """Every question with its haystack as a conversation; questions without an answer in it are a category apart."""
    conversations = tuple(_conversation(number, sample) for number, sample in enumerate(samples, start=1))
    return Corpus(
        name="LongMemEval",
        conversations=conversations,
        apart=frozenset({ABSTENTION}),
        left_out=sum(not conversation.questions for conversation in conversations),
    )


def _conversation(number: int, sample: Mapping[str, Any]) -> Conversation:
    said = list(_turns(sample))
    turns = tuple(turn for turn, _ in said)
    evidence = frozenset(place for place, (_, is_evidence) in zip(places(turns), said, strict=True) if is_evidence)
    answers = set(sample["answer_session_ids"])
    sessions = frozenset(
        _session(place) for place, id_ in enumerate(sample["haystack_session_ids"], start=1) if id_ in answers
    ) & {turn.session for turn in turns}
    is_abstention = str(sample["question_id"]).endswith("_abs")
    question = Question(
        text=sample["question"],
        category=ABSTENTION if is_abstention else sample["question_type"],
        gold_turns=evidence,
        gold_sessions=sessions,
    )
    return Conversation(
        name=f"h{number}",
        turns=turns,
        questions=(question,) if evidence or sessions else (),
        asked_at=_moment(sample["question_date"]),
    )


def _turns(sample: Mapping[str, Any]) -> Iterator[tuple[Turn, bool]]:
    """The turns that say something, and whether they are evidence."""
    dated = zip(sample["haystack_sessions"], sample["haystack_dates"], strict=True)
    for place, (session, date) in enumerate(dated, start=1):
        said_at = _moment(date)
        for turn in session:
            content = turn["content"].strip()
            if content:
                said = Turn(session=_session(place), role=turn["role"], speaker=None, content=content, said_at=said_at)
                yield said, bool(turn.get("has_answer"))


def _session(place: int) -> str:
    return f"s{place}"


def _moment(written: str) -> datetime:
    """UTC of "2023/08/11 (Fri) 15:58"; the day's name is in the way of strptime and says nothing more."""
    found = _DATE.fullmatch(written.strip())
    if found is None:
        raise ValueError(f"{written!r} is no date like '2023/08/11 (Fri) 15:58'")
    year, month, day, hour, minute = map(int, found.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
