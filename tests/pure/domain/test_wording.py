"""A fault in two wordings: whole for whoever runs the memory, and without the machine for everybody else."""

import copy
import inspect
import json
import pickle

import pytest

from engrain import errors
from engrain.agent.operations.leases import error_message
from engrain.domain.records import Answer
from engrain.domain.wording import Wording, code_of, is_of_the_request, sentence, worded
from engrain.interfaces.redaction import redacted

ERRORS = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.EngrainError)]
WORDS = "/srv/memory.db at db.internal:5432 as postgres refused"


@pytest.mark.parametrize("kind", [*ERRORS, ZeroDivisionError, KeyError])
def test_outside_an_error_says_what_it_is_and_its_own_words_only_where_they_are_about_the_request(kind):
    error = kind(WORDS)
    made = worded(error)
    assert WORDS in made
    assert (WORDS in made.outside) == (WORDS in sentence(error)) == is_of_the_request(error)
    assert made.outside.endswith(f" ({code_of(error)})")
    assert len(sentence(error)) > 20
    assert WORDS not in error_message(error)
    assert error_message(error).startswith(f"{code_of(error)}: ")


def test_an_engine_that_cannot_answer_is_named_by_what_it_is():
    made = worded(errors.EngineUnavailable(WORDS), "the reranker").after("nothing was re-ranked: ")
    assert made == f"nothing was re-ranked: {WORDS}"
    assert made.outside == "nothing was re-ranked: the reranker cannot answer now (engine_unavailable)"
    assert worded(errors.DatabaseBusy(WORDS), "the reranker").outside == worded(errors.DatabaseBusy("x")).outside


def test_words_of_our_own_are_the_same_redacted():
    own = Wording("no embedder is configured")
    assert (own, own.outside) == ("no embedder is configured", own)
    assert Wording(Wording("whole", "outside")).outside == "outside"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_says_the_same_in_both(again):
    made = again(Wording("whole", "outside"))
    assert (made, made.outside) == ("whole", "outside")


def test_an_answer_prints_whole_and_leaves_without_the_machine(caplog):
    answer = Answer(query="tram", preset="engrain", degraded=(Wording(WORDS, "it is away"), Wording("it is slow")))
    assert json.loads(json.dumps(answer.to_dict()))["degraded"] == [WORDS, "it is slow"]
    left = redacted({"inner": [answer.to_dict()], "count": 3, "none": None})
    assert left["inner"][0]["degraded"] == ["it is away", "it is slow"]
    assert {type(each) for each in left["inner"][0]["degraded"]} == {str}
    assert (left["inner"][0]["query"], left["count"], left["none"]) == ("tram", 3, None)
    assert [each.reason for each in caplog.records] == [WORDS]
