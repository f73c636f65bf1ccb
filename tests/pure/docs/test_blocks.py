"""Blocks of the documentation that are neither Python nor commands hold what they say: settings, JSON, YAML."""

import json
import re
from pathlib import Path

import pytest
import yaml

from engrain import config

REPOSITORY = Path(__file__).resolve().parents[3]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
# Python and sh run in tests/servers/docs; the others are of programs that are not here, or what a command prints.
LANGUAGES = {"python", "sh", "toml", "json", "yaml", "ini", "js", "sql", "nginx", "text", "markdown"}
BLOCKS = [
    pytest.param(fence["language"], fence["code"], id=f"{page.name}-{number}")
    for page in PAGES
    for number, fence in enumerate(FENCE.finditer(page.read_text(encoding="utf-8")))
    if fence["language"] in {"toml", "json", "yaml"}
]


@pytest.mark.parametrize(("language", "code"), BLOCKS)
def test_a_block_is_read_by_what_it_is_for(language, code, tmp_path):
    if language == "toml":
        file = tmp_path / "engrain.toml"
        file.write_text(code, encoding="utf-8")
        assert config.load(file=file) != config.load()
    elif language == "json":
        assert json.loads(code)
    else:
        assert yaml.safe_load(code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_has_a_fence_and_a_known_language(page):
    text = page.read_text(encoding="utf-8")
    assert {fence["language"] for fence in FENCE.finditer(text)} <= LANGUAGES
    prose = FENCE.sub("", text)
    assert "```" not in prose
    assert not re.search(r"^    \S", prose, re.MULTILINE), "an indented block: nothing would run it"
