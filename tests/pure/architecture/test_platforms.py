"""What only POSIX has is used where its absence is thought of: Windows has neither those flags nor those calls."""

import ast
import re
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import pytest

PACKAGE = Path(__file__).parents[3] / "src" / "engrain"
TYPES = resources.files("mypy") / "typeshed" / "stdlib"
STUBS = {"os": "os/__init__.pyi", "signal": "signal.pyi", "socket": "socket.pyi"}
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
LOOKS_WHERE_IT_IS = ("sys.platform", "hasattr(")


def defined(statements, platform):
    """Names that statements of a stub define on a platform."""
    for node in statements:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                about = {"sys": SimpleNamespace(platform=platform, version_info=(3, 11))}
                yield from defined(body if eval(ast.unparse(test), about) else orelse, platform)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name
            case ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)


def posix_names(module):
    """Names of a module that the types of the standard library define on Linux and not on Windows."""
    statements = ast.parse((TYPES / STUBS[module]).read_text(encoding="utf-8")).body
    return set(defined(statements, "linux")) - set(defined(statements, "win32"))


MAY_USE = re.compile(rf"\b(?:{'|'.join([*STUBS, *POSIX_MODULES])})\b")
POSIX = {module: posix_names(module) for module in STUBS}


def uses(tree):
    """Line and name of each use of what only POSIX has."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in POSIX.get(module, ()):
                yield node.lineno, f"{module}.{name}"
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names if name.name in POSIX_MODULES)
            case ast.ImportFrom(module=module) if module in POSIX_MODULES:
                yield node.lineno, module


def unguarded(source):
    """Uses in a function or statement that does not look where it is."""
    if not MAY_USE.search(source):
        return
    for statement in ast.parse(source).body:
        for member in statement.body if isinstance(statement, ast.ClassDef) else [statement]:
            found = list(uses(member))
            if found and not any(word in ast.unparse(member) for word in LOOKS_WHERE_IT_IS):
                yield from found


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "geteuid"), ("os", "O_NONBLOCK"), ("os", "killpg"), ("signal", "SIGKILL"), ("socket", "AF_UNIX")],
)
def test_what_only_posix_has_is_known(module, name):
    assert name in POSIX[module]
    assert list(unguarded(f"def use():\n    return {module}.{name}")) == [(2, f"{module}.{name}")]
    assert not {"open", "O_EXCL", "SIGINT", "AF_INET"} & POSIX[module]


def test_windows_is_thought_of():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, name in unguarded(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []
