"""What a memory said to a scenario, freed of what no two lives share: ids, and times of the clock."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.servers.conformance.scenario import NOBODY, Step

_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
# A life takes seconds; what it says of the clock lies a week ahead at most, where an episode runs out.
_LONGEST = timedelta(days=30)
# How long something has waited by the clock, what is made of it, of an id or of a key, and which process it was.
_OF_ONE_LIFE = frozenset({"backlog_age_hours", "digest", "head", "version", "worker"})


def all_of_it(answer: Any) -> Any:
    """What most ways tell of the library's answer."""
    return answer


@dataclass(frozen=True)
class Said:
    """The answer to a step as JSON, or the code of the error in its place.

    `tells` is what this way tells of the library's answer to the same step.
    """

    step: Step
    answer: Any = None
    refused: str | None = None
    tells: Callable[[Any], Any] = all_of_it


class Kept:
    """What later steps name by what earlier ones gave."""

    def __init__(self) -> None:
        self._answers: dict[str, Any] = {}

    def keep(self, step: Step, answer: Any) -> None:
        if step.keeps is not None:
            self._answers[step.keeps] = answer

    def filled(self, step: Step) -> Step:
        """The step with what its references name."""
        return replace(step, given=self._filled(step.given))

    def _filled(self, value: Any) -> Any:
        match value:
            case str() if value.startswith("$"):
                name, _, wanted = value[1:].partition(".")
                return self._answers[name][wanted or "id"]
            case list():
                return [self._filled(each) for each in value]
            case str():
                return value
            case _ if hasattr(value, "items"):
                return {name: self._filled(each) for name, each in value.items()}
            case _:
                return value


def comparable(transcript: Sequence[Said], *, began: datetime) -> Iterator[list[Any]]:
    """Each step with its answer; ids, and times that the clock can have given, are numbered as they appear."""
    ended = began + _LONGEST
    ids: dict[str, str] = {NOBODY: NOBODY}
    times: dict[datetime, str] = {}

    def id_of(found: re.Match[str]) -> str:
        return ids.setdefault(found[0], f"id {len(ids)}")

    def time_of(found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[0])
        is_of_the_clock = began <= at < ended
        return times.setdefault(at, f"time {len(times) + 1}") if is_of_the_clock else at.astimezone(UTC).isoformat()

    def day_of(found: re.Match[str]) -> str:
        return "today" if began.date() <= date.fromisoformat(found[0]) < ended.date() else found[0]

    def numbered(value: Any) -> Any:
        match value:
            case str():
                return _DAY.sub(day_of, _TIME.sub(time_of, _ID.sub(id_of, value)))
            case list():
                return [numbered(each) for each in value]
            case dict():
                return {
                    name: "its own" if name in _OF_ONE_LIFE and each is not None else numbered(_opened(name, each))
                    for name, each in value.items()
                }
            case _:
                return value

    for place, said in enumerate(transcript, 1):
        yield [f"step {place}, {said.step.verb}", numbered(said.answer), said.refused]


def _opened(name: str, value: Any) -> Any:
    """A cursor as what it holds: the list and the position in it."""
    if name != "next" or not isinstance(value, str):
        return value
    return json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))


def differences(said: Any, expected: Any, *, within: float = 0.0, at: str = "") -> Iterator[str]:
    """Where two JSON values differ, and how; numbers that are no whole ones may, by so much."""
    match said, expected:
        case dict(), dict() if said.keys() == expected.keys():
            for name in expected:
                yield from differences(said[name], expected[name], within=within, at=f"{at}.{name}")
        case list(), list() if len(said) == len(expected):
            for place, (one, other) in enumerate(zip(said, expected, strict=True)):
                yield from differences(one, other, within=within, at=f"{at}[{place}]")
        case float(), float() if abs(said - expected) <= within:
            return
        case _ if type(said) is not type(expected) or said != expected:
            yield f"{at}: {said!r} where {expected!r} is expected"
