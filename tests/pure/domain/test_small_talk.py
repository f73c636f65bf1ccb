# ruff: noqa: RUF001  # characters that look like others belong to other alphabets
"""Texts that ask nothing of a memory, and texts that do."""

import pytest

from engrain.domain.text.small_talk import is_about_speaker, is_exclamation, is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "vale gracias",
        "cześć, dzięki",
        "Teşekkür ederim!",
        "Ευχαριστώ πολύ!",
        "хорошо, спасибо",
        "شكراً جزيلاً",
        "אוקיי תודה",
        "ठीक है, धन्यवाद",
        "โอเค ขอบคุณค่ะ",
        "好的谢谢",
        "はい、ありがとうございます！",
        "네 감사합니다",
        "안녕 지영",
        "cảm ơn bạn",
        "cam on nhieu",
        "Hello!!",
        "ok thanks",
        "Oh good. Thanks!",
        "good morning, house!",
        "thank you so much",
        "see you tomorrow",
        "sounds good, go on",
        "how are you today?",
        "\U0001f44d",
        "?",
        "+1",
        "Vielen Dank",
        "do it",
        "Thanks coach",
        "cheers mate, night",
        "Thanks Tom, bye for now!",
        "Thank you, that helped. Sleep well!",
        "I can't believe it. Good night!",
        "Ta, night!",
        "lol ok",
        "That sounds lovely!",
        "That's great to hear!",
        "Congrats, have fun!",
        "np",
        "I'm good, thanks!",
        "you too!",
        "Na, wie geht's?",
        "Mir geht's gut, danke",
        "Schönes Wochenende!",
        "Hola, ¿qué tal?",
        "Salut, ça va ?",
        "Grazie, anche a te",
        "Tudo bem?",
        "Добрый день!",
        "你好",
        "ありがとうございます",
        "안녕하세요",
        "gotta run, bye!",
        "phew, what a morning",
        "so tired lol",
        "Thanks, you two. Have a nice weekend!",
        "you've been a great help, have a lovely evening",
        "have a safe flight",
        "sleep well!",
        "see you all on Monday",
        "Nothing new here, just saying hi",
        "Right, I'm off to bed. Night night.",
        "Good morning, it's still dark out.",
        "off to work now, bye",
    ],
)
def test_greetings_thanks_and_nods_are_small_talk(text):
    assert is_small_talk(text)
    assert not is_about_speaker(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "What is the capital of Mongolia?",
        "hello, where is my car?",
        "Did you sleep well?",
        "I have a good day planned.",
        "Have a look at the trip to Rome.",
        "You are a great help desk agent.",
        "Hello Lisbon?",
        "Hello Lisbon, bye?",
        "morning run done",
        "thanks Tom, milk",
        "thanks for the umbrella",
        "ok milk",
        "tomorrow",
        "good morning " * 20,
        "yes, the blue one",
        "see you in Porto",
        "That is my car",
        "that works on Linux",
        "enjoy jazz",
        "I'm good at chess",
        "Wie geht es Klara?",
        "wait for the plumber",
        "I'm going to work on the parser",
        "It's dark in the hall",
        "It's late, the bus is at 9",
        "谢谢王伟来看我",
        "早上吃什么",
        "了解しました、明日行きます",
        "ได้งานใหม่",
        "네 그래요 부산에 살아요",
        "لا أحب القهوة",
        "לא אוהב קפה",
    ],
)
def test_what_asks_or_says_something_is_none(text):
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("What's my address?", True),
        ("I'm tired", True),
        ("may we call", True),
        ("What do you know about me?", True),
        ("Tell me what you remember about us", True),
        ("what do you remember so far?", True),
        ("Tell me a joke", False),
        ("What do you know about Mongolia?", False),
        ("Write a poem for me", False),
        ("", False),
    ],
)
def test_the_first_person_is_told(text, about):
    assert is_about_speaker(text) is about


@pytest.mark.parametrize(
    "text",
    [
        "haha they are going to hate me",
        "what a mess that was lol",
        "ok thanks",
        "great demo everyone!",
        "Oh dear, well well.",
    ],
)
def test_a_few_words_beside_an_interjection_or_of_praise_ask_nothing(text):
    assert is_exclamation(text)
    assert not is_about_speaker(text)


@pytest.mark.parametrize(
    "text",
    [
        "haha what is my locker code",
        "lol where is it?",
        "ugh wifi password",
        "wow the rent is 900 now",
        "they are going to hate me",
        "please book a table!",
        "great, where is the key?",
        "good restaurants nearby",
        "nice, the code is 4471!",
        "haha " + "and then we went to the market " * 3,
    ],
)
def test_what_asks_or_tells_more_is_no_exclamation(text):
    assert not is_exclamation(text)
