"""The adapters of Python frameworks: each compared with the framework's own, and the program of the page."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.integrations.model_server import anthropic, openai, openai_chat, serve
from tests.support import installs
from tests.support.engrain import EngrainServer
from tests.support.postgres import server

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "frameworks.md"
PACKAGES = {
    "langgraph": ["langgraph", "langgraph-checkpoint"],
    "openai": ["openai-agents"],
    "anthropic": ["anthropic"],
    "adk": ["google-adk"],
    "agent_framework": ["agent-framework-core", "agent-framework-openai"],
    "agno": ["agno", "openai"],
    "strands": ["strands-agents"],
    "langchain": ["langchain-core", "langchain-tests"],
    "pydantic": ["pydantic-ai-harness", "pydantic-ai-slim[openai]"],
    "llama_index": ["llama-index-core"],
    "crewai": ["crewai"],
}
MODULES = {"adk": "google_adk"}
COFFEE = "I like strong coffee."
# Both databases in one process, which imports a framework once.
ON_EACH = """
import runpy, sys
script, *locations = sys.argv[1:]
for location in locations:
    sys.argv[1:] = [location]
    runpy.run_path(script, run_name="__main__")
"""


def install(name, folder):
    """Install a framework with what it needs into a folder."""
    installs.install("--target", folder, *PACKAGES[name], constraints=HERE / "constraints.txt")
    return folder


@pytest.fixture(scope="module")
def installations(request, tmp_path_factory):
    """The frameworks of the tests that run, installed two at a time while the tests of others go on."""
    parameters = (getattr(item, "callspec", None) for item in request.session.items)
    wanted = {spec.params.get("framework") for spec in parameters if spec is not None}
    with ThreadPoolExecutor(2) as pool:
        yield {name: pool.submit(install, name, tmp_path_factory.mktemp(name)) for name in PACKAGES if name in wanted}


@pytest.fixture(scope="module", params=PACKAGES)
def framework(request, installations):
    """A framework in a folder of its own; engrain is in the environment of these tests."""
    return request.param, installations[request.param].result()


def run(folder, *arguments, cwd, **environment):
    given = {**os.environ, "PYTHONPATH": str(folder), "CREWAI_DISABLE_TELEMETRY": "true", **environment}
    ran = subprocess.run([sys.executable, *arguments], cwd=cwd, env=given, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_an_adapter_does_as_the_frameworks_own_on_both_databases(framework, tmp_path):
    name, folder = framework
    locations = str(tmp_path / "memory.db"), server().new_database(has_schema=True)
    told = run(folder, "-c", ON_EACH, HERE / "contracts" / f"{name}_contracts.py", *locations, cwd=tmp_path)
    assert told.splitlines().count("ok") == len(locations)


@pytest.mark.parametrize("framework", ["adk", "llama_index"], indirect=True)
def test_a_memory_that_is_out_of_reach_fails_no_run(framework, tmp_path):
    name, folder = framework
    script = HERE / "contracts" / "out_of_reach.py"
    with EngrainServer(tmp_path / "memory.db") as server:
        given = {**os.environ, "PYTHONPATH": str(folder)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([sys.executable, script, name, server.address], env=given, **pipes) as ran:
            opened = ran.stdout.readline()
            server.stop()
            _, errors = ran.communicate("\n")
    assert (opened, ran.returncode) == ("open\n", 0), errors


def program(name):
    """Return the code of a framework's section of the page."""
    [section] = [
        part for part in PAGE.read_text().split("\n## ")[1:] if f"integrations.{MODULES.get(name, name)}" in part
    ]
    return re.search(r"^```python no-run\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]


CREATE = {"command": "create", "path": "/memories/ana.md", "file_text": COFFEE}
# The replies of a model to the program of a framework, the end of what it prints, and what the model is asked then.
PROGRAMS = {
    "langgraph": ([], "['I take the tram to work.']\n['I like strong coffee.']\n", None),
    "openai": (
        [openai("San Francisco."), openai("California.")],
        "San Francisco.\nCalifornia.\n4 items\nmonday\n",
        "San Francisco.",
    ),
    "anthropic": (
        [anthropic("I note it.", CREATE), anthropic("Noted.")],
        f"Noted.\nana.md {COFFEE}\n",
        "File created successfully at: /memories/ana.md",
    ),
    "adk": ([], f"user {COFFEE}\n", None),
    "agent_framework": ([openai("Noted."), openai("Coffee.")], "Noted.\nCoffee.\n", COFFEE),
    "agno": ([openai("Noted."), openai("Coffee.")], "Noted.\nCoffee.\n", COFFEE),
    "strands": ([], "engrain Ana likes strong coffee.\n", None),
    "langchain": ([], "I like strong coffee. monday\nNoted.\n", None),
    "pydantic": (
        [openai(("write_memory", {"content": COFFEE})), openai("Noted."), openai("Coffee.")],
        "Noted.\nCoffee.\n",
        COFFEE,
    ),
    "llama_index": ([], "\n", None),
    "crewai": ([openai_chat("Strong coffee.")], "Strong coffee.\n/people\n", "Ana likes strong coffee."),
}


def test_the_program_of_the_page_runs(framework, tmp_path):
    name, folder = framework
    replies, printed, asked_last = PROGRAMS[name]
    (tmp_path / "program.py").write_text(program(name))
    with serve(replies) as (url, asked):
        keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        urls = {"OPENAI_BASE_URL": url + "/v1", "ANTHROPIC_BASE_URL": url}
        told = run(folder, "program.py", cwd=tmp_path, **keys, **urls)
    assert told.endswith(printed)
    assert len(asked) == len(replies)
    if asked_last is not None:
        assert asked_last in str(asked[-1])
    if name == "anthropic":
        assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    if name == "openai":
        assert [len(request["input"]) for request in asked] == [1, 3]
    if name == "llama_index":
        assert COFFEE in told
