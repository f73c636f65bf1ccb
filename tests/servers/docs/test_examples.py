"""Every Python example of the documentation runs as it stands, in an empty folder, with nothing set up before."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.util._once import Once

import engrain
from tests.support.postgres import server

REPOSITORY = Path(__file__).parents[3]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python[ \t]*(?P<options>[^\n]*)\n(?P<code>.*?)^```[ \t]*$", flags=re.MULTILINE | re.DOTALL)
# How many examples of a page cannot run here, and why. An example that cannot run cannot be trusted either.
_OF_A_FRAMEWORK = "needs a framework, and runs in tests/integrations"
NOT_RUN = {
    ("docs/chat-interfaces.md", 1): "runs in test_chat_interfaces, as Open WebUI runs it",
    ("docs/claude-agent-sdk.md", 1): _OF_A_FRAMEWORK,
    ("docs/frameworks.md", 11): _OF_A_FRAMEWORK,
    ("docs/serving.md", 1): "needs a server, and runs with the commands of its page",
}


def examples(page):
    """Where each example stands, what its fence says beside the language, and its code on the page's own lines."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        before = text.count("\n", 0, block.start("code"))
        yield f"{page.relative_to(REPOSITORY)}, line {before}", block["options"].split(), "\n" * before + block["code"]


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Where examples run: no settings of the machine, no home but this; a database for those that speak to a server."""
    for name in [name for name in os.environ if name.startswith("ENGRAIN_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    # What a host sets up once in its process, and an example does in ours.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    monkeypatch.setenv("MEMORY_URL", server().new_database())
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if any(examples(page))], ids=lambda page: page.name)
def test_the_examples_of_a_page_run_one_after_the_other(empty_folder, page):
    namespace = {"__name__": "__main__"}
    for _, options, code in examples(page):
        if "no-run" not in options:
            exec(compile(code, str(page), "exec"), namespace)
    assert {path.name for path in empty_folder.iterdir()} <= {"work", "home"}


def test_the_examples_of_the_readme_are_seen():
    assert any(examples(PAGES[0]))


def test_what_is_not_run_is_listed_with_its_reason():
    numbers = Counter(
        str(page.relative_to(REPOSITORY)) for page in PAGES for _, options, _ in examples(page) if "no-run" in options
    )
    assert set(numbers.items()) == set(NOT_RUN)
    assert all(NOT_RUN.values())


def test_a_fence_has_no_other_option():
    """Or a misspelt one would go unnoticed."""
    assert {option for page in PAGES for _, options, _ in examples(page) for option in options} <= {"no-run"}


@pytest.mark.usefixtures("empty_folder")
def test_the_example_of_the_package_runs(capsys):
    _, example = engrain.__doc__.split("\n\n", 1)
    exec(compile(example, engrain.__file__, "exec"), {"__name__": "__main__"})
    assert "I moved to Lisbon in May." in capsys.readouterr().out
    assert [path.name for path in Path.cwd().iterdir()] == ["agent.db"]
