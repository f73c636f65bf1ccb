"""Kinds of value that questions ask for, and the values of statements."""

import pytest

from engrain.domain.text.dialogue.values import find_asked_kind, find_asked_name, find_asked_role, find_values


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("When is the exam?", "time"),
        ("On which day does she come?", "time"),
        ("How often is the lawn mowed?", "time"),
        ("How much is the rent?", "money"),
        ("What did the plumber cost?", "money"),
        ("What's our budget?", "money"),
        ("How much do I weigh?", "number"),
        ("How warm should the bath be?", "number"),
        ("What colour is the door?", "colour"),
        ("What's the number of my claim?", "number"),
        ("Which port does it use?", "number"),
        ("Where do I live?", "place"),
        ("Who's my trainer?", "person"),
        ("Whose dog is it?", "person"),
        ("whats my number", "number"),
        ("wheres the spare key", "place"),
        ("whos my trainer", "person"),
        ("whats our budget", "money"),
        ("What does Callum do for a living?", "work"),
        ("What does my sister do?", "role"),
        ("What does Annelies do?", "role"),
        ("What do the Olsens do for work?", "work"),
        ("What was Walter's profession?", "work"),
        ("What does the bilge pump do?", None),
        ("What does Alva do on Thursdays?", None),
        ("What did I call my cat?", None),
        ("Tell me when I can eat.", None),
        ("Wann kommt der Zug?", "foreign time"),
        ("Seit wann läuft der Zug?", "foreign time"),
        ("¿Cuánto cuesta?", "foreign number"),
        ("Avec qui part-on ?", "foreign person"),
        ("Da geht der Zug?", None),
    ],
)
def test_a_question_asks_for_a_kind_of_value(query, kind):
    assert find_asked_kind(query) == kind


@pytest.mark.parametrize(
    ("kind", "statement", "values"),
    [
        ("time", "The demo is on the 1st of August.", {"1st of august"}),
        ("time", "She comes on Thursdays at 9:30.", {"thursdays", "at 9"}),
        ("time", "Every second Sunday is enough.", {"every second sunday"}),
        ("time", "The judge sees us on 19 March at noon.", {"19 march", "at noon"}),
        ("time", "It ends on March 26, I think.", {"march 26"}),
        ("time", "A station sends every 90 seconds, or 3 times.", {"90 seconds", "3 times"}),
        ("time", "I ordered a sofa, order 771.", set()),
        ("number", "I have two dogs and 12 cats.", {"two", "12"}),
        ("work", "Saturday I met Callum, he's a luthier.", {"'s a luthier"}),
        ("work", "Our eldest runs a bakery.", {"runs a"}),
        ("work", "Her name is Aylin, a teacher.", {"aylin, a teacher."}),
        ("work", "Callum's got a lurcher called Biscuit.", set()),
        ("work", "Roos got promoted to team lead!", {"promoted"}),
        ("work", "Our director is Ines Okafor, she shouts.", set()),  # of a theatre
        ("role", "Our director is Ines Okafor, she shouts.", {"our director is ines"}),
        ("role", "My boss Gert was quiet.", {"my boss gert"}),
        ("role", "My sister Morag thinks so.", set()),
        ("number", "My dog limps.", set()),
        ("number", "The exam is on the 29th at 9:30.", set()),
        ("number", "It takes an hour.", {"an hour"}),
        ("money", "It costs 85 euros a year.", {"85 euros"}),
        ("money", "My salary is 61,000.", {"61,000"}),
        ("money", "We got plot 14, the number is 555-0142.", set()),
        ("money", "The rent went up, 810 from May.", {"810"}),
        ("money", "Call the office, 555-0142.", set()),
        ("colour", "The walls are sage green.", {"green"}),
        ("place", "I moved to Porto on Saturday.", {"to porto"}),
        ("place", "It has been brought forward to the 5th of June.", set()),
        ("place", "Charlotte is back in training.", set()),
        ("place", "The printer has a new PIN: 3350.", set()),
        ("person", "Dario is on leave, Yuki trains me.", {"dario", "yuki"}),
        ("person", "Ask my neighbour.", {"my neighbour"}),
        ("person", "The tuner is Mrs. Falk.", {"mrs. falk"}),
        ("person", "Owner of billing: Lotte.", {"lotte"}),
        ("person", "The van broke down. Saskia drives.", {"saskia"}),
        ("person", "We sail at the Alster.", set()),
        ("person", "We sail on Sundays.", set()),
        ("person", "The report is late.", set()),
        ("person", "Jo now also plays the recorder.", {"jo"}),
    ],
)
def test_a_statement_has_values_of_a_kind(kind, statement, values):
    assert find_values(kind, statement) == values


@pytest.mark.parametrize(
    ("query", "statement", "is_said"),
    [
        ("Who is KLO?", "Kim Lee-Okafor is our lawyer, everybody says KLO.", True),
        ("Who is KLO?", "KLO said that Helios waits.", False),
        ("What is BUG-312?", "BUG-312: crash on save when the date is empty.", True),
        ("What is BUG-312?", "BUG-312 waits for design.", False),
        ("Who's Karim Haddad?", "My new manager is Karim Haddad.", True),
        ("And who was Svea?", "Svea Holm was my mentor.", True),
        ("Who is Walter?", "I plan a trip with my dad Walter and my son.", True),
        ("Who is Walter?", "Mia's husband Walter has to renew it.", True),
        ("Who is Walter?", "Walter's passport expires in February.", False),
    ],
)
def test_a_statement_says_who_or_what_a_name_is(query, statement, is_said):
    pattern = find_asked_name(query)
    assert pattern is not None
    assert bool(pattern.search(statement)) is is_said


@pytest.mark.parametrize(
    "query", ["Who is my manager?", "What is Ana's address?", "What is Ana working on?", "Who swims?"]
)
def test_other_questions_ask_for_no_name(query):
    assert find_asked_name(query) is None


@pytest.mark.parametrize(
    ("statement", "is_said"),
    [("Elm Street Dental is new, contact Yusra.", True), ("Elm Street wants to convert early.", False)],
)
def test_a_statement_says_who_has_a_role_somewhere(statement, is_said):
    pattern = find_asked_role("Who's the contact at Elm Street?")
    assert pattern is not None
    assert bool(pattern.search(statement)) is is_said


@pytest.mark.parametrize("query", ["Who is my manager?", "Who was at the party?", "Who is the lamp for?"])
def test_other_questions_ask_for_no_role_somewhere(query):
    assert find_asked_role(query) is None
