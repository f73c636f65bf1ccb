"""Questions that time alone answers, in five languages more, and those that are something else."""

import pytest

from engrain.domain.text.dialogue.chronology import may_ask_by_time
from engrain.retrieval.chronology.foreign_questions import translate_question

QUESTIONS = [
    ("Was weißt du über mich?", "what do you know about me?"),
    ("Was weisst du alles von mir", "what do you know about me?"),
    ("Wer bin ich?", "who am I?"),
    ("Worüber haben wir gestern gesprochen?", "what did we talk about yesterday?"),
    ("Was habe ich dir letzte Woche erzählt?", "what did I tell you last week?"),
    ("Was hast du mir im März empfohlen?", "what did you tell me in march?"),
    ("Wo sind wir stehengeblieben?", "where did we leave off?"),
    ("Was steht morgen an?", "what is coming up tomorrow?"),
    ("Was habe ich diese Woche vor?", "what is coming up this week?"),
    ("Welche Termine habe ich am Freitag?", "what are my appointments on friday?"),
    ("¿Qué sabes de mí?", "what do you know about me?"),
    ("¿De qué hablamos ayer?", "what did we talk about yesterday?"),
    ("¿Qué te conté la semana pasada?", "what did I tell you last week?"),
    ("¿Qué me recomendaste ayer?", "what did you tell me yesterday?"),
    ("¿Dónde lo dejamos?", "where did we leave off?"),
    ("¿Qué tengo mañana?", "what is coming up tomorrow?"),
    ("¿Qué planes tengo esta semana?", "what are my appointments this week?"),
    ("Que sais-tu de moi ?", "what do you know about me?"),
    ("Qui suis-je ?", "who am I?"),
    ("De quoi avons-nous parlé hier ?", "what did we talk about yesterday?"),
    ("Qu\u2019est-ce que je t\u2019ai dit la semaine dernière ?", "what did I tell you last week?"),
    ("Où en étions-nous ?", "where did we leave off?"),
    ("Qu'est-ce que j'ai de prévu demain ?", "what is coming up tomorrow?"),
    ("Cosa sai di me?", "what do you know about me?"),
    ("Di cosa abbiamo parlato ieri?", "what did we talk about yesterday?"),
    ("Cosa ti ho detto la settimana scorsa?", "what did I tell you last week?"),
    ("Dove eravamo rimasti?", "where did we leave off?"),
    ("Cosa ho in programma domani?", "what is coming up tomorrow?"),
    ("O que sabes sobre mim?", "what do you know about me?"),
    ("Sobre o que falámos ontem?", "what did we talk about yesterday?"),
    ("O que te contei na semana passada?", "what did I tell you last week?"),
    ("Onde parámos?", "where did we leave off?"),
    ("O que tenho amanhã?", "what is coming up tomorrow?"),
]


@pytest.mark.parametrize(("question", "english"), QUESTIONS)
def test_a_question_that_time_alone_answers_is_put_into_english(question, english):
    assert " ".join(translate_question(question).split()).replace(" ?", "?") == english
    assert may_ask_by_time(question)


@pytest.mark.parametrize(
    "question",
    [
        "Was weißt du über Tom?",
        "Was habe ich dir über Berlin erzählt?",
        "Was habe ich in der Tasche?",
        "Wo sind wir?",
        "¿Qué tengo?",
        "¿Qué sabes de Ana?",
        "Que sais-tu de Paul ?",
        "Cosa ho nel frigo?",
        "O que tenho no frigorífico?",
        "What do you know about me?",
    ],
)
def test_any_other_question_stays_as_it_is(question):
    assert translate_question(question) == question
