"""Importing costs little: what is heavy or optional is loaded when it is first needed."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "alembic",
    "apsw",
    "cachetools",
    "httpx2",
    "mcp",
    "mcp_types",
    "numpy",
    "onnxruntime",
    "openai",
    "opentelemetry",
    "platformdirs",
    "prometheus_client",
    "pydantic",
    "pydantic_ai",
    "pydantic_settings",
    "rich",
    "sqlalchemy",
    "Stemmer",
    "tokenizers",
    "typer",
}
SETTINGS = {"platformdirs", "pydantic", "pydantic_settings"}


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
def test_the_facade_loads_what_reads_settings_and_neither_a_database_nor_a_model(name):
    assert loaded_by(f"from engrain import {name}") <= SETTINGS


def test_a_memory_without_an_embedder_loads_no_model():
    opened = 'from engrain import Memory; Memory.open(":memory:", embedder="none").close()'
    assert (
        loaded_by(opened) & {"onnxruntime", "tokenizers", "httpx2", "sqlalchemy", "alembic", "typer", "rich"} == set()
    )


@pytest.mark.parametrize("llm", ["openai:m", "pydantic-ai:openai:m", "command:cat"])
def test_a_memory_with_a_language_model_loads_nothing_of_it_before_the_first_prompt(llm):
    opened = f'from engrain import Memory; Memory.open(":memory:", embedder="none", llm={llm!r}).close()'
    assert loaded_by(opened) & {"httpx2", "pydantic_ai", "openai"} == set()
