"""The extras of the package have one name each: in pyproject.toml, in the documentation and in what the code tells."""

import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = set(PROJECT["optional-dependencies"])
# For whoever changes engrain, and not for whoever uses it.
OF_DEVELOPMENT = {"dev", "model", "test-llm"}
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
SOURCES = [*sorted((REPOSITORY / "src").rglob("*.py")), *PAGES]
NAMED = re.compile(r"(?:engrain|\"\.)\[(?P<extras>[a-z][a-z0-9,_-]*)\]")


def named(paths):
    """Names of extras in files, as `engrain[server,postgres]` and `".[server]"` have them."""
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return {extra for text in texts for match in NAMED.finditer(text) for extra in match["extras"].split(",")}


def test_every_extra_that_is_named_exists():
    assert named(SOURCES) - EXTRAS == set()


@pytest.mark.parametrize("name", sorted(EXTRAS - OF_DEVELOPMENT))
def test_every_extra_is_in_the_documentation(name):
    assert name in named(PAGES)


def test_the_image_installs_extras_that_exist():
    dockerfile = (REPOSITORY / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert set(re.search(r"^ARG EXTRAS=(\S+)$", dockerfile, re.MULTILINE)[1].split(",")) <= EXTRAS
