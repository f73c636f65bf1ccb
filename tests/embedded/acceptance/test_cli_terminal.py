"""What a person sees on a terminal: a table at its width, words as they were said, no colour where none is wanted."""

import re

import pytest

from engrain.interfaces.cli.output import aligned

SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def _told(cli):
    cli("observe", "a [bold]green[/bold] :kettle: for\nthe boat", "--speaker", "[Ana]", "--time", "2026-01-05")


def plain(shown):
    return SEQUENCE.sub("", shown)


@pytest.mark.usefixtures("_told")
def test_recall_draws_a_table_with_the_reasons_beneath_each_text(terminal):
    started = terminal("recall", "kettle")
    assert started.finish() == 0
    shown = plain(started.shown)
    assert re.search(r"date +who +score +text, why and id", shown)
    assert re.search(r"2026-01-05 +\[Ana\] +\d\.\d{3} +a \[bold\]green\[/bold\] :kettle: for", shown)
    assert "keyword 0.50" in shown
    assert SEQUENCE.search(started.shown)


def test_the_table_fits_the_terminal(chat, terminal):
    assert chat("stats").code == 0
    started = terminal("recall", "How much did the cedar cost?", COLUMNS="60")
    assert started.finish() == 0
    assert max(len(line) for line in plain(started.shown).splitlines() if "keyword" in line or "2025" in line) <= 60


@pytest.mark.usefixtures("_told")
def test_no_color_is_respected(terminal):
    started = terminal("recall", "kettle", NO_COLOR="1")
    assert started.finish() == 0
    assert "\x1b[" not in started.shown  # neither colors nor bold


def test_a_very_long_text_says_where_the_rest_is(cli, terminal):
    cli("observe", "the violin " + "and more " * 500)
    started = terminal("recall", "violin")
    assert started.finish() == 0
    assert "characters; engrain get ID shows all" in " ".join(plain(started.shown).split())


@pytest.mark.usefixtures("_told")
def test_json_on_a_terminal_is_json_alone(terminal):
    started = terminal("recall", "kettle", "--json")
    assert started.finish() == 0
    assert started.shown.startswith("{")
    assert not SEQUENCE.search(started.shown)


def test_columns_stand_beneath_each_other_whatever_the_width_of_a_letter():
    rows = [("date", "text"), ("李雷", "a"), ("Zoe\u0301 \U0001f389", "b"), ("café", "c")]
    assert aligned(rows) == ["date    text", "李雷    a", "Zoe\u0301 \U0001f389  b", "café    c"]
