"""Names and docstrings are plain English: the words of docs/glossary.md, and sentences that name what they describe."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").is_file())
PACKAGE = ROOT / "src" / "engrain"

# Names here follow the formats and tools of other systems.
FOREIGN = ("interfaces/compat/", "portability/formats/", "integrations/")

NO_FIRST_WORD = {"how", "that", "what", "whatever", "when", "where", "whether", "who", "whoever", "whom", "whose"}
NO_BARE_NAME = {"asked", "found", "given", "held", "keeping", "kept", "said", "telling", "told", "watching"}
PUBLIC_PARAMETERS = {"agent/queries.py": {"asked"}}  # of `Agent.messages`: clients send it by this name
CAPITALISED_OR_LOWER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(name):
    """Words of a name in snake or camel case, in lower case and without a plural ending."""
    return [_singular(word.lower()) for word in CAPITALISED_OR_LOWER.findall(name)]


def _singular(word):
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@cache
def synonyms():
    """The words of each banned synonym with the word of the glossary that replaces it."""
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| "))
    return {
        tuple(words(synonym)): word
        for word, _, banned in rows
        if word != "word"
        for synonym in banned.split(",")
        if synonym.strip()
    }


@cache
def modules():
    """Syntax tree of every module of the package by its path in it."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")
    }


def names(path, tree):
    """Names of a module and of its classes, functions and parameters, each with its line."""
    yield Path(path).parent.name if path.endswith("__init__.py") else Path(path).stem, 1
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def variables(tree):
    """Names that a module assigns, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def docstrings(tree, *, is_public=True):
    """Docstrings of a module and of its public classes and functions, each with its line."""
    for node in [tree, *tree.body] if isinstance(tree, ast.Module) else tree.body:
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Module) or (is_public and not node.name.startswith("_")):
            text = ast.get_docstring(node)
            if text:
                yield text, getattr(node, "lineno", 1)
            if isinstance(node, ast.ClassDef):
                yield from docstrings(node)


def banned_synonym(name):
    """The word that should stand instead of a part of a name; None where the name is well chosen."""
    parts = words(name)
    for start in range(len(parts)):
        for stop in range(start + 1, len(parts) + 1):
            if tuple(parts[start:stop]) in synonyms():
                return synonyms()[tuple(parts[start:stop])]
    return None


def test_the_glossary_is_read():
    assert synonyms()["retire",] == "forget"
    assert synonyms()["thread", "id"] == "session"
    assert len(synonyms()) > 40


def test_names_use_the_words_of_the_glossary():
    wrong = [
        f"{path}:{line}: {name} -> {banned_synonym(name)}"
        for path, tree in modules().items()
        if not path.startswith(FOREIGN)
        for name, line in names(path, tree)
        if banned_synonym(name)
    ]
    assert wrong == []


def test_no_name_is_a_bare_participle():
    wrong = [
        f"{path}:{line}: {name}"
        for path, tree in modules().items()
        for name, line in names(path, tree)
        if name.strip("_").lower() in NO_BARE_NAME and name not in PUBLIC_PARAMETERS.get(path, ())
    ]
    assert wrong == []


def test_variables_name_their_thing():
    wrong = [
        f"{path}:{line}: {name}"
        for path, tree in modules().items()
        for name, line in [*variables(tree), *names(path, tree)]
        if name == "each"
    ]
    assert wrong == []


def test_docstrings_begin_with_what_they_describe():
    wrong = [
        f"{path}:{line}: {text.splitlines()[0]}"
        for path, tree in modules().items()
        for text, line in docstrings(tree)
        if text.split(maxsplit=1)[0].strip(",:;.").lower() in NO_FIRST_WORD
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("retire_all", ["retire", "all"]),
        ("HTTPError", ["http", "error"]),
        ("AsyncNotes", ["async", "note"]),
        ("_Bm25", ["bm", "25"]),
    ],
)
def test_the_words_of_a_name(name, split):
    assert words(name) == split


def test_the_docstrings_of_a_module():
    tree = ast.parse(
        '"""A."""\ndef f():\n    """B."""\n'
        'def _g():\n    """C."""\nclass D:\n    """E."""\n    def h(self):\n        """F."""'
    )
    assert [text for text, _ in docstrings(tree)] == ["A.", "B.", "E.", "F."]
