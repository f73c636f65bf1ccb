"""LoCoMo's conversations between two people: https://github.com/snap-research/locomo, `data/locomo10.json`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.retrieval.corpus import Conversation, Corpus, Place, Question, Turn, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DialogueId: TypeAlias = tuple[int, int]

_SESSION = re.compile(r"session_(\d+)")
_DIALOGUE_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")


def recognises(samples: object) -> bool:
    """True for the JSON of a LoCoMo file."""
    return isinstance(samples, list) and bool(samples) and isinstance(samples[0], dict) and "conversation" in samples[0]


def load(samples: Iterable[Mapping[str, Any]]) -> Corpus:
    """Every sample as a conversation."""
    left_out = 0
    conversations = []
    for number, sample in enumerate(samples, start=1):
        said = list(_turns(sample["conversation"]))
        turns = tuple(turn for _, turn in said)
        by_id = dict(zip([id_ for id_, _ in said], places(turns), strict=True))
        judged = [_question(asked, by_id) for asked in sample["qa"]]
        left_out += sum(not question.gold_turns for question in judged)
        questions = tuple(question for question in judged if question.gold_turns)
        conversations.append(Conversation(name=f"c{number}", turns=turns, questions=questions))
    return Corpus(
        name="LoCoMo", conversations=tuple(conversations), apart=frozenset({"adversarial"}), left_out=left_out
    )


def dialogue_ids(evidence: object) -> list[DialogueId]:
    """The turns that evidence as it was written names: ["D8:6; D9:17", "D:11:26", "D30:05", "D"]."""
    written = evidence if isinstance(evidence, list) else [evidence]
    found = [_DIALOGUE_ID.findall(each) for each in written if isinstance(each, str)]
    return [(int(session), int(turn)) for each in found for session, turn in each]


def _turns(conversation: Mapping[str, Any]) -> Iterator[tuple[DialogueId, Turn]]:
    """The turns that say something, with their ids, session by session."""
    numbered = sorted((int(found[1]), key) for key in conversation if (found := _SESSION.fullmatch(key)))
    for number, key in numbered:
        said_at = _moment(conversation[f"{key}_date_time"])
        for place, turn in enumerate(conversation[key], start=1):
            content = _content(turn)
            if not content:
                continue
            [id_] = dialogue_ids(turn.get("dia_id")) or [(number, place)]
            yield (
                id_,
                Turn(session=f"s{number}", role="user", speaker=turn["speaker"], content=content, said_at=said_at),
            )


def _content(turn: Mapping[str, Any]) -> str:
    text, caption = str(turn.get("text") or ""), turn.get("blip_caption")
    return f"{text} [photo: {caption}]".strip() if caption else text.strip()


def _question(asked: Mapping[str, Any], by_id: Mapping[DialogueId, Place]) -> Question:
    gold = frozenset(by_id[id_] for id_ in dialogue_ids(asked.get("evidence")) if id_ in by_id)
    return Question(
        text=asked["question"],
        category=CATEGORIES.get(asked["category"], f"category {asked['category']}"),
        gold_turns=gold,
        gold_sessions=frozenset(session for session, _ in gold),
    )


def _moment(written: str) -> datetime:
    """UTC of "1:56 pm on 8 May, 2023"."""
    return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
