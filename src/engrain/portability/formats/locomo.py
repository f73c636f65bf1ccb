"""LoCoMo's conversations between two people: https://github.com/snap-research/locomo, `data/locomo10.json`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engrain.domain.text.languages import ENGLISH, MONTHS
from engrain.portability.formats import fields
from engrain.portability.formats.records import BrokenRecord, Entry, Format, ImportedTurn, Json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "locomo"
_SESSION = re.compile(r"session_([0-9]{1,9})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2}) ?([ap]m) on ([0-9]{1,2}) ([a-z]+), ([0-9]{4})")
# Not strptime: its month names and am/pm follow the locale.
_MONTHS = MONTHS[ENGLISH].split()


def _recognises(record: Json) -> bool:
    conversation = record.get("conversation")
    return isinstance(conversation, dict) and any(map(_SESSION.fullmatch, conversation))


def _turns(entry: Entry) -> Iterator[ImportedTurn | BrokenRecord]:
    sample = fields.required_text(entry.value, "sample_id")
    conversation = fields.as_object(entry.value.get("conversation"), "conversation")
    numbered = ((int(found[1]), key) for key in conversation if (found := _SESSION.fullmatch(key)))
    for _, key in sorted(numbered):
        position = f"{entry.position}, {key}"
        try:
            time = _time(conversation.get(f"{key}_date_time"), f"{key}_date_time")
            turns = fields.as_list(conversation[key], key)
        except fields.Malformed as fault:
            yield BrokenRecord(position, str(fault))
            continue
        for number, value in enumerate(turns, start=1):
            yield from fields.read_record(f"{position}, turn {number}", _turn, value, f"{sample}/{key}", number, time)


def _turn(value: object, session: str, number: int, time: datetime | None) -> ImportedTurn:
    turn = fields.as_object(value, "turn")
    text = fields.as_text(turn.get("text", ""), "text")
    caption = fields.optional_text(turn, "blip_caption")
    content = f"{text} [photo: {caption}]".lstrip() if caption else text
    if fields.is_blank(content):
        raise fields.Malformed(f"text is {fields.describe(text)} and there is no photo")
    dia_id = fields.optional_text(turn, "dia_id")
    return ImportedTurn(
        session=session,
        role="user",
        speaker=fields.optional_text(turn, "speaker"),
        content=content,
        event_time=time,
        source_id=f"{session.rpartition('/')[0]}/{dia_id}" if dia_id else f"{session}/{number}",
        metadata={"format": _NAME},
    )


def _time(value: object, name: str) -> datetime | None:
    """UTC of "1:56 pm on 8 May, 2023", None where there is no time."""
    if fields.is_blank(value):
        return None
    found = _TIME.fullmatch(fields.as_text(value, name).strip().lower())
    if found is None or found[5] not in _MONTHS or not 1 <= int(found[1]) <= 12:  # noqa: PLR2004 - hours of a clock face
        raise fields.Malformed(f"{name} is {fields.describe(value)}, expected a time like '1:56 pm on 8 May, 2023'")
    hour = int(found[1]) % 12 + (12 if found[3] == "pm" else 0)
    try:
        return datetime(int(found[6]), _MONTHS.index(found[5]) + 1, int(found[4]), hour, int(found[2]), tzinfo=UTC)
    except ValueError as error:
        raise fields.Malformed(f"{name} is {fields.describe(value)}: {error}") from error


LOCOMO = Format(
    name=_NAME,
    summary="LoCoMo's JSON list of samples",
    item="sample {number}",
    recognises={"list": _recognises},
    read=_turns,
)
