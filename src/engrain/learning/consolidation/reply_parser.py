"""Reply parser: turns any reply of a model into whole proposals, and errors with reasons. Pure; never raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from engrain.domain import checks
from engrain.domain.memories.fact_keys import project_of
from engrain.domain.records import DECAY_RATES, Permanence
from engrain.errors import InvalidInput
from engrain.learning.consolidation.proposals import (
    UPDATE_REASONS,
    ConsolidationResult,
    Evidence,
    Guidance,
    Proposal,
    Statement,
    UpdateReason,
)
from engrain.learning.consolidation.reply_schema import RECAP, ROWS, SECTIONS

if TYPE_CHECKING:
    from datetime import datetime


NO_JSON = "No JSON block found in consolidation output"
# Far more than thirty episodes can teach, and a bound on the work for what a model was talked into.
MOST_CHARACTERS = 1_000_000
MOST_ENTRIES = 1_000
MOST_CONTENT = 4_000
MOST_QUOTE = 2_000
_MOST_RECAP = 600
_MOST_EVIDENCE = 20
_MOST_TAGS = 20
_MOST_ERRORS = 50
# Characters that may be read in vain, and what each attempt counts at least: braces by the thousand open nothing.
_MOST_WORK, _LEAST_WORK = 10_000_000, 2_000

_FENCE = re.compile(r"```[ \t]*(?:json[c5]?|JSON)?[ \t]*\r?\n(.*?)(?:\r?\n[ \t]*```|\Z)", re.DOTALL)
_TARGET = re.compile(r"k[1-9]\d{0,3}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_QUOTED = re.compile(r"(e\d{1,4})\b[\s:,-]*(.+)", re.DOTALL | re.IGNORECASE)
_DATE = re.compile(r"\d{4}((?:-\d\d){0,2})")
_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,4})?")
_MIDDLE, _LEAST, _MOST = 5.0, 1.0, 10.0
_DECODER = json.JSONDecoder()


class _Reply(NamedTuple):
    """The object that is taken for the reply, and the errors of the search for it."""

    sections: Mapping[str, Any] | None
    errors: tuple[str, ...]


def parse_reply(text: str) -> ConsolidationResult:
    """The proposals of a reply, each whole, in order; what is wrong with the rest is in `parse_errors`.

    Entries are rows of texts (`reply_schema.ROWS`), or objects with names. The reply is a JSON object, in a fenced
    block or bare among prose (then from its outermost brace to the one that closes it), with at least one of the four
    sections. Of several the last wins, a fenced one over a bare one: a model that thinks aloud, or shows what it was
    asked for, concludes at the end. What was passed over is an error too.
    """
    if len(text) > MOST_CHARACTERS:
        error = f"the reply has {len(text):,} characters; the most is {MOST_CHARACTERS:,}, and none of it was read"
        return ConsolidationResult(parse_errors=(error,), is_readable=False)
    reply = _find(text)
    if reply.sections is None:
        return ConsolidationResult(parse_errors=reply.errors, is_readable=False)
    errors: list[str] = []
    proposals: dict[str, tuple[Proposal, ...]] = {
        section: tuple(_read_section(reply.sections, section, errors)) for section in SECTIONS
    }
    is_readable = any(proposals.values()) or not errors
    unknown = [str(name) for name in reply.sections if name not in {*SECTIONS, RECAP}]
    if unknown:
        errors.append(f"unknown sections were passed over: {', '.join(sorted(unknown)[:5])[:200]}")
    return ConsolidationResult(
        **proposals,
        recap=_recap(reply.sections.get(RECAP)),
        parse_errors=_bound([*reply.errors, *errors]),
        is_readable=is_readable,
    )


def _bound(errors: list[str]) -> tuple[str, ...]:
    left_out = len(errors) - _MOST_ERRORS
    return tuple(errors) if left_out <= 0 else (*errors[:_MOST_ERRORS], f"and {left_out:,} more errors")


# Finding the reply


def _find(text: str) -> _Reply:
    """The last object with one of the sections, in a fence before outside of any."""
    broken: list[str] = []
    fenced = [found for block in _FENCE.finditer(text) for found in _objects(block[1], block.start(1), broken)]
    objects = fenced or list(_objects(text, 0, broken))
    if not objects:
        return _Reply(None, (NO_JSON, *broken[-1:]))
    errors = (f"{len(objects)} JSON blocks found: the last one counts",) if len(objects) > 1 else ()
    return _Reply(objects[-1], errors)


def _objects(text: str, offset: int, broken: list[str]) -> Iterator[Mapping[str, Any]]:
    """The outermost JSON objects in a text that have one of the sections; `broken` gets the errors of broken ones."""
    start, work = text.find("{"), _MOST_WORK
    while start >= 0 and work > 0:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            if any(f'"{section}"' in text[start : start + 2_000] for section in SECTIONS):
                broken.append(_broken(start, offset, error))
            end = start + 1
            work -= max(error.pos - start if isinstance(error, json.JSONDecodeError) else 0, _LEAST_WORK)
        else:
            if any(section in value for section in SECTIONS):
                yield value
        start = text.find("{", end)


def _broken(start: int, offset: int, error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        why = f"{error.msg} at character {offset + error.pos:,}"
    else:
        why = "it nests too deep" if isinstance(error, RecursionError) else "it holds a number that is too long"
    return f"the JSON that begins at character {offset + start:,} is broken or cut off: {why}"


# Reading it


def _read_section(reply: Mapping[str, Any], section: str, errors: list[str]) -> Iterator[Proposal]:
    entries = reply.get(section)
    if entries is None:
        return
    if not isinstance(entries, list):
        errors.append(f"{section} must be a list, not {_kind(entries)}")
        return
    if len(entries) > MOST_ENTRIES:
        errors.append(f"{section} has {len(entries):,} entries; only the first {MOST_ENTRIES:,} were read")
    for index, entry in enumerate(entries[:MOST_ENTRIES]):
        where = f"{section}[{index}]"
        try:
            proposal = _READERS[section](_name_texts(section, entry, where, errors), where, errors)
        except InvalidInput as error:
            errors.append(f"{where}: {error}")
        else:
            yield proposal


def _name_texts(section: str, entry: object, where: str, errors: list[str]) -> object:
    """A row as an object with names; any other entry as it is.

    After its first texts a row has a rating, a date and quotes, each known by its form, so that a part that a model
    leaves out, or puts elsewhere, moves no other.
    """
    if not isinstance(entry, list):
        return entry
    names = ROWS[section]
    fields: dict[str, Any] = dict(zip(names, entry, strict=False))
    evidence: list[dict[str, str]] = []
    for index, text in enumerate(entry[len(names) :], len(names)):
        if not isinstance(text, str):
            errors.append(f"{where}[{index}] must be text, not {_kind(text)}")
        elif quote := _QUOTED.fullmatch(text.strip()):
            evidence.append({"episode": quote[1].lower(), "quote": quote[2]})
        elif _DATE.fullmatch(text.strip()):
            fields["valid_from"] = text.strip()
        elif (rating := _rating(text)) is not None:
            fields |= rating
        else:
            errors.append(f"{where}[{index}] {_shown(text)} is no rating, no date and no quote with its episode")
    if section == "confirmations" and not evidence:
        return fields.get("target_id")
    return {**fields, "evidence": evidence}


def _rating(text: str) -> dict[str, Any] | None:
    """Permanence, importance and confidence of a rating such as "stable 7 0.9", or those of them that it has."""
    fields: dict[str, Any] = {}
    for word in text.replace(",", " ").split():
        if word.lower() in DECAY_RATES:
            fields["permanence"] = word.lower()
        elif not _NUMBER.fullmatch(word):
            return None
        elif "importance" in fields or float(word) < _LEAST:
            fields["confidence"] = float(word)
        else:
            fields["importance"] = float(word)
    return fields


def _read_fact(entry: object, where: str, errors: list[str]) -> Proposal:
    fields = _object(entry)
    return Proposal(kind="new_fact", says=_statement(fields), evidence=_evidence(fields, where, errors))


def _read_update(entry: object, where: str, errors: list[str]) -> Proposal:
    fields = _object(entry)
    target_id, reason = _target(fields.get("target_id")), _reason(fields.get("reason"))
    return replace(_read_fact(entry, where, errors), kind="updated_fact", target_id=target_id, reason=reason)


def _read_rule(entry: object, where: str, errors: list[str]) -> Proposal:
    fields = _object(entry)
    says = Guidance(content=_content(fields), tags=_tags(fields.get("tags")))
    return Proposal(kind="new_rule", says=says, evidence=_evidence(fields, where, errors))


def _read_confirmation(entry: object, where: str, errors: list[str]) -> Proposal:
    """An id alone, or one with evidence."""
    if isinstance(entry, Mapping):
        evidence = _evidence(entry, where, errors)
        return Proposal(kind="confirmation", target_id=_target(entry.get("target_id")), evidence=evidence)
    return Proposal(kind="confirmation", target_id=_target(entry), evidence=None)


_READERS: Mapping[str, Callable[[object, str, list[str]], Proposal]] = {
    "new_facts": _read_fact,
    "updated_facts": _read_update,
    "new_rules": _read_rule,
    "confirmations": _read_confirmation,
}


def _object(entry: object) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise InvalidInput(f"must be an object, not {_kind(entry)}")
    return entry


def _statement(fields: Mapping[str, Any]) -> Statement:
    return Statement(
        subject=checks.name(fields.get("subject"), name="subject"),
        predicate=checks.name(fields.get("predicate"), name="predicate"),
        content=_content(fields),
        permanence=_permanence(fields.get("permanence")),
        importance=_clamped(fields.get("importance"), default=_MIDDLE, low=_LEAST, high=_MOST),
        confidence=_clamped(fields.get("confidence"), default=1.0, low=0.0, high=1.0),
        valid_from=_moment(fields.get("valid_from")),
        tags=_tags(fields.get("tags")),
    )


def _content(fields: Mapping[str, Any]) -> str:
    content = checks.content(fields.get("content"))
    if len(content) > MOST_CONTENT:
        raise InvalidInput(f"content has {len(content):,} characters; the most is {MOST_CONTENT:,}")
    return content


def _target(value: object) -> str:
    """The name that the prompt gave to a known memory, such as k1, or its id."""
    name = value.strip().lower() if isinstance(value, str) else ""
    if not _TARGET.fullmatch(name):
        raise InvalidInput(f"target_id {_shown(value)} is neither a name such as k1 nor a valid UUID")
    return name


def _evidence(fields: Mapping[str, Any], where: str, errors: list[str]) -> tuple[Evidence, ...]:
    """The quotes, in order, each once; one without words or episode proves nothing and is an error."""
    entries = fields.get("evidence")
    if entries is None:
        return ()
    if not isinstance(entries, list):
        errors.append(f"{where}.evidence must be a list, not {_kind(entries)}")
        return ()
    quotes: dict[Evidence, None] = {}
    for index, entry in enumerate(entries[:_MOST_EVIDENCE]):
        quote = entry.get("quote") if isinstance(entry, Mapping) else None
        episode = entry.get("episode") if isinstance(entry, Mapping) else None
        if not isinstance(quote, str) or not isinstance(episode, str):
            errors.append(f"{where}.evidence[{index}] must be an object with the texts episode and quote")
        elif len(quote) > MOST_QUOTE:
            errors.append(f"{where}.evidence[{index}].quote has more than {MOST_QUOTE:,} characters")
        else:
            quotes[Evidence(episode=checks.clean(episode)[:100], quote=checks.clean(quote))] = None
    return tuple(quotes)


def _reason(value: object) -> UpdateReason:
    word = value.strip().lower() if isinstance(value, str) else None
    return next((reason for reason in UPDATE_REASONS if reason == word), "changed")


def _recap(value: object) -> str | None:
    text = checks.clean(value) if isinstance(value, str) else ""
    return text[:_MOST_RECAP] or None


def _permanence(value: object) -> Permanence:
    word = value.strip().lower() if isinstance(value, str) else None
    return next((permanence for permanence in DECAY_RATES if permanence == word), "standard")


def _clamped(value: object, *, default: float, low: float, high: float) -> float:
    """The number, or the text of one, within its range; the default where it is none."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return default
    return float(min(high, max(low, value)))


def _moment(value: object) -> datetime | None:
    """The beginning of a day, a month or a year, or a moment; None where it is none of these."""
    if isinstance(value, str) and (part := _DATE.fullmatch(value.strip())):
        value = f"{value.strip()}{'-01' * (2 - part[1].count('-'))}"
    try:
        return checks.moment(value, name="valid_from") if isinstance(value, str) else None
    except InvalidInput:
        return None


def _tags(value: object) -> tuple[str, ...]:
    """The tags that are names, each once, and of no project, which episodes name; none where it is no list."""
    if not isinstance(value, list):
        return ()
    names = [checks.clean(tag) for tag in value if isinstance(tag, str) and not project_of([tag])]
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= checks.MAX_NAME_LENGTH))[:_MOST_TAGS]


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else _kind(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004  # half a line of a terminal
