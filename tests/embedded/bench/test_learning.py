"""The bench of learning on a conversation whose facts and evidence are known by hand."""

import json
from dataclasses import dataclass

import pytest

from bench.learning import __main__ as bench
from bench.learning.facts import find_near_identical, list_invented
from bench.learning.replies import ReplyFolder
from engrain.domain.runs.completions import Completion, Prompt
from engrain.errors import EngineUnavailable
from tests.support.bench_corpora import corpus, question, turn
from tests.support.sample_records import fact

TURNS = (
    turn("It rained all morning, and we stayed at home with tea and a long book about the sea."),
    turn(
        "Yesterday I finally bought the little red boat, from old Mr. Sousa, for 300 euros, with papers, oars, a sail "
        "that needs some care and all that belongs to it."
    ),
)
BOAT = question("Who sold Ana the boat?", ("s1", 2))
REPLY = {
    "new_facts": [
        ["Ana", "bought", "Ana bought a red boat from Mr. Sousa.", "", "", "e2 I finally bought the little red boat"]
    ],
    "updated_facts": [],
    "new_rules": [],
    "confirmations": [],
    "recap": "",
}


@dataclass
class Replying:
    """Language model that gives one reply and counts its prompts."""

    name: str = "replying"
    prompts: int = 0

    def complete(self, prompt, *, timeout_s):  # noqa: ARG002  # answers at once
        self.prompts += 1
        return Completion(text=json.dumps(REPLY))


def measured(folder, turns=TURNS):
    return bench.measure(corpus(turns, [BOAT]), folder, None, asked=[30, 400], say=lambda _: None)


def recalls(found):
    return {(recall.learned, recall.budget): recall.recall for recall in found.recalls}


def test_a_fact_carries_the_evidence_of_the_turn_it_was_learned_from(tmp_path):
    found = measured(ReplyFolder(tmp_path / "replies", Replying()))
    assert recalls(found) == {(False, 30): 0.0, (False, 400): 1.0, (True, 30): 1.0, (True, 400): 1.0}
    assert [learned.content for learned in found.facts] == ["Ana bought a red boat from Mr. Sousa."]
    assert (found.report.new, found.duplicates, found.invented) == (1, 0.0, ())


def test_recorded_replies_give_the_same_run_without_a_model(tmp_path):
    model = Replying()
    first = measured(ReplyFolder(tmp_path / "replies", model))
    again = measured(ReplyFolder(tmp_path / "replies", None))
    assert bench.as_json(again) == bench.as_json(first)
    assert (model.prompts, again.traffic.changed, len(again.facts)) == (1, 0, 1)


def test_replies_to_other_data_are_counted(tmp_path):
    measured(ReplyFolder(tmp_path / "replies", Replying()))
    found = measured(ReplyFolder(tmp_path / "replies", None), (turn("We had rain."), TURNS[1]))
    assert (found.traffic.prompts, found.traffic.changed) == (1, 1)


def test_a_missing_reply_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(EngineUnavailable, match=r"001\.reply\.txt is missing: 0 replies"):
        ReplyFolder(tmp_path / "replies", None).complete(Prompt(system="", user="e1"), timeout_s=1.0)


def test_facts_that_say_nearly_the_same_are_pairs_unless_a_number_parts_them():
    contents = ("Ana bought a red boat in Porto", "In Porto Ana bought a red boat", "Ana bought 2 red boats in Porto")
    facts = [fact(content, subject="Ana") for content in contents]
    assert find_near_identical(facts, None) == [(facts[0], facts[1])]
    assert find_near_identical([facts[0], fact(contents[1], subject="Ben")], None) == []


def test_names_and_numbers_that_no_source_has_are_invented():
    [conversation] = corpus(TURNS, [BOAT]).conversations
    honest, invented = fact("Ana paid Mr. Sousa 300 euros on 7 May 2023."), fact("Ana paid Mr. Lopes 350 euros.")
    traced = {honest.id: frozenset({("s1", 2)}), invented.id: frozenset({("s1", 2)})}
    assert list_invented([honest], traced, conversation) == []
    assert list_invented([invented], traced, conversation) == [(invented, ["Lopes", "350"])]


def test_the_command_prints_the_table_and_fails_without_a_model(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ENGRAIN_LLM__MODEL", "none")
    measured(ReplyFolder(tmp_path / "replies", Replying()))
    said = [
        {"speaker": "Ana", "dia_id": f"D1:{number}", "text": spoken.content} for number, spoken in enumerate(TURNS, 1)
    ]
    data = tmp_path / "locomo.json"
    data.write_text(
        json.dumps(
            [
                {
                    "conversation": {"session_1": said, "session_1_date_time": "1:56 pm on 8 May, 2023"},
                    "qa": [{"question": BOAT.text, "evidence": ["D1:2"], "category": 4}],
                }
            ]
        )
    )
    usual = [str(data), "--embedder", "none", "--budget", "30", "--cache", str(tmp_path)]
    assert bench.main([*usual, "--replies", str(tmp_path / "replies"), "--facts"]) == 0
    printed = capsys.readouterr().out
    assert "1 prompts for 2 turns" in printed
    assert "Ana | bought | Ana bought a red boat from Mr. Sousa." in printed
    assert bench.main(usual) == 2
    assert "nobody learns" in capsys.readouterr().err
