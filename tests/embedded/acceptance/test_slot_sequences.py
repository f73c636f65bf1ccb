"""Random sequences of writes to one slot: of any day one value is true, and what is undone is as if it never was.

`python -m tests.embedded.acceptance.test_slot_sequences 1000` plays so many more of them.
"""

import random
import sys
from datetime import timedelta

import pytest

from engrain.domain.runs.completions import Completion
from engrain.errors import EngrainError
from tests.support.clock import NOON, Clock
from tests.support.learning_memories import opened, reply

SEEDS = range(12)
AGENT = "ana"
HOME = {"subject": "Ana", "predicate": "lives in", "scope": AGENT}
PLACES = ("Porto", "Rome", "Oslo")
DAYS = range(-9, 10, 2)
VERBS = {"remember": 6, "correct": 2, "learn": 3, "confirm": 1, "forget": 1, "erase": 1}


class Sequence:
    """A memory with one slot, and a language model that says what the sequence wants to be learned."""

    name = "scripted"

    def __init__(self, seed):
        self.random = random.Random(f"slot {seed}")
        self.clock = Clock()
        self.memory = opened(":memory:", self, clock=self.clock)
        self.agent = self.memory.agent(AGENT)
        self.now_true = {}  # what was live, by time
        self.gone = set()

    def complete(self, prompt, *, timeout_s):
        assert timeout_s > 0
        return Completion(text=self.proposal(prompt.user.count('<fact id="k')))

    def proposal(self, known):
        """A new fact, or one in the place of a known one, about the turn that was said last."""
        quote = [{"episode": "e1", "quote": self.said}]
        new = {**HOME, "content": self.said.split()[-1], "evidence": quote, "confidence": self.random.choice((0.4, 1))}
        if known == 0 or self.random.random() < 0.5:
            return reply(new)
        reason = self.random.choice(("changed", "refined", "corrected"))
        return reply(updated_facts=[{"target_id": f"k{self.random.randint(1, known)}", "reason": reason, **new}])

    def facts(self, **conditions):
        return [fact for fact in self.agent.facts(limit=1_000, **conditions) if not fact.is_pending]

    def rows(self):
        return {
            fact.id: (fact.validity, fact.valid_from, fact.valid_to, fact.confidence)
            for fact in self.facts(include_inactive=True)
        }

    def step(self):
        """Do one thing; what is refused changes nothing."""
        self.clock.pass_time(seconds=self.random.choice((1, 1, 1, 86_400, 172_807)))
        [verb] = self.random.choices([*VERBS], [*VERBS.values()])
        period = {name: self.random.choice((None, None, *DAYS)) for name in ("valid_from", "valid_to")}
        period = {name: None if day is None else NOON + timedelta(days=day) for name, day in period.items()}
        place, ids = self.random.choice(PLACES), [*self.rows()] or ["01a1fdfa-51b8-721d-8dc5-2320de4a5263"]
        id_ = self.random.choice(ids)
        try:
            if verb == "remember":
                self.agent.remember(place, **HOME, **period)
            elif verb == "correct":
                self.agent.correct(id_, place, **period)
            elif verb == "learn":
                self.learn_and_undo(place)
            else:
                self.gone |= {id_} if verb in ("forget", "erase") else set()
                getattr(self.agent, verb)([id_] if verb == "erase" else id_)
        except EngrainError:
            return

    def learn_and_undo(self, place):
        self.said = f"From {self.clock.now:%d %H %M %S} on it is {place}"
        self.agent.observe(self.said, speaker="Ana")
        before = self.rows()
        for run in self.memory.consolidate().run_ids:
            learned_at = self.clock.now
            self.clock.pass_time(seconds=1)
            self.memory.undo(run, agent=AGENT)
            assert {fact.id for fact in self.facts(as_of=learned_at)} == {fact.id for fact in self.facts()}
        assert {id_: row for id_, row in self.rows().items() if id_ in before} == before

    def check(self):
        """One value is true of any day, and what was live at a time is told of it later."""
        assert len(self.facts()) <= 1
        for day in DAYS:
            true = self.facts(valid_at=NOON + timedelta(days=day, seconds=99))
            assert sum(fact.valid_to is None or fact.valid_to > fact.created_at for fact in true) <= 1, (day, true)
        for moment, ids in self.now_true.items():
            over = {fact.id for fact in self.facts(include_inactive=True) if fact.has_ended(moment)}
            assert {fact.id for fact in self.facts(as_of=moment)} - over == ids - self.gone - over
        self.now_true[self.clock.now] = {fact.id for fact in self.facts()}
        assert self.memory.health().problems == ()


def play(seed):
    sequence = Sequence(seed)
    with sequence.memory:
        for _ in range(sequence.random.randint(3, 12)):
            sequence.step()
            sequence.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_of_any_day_one_value_is_true_and_an_undo_leaves_what_was_there(seed):
    play(seed)


if __name__ == "__main__":
    for seed in range(SEEDS.stop, SEEDS.stop + int(sys.argv[1])):
        sys.stdout.write(f"seed {seed}\n")
        play(seed)
