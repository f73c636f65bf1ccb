"""Notes as an agent uses them: keys, categories, relations, search, summaries, and the cache before them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.pagination import Page
from engrain.domain.text.categories import CATEGORIES
from engrain.engines.callables import CallableReranker
from engrain.errors import InvalidInput, NotFound
from engrain.service import Memory
from tests.support.clock import NOON, Clock
from tests.support.one_call import OneCall
from tests.support.races import run_together
from tests.support.sqlite_statements import statements
from tests.support.stores import SqliteStore
from tests.support.wiped import fresh_store

DAY = timedelta(days=1)


@pytest.fixture
def clock():
    return Clock(microseconds=1)


@pytest.fixture
def memory(tmp_path, clock):
    with Memory.open(tmp_path / "agent.db", embedder="none", clock=clock) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("aide")


@pytest.mark.req("C01")
def test_a_key_holds_one_note_and_its_history_stays(agent):
    first = agent.notes.save("editor", "vim")
    second = agent.notes.save("editor", "emacs")
    assert agent.notes.recall("editor") == second
    assert (second.key, second.content, second.archived) == ("editor", "emacs", False)
    assert (first.created_at, first.updated_at) == (second.created_at, first.created_at)
    assert second.updated_at > first.updated_at
    assert [fact.content for fact in agent.history(second.id)] == ["vim", "emacs"]
    assert [note.content for note in agent.notes.list()] == ["emacs"]


@pytest.mark.req("C01")
def test_a_key_that_nobody_saved_is_none(agent):
    assert agent.notes.recall("editor") is None
    with pytest.raises(NotFound, match="no note 'editor'"):
        agent.notes.forget("editor")


@pytest.mark.req("C02", "C03")
def test_a_note_is_categorised_when_it_is_saved(agent):
    token = agent.notes.save("api-key", "secret token for GitHub")
    assert token.category == "credential"
    assert 0.1 <= token.category_confidence <= 1
    herons = agent.notes.save("note", "seven grey herons")
    assert (herons.category, herons.category_confidence) == ("general", 0.0)
    assert agent.get(token.id).category == "credential"
    assert agent.notes.recall("api-key") == token


@given(key=st.text(min_size=1, max_size=40), content=st.text(min_size=1, max_size=200))
@pytest.mark.req("C02")
def test_any_note_has_one_of_ten_categories_and_a_confidence(key, content):
    with Memory(SqliteStore(":memory:")) as memory:
        try:
            note = memory.agent("aide").notes.save(key, content)
        except InvalidInput:
            return
        assert note.category in CATEGORIES
        assert note.category_confidence == 0 or 0.1 <= note.category_confidence <= 1


@pytest.mark.req("C04")
def test_a_note_keeps_the_weights_of_its_heaviest_terms(agent):
    agent.notes.save("a", "the tram is late")
    agent.notes.save("b", "the tram is early")
    note = agent.notes.save("c", "the tram to the river")
    weights = agent.get(note.id).metadata["tfidf"]
    assert set(weights) == {"tram", "river"}
    assert weights["river"] > weights["tram"] == 0
    long = agent.notes.save("long", " ".join(f"word{place}" for place in range(99)))
    assert len(agent.get(long.id).metadata["tfidf"]) == 50


@pytest.mark.req("C13")
def test_notes_that_share_words_are_related_both_ways(agent):
    one = agent.notes.save("commute", "the tram by the river is late")
    two = agent.notes.save("walk", "along the river by the bridge")
    agent.notes.save("lunch", "bread and cheese")
    [to_one] = agent.notes.related("walk")
    assert (to_one.note, to_one.score) == (one, pytest.approx(1 / 7))
    assert [each.note for each in agent.notes.related(one.id)] == [two]
    [link] = agent.links(two.id)
    assert (link.relation, link.target_id, link.weight) == ("related_to", one.id, pytest.approx(1 / 7))
    assert agent.notes.related("lunch") == agent.notes.related("nobody") == []


@pytest.mark.req("C13")
def test_a_source_has_ten_relations_at_most_and_a_reader_as_many_as_wanted(agent):
    for place in range(14):
        agent.notes.save(f"walk{place}", "tram river")
    last = agent.notes.save("last", "tram river")
    assert len(agent.links(last.id, direction="outgoing")) == 10
    assert [each.note.key for each in agent.notes.related("last", 3)] == ["walk13", "walk12", "walk11"]
    assert len(agent.notes.related("walk0", 99)) == 10  # the ten after it; to walk11 others were as near, and newer
    assert agent.notes.related("last", 0) == []


@pytest.mark.req("C13")
def test_relations_are_of_the_notes_as_they_are(agent):
    agent.notes.save("a", "tram river")
    agent.notes.save("b", "tram river")
    agent.notes.save("c", "tram river")
    agent.notes.save("a", "bread and cheese")
    assert agent.notes.related("a") == []
    assert [each.note.key for each in agent.notes.related("b")] == ["c"]
    agent.notes.forget("c")
    assert agent.notes.related("b") == []


def test_a_note_that_is_saved_forever_anew_leaves_no_relations_behind(agent):
    status = agent.notes.save("status", "tram river")
    for _ in range(5):
        agent.notes.save("other", "tram river")
    assert len(agent.links(status.id)) == 1


@pytest.mark.req("C16")
def test_a_second_recall_asks_only_whether_the_note_still_stands(agent, memory):
    agent.notes.save("editor", "vim")
    with statements(OneCall(memory.parts.store)) as ran:
        first = agent.notes.recall("editor")
        assert len(ran) == 1
        assert agent.notes.recall("editor") == first
        assert memory.agent("aide").notes.recall("editor") == first
    assert len(ran) == 3, ran
    assert [statement.startswith("SELECT 1 FROM facts") for statement in ran] == [False, True, True]
    assert agent.notes.cache_stats().to_dict() == {"size": 1, "hits": 2, "misses": 1}
    memory.parts.references.flush()
    assert agent.get(first.id).reference_count == 1  # by get itself


@pytest.mark.req("C16", "C20")
@pytest.mark.parametrize(
    "write",
    [
        lambda agent, _: agent.notes.save("editor", "emacs"),
        lambda agent, _: agent.remember("emacs", subject="aide", predicate="editor", scope="aide"),
        lambda agent, note: agent.correct(note.id, "emacs"),
        lambda agent, _: agent.notes.forget("editor"),
        lambda agent, note: agent.forget(note.id),
        lambda agent, note: agent.erase([note.id]),
    ],
    ids=["save", "remember", "correct", "notes.forget", "forget", "erase"],
)
def test_what_this_process_writes_is_recalled_at_once(agent, write):
    note = agent.notes.save("editor", "vim")
    assert agent.notes.recall("editor") == note
    write(agent, note)
    found = agent.notes.recall("editor")
    assert found is None or found.content == "emacs"


@pytest.mark.req("C16")
def test_what_an_import_says_anew_is_recalled_at_once(tmp_path, agent):
    file = tmp_path / "notes.md"
    for said in ("vim", "emacs"):
        file.write_text(f"# editor\n\n{said}\n")
        agent.import_file(file)
        [note] = agent.notes.list()
        assert agent.notes.recall(note.key) == note


@pytest.mark.req("C16")
def test_what_a_pool_says_anew_is_recalled_at_once(agent, memory):
    agent.pools.create("team", ["ben"])
    for said in ("vim", "emacs"):
        memory.agent("ben").remember(said, subject="aide", predicate="editor", scope="pool:team")
        agent.pools.sync_to_agent("team")
        assert agent.notes.recall("editor").content == said


@pytest.mark.req("C16")
def test_a_fact_that_takes_a_notes_place_as_its_entity_goes_is_recalled_at_once(agent, memory):
    ben = memory.agent("ben")
    trams = ben.entities.create("Trams", "other")
    told = {"subject": "ben", "predicate": "likes", "scope": "ben"}
    ben.remember("buses", **told, confidence=0.5)
    ben.remember("trams", **told, entity_id=trams.id)
    assert ben.notes.recall("likes").content == "buses"
    agent.graph.delete_entities(["Trams"])
    assert ben.notes.recall("likes").content == "trams"


@pytest.mark.req("C16")
def test_notes_leave_the_cache_when_they_are_told_to(agent):
    agent.notes.save("editor", "vim")
    agent.notes.recall("editor")
    assert agent.notes.invalidate() == 1
    agent.notes.recall("editor")
    agent.notes.clear_cache()
    assert agent.notes.cache_stats().size == 0


@pytest.mark.req("C16")
def test_a_memory_may_hold_no_notes(tmp_path):
    settings = {"notes": {"cache_entries": 0}}
    with Memory.open(tmp_path / "agent.db", embedder="none", settings=settings) as memory:
        agent = memory.agent("aide")
        agent.notes.save("editor", "vim")
        assert [agent.notes.recall("editor").content for _ in range(2)] == ["vim", "vim"]
        assert agent.notes.cache_stats().to_dict() == {"size": 0, "hits": 0, "misses": 2}


@pytest.mark.req("C17")
def test_notes_are_listed_the_newest_first(agent):
    saved = [agent.notes.save(f"key{place}", "seven grey herons") for place in range(25)]
    secret = agent.notes.save("api-key", "secret token")
    agent.remember("Ana", subject="aide", predicate="owner", scope="global")  # for everybody, so no note
    assert agent.notes.list(3).items == (secret, saved[24], saved[23])
    assert agent.notes.list().items == (secret, *reversed(saved))
    assert agent.notes.list_by_category("general").items == tuple(reversed(saved))[:20]
    assert agent.notes.list_by_category("general", limit=99).items == tuple(reversed(saved))
    assert agent.notes.list_by_category("credential").items == (secret,)


@pytest.mark.req("C17")
def test_where_there_is_nothing_lists_are_empty(agent):
    assert agent.notes.list() == agent.notes.list_by_category("task") == Page()
    assert agent.notes.related("nothing") == []
    assert agent.notes.list_by_category("no such category").items == ()
    assert agent.notes.search("anything").hits == ()


@pytest.mark.req("C12")
def test_a_search_says_its_mode_how_many_it_judged_and_where_each_note_is_from(agent):
    tram = agent.notes.save("commute", "the tram is late")
    both = agent.notes.save("walk", "tram by the river")
    agent.notes.save("lunch", "bread and cheese")
    answer = agent.notes.search("tram river")
    assert (answer.query, answer.mode, answer.total_candidates) == ("tram river", "fast", 2)
    assert [(hit.note, hit.source) for hit in answer.hits] == [(both, "combined"), (tram, "fts5")]
    assert answer.notes == (both, tram)
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert agent.notes.search("tram river", limit=1).notes == (both,)
    assert agent.notes.search("tram river", min_similarity=0.5).notes == (both,)
    shown = answer.to_dict()
    assert shown["hits"][0]["note"] == both.to_dict()


@pytest.mark.req("C10", "C12")
def test_a_category_narrows_a_search_unless_it_would_leave_none(agent):
    secret = agent.notes.save("api-key", "the secret token of the tram")
    other = agent.notes.save("commute", "the tram is late")
    assert agent.notes.search("tram", category="credential").notes == (secret,)
    assert set(agent.notes.search("tram", category="task").notes) == {secret, other}


@pytest.mark.req("C10", "C12")
def test_a_search_without_words_keeps_to_its_limits(agent):
    secret = agent.notes.save("api-key", "the secret token of the tram")
    others = [agent.notes.save(f"commute{place}", "the tram is late") for place in range(9)]
    assert agent.notes.search("", category="credential", limit=3).notes == (secret,)
    assert agent.notes.search("", category="task", limit=3).notes == tuple(reversed(others))[:3]
    assert agent.notes.search("", min_similarity=0.1).notes == ()


@pytest.mark.req("C11", "C12")
def test_a_deep_search_asks_the_re_ranker_and_falls_back(tmp_path, agent):
    agent.notes.save("a", "tram")
    agent.notes.save("b", "tram and a lot more words")
    fallen = agent.notes.search("tram", mode="deep")
    assert (fallen.mode, fallen.notes) == ("fast", agent.notes.search("tram").notes)
    assert "no_reranker" in {reason.code for reason in fallen.degraded}
    judge = CallableReranker(lambda _, texts: [float(len(text)) for text in texts], name="mine:longest")
    with Memory.open(tmp_path / "agent.db", embedder="none", reranker=judge) as memory:
        answer = memory.agent("aide").notes.search("tram", mode="deep")
        assert (answer.mode, [hit.source for hit in answer.hits]) == ("deep", ["llm", "llm"])
        assert [note.key for note in answer.notes] == ["b", "a"]


@pytest.mark.req("C18")
@pytest.mark.parametrize(("name", "tenant"), [("ben", "default"), ("aide", "other")])
def test_no_agent_reads_searches_or_forgets_anothers_notes(memory, agent, name, tenant):
    note = agent.notes.save("editor", "vim and Kubernetes")
    agent.notes.save("other", "vim and Kubernetes")
    agent.notes.recall("editor")
    stranger = memory.agent(name, tenant=tenant)
    theirs = stranger.notes
    assert theirs.recall("editor") is None
    assert theirs.list() == theirs.list_by_category(note.category) == Page()
    assert theirs.related(note.id) == []
    assert theirs.search("Kubernetes").notes == ()
    assert theirs.summarize_old(0) == 0
    with pytest.raises(NotFound):
        theirs.forget("editor")
    own = theirs.save("editor", "emacs and Kubernetes")
    assert theirs.related("editor") == []
    assert theirs.search("Kubernetes").notes == (own,)
    assert theirs.invalidate() == 0
    assert agent.notes.recall("editor") == note


@pytest.mark.req("C20")
def test_notes_and_facts_are_the_same_memories(agent):
    note = agent.notes.save("editor", "vim")
    [fact] = agent.facts("aide", "editor")
    assert (fact.id, fact.scope, fact.content) == (note.id, "aide", "vim")
    assert [hit.memory.id for hit in agent.recall("vim")] == [note.id]
    told = agent.remember("zsh", subject="aide", predicate="shell", scope="aide", category="preference")
    shell = agent.notes.recall("shell")
    assert (shell.id, shell.content, shell.category, shell.category_confidence) == (told.id, "zsh", "preference", None)
    assert agent.notes.list().items == (shell, note)
    assert agent.notes.list_by_category("preference", 1).items == (shell,)
    assert agent.notes.search("zsh").notes == (shell,)
    corrected = agent.correct(note.id, "emacs")
    assert agent.notes.recall("editor").id == corrected.id


def test_a_note_is_read_for_names_and_worth_as_any_fact_is(tmp_path):
    with Memory.open(tmp_path / "agent.db", embedder="none", settings={"entities": {"link": "fast"}}) as memory:
        agent = memory.agent("aide")
        text = "I prefer to be reached at ana@example.org"
        told = agent.remember(text, subject="Ana", predicate="contact", scope="global")
        note = agent.notes.save("contact", text)
        assert agent.get(note.id).importance == told.importance > 5
        linked = [each.memory_id for each in agent.events(event_type="entities_mentioned")]
        assert set(linked) == {note.id, told.id}


def test_what_waits_for_a_confirmation_is_no_note(agent, clock):
    page = agent.observe("the page says so", role="tool")
    heard = [
        agent.remember(f"tram of {key}", subject="aide", predicate=key, source_episode_id=page.id)
        for key in ("p:a", "p:b")
    ]
    mine = agent.notes.save("p:b", "my own tram")
    assert agent.notes.list().items == agent.notes.search("tram").notes == (mine,)
    assert agent.notes.related("p:b") == []
    assert agent.notes.recall("p:a") is None
    clock.now = NOON + 60 * DAY
    assert agent.notes.summarize_old() == 0
    agent.confirm(heard[0].id)
    assert agent.notes.recall("p:a").content == "tram of p:a"


def test_a_summary_is_trusted_no_more_than_its_least_trusted_note(agent, clock):
    agent.notes.save("p:a", "mine")
    agent.remember("of a file", subject="aide", predicate="p:b", metadata={"trust": "import"})
    clock.now = NOON + 60 * DAY
    assert agent.notes.summarize_old() == 2
    [summary] = agent.notes.list()
    assert agent.get(summary.id).trust == "import"


@pytest.mark.req("C08")
def test_time_alone_takes_no_note_nor_its_summary(agent, memory, clock, tmp_path):
    agent.notes.save("editor", "vim")
    agent.remember("a fact", subject="aide", predicate="p:a", permanence="permanent")
    agent.notes.save("p:b", "a note")
    file = tmp_path / "notes.md"
    file.write_text("# shell\n\nzsh\n")
    agent.import_file(file)
    clock.now = NOON + 60 * DAY
    assert agent.notes.summarize_old() == 2
    clock.now = NOON + 4_000 * DAY
    report = memory.decay()
    assert (report.facts.looked_at, report.facts.fading, report.facts.expired) == (0, 0, 0)
    assert len(agent.notes.list()) == 3
    assert agent.notes.recall("editor").content == "vim"
    assert [hit.memory.content for hit in agent.recall("vim", min_confidence=0.9)] == ["vim"]


def test_a_note_is_no_part_of_every_context(agent):
    agent.notes.save("editor", "vim")
    assert agent.context("What does Ana eat?").text == ""


def test_one_thing_is_a_note_for_every_verb(agent, clock):
    agent.notes.save("editor", "vim")
    agent.remember("nano", subject="Aide", predicate="Editor")
    nano = agent.notes.recall("editor")
    assert (nano.key, nano.content) == ("editor", "nano")
    assert agent.notes.list().items == agent.notes.search("nano").notes == (nano,)
    agent.remember("emacs", subject="aide", predicate="editor", valid_from="2020-01-01", valid_to="2021-01-01")
    agent.remember("past", subject="aide", predicate="gone", valid_to="2021-01-01")
    agent.remember("later", subject="aide", predicate="soon", valid_from=NOON + 9 * DAY)
    assert agent.notes.recall("gone") is agent.notes.recall("soon") is None
    assert agent.notes.search("past later").notes == ()
    assert agent.notes.list().items == (nano,)
    assert agent.notes.forget("editor").content == "nano"
    clock.now = NOON + 10 * DAY
    assert [note.key for note in agent.notes.list()] == ["soon"]


def test_a_cached_note_ends_with_its_period(agent, clock):
    agent.notes.save("editor", "vim")
    agent.remember("emacs", subject="aide", predicate="editor", valid_from=NOON + DAY)
    assert [agent.notes.recall("editor").content for _ in range(2)] == ["vim", "vim"]
    clock.now = NOON + 2 * DAY
    assert agent.notes.recall("editor").content == "emacs"


def test_the_predicate_of_a_free_text_is_no_key(agent):
    with pytest.raises(InvalidInput, match="choose another key"):
        agent.notes.save("observation 0123456789ab", "vim")
    agent.notes.save("observation 0123456789AB", "vim")
    assert [note.content for note in agent.notes.list()] == ["vim"]


@pytest.mark.parametrize("query", ["canoe", "!!"])
def test_a_note_is_found_among_any_number_of_other_facts_of_the_agent(agent, memory, query):
    boat = agent.notes.save("boat", "The canoe project roadmap for next year")
    for place in range(200):
        agent.remember(f"canoe trip number {place}")
    with statements(OneCall(memory.parts.store)) as ran:
        assert agent.notes.search(query, limit=5).notes == (boat,)
    assert len(ran) <= 10, ran
    with statements(OneCall(memory.parts.store)) as ran:
        assert agent.notes.list(5).items == (boat,)
    assert len(ran) <= 4, ran


@pytest.mark.req("C14")
def test_old_notes_of_one_prefix_become_a_summary(agent, clock):
    clock.now = NOON - 60 * DAY
    olds = [agent.notes.save(f"project:{name}", f"what {name} is") for name in ("alpha", "beta")]
    lone = agent.notes.save("config:port", "8080")
    clock.now = NOON - 29 * DAY
    young = [agent.notes.save(f"person:{name}", "a friend") for name in ("ana", "ben")]
    clock.now = NOON
    assert agent.notes.summarize_old() == 2
    summary = agent.notes.recall("summary:project:2026-11-21")
    assert summary.content == "project:alpha: what alpha is\nproject:beta: what beta is"
    assert summary.category == "project"
    assert agent.notes.list().items == (summary, *reversed(young), lone)
    assert agent.notes.recall("project:alpha") is None
    archived = [agent.get(each.id) for each in olds]
    assert [each.validity for each in archived] == ["superseded", "superseded"]
    links = agent.links(summary.id, direction="outgoing", relation="derived_from")
    assert {each.target_id for each in links} == {each.id for each in olds}
    assert agent.notes.search("alpha").notes == (summary,)
    assert agent.notes.summarize_old() == 0


@pytest.mark.req("C14")
def test_a_second_summary_of_the_day_holds_the_first(agent, clock):
    for content in ("one", "two"):
        clock.now = NOON - 60 * DAY
        for place in range(2):
            agent.notes.save(f"a:{content}{place}", content)
        clock.now = NOON
        assert agent.notes.summarize_old() == 2
    lines = agent.notes.recall("summary:a:2026-11-21").content.split("\n")
    assert lines == ["a:one0: one", "a:one1: one", "a:two0: two", "a:two1: two"]
    assert [note.key for note in agent.notes.list()] == ["summary:a:2026-11-21"]


@pytest.mark.req("C14")
def test_summaries_are_not_summarized_again(agent, clock):
    for day in (0, 1):
        clock.now = NOON + day * DAY
        for place in range(2):
            agent.notes.save(f"a:{place}", "tram")
        assert agent.notes.summarize_old(0) == 2
    clock.now = NOON + 99 * DAY
    assert agent.notes.summarize_old() == 0
    assert len(agent.notes.list()) == 2


def test_notes_too_large_for_one_summary_are_left_for_later(agent, clock):
    clock.now = NOON - 60 * DAY
    for place in range(4):
        agent.notes.save(f"book:{place}", f"{place}" * 4_000_000)
    clock.now = NOON
    assert agent.notes.summarize_old() == 2
    assert len(agent.notes.list()) == 3


def test_a_prefix_of_any_length_has_a_summary_that_can_be_asked_for(agent, clock):
    prefix = "p" * 510
    clock.now = NOON - 60 * DAY
    for place in range(2):
        agent.notes.save(f"{prefix}:{place}"[:512], "tram")
        agent.notes.save(f"{prefix}{place}", "tram")
    clock.now = NOON
    assert agent.notes.summarize_old() == 4
    [summary] = [note for note in agent.notes.list() if note.key.startswith("summary:")]
    assert agent.notes.recall(summary.key) == summary


@pytest.mark.req("C01")
def test_forgetting_a_note_leaves_its_key_free(agent):
    note = agent.notes.save("editor", "vim")
    gone = agent.notes.forget("editor")
    assert (gone.id, gone.archived) == (note.id, True)
    assert agent.notes.recall("editor") is None
    assert agent.get(note.id).validity == "retracted"
    again = agent.notes.save("editor", "emacs")
    assert agent.notes.list().items == (again,)
    assert again.created_at == again.updated_at


@pytest.mark.req("C01", "C16")
def test_a_key_that_many_save_and_recall_ends_as_one_of_them_said(memory):
    """And whoever recalls it afterwards recalls what the file says."""

    def work(name):
        notes = memory.agent("aide").notes
        for place in range(15):
            saved = notes.save("status", f"{name} {place}")
            assert notes.recall("status").key == "status"
        return saved

    last = run_together(work, range(4))
    [held] = memory.agent("aide").notes.list()
    assert held in last
    assert memory.agent("aide").notes.recall("status") == held
    assert len(memory.agent("aide").history(held.id)) == 60


def test_notes_are_the_same_on_postgresql(clock):
    with fresh_store() as store, Memory(store, clock=clock) as memory:
        notes = memory.agent("aide").notes
        clock.now = NOON - 60 * DAY
        for name in ("alpha", "beta"):
            notes.save(f"project:{name}", f"what {name} is")
        assert [each.note.key for each in notes.related("project:beta")] == ["project:alpha"]
        assert notes.search("alpha").notes[0].key == "project:alpha"
        clock.now = NOON
        assert notes.summarize_old() == 2
        assert notes.recall("summary:project:2026-11-21").content.startswith("project:alpha: what alpha is")
        agent = memory.agent("aide")
        page = agent.observe("the page says so", role="tool")
        agent.remember("a canoe of a page", subject="aide", predicate="heard", source_episode_id=page.id)
        boat = notes.save("boat", "The canoe project roadmap")
        for place in range(160):
            agent.remember(f"canoe trip number {place}")
        assert notes.search("canoe").notes == (boat,)
        agent.remember("canoe again", subject="Aide", predicate="boat")
        assert next(note.content for note in notes.list()) == notes.recall("boat").content == "canoe again"
