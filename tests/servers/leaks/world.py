"""Small worlds of tenants, agents and pools whose names overlap, and what each caller of them may see.

Whatever is said in a world holds a canary, a word that stands nowhere else. What a caller may see is decided here, from
what was written down, and never asked of a store.
"""

import random
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from zlib import crc32

import numpy as np

from engrain.domain.access.keys import AccessKey
from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.filters import Filter
from engrain.domain.items import IndexEntry, ItemAddress, ItemChange
from engrain.domain.logs import LogAddress, NewEntry
from engrain.domain.maintenance.backups import Extent
from engrain.domain.records import Caller, Entity, Fact, Link, MemoryRecord
from engrain.domain.requests import Act, Ref, Request
from engrain.domain.runs.plans import Plan
from engrain.domain.runs.runs import Claim
from engrain.domain.text import bm25
from engrain.domain.text.analysis import terms
from engrain.storage.unit_of_work import UnitOfWork
from tests.support.one_call import OneCall
from tests.support.sample_records import NOON
from tests.support.sample_search import DIMS, WORDS, vector_of

CANARY = re.compile(r"zq\d{5}zq")
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
EMBEDDER = "test:words"
NEXT_EMBEDDER = "test:next"
READ_AT = NOON + timedelta(days=30)


@dataclass(frozen=True)
class Put:
    act: Act
    memories: tuple[MemoryRecord, ...]


@dataclass(frozen=True)
class Change:
    """`touch`, `confirm`, `forget` or `erase` of one memory."""

    act: Act
    verb: str
    memory: MemoryRecord


@dataclass(frozen=True)
class Mark:
    act: Act
    memory: MemoryRecord
    outcome: str
    reason: str | None


@dataclass(frozen=True)
class Join:
    act: Act
    source: MemoryRecord
    target: MemoryRecord
    link: Link


@dataclass(frozen=True)
class Register:
    act: Act
    entity: Entity


@dataclass(frozen=True)
class Mention:
    act: Act
    memory: MemoryRecord
    entities: tuple[Entity, ...]


@dataclass(frozen=True)
class Work:
    """A run of learning, which ends with nothing learned."""

    act: Act
    worker: str


@dataclass(frozen=True)
class Admit:
    """A key of the caller's tenant."""

    act: Act
    key: AccessKey


@dataclass(frozen=True)
class Append:
    """An entry of a log, whose session others name alike."""

    act: Act
    place: LogAddress
    id: str
    entry: str


@dataclass(frozen=True)
class Upkeep:
    """`flush_index`, `embed` or `build`: done for every tenant at once."""

    verb: str


Step = Put | Change | Mark | Join | Register | Mention | Work | Admit | Append | Upkeep


def sees(caller: Caller, *memories: MemoryRecord) -> bool:
    """Whether a caller may see all of these: the rule that every backend is held to."""
    scopes = {GLOBAL_SCOPE, caller.agent, *(f"pool:{pool}" for pool in caller.pools)}
    if caller.user is not None:
        of_user = f"user:{caller.user.replace('/', '%2F')}"
        scopes |= {of_user, *(f"{of_user}/{scope}" for scope in scopes - {GLOBAL_SCOPE})}
    return all(memory.tenant_id == caller.tenant_id and memory.scope in scopes for memory in memories)


def seen_part(step: Step, caller: Caller) -> Step | None:  # noqa: C901, PLR0911  # one for each kind of step
    """As much of a step as a caller may know of."""
    match step:
        case Put(memories=memories):
            seen = tuple(memory for memory in memories if sees(caller, memory))
            return replace(step, memories=seen) if seen else None
        case Change(memory=memory) | Mark(memory=memory) | Mention(memory=memory):
            return step if sees(caller, memory) else None
        case Join(source=source, target=target):
            return step if sees(caller, source, target) else None
        case Register(entity=Entity(tenant_id=tenant_id, user_id=user)):
            return step if tenant_id == caller.tenant_id and user in ("", caller.user) else None
        case Admit(key=AccessKey(tenant_id=tenant_id)):
            return step if tenant_id == caller.tenant_id else None
        case Work(act=Act(caller=worker)):  # its events are in the agent's own scope
            is_mine = (worker.tenant_id, worker.agent) == (caller.tenant_id, caller.agent)
            return step if is_mine and worker.user in (None, caller.user) else None
        case Append(act=Act(caller=writer)):  # its event is in the agent's own scope
            if (writer.tenant_id, writer.agent) != (caller.tenant_id, caller.agent):
                return None
            if writer.user == caller.user:
                return step
            return replace(step, entry="{}") if writer.user is None else None
        case Upkeep():
            return step


def _told(step: Step) -> tuple[object, ...]:
    """What a step tells those who may know of it: what was done, by whom, on whose request; not the actor's pools."""
    if isinstance(step, Upkeep):
        return ()
    what = [getattr(step, each.name) for each in fields(step) if each.name != "act"]
    return (what, step.act.caller.agent, step.act.caller.request_id)


@dataclass(frozen=True, eq=False)
class World:
    """Who is there, and what they did, in order."""

    seed: int
    callers: tuple[Caller, ...]
    steps: tuple[Step, ...]

    @cached_property
    def memories(self) -> tuple[MemoryRecord, ...]:
        """All that was ever put, as it was put."""
        return tuple(memory for step in self.steps if isinstance(step, Put) for memory in step.memories)

    @cached_property
    def pools(self) -> dict[tuple[str, str], list[Caller]]:
        """Who is in which pool, by tenant and name."""
        found: dict[tuple[str, str], list[Caller]] = {}
        for caller in self.callers:
            for pool in caller.pools:
                found.setdefault((caller.tenant_id, pool), []).append(caller)
        return found

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        return tuple(step.entity for step in self.steps if isinstance(step, Register))

    @cached_property
    def keys(self) -> tuple[AccessKey, ...]:
        return tuple(step.key for step in self.steps if isinstance(step, Admit))

    @cached_property
    def places(self) -> tuple[LogAddress, ...]:
        """Every session of a log, whoever has it."""
        return tuple(dict.fromkeys(step.place for step in self.steps if isinstance(step, Append)))

    @cached_property
    def erased(self) -> frozenset[str]:
        """Canaries of what is gone for good."""
        return frozenset(
            canary_of(step.memory) for step in self.steps if isinstance(step, Change) and step.verb == "erase"
        )

    @cached_property
    def ids(self) -> frozenset[str]:
        """Every id of a memory or entity."""
        return frozenset(each.id for each in (*self.memories, *self.entities))

    def some_callers(self, count: int) -> list[Caller]:
        """Who sees least, and those who see most, by turns without a user and with one."""
        by_sight = sorted(self.callers, key=lambda caller: len(self.seen_by(caller)), reverse=True)
        least = by_sight.pop()
        ways = [[caller for caller in by_sight if (caller.user is None) is way] for way in (True, False)]
        return [least, *(caller for pair in zip(*ways, strict=False) for caller in pair)][:count]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every canary, in the order of appearance."""
        return tuple(dict.fromkeys(CANARY.findall(repr((self.callers, self.steps)))))

    def seen_by(self, caller: Caller) -> tuple[MemoryRecord, ...]:
        """What is there and visible, live or not."""
        return tuple(each for each in self.memories if sees(caller, each) and canary_of(each) not in self.erased)

    @lru_cache(maxsize=1_000)  # noqa: B019  # a test's worlds are small, and every answer of one is held against this
    def known_to(self, caller: Caller) -> frozenset[str]:
        """The canaries and ids a caller may be told: its own names, its pools' members, every step it may know of."""
        peers = [self.pools[caller.tenant_id, pool] for pool in caller.pools]
        agents = [peer.agent for members in peers for peer in members]
        said = repr(
            (caller, agents, [_told(seen) for step in self.steps if (seen := seen_part(step, caller)) is not None])
        )
        return frozenset([*CANARY.findall(said), *ID.findall(said)])

    def as_known_to(self, caller: Caller) -> "World":
        """The same world without anything that a caller may not see."""
        parts = [seen_part(step, caller) for step in self.steps]
        return replace(self, steps=tuple(step for step in parts if step is not None))

    def changed_behind(self, caller: Caller) -> "World":
        """The same world to a caller, and another one to everybody else: other contents, and more of them."""
        steps: list[Step] = []
        numbers = random.Random(self.seed + 1)
        for step in self.steps:
            if not isinstance(step, Put) or any(sees(caller, memory) for memory in step.memories):
                steps.append(step)
                continue
            others = tuple(_otherwise(memory, numbers) for memory in step.memories)
            steps += [replace(step, memories=others), replace(step, memories=tuple(_twin(m, numbers) for m in others))]
        return replace(self, steps=tuple(steps))


def canary_of(memory: MemoryRecord) -> str:
    """The word that stands in this memory and in no other."""
    return CANARY.findall(memory.content)[0]


def live(store: OneCall, world: World) -> dict[Ref, str]:  # noqa: C901  # one for each kind of step
    """Let a world happen in a store; the canaries of memories by the store's refs."""
    store.use_embedder(EMBEDDER, DIMS)
    _share(store, world)
    refs: dict[Ref, str] = {}
    for step in world.steps:
        match step:
            case Put(act=act, memories=memories):
                store.put(act, memories)
            case Change(act=act, verb="touch" | "erase" as verb, memory=memory):
                getattr(store, verb)(act, [memory.id])
            case Change(act=act, verb=verb, memory=memory):
                getattr(store, verb)(act, memory.id)
            case Mark(act=act, memory=memory, outcome=outcome, reason=reason):
                store.mark(act, memory.id, outcome, reason=reason)
            case Join(act=act, link=link):
                store.link(act, link)
            case Register(act=act, entity=entity):
                store.put_entity(act, entity)
            case Admit(act=act, key=key):
                store.put_key(act, key, f"digest {key.name}")
            case Mention(act=act, memory=memory, entities=entities):
                store.mention(act, memory.id, [each.id for each in entities])
            case Work(act=act, worker=worker):
                begun = store.claim(act, Claim(kind="reflection", worker=worker, lease_s=60, model=worker))
                assert begun is not None
                store.carry_out(act, begun.run.id, Plan(episode_ids=()), {"note": worker})
            case Append(act=act, place=place, id=id_, entry=entry):
                store.append_log(act, place, [NewEntry(entry, None)], session_id=id_, episodes={}, put=put_nothing)
                store.write_items(act, [item_of(place, entry)], ids=[f"item {id_}", f"old {id_}"])
            case Upkeep(verb=verb):
                refs |= _keep_up(store, verb)
    return refs | _refs_of_owners(store, world, [doc + step for doc in _docs(store) for step in (-1, 0, 1)])


def _docs(store: OneCall) -> list[int]:
    """The numbers of all memories that are there."""
    kinds = ("episodes", "facts", "rules")
    return store.extract(Extent(), lambda rows: [row["doc"] for kind in kinds for row in rows.rows(kind, exact=True)])


def item_of(place: LogAddress, entry: str) -> ItemChange:
    """The item that an entry of a log is stored as, too; its content is searched."""
    packed = bm25.pack(terms(entry), [])
    index = IndexEntry(packed.own, packed.packed)
    return ItemChange(address_of(place), text=entry, fields=("content",), entry=index)


def address_of(place: LogAddress) -> ItemAddress:
    return ItemAddress((place.log, place.session), place.subkey or "main")


def put_nothing(work: UnitOfWork, memories: Sequence[MemoryRecord]) -> Sequence[MemoryRecord]:  # noqa: ARG001
    """No turn of the entry is remembered."""
    return memories


def _share(store: OneCall, world: World) -> None:
    """Make the pools that the callers are in."""
    for (_, pool), (founder, *others) in world.pools.items():
        store.create_pool(Act(caller=founder, at=NOON), pool, sorted({each.agent for each in others}), {})


def _refs_of_owners(store: OneCall, world: World, refs: Sequence[Ref]) -> dict[Ref, str]:
    """Those too that left the searches before anybody asked for a vector: each as its owner loads it."""
    found: dict[Ref, str] = {}
    for caller in world.callers:
        asked = Request(caller=caller, filter=Filter(include_inactive=True), now=READ_AT)
        found |= {ref: canary_of(memory) for ref, memory in store.load(asked, refs).items()}
    return found


def _keep_up(store: OneCall, verb: str) -> dict[Ref, str]:
    while store.flush_index():
        pass
    if verb == "flush_index":
        return {}
    version = store.begin_version(NEXT_EMBEDDER, DIMS + 1).version if verb == "build" else None
    waiting = store.unembedded(100_000, version=version)
    chosen = [each for each in waiting if crc32(each.text.encode()) % 4]  # a quarter stays without
    vectors = np.array([vector_of(each.text) for each in chosen], np.float32).reshape(-1, DIMS)
    if version is not None:
        vectors = np.pad(vectors, ((0, 0), (0, 1)))
    store.attach([each.ref for each in chosen], vectors, version=version)
    return {each.ref: CANARY.findall(each.text)[0] for each in waiting}


def _otherwise(memory: MemoryRecord, numbers: random.Random) -> MemoryRecord:
    """The same memory, saying and being tagged something else."""
    words = " ".join(numbers.choices(WORDS, k=numbers.randint(4, 12)))
    return replace(memory, content=f"{canary_of(memory)} {words}", tags=("travel", "work"))


def _twin(memory: MemoryRecord, numbers: random.Random) -> MemoryRecord:
    """One more such memory, in a place of its own."""
    twin = replace(memory, id=str(uuid.UUID(int=numbers.getrandbits(128))))
    return replace(twin, predicate=f"again {twin.id}") if isinstance(twin, Fact) else twin
