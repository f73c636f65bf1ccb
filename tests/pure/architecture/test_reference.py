"""The tables of docs/ that are written from the table of verbs are as it says."""

import pytest
from tools import generate_reference


@pytest.mark.parametrize("path", sorted(generate_reference.DOCS.glob("*.md")), ids=lambda path: path.name)
def test_the_tables_of_a_page_are_up_to_date(path):
    page = path.read_text(encoding="utf-8")
    assert generate_reference.written(page) == page, "run: python tools/generate_reference.py"
