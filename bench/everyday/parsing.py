"""Parser of scripts: text files of one conversation each; bench/README.md has the format."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.everyday.script import MOST_HITS, TOPICS, Aspect, Expectation, Script, Step, Verb

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

SCRIPTS = Path(__file__).parent / "scripts"
KINDS = ("companion", "coding", "support", "butler", "office")

_HEADER = re.compile(r"(?P<name>title|topic|agent|budget): *(?P<value>.+)")
_SESSION = re.compile(r"--- (?P<session>\S+) (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d)(?: user (?P<user>\S+))?")
_STEP = re.compile(r"(?P<head>[A-Za-z][\w.' -]*?)(?: \[(?P<label>[\w-]+)\])?: *(?P<text>.*)")
_AGAIN = re.compile(r"again (?P<times>\d+)")
_REPEATED = re.compile(r"(?P<speaker>[A-Z][\w.' -]*|user): (?P<text>.+?)(?: => (?P<answer>.+))?")
_BETWEEN_STEPS = timedelta(minutes=1)

_ROLES: Mapping[str, Literal["user", "assistant", "tool"]] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_VERBS: Mapping[str, Verb] = {
    name: name for name in ("ask", "remember", "correct", "confirm", "forget", "handle", "facts", "profile", "entity")
}
_OF_QUESTIONS = frozenset({"topic", "as of", "valid at", "since", "until", "budget", "preset"})
_SETTINGS: Mapping[Verb, frozenset[str]] = {
    "say": _OF_QUESTIONS | {"store"},
    "again": frozenset({"topic"}),
    "ask": _OF_QUESTIONS,
    "remember": frozenset({"topic", "from", "to", "scope", "learned from", "permanence"}),
    "correct": frozenset({"topic", "from", "to"}),
    "confirm": frozenset({"topic"}),
    "forget": frozenset({"topic"}),
    "handle": frozenset({"topic", "speaker"}),
    "facts": frozenset({"topic", "as of", "valid at"}),
    "profile": frozenset({"topic"}),
    "entity": frozenset({"topic", "aliases"}),
}
_ASPECTS: Mapping[Verb, tuple[Aspect, ...]] = {
    "say": ("hits", "evidence", "block"),
    "ask": ("hits", "evidence", "block"),
    "handle": ("hits", "evidence", "handled"),
    "facts": ("facts",),
    "profile": ("facts",),
}
_EXPECTATIONS: Mapping[str, Aspect] = {
    "first": "hits",
    "not first": "hits",
    "top": "hits",
    "not top": "hits",
    "not hits": "hits",
    "before": "hits",
    "once": "hits",
    "at most once": "hits",
    "evidence": "evidence",
    "block": "block",
    "not block": "block",
    "block once": "block",
    "block at most once": "block",
    "block at most": "block",
    "block empty": "block",
    "has": "facts",
    "has not": "facts",
    "count": "facts",
    "names": "handled",
    "names not": "handled",
}
_NUMBERED = re.compile(r"(?P<name>top|not top) (?P<number>\d+)")
_LEVELS: Mapping[str, tuple[str, ...]] = {
    "none": ("none",),
    "weak": ("weak",),
    "strong": ("strong",),
    "some": ("weak", "strong"),
}


class ScriptError(ValueError):
    """A script that does not say what it should, with file and line."""


@dataclass(slots=True)
class _Draft:
    """Script that is being read: what holds for the next step, and the steps so far."""

    path: Path
    header: dict[str, str] = field(default_factory=dict)
    topic: str = ""
    session: str = ""
    user: str | None = None
    at: datetime | None = None
    steps: list[Step] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)

    def fail(self, line: int, problem: str) -> ScriptError:
        return ScriptError(f"{self.path}:{line}: {problem}")

    def known(self, line: int, name: str, names: Collection[str], *, what: str) -> str:
        """Return a name that is one of several; the error has the nearest of them."""
        if name in names:
            return name
        nearest = get_close_matches(name, sorted(names), n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(sorted(names))}"
        raise self.fail(line, f"{what} {name!r} is unknown; {hint}")


def load_scripts(kind: str | None = None, name: str | None = None, *, folder: Path = SCRIPTS) -> list[Script]:
    """Read the scripts of a folder, or those of one kind or one name, by kind and name.

    Raises:
        ScriptError: one is not valid, or none is there.
    """
    paths = [
        path
        for room in KINDS
        if kind in (None, room)
        for path in sorted((folder / room).glob("*.txt"))
        if name in (None, path.stem, f"{room}/{path.stem}")
    ]
    if not paths:
        raise ScriptError(f"no script {name or ''} of kind {kind or 'any'} in {folder}")
    return [parse_script(path) for path in paths]


def parse_script(path: Path) -> Script:
    """Read one script; its kind is the name of its folder.

    Raises:
        ScriptError: it is not valid; the message has file and line.
    """
    draft = _Draft(path=path)
    kind = draft.known(0, path.parent.name, KINDS, what="kind")
    details: list[tuple[int, str]] = []
    heading: tuple[int, str] | None = None
    for line, text in _lines(path):
        if text.startswith(" "):
            if heading is None:
                raise draft.fail(line, "an indented line belongs to a step, and none is before it")
            details.append((line, text.strip()))
            continue
        _finish_step(draft, heading, details)
        heading, details = None, []
        if not _read_heading(draft, line, text):
            heading = (line, text)
    _finish_step(draft, heading, details)
    if "title" not in draft.header:
        raise draft.fail(1, "there is no title")
    if not any(step.expectations for step in draft.steps):
        raise draft.fail(1, "nothing is expected")
    return Script(kind=kind, name=path.stem, title=draft.header["title"], steps=tuple(draft.steps))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither empty nor a comment, with their numbers."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.rstrip()


def _read_heading(draft: _Draft, line: int, text: str) -> bool:
    """Read a line that is a setting of the script or the beginning of a session; False for a step."""
    header = _HEADER.fullmatch(text)
    if header:
        if header["name"] == "topic":
            draft.topic = draft.known(line, header["value"], TOPICS, what="topic")
        elif draft.steps or header["name"] in draft.header:
            raise draft.fail(line, f"{header['name']} is given once, before the first session")
        else:
            draft.header[header["name"]] = header["value"]
        return True
    if not text.startswith("---"):
        return False
    session = _SESSION.fullmatch(text)
    if session is None:
        raise draft.fail(line, "a session begins with '--- NAME YYYY-MM-DD HH:MM', and maybe 'user NAME'")
    try:
        at = datetime.strptime(session["time"], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise draft.fail(line, str(error)) from error
    if draft.at is not None and at < draft.at:
        raise draft.fail(line, f"the session begins at {at:%Y-%m-%d %H:%M}, before the end of the last step")
    draft.session, draft.user, draft.at = session["session"], session["user"], at
    return True


def _finish_step(draft: _Draft, heading: tuple[int, str] | None, details: list[tuple[int, str]]) -> None:
    """Add the step of a line, with the settings and expectations that stand below it."""
    if heading is None:
        return
    line, text = heading
    if draft.at is None:
        raise draft.fail(line, "a step needs a session before it: '--- NAME YYYY-MM-DD HH:MM'")
    if not draft.topic:
        raise draft.fail(line, "a step needs a topic before it: 'topic: NAME'")
    step = _read_details(draft, _read_step(draft, line, text), details)
    draft.at += _BETWEEN_STEPS + timedelta(days=step.times if step.verb == "again" else 0)
    draft.steps.append(step)


def _read_step(draft: _Draft, line: int, text: str) -> Step:
    """Return the step of a line, without what stands below it."""
    assert draft.at is not None
    matched = _STEP.fullmatch(text)
    if matched is None:
        raise draft.fail(line, "a step is 'Name: text', 'assistant: text' or 'verb: text', maybe with a [label]")
    head, label, words = matched["head"], matched["label"], matched["text"]
    if not words:
        raise draft.fail(line, f"{head} says nothing")
    bare = Step(
        verb="say",
        text=words,
        line=line,
        at=draft.at,
        session=draft.session,
        topic=draft.topic,
        agent=draft.header.get("agent", draft.path.parent.name),
        user=draft.user,
        label=label,
    )
    again = _AGAIN.fullmatch(head)
    if again:
        return _read_again(draft, bare, times=int(again["times"]))
    if head in _ROLES:
        step = replace(bare, role=_ROLES[head])
    elif head[0].isupper():
        step = replace(bare, speaker=head)
    else:
        step = replace(bare, verb=_VERBS[draft.known(line, head, [*_VERBS, *_ROLES], what="verb")])
        _check_arguments(draft, step)
    if label is not None and step.verb in {"say", "remember", "handle", "entity"}:
        draft.labels[label] += 1
        if draft.labels[label] > 1:
            raise draft.fail(line, f"label {label!r} is taken")
    return step


def _read_again(draft: _Draft, step: Step, *, times: int) -> Step:
    repeated = _REPEATED.fullmatch(step.text)
    if repeated is None or times < 1:
        raise draft.fail(step.line, "'again N: Name: question => answer' asks in N sessions, one a day")
    speaker = None if repeated["speaker"] == "user" else repeated["speaker"]
    return replace(
        step, verb="again", text=repeated["text"], times=times, answer=repeated["answer"] or "", speaker=speaker
    )


def _check_arguments(draft: _Draft, step: Step) -> None:
    """Check that a verb has the parts and labels that it needs."""
    parts = split_parts(step.text)
    allowed = {"remember": (1, 3), "facts": (1, 2), "entity": (2,)}.get(step.verb)
    if allowed and len(parts) not in allowed:
        counts = " or ".join(str(count) for count in allowed)
        raise draft.fail(step.line, f"{step.verb} has {counts} parts, divided by '|'; this has {len(parts)}")
    if step.verb == "correct":
        if step.label is None:
            raise draft.fail(step.line, "correct names what it corrects: 'correct [label]: new content'")
        _known_labels(draft, step.line, step.label)
    if step.verb in {"forget", "confirm"}:
        _known_labels(draft, step.line, step.text)


def _read_details(draft: _Draft, step: Step, details: list[tuple[int, str]]) -> Step:
    """Return a step with the settings and expectations of the lines below it."""
    settings: dict[str, str] = {"budget": draft.header["budget"]} if "budget" in draft.header else {}
    expectations: list[Expectation] = []
    for line, text in details:
        name, colon, value = (part.strip() for part in text.partition(":"))
        if not colon or not value:
            raise draft.fail(line, f"{text!r} is no 'name: value'")
        numbered = _NUMBERED.fullmatch(name)
        known = numbered["name"] if numbered else name
        if known in _SETTINGS[step.verb]:
            settings[name] = value
        elif known in _EXPECTATIONS:
            number = int(numbered["number"]) if numbered else 0
            expectations.append(_read_expectation(draft, step, line, (known, value, number)))
        else:
            aspects = _ASPECTS.get(step.verb, ())
            names = {*_SETTINGS[step.verb], *(one for one, aspect in _EXPECTATIONS.items() if aspect in aspects)}
            draft.known(line, name, names, what=f"after {step.verb!r} the name")
    narrowed = sorted({"since", "until", "preset"} & settings.keys())
    if narrowed and any(expectation.aspect == "block" for expectation in expectations):
        raise draft.fail(step.line, f"a block cannot be narrowed by {narrowed[0]}; ask for it in a step of its own")
    topic = draft.known(step.line, settings.pop("topic", step.topic), TOPICS, what="topic")
    _check_settings(draft, step, settings)
    return replace(step, topic=topic, settings=settings, expectations=tuple(expectations))


def _check_settings(draft: _Draft, step: Step, settings: Mapping[str, str]) -> None:
    if settings.get("store", "first") != "first":
        raise draft.fail(step.line, "store has one value: first")
    if not settings.get("budget", "0").isdigit():
        raise draft.fail(step.line, f"budget is a number of tokens, not {settings['budget']!r}")
    if "learned from" in settings:
        draft.known(step.line, settings["learned from"], draft.labels, what="label")


def _read_expectation(draft: _Draft, step: Step, line: int, parsed: tuple[str, str, int]) -> Expectation:
    """Return the expectation of a line that was split into name, value and number."""
    name, value, number = parsed
    aspect = _EXPECTATIONS[name]
    if aspect not in _ASPECTS.get(step.verb, ()) or (step.verb == "say" and step.role != "user"):
        who = step.role if step.verb == "say" else step.verb
        raise draft.fail(line, f"{name!r} cannot be expected of {who!r}")
    if name in {"top", "not top"} and not 1 <= number <= MOST_HITS:
        raise draft.fail(line, f"{name} needs a number from 1 to {MOST_HITS}, such as '{name} 3'")
    shown = f"{name}{f' {number}' if number else ''}: {value}"
    bare = Expectation(name=name, aspect=aspect, line=line, text=shown, number=number)
    if name == "evidence":
        return replace(bare, wanted=_LEVELS[draft.known(line, value, _LEVELS, what="level")])
    if name in {"block at most", "count"}:
        if not value.isdigit():
            raise draft.fail(line, f"{name} needs a number, not {value!r}")
        return replace(bare, number=int(value))
    if name == "block empty" and value != "yes":
        raise draft.fail(line, "block empty has one value: yes")
    if name == "before":
        earlier, bar, later = value.partition(" > ")
        if not bar:
            raise draft.fail(line, "before needs two texts: 'before: Porto > Lisbon'")
        return replace(bare, wanted=_alternatives(earlier), before=_alternatives(later))
    if aspect == "handled":
        return replace(bare, wanted=_known_labels(draft, line, value))
    return replace(bare, wanted=_alternatives(value))


def _known_labels(draft: _Draft, line: int, text: str) -> tuple[str, ...]:
    return tuple(draft.known(line, label, draft.labels, what="label") for label in labels(text))


def split_parts(text: str) -> list[str]:
    """Split the arguments of a verb: `subject | predicate | content`."""
    return [part.strip() for part in text.split("|")]


def labels(text: str) -> tuple[str, ...]:
    """Split a list of labels, divided by commas."""
    return tuple(label.strip() for label in text.split(","))


def _alternatives(text: str) -> tuple[str, ...]:
    return tuple(option.strip() for option in text.split(" / "))
