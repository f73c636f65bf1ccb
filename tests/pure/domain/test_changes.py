"""Short statements, the changes among them, and what they deny."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.text.dialogue import changes
from engrain.domain.text.dialogue.changes import (
    UNSTATED,
    asks_for_event,
    asks_for_present,
    describe_statement,
    find_denied,
    find_names,
    split_passage,
)


@pytest.mark.parametrize(
    "content",
    [
        "Actually I moved to Porto on Saturday.",
        "The rent is 11,500 kroner now, much better.",
        "I renamed the module dumper to exporter.",
        "Sorry, not Felipe, it's Mette who does the music.",
        "I misread the plate: it ends in 09.",
        "We don't eat meat any more.",
        "My new favourite soup is laksa.",
        "The report has been postponed to April.",
        "We swapped back, I have the top shelf again.",
        "Kofi gave back the drill.",
        "User left Dell and joined a startup.",
        "Feature flags were migrated to Unleash.",
        "Tom and I broke up.",
        "Leave it at the kiosk instead.",
        "We extend the sprint to the 24th of April.",
        "I put the spare key into the desk.",
        "Sunday doesn't work for Piet.",
        "The bill says 58 euros, not 62.",
        "Our plans changed: it goes into the attic.",
        "We moved it to Friday.",
        "Changed the key safe, it's 7719.",
        "so start is a week later, mon 24 aug",
        "From tomorrow you are with Vroni.",
        "They transferred me to intensive care.",
        "Ms. Ferreira gave us four more days.",
        "Wait, wrong date, it is the 28th.",
        "The start slips by a week.",
        "We push the launch by two weeks.",
        "We're moving the whole thing to the boathouse.",
        "I'm switching the broker to port 8884 tonight.",
        "The mayor has declined.",
        "I made a typo with the number, it ends in 47.",
        "The gate code changed, 9035.",
        "Edda wants to give up the captaincy.",
        "Sven can't do the washing until May, Ida does it.",
        "Oumar reviews PRs in the meantime.",
        "Kim stands in for Sanjay.",
    ],
)
def test_a_change_is_told_from_other_statements(content):
    assert describe_statement(content, role="user", asking=0.0).states_change


@pytest.mark.parametrize(
    "content", ["I live in Lisbon.", "I read today's paper.", "The report is due in March.", "I know Otto.", ""]
)
def test_other_statements_are_no_changes(content):
    assert not describe_statement(content, role="user", asking=0.0).states_change


@pytest.mark.parametrize(("phrases", "place"), [(changes._CHANGES, 0), (changes._DENIALS, 1), (changes._TAKES_BACK, 2)])
@given(data=st.data())
def test_no_phrase_is_missed_for_want_of_a_key_whatever_its_case(phrases, place, data):
    patterns = [pattern for key in sorted(phrases.keys) for _, pattern in phrases._by_key[key]]
    pattern = data.draw(st.sampled_from(patterns))
    content = data.draw(st.from_regex(re.compile(pattern.pattern, pattern.flags | re.IGNORECASE)))
    assert changes.describe_sentence(content)[place]
    assert len(changes._fold_case(content)) == len(content)


@given(st.from_regex(re.compile(changes._TAKES_BACK_FIRST.pattern, re.VERBOSE | re.IGNORECASE)))
def test_no_beginning_that_takes_back_is_missed_for_want_of_a_hint(content):
    begins = changes._TAKES_BACK_FIRST.match(changes._fold_case(content)) is not None
    assert changes.describe_sentence(content)[2] or not begins


def test_a_statement_has_the_terms_of_its_names_and_numbers():
    assert find_names("Staging of Atlas runs on port 9090, on port 9090.") == {"atlas", "9090"}


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("Wir haben Halden gekündigt, jetzt liefert Corvin.", {"halden", "hald", "corvin"}),
        ("Unser Lieferant hat das alte Dach und die Miete nicht bezahlt.", set()),
        ("Ich glaube, meine Schwester Ute wohnt mit dem Hund in Wien.", {"ute", "wien"}),
        ("Hemos dejado Halden, ahora entrega Corvin.", {"halden", "hald", "corvin"}),
    ],
)
def test_names_of_other_languages_have_the_stems_of_theirs_and_german_nouns_with_an_article_are_none(statement, names):
    assert find_names(statement) == names


@pytest.mark.parametrize(
    ("content", "role", "asking"),
    [
        ("I moved.", "tool", 0.0),
        ("I moved.", None, 0.0),
        ("Who moved?", "user", 1.0),
        ("now " * 41, "assistant", 0.0),
        ("now " * 201, "user", 0.0),
    ],
)
def test_what_is_no_statement_is_not_described(content, role, asking):
    assert describe_statement(content, role=role, asking=asking) == UNSTATED


PASSAGE = (
    "The tram was late again. Dr. Weber asked about the knee, and I told her that the stairs are fine. Oh, and the "
    "class is on Fridays now. Can you recommend a good bakery? I'll try the one at the corner. My tutor gave me until "
    "5 May, so could you change the date?"
)


def test_a_long_turn_is_read_sentence_by_sentence_without_what_it_asks():
    assert split_passage(PASSAGE) == [
        "The tram was late again.",
        "Dr. Weber asked about the knee, and I told her that the stairs are fine.",
        "Oh, and the class is on Fridays now.",
        "I'll try the one at the corner.",
        "My tutor gave me until 5 May,",
    ]
    assert split_passage(PASSAGE[:100]) == [PASSAGE[:100]]
    described = describe_statement(PASSAGE, role="user", asking=0.1)
    assert (described.states_change, described.takes_back) == (True, False)
    assert split_passage("Where? " * 30) == ["Where? " * 30]


@pytest.mark.parametrize(
    ("query", "of_present"),
    [
        ("When is the class?", True),
        ("When was the class?", False),
        ("Can you recommend a class?", False),
        ("Any tips for the class?", False),
    ],
)
def test_who_asks_for_ideas_does_not_ask_how_things_are(query, of_present):
    assert asks_for_present(query) is of_present


@pytest.mark.parametrize(
    ("content", "takes_back"),
    [
        ("sorry, 300 per minute not per second", True),
        ("Wait, not 3.11, the image has 3.12.", True),
        ("oh no, i meant the 70-200", True),
        ("It's heron-92, typo.", True),
        ("and it's flat 12B, forgot the B", True),
        ("Tippfehler: 8081.", True),
        ("Perd\u00f3n, quise decir el martes.", True),
        ("There is a typo on the start page.", False),
        ("No idea.", False),
        ("I told him that I was sorry.", False),
        ("Waiting for the bus.", False),
    ],
)
def test_who_takes_back_what_was_said_just_before_says_so(content, takes_back):
    assert describe_statement(content, role="user", asking=0.0).takes_back is takes_back


@pytest.mark.parametrize(
    "query",
    [
        "Where do I live?",
        "Who owns billing?",
        "Is issue 88 fixed?",
        "rent",
        "How old is my dog?",
        "How often is it mowed?",
        "what was the gripper force limit again",
        "Who was my physio again?",
    ],
)
def test_a_question_about_the_present(query):
    assert asks_for_present(query)


@pytest.mark.parametrize(
    ("query", "of_event"),
    [
        ("How many panels did I order?", True),
        ("Which boat was booked?", True),
        ("How many panels did I order before?", False),
        ("How many panels are there?", False),
    ],
)
def test_a_question_about_what_happened_is_about_the_past_by_its_tense_alone(query, of_event):
    assert asks_for_event(query) is of_event


@pytest.mark.parametrize(
    "query", ["Where did I live?", "What was it before?", "my old address", "When has it changed?", "Who won in 2019?"]
)
def test_a_question_about_the_past(query):
    assert not asks_for_present(query)


@pytest.mark.parametrize(
    ("content", "denied"),
    [
        ("The bill says 58 euros, not 62.", {"62"}),
        ("I gave up on Bevy and rewrote it.", {"bevi"}),
        ("Zofia can't do Mondays.", {"monday"}),
        ("Dario left, Yuki trains me.", {"dario"}),
        ("Nora is on holiday.", {"nora"}),
        ("The rent is 900 euros.", set()),
        ("The appointment is on May 9.", set()),
        ("The contract is out for signature.", set()),
    ],
)
def test_what_stands_beside_a_denial_is_so_no_more(content, denied):
    assert find_denied(content) >= denied
    assert describe_statement(content, role="user", asking=0.0).denies == bool(denied)


def test_a_denial_reaches_no_further_than_a_comma():
    assert find_denied("We dropped Celery, jobs run on arq.") == {"drop", "celeri"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What was the code again?", True),
        ("Where were the keys, and what was the code again ?!", True),
        ("What was the code? Say it again please", False),
        ("What was it?\nSay it again", False),
        ("was " * 60_000 + "x", False),
        ("was " * 60_000 + "again", True),
    ],
)
def test_what_was_it_again_asks_how_things_are(query, expected):
    assert asks_for_present(query) is expected
