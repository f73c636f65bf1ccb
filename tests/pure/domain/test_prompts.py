"""A long prompt is searched for by what it asks, not by the logs, code and data that were pasted beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.dialogue.prompts import asks_for_work, extract_question, is_follow_up

QUESTION = "Which port did we choose for the staging proxy?"
LOG = "\n".join(
    f"2026-11-29 12:{minute:02}:07,221 ERROR orders.worker line {minute} in process_order: KeyError 'customer_{minute}'"
    for minute in range(60)
)
TRACE = """Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    run(load(sys.argv[1]))
  File "/srv/app/orders.py", line 44, in load
    return json.load(file)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"""
CODE = """def load(self, order):
    if not order:
        return None
    for item in order.items:
        self.total += item.price
    return self.total
"""
MAIL = """thanks for your mail. I looked at the invoice again and found that the second line is wrong. We ordered twelve
chairs and not twenty, and the price that we had agreed on was 89 euros each. Tom takes over for me after that.

We would also like to have the tables delivered to the new office in Porto, since the old one is closed from December
on. The lift there takes things of up to two metres, and somebody is there from eight o'clock in the morning.

I will be away until the second week of January. Until then Tom knows everything about the order, and he can be reached
by phone every day except on Wednesdays, when he works for the other branch of our company."""


@pytest.mark.parametrize("pasted", [LOG, TRACE * 3, CODE * 9, MAIL], ids=["log", "trace", "code", "mail"])
def test_a_question_is_found_before_and_behind_what_was_pasted(pasted):
    assert extract_question(f"{QUESTION}\n\n{pasted}") == QUESTION
    assert extract_question(f"{pasted}\n\n{QUESTION}").splitlines()[-1] == QUESTION


@pytest.mark.parametrize("pasted", [LOG, TRACE * 3, CODE * 9], ids=["log", "trace", "code"])
def test_a_question_is_found_between_and_without_a_blank_line(pasted):
    assert extract_question(f"{pasted}\n{QUESTION}\n{pasted}") == QUESTION


def test_a_question_between_paragraphs_of_prose_is_found():
    assert extract_question(f"{MAIL}\n\n{QUESTION}\n\n{MAIL}") == QUESTION


def test_what_a_question_is_about_stays_beside_it():
    prompt = f"The staging proxy fails since yesterday.\n\n{LOG}\n\nWhich port did we choose?"
    assert extract_question(prompt) == "The staging proxy fails since yesterday.\nWhich port did we choose?"


def test_a_question_about_nothing_by_name_takes_what_stands_beside_it():
    question = extract_question(f"Can you reply to this?\n\n{MAIL}")
    assert "the tables delivered to the new office in Porto" in question
    assert "JSONDecodeError" in extract_question(f"Why?\n{TRACE}")
    assert extract_question(f"What's my cat's name?\n{LOG}") == "What's my cat's name?"
    long = extract_question(f"Why?\n{TRACE}\n{LOG}")
    assert long.startswith("Why?")
    assert "JSONDecodeError" in long


def test_fences_are_left_out_and_one_that_is_never_closed_hides_nothing():
    fence = f"```python\n# Load the order from the database, if there is any.\n{CODE * 3}```"
    assert extract_question(f"Who wrote this function of the billing service?\n{fence}\n") == (
        "Who wrote this function of the billing service?"
    )
    assert extract_question(f"```\n{LOG}\n{QUESTION}") == QUESTION


def test_a_language_without_spaces_is_read_too():
    question = "ステージングのプロキシのポートは何番にしましたか"
    assert extract_question(f"{LOG}\n\n{question}") == question


def test_a_long_paragraph_keeps_its_questions():
    prompt = f"{MAIL.replace(chr(10) * 2, ' ')} {QUESTION}"
    question = extract_question(prompt)
    assert question.endswith(QUESTION)
    assert len(question) <= 500


def test_a_prompt_of_data_alone_keeps_its_beginning_and_its_end():
    assert extract_question(TRACE) == TRACE
    question = extract_question(LOG)
    assert question.startswith(LOG[:400])
    assert LOG[-400:-40] in question


@given(
    st.lists(
        st.sampled_from([QUESTION, LOG, TRACE, CODE, MAIL, "", "```", "ok", "a" * 3_000, "\N{SNOWMAN} " * 400]),
        max_size=8,
    )
)
def test_a_prompt_is_never_longer_than_it_was_nor_than_what_an_embedder_reads(parts):
    prompt = "\n".join(parts)
    question = extract_question(prompt)
    assert len(question) <= min(len(prompt), 1_000)
    assert bool(question.strip()) == bool(prompt.strip())


@pytest.mark.parametrize(
    "prompt",
    ["And how old is she?", "What is he allergic to?", "what about Ben?", "Et quel âge a-t-elle?", "How much is it?"],
)
def test_a_short_question_with_a_pronoun_goes_on_from_another(prompt):
    assert is_follow_up(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "How old is Clara?",
        "She is 34.",
        "What time is it?",
        "How is it going?",
        "Where does my brother live?",
        "Could you please tell me again what the address of the hotel was that we had booked for the trip in June?",
    ],
)
def test_a_whole_question_and_a_statement_go_on_from_nothing(prompt):
    assert not is_follow_up(prompt)


@pytest.mark.parametrize(
    "prompt", ["Can you write me a haiku about rain?", "Tell me a joke.", "please could you draw it"]
)
def test_a_task_asks_nothing(prompt):
    assert asks_for_work(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Where are the pills kept?",
        "Can you remind me what the code is?",
        "Could you tell me when it is?",
        "Tell me when.",
    ],
)
def test_a_question_sets_no_task(prompt):
    assert not asks_for_work(prompt)
