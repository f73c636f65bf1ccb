"""Write src/engrain/aio.py from src/engrain/service.py: the same verbs, awaited.

`python tools/generate_async.py` writes it, `--check` fails where it is out of date.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "engrain" / "service.py"
TARGET = ROOT / "src" / "engrain" / "aio.py"

HEADER = '''"""The same memory, awaited: each call runs in a worker thread.

Generated from service.py by tools/generate_async.py.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engrain import service

if TYPE_CHECKING:
{imports}


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

AGENT_HEADER = '''

class AsyncAgent:
    """The memory as one agent sees it, awaited; `Agent` says what each call does."""

    __slots__ = ("_wrapped",)

    def __init__(self, agent: service.Agent) -> None:
        """Made by `AsyncMemory.agent`."""
        self._wrapped = agent

'''

_LEFT_OUT = {"parts"}


def main() -> int:
    """Write the file, or compare it with what would be written."""
    text = formatted(generated(SOURCE.read_text(encoding="utf-8")))
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.relative_to(ROOT)} is out of date: run python tools/generate_async.py")
    return 1


def generated(source: str) -> str:
    """The module's text, unformatted."""
    tree = ast.parse(source)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    return (
        HEADER.format(imports=typing_imports(tree))
        + "\n".join(members(classes["Memory"]))
        + AGENT_HEADER
        + "\n".join(members(classes["Agent"]))
    )


def typing_imports(tree: ast.Module) -> str:
    """What the signatures need: everything the source imports, the linter drops what is not used."""
    lines = ["    from datetime import datetime", "    from engrain.domain.records import *"]
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    lines += ["    " + ast.unparse(node) for block in blocks for node in block.body]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engrain.domain.records"):
            lines[1] = "    " + ast.unparse(node)
    return "\n".join(lines)


def members(node: ast.ClassDef) -> list[str]:
    """Each public method and property of a class as text."""
    return [
        member(item)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_") and item.name not in _LEFT_OUT
    ]


def member(item: ast.FunctionDef) -> str:
    """One method: the same signature and first sentence, awaited."""
    decorators = [ast.unparse(each) for each in item.decorator_list]
    arguments = ast.unparse(item.args).replace("=utc_now", "=service.utc_now")
    result = ast.unparse(item.returns) if item.returns else "None"
    summary = (ast.get_docstring(item) or "").split("\n")[0]
    call = ", ".join(
        [each.arg for each in item.args.args[1:]] + [f"{each.arg}={each.arg}" for each in item.args.kwonlyargs]
    )
    returned = "await" if result == "None" else "return await"
    match item.name, decorators:
        case _, ["property"]:
            head, body = "@property\n    def", f"return self._wrapped.{item.name}"
        case _, ["classmethod"]:
            head, result = "@classmethod\n    async def", "Self"
            body = f"return cls(await asyncio.to_thread(service.Memory.{item.name}, {call}))"
        case "agent", _:
            head, result, body = "def", "AsyncAgent", f"return AsyncAgent(self._wrapped.agent({call}))"
        case _:
            head, body = "async def", f"{returned} asyncio.to_thread(self._wrapped.{item.name}, {call})"
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
