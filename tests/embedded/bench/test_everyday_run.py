"""Two scripts for real: one that this memory keeps to in full, and one of the bench's own by its command."""

import json
import threading

import pytest

from bench.everyday.__main__ import judge_scripts, main
from bench.everyday.engrain_host import EngrainHost
from bench.everyday.parsing import parse_script
from bench.everyday.runner import judge_script
from bench.everyday.shared_embedder import SharedEmbedder
from engrain.errors import EngineUnavailable

WHOLE = """title: Everything the host can do
topic: plain
--- monday 2026-03-02 09:00
remember [home]: user | lives in | Lisbon
    from: 2026-01-01
Ana [cat]: My cat is called Miso.
confirm: home
--- tuesday 2026-03-03 09:00 user ben
Ben: My dog is called Bolt.
--- wednesday 2026-03-04 09:00
ask: What is my cat called?
    first: Miso
    not hits: Bolt
    evidence: some
    block: Miso
    block at most: 60
correct [home]: Porto
facts: user | lives in
    has: Porto
    has not: Lisbon
    count: 1
facts: user | lives in
    as of: 2026-03-03
    has: Lisbon
entity [tom]: Tomás | person
    aliases: Tom
profile: Tom
    count: 0
handle: My favourite colour is teal.
    speaker: Ana
    names not: cat
handle: What is my favourite colour?
    first: teal
forget: cat
ask: What is my cat called?
    not hits: Miso
    not block: Miso
ask: my home
    since: not a time
    not hits: Miso
again 2: Ana: Where do I live? => In Porto.
"""


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "companion" / "whole.txt"
    path.parent.mkdir()
    path.write_text(WHOLE, encoding="utf-8")
    return parse_script(path)


def test_a_script_goes_through_the_public_library(whole):
    verdicts = judge_scripts([whole])
    problems = [verdict.problem for verdict in verdicts["engrain"] if not verdict.holds]
    assert len(verdicts["engrain"]) == sum(len(step.expectations) for step in whole.steps)
    assert [problem.split(":")[0] for problem in problems] == ["InvalidInput"]
    assert {verdict.expectation.aspect for verdict in verdicts["vectors"]} == {"hits", "block"}
    assert [verdict.expectation.text for verdict in verdicts["vectors"] if not verdict.holds] == []


def test_the_command_prints_the_tables_and_writes_every_figure(tmp_path, capsys):
    figures = tmp_path / "figures.json"
    plot = tmp_path / "plot.svg"
    assert main(["--script", "support/phone_plans", "--json", str(figures), "--plot", str(plot)]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines() if line.endswith("vectors")] == ["kind", "topic", "aspect"]
    written = json.loads(figures.read_text(encoding="utf-8"))
    assert set(written) == {"engrain", "vectors"}
    assert written["engrain"]["kind"]["support"]["expected"] == len(written["engrain"]["verdicts"])
    assert 0 < written["engrain"]["share"] <= 1
    drawn = plot.read_text(encoding="utf-8")
    assert all(f">{memory['share']:.3f}</text>" in drawn for memory in written.values())
    assert printed.count("<-") == sum(verdict["problem"] is not None for verdict in written["engrain"]["verdicts"])


def test_an_unknown_script_is_told(capsys):
    assert main(["--script", "nothing"]) == 2
    assert "no script nothing" in capsys.readouterr().err


def test_a_script_is_shown_as_it_goes(capsys):
    assert main(["--script", "companion/cat_name", "--show"]) == 0
    shown = capsys.readouterr().out
    assert "Miso" in shown
    assert "(evidence strong, block of " in shown
    assert "expectations hold" in shown


class NeverInTime(SharedEmbedder):
    """Embeds nothing in the background, as if the machine were too slow for it."""

    def embed(self, texts, *, role):
        if threading.current_thread().name == "engrain-embedding":
            raise EngineUnavailable("too slow")
        return super().embed(texts, role=role)


def test_a_question_is_asked_once_all_has_its_vectors(tmp_path):
    path = tmp_path / "companion" / "slow.txt"
    path.parent.mkdir()
    path.write_text(
        "title: A pet\n"
        "--- monday 2026-03-02 09:00\n"
        "topic: plain\n"
        "Ana: My dog Balu limps.\n"
        "ask: What is the name of my pet?\n"
        "    first: Balu\n",
        encoding="utf-8",
    )
    script = parse_script(path)
    with EngrainHost(script, embedder=NeverInTime()) as host:
        (verdict,) = judge_script(script, host)
    assert verdict.problem is None
