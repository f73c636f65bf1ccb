"""End users of one memory: what is said with one is seen with that one alone, by every agent that acts for them."""

import gc
import hashlib
import json

import pytest

from engrain import InvalidInput, Memory, NotFound
from engrain.domain.access.scopes import audience_of, user_of, user_scope
from engrain.domain.events import digest_memory
from engrain.domain.records import Episode
from engrain.errors import Unauthenticated
from tests.support.clock import Clock
from tests.support.learning_memories import LLM, fact, reply
from tests.support.users import live, rows_of

NAMES = ("ana", "bob", "ana/assistant", "ana%2Fassistant", "%", "/", "user:ana", "ana@example.com", "Zoë", "x" * 512)


@pytest.fixture
def memory(location):
    with Memory.open(location, embedder="none") as memory:
        yield memory


@pytest.fixture
def ana(memory):
    return memory.agent("assistant", user="ana")


@pytest.fixture
def bob(memory):
    return memory.agent("assistant", user="bob")


def contents(agent):
    return {record.content for record in agent.list(include_inactive=True)}


def test_a_scope_names_its_audience_and_its_user():
    for user in NAMES:
        for audience in ("global", "assistant", "pool:team", "a/b", "%2F"):
            scope = user_scope(user, audience)
            assert (user_of(scope), audience_of(scope)) == (user, audience)
    assert len({user_scope(user, audience) for user in NAMES for audience in ("global", "assistant")}) == 2 * len(NAMES)


def test_what_is_said_with_one_user_is_seen_with_that_user_alone(memory, ana, bob):
    nobody, other = memory.agent("assistant"), memory.agent("billing", user="ana")
    secret = ana.remember("HIV positive", subject="user", predicate="health")
    ana.observe("I like jazz.", session="monday")
    ana.notes.save("drink", "tea")
    bob.observe("I like the oboe.", session="monday")
    ana.remember("Lisbon", subject="user", predicate="lives in", scope="user")
    ana.remember("Berlin", subject="the office", predicate="is in", scope="global")
    everybodys = {"Berlin"}
    assert contents(ana) == {"HIV positive", "I like jazz.", "tea", "Lisbon", *everybodys}
    assert contents(bob) == {"I like the oboe.", *everybodys}
    assert contents(nobody) == everybodys
    assert contents(other) == {"Lisbon", *everybodys}
    assert (secret.scope, secret.user_id) == ("user:ana/assistant", "ana")
    for stranger in (bob, nobody, other):
        assert "HIV" not in str(stranger.context("health HIV positive"))
        assert stranger.get(secret.id) is None
        assert stranger.history(secret.id) == []
        assert "HIV" not in str([event.to_dict() for event in stranger.events(limit=1000)])
        with pytest.raises(NotFound):
            stranger.forget(secret.id)
        assert not stranger.erase([secret.id])
    assert ana.get(secret.id).content == "HIV positive"
    assert [hit.memory.content for hit in bob.recall("What do I like?", kinds=["episode"])] == ["I like the oboe."]


def test_what_a_user_says_of_themselves_is_of_that_user(memory, ana):
    ana.remember("I am allergic to peanuts")
    ana.remember("The office closes at six.")
    ana.remember("I answer in Spanish.", scope="global")
    memory.agent("assistant").remember("My answers are short.")
    assert [fact.content for fact in ana.facts("user").items] == ["I am allergic to peanuts"]
    assert {fact.content for fact in ana.facts("assistant").items} == {
        "The office closes at six.",
        "I answer in Spanish.",
        "My answers are short.",
    }


def test_what_every_agent_sees_of_a_user_is_read_by_the_name_it_is_written_by(memory, ana, bob):
    shared = ana.remember("allergic to nuts", scope="user")
    ana.remember("afraid of dogs")
    found = ana.recall("allergic afraid", scope="user", preset="keyword")
    assert [hit.memory.id for hit in found] == [shared.id]
    assert (ana.stats(scope="user").facts.active, bob.stats(scope="user").facts.active) == (1, 0)
    with pytest.raises(InvalidInput, match="scope 'user' is unknown"):
        memory.agent("aide").recall("allergic", scope="user")


@pytest.mark.parametrize(("one", "another"), [("ana", "ana/assistant"), ("a%2Fb", "a/b"), ("ana", "Ana")])
def test_users_whose_names_look_alike_are_apart(memory, one, another):
    for user in (one, another):
        memory.agent("assistant", user=user).observe(f"I am {user}.")
        memory.agent("assistant", user=user).remember(f"known to {user}", scope="user")
    for user in (one, another):
        assert contents(memory.agent("assistant", user=user)) == {f"I am {user}.", f"known to {user}"}
    assert [counts.user_id for counts in memory.users()] == sorted((one, another))


def test_the_same_slot_session_and_idempotency_key_are_each_users_own(ana, bob):
    where = {"subject": "user", "predicate": "lives in", "idempotency_key": "home"}
    homes = [agent.remember(home, **where) for agent, home in ((ana, "Lisbon"), (bob, "Porto"))]
    turns = [agent.observe("Hello.", session="s", idempotency_key="first") for agent in (ana, bob)]
    assert [ana.get(homes[0].id).validity, bob.get(homes[1].id).validity] == ["active", "active"]
    assert [turn.turn for turn in turns] == [1, 1]
    assert turns[0].id != turns[1].id
    moved = ana.remember("Madrid", subject="user", predicate="lives in")
    assert (ana.get(homes[0].id).validity, moved.supersedes_id) == ("superseded", homes[0].id)
    assert bob.get(homes[1].id).validity == "active"


def test_each_user_has_a_registry_beside_that_of_the_tenant(memory, ana, bob):
    lisbon = memory.agent("assistant").entities.create("Lisbon", "place")
    carla = ana.entities.create("Carla", "person", aliases=["my doctor"])
    bobs = bob.entities.create("Carla", "person")
    assert {entity.id for entity in ana.entities.find()} == {lisbon.id, carla.id}
    assert {entity.id for entity in bob.entities.find()} == {lisbon.id, bobs.id}
    assert [match.entity.id for match in bob.entities.resolve("my doctor")] == []
    assert bob.entities.get(carla.id) is None
    pages = [ana.entities.find(limit=1)]
    while pages[-1].next:
        pages.append(ana.entities.find(limit=1, after=pages[-1].next))
    assert [entity.id for page in pages for entity in page] == [carla.id, lisbon.id]
    with pytest.raises(InvalidInput, match="does not exist"):
        bob.remember("x", subject="Carla", predicate="is", entity_id=carla.id)
    with pytest.raises(InvalidInput, match="does not exist"):
        ana.remember("x", subject="Carla", predicate="is", entity_id=carla.id, scope="global")
    with pytest.raises(InvalidInput, match="everybody's"):
        ana.entities.update(lisbon.id, aliases=["where Ana lives"])
    with pytest.raises(InvalidInput, match="does not exist"):
        bob.entities.merge(carla.id, bobs.id)


def test_an_entity_of_another_user_is_refused_in_the_words_of_one_that_is_not_there(memory, ana, bob):
    carla, bobs = ana.entities.create("Carla"), bob.entities.create("Carla")
    ana.entities.merge(ana.entities.create("Karla").id, carla.id)
    nowhere = carla.id[:-1] + ("1" if carla.id[-1] == "0" else "0")
    for agent in (bob, memory.agent("assistant")):
        for ask in (
            lambda id_, agent=agent: agent.entities.update(id_, name="Clara"),
            lambda id_, agent=agent: agent.entities.merge(id_, bobs.id),
            lambda id_, agent=agent: agent.entities.unmerge(id_),
        ):
            refusals = []
            for id_ in (carla.id, nowhere):
                with pytest.raises((NotFound, InvalidInput)) as refused:
                    ask(id_)
                refusals.append((refused.type, str(refused.value).replace(id_, "ID")))
            assert refusals[0] == refusals[1]


def test_a_user_puts_no_words_into_what_everybody_sees(memory, ana):
    nobody = memory.agent("assistant")
    office = nobody.remember("Berlin", subject="the office", predicate="is in")
    rule = nobody.rules.add("Offer tea.")
    with pytest.raises(InvalidInput, match=f"fact {office.id} is everybody's"):
        ana.correct(office.id, "near my flat in Lisbon")
    with pytest.raises(InvalidInput, match=f"rule {rule.id} is everybody's"):
        ana.rules.mark_harmful(rule.id, "I am allergic")
    assert ana.rules.mark_helpful(rule.id).success_count == 1


def test_one_bound_to_a_user_changes_nothing_that_others_see(memory):
    office = memory.agent("assistant").remember("Berlin", subject="the office", predicate="is in")
    bound = memory.agent("assistant", user="ana", is_user_bound=True)
    for change in (
        lambda: bound.remember("x", scope="global"),
        lambda: bound.rules.add("x", scope="global"),
        lambda: bound.forget(office.id),
        lambda: bound.erase([office.id]),
        lambda: bound.confirm(office.id),
    ):
        with pytest.raises(InvalidInput, match="'ana'"):
            change()
    assert bound.remember("tea", scope="user").scope == "user:ana"
    assert contents(memory.agent("assistant")) == {"Berlin"}
    with pytest.raises(InvalidInput, match="needs a user"):
        memory.agent("assistant", is_user_bound=True)


def test_one_bound_to_a_user_makes_changes_and_deletes_no_pool(memory, ana):
    ana.pools.create("team", ["billing"])
    pools = memory.agent("assistant", user="bob", is_user_bound=True).pools
    before = ana.pools.list(), ana.events()
    for change in (
        lambda: pools.create("other", metadata={"about": "me"}),
        lambda: pools.create("team"),
        lambda: pools.add("team", "spy"),
        lambda: pools.add("nowhere", "spy"),
        lambda: pools.remove("team", "billing"),
        lambda: pools.delete("team"),
    ):
        with pytest.raises(InvalidInput, match="everybody's, and this caller is bound to user 'bob'"):
            change()
    assert (ana.pools.list(), ana.events()) == before
    assert pools.list() == before[0]


def test_a_pool_holds_what_is_of_a_user_for_that_user(memory, ana, bob):
    ana.pools.create("team", ["billing"])
    ana.remember("gold", subject="user", predicate="plan", scope="pool:team")
    memory.agent("assistant").remember("open until 22:00", subject="desk", predicate="is", scope="pool:team")
    assert contents(memory.agent("billing", user="ana")) == {"gold", "open until 22:00"}
    assert contents(memory.agent("billing", user="bob")) == contents(bob) == {"open until 22:00"}
    assert {hit.memory.content for hit in ana.pools.query("team", "gold plan")} >= {"gold"}
    synced = memory.agent("billing", user="ana").pools.sync_to_agent("team")
    assert len(synced.copied) == 2
    assert contents(memory.agent("billing")) == {"open until 22:00"}


@pytest.mark.parametrize(
    ("user", "why"), [("", "user is empty"), ("x" * 513, "the most is 512"), (7, "user must be text")]
)
def test_a_user_has_a_name(memory, user, why):
    with pytest.raises(InvalidInput, match=why):
        memory.agent("assistant", user=user)


@pytest.mark.parametrize("padded", [" ana", "ana\n", "ana\xa0", "ana\x00", "\ud800"])
def test_nobody_is_cleaned_to_another(memory, ana, padded):
    ana.observe("My PIN is 4711.")
    for identity in ({"user": padded}, {"name": padded}, {"tenant": padded}):
        with pytest.raises(InvalidInput, match="has a blank at an end, a NUL or a lone surrogate"):
            memory.agent(**identity)
    for named in (
        lambda: memory.erase_user(padded),
        lambda: memory.keys.create(role="reader", user=padded),
        lambda: memory.keys.create(role="reader", tenant=padded),
    ):
        with pytest.raises(InvalidInput, match="has a blank at an end, a NUL or a lone surrogate"):
            named()
    assert contents(ana) == {"My PIN is 4711."}


@pytest.mark.parametrize("name", ["user:ana", "user:ana/assistant", "user:"])
def test_no_agent_is_called_as_a_scope_of_a_user(memory, name):
    with pytest.raises(InvalidInput, match="is the name of a scope"):
        memory.agent(name)
    with pytest.raises(InvalidInput, match="scope"):
        memory.agent("assistant", user="bob").remember("x", scope="user:ana/assistant")


def test_each_user_is_learned_from_apart(location):
    learned = [reply(fact("user", "lives in", city, f"I live in {city}")) for city in ("Lisbon", "Porto")]
    with Memory.open(location, embedder="none", llm=LLM(learned)) as memory:
        for user, city in (("ana", "Lisbon"), ("bob", "Porto")):
            memory.agent("assistant", user=user).observe(f"I live in {city}.", session="s")
        report = memory.consolidate()
        assert report.failures == ()
        for user, city, other in (("ana", "Lisbon", "Porto"), ("bob", "Porto", "Lisbon")):
            agent = memory.agent("assistant", user=user)
            [known] = agent.facts(subject="user")
            assert (known.content, known.scope) == (city, f"user:{user}/assistant")
            assert other not in str(agent.context("Where do I live?"))
            [run] = memory.runs("assistant", user=user)
            assert run.user_id == user
        assert memory.runs("assistant").items == ()
        assert contents(memory.agent("assistant")) == set()
        assert run.id in report.run_ids
        for run_id in report.run_ids:
            with pytest.raises(NotFound, match=r"learned from what user '(ana|bob)' said; name the user"):
                memory.undo(run_id, agent="assistant")
        for whose in ({"agent": "assistant", "user": "ana"}, {"agent": "billing"}, {"tenant": "acme"}):
            with pytest.raises(NotFound, match=f"has no run {run.id}") as refused:
                memory.undo(run.id, **whose)
            assert "bob" not in str(refused.value)
        memory.undo(run.id, agent="assistant", user="bob")
        assert [fact.content for fact in memory.agent("assistant", user="ana").facts(subject="user")] == ["Lisbon"]


def test_working_memory_and_notes_are_each_users_own(memory):
    for user in ("ana", "bob", None):
        agent = memory.agent("assistant", user=user, session="s")
        agent.notes.save("drink", f"tea with {user}")
        agent.working.append(f"said by {user}")
    for user in ("ana", "bob", None):
        agent = memory.agent("assistant", user=user, session="s")
        assert agent.notes.recall("drink").content == f"tea with {user}"
        assert [message.content for message in agent.working.messages()] == [f"said by {user}"]


def test_users_are_listed_with_what_they_have(memory, ana, bob):
    ana.observe("Hello.")
    ana.remember("tea", subject="user", predicate="likes")
    forgotten = bob.observe("Hello.")
    bob.forget(forgotten.id)
    memory.agent("assistant", user="eve", tenant="elsewhere").observe("Hello.")
    counts = [(row.tenant_id, row.user_id, row.episodes, row.facts) for row in memory.users()]
    assert counts == [("default", "ana", 1, 1), ("default", "bob", 0, 0), ("elsewhere", "eve", 1, 0)]
    assert [row.user_id for row in memory.users("default", limit=1)] == ["ana"]


def test_what_is_tidied_for_a_tenant_is_tidied_for_its_users(location):
    """Under row-level security too, which shows a caller without a user no user's rows."""
    clock = Clock()
    with Memory.open(location, embedder="none", clock=clock) as memory:
        ana = memory.agent("assistant", user="ana")
        source = memory.agent("assistant").observe("The office moved.", ttl_days=1)
        ana.remember(
            "Berlin", subject="the office", predicate="is in", source_episode_id=source.id, permanence="ephemeral"
        )
        ana.observe("Bye.", ttl_days=1)
        clock.pass_time(days=20)
        assert memory.cleanup().expired_deleted == 2
        assert memory.decay().facts.fading == 1
        [kept] = ana.facts(subject="the office")
        assert (kept.source_episode_id, kept.state) == (None, "fading")


def test_erasing_a_user_leaves_nothing_but_what_says_so(memory):
    live(memory)
    before = rows_of(memory, "bob")
    planned = memory.erase_user("ana", dry_run=True)
    assert (planned.dry_run, rows_of(memory, "ana").keys()) == (True, before.keys())
    erasure = memory.erase_user("ana")
    assert set(rows_of(memory, "ana")) == {"namespaces", "tombstones", "memory_events"}
    assert rows_of(memory, "bob") == before
    assert (planned.tables, planned.sha256) == (erasure.tables, erasure.sha256)
    counts = {part.table: part.rows for part in erasure.tables}
    assert counts == {
        "episodes": 2,
        "facts": 6,
        "rules": 2,
        "entities": 2,
        "log_sessions": 2,
        "items": 2,
        "access_keys": 1,
    }
    assert all(len(part.ids) == part.rows for part in erasure.tables)
    assert [row.user_id for row in memory.users()] == ["bob"]
    for name in ("assistant", "billing"):
        agent = memory.agent(name, user="ana", session="s")
        assert contents(agent) == ({"Nobody told a secret."} if name == "assistant" else set())
        assert agent.entities.find().items == ()
        assert agent.notes.recall("secret") is None
        assert list(agent.working.messages()) == []
        told = str([event.to_dict() for event in agent.events(limit=1000)])
        assert "secret" not in told
        assert "Carla" not in told
    [event] = memory.agent("assistant", user="ana").events(event_type="user_erased")
    assert (event.payload["rows"], event.payload["sha256"]) == (counts, erasure.sha256)
    assert memory.health(thorough=True).problems == ()
    again = memory.erase_user("ana")
    assert (again.tables, again.copies) == ((), ())


@pytest.mark.parametrize(
    ("misspelt", "hint"), [("Ana", "did you mean 'ana'"), ("anna", "'ana'"), ("xyz", "users lists")]
)
def test_a_user_whom_nobody_knows_is_an_error_and_no_file(memory, ana, tmp_path, misspelt, hint):
    ana.observe("I like jazz.")
    memory.agent("assistant", user=misspelt, tenant="acme").observe("I am of another tenant.")
    for call in (
        lambda: memory.erase_user(misspelt),
        lambda: memory.erase_user(misspelt, dry_run=True),
        lambda: memory.export_user(misspelt, tmp_path / "out"),
        lambda: memory.backup(tmp_path / "out", user=misspelt),
    ):
        with pytest.raises(NotFound, match=f"tenant default knows no user '{misspelt}'; .*{hint}"):
            call()
    with pytest.raises(NotFound, match="nothing of agent billing, of user ana of tenant default, to back up"):
        memory.backup(tmp_path / "out", user="ana", agent="billing")
    assert not (tmp_path / "out").exists()
    assert contents(ana) == {"I like jazz."}
    assert memory.agent("assistant").events(event_type="user_erased").items == ()


@pytest.mark.parametrize(
    "begin",
    [
        lambda _, agent: agent.entities.create("Carla", "person"),
        lambda memory, _: memory.keys.create(role="writer", user="ana"),
        lambda _, agent: agent.log("chat").append([{"said": 1}], session="s"),
        lambda _, agent: agent.store("s").put("k", {}),
        lambda _, agent: agent.working.append("only in this process"),
        lambda _, agent: agent.erase([agent.observe("I like jazz.").id]),
    ],
    ids=["entity", "key", "log", "item", "working memory", "what is gone"],
)
def test_a_user_is_known_by_anything_that_there_is_or_was_of_them(memory, ana, tmp_path, begin):
    begin(memory, ana)
    memory.export_user("ana", tmp_path / "ana.jsonl")
    memory.backup(tmp_path / "ana.backup", user="ana")
    assert memory.erase_user("ana", dry_run=True).dry_run
    for _ in range(2):
        memory.erase_user("ana")
    assert list(ana.working.messages()) == []


def test_the_proof_of_an_erasure_is_a_hash_of_what_was_there(memory, ana):
    kept = ana.remember("tea", subject="user", predicate="likes")
    line = f"facts {kept.id} {digest_memory(kept)}\n"
    assert memory.erase_user("ana").sha256 == hashlib.sha256(line.encode()).hexdigest()
    assert memory.erase_user("ana").sha256 == hashlib.sha256(b"").hexdigest()


@pytest.mark.parametrize("user", ["ana", None])
def test_an_erasure_holds_a_few_hundred_memories_at_a_time(location, tmp_path, user):
    """What goes with one batch, such as the source of a fact of the next, changes nothing of the proof."""
    held = []

    def count_episodes():
        return sum(type(one) is Episode for one in gc.get_objects())

    def count(phase, about):
        if phase == "start" and about["generation"] > 0:
            held.append(count_episodes() - others)

    file = tmp_path / "turns.jsonl"
    file.write_text("".join(json.dumps({"id": str(n), "content": f"Turn {n}."}) + "\n" for n in range(1_600)))
    with Memory.open(location, embedder="none") as memory:
        agent = memory.agent("assistant", user=user)
        agent.import_file(file)
        source = agent.episodes(limit=1)[0].id
        fact = agent.remember("Lisbon", subject="Ana", predicate="lives in", source_episode_id=source)

        def erase(*, dry_run):
            if user is None:
                return memory.erase_tenant("default", agent="assistant", dry_run=dry_run)
            return memory.erase_user(user, dry_run=dry_run)

        planned = erase(dry_run=True)
        gc.collect()
        others = count_episodes()  # of tests before it in the same process
        thresholds, is_on = gc.get_threshold(), gc.isenabled()
        gc.set_threshold(1_000, 5)
        gc.enable()
        thresholds, is_on = gc.get_threshold(), gc.isenabled()
        gc.set_threshold(1_000, 5)
        gc.enable()
        gc.callbacks.append(count)
        try:
            assert erase(dry_run=False).sha256 == planned.sha256
        finally:
            gc.callbacks.remove(count)
            gc.set_threshold(*thresholds)
            if not is_on:
                gc.disable()
            gc.set_threshold(*thresholds)
            _ = is_on or gc.disable()
        assert 0 < max(held) <= 1_000, "a batch, and the one before it"
        digest = "SELECT digest FROM tombstones WHERE id = :id"
        [(left,)] = memory.parts.store.inspect(None, lambda tx: tx.ask(digest, {"id": fact.id}))
        assert left == digest_memory(fact)


def test_copies_that_others_made_are_named(memory, ana):
    secret = ana.remember("the plan is gold", subject="user", predicate="plan", scope="user")
    public = ana.remember("users like gold", subject="users", predicate="like", scope="global")
    ana.link(public.id, secret.id, "derived_from")
    assert memory.erase_user("ana").copies == (public.id,)
    assert memory.agent("assistant").get(public.id) is not None


def test_a_users_key_opens_nothing_once_the_user_is_erased(memory):
    created = memory.keys.create(role="writer", user="ana")
    assert memory.keys.authenticate(created.secret).user_id == "ana"
    assert [key.id for key in memory.keys.list(user="ana")] == [created.key.id]
    memory.erase_user("ana")
    with pytest.raises(Unauthenticated):
        memory.keys.authenticate(created.secret)


def test_an_export_of_a_user_is_read_back_for_that_user_alone(memory, tmp_path):
    live(memory)
    report = memory.export_user("ana", tmp_path / "ana.jsonl")
    text = (tmp_path / "ana.jsonl").read_text()
    events = report.kinds["event"]
    memories = {"entity": 2, "episode": 2, "fact": 4, "item": 2, "log": 2, "note": 2, "rule": 2}
    assert report.kinds == {**memories, "link": 2, "event": events}
    lines = [json.loads(line) for line in text.splitlines()]
    ids = {line["id"] for line in lines if line["kind"] in {"episode", "fact", "rule"}}
    told = [line for line in lines if line["kind"] == "event"]
    assert events == len(told) == rows_of(memory, "ana")["memory_events"]
    assert ids <= {line["memory_id"] for line in told}
    links = [line for line in lines if line["kind"] == "link"]
    assert {line["relation"] for line in links} == {"derived_from"}
    assert {line[end] for line in links for end in ("source_id", "target_id")} <= ids
    assert "bob" not in text
    assert "Nobody" not in text
    memory.export(tmp_path / "agent.jsonl", agent="assistant")
    assert "secret of" not in (tmp_path / "agent.jsonl").read_text()
    elsewhere = {"tenant": "elsewhere"}
    refused = memory.agent("assistant", user="bob", **elsewhere).import_file(tmp_path / "ana.jsonl")
    assert (refused.broken_count, refused.other_agents) == (9, {"billing": 7})
    assert "acts for this user" in refused.broken[0].reason
    ana = memory.agent("assistant", user="ana", **elsewhere)
    for importer in (ana, memory.agent("assistant", tenant="third")):  # which acts for nobody, and so for each
        assert importer.import_file(tmp_path / "ana.jsonl").broken == ()
    assert "secret of ana" in contents(ana)
    assert contents(ana) == contents(memory.agent("assistant", user="ana", tenant="third"))
    for tenant in ("elsewhere", "third"):
        assert contents(memory.agent("assistant", tenant=tenant)) == set()
        assert memory.agent("assistant", tenant=tenant).entities.find().items == ()


def test_an_export_of_a_user_goes_back_to_the_agents_that_it_was_of(memory, tmp_path):
    def state(tenant, name):
        agent = memory.agent(name, user="ana", tenant=tenant)
        facts = sorted((fact.content, fact.state, fact.scope) for fact in agent.list("fact", include_inactive=True))
        entries = [entry.entry for entry in agent.log("chat").read(session="s")]
        turns = [turn.content for turn in agent.episodes(session="s")]
        return facts, entries, turns, agent.store("prefs").get("prefs").value, agent.notes.recall("list").content

    names = ("cook", "assistant")
    for name in names:
        agent = memory.agent(name, user="ana")
        agent.store("prefs").put("prefs", {"by": name})
        agent.log("chat").append([{"by": name}], session="s")
        agent.remember(f"tea of {name}", subject="Ana", predicate="home")
        agent.observe(f"Hello {name}", session="s")
        agent.notes.save("list", name)
    memory.agent("cook", user="ana").remember("Lisbon", subject="Ana", predicate="lives in", scope="user")
    file = tmp_path / "ana.jsonl"
    memory.export_user("ana", file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {(line["agent"], line["scope"]) for line in lines if line["kind"] not in {"link", "event"}} == {
        ("cook", "cook"),
        ("cook", "global"),
        ("assistant", "assistant"),
    }
    for name, own, others in (("assistant", 5, {"cook": 6}), ("cook", 6, {"assistant": 5})):
        agent = memory.agent(name, user="ana", tenant="elsewhere")
        report = agent.import_file(file)
        assert (report.added, report.present, report.broken, report.other_agents) == (own, 0, (), others)
        assert (agent.import_file(file).added, agent.import_file(file).present) == (0, own)
    for name in names:
        assert state("elsewhere", name) == state("default", name)


def test_of_very_many_other_agents_a_hundred_are_named(memory, tmp_path):
    file = tmp_path / "a.jsonl"
    lines = [{"kind": "episode", "content": "x", "agent": f"agent {number}"} for number in range(300)]
    file.write_text("\n".join(map(json.dumps, lines)))
    report = memory.agent("assistant").import_file(file)
    assert (report.added, len(report.other_agents)) == (0, 100)


@pytest.mark.parametrize(
    ("format_", "records"),
    [
        (
            "mem0",
            [
                {"id": "1", "memory": "likes tea", "user_id": "ana"},
                {"id": "2", "memory": "likes wine", "user_id": "bob"},
                {"id": "3", "memory": "drinks rum", "user_id": "ana"},
                {"id": "4", "memory": "is open", "agent_id": "desk"},
                {"id": "5", "memory": "is nobody's", "user_id": "x" * 513},
            ],
        ),
        (
            "langgraph",
            [
                {"namespace": ["memories", "ana"], "key": "1", "value": {"content": "likes tea"}},
                {"namespace": ["bob", "memories"], "key": "2", "value": {"content": "likes wine"}},
                {"namespace": ["users", "ana", "drinks"], "key": "3", "value": {"content": "drinks rum"}},
                {"namespace": ["desk"], "key": "4", "value": {"content": "is open"}},
                {"namespace": ["users", "x" * 513], "key": "5", "value": {"content": "is nobody's"}},
            ],
        ),
    ],
)
def test_memories_of_other_systems_become_their_users(memory, tmp_path, format_, records):
    path = tmp_path / "memories.json"
    path.write_text(json.dumps(records))
    nobody = memory.agent("assistant")
    report = nobody.import_file(path, format=format_)
    assert (report.added, report.broken_count) == (4, 1)
    assert contents(nobody) == {"is open"}
    assert contents(memory.agent("assistant", user="ana")) == {"likes tea", "drinks rum", "is open"}
    assert contents(memory.agent("assistant", user="bob")) == {"likes wine", "is open"}
    assert nobody.import_file(path, format=format_).added == 0
