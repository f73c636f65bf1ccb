"""First sentences of the verbs, read from the source of the facade, which takes no import of it.

For lists of commands: importing the facade costs a process 0.3 s.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engrain.verbs.table import Verb

_PACKAGE = Path(__file__).parents[1]
_FACADES = {"agent": ("engrain.agent.agent", "Agent"), "memory": ("engrain.service", "Memory")}
_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def first_line(verb: Verb) -> str:
    """The first line of the docstring of a verb's method."""
    module, owner = _FACADES[verb.owner]
    if verb.group is not None:
        module, owner = _answer(module, owner, verb.group)
    return _first_line(_member(module, owner, verb.method_name)[1])


def first_line_of_group(owner: str, group: str) -> str:
    """The first line of the docstring of the property that gives a group of verbs."""
    return _first_line(_member(*_FACADES[owner], group)[1])


def first_line_of_function(module: str, name: str) -> str:
    """The first line of the docstring of a function of a module."""
    return _first_line(_definition(module, name)[1])


def _first_line(definition: _Definition) -> str:
    return (ast.get_docstring(definition) or "").partition("\n")[0]


@cache
def _tree(module: str) -> ast.Module:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(source.read_text(encoding="utf-8"))


def _definition(module: str, name: str) -> tuple[str, _Definition]:
    """A class or function that a module defines or imports, with the module that defines it."""
    for node in _tree(module).body:
        if isinstance(node, _Definition) and node.name == name:
            return module, node
    imports = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.ImportFrom)]
    for statement in imports:
        if statement.module and name in {alias.name for alias in statement.names}:
            return _definition(statement.module, name)
    raise LookupError(f"{module} has no {name}")


def _member(module: str, owner: str, name: str) -> tuple[str, _Definition]:
    """A method of a class or of its bases, with the module that defines it."""
    home, definition = _definition(module, owner)
    assert isinstance(definition, ast.ClassDef)
    for node in definition.body:
        if isinstance(node, _Definition) and node.name == name:
            return home, node
    for base in definition.bases:
        if isinstance(base, ast.Name):
            try:
                return _member(home, base.id, name)
            except LookupError:
                continue
    raise LookupError(f"{owner} of {module} has no {name}")


def _answer(module: str, owner: str, name: str) -> tuple[str, str]:
    """The class that a property gives, and a module that knows it."""
    home, definition = _member(module, owner, name)
    assert isinstance(definition, ast.FunctionDef)
    assert isinstance(definition.returns, ast.Name)
    return home, definition.returns.id
