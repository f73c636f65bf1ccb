"""Write src/engrain/aio.py from the facade: Memory, Agent and its groups, with the same verbs, awaited.

`python tools/generate_async.py` writes it, `--check` fails where it is out of date.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
# Where each class comes from, by module; a class of a later module may be made by one of an earlier module.
SOURCES = {
    "service": ROOT / "src" / "engrain" / "service.py",
    "maintenance": ROOT / "src" / "engrain" / "agent" / "maintenance.py",
    "agent": ROOT / "src" / "engrain" / "agent" / "agent.py",
    "queries": ROOT / "src" / "engrain" / "agent" / "queries.py",
    "rules": ROOT / "src" / "engrain" / "agent" / "rules.py",
    "entities": ROOT / "src" / "engrain" / "agent" / "entities.py",
    "graph": ROOT / "src" / "engrain" / "agent" / "graph.py",
    "notes": ROOT / "src" / "engrain" / "agent" / "notes.py",
    "pools": ROOT / "src" / "engrain" / "agent" / "pools.py",
    "consolidation": ROOT / "src" / "engrain" / "agent" / "consolidation.py",
    "working": ROOT / "src" / "engrain" / "agent" / "working.py",
    "keys": ROOT / "src" / "engrain" / "agent" / "keys.py",
    "hooks": ROOT / "src" / "engrain" / "agent" / "hooks.py",
    "jobs": ROOT / "src" / "engrain" / "agent" / "jobs.py",
}
TARGET = ROOT / "src" / "engrain" / "aio.py"
# What is made, not awaited: a method or property that returns one of these returns its awaited twin.
TWINS = {
    "Memory": "AsyncMemory",
    "Agent": "AsyncAgent",
    "Rules": "AsyncRules",
    "Entities": "AsyncEntities",
    "Graph": "AsyncGraph",
    "Notes": "AsyncNotes",
    "Pools": "AsyncPools",
    "Consolidation": "AsyncConsolidation",
    "Hooks": "AsyncHooks",
    "Keys": "AsyncKeys",
    "Working": "AsyncWorking",
    "Jobs": "AsyncJobs",
}

HEADER = '''"""The same memory, awaited: each call runs in a worker thread.

Generated from service.py and agent/ by tools/generate_async.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from engrain import service
from engrain.agent import agent, consolidation, entities, graph, hooks, jobs, keys, notes, pools, rules, working

if TYPE_CHECKING:
{imports}
'''

MEMORY_HEADER = '''

class AsyncMemory:
    """A long-term memory whose calls are awaited; `Memory` says what each of them does.

    async with await AsyncMemory.open("agent.db") as memory: ...
    """

    def __init__(self, memory: service.Memory) -> None:
        """Await the calls of a Memory; most callers use `AsyncMemory.open`."""
        self._wrapped = memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._wrapped.__exit__, kind, error, trace)

'''

CLASS_HEADER = '''

class {twin}:
    """The verbs of `{name}`, awaited."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: {module}.{name}) -> None:
        """Made by {maker}."""
        self._wrapped = wrapped

'''

_LEFT_OUT = {"parts"}


def main() -> int:
    """Write the file, or compare it with what would be written."""
    text = formatted(generated({name: path.read_text(encoding="utf-8") for name, path in SOURCES.items()}))
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.relative_to(ROOT)} is out of date: run python tools/generate_async.py")
    return 1


def generated(sources: Mapping[str, str]) -> str:
    """The module's text, unformatted, from the text of each module by name."""
    trees = {module: ast.parse(source) for module, source in sources.items()}
    imports = "\n".join(
        f"    {line}" for line in dict.fromkeys(line for tree in trees.values() for line in typed(tree))
    )
    every = {
        node.name: (module, node)
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    for _, node in every.values():
        node.body += [item for base in node.bases for item in inherited(every, base)]
    classes = {name: found for name, found in every.items() if name in TWINS}
    return HEADER.format(imports=imports) + "".join(
        header(module, node, makers(classes[each][1] for each in classes)) + "\n".join(members(module, node))
        for module, node in classes.values()
    )


def inherited(every: Mapping[str, tuple[str, ast.ClassDef]], base: ast.expr) -> list[ast.stmt]:
    """The methods of a class and of its bases among these classes; a base of another module adds nothing."""
    name = ast.unparse(base)
    return every[name][1].body if name in every else []


def typed(tree: ast.Module) -> Iterator[str]:
    """The imports that signatures may need: all names that the source imports; the linter drops unused ones."""
    guarded = [node for block in tree.body if isinstance(block, ast.If) for node in block.body]
    for node in [*tree.body, *guarded]:
        if isinstance(node, ast.ImportFrom) and node.module not in {"__future__", "typing", "engrain"}:
            yield from (f"from {node.module} import {name.name}" for name in node.names if name.name not in TWINS)


def makers(classes: Iterator[ast.ClassDef]) -> dict[str, str]:
    """By class: the member of another class that makes it, as `AsyncAgent.rules`."""
    return {
        ast.unparse(item.returns): f"`{TWINS[node.name]}.{item.name}`"
        for node in classes
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.returns and ast.unparse(item.returns) in TWINS
    }


def header(module: str, node: ast.ClassDef, made_by: Mapping[str, str]) -> str:
    """The awaited class up to its first verb."""
    if node.name == "Memory":
        return MEMORY_HEADER
    return CLASS_HEADER.format(twin=TWINS[node.name], module=module, name=node.name, maker=made_by[node.name])


def members(module: str, node: ast.ClassDef) -> list[str]:
    """Each public method and property of a class as text."""
    return [
        member(module, node.name, item)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_") and item.name not in _LEFT_OUT
    ]


def member(module: str, owner: str, item: ast.FunctionDef) -> str:
    """One method: the same signature and first sentence, awaited; what makes a twin is not awaited."""
    decorators = [ast.unparse(each) for each in item.decorator_list]
    arguments = ast.unparse(item.args).replace("=utc_now", "=service.utc_now")
    result = ast.unparse(item.returns) if item.returns else "None"
    summary = (ast.get_docstring(item) or "").split("\n")[0]
    call = ", ".join(
        [arg.arg for arg in item.args.args[1:]]
        + [f"{kwonlyarg.arg}={kwonlyarg.arg}" for kwonlyarg in item.args.kwonlyargs]
    )
    returned = "await" if result == "None" else "return await"
    match decorators:
        case ["property"] if result in TWINS:
            head, body = "@property\n    def", f"return {TWINS[result]}(self._wrapped.{item.name})"
        case ["property"]:
            head, body = "@property\n    def", f"return self._wrapped.{item.name}"
        case ["classmethod"]:
            head, result = "@classmethod\n    async def", "Self"
            called = ", ".join([f"{module}.{owner}.{item.name}", *([call] if call else [])])
            body = f"return cls(await asyncio.to_thread({called}))"
        case _ if result in TWINS:
            head, body = "def", f"return {TWINS[result]}(self._wrapped.{item.name}({call}))"
        case _:
            called = ", ".join([f"self._wrapped.{item.name}", *([call] if call else [])])
            head, body = "async def", f"{returned} asyncio.to_thread({called})"
    result = TWINS.get(result, result)
    return f'    {head} {item.name}({arguments}) -> {result}:\n        """{summary}"""\n        {body}\n'


def formatted(text: str) -> str:
    """As the linter and formatter leave it."""
    ruff = [sys.executable, "-m", "ruff"]
    name = ["--stdin-filename", str(TARGET)]
    fixed = subprocess.run(
        [*ruff, "check", "--fix-only", "--quiet", "--select", "F401,I,TC", "--unsafe-fixes", *name, "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return subprocess.run(
        [*ruff, "format", *name, "-"], input=fixed.stdout, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
