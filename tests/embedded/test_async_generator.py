import ast
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.generate_async import SOURCES, TARGET, TWINS, generated

from engrain.agent.agent import Agent
from engrain.agent.consolidation import Consolidation
from engrain.agent.entities import Entities
from engrain.agent.graph import Graph
from engrain.agent.hooks import Hooks
from engrain.agent.jobs import Jobs
from engrain.agent.keys import Keys
from engrain.agent.notes import Notes
from engrain.agent.pools import Pools
from engrain.agent.rules import Rules
from engrain.agent.working import Working
from engrain.aio import (
    AsyncAgent,
    AsyncConsolidation,
    AsyncEntities,
    AsyncGraph,
    AsyncHooks,
    AsyncJobs,
    AsyncKeys,
    AsyncMemory,
    AsyncNotes,
    AsyncPools,
    AsyncRules,
    AsyncWorking,
)
from engrain.service import Memory

ROOT = Path(__file__).parents[2]
PAIRS = [
    (Memory, AsyncMemory),
    (Agent, AsyncAgent),
    (Rules, AsyncRules),
    (Entities, AsyncEntities),
    (Notes, AsyncNotes),
    (Pools, AsyncPools),
    (Consolidation, AsyncConsolidation),
    (Hooks, AsyncHooks),
    (Working, AsyncWorking),
    (Keys, AsyncKeys),
    (Jobs, AsyncJobs),
    (Graph, AsyncGraph),
]
MADE = {
    "agent",
    "rules",
    "entities",
    "notes",
    "pools",
    "keys",
    "jobs",
    "consolidation",
    "hooks",
    "working",
}  # by a call or a property that is not awaited
NEW_VERB = '''
    def ponder(self, question: str, *, minutes: int = 5) -> Answer | None:
        """Think about a question.

        Raises:
            InvalidInput: never.
        """
'''


def public(each):
    every = {name: member for base in reversed(each.__mro__[:-1]) for name, member in vars(base).items()}
    return {name: member for name, member in every.items() if not name.startswith("_")}


def shape(function):
    """Names, kinds and defaults of a function's parameters."""
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


def check(project):
    return subprocess.run(
        [sys.executable, "tools/generate_async.py", "--check"], cwd=project, capture_output=True, text=True, check=False
    )


@pytest.fixture
def project(tmp_path):
    """The files the generator works with, to be changed."""
    sources = [path.relative_to(ROOT) for path in (*SOURCES.values(), TARGET)]
    for path in ("tools/generate_async.py", *sources, "pyproject.toml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def with_new_verb(source):
    head, mark, rest = source.partition("    def forget(")
    assert mark
    return head + NEW_VERB.lstrip("\n") + "\n" + mark + rest


def test_the_async_module_is_what_the_generator_writes():
    assert check(ROOT).returncode == 0


def test_a_changed_facade_fails_the_check_until_the_module_is_written_again(project):
    agent = project / SOURCES["agent"].relative_to(ROOT)
    assert check(project).returncode == 0
    agent.write_text(with_new_verb(agent.read_text(encoding="utf-8")), encoding="utf-8")
    refused = check(project)
    assert refused.returncode == 1
    assert refused.stdout == "src/engrain/aio.py is out of date: run python tools/generate_async.py\n"
    subprocess.run([sys.executable, "tools/generate_async.py"], cwd=project, check=True)
    assert check(project).returncode == 0
    assert "async def ponder(" in (project / "src" / "engrain" / "aio.py").read_text(encoding="utf-8")


def test_a_new_verb_is_awaited_with_its_signature_and_first_sentence():
    sources = {name: path.read_text(encoding="utf-8") for name, path in SOURCES.items()}
    text = generated({**sources, "agent": with_new_verb(sources["agent"])})
    agent = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == "AsyncAgent")
    [verb] = [node for node in agent.body if isinstance(node, ast.AsyncFunctionDef) and node.name == "ponder"]
    assert ast.unparse(verb) == (
        "async def ponder(self, question: str, *, minutes: int=5) -> Answer | None:\n"
        '    """Think about a question."""\n'
        "    return await asyncio.to_thread(self._wrapped.ponder, question, minutes=minutes)"
    )


def test_the_module_says_where_it_comes_from():
    assert "Generated from service.py and agent/ by tools/generate_async.py" in TARGET.read_text(encoding="utf-8")


def test_every_class_with_a_twin_is_compared_here():
    assert {plain.__name__: awaited.__name__ for plain, awaited in PAIRS} == TWINS


@pytest.mark.parametrize(("plain", "awaited"), PAIRS, ids=lambda each: each.__name__)
def test_both_have_the_same_public_members(plain, awaited):
    internal = {"parts"} if plain is Memory else set()
    assert set(public(awaited)) == set(public(plain)) - internal


@pytest.mark.parametrize(("plain", "awaited"), PAIRS, ids=lambda each: each.__name__)
def test_every_verb_is_awaited_with_the_same_parameters(plain, awaited):
    for name in public(awaited):
        one, other = getattr(plain, name), getattr(awaited, name)
        assert isinstance(one, property) == isinstance(other, property)
        if not isinstance(one, property):
            assert shape(one) == shape(other)
            assert inspect.iscoroutinefunction(other) == (name not in MADE)
        assert inspect.getdoc(other) == inspect.getdoc(one).splitlines()[0]
