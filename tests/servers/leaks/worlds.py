"""Worlds made at random, each of its seed alone."""

import json
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from engrain.domain.access.keys import ROLES as KEY_ROLES
from engrain.domain.access.keys import AccessKey
from engrain.domain.access.scopes import GLOBAL_SCOPE, user_of
from engrain.domain.logs import LogAddress
from engrain.domain.records import KINDS, RELATIONS, ROLES, Caller, Entity, Episode, Fact, Link, MemoryRecord, Rule
from engrain.domain.requests import Act
from tests.servers.leaks.world import (
    READ_AT,
    Admit,
    Append,
    Change,
    Join,
    Mark,
    Mention,
    Put,
    Register,
    Step,
    Upkeep,
    Work,
    World,
    canary_of,
    sees,
)
from tests.support.sample_records import NOON
from tests.support.sample_search import WORDS

_MOMENTS = [NOON + timedelta(days=days) for days in range(-3, 4)]
# While anything has run out, of whomever, every search looks again at what it found: in half of the worlds nothing has.
_ENDINGS = [[None, READ_AT + timedelta(days=1)], [None, READ_AT - timedelta(days=1), READ_AT + timedelta(days=1)]]
_VERBS = ["put"] * 12 + [
    "touch",
    "confirm",
    "forget",
    "forget",
    "erase",
    "mark",
    "mark",
    *["link"] * 6,
    *["entity"] * 3,
    *["mention"] * 6,
    "flush_index",
]


def make_world(seed: int, *, length: int = 80) -> World:
    """The world of a seed: always the same."""
    return _Maker(seed, random.Random(seed)).world(length)


@dataclass
class _Maker:
    seed: int
    numbers: random.Random
    _canaries: int = 10_000
    _minutes: int = 0
    _memories: list[MemoryRecord] = field(default_factory=list)
    _entities: list[Entity] = field(default_factory=list)
    _keys: list[AccessKey] = field(default_factory=list)
    _erased: set[str] = field(default_factory=set)  # canaries
    _ended: set[str] = field(default_factory=set)
    _holders: dict[tuple[str, ...], str] = field(default_factory=dict)  # canary of the active fact by place

    def world(self, length: int) -> World:
        callers = self._callers()
        steps: list[Step] = [step for caller in callers for step in self._notes(caller)]
        for place in range(length):
            if place == length // 2:
                steps += [Upkeep("embed"), Upkeep("build")]
            made = self._step(self.numbers.choice(callers), self.numbers.choice(_VERBS))
            steps += [] if made is None else [made]
        steps += [step for caller in callers for step in self._acquaintances(caller)]
        return World(self.seed, tuple(callers), (*steps, Upkeep("embed"), Upkeep("flush_index")))

    def _acquaintances(self, caller: Caller) -> tuple[Step, ...]:
        """Whom everybody knows: somebody it keeps a fact about, and a stranger; its own rule, day, run and key.

        The fact is its latest reflection too.
        """
        self._minutes += 1
        at = NOON + timedelta(minutes=self._minutes)
        act = Act(caller=replace(caller, request_id=f"request {self._canary()}"), at=at)
        somebody, stranger = self._register(act), self._register(act)
        known = self._note(caller, f"knows {self._canary()}", at)
        known = replace(known, entity_id=somebody.entity.id, category="reflection")
        self._memories[-1] = known
        later = [replace(act, at=at + timedelta(seconds=seconds)) for seconds in (10, 20, 30)]
        rule, session = self._own_rule(caller, later[0].at), f"day {self._canary()}"
        day = tuple(self._own_turn(caller, session, later[1].at) for _ in range(2))
        learned = Put(act, (known,)), Put(later[0], (rule,)), Put(later[1], day), self._mark(later[2], rule)
        worked = Work(act, f"worker {self._canary()}")
        return somebody, stranger, *learned, worked, self._key(act), *self._logs(caller, later[2].at)

    def _logs(self, caller: Caller, at: datetime) -> tuple[Step, ...]:
        """Entries of sessions that others name alike, and of one of its own; an act each, whose order is told."""
        own = f"own {self._canary()}"
        places = (LogAddress("chat", "monday"), LogAddress("chat", "monday", "side"), LogAddress("chat", own))
        act = Act(caller=replace(caller, request_id=f"request {self._canary()}"), at=at)
        return tuple(
            Append(
                replace(act, at=at + timedelta(seconds=place)),
                named,
                f"log {self._canary()}",
                json.dumps({"role": "user", "content": self._canary()}),
            )
            for place, named in enumerate(places, 1)
        )

    def _own_rule(self, caller: Caller, at: datetime) -> Rule:
        own = {"tenant_id": caller.tenant_id, "agent": caller.agent, "scope": caller.own_scope, "created_at": at}
        rule = Rule(id=self._id(caller.tenant_id, self._memories), **own, content=f"{self._canary()} {WORDS[2]}")
        self._memories.append(rule)
        return rule

    def _own_turn(self, caller: Caller, session: str, at: datetime) -> Episode:
        """A turn of a session that is consolidated."""
        own = {"tenant_id": caller.tenant_id, "agent": caller.agent, "scope": caller.own_scope, "created_at": at}
        canary = self._canary()
        turn = Episode(
            id=self._id(caller.tenant_id, self._memories),
            **own,
            session=session,
            content=f"{canary} {WORDS[3]}",
            event_time=at,
            consolidation_status="consolidated",
        )
        self._memories.append(turn)
        return turn

    def _key(self, act: Act) -> Admit:
        """A key of its own, whose id another tenant may use too."""
        key = AccessKey(
            id=self._id(act.caller.tenant_id, self._keys),
            tenant_id=act.caller.tenant_id,
            agent=act.caller.agent,
            user_id=act.caller.user,
            role=self.numbers.choice(KEY_ROLES),
            name=f"key {self._canary()}",
            created_at=act.at,
        )
        self._keys.append(key)
        return Admit(act, key)

    def _notes(self, caller: Caller) -> tuple[Step, ...]:
        """What everybody has of its own: two notes that have to do with each other."""
        act = Act(caller=replace(caller, request_id=f"request {self._canary()}"), at=NOON - timedelta(days=9))
        pair = tuple(self._note(caller, key, act.at) for key in ("likes", f"note {self._canary()}"))
        named = {"source_id": pair[0].id, "target_id": pair[1].id, "relation": "related_to"}
        return Put(act, pair), Join(act, *pair, Link(**named, created_at=act.at))

    def _note(self, caller: Caller, key: str, at: datetime) -> Fact:
        canary = self._canary()
        note = Fact(
            id=self._id(caller.tenant_id, self._memories),
            tenant_id=caller.tenant_id,
            agent=caller.agent,
            scope=caller.own_scope,
            subject=caller.agent,
            predicate=key,
            content=f"{canary} {WORDS[0]} {WORDS[1]}",
            category=f"category {canary}",
            created_at=at,
            metadata={"note": f"note {canary}"},
        )
        self._memories.append(note)
        self._holders[note.slot] = canary
        return note

    def _callers(self) -> list[Caller]:
        callers = []
        for name in ["acme", "bolt", "corp", "dune"][: self.numbers.randint(2, 4)]:
            tenant = f"{name}-{self._canary()}"
            pools = ["team", "crew", f"pool-{self._canary()}"]
            agents = self.numbers.sample(
                ["aide", "butler", "team", f"clerk-{self._canary()}"], self.numbers.randint(2, 4)
            )
            for agent in agents:
                joined = self.numbers.sample(pools, self.numbers.randint(0, 2))
                callers.append(Caller(tenant_id=tenant, agent=agent, pools=tuple(joined)))
            # Two agents act for one user, one of them for another too, whose name looks like a scope of the first.
            first, second = callers[-len(agents) : 2 - len(agents) or None]
            callers += [replace(one, user="ana") for one in (first, second)]
            callers.append(replace(first, user=f"ana/{second.agent}"))
        return callers

    def _step(self, caller: Caller, verb: str) -> Step | None:
        self._minutes += 1
        at = NOON + timedelta(minutes=self._minutes)
        act = Act(caller=replace(caller, request_id=f"request {self._canary()}"), at=at)
        if verb == "put":
            return Put(act, tuple(self._memory(caller, at) for _ in range(self.numbers.choice([1, 1, 1, 2, 3]))))
        if verb == "entity":
            return self._register(act)
        if verb == "flush_index":
            return Upkeep("flush_index")
        there = [each for each in self._memories if sees(caller, each) and canary_of(each) not in self._erased]
        if verb in ("link", "mention"):
            relate = self._join if verb == "link" else self._mention
            return relate(act, self.numbers.sample(there, 2)) if len(there) > 1 else None
        if verb in ("confirm", "mark"):
            there = [each for each in there if not isinstance(each, Episode) and canary_of(each) not in self._ended]
        if verb == "mark":
            there = [each for each in there if isinstance(each, Rule)]
        if not there:
            return None
        memory = self.numbers.choice(there)
        if verb in ("forget", "erase"):
            self._ended.add(canary_of(memory))
        if verb == "erase":
            self._erased.add(canary_of(memory))
        return self._mark(act, memory) if verb == "mark" else Change(act, verb, memory)

    def _mark(self, act: Act, memory: MemoryRecord) -> Mark:
        """An outcome; nobody puts words into everybody's rules on behalf of a user."""
        reason = f"reason {self._canary()}" if act.caller.user in (None, memory.user_id) else None
        return Mark(act, memory, self.numbers.choice(["helpful", "helpful", "harmful"]), reason)

    def _join(self, act: Act, ends: Sequence[MemoryRecord]) -> Join:
        named = {"source_id": ends[0].id, "target_id": ends[1].id, "relation": self.numbers.choice(RELATIONS)}
        return Join(act, ends[0], ends[1], Link(**named, created_at=act.at))

    def _mention(self, act: Act, memories: Sequence[MemoryRecord]) -> Mention | None:
        known = self._known(act.caller.tenant_id, memories[0].user_id)
        whom = self.numbers.sample(known, min(len(known), self.numbers.randint(1, 2)))
        return Mention(act, memories[0], tuple(whom)) if whom else None

    def _known(self, tenant: str, user: str | None) -> list[Entity]:
        """Whom a memory of a user, or of none, may name."""
        return [each for each in self._entities if each.tenant_id == tenant and each.user_id in ("", user)]

    def _register(self, act: Act) -> Register:
        """Somebody of a name, and often of an id, that other tenants know too."""
        canary, tenant = self._canary(), act.caller.tenant_id
        own = {(each.canonical_name, each.id) for each in self._entities if each.tenant_id == tenant}
        name = self.numbers.choice([each for each in ("Ana", "Ben", canary) if each not in dict(own)])
        entity = Entity(
            id=self._id(tenant, self._entities),
            tenant_id=tenant,
            user_id=act.caller.user_id,
            canonical_name=name,
            entity_type="person",
            aliases=(f"alias {canary}",),
            created_at=act.at,
            updated_at=act.at,
            metadata={"note": canary},
        )
        self._entities.append(entity)
        return Register(act, entity)

    def _memory(self, caller: Caller, at: datetime) -> MemoryRecord:
        canary, kind = self._canary(), self.numbers.choice(KINDS)
        words = " ".join(self.numbers.choices(WORDS, k=self.numbers.randint(2, 6)))
        values = {
            "id": self._id(caller.tenant_id, self._memories),
            "tenant_id": caller.tenant_id,
            "agent": caller.agent,
            "scope": self.numbers.choice(caller.scopes),
            "content": f"{canary} {words}",
            "created_at": at,
            "tags": self._some(["travel", "work", f"tag {canary}"]),
            "metadata": {"note": f"note {canary}", f"key {canary}": [canary]},
        }
        made = {"episode": self._episode, "fact": self._fact, "rule": self._rule}[kind](values, canary)
        self._memories.append(made)
        return made

    def _episode(self, values: dict, canary: str) -> Episode:
        return Episode(
            **values,
            session=self.numbers.choice([None, "monday", "monday", f"session {canary}"]),
            role=self.numbers.choice(ROLES),
            speaker=self.numbers.choice([None, "Ana", "Ben", f"Cleo {canary}"]),
            event_time=self.numbers.choice(_MOMENTS),
            expires_at=self.numbers.choice(_ENDINGS[self.seed % 2]),
            model=f"maker:{canary}",
            consolidation_status="pending" if self._canaries % 3 else "consolidated",
            tool_calls=({"name": canary},),
        )

    def _fact(self, values: dict, canary: str) -> Fact:
        registered = [each.id for each in self._known(values["tenant_id"], user_of(values["scope"]))]
        fact = Fact(
            **values,
            subject=self.numbers.choice(["Ana", "Ana", "Ben", f"Dora {canary}"]),
            predicate=self.numbers.choice(["likes", "likes", "has", f"sees {canary}"]),
            entity_id=self.numbers.choice([None, None, *registered[-2:]]),
            category=self.numbers.choice(["fact", f"category {canary}"]),
            source=f"source {canary}",
            validity=self.numbers.choice(["active", "active", "active", "retracted"]),
            valid_from=self.numbers.choice([None, *_MOMENTS]),
            source_episode_id=self._reference(values, Episode),
            supersedes_id=self._reference(values, Fact),
        )
        if fact.validity != "active":
            self._ended.add(canary)
            return replace(fact, invalidated_at=fact.created_at)
        self._ended |= {self._holders.get(fact.slot, canary)} - {canary}
        self._holders[fact.slot] = canary
        return fact

    def _rule(self, values: dict, canary: str) -> Rule:
        rule = Rule(**values, source_episode_id=self._reference(values, Episode))
        if self.numbers.random() < 0.2:
            self._ended.add(canary)
            return replace(rule, metadata={**rule.metadata, "forgotten": True}, invalidated_at=rule.created_at)
        return rule

    def _reference(self, values: dict, kind: type) -> str | None:
        """Something that whoever sees the new memory sees too: its id is no secret to them."""
        there = [
            each.id
            for each in self._memories
            if isinstance(each, kind)
            and each.tenant_id == values["tenant_id"]
            and each.scope in (GLOBAL_SCOPE, values["scope"])
            and canary_of(each) not in self._erased
        ]
        return self.numbers.choice(there) if there and self.numbers.random() < 0.3 else None

    def _id(self, tenant: str, taken: Sequence[MemoryRecord] | Sequence[Entity] | Sequence[AccessKey]) -> str:
        """A fresh id, or one that another tenant uses: ids are a tenant's own."""
        own = {each.id for each in taken if each.tenant_id == tenant}
        others = [each.id for each in taken if each.id not in own]
        if others and self.numbers.random() < 0.3:
            return self.numbers.choice(others)
        return str(uuid.UUID(int=self.numbers.getrandbits(128)))

    def _some(self, names: list[str]) -> tuple[str, ...]:
        return tuple(self.numbers.sample(names, self.numbers.randint(0, 2)))

    def _canary(self) -> str:
        self._canaries += 1
        return f"zq{self._canaries}zq"
