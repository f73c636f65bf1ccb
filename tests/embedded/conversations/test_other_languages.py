# ruff: noqa: RUF001  # characters that look like others belong to other alphabets
"""Questions in languages of other scripts: found by their words, and asked ten times."""

import pytest

from engrain import Memory
from tests.support.clock import Clock

# A statement and what it answers, by language; the first question of each has no question mark that English knows.
ASKED = {
    "greek": [
        ("Μένω στην οδό Ερμού στη Θεσσαλονίκη.", "Πού μένω;"),
        ("Τον σκύλο μου τον λένε Ρεξ.", "Πώς λένε τον σκύλο μου;"),
        ("Είμαι αλλεργικός στα φιστίκια.", "Σε τι είμαι αλλεργικός;"),
    ],
    "thai": [
        ("หมาของฉันชื่อเจ้าตูบ", "หมาของฉันชื่ออะไร"),
        ("ฉันอาศัยอยู่ที่เชียงใหม่ ถนนนิมมาน", "ฉันอาศัยอยู่ที่ไหน"),
        ("ฉันแพ้ถั่วลิสง", "ฉันแพ้อะไร"),
    ],
    "chinese": [
        ("我姐姐李梅在医院当护士", "我姐姐做什么工作"),
        ("我住在成都市锦江区春熙路。", "我住在哪里？"),
        ("我对花生过敏。", "我对什么过敏？"),
    ],
    "japanese": [
        ("私の犬の名前はポチです。", "私の犬の名前は何ですか。"),
        ("歯医者の予約は５月３日です。", "歯医者の予約はいつですか。"),
        ("私はピーナッツアレルギーです。", "私は何のアレルギーですか？"),
    ],
    "korean": [
        ("우리 강아지 이름은 초코예요.", "우리 강아지 이름이 뭐예요"),
        ("누나 지영은 간호사로 일해요.", "누나는 무슨 일을 해요?"),
        ("차는 2,500만 원이었어요.", "차는 얼마였어요?"),
    ],
    "vietnamese": [
        ("Con chó của tôi tên là Mực.", "Con chó của tôi tên gì"),
        ("Tôi sống ở phố Hàng Bạc, Hà Nội.", "Tôi sống ở đâu?"),
        ("Tôi bị dị ứng đậu phộng.", "Tôi bị dị ứng gì?"),
    ],
}


@pytest.mark.parametrize("embedder", ["none", "minilm"])
@pytest.mark.parametrize(
    ("said", "asked"), [("我家有一只猫。", "猫"), ("我喜欢喝茶。", "茶？"), ("犬を飼っています。", "犬")]
)
def test_a_word_of_one_character_is_found(location, embedder, said, asked):
    with Memory.open(location, embedder=embedder) as memory:
        agent = memory.agent("aide")
        agent.observe(said)
        agent.observe("今天下雨了，我在家里看电影。")
        answer = agent.recall(asked)
    assert answer.hits[0].memory.content == said
    assert answer.evidence == "strong"


def test_a_question_that_the_embedder_cannot_read_is_answered_by_its_words(location):
    with Memory.open(location) as memory:
        agent = memory.agent("aide")
        for statement, _ in ASKED["thai"]:
            agent.observe(statement)
        agent.observe("สุดสัปดาห์นี้อากาศจะดี")
        for statement, question in ASKED["thai"]:
            answer = agent.recall(question)
            assert answer.hits[0].memory.content == statement
            assert answer.evidence == "strong"
            assert [why.code for why in answer.degraded] == ["query_not_read"]
        assert agent.recall("พ่อของฉันใส่รองเท้าเบอร์อะไร").evidence == "none"
        assert agent.recall("Who is allergic to peanuts?").degraded == ()


@pytest.mark.parametrize("language", ASKED)
def test_a_question_that_was_asked_ten_times_never_stands_before_its_answer(location, language):
    with Memory.open(location, embedder="none") as memory:
        agent, later = memory.agent("aide", session="monday"), memory.agent("aide", session="tuesday")
        for statement, _ in ASKED[language]:
            agent.observe(statement)
        for _ in range(10):
            for _, question in ASKED[language]:
                later.observe(question)
        found = {question: agent.recall(question).hits[0].memory.content for _, question in ASKED[language]}
    assert found == {question: statement for statement, question in ASKED[language]}


def test_how_much_is_asked_is_no_evidence_by_itself(memory):
    agent = memory.agent("aide", user="miriam", session="school")
    agent.hooks.message("Ali kann jetzt viel besser lesen, die Förderung läuft bis zu den Winterferien.")
    memory.flush()
    assert agent.recall("Wie viel verdiene ich?").evidence == "none"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Was gab es vorgestern zu Mittag?", "Zu Mittag gab es Pilzrisotto."),
        ("¿Qué hubo anteayer para comer?", "Para comer hubo arroz con setas."),
    ],
)
def test_what_was_said_at_the_time_that_a_question_names_gains(location, question, said):
    clock = Clock()
    with Memory.open(location, clock=clock) as memory:
        memory.agent("aide", session="then").observe(said)
        clock.pass_time(days=2)
        memory.flush()
        [hit] = memory.agent("aide", session="now").recall(question)
        assert {share.channel: share.value for share in hit.why.contributions}["moment"] == pytest.approx(0.1)


# What users say of themselves, of a time to come and of one gone by, and what they ask a day later.
BY_TIME = {
    "german": (
        ("Ich heiße Jona.", "Morgen um 14 Uhr kommt der Klempner.", "Am Freitag war ich beim Zahnarzt."),
        ("Was weißt du über mich?", "Was steht heute an?", "Worüber haben wir gestern gesprochen?"),
    ),
    "spanish": (
        ("Me llamo Lucía.", "Mañana a las 14 viene el fontanero.", "El viernes fui al dentista."),
        ("¿Qué sabes de mí?", "¿Qué tengo hoy?", "¿De qué hablamos ayer?"),
    ),
    "french": (
        ("Je m'appelle Zoé.", "Demain à 14 heures le plombier vient.", "Vendredi j'étais chez le dentiste."),
        ("Que sais-tu de moi ?", "Qu'est-ce que j'ai de prévu aujourd'hui ?", "De quoi avons-nous parlé hier ?"),
    ),
    "italian": (
        ("Mi chiamo Marco.", "Domani alle 14 viene l'idraulico.", "Venerdì ero dal dentista."),
        ("Cosa sai di me?", "Cosa ho in programma oggi?", "Di cosa abbiamo parlato ieri?"),
    ),
    "portuguese": (
        ("Chamo-me Rita.", "Amanhã às 14 vem o canalizador.", "Na sexta fui ao dentista."),
        ("O que sabes sobre mim?", "O que tenho hoje?", "Sobre o que falámos ontem?"),
    ),
}


@pytest.mark.parametrize("language", BY_TIME)
def test_questions_that_time_alone_answers_are_told_in_other_languages(location, language):
    (own, coming, gone), (of_user, of_today, of_yesterday) = BY_TIME[language]
    clock = Clock(microseconds=1)
    with Memory.open(location, clock=clock) as memory:
        for said in (own, coming, gone):
            memory.agent("aide", session="then").observe(said)
        clock.pass_time(days=1)
        memory.flush()
        agent = memory.agent("aide", session="now")
        answers = [agent.recall(question) for question in (of_user, of_today, of_yesterday)]
    assert [answer.evidence for answer in answers] == ["strong"] * 3
    assert own in [hit.memory.content for hit in answers[0]]
    assert [hit.memory.content for hit in answers[1]] == [coming]
    assert {hit.memory.content for hit in answers[2]} == {own, coming, gone}
