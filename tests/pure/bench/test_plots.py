"""Plots are SVG with a bar as long as its figure; those of the documentation take it from the tables that it prints."""

import xml.etree.ElementTree as ET

import pytest

from bench import plots

SVG = "{http://www.w3.org/2000/svg}"


def test_each_bar_is_as_long_as_its_share():
    drawn = ET.fromstring(plots.bars("A < B & C", {"x": {"one": 1.0, "two": 0.5}, "y": {"one": 0.25, "two": 0.0}}))
    bars = [float(rect.get("width")) for rect in drawn.iter(f"{SVG}rect") if rect.get("height") == str(plots._BAR - 2)]
    assert [length / bars[0] for length in bars] == pytest.approx([1, 0.5, 0.25, 0], abs=1e-3)
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert texts == ["A < B & C", "one", "two", "x", "1.000", "0.500", "y", "0.250", "0.000"]


def test_a_table_is_read_by_its_first_row():
    page = "Words.\n\n| | a | b |\n|---|---|---|\n| **x** | **0.1** | 2 |\n| `y` | 3 | 4 ms |\n\n| | c |\n|---|---|\n"
    assert plots.read_table(page, "| a |") == {"x": {"a": "0.1", "b": "2"}, "y": {"a": "3", "b": "4 ms"}}


def test_plots_that_are_out_of_date_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(plots, "PICTURES", tmp_path / "pictures")
    assert plots.main(["--check"]) == 1
    assert capsys.readouterr().err.count("out of date") == len(plots.PLOTS)
    assert (plots.main([]), plots.main(["--check"])) == (0, 0)
