"""The tables of docs/, the types of the TypeScript client, the newest schema and the plots are up to date."""

import inspect
import re

import pytest
from tools import generate_reference, generate_schema, generate_typescript

from bench import plots
from engrain.verbs.signatures import signatures


@pytest.mark.parametrize("path", sorted(generate_reference.DOCS.glob("*.md")), ids=lambda path: path.name)
def test_the_tables_of_a_page_are_up_to_date(path):
    page = path.read_text(encoding="utf-8")
    assert generate_reference.written(page) == page, "run: python tools/generate_reference.py"


def test_the_tables_of_verbs_name_the_parameters_that_python_takes():
    pages = sorted(generate_reference.DOCS.glob("*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for found in signatures():
        [row] = re.findall(rf"^\| `\.{re.escape(found.verb.name)}\((.*?)\)` \|", text, re.MULTILINE)
        documented = re.findall(r"(\w+)(?:=[^,]*)?(?:, |$)", row)
        assert documented == [name for name in inspect.signature(found.method).parameters if name != "self"]


def test_the_types_of_the_typescript_client_are_up_to_date():
    for path, text in generate_typescript.files().items():
        assert path.read_text(encoding="utf-8") == text, "run: python tools/generate_reference.py"


def test_the_newest_schema_is_what_the_revisions_make_of_an_empty_file():
    assert generate_schema.SCHEMA.read_text(encoding="utf-8") == generate_schema.text(), (
        "run: python tools/generate_reference.py"
    )


@pytest.mark.parametrize(("file", "svg"), plots.documented().items(), ids=list(plots.PLOTS))
def test_a_plot_has_the_figures_of_its_table(file, svg):
    assert (plots.PICTURES / file).read_text(encoding="utf-8") == svg, "run: python tools/generate_reference.py"
