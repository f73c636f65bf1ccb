import inspect
import re

import pytest

from engrain import errors
from engrain.errors import EngrainError

CLASSES = {name: each for name, each in vars(errors).items() if inspect.isclass(each)}
# A line of the drawn tree: branches, a name, the builtin it also is, its code, and what it means.
BRANCH = re.compile(
    r"^ {4}(?P<indent>[│ ]*)[├└]── (?P<name>\w+)(?: \((?P<builtin>\w+)\))? +(?P<code>[a-z_]+) +\S.*$", re.MULTILINE
)
INDENT = 4


def drawn():
    """Each class of the tree in the module's docstring: its name, its parent's, the builtin beside it and its code."""
    branch = ["EngrainError"]
    for line in BRANCH.finditer(errors.__doc__):
        depth = len(line["indent"]) // INDENT + 1
        branch[depth:] = [line["name"]]
        yield line["name"], branch[depth - 1], line["builtin"], line["code"]


def test_the_tree_in_the_docstring_is_the_tree_of_classes():
    tree = {name: (parent, builtin, code) for name, parent, builtin, code in drawn()}
    classes = {}
    for name, each in CLASSES.items():
        ours = [base.__name__ for base in each.__bases__ if issubclass(base, EngrainError)]
        builtins = [base.__name__ for base in each.__bases__ if not issubclass(base, EngrainError)]
        if each is not EngrainError:
            classes[name] = (*ours, builtins[0] if builtins else None, each.code)
    assert tree == classes


def test_the_root_is_drawn_and_is_an_exception_like_any_other():
    assert re.search(r"^ {4}EngrainError$", errors.__doc__, re.MULTILINE)
    assert EngrainError.__bases__ == (Exception,)


def test_codes_are_unique_and_each_class_has_its_own():
    codes = [vars(each)["code"] for each in CLASSES.values()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("each", CLASSES.values(), ids=CLASSES)
def test_an_error_is_documented_and_its_code_is_its_name(each):
    assert inspect.getdoc(each) != inspect.getdoc(Exception)
    assert each.code == re.sub(r"(?<!^)(?=[A-Z])", "_", each.__name__).lower()
    assert str(each("what, which value, what to do")) == "what, which value, what to do"


def test_what_was_refused_is_a_value_error_and_what_is_not_there_a_lookup_error():
    """So a caller who knows Python alone catches the right thing."""
    assert issubclass(errors.InvalidInput, ValueError)
    assert issubclass(errors.NotFound, LookupError)
