"""Recorded replies of models and their dialogues: tests/support/replies, by name."""

import json
from dataclasses import dataclass
from pathlib import Path

from engrain.learning.consolidation.reply_schema import ROWS

FOLDER = Path(__file__).parent / "replies"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@dataclass(frozen=True)
class Recorded:
    """`turns` are arguments of `observe`; `known` are facts and rules that were there before, each with a key."""

    name: str
    reply: str
    turns: list
    known: list


def in_rows(sections):
    """The entries of a reply as the rows that a prompt asks for now: the same facts, without tags."""

    def row(section, entry):
        usual = {"permanence": "standard", "importance": 5, "confidence": 1}
        if not isinstance(entry, dict):
            return [entry]
        named = {"reason": "changed", **entry}
        texts = [named[name] for name in ROWS[section]]
        if "subject" in entry:
            while usual and entry.get([*usual][-1], usual[[*usual][-1]]) == usual[[*usual][-1]]:
                usual.popitem()
            texts += [" ".join(str(entry.get(name, value)) for name, value in usual.items())]
            texts += [entry.get("valid_from", "")]
        return texts + [f"{quote['episode']} {quote['quote']}" for quote in entry["evidence"]]

    rows = {section: [row(section, entry) for entry in sections.get(section) or []] for section in ROWS}
    return json.dumps({**rows, "recap": ""}, ensure_ascii=False, separators=(",", ":"))


def recorded(name):
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return Recorded(
        name=name,
        reply=(FOLDER / f"{name}.txt").read_text(encoding="utf-8"),
        turns=[row for row in rows if "known" not in row],
        known=[row["known"] for row in rows if "known" in row],
    )
