import pytest

from engrain.domain.text.dialogue.chronology import (
    asks_about_user,
    asks_for_last_conversation,
    asks_for_plans,
    asks_what_was_said,
    asks_what_was_said_ever,
    may_ask_by_time,
)


@pytest.mark.parametrize(
    "text",
    [
        "What did I tell you |?",
        "What did we talk about |?",
        "what have we discussed in |",
        "What was said |?",
        "Can you summarize our conversation from |?",
        "Recap of our chat |",
        "Do you remember what I told you |?",
        "Remind me what I said |",
        "Hey, what were we talking about |?",
        "What did we work on |?",
    ],
)
def test_what_was_said_at_a_time(text):
    assert asks_what_was_said(text)
    assert may_ask_by_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "What did I say about Lisbon |?",
        "What did she say |?",
        "What did I tell you about it?",
        "Tell me",
        "Tell me everything",
        "Say hi",
        "What can you tell me?",
        "Can we talk?",
        "I told you",
        "What did I do |?",
        "Where did I work |?",
        "What do we work on |?",
        "What happened |?",
    ],
)
def test_whoever_names_what_it_is_about_does_not_ask_for_whatever_was_said(text):
    assert not asks_what_was_said(text)
    assert not asks_about_user(text)


def test_whoever_asks_to_hear_the_last_answer_again_does_not_ask_for_all_that_was_said():
    assert asks_what_was_said_ever("What did I tell you so far?")
    assert not asks_what_was_said_ever("What did you say?")


@pytest.mark.parametrize(
    "text",
    [
        "Where did we leave off?",
        "hi, where did we leave off last time?",
        "Where were we?",
        "Let's continue where we left off",
        "What did we talk about last time?",
        "what was our last conversation about?",
        "Summarize the previous session",
    ],
)
def test_the_last_conversation(text):
    assert asks_for_last_conversation(text)
    assert may_ask_by_time(text)


@pytest.mark.parametrize(
    "text", ["Where did we leave the car?", "Where did we stop for lunch?", "last time", "What did it cost last time?"]
)
def test_no_question_for_the_last_conversation(text):
    assert not asks_for_last_conversation(text)


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about me?",
        "Tell me about myself",
        "what do you remember?",
        "Do you remember me?",
        "Who am I?",
        "What can you remember about me so far",
        "Describe me",
        "Do you know anything about us?",
    ],
)
def test_all_that_is_known_of_the_user(text):
    assert asks_about_user(text)
    assert may_ask_by_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about Lotte?",
        "What do you know about my job?",
        "Do you know what I mean?",
        "You know what?",
        "Do you remember?",
        "Do I know you?",
        "Can you tell me a joke?",
        "Remind me about her",
    ],
)
def test_a_question_for_less_is_about_that(text):
    assert not asks_about_user(text)


def test_who_only_hands_a_question_on_is_answered_by_words():
    assert not may_ask_by_time("What about me?")


def test_a_long_text_asks_for_more():
    assert not may_ask_by_time("What did I tell you? " * 10)


@pytest.mark.parametrize(
    "text",
    [
        "What do I have  ?",
        "What's on for  ?",
        "Am I free  ?",
        "Do we have anything planned  ?",
        "Any appointments  ?",
        "What does  look like?",
        "what's happening  ",
    ],
)
def test_plans_for_a_time(text):
    assert asks_for_plans(text, is_dated=True)


@pytest.mark.parametrize(
    "text",
    [
        "What's coming up?",
        "What are my plans?",
        "Any upcoming events?",
        "What's on my calendar?",
        "Do I have any plans?",
    ],
)
def test_plans_for_any_time_to_come(text):
    assert asks_for_plans(text, is_dated=False)


@pytest.mark.parametrize(
    ("text", "is_dated"),
    [
        ("What's the plan?", False),
        ("What's on?", False),
        ("Who is coming  ?", True),
        ("What should I wear  ?", True),
        ("What did I have  ?", True),
        ("What is Ana doing  ?", True),
        ("Tell me  ", True),
    ],
)
def test_no_question_for_plans(text, is_dated):
    assert not asks_for_plans(text, is_dated=is_dated)
