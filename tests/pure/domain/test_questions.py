# ruff: noqa: RUF001  # characters that look like others belong to other alphabets
import unicodedata

import pytest

from engrain.domain.text.dialogue.questions import (
    REQUESTING,
    ends_with_question_mark,
    is_question,
    question_share,
    question_shares,
    states_beside_asking,
    strip_asking_words,
)


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
    ("content", "asks"),
    [
        ("Write me a packing list for three days in Edinburgh.", True),
        ("Please translate 'see you soon' into Norwegian.", True),
        ("give me a name for my podcast", True),
        ("Schreib mir einen Brief an den Vermieter.", True),
        ("\u00dcbersetze das ins Englische.", True),
        ("\u00c9cris-moi une lettre.", True),
        ("Dame tres ideas para la fiesta.", True),
        ("fix the flaky rounding test", True),
        ("add a retry to the Stripe webhook handler", True),
        ("add the mayor to the speeches", False),
        ("Fix it yourself.", False),
        ("Give me a call after six.", False),
        ("Make a note: the key is under the pot.", False),
        ("Remind me to buy milk.", False),
        ("Write tests before code, always.", False),
        ("Explain it to my sister. She lives in Porto.", False),  # tells something beside
    ],
)
def test_a_request_for_a_text_is_no_question_and_asks_more_than_a_statement(content, asks):
    assert question_share(content) == question_shares([content])[0] == (REQUESTING if asks else 0.0)
    assert not is_question(content)


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


@pytest.mark.parametrize(
    "content",
    [
        "Πού μένω;",
        "私の犬の名前は何ですか。",
        "ご飯を食べましたか",
        "你吃了吗。",
        "여기 있습니까.",
        "หิวไหมครับ",
        "أين أسكن؟",
        "我住在哪里？",
    ],
)
def test_some_languages_ask_with_another_sign_or_a_particle(content):
    assert question_share(content) == 1.0
    assert ends_with_question_mark(content)
    assert is_question(unicodedata.normalize("NFD", content))


@pytest.mark.parametrize(
    "content",
    [
        "Wie heißt mein Hund",
        "Wogegen bin ich allergisch",
        "Cómo se llama mi perro",
        "Comment s’appelle mon chien",
        "Come si chiama il mio cane",
        "Waar woon ik",
        "Gdzie mieszkam",
        "Где я живу",
        "Как зовут мою собаку",
        "Πώς λένε τον σκύλο μου",
        "أين أسكن",
        "איפה אני גר",
        "मेरे कुत्ते का नाम क्या है",
        "我的狗叫什么名字",
        "犬の名前は何",
        "이름이 뭐예요",
        "หมาของฉันชื่ออะไร",
        "Con chó của tôi tên gì",
        "Köpeğimin adı ne",
    ],
)
def test_a_question_without_a_mark_is_one_in_other_languages_too(content):
    assert question_share(content) == 1.0
    assert not is_question(f"{content}.")


@pytest.mark.parametrize(
    "content",
    [
        "Mam psa; kota nie mam",
        "Έχω σκύλο· όχι γάτα",
        "いつか行きたい。",
        "我什么都不吃",
        "没什么",
        "ไม่มีอะไร",
        "ฉันชอบผ้าไหม",
        "친구를 만나요",
        "Tôi không đi đâu",
        "Где-то идёт дождь",
        "Когда я был маленьким, мы жили в Казани",
        "När jag var liten, bodde vi i Lund",
        "Żal mi",
    ],
)
def test_a_word_that_may_ask_asks_nothing_where_it_says_something_else(content):
    assert question_share(content) == 0.0


def test_the_share_of_a_text_without_spaces_is_of_its_characters():
    assert question_share("我住在成都市锦江区春熙路，每天骑车。你呢？") < 0.2


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("What does Marek do for a living?", ["What", "does", "Marek", "do", "?"]),
        ("What do you know about Lotte?", ["Lotte?"]),
        ("Can you tell me more about the bridge", ["the", "bridge"]),
        ("tell me about my mom", ["my", "mom"]),
        ("Tell me what you know", ["Tell", "me", "what", "you", "know"]),
        ("我的狗叫什么名字？", ["我的狗叫", "名字？"]),
        ("私はどこに住んでいますか？", ["私は", "に住んでい", "？"]),
        ("Tôi sống ở đâu?", ["sống", "?"]),
        ("什么", ["什么"]),
    ],
)
def test_words_that_say_how_a_question_asks_are_not_looked_for(query, left):
    assert strip_asking_words(query).split() == left


@pytest.mark.parametrize(
    "content",
    [
        "I live in Lyon. Can you recommend a restaurant?",
        "I'm allergic to cats, Tom, could you lock Minka away?",
        "What can I order there? I don't eat meat.",
        "The boiler is leaking. Can you send someone?",
        "Hi, my flight is LH 431 on Friday. Do I need a visa for the stopover?",
        "There are forty of us. Is the room big enough?",
    ],
)
def test_what_a_turn_tells_before_or_after_it_asks_is_told(content):
    assert states_beside_asking(content)


@pytest.mark.parametrize(
    "content",
    [
        "Where do I live?",
        "I forgot where I put my keys. Where are they?",
        "I don't know my blood type. Do you?",
        "I'm not sure about the date. Was it Friday?",
        "I'd like to know when the train leaves. Is it at nine?",
        "We have a question about it. When do you open?",
        "My hero! Where did you find it?",
        "That's awesome! How did it go?",
        "You did great at the race! How did you feel?",
        "I live in Lyon. " + "Can you recommend a restaurant there? " * 30,
    ],
)
def test_whoever_says_what_they_want_to_know_tells_nothing(content):
    assert not states_beside_asking(content)
