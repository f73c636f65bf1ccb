"""Random sequences of verbs on one memory, or on several in lockstep, whose answers have to be the same."""

import itertools
import json
import random
import re
from datetime import timedelta

from engrain import Memory
from engrain.domain.runs.completions import Completion
from engrain.errors import Forbidden, InvalidInput, NotFound, VersionConflict
from tests.support.clock import NOON
from tests.support.learning_memories import reply

NOBODY = "01a1fdfa-51b8-721d-8dc5-2320de4a5263"
AGENTS, USERS, SESSIONS = ("ana", "ben"), (None, None, None, "u1", "u2"), ("s1", "s2")
NAMES, WORDS, PLACES = ("Ana", "Ben", "Ana Reis"), ("tram", "river", "sugar", "vault"), ("Porto", "Rome", "Oslo")
RELATIONS = ("lives in", "works at", "likes", "knows")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_REFUSALS = (Forbidden, InvalidInput, NotFound, VersionConflict)
# Of a call over HTTP, of an id, or of the restore that made the copy.
_OWN = {"request_id", "digest", "sha256"}


class Chance:
    """What a sequence draws: the caller, the verb and its arguments, in which `#3` is the fourth id of an answer."""

    def __init__(self, seed, clock):
        self.random = random.Random(seed)
        self.key = Ids(clock)
        self.keys = []
        self.known = {"fact": [], "episode": [], "rule": [], "entity": [], "run": []}
        self.number = 0

    def one(self, *choices):
        return self.random.choice(choices)

    def id(self, *kinds):
        return self.one(*([id_ for kind in kinds for id_ in self.known[kind]] or [NOBODY]))

    def memory(self):
        return self.id("fact", "episode", "rule")

    def text(self):
        self.number += 1
        return self.one(*PLACES, *(f"{word} number {self.number}" for word in WORDS))

    def day(self):
        return NOON + timedelta(days=self.random.randrange(-9, 10, 3))

    def some(self, **makers):
        return {name: make() for name, make in makers.items() if self.random.random() < 0.3}

    def filed(self):
        """Tags, metadata and a key, which is new or was used before: a client gives each write one of its own time."""
        self.keys.append(self.one(self.key(), self.key(), self.key(), *self.keys[:1]))
        found = self.some(tags=lambda: [self.one("home", "project:shop")], metadata=lambda: {"a": [1.5, {"b": None}]})
        return {**found, "idempotency_key": self.keys[-1]}

    def scope(self):
        return self.one("global", "pool:team", *AGENTS)

    def period(self):
        return self.some(valid_from=self.day, valid_to=self.day)


# What each verb is called with.
VERBS = {
    "observe": lambda c: (
        [c.text()],
        {"speaker": c.one(*NAMES), "role": c.one("user", "user", "assistant", "tool"), **c.filed()},
    ),
    "add": lambda c: ([[{"content": c.text()}, {"content": c.text(), "role": "assistant"}]], c.filed()),
    "remember": lambda c: (
        [c.text()],
        {"subject": c.one(*NAMES), "predicate": c.one(*RELATIONS)}
        | c.period()
        | c.filed()
        | c.some(scope=c.scope, source_episode_id=lambda: c.id("episode"), entity_id=lambda: c.id("entity")),
    ),
    "correct": lambda c: ([c.id("fact"), c.text()], c.period()),
    "confirm": lambda c: ([c.id("fact", "rule")], {}),
    "forget": lambda c: ([c.memory()], {}),
    "erase": lambda c: ([[c.memory(), c.memory()]], c.some(cascade=lambda: "seen")),
    "link": lambda c: ([c.memory(), c.memory(), c.one("supports", "derived_from", "contradicts")], {}),
    "rules.add": lambda c: ([c.text()], c.filed() | c.some(scope=c.scope)),
    "rules.mark_helpful": lambda c: ([c.id("rule")], {}),
    "rules.mark_harmful": lambda c: ([c.id("rule"), c.text()], {}),
    "pools.create": lambda _: (["team", [*AGENTS]], {}),
    "pools.remove": lambda c: (["team", c.one(*AGENTS)], {}),
    "pools.contribute": lambda c: (["team", c.memory()], {}),
    "pools.sync_to_agent": lambda _: (["team"], {}),
    "notes.save": lambda c: ([c.one("n1", "n2"), c.text()], {}),
    "notes.forget": lambda c: ([c.one("n1", "n2")], {}),
    "log.append": lambda c: (
        [[{"role": "user", "content": c.text()}]],
        {"session": "s1", "remember": c.one(True, False)},
    ),
    "log.pop": lambda _: ([], {"session": "s1"}),
    "store.put": lambda c: (
        [c.one("k1", "k2"), {"title": c.text()}],
        c.some(index=lambda: ["title"], ttl_s=lambda: 1e5, expected_version=lambda: 0, keep_history=lambda: True),
    ),
    "store.delete": lambda c: ([c.one("k1", "k2")], {}),
    "entities.create": lambda c: ([c.one(*NAMES), "person"], c.some(aliases=lambda: ["Anita"])),
    "entities.merge": lambda c: ([c.id("entity"), c.id("entity")], {}),
    "entities.unmerge": lambda c: ([c.id("entity")], {}),
    "memory.consolidate": lambda _: ([], {}),
    "memory.undo": lambda c: ([c.id("run")], {"agent": c.one(*AGENTS)}),
    "memory.decay": lambda _: (["default"], {}),
    "memory.cleanup": lambda _: (["default"], {}),
    "memory.erase_user": lambda _: (["u2"], {}),
}
_WEIGHTS = {"observe": 8, "remember": 12, "correct": 4, "forget": 3, "erase": 3, "memory.erase_user": 0.3}
# What a caller can read.
READS = {
    "list": lambda _: ([], {"include_inactive": True, "limit": 1_000}),
    "facts": lambda c: ([], c.some(as_of=c.day, valid_at=c.day, subject=lambda: c.one(*NAMES))),
    "episodes": lambda c: ([c.one(*SESSIONS)], {}),
    "recall": lambda c: (
        [f"{c.one(*NAMES)} {c.one(*RELATIONS)} {c.one(*WORDS)} {c.one(*PLACES)}"],
        {"limit": 20, "count_references": False, "preset": c.one("engrain", "keyword", "recency")}
        | c.some(as_of=c.day, valid_at=c.day, kinds=lambda: c.one("fact", "episode"), tags=lambda: "home"),
    ),
    "context": lambda c: ([c.one(*NAMES)], {"count_references": False}),
    "get": lambda c: ([c.memory()], {"count_references": False}),
    "history": lambda c: ([c.id("fact")], {}),
    "links": lambda c: ([c.memory()], {}),
    "events": lambda _: ([], {"limit": 1_000}),
    "stats": lambda _: ([], {}),
    "audit": lambda _: ([], {}),
    "pools.list": lambda _: ([], {}),
    "rules.applications": lambda c: ([c.id("rule")], {}),
    "notes.list": lambda _: ([], {}),
    "log.read": lambda _: ([], {"session": "s1"}),
    "store.search": lambda _: ([], {}),
    "entities.find": lambda _: ([], {}),
    "graph.read": lambda _: ([], {}),
    "memory.users": lambda _: ([], {}),
    "memory.runs": lambda _: ([], {"agent": "ana"}),
}


class Side:
    """One of the memories, and the number of each id that it has answered with."""

    def __init__(self, memory, ids=()):
        self.memory = memory
        self.ids = list(ids)

    def call(self, caller, verb, arguments, named):
        *groups, name = verb.split(".")
        owner = self.memory if groups == ["memory"] else self.memory.agent(**caller)
        for group in groups if owner is not self.memory else ():
            owner = getattr(owner, group)
        try:
            return self.numbered(_plain(getattr(owner, name)(*self.real(arguments), **self.real(named))))
        except _REFUSALS as refusal:
            return type(refusal).__name__  # over HTTP its words quote no value

    def numbered(self, answer):
        text = _ID.sub(lambda found: self._number(found[0]), json.dumps(answer))
        return json.loads(text, parse_float=lambda digits: round(float(digits), 4))

    def _number(self, id_):
        if id_ not in self.ids:
            self.ids.append(id_)
        return f"#{self.ids.index(id_)}"

    def real(self, value):
        match value:
            case str() if value.startswith("#"):
                return self.ids[int(value[1:])]
            case list():
                return [self.real(item) for item in value]
            case dict():
                return {name: self.real(item) for name, item in value.items()}
            case _:
                return value


class Player:
    """Calls random verbs on all sides; their answers are the same."""

    def __init__(self, seed, clock, *memories):
        self.chance = Chance(seed, clock)
        self.clock = clock
        self.sides = [Side(memory) for memory in memories]

    def join(self, memory):
        """Go on with a copy, too."""
        memory.parts.ids.count = itertools.count(10**9)
        self.sides[0].memory.parts.ids.count = itertools.count(10**9)
        self.sides.append(Side(memory, self.sides[0].ids))

    def play(self, steps):
        for _ in range(steps):
            self.clock.pass_time(seconds=self.chance.one(1, 1, 60, 86_400, 172_807))
            [verb] = self.chance.random.choices([*VERBS], [_WEIGHTS.get(verb, 1) for verb in VERBS])
            self._ask(verb, VERBS[verb])

    def read(self, times=1):
        for verb, draw in READS.items():
            for _ in range(times):
                self._ask(verb, draw)

    def _ask(self, verb, draw):
        one = self.chance.one
        caller = {"name": one(*AGENTS), "user": one(*USERS), "session": one(*SESSIONS)}
        arguments, named = draw(self.chance)
        first, *others = (side.call(caller, verb, arguments, named) for side in self.sides)
        for other in others:
            assert other == first, (verb, arguments, named, caller)
        self._learn(first)

    def _learn(self, answer):
        """Note the ids of memories, entities and runs."""
        for item in answer if isinstance(answer, list) else answer.values() if isinstance(answer, dict) else ():
            self._learn(item)
        if isinstance(answer, dict):
            kind = answer.get("kind") or ("entity" if "canonical_name" in answer else None)
            found = [(kind, answer.get("id")), *(("run", id_) for id_ in answer.get("run_ids", ()))]
            for kind, id_ in found:
                if id_ is not None and id_ not in self.chance.known.get(kind, [id_]):
                    self.chance.known[kind].append(id_)


class Ids:
    """Ids of the time that the clock shows, one above the other."""

    def __init__(self, clock):
        self.clock = clock
        self.count = itertools.count()

    def __call__(self):
        time = f"{int(self.clock.now.timestamp() * 1000):012x}"
        return f"{time[:8]}-{time[8:]}-7000-8000-{next(self.count):012x}"


class Learner:
    """A language model that learns where Ana lives, from the last turn of its prompt."""

    name = "scripted"

    def complete(self, prompt, *, timeout_s):
        assert timeout_s > 0
        quotes = re.findall(r"(?:tram|river|sugar|vault) number \d+", prompt.user)
        evidence = [{"episode": "e1", "quote": quotes[-1] if quotes else "Porto"}]
        fact = {"subject": "Ana", "predicate": "lives in", "content": "Lisbon", "evidence": evidence}
        return Completion(text=reply(fact))


def open_memory(location, clock):
    """A memory whose ids and times are the same in every sequence of one seed."""
    key = "the key of all memories of the tests"
    sections = {"embedding": {"model": "none"}, "consolidation": {"on_session_switch": False}}
    settings = {**sections, "backup": {"signing_key": key}}
    return Memory.open(location, llm=Learner(), clock=clock, ids=Ids(clock), settings=settings)


def _plain(answer):
    """An answer as JSON, without what is of one side alone."""
    if hasattr(answer, "to_dict"):
        answer = answer.to_dict()
    if isinstance(answer, dict):
        return {name: _plain(value) for name, value in answer.items() if name not in _OWN}
    if isinstance(answer, list | tuple):
        items = [_plain(item) for item in answer]
        return [item for item in items if not (isinstance(item, dict) and item.get("event_type") == "backup_restored")]
    return answer
