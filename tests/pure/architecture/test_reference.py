"""The tables of docs/ and the types of the TypeScript client, which are written from the verbs, are as these say."""

import pytest
from tools import generate_reference, generate_typescript


@pytest.mark.parametrize("path", sorted(generate_reference.DOCS.glob("*.md")), ids=lambda path: path.name)
def test_the_tables_of_a_page_are_up_to_date(path):
    page = path.read_text(encoding="utf-8")
    assert generate_reference.written(page) == page, "run: python tools/generate_reference.py"


def test_the_types_of_the_typescript_client_are_up_to_date():
    for path, text in generate_typescript.files().items():
        assert path.read_text(encoding="utf-8") == text, "run: python tools/generate_reference.py"
