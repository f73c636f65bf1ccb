"""One direction: domain <- engines, storage <- retrieval <- context, portability <- agent <- service <- interfaces."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from engrain.storage.backend import Backend

SOURCE = Path(__file__).parents[3] / "src"
PACKAGE = "engrain"

# A room imports from levels before its own, never from its own level or a later one. A new room gets its place here.
LEVELS = [
    ["domain"],
    ["verbs"],
    ["engines", "storage"],
    ["retrieval", "entities"],
    ["learning", "lifecycle", "working", "routing", "context", "portability"],
    ["agent"],
    ["service"],
    ["aio", "verbs.signatures"],
    ["client"],
    ["jobs", "integrations"],
    ["interfaces"],
    ["__main__"],
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
# Leaves import nothing of ours but errors; anybody may import the first four, and only who wires may read settings.
LEAVES = {"errors", "metrics", "cache", "log_events", "config"}
READS_SETTINGS = {"config", "agent", "service", "aio", "jobs", "interfaces", "__init__"}
# The formats of other systems know what a memory is and how one is kept, not how it is found.
PORTABILITY_KNOWS = {"domain", "storage", "errors", "metrics", "portability"}


@dataclass(frozen=True)
class Import:
    """One module of ours that another one imports."""

    module: str
    imported: str

    @property
    def importer(self):
        return room(self.module)

    @property
    def room(self):
        return room(self.imported)

    def __str__(self):
        return f"{self.module} imports {self.imported}"


# The table of verbs and its words are data that the facade itself reads; what reads its methods comes after the facade.
APART = {"verbs.signatures"}


def room(module):
    """The first name under the package; the package itself is its `__init__`."""
    inner = module.removeprefix(f"{PACKAGE}.")
    return inner if inner in APART else [*module.split("."), "__init__"][1]


@cache
def modules():
    """Syntax tree of every module of the package by its name; not read where these tests are only collected."""
    return {_module(path): ast.parse(path.read_text(encoding="utf-8")) for path in (SOURCE / PACKAGE).rglob("*.py")}


def _module(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def exists(module):
    path = SOURCE.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imported_by(tree):
    """Names of the modules a tree imports, at its top, in its functions, and for its types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if exists(inner) else node.module


@cache
def imported():
    """The modules that each of ours imports, by its name."""
    return {name: [*imported_by(tree)] for name, tree in sorted(modules().items())}


@cache
def imports():
    """Every import of a module of ours by another."""
    return [Import(name, each) for name, named in imported().items() for each in named if each.split(".")[0] == PACKAGE]


def test_the_imports_of_the_package_are_seen():
    """Otherwise everything below would pass on nothing."""
    said = {str(each) for each in imports()}
    assert "engrain.service imports engrain.config" in said  # from engrain import config
    assert "engrain.agent.queries imports engrain.retrieval.search_query" in said  # inside a function
    assert "engrain.service imports engrain.domain.ports" in said  # for its types
    assert "engrain.domain.filters imports engrain.domain.records" in said


def test_every_room_has_a_place():
    rooms = {room(name) for name in modules()} - LEAVES - {"__init__"}
    assert rooms <= set(LEVEL_OF)


def test_nothing_imports_to_its_right_and_rooms_of_one_level_leave_each_other_alone():
    wrong = [
        str(each)
        for each in imports()
        if each.room in LEVEL_OF
        and each.room != each.importer
        and LEVEL_OF[each.room] >= LEVEL_OF.get(each.importer, len(LEVELS))
    ]
    assert wrong == []


def test_leaves_import_nothing_but_errors():
    wrong = [str(each) for each in imports() if each.importer in LEAVES and each.room not in {"errors", each.importer}]
    assert wrong == []


def test_only_who_wires_reads_settings():
    wrong = [str(each) for each in imports() if each.room == "config" and each.importer not in READS_SETTINGS]
    assert wrong == []


def test_portability_knows_memories_and_the_store_and_nothing_else():
    wrong = [str(each) for each in imports() if each.importer == "portability" and each.room not in PORTABILITY_KNOWS]
    assert wrong == []


def test_the_package_itself_imports_its_rooms_when_they_are_asked_for_and_no_sooner():
    at_once = ast.Module(
        [node for node in modules()[PACKAGE].body if isinstance(node, ast.Import | ast.ImportFrom)], []
    )
    assert {name.split(".")[0] for name in imported_by(at_once)} <= {"__future__", "importlib", "typing"}


def test_no_room_imports_the_package_itself():
    """`from engrain import Memory` inside the package would tie a room to the facade."""
    wrong = [
        str(each) for each in imports() if each.room == "__init__" and each.importer not in {"interfaces", "__main__"}
    ]
    assert wrong == []


def test_imports_are_absolute():
    relative = [
        name
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def who_imports(package):
    return {room(name) for name, named in imported().items() if package in {each.split(".")[0] for each in named}}


@pytest.mark.parametrize("driver", ["apsw", "sqlite3", "psycopg", "redis"])
def test_only_storage_knows_a_database(driver):
    assert who_imports(driver) <= {"storage"}


@pytest.mark.parametrize("backend", ["engrain.storage.sqlite", "engrain.storage.postgres"])
def test_only_storage_knows_a_backend(backend):
    rooms = {
        room(name) for name, named in imported().items() for other in named if f"{other}.".startswith(f"{backend}.")
    }
    assert rooms == {"storage"}


def test_the_port_of_a_database_is_small():
    methods = {name for name in dir(Backend) if not name.startswith("_") and callable(getattr(Backend, name))}
    assert len(methods) <= 25


@pytest.mark.parametrize("runtime", ["onnxruntime", "tokenizers", "pydantic_ai", "sentence_transformers", "subprocess"])
def test_only_engines_know_a_model(runtime):
    adapted = {"integrations"} if runtime == "pydantic_ai" else set()  # which is a framework of agents, too
    assert who_imports(runtime) <= {"engines"} | adapted


def test_only_engines_and_the_client_send_requests():
    assert who_imports("httpx2") == {"engines", "client"}


def cycles(graph):
    """Strongly connected groups of two or more modules, each sorted, found from the modules that reach themselves."""

    def reached(start):
        seen, waiting = set(), list(graph[start])
        while waiting:
            if (module := waiting.pop()) not in seen:
                seen.add(module)
                waiting += graph[module]
        return seen

    reach = {module: reached(module) for module in graph}
    return {
        tuple(sorted(other for other in reach[module] if module in reach[other]))
        for module in graph
        if module in reach[module]
    }


def test_no_room_has_an_import_cycle_not_even_inside_a_function_or_for_types_alone():
    graph = {
        name: {other for other in named if other in modules() and other != name and room(other) == room(name)}
        for name, named in imported().items()
    }
    assert set(cycles(graph)) == set()


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, set()),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, {("a", "b", "c")}),
        ({"a": {"b"}, "b": {"a"}, "c": {"d", "a"}, "d": {"c"}}, {("a", "b"), ("c", "d")}),
    ],
)
def test_a_cycle_is_found_wherever_it_begins(graph, found):
    assert cycles(graph) == found


def test_interfaces_use_a_memory_by_its_public_names():
    """`memory.parts` is what the rooms below share; a route, tool or command has `Memory` and `Agent`."""
    reaching = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        if room(name) == "interfaces"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"parts", "_parts"}
    ]
    assert reaching == []
