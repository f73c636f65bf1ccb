"""Recorded replies of models and their dialogues: tests/support/replies, by name."""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "replies"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@dataclass(frozen=True)
class Recorded:
    """`turns` are arguments of `observe`; `known` are facts and rules that were there before, each with a key."""

    name: str
    reply: str
    turns: list
    known: list


def recorded(name):
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return Recorded(
        name=name,
        reply=(FOLDER / f"{name}.txt").read_text(encoding="utf-8"),
        turns=[row for row in rows if "known" not in row],
        known=[row["known"] for row in rows if "known" in row],
    )
