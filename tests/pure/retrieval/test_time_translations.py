"""Times in other languages than English are the same spans as their English words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.retrieval.chronology.time_expressions import parse_span, parse_spans
from engrain.retrieval.chronology.translations import translate_times

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)  # a Saturday

QUESTIONS = [
    ("Was haben wir gestern gemacht?", "yesterday"),
    ("Wo war ich vorgestern Abend?", "the day before yesterday"),
    ("Was habe ich letzte Woche gegessen?", "last week"),
    ("Was war letzten Freitag los?", "last Friday"),
    ("Wen habe ich vor zwei Wochen getroffen?", "two weeks ago"),
    ("Was habe ich vor ein paar Tagen gekauft?", "few days ago"),
    ("Wo waren wir im März?", "in March"),
    ("Wo waren wir Anfang Juni 2025?", "in June 2025"),
    ("Was war am 5. Mai?", "on 5 May"),
    ("Was war am 5. Mai 2024?", "on 5 May 2024"),
    ("Was hat der Arzt am 03.05.2026 gesagt?", "2026-05-03"),
    ("Was war am Freitag?", "on Friday"),
    ("Wo waren wir letzten Sommer?", "last summer"),
    ("¿Qué hice ayer?", "yesterday"),
    ("¿Qué comí anoche?", "last night"),
    ("¿Qué hicimos la semana pasada?", "last week"),
    ("¿Dónde estuve el lunes pasado?", "last Monday"),
    ("¿Qué compré hace dos meses?", "two months ago"),
    ("¿Dónde estuve en marzo de 2025?", "in March 2025"),
    ("¿Qué pasó el 5 de mayo?", "on 5 May"),
    ("¿Dónde pasamos el verano pasado?", "last summer"),
    ("¿Qué hice este fin de semana?", "this weekend"),
    ("Qu'est-ce que j'ai fait hier ?", "yesterday"),
    ("Où étais-je la semaine dernière ?", "last week"),
    ("Qui ai-je rencontré il y a trois jours ?", "three days ago"),
    ("Où étions-nous en mars 2025 ?", "in March 2025"),
    ("Qu'est-ce que j'ai fait le 1er mai ?", "on 1 May"),
    ("Où étais-je l\u2019été dernier ?", "last summer"),
    ("Cosa ho fatto ieri?", "yesterday"),
    ("Dove sono stato la settimana scorsa?", "last week"),
    ("Cosa ho comprato due mesi fa?", "two months ago"),
    ("Dove eravamo a marzo?", "in March"),
    ("Cosa è successo il 5 maggio 2024?", "on 5 May 2024"),
    ("O que fiz ontem?", "yesterday"),
    ("O que fizemos na semana passada?", "last week"),
    ("O que comprei há dois meses?", "two months ago"),
    ("Onde estive em março de 2025?", "in March 2025"),
    ("O que aconteceu no dia 5 de maio?", "on 5 May"),
]


@pytest.mark.parametrize(("question", "english"), QUESTIONS)
def test_a_question_names_the_time_that_its_english_words_name(question, english):
    assert parse_spans(question, NOW) == parse_spans(english, NOW) != ()


@pytest.mark.parametrize(
    ("time", "english"),
    [
        ("letzten Monat", "last month"),
        ("morgen", "tomorrow"),
        ("nächste Woche", "next week"),
        ("in zwei Tagen", "in two days"),
        ("Sommer 2025", "summer 2025"),
        ("mañana", "tomorrow"),
        ("la semana que viene", "next week"),
        ("dentro de tres meses", "in three months"),
        ("demain", "tomorrow"),
        ("dans trois jours", "in three days"),
        ("l'année dernière", "last year"),
        ("l'anno scorso", "last year"),
        ("fra due settimane", "in two weeks"),
        ("mês passado", "last month"),
        ("daqui a um ano", "in one year"),
        ("03.05.2026", "2026-05-03"),
    ],
)
def test_a_time_that_stands_alone_is_read_in_each_language(time, english):
    assert parse_span(time, NOW) == parse_span(english, NOW) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Where am I in May?",
        "Did Mai sit in the la carte place, or a la mode?",
        "Is Ana a no show, or in the el train?",
        "Wie heißt mein Hund?",
        "¿Cómo se llama mi perro?",
        "Version 1.2.2026b or 5.10.3?",
    ],
)
def test_what_names_no_time_stays_as_it_is(text):
    assert translate_times(text) == text


def test_the_other_words_stay():
    assert (
        translate_times("Was habe ich letzte Woche über Berlin gesagt?") == "Was habe ich last week über Berlin gesagt?"
    )


@given(st.text(alphabet="aeilmnorst äéñ.123'-", max_size=90))
def test_any_text_is_read_without_a_fault(text):
    assert isinstance(translate_times(text), str)
    parse_span(text, NOW)
