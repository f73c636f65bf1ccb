"""What somebody else writes between two of a verb's calls: answers are of one state, and what was decided still holds.

Each deed is done at its place in the verb, once, by another store of the same database: nothing here depends on luck.
"""

from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
from psycopg.conninfo import conninfo_to_dict

from engrain.agent.learning import consolidation_runs
from engrain.agent.wiring.acts import new_act
from engrain.config import load
from engrain.domain.entities.graph import EntityObservations, GraphEntity, GraphRelation
from engrain.domain.runs.plans import Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import Claim
from engrain.errors import InvalidInput, NotFound
from engrain.interfaces.compat.orchestrator import confirm_fact
from engrain.learning.consolidation.runner import ConsolidationOptions, consolidate
from engrain.service import Memory
from engrain.storage.runs.claims import carry_out, claim_run, give_up, list_backlogs
from engrain.storage.sqlite.backend import SqliteBackend
from tests.support.clock import NOON, Clock
from tests.support.learning_memories import LLM, fact, reply
from tests.support.recorded import Recorded
from tests.support.sample_search import NO_ENGINE, recall
from tests.support.stores import PostgresStore, SqliteStore
from tests.support.wiped import fresh_store


class Interrupted:
    """A store whose verbs let somebody else do something, once, right before they ask or right after the answer.

    What runs in a snapshot or a unit of work is known by the name of its function.
    """

    def __init__(self, store):
        self._store = store
        self._deeds = {}
        self._statements = Statements(store)

    def before_reading(self, words, deed):
        """Right before the next statement that holds some words, within a read."""
        self._statements.deeds[words] = deed

    def before_writing(self, words, deed):
        """Right before the next statement that holds some words, within a write; of a SQLite file, before it begins."""
        self._statements.deeds["BEGIN IMMEDIATE" if self._statements.is_file else words] = deed

    def before(self, verb, deed):
        self._deeds["before", verb] = deed

    def after(self, verb, deed):
        self._deeds["after", verb] = deed

    @property
    def are_done(self):
        return not self._deeds and not self._statements.deeds

    def _do(self, when, verb):
        self._deeds.pop((when, verb), lambda: None)()

    def __getattr__(self, name):
        verb = getattr(self._store, name)
        if not callable(verb):
            return verb

        def interrupted(*values, **named):
            known_as = values[1].__name__ if name in {"read", "search", "write"} else name
            self._do("before", known_as)
            answer = verb(*values, **named)
            self._do("after", known_as)
            return answer

        return interrupted


class Statements(Recorded):
    """What a store says to its database, and what somebody else does right before some of it."""

    def __init__(self, store):
        super().__init__(store._connections, False, "")
        self.deeds = {}
        self.is_file = isinstance(store, SqliteStore)
        if self.is_file:
            with self.inner.reading() as reader:
                for connection in (reader, self.inner._writer):
                    connection.exec_trace = lambda _, statement, __: self.note(None, statement, None) or True
        else:
            store._connections = self

    def note(self, db, statement, values):  # noqa: ARG002  # as `Recorded` is asked
        for words in [words for words in self.deeds if words in statement]:
            self.deeds.pop(words)()

    def __getattr__(self, name):
        return getattr(self.inner, name)


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request, tmp_path):
    """Two of one database."""
    if request.param == "sqlite":
        path = str(tmp_path / "agent.db")
        with closing(SqliteStore(path)) as ours, closing(SqliteStore(path)) as theirs:
            yield ours, theirs
        return
    with fresh_store() as theirs:
        at = conninfo_to_dict(theirs._connections._conninfo)
        url = "postgresql://{user}:{password}@{host}:{port}/{dbname}".format(**at)
        with closing(PostgresStore(url)) as ours:
            yield ours, theirs


@pytest.fixture
def store(stores):
    return Interrupted(stores[0])


@pytest.fixture
def clock():
    return Clock(seconds=1)


@pytest.fixture
def memories(stores, store, clock):
    settings = load({"agent": "aide", "entities": {"link": "fast"}, "consolidation": {"on_session_switch": False}})
    made = [Memory(each, settings=settings, clock=clock) for each in (store, stores[1])]
    yield made
    for each in made:
        each.close(flush=False)
    assert store.are_done


@pytest.fixture
def memory(memories):
    return memories[0]


@pytest.fixture
def agent(memory):
    return memory.agent()


@pytest.fixture
def other(memories):
    """The same agent in another process."""
    return memories[1].agent()


# Reading: one state


def test_a_search_finds_what_is_forgotten_while_it_waits_for_its_vector(stores, agent, other):
    said = agent.observe("tram", session="monday")

    def embed(_):
        other.forget(said.id)
        return NO_ENGINE

    answer = recall(stores[0], "tram", embed=embed, caller=agent.caller)
    assert [hit.memory for hit in answer] == [said]
    assert other.recall("tram").hits == ()


def test_a_note_is_related_to_one_that_is_saved_anew_meanwhile(agent, other, store):
    other.notes.save("home", "tram river bridge")
    other.notes.save("way", "tram river bridge")
    store.before_reading("FROM memory_links", lambda: other.notes.save("home", "tram river bridge harbour"))
    assert [each.note.content for each in agent.notes.related("way")] == ["tram river bridge"]


def test_a_profile_of_somebody_who_is_merged_meanwhile_tells_what_is_known(agent, other, store):
    ana, anita = other.entities.create("Ana", "person"), other.entities.create("Anita", "person")
    fact = other.remember("Lisbon", subject="Ana", predicate="lives in", entity_id=ana.id)
    store.before_reading("FROM memory_entities", lambda: other.entities.merge(ana.id, anita.id))
    told = agent.entities.profile(ana.id)
    assert (told.entity.id, [each.id for past in told.facts.values() for each in past]) == (ana.id, [fact.id])


def test_hints_are_of_whom_is_proposed_though_he_is_merged_meanwhile(agent, other, store):
    ana, anita = other.entities.create("Ana", "person"), other.entities.create("Anita", "person")
    other.remember("trams", subject="Ana", predicate="likes", entity_id=ana.id)
    expected = agent.entities.resolve("Ana", hints={"topic": "trams"})
    assert expected[0].score > 100
    store.before_reading("FROM facts", lambda: other.entities.merge(ana.id, anita.id))
    assert agent.entities.resolve("Ana", hints={"topic": "trams"}) == expected


def test_a_reflection_looks_at_no_fact_and_what_took_its_place(memory, other, store):
    first, *_ = [other.remember(str(n), subject="Ana", predicate=f"counts {n}", scope="aide") for n in range(5)]
    # Facts are read by when they happened, then by when they were stored.
    store.before_reading("ORDER BY id DESC LIMIT", lambda: other.correct(first.id, "one more"))
    [due] = memory.reflect(agent="aide", dry_run=True, force=True).agents
    assert (due.outcome, due.facts) == ("due", 5)


# Writing: what was decided still holds


def test_a_correction_of_what_somebody_corrects_meanwhile_takes_no_other_facts_place(agent, other, store):
    old = other.remember("Porto", subject="Ana", predicate="lives in")
    store.before_writing("pg_advisory_xact_lock", lambda: other.correct(old.id, "Lisbon"))
    with pytest.raises(InvalidInput, match="is superseded"):
        agent.correct(old.id, "Faro")
    assert [each.content for each in agent.history(old.id)] == ["Porto", "Lisbon"]
    assert [each.content for each in agent.facts("Ana")] == ["Lisbon"]


@pytest.mark.parametrize(("gone", "error"), [("forget", InvalidInput), ("erase", NotFound)])
def test_a_correction_brings_back_nothing_that_is_forgotten_meanwhile(agent, other, store, gone, error):
    old = other.remember("Porto", subject="Ana", predicate="lives in")
    store.before_writing("pg_advisory_xact_lock", lambda: getattr(other, gone)(old.id))
    with pytest.raises(error):
        agent.correct(old.id, "Faro")
    assert agent.facts("Ana").items == ()


def test_a_fact_that_is_corrected_while_it_is_protected_is_not_brought_back(memory, agent, other, store):
    old = other.remember("Porto", subject="Ana", predicate="lives in")
    store.after("touch", lambda: other.correct(old.id, "Lisbon"))
    with pytest.raises(InvalidInput, match="is superseded"):
        confirm_fact(memory.agent("aide"), old.id)
    assert [each.content for each in agent.facts("Ana")] == ["Lisbon"]


def test_a_correction_goes_with_whom_the_fact_is_about(agent, other, store):
    ana, anita = other.entities.create("Ana", "person"), other.entities.create("Anita", "person")
    old = other.remember("Porto", subject="Ana", predicate="lives in", entity_id=ana.id)
    store.before_writing("pg_advisory_xact_lock", lambda: other.entities.merge(ana.id, anita.id))
    new = agent.correct(old.id, "Faro")
    assert (new.entity_id, new.supersedes_id) == (anita.id, old.id)


def test_a_correction_that_is_refused_for_itself_is_refused(agent, other):
    old = other.remember("Porto", subject="Ana", predicate="lives in")
    with pytest.raises(InvalidInput, match="names no episode"):
        agent.correct(old.id, "Faro", source_episode_id="nobody's")
    assert [each.content for each in agent.facts("Ana")] == ["Porto"]


def test_a_key_is_as_old_as_its_first_note_though_both_are_saved_at_once(agent, other, store, clock):
    def save():
        clock.now -= timedelta(minutes=1)
        assert other.notes.save("editor", "vim").created_at < NOON
        clock.now += timedelta(minutes=1)

    store.before_writing("pg_advisory_xact_lock", save)
    ours = agent.notes.save("editor", "emacs")
    assert ours.created_at == agent.notes.recall("editor").created_at < NOON < ours.updated_at


def test_nothing_is_written_to_a_pool_that_is_deleted_meanwhile(agent, other, store):
    other.pools.create("team")
    store.before_writing("FROM pools", lambda: other.pools.delete("team"))
    with pytest.raises(InvalidInput, match="scope 'pool:team' is unknown; choose one of: global, aide"):
        agent.remember("Lisbon", subject="Ana", predicate="lives in", scope="pool:team")
    other.pools.create("team")
    assert other.facts().items == ()


def test_nothing_is_written_to_a_pool_that_the_agent_is_taken_out_of_meanwhile(memories, other, store):
    other.pools.create("team", ["ben"])
    store.before_writing("FROM pools", lambda: other.pools.remove("team", "ben"))
    with pytest.raises(InvalidInput, match="scope 'pool:team' is unknown; choose one of: global, ben"):
        memories[0].agent("ben").rules.add("Ask first", scope="pool:team")
    assert list(other.recall("Ask first", kinds="rule")) == []


def test_what_the_agent_learns_while_a_pool_is_synced_stays(memories, agent, other, store):
    other.pools.create("team", ["ben"])
    memories[1].agent("ben").remember("Porto", subject="Ana", predicate="lives in", scope="pool:team")
    own = []
    told = {"subject": "Ana", "predicate": "lives in", "scope": "aide"}
    store.before_writing("pg_advisory_xact_lock", lambda: own.append(other.remember("Lisbon", **told)))
    synced = agent.pools.sync_to_agent("team")
    assert (synced.copied, synced.kept) == ((), (own[0].id,))
    assert [each.content for each in agent.facts("Ana") if each.scope == "aide"] == ["Lisbon"]


def test_two_that_sync_a_pool_at_once_have_one_copy(memories, agent, other, store):
    other.pools.create("team", ["ben"])
    original = memories[1].agent("ben").remember("Porto", subject="Ana", predicate="lives in", scope="pool:team")
    theirs = []
    store.before_writing("pg_advisory_xact_lock", lambda: theirs.append(other.pools.sync_to_agent("team")))
    synced = agent.pools.sync_to_agent("team")
    assert (synced.copied, synced.unchanged) == ((), 1)
    [copy] = theirs[0].copied
    assert [each.id for each in agent.facts("Ana") if each.scope == "aide"] == [copy]
    assert [each.target_id for each in agent.links(copy, relation="derived_from")] == [original.id]


def test_what_is_erased_meanwhile_is_copied_nowhere(agent, other, store):
    other.pools.create("team")
    fact = other.remember("Lisbon", subject="Ana", predicate="lives in", scope="aide")
    store.before_writing("pg_advisory_xact_lock", lambda: other.erase(fact.id))
    with pytest.raises(NotFound, match=f"no memory {fact.id}"):
        agent.pools.contribute("team", fact.id)
    assert agent.facts("Ana").items == ()


# Whom a memory mentions


def test_a_memory_mentions_whom_somebody_is_merged_into_meanwhile(agent, other, store):
    ana, anita = (other.entities.create(f"{name}@example.org", "email") for name in ("ana", "anita"))
    store.before_writing("FOR KEY SHARE", lambda: other.entities.merge(ana.id, anita.id))
    agent.remember("write to ana@example.org", subject="Ana", predicate="is reached")
    assert agent.entities.get(anita.id).mention_count == 1


@pytest.mark.parametrize("words", ["SELECT id FROM entities", "INSERT INTO entities"])
def test_somebody_whom_two_memories_name_at_once_is_created_once(agent, other, store, words):
    text = "write to ana@example.org"
    store.before_writing(words, lambda: other.remember(text, subject="Ana", predicate="is reached", scope="global"))
    agent.remember(text, subject="Ben", predicate="is told", scope="global")
    assert [(each.canonical_name, each.mention_count) for each in agent.entities.find()] == [("ana@example.org", 2)]


def test_a_memory_that_is_erased_right_after_it_is_linked_was_stored(agent, other, store):
    other.entities.create("ana@example.org", "email")
    store.after("save", lambda: other.erase([each.id for each in other.facts()]))
    told = {"subject": "Ana", "predicate": "is reached", "content": "write to ana@example.org"}
    [kept] = agent.consolidation.save_facts([told]).saved
    assert agent.get(kept.id) is None


def test_a_memory_is_enriched_though_whom_it_mentions_is_removed_meanwhile(agent, other, store):
    kept = other.remember("write to ana@example.org", subject="Ana", predicate="is reached", scope="global")
    store.before_writing("FOR KEY SHARE", lambda: other.graph.delete_entities(["ana@example.org"]))
    done = agent.entities.enrich(kept.id, strategy="fast")
    assert (done.enriched, done.links) == (1, 1)
    assert "enriched_at" in agent.get(kept.id).metadata


def test_relations_of_somebody_who_is_removed_meanwhile_are_said_all_the_same(agent, other, store):
    other.graph.create_entities([GraphEntity(name="Ana", entity_type="person")])
    said = GraphRelation(source="Ana", relation_type="knows", target="Ben")
    store.before_writing("FOR KEY SHARE", lambda: other.graph.delete_entities(["Ana"]))
    assert agent.graph.create_relations([said]) == [said]
    [fact] = agent.facts("Ana")
    assert fact.entity_id is None


@pytest.mark.parametrize("words", ["SELECT id FROM entities", "INSERT INTO entities"])
def test_somebody_whom_another_creates_meanwhile_is_created_once(agent, other, store, words):
    nodes = [GraphEntity(name=name, entity_type="person", observations=("likes trams",)) for name in ("Ana", "Ben")]
    store.before_writing(words, lambda: other.graph.create_entities(nodes[:1]))
    assert agent.graph.create_entities(nodes) == nodes[1:]
    assert sorted(each.subject for each in agent.facts()) == ["Ana", "Ben"]


def test_what_is_observed_of_somebody_who_is_merged_meanwhile_is_of_whom_she_went_into(agent, other, store):
    other.graph.create_entities([GraphEntity(name=each, entity_type="person") for each in ("Ana", "Anita")])
    ana, anita = (other.entities.profile(each).entity for each in ("Ana", "Anita"))
    store.before_writing("FOR KEY SHARE", lambda: other.entities.merge(ana.id, anita.id))
    agent.graph.add_observations([EntityObservations(entity_name="Ana", contents=("likes trams",))])
    assert [(each.subject, each.entity_id) for each in agent.facts()] == [("Anita", anita.id)]


def test_nothing_is_observed_of_somebody_who_is_removed_meanwhile(agent, other, store):
    other.graph.create_entities([GraphEntity(name="Ana", entity_type="person")])
    store.before_writing("FOR KEY SHARE", lambda: other.graph.delete_entities(["Ana"]))
    with pytest.raises(NotFound, match="Ana not found"):
        agent.graph.add_observations([EntityObservations(entity_name="Ana", contents=("likes trams",))])
    assert agent.facts().items == ()


# Learning


TRIP = {"subject": "Ana", "predicate": "travels", "content": "to Porto by tram"}


def test_what_says_the_same_as_a_fact_that_is_forgotten_meanwhile_is_saved(agent, other, store):
    known = other.remember(TRIP["content"], subject="Ana", predicate="travels", scope="aide")
    store.before_writing("FOR NO KEY UPDATE", lambda: other.forget(known.id))
    saved = agent.consolidation.save_facts([TRIP])
    assert saved.confirmed == ()
    assert [each.id for each in agent.facts("Ana")] == [saved.saved[0].id]


def test_what_somebody_states_meanwhile_is_confirmed(agent, other, store):
    """Whoever states the same waits for its place: what is there once it is ours was stated before."""
    stated = []
    store.before_writing(
        "pg_advisory_xact_lock",
        lambda: stated.append(other.remember(TRIP["content"], subject="Ana", predicate="travels", scope="aide")),
    )
    saved = agent.consolidation.save_facts([TRIP])
    assert (saved.saved, saved.confirmed) == ((), (stated[0].id,))


def test_facts_whose_source_is_erased_right_afterwards_stay_without_it(agent, other, store):
    said = other.observe("I go to Porto by tram")
    store.after("save", lambda: other.erase(said.id))
    trip = {**TRIP, "source_ids": [said.id]}
    [saved] = agent.consolidation.save_facts([trip, {**trip, "predicate": "goes"}]).saved[:1]
    assert agent.get(saved.id).source_episode_id is None
    assert {each.id for each in agent.facts("Ana")} >= {saved.id}
    assert agent.links(saved.id) == []


def test_facts_whose_source_is_erased_meanwhile_are_not_saved(agent, other, store):
    said = other.observe("I go to Porto by tram")
    store.before_writing("FOR KEY SHARE", lambda: other.erase(said.id))
    with pytest.raises(NotFound, match="nothing was saved"):
        agent.consolidation.save_facts([{**TRIP, "source_ids": [said.id]}])
    assert agent.facts("Ana").items == ()


def test_what_is_learned_while_its_source_is_erased_with_all_that_was_learned_goes_too(agent, other, store):
    said = other.observe("The vault opens with 4711")
    learned = []
    store.before_writing(
        "FOR UPDATE",
        lambda: learned.append(other.remember("4711", subject="vault", predicate="code", source_episode_id=said.id)),
    )
    report = agent.erase(said.id, cascade="seen")
    assert set(report.ids) == {said.id, learned[0].id}
    assert (report.derived, agent.facts("vault").items, store.are_done) == ((), (), True)


def test_a_batch_whose_fact_was_erased_is_saved_again_without_it(agent):
    trip = {**TRIP, "source_ids": [agent.observe("By tram").id]}
    [saved] = agent.consolidation.save_facts([trip]).saved
    agent.erase(saved.id)
    assert agent.consolidation.save_facts([trip]).saved == ()


def test_what_somebody_states_while_a_batch_is_written_is_confirmed(memory, other, store):
    [said] = [other.observe("I live in the old town of Lisbon.", speaker="Ana")]
    llm = LLM([reply(fact("Ana", "lives in", "the old town of Lisbon", "I live in the old town of Lisbon"))])
    stated = []
    there = {"subject": "Ana", "predicate": "lives in", "scope": "aide"}
    store.before_writing(
        "pg_advisory_xact_lock", lambda: stated.append(other.remember("the old town of Lisbon", **there))
    )
    backlogs = memory.parts.store.inspect(None, list_backlogs, memory.parts.clock())
    done = consolidate(consolidation_runs.dependencies_of(memory.parts, llm), backlogs, ConsolidationOptions())
    assert [(change.kind, change.memory_id) for change in done.learned] == [("confirmation", stated[0].id)]
    assert [each.id for each in other.facts("Ana")] == [stated[0].id]
    assert other.get(said.id).consolidation_status == "consolidated"


def test_a_session_is_marked_though_another_run_ends_meanwhile(memories, agent, other, store):
    other.observe("Of another day.", session="yesterday")
    other.observe("Of today.", session="today")
    parts = memories[1].parts
    claim = Claim(kind="consolidation", worker="theirs", lease_s=60, sessions=("yesterday",), limit=9)
    runs, is_file = [], isinstance(parts.store.backend, SqliteBackend)

    def begin():
        runs.append(parts.store.write(new_act(parts, other.caller), claim_run, claim).run)
        if is_file:
            end()
        else:  # when our claim, which came too late, is made again
            store.before_writing("FROM runs", end)

    def end():
        parts.store.write(new_act(parts, other.caller), give_up, runs[0].id, "no answer", Retry())

    store.before_writing("INSERT INTO runs", begin)
    assert agent.consolidation.mark_session("today") == 1
    assert agent.consolidation.is_session_consolidated("today")


def test_a_turn_is_claimed_once_though_another_run_learns_from_it_meanwhile(memories, agent, other, store):
    said = other.observe("Of today.", session="today")
    ours, theirs = (memory.parts for memory in memories)
    claim = Claim(kind="consolidation", worker="theirs", lease_s=60, limit=9)

    def learn():
        run = theirs.store.write(new_act(theirs, other.caller), claim_run, claim).run
        plan = Plan(actions=(), episode_ids=run.episode_ids)
        assert theirs.store.write(new_act(theirs, other.caller), carry_out, run.id, plan, {}) == []

    store.before_writing("ORDER BY id FOR NO KEY UPDATE", learn)  # when ours has found the turn
    assert ours.store.write(new_act(ours, agent.caller), claim_run, replace(claim, worker="ours")) is None
    assert other.get(said.id).consolidation_status == "consolidated"


def test_a_session_is_not_marked_while_another_run_goes_on(memories, agent, other):
    other.observe("Of another day.", session="yesterday")
    other.observe("Of today.", session="today")
    parts = memories[1].parts
    claim = Claim(kind="consolidation", worker="theirs", lease_s=60, sessions=("yesterday",), limit=9)
    parts.store.write(new_act(parts, other.caller), claim_run, claim)
    with pytest.raises(InvalidInput, match="is being consolidated just now"):
        agent.consolidation.mark_session("today")


def test_a_reflection_that_is_erased_at_once_was_made(memory, other, store):
    for number in range(5):
        other.remember(f"the tram number {number}", subject="Ana", predicate=f"takes {number}", scope="aide")

    def erase():
        other.erase([each.id for each in other.facts("aide")])

    store.after("_carry_out", erase)
    [made] = memory.reflect(agent="aide", force=True).agents
    assert (made.outcome, other.get(made.reflection.id)) == ("reflected", None)
