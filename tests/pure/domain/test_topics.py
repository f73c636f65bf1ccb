"""Look-ups of a topic of the user, and the statements that tell of it."""

import pytest

from engrain.domain.text.dialogue.topics.look_ups import find_topic
from engrain.retrieval.speakers import find_introduction

LOOK_UPS = [
    ("dietary restrictions", "I can't eat gluten.", "I can't swim."),
    ("my food allergies", "Celiac since 2015.", "I like jazz."),
    ("pets", "We have two cats.", "We have two cars."),
    ("Do I have any pets?", "Our beagle is nine.", "Our daughter is nine."),
    ("family members", "I live with my husband Bram.", "I live with my cat."),
    ("my children", "Our youngest starts school.", "The school starts at eight."),
    ("relationship status", "I'm divorced.", "I'm a nurse."),
    ("parents", "My mum lives in Arnhem.", "My boss lives in Arnhem."),
    ("siblings", "My older sister is a vet.", "My older dog is ill."),
    ("close friends", "My best friend Sanne had a baby.", "My boss had a baby."),
    ("home city", "I just moved to Porto.", "I like Porto."),
    ("What are my hobbies?", "I love hiking.", "I hate phone calls."),
    ("travel plans", "We're flying to Oslo in June.", "We're talking to Oslo."),
    ("upcoming trips", "Booked a cabin in Reine.", "Bought a cap in Reine."),
    ("medical conditions", "My asthma is back.", "My sister is back."),
    ("What am I afraid of?", "I'm scared of heights.", "I'm tired of heights."),
    ("fitness goals", "I'm training for a half marathon.", "I'm late for a meeting."),
    ("my likes and dislikes", "I can't stand coriander.", "I bought coriander."),
    ("response style preferences", "Please no emojis.", "Please, a beer."),
    ("work schedule", "I work on Tuesdays.", "I work at Zout."),
    ("vehicle", "I drive an old Volvo.", "I read an old book."),
    ("education", "I studied law in Ghent.", "I know Ghent."),
    ("current projects", "I'm building a kayak app.", "I'm eating a pear."),
    ("finances", "We save 300 a month.", "We see her each month."),
    ("facts about me", "I live in Utrecht.", "It rains in Utrecht."),
    ("location", "user lives in: Utrecht", "user likes: Utrecht"),
    ("hobbies", "user likes: hiking", "user hates: hiking"),
    ("partner's name", "My wife Giulia sails.", "My boss sails."),
    ("dogs", "We adopted a greyhound.", "We adopted a kitten."),
    ("injuries", "A slipped disc in 2022.", "A lost disc in 2022."),
    ("languages", "I'd like to learn Slovenian.", "I'd like to learn to sew."),
    ("vacation plans", "We want to cycle the Drava path.", "We want to sell the bike."),
    ("tech stack", "The API is in FastAPI.", "The team has a retro."),
    ("preferred programming language", "It's written in Rust.", "The gate is all rust."),
    ("database", "Sessions are in Redis.", "Sessions are on Fridays."),
    ("web framework", "The front is Svelte.", "The front is painted."),
    ("CI/CD", "GitHub Actions runs them.", "Kasia runs them."),
    ("development environment", "I use neovim.", "I use a bike."),
    ("coding style", "No comments, please.", "No sugar, please."),
    ("current task", "I'm rewriting the route planner.", "I'm reading a novel."),
    ("deadlines", "It has to be done by May 15th.", "It was done by Kasia."),
    ("meetings", "Standup is at 9:15.", "Lunch is at 12:15."),
    ("Ernährung", "Ich vertrage keine Laktose.", "Ich vertrage mich mit Jörg."),
    ("Allergien des Nutzers", "Ich bin allergisch gegen Birken.", "Ich bin müde."),
    ("Welche Haustiere haben wir?", "Unser Hund heißt Bruno.", "Das dauert hundert Jahre."),
    ("meine Familie", "Meine Schwester Ute wohnt in Wien.", "Meine Praxis ist in Wien."),
    ("Kinder", "Wir haben zwei Kinder.", "Wir haben zwei Räder."),
    ("Wohnort", "Ich wohne seit Mai in Kassel.", "Das Leben ist schön."),
    ("Hobbys", "Ich singe im Kirchenchor.", "Ich arbeite im Büro."),
    ("Urlaubspläne", "Im Sommer wollen wir nach Schweden fahren.", "Im Sommer ist es warm."),
    ("Gesundheit", "Ich habe Rückenschmerzen.", "Ich habe Hunger."),
    ("Ängste", "Paul hat Angst vor Gewittern.", "Paul hat ein Gewitter gesehen."),
    ("Ziele", "Ich möchte einen Halbmarathon laufen.", "Der Halbmarathon war voll."),
    ("Vorlieben", "Am liebsten trinke ich Tee.", "Der Tee ist kalt."),
    ("Antwortstil", "Bitte keine Emojis.", "Bitte ein Bier."),
    ("Auto", "Wir haben einen alten Wagen.", "Wir haben einen alten Ofen."),
    ("Sprachen", "Ich lerne Dänisch.", "Ich lerne Klavier."),
    ("¿Qué mascotas tenemos?", "Tenemos un gato, Simba.", "Tenemos un piano."),
    ("dieta del usuario", "No puedo comer marisco.", "No puedo ir mañana."),
    ("alergias", "Soy alérgica a los ácaros.", "Soy de Cádiz."),
    ("mi familia", "Mi hermana Carmen es abogada.", "La abogada es Carmen."),
    ("aficiones", "Los domingos hago senderismo.", "Los domingos llueve."),
    ("planes de viaje", "En agosto queremos ir a Asturias.", "En agosto hace calor."),
    ("miedos", "Me dan miedo las alturas.", "Me gustan las alturas."),
    ("metas", "Quiero aprender francés.", "Ella aprende francés."),
    ("coche", "Nuestra furgoneta es azul.", "Nuestra puerta es azul."),
    ("finanzas", "Pagamos 850 euros de alquiler.", "Pagamos el martes."),
    ("régime alimentaire", "Je ne mange pas de porc.", "Je ne peux pas venir."),
    ("Quels animaux avons-nous ?", "On a un lapin.", "On a un piano."),
    ("ma famille", "Ma sœur Inès habite à Lyon.", "Mon bureau est à Lyon."),
    ("loisirs", "Je fais de l'escalade.", "Il fait froid."),
    ("projets de voyage", "En mai on part à Lisbonne.", "En mai il pleut."),
    ("santé", "J'ai mal au dos.", "J'ai faim."),
    ("peurs", "J'ai peur de l'avion.", "J'ai raté l'avion."),
    ("objectifs", "Je voudrais ouvrir un studio.", "Le studio est ouvert."),
    ("voiture", "Notre voiture est bleue.", "Notre porte est bleue."),
    ("animais de estimação", "Temos um cão chamado Bolota.", "Temos um piano chamado Bolota."),
    ("planos de viagem", "No verão vamos para a Sicília.", "No verão faz calor."),
    ("alergias do usuário", "Não posso comer marisco.", "Não posso ir amanhã."),
    ("minha família", "A minha irmã Clara é juíza.", "A juíza chama-se Clara."),
    ("animali domestici", "Abbiamo un gatto che si chiama Birba.", "Abbiamo un pianoforte."),
    ("viaggi", "In estate andiamo in Puglia.", "In estate fa caldo."),
    ("allergie dell'utente", "Sono celiaco, niente glutine.", "Sono stanco."),
    ("hobby", "Suono la chitarra e la domenica faccio trekking.", "La domenica piove."),
    ("dietary restrictions", "Ich vertrage keine Laktose, leider.", "Ich vertrage die Hitze leider schlecht."),
    ("pets", "Tenemos un gato que se llama Simba.", "Tenemos un hijo que se llama Mateo."),
    ("fears", "Depuis toujours, j'ai peur de l'avion.", "Depuis toujours, j'ai une maison."),
]


@pytest.mark.parametrize(("query", "told", "untold"), LOOK_UPS)
def test_a_look_up_of_a_topic_is_answered_by_what_tells_of_it(query, told, untold):
    topic = find_topic(query)
    assert topic is not None
    assert [topic.is_told(said) for said in (told, untold)] == [True, False]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("health issue", "health"),
        ("food preference", "diet"),
        ("trip plan", "travel"),
        ("career ambitions", "goals"),
        ("answer preferences", "communication"),
        ("code guideline preferences", "coding_style"),
        ("programming standard", "coding_style"),
        ("basic details about us", "profile"),
        ("twin", "siblings"),
        ("twins", "children"),
    ],
)
def test_a_name_of_several_words_is_found_in_each_of_its_forms_and_numbers(query, name):
    assert find_topic(query).name == name


@pytest.mark.parametrize(
    "query",
    [
        "project status",
        "goals of the parser",
        "Bram's hobbies",
        "pets allowed",
        "the schedule of the trams",
        "release plan",
    ],
)
def test_other_look_ups_name_no_topic_of_the_user(query):
    assert find_topic(query) is None


@pytest.mark.parametrize(
    ("query", "told", "untold"),
    [
        ("name", "Hi, I'm Nora.", "I'm tired."),
        ("Name des Nutzers", "Hallo, ich bin Katrin, 38.", "Im Sommer wollen wir nach Schweden."),
        ("nombre del usuario", "Hola, soy Lucía.", "Soy enfermera."),
        ("nom de l'utilisateur", "Je m'appelle Camille.", "Je suis graphiste."),
        ("my job", "I work as a nurse.", "I'm late."),
        ("Beruf", "Ich arbeite als Tischlerin.", "Ich bin müde."),
        ("âge", "J'ai 29 ans.", "J'ai 29 plantes."),
        ("employer", "I work at Initech.", "I'm a nurse."),
        ("nome do usuário", "Olá, sou a Beatriz, tenho 33 anos.", "Sou veterinária."),
        ("professione", "Lavoro come elettricista.", "Sono stanco."),
    ],
)
def test_a_look_up_of_what_people_tell_of_themselves_is_no_topic_of_anybody(query, told, untold):
    introduction = find_introduction(query)
    assert not introduction.of_topic
    assert [introduction.is_told(said) for said in (told, untold)] == [True, False]


def test_a_long_text_is_no_look_up_and_takes_no_longer_for_it():
    """Where words could be split anywhere this took as many steps as the fifth power of its length."""
    assert find_introduction(f"my {'name' * 2_000}, and pets") is None


@pytest.mark.parametrize("query", [query for query, _, _ in LOOK_UPS])
def test_each_look_up_is_seen_as_one_before_the_topics_are_read(query):
    introduction = find_introduction(query)
    assert introduction is not None
    assert introduction.of_topic
