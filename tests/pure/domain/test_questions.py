import pytest

from engrain.domain.text.dialogue.questions import is_question, question_share, question_shares


@pytest.mark.parametrize(
    ("content", "share"),
    [
        ("Where is the tram?", 1.0),
        ("It is late. Where is the tram?", 4 / 7),
        ("I live on the fourth floor without a lift, is that a problem?", 4 / 13),
        ("Hi, we've ordered a blue sofa, when does it come?", 4 / 10),
        ("When I come home late, is the door open?", 1.0),
        ("Is it the blue one, or is it the red one?", 1.0),
        ("I wonder, is it late?", 1.0),  # too few words to state anything
        ("I live on the fourth floor, without a lift.", 0.0),
        ("Marek is a carpenter, did I tell you?", 0.0),
        ("The gate code is 4471, remember?", 0.0),
        ("Did I tell you?", 1.0),
    ],
)
def test_a_turn_asks_as_much_as_it_has_words_in_questions(content, share):
    assert question_share(content) == pytest.approx(share)
    assert question_shares([content]) == [question_share(content)]


@pytest.mark.parametrize(
    "content",
    [
        "which tomato varieties did I sow",
        "whats my cats name",
        "what's the rate limit on login",
        "ok so who owns the payments module",
        "how many tulips came up",
        "how to restart the server",
        "do I still have a bike",
        "did Raj's login problem get solved",
        "is my placement confirmed",
        "what happened to the bike",
        "wie viele V\u00f6lker habe ich",
        "D\u00f3nde vive mi hermana",
        "O\u00f9 sont les cl\u00e9s",
        "dove abita Ana",
        "onde mora a Ana",
    ],
)
def test_a_short_line_that_begins_as_a_question_needs_no_mark(content):
    assert question_share(content) == 1.0
    assert is_question(f"{content}?")
    assert not is_question(f"{content}.")


@pytest.mark.parametrize(
    "content",
    [
        "When I was young we lived in Leeds",
        "what a day",
        "What I like about it is the view",
        "what matters most is the price",
        "which is why I left",
        "how nice to see you",
        "how much I miss Leeds",
        "where the old mill was",
        "Will Byers came to dinner",
        "do the dishes",
        "did my homework",
        "have a nice day",
        "can you remind me to buy milk",
        "what's up",
        "Wo wir wohnen, ist es laut",
        "how to reach the vet: call 0117",
        "what is right\nis right",
        "what is it with this boat and why does it always rain " + "and rain " * 15,
        "",
    ],
)
def test_what_only_begins_like_a_question_states_something(content):
    assert question_share(content) == 0.0
