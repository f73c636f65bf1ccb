# ruff: noqa: RUF001  # Russian letters look like Latin ones
"""Attributes that questions ask for by name, and the statements that tell them."""

import pytest

from engrain.domain.text.dialogue.attributes import find_asked_attribute


@pytest.mark.parametrize(
    ("query", "told", "untold"),
    [
        ("What's Ana's phone number?", "Ana: 0664 718 22", "Ana lives at 14 Tulip Lane."),
        ("What's Ana's number?", "Ana: 0664 718 22", "Ana lives at 14 Tulip Lane."),
        ("what's my dentist's number?", "The dentist: 0664 718 22", "The dentist is in Mill Lane 12."),
        ("Wie ist die Telefonnummer von Bertram?", "Bertram hat die 030/456789.", "Bertram kommt um neun."),
        ("¿Cuál es el número de teléfono de Inés?", "Inés: +34 612 345 678", "Inés me ayuda los sábados."),
        ("Quel est le numéro de portable de Zoé ?", "Zoé : 06 12 34 56 78", "Zoé a cours à 14 heures."),
        ("Qual é o número de telefone da Rita?", "Rita: 912 345 678", "A Rita mora no Porto."),
        ("Какой номер телефона у Ольги?", "Ольга: 8 912 345-67-89", "Ольга живёт на пятом этаже."),
        ("小李的电话号码是多少？", "小李 138 0013 8000", "小李住在上海。"),
        ("What's Joost's e-mail address?", "Joost writes from joost@example.org.", "Joost is from Bruges."),
        ("Wie lautet die E-Mail-Adresse der Firma Kroll?", "info@kroll.example", "Kroll hat den Aufzug repariert."),
        ("What is Mr Ray's address?", "Mr Ray lives in 12 Mill Street.", "Mr Ray is a vet."),
        ("What's the number plate of the tractor?", "The tractor is KX 204.", "The tractor won't start."),
        ("Wie ist das Kennzeichen vom Bus?", "Der Bus ist L-AB 123.", "Der Bus steht im Hof."),
        ("How heavy is Elias?", "Elias has 71 kilos.", "Elias lifts on Mondays."),
        ("Wie schwer ist das Paket?", "Das Paket hat 3 kg.", "Das Paket ist da."),
        ("Сколько весит Ольга?", "Ольга весит 60 кг.", "Ольга дома."),
        ("How tall is Fenna?", "Fenna is 51 cm long.", "Fenna was born on 23 May."),
        ("What did the flight cost?", "The flight was 89 euros.", "The flight is on 9 May at 06:35."),
        ("What did I pay for the lamp?", "The lamp: forty quid, daylight robbery.", "I ordered lamp 70 in May."),
        ("How much was paid for the lamp?", "They paid 40 for it.", "I ordered lamp 70 in May."),
        ("Was kostet das Ventil?", "Das Ventil macht 40 Euro.", "Bertram tauscht das Ventil."),
        ("Combien coûte la chaudière ?", "La chaudière : 2 400 €", "La chaudière est révisée en octobre."),
        ("When is Felix's birthday?", "Felix turns six on Sunday.", "Felix has not slept for two days."),
        ("Wann hat Herr Novotny Geburtstag?", "Herr Novotny ist im Mai geboren.", "Herr Novotny schläft tagsüber."),
        ("How old is Callum?", "Callum's 41", "Callum is a luthier."),
        ("How old is Callum?", "Callum is nine.", "Callum comes at 7, on 2 May, for 3 weeks, with 20 euros."),
        ("¿Cuántos años tiene Inés?", "Inés tiene nueve años.", "Inés me ayuda."),
        ("Quelle est la pointure de Zoé ?", "Zoé chausse du 36.", "Zoé a cours de danse."),
        ("Welche Blutgruppe hat Jannis?", "Jannis hat A positiv.", "Jannis fährt nach Kiel."),
        ("What's the password of the staging box?", "The passphrase is in the vault.", "The box listens on 8091."),
        ("What's the account number of Fjord Tours?", "Fjord Tours: NO93 8601 1117 947", "Fjord Tours pays."),
        ("¿De qué color es el coche de Inés?", "El coche es rojo.", "Inés tiene un coche viejo."),
        ("Which licence does the repo have?", "The repo is under MIT.", "Priya owns the repo."),
        ("What port does the billing service listen on?", "billing: 8091", "The billing service is in Go."),
        ("What's Dr Sezer's first name?", "We call Leyla Sezer on Mondays.", "Our contact is Dr Sezer."),
        ("What's Dr Sezer's first name?", "Dr Sezer, called Leyla", "I had the name wrong, it's Dr. Sezer, not Seger."),
        ("What's my library card number?", "The library card: 20015533.", "The library card expires on 15 January."),
        ("What's my passport number?", "My passport is C01X00T47.", "My passport expires on 12 May 2031."),
        ("How much was the motorbike?", "Ben wants a motorbike, 9,000.", "Ben bought the motorbike."),
        ("How much were the tyres?", "New tyres, 420 with fitting.", "The tyres are new."),
        ("What's Rui's surname?", "Rui Tavares had the bike.", "The bike belonged to her brother Rui."),
        ("Wie heißt Frau Yildiz mit Vornamen?", "Selin Yildiz war da.", "Der Fleck ist bei Frau Yildiz."),
        ("What was my aunt's name?", "My aunt Grace left me a piano.", "I store my late aunt's furniture."),
        ("What is the name of the roofer?", "Hal, the roofer, comes today.", "The claim is against a roofer."),
        ("What is the name of my pet?", "My dog Balu has been limping.", "My dog has been limping."),
        ("What is our cat called?", "The cat answers to Minka.", "The cat hides in the bathtub."),
        ("What's my landlord's name?", "Ted, my landlord, is away.", "Told the landlord, he will send someone."),
        ("What's the cat's name?", "Minka the cat is ill.", "With the cat all is well."),
        ("What's my wife's name?", "She's called Ana.", "Our dog's called Diesel."),
        ("What's the cat's name?", "Minka's our cat.", "Isla is allergic to cats, so Dad's cat can't come."),
        ("What's the house manager's name?", "The house manager is Rita.", "The house manager lives in Mill Lane."),
        ("What is our cat called?", "the cat is minka btw", "Hi, our cat hides on Sundays."),
        ("What is the flag called?", "The flag is new_mail_path.", "The flag is at half of the tenants now."),
        ("Where does my boss live?", "My boss has moved to Perth.", "My boss is called Lang."),
        ("Wo wohnt mein Chef?", "Mein Chef wohnt jetzt in Graz.", "Mein Chef heißt Lang."),
        ("Dove abita il mio capo?", "Il capo si è trasferito a Roma.", "Il mio capo si chiama Sandro."),
        ("Wie heißt unser Hund?", "Wir haben einen Hund, er heißt Balu.", "Der Hund schläft im Flur."),
        ("¿Cómo se llama mi hermana?", "Mi hermana Lucía vive aquí.", "La boda de mi hermana es el 18 de abril."),
        ("¿Cómo se llama mi mujer?", "Mi esposa se llama Carla.", "Mi esposa trabaja en Toledo."),
        ("¿Cómo se llama mi hermano?", "Mi hermano Ben vive en Cádiz.", "Mi hermana Ana vive en Cádiz."),
        ("¿Cómo se llama mi jefe?", "La nueva jefa es Pilar.", "Mi jefe está enfermo."),
        ("¿Cómo se llama el barco?", "Arreglo un barco de madera, la Golondrina.", "El barco está en Vigo."),
        ("Comment s'appelle mon copain ?", "J'habite avec mon copain Bastien.", "Mon copain cherche du travail."),
        ("Come si chiama mia sorella?", "Elena è mia sorella.", "Mia sorella ha cambiato asilo."),
        ("Como se chama a minha irmã?", "A minha irmã chama-se Rita.", "A minha irmã trabalha em Lisboa."),
        ("Hoe heet mijn hond?", "Mijn hond heet Bram.", "De hond eet niet meer."),
        ("Qual é o telefone do dentista?", "O dentista tem o 22 345 67 89.", "O dentista adiou a consulta."),
        ("Wanneer is Bas jarig?", "Bas is jarig op 3 mei.", "Bas werkt bij KPN."),
        ("What is my novel called?", "New title: Saltways.", "Moira likes my novel."),
    ],
)
def test_a_statement_tells_an_attribute_or_not(query, told, untold):
    attribute = find_asked_attribute(query)
    assert attribute is not None
    assert [attribute.value.search(said) is not None for said in (told, untold)] == [True, False]


@pytest.mark.parametrize(
    "query",
    [
        "What phone do I have?",
        "Who has written an e-mail?",
        "Who moved to another address?",
        "Where is the old port?",
        "What is the name?",
        "Which shoes are new?",
        "Was macht Emil?",
        "How much does Ana read?",
        "How much is left?",
        "Did I tell you my name was taken?",
    ],
)
def test_other_questions_ask_for_no_attribute(query):
    assert find_asked_attribute(query) is None


def test_a_long_message_asks_for_more_than_an_attribute():
    assert find_asked_attribute("What's Ana's phone number? " + "And where shall we meet her then? " * 8) is None
