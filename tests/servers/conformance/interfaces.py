"""The library as something that takes the steps of a scenario, and what every other way to a memory has in common."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, Protocol

from engrain.agent.wiring.view import View
from engrain.aio import AsyncMemory
from engrain.config import load
from engrain.domain.records import Record
from engrain.engines import embedder
from engrain.errors import EngrainError
from engrain.service import Memory
from tests.servers.conformance.scenario import SETTINGS, STEPS, Step
from tests.servers.conformance.transcripts import Said
from tests.support.wiped import fresh_store

# Reads of one thing, which the library answers by None where it is not there and every other way by `not_found`.
READS_OF_ONE = frozenset({"get", "entities.get", "notes.recall", "latest_reflection", "log.pop", "store.get"})
# Verbs, and groups of them, that are not in the scenario, and why.
BESIDES = {
    **dict.fromkeys(("memory.open", "memory.close", "memory.agent"), "make and end the views of a memory"),
    **dict.fromkeys(("memory.flush", "memory.reembed", "memory.health"), "are about this machine's engines and files"),
    **dict.fromkeys(("memory.backup", "memory.restore", "memory.export", "import_file"), "are about files"),
    "memory.export_events": "is about a file",
    **dict.fromkeys(("memory.metrics", "memory.readiness"), "are about one process"),
    **dict.fromkeys(("memory.users", "memory.export_user", "memory.erase_user"), "are about users, and nobody is one"),
    "memory.erase_tenant": "ends the scenario",
    "memory.reflect": "needs a language model",
    "memory.keys": "is about who may come by other ways",
    **dict.fromkeys(("memory.metrics", "memory.readiness"), "are about this process"),
    "memory.jobs": "is what a worker does when its time has come",
    **dict.fromkeys(("entities.enrich", "entities.enrich_waiting", "entities.to_enrich"), "need a name finder"),
    **dict.fromkeys(("notes.invalidate", "notes.clear_cache", "notes.cache_stats"), "are about one process"),
    **dict.fromkeys(("handle", "working"), "hold what one process holds"),
    "graph": "answers as another memory server does, and is held to that one",
    "hooks": "raises nothing, which is its own matter",
}
# What stands for a verb that a way has not at all, where another's missing arguments would stand.
WHOLLY = ("...",)


class Way(Protocol):
    """Takes one step after another."""

    def take(self, step: Step) -> Said: ...


class Row(Protocol):
    """One command, tool or route behind a verb, by its name."""

    name: str

    @property
    def takes(self) -> frozenset[str]:
        """The arguments of the verb that it takes."""


Table = Mapping[str, Sequence[Row]]


def asked_for(step: Step) -> dict[str, Any]:
    """The arguments of a step; the conversation going on is one of them where it is told."""
    return dict(step.given) if step.session is None else {**step.given, "session": step.session}


def lacking(table: Table) -> dict[str, tuple[str, ...]]:
    """What the scenario asks for and a way has not: verbs, and arguments of verbs."""
    asked: dict[str, set[str]] = {}
    for step in STEPS:
        asked.setdefault(step.verb, set()).update(asked_for(step))
    missing = {
        verb: tuple(sorted(given.difference(*(row.takes for row in table[verb])))) if verb in table else WHOLLY
        for verb, given in asked.items()
    }
    return {verb: what for verb, what in missing.items() if what}


def named(table: Table) -> set[str]:
    """What is behind the verbs of a table."""
    return {row.name for rows in table.values() for row in rows}


def is_beside(name: str, besides: Iterable[str]) -> bool:
    """Whether a name such as `group.verb` or `group command`, or its group, is left out of the scenario."""
    return any(name == left_out or name.startswith((f"{left_out}.", f"{left_out} ")) for left_out in besides)


def without(names: Iterable[str], besides: Mapping[str, str]) -> set[str]:
    """The names that are not left out; whatever is left out has to be there."""
    left = {name for name in names if not is_beside(name, besides)}
    gone = set(names) - left
    assert all(any(name.startswith(left_out) for name in gone) for left_out in besides), sorted(besides)
    return left


def verbs() -> set[str]:
    """Every verb of the library: of an agent and its groups, and as `memory.verb` of the memory."""
    with Memory.open(":memory:", settings={"embedding": {"model": "none"}}) as memory:
        return {*_verbs(memory.agent()), *(f"memory.{verb}" for verb in _verbs(memory))}


def _verbs(of: object) -> Iterator[str]:
    for name in dir(of):
        value = None if name.startswith("_") else getattr(of, name)
        if isinstance(value, View):
            yield from (f"{name}.{verb}" for verb in _verbs(value))
        elif callable(value):
            yield name


def json_of(value: Any) -> Any:
    """The value of a verb as JSON: records by `to_dict()`, lists as a page without a next one."""
    match value:
        case Record():
            return value.to_dict()
        case str() | int() | float() | None | [str(), *_]:
            return value
        case _:
            return {"items": [json_of(item) for item in value], "next": None}


def answered(step: Step, value: Any) -> Said:
    """What the library gave."""
    if value is None and step.verb in READS_OF_ONE:
        return Said(step, refused="not_found")
    return Said(step, answer=json_of(value))


def verb_of(memory: Any, step: Step) -> Any:
    """The method that a step calls, of the memory or of the agent's view of it."""
    if step.verb.startswith("memory."):
        return getattr(memory, step.verb.removeprefix("memory."))
    agent = memory.agent(step.agent, session=step.session, request_id=step.request_id)
    return reduce(getattr, step.verb.split("."), agent)


class Library:
    """`Memory`. The vector of what a step wrote is there before the next, as after each command of the command line.

    A client's vectors are made by the `served` memory.
    """

    def __init__(self, memory: Memory, served: Memory | None = None) -> None:
        self._memory = memory
        self._served = served or memory

    def take(self, step: Step) -> Said:
        try:
            return answered(step, verb_of(self._memory, step)(**step.given))
        except EngrainError as error:
            return Said(step, refused=error.code)
        finally:
            self._served.flush()


class AsyncLibrary:
    """`AsyncMemory`, in a loop of its own."""

    def __init__(self, memory: AsyncMemory, runner: asyncio.Runner, served: AsyncMemory | None = None) -> None:
        self._memory = memory
        self._served = served or memory
        self._runner = runner

    def take(self, step: Step) -> Said:
        return self._runner.run(self._take(step))

    async def _take(self, step: Step) -> Said:
        try:
            return answered(step, await verb_of(self._memory, step)(**step.given))
        except EngrainError as error:
            return Said(step, refused=error.code)
        finally:
            await self._served.flush()


@contextmanager
def library(folder: Path) -> Iterator[Way]:
    with Memory.open(folder / "memory.db", settings=SETTINGS) as memory:
        yield Library(memory)


@contextmanager
def async_library(folder: Path) -> Iterator[Way]:
    with asyncio.Runner() as runner:
        memory = runner.run(AsyncMemory.open(folder / "memory.db", settings=SETTINGS))
        yield AsyncLibrary(memory, runner)
        runner.run(memory.close())


@contextmanager
def library_on_postgres(_: Path) -> Iterator[Way]:
    with fresh_store() as store, Memory(store, embedder=embedder("minilm"), settings=load(SETTINGS)) as memory:
        yield Library(memory)
