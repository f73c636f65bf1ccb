# ruff: noqa: RUF001  # characters that look like others belong to other alphabets
"""Words of other languages: told by their texts or scripts, and found in other inflections."""

import pytest

from engrain.domain.text.analysis import is_foreign, lookup_terms, split_terms, terms, word_terms, words
from engrain.domain.text.languages import detect_language
from tests.support.sample_records import episode, fact

# A statement, and a question that has its words in other forms.
FOUND = {
    "german": ("Meine Schwester arbeitet in den Gärten von Potsdam.", "In welchem Garten arbeiten die Schwestern?"),
    "dutch": ("Mijn zus heeft twee katten gekocht.", "Welke kat heeft mijn zus?"),
    "swedish": ("Jag har två katter och en hund.", "Vad heter min katt?"),
    "danish": ("Jeg har tre hunde og arbejder i havnen.", "Hvad hedder min hund?"),
    "norwegian": ("Jeg har to hunder og jobber ikke i dag.", "Hva heter hunden min?"),
    "spanish": ("Mi hermano tiene dos gatos negros.", "¿De qué color es el gato de mi hermano?"),
    "portuguese": ("Minha irmã tem duas gatas pretas.", "Qual é o nome da gata da minha irmã?"),
    "french": ("Ma sœur a deux chats noirs et travaille à Lyon.", "Comment s'appelle le chat de ma sœur ?"),
    "italian": ("Mia sorella ha due gatti e anche una macchina rossa.", "Di che colore è il gatto di mia sorella?"),
    "romanian": ("Sora mea are două pisici și locuiește în Cluj.", "Cum se numește pisica pe care o are sora mea?"),
    "polish": ("Moja siostra mieszka w Krakowie i ma dwa psy.", "Jak się nazywa pies, który mieszka w Krakowie?"),
    "czech": ("Moje sestra bydlí v Praze a má dvě kočky.", "Jak se jmenuje kočka, kterou má sestra z Prahy?"),
    "turkish": ("Kız kardeşim Ankara'da yaşıyor ve iki kedisi var.", "Kız kardeşimin kedisi ne zaman geldi?"),
    "finnish": ("Minulla on kaksi kissaa ja yksi koira.", "Mikä on minun kissani nimi?"),
    "hungarian": ("Két macskám van és egy kutyám.", "Hogy hívják a kutyám és a macskám?"),
    "indonesian": ("Saya tinggal di Bandung dengan dua kucing.", "Siapa nama kucing saya?"),
}
SCRIPTS = {
    "russian": ("Моя сестра живёт в Москве с двумя кошками.", "Как зовут кошку моей сестры из Москвы?"),
    "greek": ("Η αδερφή μου έχει δύο γάτες.", "Πώς λένε τη γάτα της αδερφής μου;"),
    "arabic": ("أختي عندها قطتان وتسكن في القاهرة", "ما اسم القطة في القاهرة؟"),
    "persian": ("خواهرم دو گربه دارد", "نام گربه‌ها چیست؟"),
    "hindi": ("मेरी बहन की दो बिल्लियाँ हैं", "मेरी बहन की बिल्ली का नाम क्या है?"),
}
PAIRS = {
    "chinese": ("我姐姐养了两只黑猫", "姐姐的黑猫叫什么？"),
    "japanese": ("妹は黒い猫を飼っています", "黒い猫の名前は？"),
    "korean": ("언니는 고양이를 두 마리 키워요", "언니 고양이 이름이 뭐야?"),
}


@pytest.mark.parametrize("language", FOUND)
def test_a_text_is_told_by_its_function_words(language):
    for text in FOUND[language]:
        assert detect_language(words(text)) == language


@pytest.mark.parametrize(("statement", "question"), [*FOUND.values(), *SCRIPTS.values(), *PAIRS.values()])
def test_a_statement_is_found_by_other_forms_of_its_words(statement, question):
    assert set(terms(statement)) & set(terms(question))


@pytest.mark.parametrize("text", [*(text for text, _ in (FOUND | SCRIPTS).values()), "언니는 고양이를 키워요"])
def test_what_has_other_stems_than_english_gives_it_is_foreign(text):
    assert is_foreign(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Die Gärten sind schön.", "Wo ist der Garten?"),
        ("Quiero dos gatos.", "¿Dónde está mi gato?"),
        ("Elle aime les chats noirs.", "Où est le chat noir ?"),
        ("Eu gosto das gatas.", "Onde está a gata?"),
        ("Живут кошками", "кошка"),
        ("बिल्लियाँ", "बिल्ली"),
    ],
)
def test_forms_of_a_word_have_one_stem_in_their_language(one, other):
    assert set(terms(one)) & set(terms(other)), (terms(one), terms(other))


@pytest.mark.parametrize("statement", [statement for statement, _ in FOUND.values()])
def test_a_single_word_as_it_was_said_finds_its_text_whatever_its_language(statement):
    """A word alone does not tell its language: the stem that English gives it stands in the index, too."""
    for word in words(statement):
        assert set(terms(word)) <= set(terms(statement))


@pytest.mark.parametrize(
    "text",
    [
        "We flew to Los Angeles and Las Vegas, then de la Cruz drove us to El Paso.",
        "La La Land was great, and so was Die Hard!",
        "No problem, man. So long!",
        "Go get 'em, Jon!",
        "Met anyone recently?",
        "Vincent van Gogh painted it in Arles, and I am a fan.",
        "iPhone 13 Pro Max case",
        "I had a déjà vu at the café in Málaga.",
        "cat name",
        "",
    ],
)
def test_english_stays_english(text):
    assert detect_language(words(text)) == "english"
    assert not is_foreign(text)


def test_accents_may_be_left_out_in_a_question():
    assert set(terms("¿donde esta mi cafe?")) & set(terms("Mi café está en la cocina."))


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("We met Zoë at the café in Łódź", "Zoe cafe Lodz"),
        ("Tôi sống ở Hà Nội", "Ha Noi"),
        ("İSTANBUL'DA IŞIL", "istanbul ışıl"),
        ("Donau\u00addampfschiff", "Donaudampfschiff"),
        ("שָׁלוֹם", "שלום"),
        ("٣ مايو", "3 مايو"),
        ("Алёна", "Алена"),
    ],
)
def test_a_word_is_found_by_what_another_keyboard_writes(written, asked):
    for word in asked.split():
        assert set(terms(word)) & set(terms(written))
        assert set(word_terms(word)) <= set(terms(written))
    for word in words(written):
        assert set(terms(word)) <= set(terms(written))


@pytest.mark.parametrize("mark", ["\u0e48", "\u0301", "\u0e34\u0e48"])
def test_a_mark_that_stands_alone_is_no_word_without_it(mark):
    assert terms(f"a {mark} tram") in (["tram"], [mark, "tram"])


def test_function_words_are_no_terms_and_verbs_are():
    for text in ("¿Dónde estoy y por qué?", "Wo bin ich und warum?", "где я?"):
        assert lookup_terms(text)[0] == word_terms(text) == []
    assert (lookup_terms("¿Dónde vivían?")[0], word_terms("¿Dónde vivían?")) == (["vivían", "vivian", "viv"], ["viv"])
    assert (
        lookup_terms("Where do I live?")[0] == word_terms("Where do I live?") == terms("Where do I live?") == ["live"]
    )
    assert set(lookup_terms("¿Dónde vivían?")[0]) <= set(terms("¿Dónde vivían?"))


def test_both_parts_of_a_text_are_in_its_language():
    text = "Meine Schwester arbeitet gerne. " + "Gärten sind schön. " * 3
    begins, goes_on = split_terms(text, 4)
    assert begins + goes_on == terms(text)
    assert "gart" in goes_on or "garten" in goes_on


def test_a_fact_of_english_relations_has_the_stems_of_its_content():
    from engrain.domain.text.indexing import own_terms

    stored = fact("Ana tiene dos gatos negros en Porto.", predicate="lives in")
    assert set(terms("¿De qué color es el gato?")) & set(own_terms(stored))
    assert set(terms("live")) & set(own_terms(stored))
    assert set(terms("gatos")) <= set(own_terms(episode("Quiero dos gatos.")))


@pytest.mark.parametrize(
    ("text", "looked_up"),
    [
        ("What may I not eat?", ["eat"]),
        ("May we park here?", ["park"]),
        ("What must Ben bring?", ["ben", "bring"]),
        ("Where did I go in May?", ["go", "may"]),
        ("in May I moved", ["may", "move"]),
        ("what happened since May 2024", ["happen", "sinc", "may", "2024"]),
        ("might", ["might"]),
    ],
)
def test_modal_verbs_of_a_question_are_no_terms_and_a_month_is(text, looked_up):
    assert lookup_terms(text)[0] == looked_up
