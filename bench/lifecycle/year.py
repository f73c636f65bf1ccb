"""A year of an agent's memory, day by day, and what is left of it by the closed form, which never sweeps."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bench.lifecycle.bare import BareDatabase
from engrain import Memory
from engrain.domain.ids import derived_id
from engrain.domain.memories.decay import effective_confidence
from engrain.domain.records import DECAY_RATES, Caller, Fact, Permanence, Rule
from engrain.domain.requests import Act
from engrain.domain.rules import maturity
from engrain.storage import selection
from engrain.storage.write import arrivals, changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from engrain.domain.rules.maturity import Outcome

FIRST_DAY = datetime(2026, 1, 1, 4, tzinfo=UTC)
CALLER = Caller(agent="aide")
_PERMANENCES: tuple[Permanence, ...] = tuple(DECAY_RATES)
_CONFIRMED_A_DAY = 0.001  # of the facts that are still there
_MARKS_A_DAY = 20
_FADING_BELOW, _EXPIRED_BELOW = 0.2, 0.05
_AT_ONCE = 1_000
_SETTLES_AFTER_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Size of a simulated year."""

    facts: int
    rules: int
    days: int


@dataclass(frozen=True, slots=True)
class Lived:
    """Result of a year: every memory's state by id, and the time of the sweeps."""

    states: Mapping[str, str]
    sweeps_s: list[float] = field(default_factory=list)
    transitions: int = 0

    def describe(self) -> str:
        """The sweeps in a line."""
        ordered = sorted(self.sweeps_s)
        median, slowest = ordered[len(ordered) // 2], ordered[-1]
        return (
            f"sweep median {1000 * median:,.1f} ms, slowest {1000 * slowest:,.1f} ms; {self.transitions:,} transitions"
        )


def live(location: str, size: Size) -> Lived:
    """The whole time, through the store and the facade."""
    today = FIRST_DAY
    took: list[float] = []
    transitions = 0
    with (
        Memory.open(location, embedder="none", clock=lambda: today) as memory,
        closing(BareDatabase(location)) as bare,
    ):
        store = memory.parts.store
        made: list[Fact | Rule] = [*facts(size), *rules(size)]
        for start in range(0, len(made), _AT_ONCE):
            store.write(Act(caller=CALLER, at=FIRST_DAY), arrivals.put, made[start : start + _AT_ONCE])
            if start == 0:
                bare.settle()
        gone: set[str] = set()
        for day, today in _days(size):
            for id_ in _confirmed(size, day):
                [found] = store.read(CALLER, selection.load_memories, [id_])
                if found.is_live(today):
                    store.write(Act(caller=CALLER, at=today), changes.confirm, id_)
            for id_, outcome in _marks(size, day):
                if id_ not in gone:
                    [found] = store.read(CALLER, selection.load_memories, [id_])
                    gone |= set() if found.is_live(today) else {id_}
                    if found.is_live(today):
                        store.write(Act(caller=CALLER, at=today), changes.mark, id_, outcome)
            began = time.perf_counter()
            report = memory.decay()
            took.append(time.perf_counter() - began)
            if day % _SETTLES_AFTER_DAYS == 0:
                bare.settle()
            transitions += sum(each.fading + each.recovered + each.expired for each in (report.facts, report.rules))
        found_all = [
            each
            for start in range(0, len(made), _AT_ONCE)
            for each in store.read(CALLER, selection.load_memories, [one.id for one in made[start : start + _AT_ONCE]])
        ]
        return Lived({each.id: _state(each) for each in found_all if not hasattr(each, "role")}, took, transitions)


def closed_form(size: Size) -> dict[str, str]:
    """The expected states, from each memory's confirmations alone: a gap that is too long ends it."""
    confirmed: dict[str, list[datetime]] = {}
    marks: dict[str, list[tuple[datetime, Outcome]]] = {}
    last = FIRST_DAY
    for day, today in _days(size):
        last = today
        for id_ in _confirmed(size, day):
            confirmed.setdefault(id_, []).append(today)
        for id_, outcome in _marks(size, day):
            marks.setdefault(id_, []).append((today, outcome))
    states = {fact.id: _ended(fact, confirmed.get(fact.id, []), last) for fact in facts(size)}
    for rule in rules(size):
        state = _ended(rule, [], last)
        ends = _expiry(rule, FIRST_DAY)
        for at, outcome in marks.get(rule.id, []):
            if at <= ends:  # a day's marks come before its sweep
                rule = maturity.apply_outcome(rule, outcome, reason=None, at=at)  # noqa: PLW2901  # the rule as it goes on
        states[rule.id] = f"{state} {rule.maturity} {rule.success_count}/{rule.harmful_count}/{rule.applied_count}"
    return states


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """The ids of which the two say something else."""
    return [id_ for id_ in expected.keys() | found.keys() if expected.get(id_) != found.get(id_)]


def summary(states: Mapping[str, str]) -> str:
    """The number of memories by state."""
    counts = Counter(state.split()[0] for state in states.values())
    return ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items()))


def facts(size: Size) -> Iterator[Fact]:
    """Facts of every permanence and of many confidences."""
    numbers = random.Random(1)  # a simulation
    for place in range(size.facts):
        permanence = _PERMANENCES[place % len(_PERMANENCES)]
        yield Fact(
            id=derived_id("bench", "fact", str(place), at=None),
            agent="aide",
            subject=f"subject {place // 50}",
            predicate=f"predicate {place % 50}",
            content=f"what is true of number {place}",
            confidence=numbers.uniform(0.3, 1.0),
            permanence=permanence,
            decay_rate=DECAY_RATES[permanence],
            created_at=FIRST_DAY,
            last_confirmed_at=FIRST_DAY,
        )


def rules(size: Size) -> Iterator[Rule]:
    """Rules as they begin."""
    for place in range(size.rules):
        yield Rule(
            id=derived_id("bench", "rule", str(place), at=None),
            agent="aide",
            content=f"how to go about number {place}",
            created_at=FIRST_DAY,
            last_confirmed_at=FIRST_DAY,
        )


def _days(size: Size) -> Iterator[tuple[int, datetime]]:
    return ((day, FIRST_DAY + timedelta(days=day)) for day in range(1, size.days + 1))


def _confirmed(size: Size, day: int) -> list[str]:
    """The memory that is confirmed on a day, if it still exists."""
    numbers = random.Random(day)  # a simulation
    count = max(1, round(size.facts * _CONFIRMED_A_DAY))
    return sorted({derived_id("bench", "fact", str(numbers.randrange(size.facts)), at=None) for _ in range(count)})


def _marks(size: Size, day: int) -> list[tuple[str, Outcome]]:
    """Which rules are followed on a day, and what comes of it: every third does harm more often than not."""
    numbers = random.Random(-day)  # a simulation
    found: list[tuple[str, Outcome]] = []
    for _ in range(min(_MARKS_A_DAY, size.rules)):
        place = numbers.randrange(size.rules)
        harms = numbers.random() < (0.7 if place % 3 == 0 else 0.05)
        found.append((derived_id("bench", "rule", str(place), at=None), "harmful" if harms else "helpful"))
    return found


def _ended(memory: Fact | Rule, confirmed: list[datetime], last: datetime) -> str:
    since = FIRST_DAY
    for at in confirmed:
        if at > _expiry(memory, since):
            return "expired"
        since = at
    left = effective_confidence(memory.confidence, memory.decay_rate, since, now=last)
    if last >= _expiry(memory, since):
        return "expired"
    return "fading" if memory.decay_rate > 0 and left < _FADING_BELOW else "active"


def _expiry(memory: Fact | Rule, since: datetime) -> datetime:
    """The first daily sweep that finds its worth below the threshold."""
    if memory.decay_rate == 0:
        return datetime.max.replace(tzinfo=UTC)
    lasts = math.log(memory.confidence / _EXPIRED_BELOW) / memory.decay_rate
    days = math.floor((since - FIRST_DAY) / timedelta(days=1) + lasts) + 1
    return FIRST_DAY + timedelta(days=days)


def _state(memory: object) -> str:
    match memory:
        case Fact():
            return memory.state
        case Rule():
            state = "expired" if memory.is_forgotten else memory.metadata.get("status", "active")
            return f"{state} {memory.maturity} {memory.success_count}/{memory.harmful_count}/{memory.applied_count}"
        case _:
            raise TypeError(memory)
