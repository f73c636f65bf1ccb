"""A function or a module that outgrows its reader fails the build; the lists of exceptions may only shrink."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LONGEST_FUNCTION = 60
LONGEST_MODULE = 500
MOST_MODULES = 15
MOST_POSITIONAL = 4
LONG_FUNCTIONS = set()
LONG_MODULES = set()
# A revision is added and never changed.
CHAINS = {"src/engrain/storage/migrations/versions"}
# These have yet to name their parameters.
POSITIONAL = {
    "bench/speed/language.py:_turn",
}

PATHS = sorted(path for folder in ("src", "tools", "bench") for path in (ROOT / folder).rglob("*.py"))


def functions(path):
    """Name in the project and syntax tree of every function of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.relative_to(ROOT)}:{node.name}", node


def body_lines(function):
    """Lines from the first statement to the last, the docstring left out."""
    documented = ast.get_docstring(function) is not None
    statements = function.body[1:] if documented else function.body
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


def positional(function):
    """Parameters that can be given by position, without the object or class of a method."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


@cache
def every_function():
    """Of the whole project; not read where these tests are only collected, as every process of a run does."""
    return [each for path in PATHS for each in functions(path)]


def module_lines():
    return {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in PATHS}


def test_the_whole_project_is_measured():
    assert {"src/engrain/service.py", "tools/generate_reference.py"} <= set(module_lines())
    assert len(every_function()) > 300


def test_functions_fit_on_a_page():
    assert {name for name, function in every_function() if body_lines(function) > LONGEST_FUNCTION} == LONG_FUNCTIONS


def test_modules_hold_one_idea():
    assert {name for name, lines in module_lines().items() if lines > LONGEST_MODULE} == LONG_MODULES


def test_folders_are_seen_whole():
    modules = Counter(path.parent for path in PATHS if not path.name.startswith("__"))
    full = {str(folder.relative_to(ROOT)) for folder, count in modules.items() if count > MOST_MODULES}
    assert full == CHAINS


def test_more_than_four_parameters_are_given_by_name():
    assert {name for name, function in every_function() if positional(function) > MOST_POSITIONAL} == POSITIONAL


@pytest.mark.parametrize(
    ("source", "lines", "parameters"),
    [
        ("def f(a, b): return a", 1, 2),
        ("def f(self, a, /, b, *c, d, **e):\n    '''Says.\n\n    More.\n    '''\n    x = a\n\n    return x", 3, 2),
        ("async def f(cls):\n    '''Says.'''", 0, 0),
    ],
)
def test_the_measure_itself(source, lines, parameters):
    [function] = ast.parse(source).body
    assert (body_lines(function), positional(function)) == (lines, parameters)
