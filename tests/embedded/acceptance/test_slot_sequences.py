"""Random sequences of writes to one slot, or to those of two entities that are merged and come apart.

Of any day one value is true, and what is undone is as if it never was.
`python -m tests.embedded.acceptance.test_slot_sequences 1000` plays so many more of them.
"""

import random
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest

from engrain.domain.runs.completions import Completion
from engrain.errors import EngrainError
from tests.support.clock import NOON, Clock
from tests.support.learning_memories import opened, reply

SEEDS = range(12)
AGENT = "ana"
NAMES = ("Ana", "Anita")
HOME = {"predicate": "lives in", "scope": AGENT}
PLACES = ("Porto", "Rome", "Oslo")
DAYS = range(-9, 10, 2)
VERBS = {"remember": 6, "correct": 2, "learn": 3, "confirm": 1, "forget": 1, "erase": 1}
FURTHER = {"merge": 5, "unmerge": 1, "learn_for_later": 2, "undo": 2, "backup": 1, "restore": 1, "move": 1}


class Sequence:
    """A memory with a slot for each name, and a language model that says what the sequence wants to be learned."""

    name = "scripted"

    def __init__(self, seed, folder, names):
        self.random = random.Random(f"slot {seed}")
        self.clock, self.folder, self.names = Clock(), folder, names
        self.verbs = VERBS if len(names) == 1 else {**VERBS, **FURTHER}
        self.memory = opened(":memory:", self, clock=self.clock)
        self.agent = self.memory.agent(AGENT)
        self.now_true = {}  # what was live, by time
        self.gone = set()
        self.entities = [self.agent.entities.create(name, "person").id for name in names] if len(names) > 1 else [None]
        self.merged = None  # the id of the source, and when
        self.runs = []  # those that were not undone, with when

    def complete(self, prompt, *, timeout_s):
        assert timeout_s > 0
        return Completion(text=self.proposal(prompt.user.count('<fact id="k')))

    def proposal(self, known):
        """A new fact, or one in the place of a known one, about the turn that was said last."""
        quote = [{"episode": "e1", "quote": self.said}]
        about = {**HOME, "subject": self.random.choice(self.names), "content": self.said.split()[-1]}
        new = {**about, "evidence": quote, "confidence": self.random.choice((0.4, 1))}
        if known == 0 or self.random.random() < 0.5:
            return reply(new)
        reason = self.random.choice(("changed", "refined", "corrected"))
        return reply(updated_facts=[{"target_id": f"k{self.random.randint(1, known)}", "reason": reason, **new}])

    def facts(self, *subject, agent=None, **conditions):
        found = (agent or self.agent).facts(*subject, limit=1_000, **conditions)
        return [fact for fact in found if not fact.is_pending]

    def rows(self):
        return {
            fact.id: (fact.validity, fact.valid_from, fact.valid_to, fact.confidence, fact.entity_id)
            for fact in self.facts(include_inactive=True)
        }

    def step(self):
        """Do one thing; what is refused changes nothing."""
        self.clock.pass_time(seconds=self.random.choice((1, 1, 1, 86_400, 172_807)))
        [verb] = self.random.choices([*self.verbs], [*self.verbs.values()])
        period = {name: self.random.choice((None, None, *DAYS)) for name in ("valid_from", "valid_to")}
        period = {name: None if day is None else NOON + timedelta(days=day) for name, day in period.items()}
        place, ids = self.random.choice(PLACES), [*self.rows()] or ["01a1fdfa-51b8-721d-8dc5-2320de4a5263"]
        id_, about = self.random.choice(ids), self.random.randrange(len(self.names))
        try:
            if verb == "remember":
                entity = self.random.choice((None, self.entities[about]))
                self.agent.remember(place, subject=self.names[about], **HOME, **period, entity_id=entity)
            elif verb == "correct":
                self.agent.correct(id_, place, **period)
            elif verb in ("confirm", "forget", "erase"):
                self.gone |= set() if verb == "confirm" else {id_}
                getattr(self.agent, verb)([id_] if verb == "erase" else id_)
            else:
                getattr(self, verb)(place)
        except EngrainError:
            return

    def learn(self, place):
        """Learn something and undo it at once."""
        before = self.rows()
        self.learn_for_later(place)
        learned_at = self.clock.now
        self.clock.pass_time(seconds=1)
        self.memory.undo(self.runs.pop()[1], agent=AGENT)
        assert {fact.id for fact in self.facts(as_of=learned_at)} == {fact.id for fact in self.facts()}
        assert {id_: row for id_, row in self.rows().items() if id_ in before} == before

    def learn_for_later(self, place):
        self.said = f"From {self.clock.now:%d %H %M %S} on it is {place}"
        self.agent.observe(self.said, speaker=self.names[0])
        self.runs += [(self.clock.now, run) for run in self.memory.consolidate().run_ids]

    def undo(self, _place):
        if self.runs:
            at, run = self.runs.pop(self.random.randrange(len(self.runs)))
            self.memory.undo(run, agent=AGENT)
            self.forget_since(at)

    def merge(self, _place):
        """Merge one of the entities into the other, every other time for a second."""
        source, target = self.random.sample(self.entities, 2)
        before = self.rows()
        self.agent.entities.merge(source, target)
        self.merged = source, self.clock.now
        if self.random.random() < 0.5:
            self.clock.pass_time(seconds=1)
            self.unmerge(None)
            assert self.rows() == before

    def unmerge(self, _place):
        if self.merged is not None:
            source, at = self.merged
            self.agent.entities.unmerge(source)
            self.merged = None
            self.forget_since(at)

    def backup(self, _place):
        self.memory.backup(self.folder / "backup", agent=AGENT)

    def restore(self, _place):
        if self.memory.restore(self.folder / "backup", with_erased=True).added:
            self.gone = set()
            self.forget_since(NOON)

    def move(self, _place):
        """Export what the agent has, and let another one import it."""
        moved = f"{AGENT} {self.clock.now:%d %H %M %S}"
        self.memory.export(self.folder / moved, agent=AGENT)
        self.memory.agent(moved).import_file(self.folder / moved)
        self.check_days(self.memory.agent(moved))

    def forget_since(self, moment):
        """From now on something else is told of what was live since a moment."""
        self.now_true = {at: ids for at, ids in self.now_true.items() if at < moment}

    def check(self):
        """One value is true of any day, and what was live at a time is told of it later."""
        self.check_days(self.agent)
        for moment, ids in self.now_true.items():
            over = {fact.id for fact in self.facts(include_inactive=True) if fact.has_ended(moment)}
            assert {fact.id for fact in self.facts(as_of=moment)} - over == ids - self.gone - over
        self.now_true[self.clock.now] = {fact.id for fact in self.facts()}
        assert self.memory.health().problems == ()

    def check_days(self, agent):
        for name in self.names:
            assert len(self.facts(name, agent=agent)) <= 1
            for day in DAYS:
                true = self.facts(name, agent=agent, valid_at=NOON + timedelta(days=day, seconds=99))
                told = [fact for fact in true if fact.valid_to is None or fact.valid_to > fact.created_at]
                assert len(told) <= 1, (day, told)


def play(seed, names):
    with tempfile.TemporaryDirectory() as folder:
        sequence = Sequence(seed, Path(folder), names)
        with sequence.memory:
            for _ in range(sequence.random.randint(3, 12 if len(names) == 1 else 20)):
                sequence.step()
                sequence.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_of_any_day_one_value_is_true_and_an_undo_leaves_what_was_there(seed):
    play(seed, NAMES[:1])


@pytest.mark.parametrize("seed", SEEDS)
def test_entities_have_one_value_each_and_merged_ones_one(seed):
    play(seed, NAMES)


if __name__ == "__main__":
    for seed in range(SEEDS.stop, SEEDS.stop + int(sys.argv[1])):
        sys.stdout.write(f"seed {seed}\n")
        play(seed, NAMES[:1])
        play(seed, NAMES)
