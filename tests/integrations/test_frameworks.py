"""The adapters of Python frameworks: each compared with the framework's own, and the program of the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.model_server import anthropic, openai, serve
from tests.support.postgres import server

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "frameworks.md"
PACKAGES = {
    "langgraph": ["langgraph", "langgraph-checkpoint"],
    "openai": ["openai-agents"],
    "anthropic": ["anthropic"],
    "adk": ["google-adk"],
    "agent_framework": ["agent-framework-core", "agent-framework-openai"],
    "llama_index": ["llama-index-core"],
    "strands": ["strands-agents"],
    "langchain": ["langchain-core", "langchain-tests"],
    "pydantic": ["pydantic-ai-harness", "pydantic-ai-slim[openai]"],
}
MODULES = {"adk": "google_adk"}
COFFEE = "I like strong coffee."


@pytest.fixture(scope="module", params=PACKAGES)
def framework(request, tmp_path_factory):
    """A framework in a folder of its own with what it needs; engrain is in the environment of these tests."""
    folder = tmp_path_factory.mktemp(request.param)
    install = ["-m", "pip", "install", "--quiet", "--no-compile", "--target", str(folder), *PACKAGES[request.param]]
    given = {**os.environ, "PIP_CONSTRAINT": str(HERE / "constraints.txt")}
    subprocess.run([sys.executable, *install], check=True, env=given)
    return request.param, folder


def run(folder, *arguments, cwd, **environment):
    given = {**os.environ, "PYTHONPATH": str(folder), **environment}
    ran = subprocess.run([sys.executable, *arguments], cwd=cwd, env=given, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_adapter_does_as_the_frameworks_own(framework, tmp_path, kind):
    name, folder = framework
    location = str(tmp_path / "memory.db") if kind == "sqlite" else server().new_database()
    assert run(folder, HERE / "contracts" / f"{name}_contracts.py", location, cwd=tmp_path) == "ok\n"


def program(framework, tmp_path, replies, **addresses):
    """Run the program of a framework's section with replies of a model; return what it prints, and was asked."""
    name, folder = framework
    [section] = [
        part for part in PAGE.read_text().split("\n## ")[1:] if f"integrations.{MODULES.get(name, name)}" in part
    ]
    code = re.search(r"^```python no-run\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]
    (tmp_path / "program.py").write_text(code)
    with serve(replies) as (url, asked):
        keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        urls = {variable: url + path for variable, path in addresses.items()}
        return run(folder, "program.py", cwd=tmp_path, **keys, **urls), asked


def test_the_program_of_the_page_runs(framework, tmp_path):
    match framework[0]:
        case "langgraph":
            told, _ = program(framework, tmp_path, [])
            assert told == "['I take the tram to work.']\n['I like strong coffee.']\n"
        case "openai":
            replies = [openai("San Francisco."), openai("California.")]
            told, asked = program(framework, tmp_path, replies, OPENAI_BASE_URL="/v1")
            assert told == "San Francisco.\nCalifornia.\n4 items\nmonday\n"
            assert [len(request["input"]) for request in asked] == [1, 3]
        case "anthropic":
            create = {"command": "create", "path": "/memories/ana.md", "file_text": COFFEE}
            replies = [anthropic("I note it.", create), anthropic("Noted.")]
            told, asked = program(framework, tmp_path, replies, ANTHROPIC_BASE_URL="")
            assert told == f"Noted.\nana.md {COFFEE}\n"
            assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
            assert "File created successfully at: /memories/ana.md" in str(asked[1]["messages"][-1])
        case "langchain":
            told, _ = program(framework, tmp_path, [])
            assert told == "I like strong coffee. monday\nNoted.\n"
        case "adk":
            told, _ = program(framework, tmp_path, [])
            assert told == f"user {COFFEE}\n"
        case "agent_framework":
            told, asked = program(framework, tmp_path, [openai("Noted."), openai("Coffee.")], OPENAI_BASE_URL="/v1")
            assert told == "Noted.\nCoffee.\n"
            assert COFFEE in str(asked[1])
        case "llama_index":
            told, _ = program(framework, tmp_path, [])
            assert COFFEE in told
        case "strands":
            told, _ = program(framework, tmp_path, [])
            assert told == "engrain Ana likes strong coffee.\n"
        case "pydantic":
            replies = [openai(("write_memory", {"content": COFFEE})), openai("Noted."), openai("Coffee.")]
            told, asked = program(framework, tmp_path, replies, OPENAI_BASE_URL="/v1")
            assert told == "Noted.\nCoffee.\n"
            assert COFFEE in str(asked[2])
