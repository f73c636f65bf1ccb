"""The router, on a written table of inputs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain import Memory
from engrain.routing.router import route

TABLE = [
    ("Where does Ana live?", "recall", {}),
    ("what did we decide about the canoe", "recall", {}),
    ("Do you remember my sister's name", "recall", {}),
    ("Tell me about the trip to Sintra", "recall", {}),
    ("Should we always fly early?", "recall", {}),
    ("\u6211\u4f4f\u5728\u54ea\u91cc\uff1f", "recall", {}),
    ("\u03a0\u03bf\u03cd \u03bc\u03ad\u03bd\u03c9;", "recall", {}),
    ("Wie hei\u00dft mein Hund", "recall", {}),
    ("Always book an aisle seat.", "rule", {"content": "Always book an aisle seat."}),
    ("Never call before nine", "rule", {}),
    ("From now on answer in Portuguese.", "rule", {}),
    ("rule: Confirm the price before you book", "rule", {"content": "Confirm the price before you book"}),
    ("My name is Ana.", "fact", {"subject": "user", "predicate": "name", "content": "Ana"}),
    ("My favourite colour is now green", "fact", {"predicate": "favourite colour", "content": "green"}),
    ("I live in Lisbon!", "fact", {"predicate": "live in", "content": "Lisbon"}),
    ("I work for the tram company.", "fact", {"predicate": "work for", "content": "the tram company"}),
    ("Remember that Ana Sousa lives in Porto.", "fact", {"subject": "Ana Sousa", "predicate": "lives in"}),
    ("Please remember: my flight is TP 1234", "fact", {"predicate": "flight", "content": "TP 1234"}),
    ("note project:alpha: cedar strips, launch in May", "note", {"key": "project:alpha"}),
    ("Save shell = zsh", "note", {"key": "shell", "content": "zsh"}),
    ("plan: first the hull, then the paint", "working", {}),
    ("Actually I moved to Porto.", "fact", {"predicate": "live in", "content": "Porto"}),
    ("We moved to Porto last week", "fact", {"content": "Porto"}),
    ("I moved to Marseille.", "fact", {"predicate": "live in", "content": "Marseille"}),
    ("I live in Quinta do Lago", "fact", {"content": "Quinta do Lago"}),
    ("I moved to Friday Harbor.", "fact", {"content": "Friday Harbor"}),
    ("I moved to Rio de Janeiro in May", "fact", {"content": "Rio de Janeiro"}),
    ("Vivo en Santo Domingo", "fact", {"content": "Santo Domingo"}),
    ("I moved to Porto Monday", "fact", {"content": "Porto"}),
    ("I moved to Team Blue.", "episode", {}),
    ("Ben moved to Marketing last week.", "episode", {}),
    ("I work as little as possible", "episode", {}),
    ("My job is hard", "episode", {}),
    ("My job is data analyst", "fact", {"content": "data analyst"}),
    ("My problem is the API returns 500", "episode", {}),
    ("My plan is to leave at 6", "episode", {}),
    ("My dog is called Rex, he's 4", "fact", {"content": "Rex", "is_part": True}),
    ("I live in Trinidad and Tobago", "fact", {"content": "Trinidad and Tobago"}),
    ("I moved to Porto and Ana stayed.", "fact", {"content": "Porto", "is_part": True}),
    ("We moved to Friday.", "episode", {}),
    ("I moved to March", "episode", {}),
    ("Call me June", "fact", {"predicate": "nickname", "content": "June"}),
    ("I moved to tears", "episode", {}),
    ("I'm vegetarian.", "fact", {"predicate": "diet", "content": "vegetarian"}),
    ("I am not vegan any more", "fact", {"predicate": "diet", "content": "not vegan any more"}),
    ("I'm tired.", "episode", {}),
    ("Correction: my favourite colour is green", "fact", {"predicate": "favourite colour", "content": "green"}),
    ("forget that", "forget", {"topic": "", "speaker_alone": True}),
    ("Forget what I just said, please.", "forget", {"topic": ""}),
    ("please forget what I said about Lisbon", "forget", {"topic": "Lisbon", "speaker_alone": True}),
    ("pls forget what i said about lisbon plz", "forget", {"topic": "lisbon", "speaker_alone": True}),
    ("Forget everything about the alarm.", "forget", {"topic": "the alarm", "speaker_alone": False}),
    ("could you forget my phone number?", "forget", {"topic": "my phone number"}),
    ("delete my address from your memory", "forget", {"topic": "my address"}),
    ("Delete the file.", "episode", {}),
    ("Don't forget the milk", "episode", {}),
    ("Forget to call him", "episode", {}),
    ("What did you believe last month?", "past", {"topic": ""}),
    ("What did you believe last month about where I live?", "past", {"topic": "where I live"}),
    ("Who did you think was our sitter in March 2026?", "past", {"topic": "Who was our sitter"}),
    ("What did you think of it?", "recall", {}),
    ("My name is Ana and I live in Porto.", "fact", {"content": "Ana", "is_part": True}),
    ("I live in Porto now, not in Lisbon.", "fact", {"content": "Porto", "is_part": True}),
    ("I live in Porto", "fact", {"is_part": False}),
    ("I moved to France in 2020 and to Spain in 2023.", "episode", {}),
    ("My new phone number is 555 999.", "fact", {"predicate": "phone number", "content": "555 999"}),
    ("My wife is called Eva", "fact", {"predicate": "wife", "content": "Eva"}),
    ("Wrong, my boss is Karim.", "fact", {"predicate": "boss", "content": "Karim"}),
    ("Remember my birthday is 5 May.", "fact", {"predicate": "birthday", "content": "5 May"}),
    ("My phone number is broken.", "episode", {}),
    ("My code is not working", "episode", {}),
    ("My job is to not do anything", "episode", {}),
    ("My job is to mend nets, not to sell them.", "fact", {"predicate": "job", "content": "to mend nets"}),
    ("My wifi password is Sunshine99!", "fact", {"predicate": "wifi password", "content": "Sunshine99!"}),
    ("My birthday is 5 May 1990!", "fact", {"content": "5 May 1990"}),
    ("My cat is sick.", "episode", {}),
    ("My meeting is tomorrow at 9", "episode", {}),
    ("Actually my train is at 6 tonight", "episode", {}),
    ("My flight is on Friday at 7", "episode", {}),
    ("Mein Termin ist morgen um 9 Uhr", "episode", {}),
    ("My class is on Fridays at 7", "fact", {"predicate": "class", "content": "on Fridays at 7"}),
    ("My birthday is on 5 March", "fact", {"predicate": "birthday", "content": "on 5 March"}),
    ("From now on I live in Faro", "fact", {"predicate": "live in", "content": "Faro"}),
    ("From now on, answer in French.", "rule", {}),
    ("I live in hope", "episode", {}),
    ("I work at night", "episode", {}),
    ("My gardener is Bo, Jake's best man is Dom.", "fact", {"content": "Bo", "is_part": True}),
    ("My thesis is about Salt Road trade, supervisor is Prof. Hansen.", "fact", {"content": "about Salt Road trade"}),
    ("My supervisor is Prof. Hansen.", "fact", {"content": "Prof. Hansen"}),
    ("My favourite foods are Pizza, pasta and all that has cheese.", "fact", {"is_part": False}),
    ("My assistant Tola is off until Monday.", "episode", {}),
    ("Mein Freund heißt Arne, er ist Dachdecker.", "fact", {"predicate": "partner", "content": "Arne"}),
    ("Mi marido se llama Luis, es cocinero.", "fact", {"predicate": "spouse", "content": "Luis"}),
    ("Mi hijo se llama Leo y tiene 4 años.", "fact", {"predicate": "son", "content": "Leo"}),
    ("Mi color favorito es el Verde Oliva", "fact", {"predicate": "favourite colour", "content": "Verde Oliva"}),
    ("Il mio cane si chiama Pepe", "fact", {"predicate": "dog", "content": "Pepe"}),
    ("O meu namorado chama-se Tiago", "fact", {"predicate": "partner", "content": "Tiago"}),
    ("Ma copine s'appelle Julie, elle est infirmière", "fact", {"predicate": "partner", "content": "Julie"}),
    ("Ik woon nu in Amersfoort", "fact", {"predicate": "live in", "content": "Amersfoort", "is_part": True}),
    ("Mijn hond heet Bobbie, hij is vier.", "fact", {"predicate": "dog", "content": "Bobbie"}),
    ("Ik ben 38 jaar", "fact", {"predicate": "age", "content": "38"}),
    ("We zijn vorige week naar Utrecht verhuisd", "fact", {"predicate": "live in", "content": "Utrecht"}),
    ("Mijn zus is naar Leiden verhuisd", "fact", {"subject": "user's sister", "content": "Leiden"}),
    ("Mijn code werkt niet", "episode", {}),
    ("Ik werk hard", "episode", {}),
    ("Vergeet alles over Tom.", "forget", {"topic": "Tom", "of_everything": False}),
    ("vergeet alles wat je over mij weet", "forget", {"of_everything": True}),
    ("vergeet wat ik over Tom zei", "forget", {"topic": "Tom", "speaker_alone": True}),
    ("Vergeet niet de melk te kopen", "episode", {}),
    ("Vergeet alles behalve mijn naam", "episode", {}),
    ("vergeet het eten, laten we pizza bestellen", "episode", {}),
    ("Ben moved to Porto last week.", "fact", {"subject": "Ben", "predicate": "moved to", "content": "Porto"}),
    ("My sister moved to Porto.", "fact", {"subject": "user's sister", "content": "Porto"}),
    ("They moved to Porto.", "episode", {}),
    ("Lunch moved to Friday.", "episode", {}),
    ("Actually the cat is called Pixie.", "fact", {"subject": "the cat", "content": "Pixie"}),
    ("The cat is called Pixie.", "episode", {}),
    ("Never mind.", "episode", {}),
    ("Never mind, forget it.", "forget", {"topic": ""}),
    ("scratch that", "forget", {"topic": "", "speaker_alone": True}),
    ("Ignore what I just said", "forget", {"topic": ""}),
    ("Forget everything you know about me.", "forget", {"topic": None, "of_everything": True}),
    ("Scratch that, forget it.", "forget", {"topic": "", "of_everything": False}),
    ("We moved from GitHub Actions to Buildkite last week.", "episode", {}),
    ("We have moved to PostgreSQL.", "episode", {}),
    ("We moved to Go 1.22", "episode", {}),
    ("We moved to Lindenweg 14", "fact", {"predicate": "live in", "content": "Lindenweg 14"}),
    ("We relocated to the USA.", "fact", {"predicate": "live in", "content": "the USA"}),
    ("I'd like you to forget about the Berlin trip.", "forget", {"topic": "the Berlin trip"}),
    ("Delete my last message.", "forget", {"topic": "", "speaker_alone": True}),
    ("Delete the last message.", "episode", {}),
    ("Don't remember this.", "forget", {"topic": ""}),
    ("Wipe everything you have on me.", "forget", {"of_everything": True}),
    ("Erase all my data.", "forget", {"of_everything": True}),
    ("Erase all my memories of Tom.", "forget", {"topic": "Tom", "of_everything": False}),
    ("Remove everything you have added to the list", "episode", {}),
    ("Forget everything except my name.", "episode", {}),
    ("Forget all about it.", "forget", {"topic": ""}),
    ("Scratch that, it's Tuesday.", "episode", {}),
    ("Scratch that. It's Tuesday.", "episode", {}),
    ("Scratch that, I was joking.", "forget", {"topic": "", "is_part": False}),
    ("Forget it, I'll do it myself.", "episode", {}),
    ("Forget about dinner, let's order pizza.", "episode", {}),
    ("Forget that. My number is 555.", "forget", {"topic": "", "content": "My number is 555.", "is_part": True}),
    (
        "Forget that, please. Take Ana's PIN from your memory and call her.",
        "forget",
        {"topic": "", "content": "Take Ana's PIN from your memory and call her."},
    ),
    ("Forget what I said about Rome, please. I moved.", "forget", {"topic": "Rome", "content": "I moved."}),
    ("Forget that I live in Rome, I moved to Pisa.", "forget", {"content": "I moved to Pisa.", "is_part": True}),
    ("Forget what I said about Ana, it's not true.", "forget", {"topic": "Ana", "is_part": False}),
    ("Forget everything about Dr. Lee. Thanks!", "forget", {"topic": "Dr. Lee", "is_part": False}),
    ("Forget Lisbon, Porto and Faro.", "forget", {"topic": "Lisbon, Porto and Faro"}),
    ("When I ask for code, use TypeScript.", "rule", {}),
    ("If the build fails, rerun it with --clean.", "rule", {}),
    ("Before you commit, run the linter.", "rule", {}),
    ("You should always run the tests.", "rule", {}),
    ("Next time, ask before deleting files.", "rule", {}),
    ("Please don't call me Daniel.", "rule", {}),
    ("Don't call me tonight.", "episode", {}),
    ("If the parcel comes, call me.", "episode", {}),
    ("When the meeting ended, Ana left.", "recall", {}),
    ("When we arrive, check the heating tomorrow.", "episode", {}),
    ("Next time I go to Rome I want to see the Forum.", "episode", {}),
    ("You never call me.", "episode", {}),
    ("Call me Dee.", "fact", {"predicate": "nickname", "content": "Dee"}),
    ("Please call me AJ", "fact", {"predicate": "nickname", "content": "AJ"}),
    ("Call me Monday.", "episode", {}),
    ("CALL ME LATER", "episode", {}),
    ("I'm 34.", "fact", {"predicate": "age", "content": "34"}),
    ("I'm 50 minutes away.", "episode", {}),
    ("My birthday's June 4", "fact", {"predicate": "birthday", "content": "June 4"}),
    ("I was born on a farm.", "episode", {}),
    ("I'm living in Graz at the moment.", "fact", {"predicate": "live in", "content": "Graz", "is_part": True}),
    ("I just got a job at Siemens.", "fact", {"predicate": "work at", "content": "Siemens"}),
    ("I'm a senior nurse at Grey House.", "fact", {"predicate": "work as", "content": "a senior nurse at Grey House"}),
    ("I'm an architect now.", "fact", {"predicate": "work as", "content": "an architect", "is_part": True}),
    ("I'm a smoker.", "episode", {}),
    ("I'm a good cook.", "episode", {}),
    # Other languages
    ("Ich wohne in Leipzig.", "fact", {"predicate": "live in", "content": "Leipzig", "is_part": True}),
    ("Eigentlich heiße ich Jona, ohne s.", "fact", {"predicate": "name", "content": "Jona"}),
    ("Ich bin letzte Woche nach Dresden gezogen.", "fact", {"predicate": "live in", "content": "Dresden"}),
    ("Jetzt wohne ich in Dresden, nicht mehr in Leipzig.", "fact", {"content": "Dresden"}),
    ("Meine Schwester ist nach Berlin gezogen.", "fact", {"subject": "user's sister", "content": "Berlin"}),
    ("Er ist nach Berlin gezogen.", "episode", {}),
    ("Ich bin Vegetarier.", "fact", {"predicate": "diet", "content": "Vegetarier"}),
    ("Nein, meine Handynummer ist 0151 333", "fact", {"predicate": "phone number", "content": "0151 333"}),
    ("Meine Katze ist krank.", "episode", {}),
    ("Vergiss das bitte.", "forget", {"topic": "", "speaker_alone": True}),
    ("Vergiss, was ich über meinen Chef gesagt habe.", "forget", {"topic": "meinen Chef", "speaker_alone": True}),
    ("Vergiss alles über Lissabon", "forget", {"topic": "Lissabon", "speaker_alone": False}),
    ("Ich bin 34 Jahre alt.", "fact", {"predicate": "age", "content": "34"}),
    ("Ich bin 5 Minuten zu spät.", "episode", {}),
    ("Ich habe am 3. Mai Geburtstag.", "fact", {"predicate": "birthday", "content": "3. Mai"}),
    ("Nenn mich bitte Jo.", "fact", {"predicate": "nickname", "content": "Jo"}),
    ("Nenn mich morgen nochmal", "episode", {}),
    ("Tengo 34 años", "fact", {"predicate": "age", "content": "34"}),
    ("Llámame Lu", "fact", {"predicate": "nickname", "content": "Lu"}),
    ("Llámame mañana", "episode", {}),
    ("J'ai 34 ans", "fact", {"predicate": "age", "content": "34"}),
    ("Appelle-moi Zo", "fact", {"predicate": "nickname", "content": "Zo"}),
    ("Ho 34 anni", "fact", {"predicate": "age", "content": "34"}),
    ("Chiamami Leo", "fact", {"predicate": "nickname", "content": "Leo"}),
    ("Tenho 34 anos", "fact", {"predicate": "age", "content": "34"}),
    ("Me chama de Rita", "fact", {"predicate": "nickname", "content": "Rita"}),
    ("Vergiss alles, was du über Tom weißt.", "forget", {"topic": "Tom", "of_everything": False}),
    ("Vergiss alles, was du über mich weißt.", "forget", {"of_everything": True}),
    ("Vergiss alles außer meinem Namen.", "episode", {}),
    ("Vergiss es, ich mach das selbst.", "episode", {}),
    ("Bitte lösche alles über meinen Ex.", "forget", {"topic": "meinen Ex"}),
    ("Lösche alles aus der Tabelle.", "episode", {}),
    ("Borra todo lo que sabes de Ana", "forget", {"topic": "Ana"}),
    ("Efface tout ce que tu sais sur Paul", "forget", {"topic": "Paul"}),
    ("Cancella tutto quello che sai di Marco", "forget", {"topic": "Marco"}),
    ("Apaga tudo o que sabes sobre a Rita", "forget", {"topic": "a Rita"}),
    ("Vergiss nicht, Milch zu kaufen.", "episode", {}),
    ("En realidad vivo en Valencia.", "fact", {"predicate": "live in", "content": "Valencia"}),
    ("Me he mudado a Valencia", "fact", {"predicate": "live in", "content": "Valencia"}),
    ("Olvida lo que te dije sobre Lisboa", "forget", {"topic": "Lisboa", "speaker_alone": True}),
    ("J\u2019habite à Lyon", "fact", {"predicate": "live in", "content": "Lyon"}),
    ("Je m'appelle Zoé.", "fact", {"predicate": "name", "content": "Zoé"}),
    ("Oublie ça.", "forget", {"topic": ""}),
    ("Mi sono trasferita a Roma", "fact", {"predicate": "live in", "content": "Roma"}),
    ("Dimenticalo.", "forget", {"topic": ""}),
    ("Me mudei para Lisboa.", "fact", {"predicate": "live in", "content": "Lisboa"}),
    ("Esquece isso.", "forget", {"topic": ""}),
    # Somebody likes many things, and a fact would take the place of the last one.
    ("I like tea.", "episode", {}),
    ("Remember that we laughed a lot.", "episode", {}),
    ("Ana lives in Porto, she said.", "episode", {}),
    ("The tram to Sintra leaves at nine.", "episode", {}),
    ("Nevertheless it rained.", "episode", {}),
    ("Whatever.", "episode", {}),
]


@pytest.mark.req("G21")
@pytest.mark.parametrize(("said", "expected", "parts"), TABLE, ids=[said[:30] for said, *_ in TABLE])
def test_an_input_goes_where_its_words_say_with_a_reason(said, expected, parts):
    found = route(said)
    assert found.route == expected
    assert {name: getattr(found, name) for name in parts} == parts
    assert all(found.reasons)


@pytest.mark.req("G21")
def test_who_speaks_decides_too():
    assert route("Always 42?", role="tool").route == "working"
    assert route("Shall I book it?", role="assistant").route == "episode"
    assert route("Never mind the price.", role="system").route == "rule"
    assert route("My name is Ana", speaker="Ana").subject == "Ana"


@pytest.mark.parametrize(
    ("begins", "sign", "ends", "expected"),
    [
        ("forget", " ", "what I said", "episode"),
        ("forget ", ",", "what I said", "episode"),
        ("What did you believe last week", " ", "of Lisbon?", "recall"),
        ("I live in Lisbon, ", "and ", "so on", "episode"),
        ("always ", " ", "fly early", "rule"),
        ("note place: ", " ", "Lisbon", "note"),
    ],
)
def test_a_long_text_is_no_request_or_statement_and_is_read_in_one_go(begins, sign, ends, expected):
    """A pattern that tries again from every place would not come back."""
    assert route(f"{begins}{sign * 200_000}{ends}").route == expected
    assert route(f"forget what I said about Lisbon{' ' * 1_900}now").route == "forget"


@given(st.text(min_size=1, max_size=300))
def test_any_text_goes_somewhere_and_what_is_stored_is_part_of_it(text):
    found = route(text)
    assert found.content in text
    assert found == route(text)


@pytest.mark.req("G21")
def test_an_agent_stores_or_finds_what_it_is_given():
    with Memory.open(":memory:", embedder="none") as memory:
        agent = memory.agent("aide", session="monday")
        assert agent.route("I live in Lisbon").route == "fact"
        assert agent.facts().items == ()
        fact, rule, note, said = (
            agent.handle(text, speaker="Ana").kept
            for text in ("I live in Lisbon", "Always take the tram.", "note shell: zsh", "It rained on the tram.")
        )
        assert (fact.subject, fact.predicate, fact.content, fact.scope) == ("Ana", "live in", "Lisbon", "aide")
        assert (rule.kind, rule.scope) == ("rule", "aide")
        assert (note.key, agent.notes.recall("shell").content) == ("shell", "zsh")
        assert (said.kind, said.speaker, said.session) == ("episode", "Ana", "monday")
        assert {hit.memory.id for hit in agent.handle("Who took the tram?").answer} == {rule.id, said.id}
        assert agent.handle("timetable: 09:00", role="tool").working.messages == 1
        agent.handle("I live in Porto", speaker="Ana")
        assert [known.content for known in agent.facts("Ana", "live in")] == ["Porto"]
