"""Importing costs little: what is heavy or optional is loaded when it is first needed."""

import json
import os
import subprocess
import sys

import pytest

from engrain import Memory

MOST_COMPILED_CHARACTERS = 2_500
HEAVY = set(
    "alembic apsw cachetools httpx2 mcp mcp_types numpy onnxruntime openai opentelemetry platformdirs "
    "prometheus_client pydantic pydantic_ai pydantic_settings rich sqlalchemy Stemmer tokenizers typer".split()
)


def loaded_by(statement):
    """Third-party packages that a fresh Python has loaded after a statement."""
    script = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(done.stdout)} & HEAVY


def test_importing_the_package_loads_nothing_but_itself():
    assert loaded_by("import engrain") == set()


@pytest.mark.parametrize("name", ["Answer", "Episode", "Explanation", "Fact", "Hit"])
def test_records_cost_nothing(name):
    assert loaded_by(f"from engrain import {name}") == set()


@pytest.mark.parametrize("name", ["EngrainError", "InvalidInput", "NotFound", "ContextBlock"])
def test_errors_and_the_context_block_cost_nothing(name):
    assert loaded_by(f"from engrain import {name}") == set()


@pytest.mark.parametrize("name", ["Memory", "Agent", "AsyncMemory", "AsyncAgent", "Settings"])
def test_the_facade_loads_neither_a_library_nor_a_database_nor_a_model(name):
    assert loaded_by(f"from engrain import {name}") == set()


def modules_of(statement):
    """Modules of ours that a fresh Python has loaded after a statement."""
    script = (
        f"{statement}\nimport json, sys\nprint(json.dumps([name for name in sys.modules if name[:7] == 'engrain']))"
    )
    return set(json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout))


def test_the_facade_loads_a_verbs_work_with_its_first_call():
    """160 modules and their dataclasses were half of the time that an import took."""
    loaded = modules_of("from engrain import Memory")
    assert len(loaded) <= 50, sorted(loaded)
    rooms = {name.split(".")[1] for name in loaded - {"engrain"}}
    assert rooms == {"agent", "domain", "errors", "log_events", "metrics", "service", "verbs"}


# Records of other verbs, what writes and what learns: a tenth of a question's time were the classes of these alone.
UNASKED = {
    "engrain.agent.writes.fail_open",
    "engrain.agent.writes.linking",
    "engrain.domain.access.keys",
    "engrain.domain.access.pools",
    "engrain.domain.entities.graph",
    "engrain.domain.entities.merges",
    "engrain.domain.entities.registry",
    "engrain.domain.maintenance.stats",
    "engrain.domain.memories.erasure",
    "engrain.domain.memories.notes",
    "engrain.domain.runs.completions",
    "engrain.domain.runs.jobs",
    "engrain.domain.runs.plans",
    "engrain.domain.runs.runs",
    "engrain.domain.runs.summaries",
    "engrain.domain.text.secrets",
    "engrain.engines.callables",
    "engrain.engines.name_finders.regex",
    "engrain.storage.entities.registry",
    "engrain.storage.write.arrivals",
}


def test_a_question_on_the_command_line_loads_no_validator_and_no_half_of_the_libraries(tmp_path):
    """`bench.cold_start` says in seconds and bytes what `engrain recall` costs."""
    database = str(tmp_path / "memory.db")
    recall = f"main(['recall', 'Lisbon', '--limit', '5', '--db', {database!r}, '--json'])"
    with Memory.open(database) as memory:
        memory.agent().observe("I moved to Lisbon.")
    told = f"import sys; from engrain.interfaces.cli import main; {recall}; print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    loaded = set(ran.stderr.split())
    assert json.loads(ran.stdout)["hits"]
    assert "onnxruntime" in loaded
    unneeded = {"pydantic", "rich", "sqlalchemy", "alembic", "numpy.ma", "numpy.random", "asyncio", "httpx2", "psycopg"}
    unneeded |= {"importlib.resources", "zipfile"}  # where a path reads a file beside the code
    assert loaded & unneeded == set()
    ours = {name for name in loaded if name.startswith("engrain")}
    assert not any(name.startswith(("engrain.learning", "engrain.lifecycle", "engrain.portability")) for name in ours)
    assert ours & UNASKED == set()
    # Eight for the topics that a word may name: 3 ms; two for what other languages call a change or a number, and
    # one for what corrections compare: 0.5 ms.
    assert len(ours) <= 200, sorted(ours)


def test_a_question_on_the_command_line_never_looks_for_garbage(tmp_path):
    """One look through all that a process has loaded took 35 ms, a thirtieth of the command."""
    database = str(tmp_path / "memory.db")
    Memory.open(database).close()
    script = f"""
import gc, sys
usual = gc.get_threshold()
def count(phase, _):
    if phase == "start" and gc.get_threshold() != usual:
        print("looked", file=sys.stderr)
gc.callbacks.append(count)
sys.argv = ["engrain", "recall", "Lisbon", "--db", {database!r}]
from engrain.interfaces import cli
cli.run()
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stderr.count("looked") == 0


def test_a_hook_loads_no_model_and_nothing_that_learns(tmp_path):
    """It is a process for each prompt: every module counts. Of 440 modules 37 were of reflections and summaries."""
    run = f"main(['hook', 'UserPromptSubmit', '--db', {str(tmp_path / 'memory.db')!r}])"
    told = f"import sys; from engrain.interfaces.cli import main; {run}; print(*sys.modules, file=sys.stderr)"
    given = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    prompt = json.dumps({"session_id": "s", "cwd": str(tmp_path), "prompt": "Where do I live?"})
    ran = subprocess.run(
        [sys.executable, "-c", told], input=prompt, env=given, capture_output=True, text=True, check=True
    )
    loaded = set(ran.stderr.split())
    assert "engrain.agent.reads.context_blocks" in loaded
    unneeded = {"typer", "onnxruntime", "tokenizers", "email", "html", "engrain.engines.embedders.minilm"}
    assert loaded & unneeded == set()
    assert not any(name.startswith(("engrain.learning", "engrain.lifecycle")) for name in loaded)
    of_files = {name for name in loaded if name.startswith("engrain.portability.")}
    assert {name for name in of_files if not name.startswith("engrain.portability.assistants")} == set()


def test_a_memory_without_an_embedder_loads_no_model():
    opened = 'from engrain import Memory; Memory.open(":memory:", embedder="none").close()'
    assert (
        loaded_by(opened) & {"onnxruntime", "tokenizers", "httpx2", "sqlalchemy", "alembic", "typer", "rich"} == set()
    )


@pytest.mark.parametrize("llm", ["openai:m", "pydantic-ai:openai:m", "command:cat"])
def test_a_memory_with_a_language_model_loads_nothing_of_it_before_the_first_prompt(llm):
    opened = f'from engrain import Memory; Memory.open(":memory:", embedder="none", llm={llm!r}).close()'
    assert loaded_by(opened) & {"httpx2", "pydantic_ai", "openai"} == set()


def test_a_first_answer_over_mcp_loads_no_server_no_model_and_no_other_database(tmp_path):
    """What the start of `engrain mcp` costs, in modules: `bench.cold_start` says it in seconds."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "profile", "arguments": {}}},
    ]
    said = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in messages)
    command = [sys.executable, "-X", "importtime", "-m", "engrain", "mcp", "--db", str(tmp_path / "memory.db")]
    told = tmp_path / "imported.txt"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with told.open("w") as errors, subprocess.Popen(command, stderr=errors, **pipes) as server:
        server.stdin.write(said)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    assert (answers[1]["id"], answers[1]["result"]["isError"]) == (2, False)
    imports = (line for line in told.read_text().splitlines() if line.startswith("import time:"))
    loaded = {line.rpartition("|")[2].strip() for line in imports}
    assert "mcp.server.mcpserver.server" in loaded
    others = {"fastapi", "prometheus_client", "cronsim", "psycopg", "alembic", "sqlalchemy", "redis", "pydantic_ai"}
    models = {"onnxruntime", "tokenizers", "spacy", "openai"}
    assert {name.partition(".")[0] for name in loaded} & (others | models) == set()
    unasked = (
        "engrain.interfaces.http",
        "engrain.interfaces.mcp.verb_tools",
    )  # of those, only the profile `all` has the tools
    assert not any(name.startswith(unasked) for name in loaded)


def test_a_process_that_stores_a_turn_compiles_few_patterns_and_loads_no_ranking(tmp_path):
    """The patterns by which texts in seven languages are read take 57 ms, whoever needs none of them."""
    script = f"""
import re, sys
compiled, compile_ = [], re.compile
def note(pattern, flags=0):
    if sys._getframe(1).f_globals["__name__"].startswith("engrain"):
        compiled.append(pattern)
    return compile_(pattern, flags)
re.compile = note
from engrain import Memory
with Memory.open({str(tmp_path / "agent.db")!r}, embedder="none") as memory:
    memory.agent("aide").observe("The tram is late.")
print(sum(map(len, compiled)), "engrain.retrieval.ranking.signals" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    characters, ranks = done.stdout.split()
    assert 0 < int(characters) < MOST_COMPILED_CHARACTERS
    assert ranks == "False"
