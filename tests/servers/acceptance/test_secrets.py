"""Secrets in texts: masked, refused or kept as they are written, by every way in."""

import json

import pytest

from engrain import InvalidInput, Memory, metrics
from engrain.domain.entities.graph import EntityObservations, GraphEntity, GraphRelation
from tests.support.clock import Clock

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
KEY = "8f3a1c9e7b2d4f6a8c0e1b3d"
TEXT, MASKED = f"push with {TOKEN} please", "push with ******** please"


@pytest.fixture
def opened(location):
    memories = []

    def open_memory(**privacy):
        memories.append(Memory.open(location, embedder="none", clock=Clock(), settings={"privacy": privacy}))
        return memories[-1].agent("aide", session="now")

    yield open_memory
    for memory in memories:
        memory.close()


def write_everywhere(agent, tmp_path):
    agent.observe(TEXT)
    agent.hooks.message(TEXT)
    agent.rules.add(TEXT)
    agent.notes.save("push", TEXT)
    fact = agent.remember("nothing", subject="user", predicate="pushes")
    agent.correct(fact.id, TEXT)
    path = tmp_path / "chat.jsonl"
    line = {"session": "before", "role": "user", "content": TEXT, "time": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return agent.import_file(path)


def write_in_every_field(agent, tmp_path):
    """Write the token wherever a person or a model words something freely."""
    calls, metadata = [{"input": {"command": TEXT}}], {"why": [TEXT], TOKEN: 1}
    agent.observe("A turn", model=f"mine {TOKEN}", tool_calls=calls, metadata=metadata)
    agent.hooks.message("Another", tool_calls=calls, metadata=metadata)
    agent.add([{"role": "user", "content": TEXT}], metadata=metadata)
    about = {"subject": f"Ana {TOKEN}", "predicate": f"pushes {TOKEN}", "source": TEXT, "metadata": metadata}
    fact = agent.remember("often", **about)
    agent.correct(fact.id, "rarely", source=TEXT, metadata=metadata)
    agent.remember("8f3a1c9e7b2d4f6a8c0e", subject="stripe", predicate="api key")
    rule = agent.rules.add("Push late", metadata=metadata)
    for _ in range(4):
        agent.rules.mark_harmful(rule.id, TEXT)
    agent.notes.save(f"key {TOKEN}", "a note")
    entity = agent.entities.create(f"Ben {TOKEN}", aliases=[TOKEN], metadata=metadata)
    agent.entities.update(entity.id, name=f"Cid {TOKEN}", aliases=[f"C {TOKEN}"], metadata=metadata)
    agent.graph.create_entities([GraphEntity(name=f"shop {TOKEN}", entity_type=TEXT, observations=(TEXT,))])
    agent.graph.add_observations([EntityObservations(entity_name=f"shop {TOKEN}", contents=(TEXT, f"new {TOKEN}"))])
    agent.graph.create_relations([GraphRelation(source=TOKEN, relation_type=f"uses {TOKEN}", target=f"key {TOKEN}")])
    saved = {"subject": f"Dora {TOKEN}", "predicate": f"holds {TOKEN}", "content": TEXT}
    agent.consolidation.save_facts([saved, {"subject": "aws", "predicate": "secret key", "content": KEY}])
    agent.pools.create("pool", metadata=metadata)
    (tmp_path / "notes.md").write_text(f"# {TOKEN}\n\n{TEXT}\n", encoding="utf-8")
    agent.import_file(tmp_path / "notes.md")
    lines = [
        {"session": "s", "role": "user", "content": "plain", "metadata": metadata},
        {"type": "entity", "name": f"Eva {TOKEN}", "entityType": "person", "observations": [TEXT]},
        {"type": "relation", "from": f"Eva {TOKEN}", "to": TOKEN, "relationType": "uses"},
    ]
    for number, line in enumerate(lines):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps(line) + "\n", encoding="utf-8")
        agent.import_file(path)


def written(agent):
    """All that the database has of an agent's tenant: memories, entities, events and pools."""
    exported = [memory.to_dict() for memory in agent.list(include_inactive=True, limit=1000)]
    entities = [entity.to_dict() for entity in agent.entities.find()]
    events = [event.to_dict() for event in agent.events(limit=1000)]
    return json.dumps([exported, entities, events, [pool.to_dict() for pool in agent.pools.list()]])


def contents(agent):
    return [memory.content for memory in agent.list(include_inactive=True) if memory.content != "nothing"]


def test_secrets_are_masked_by_default_however_they_come(opened, tmp_path):
    before = metrics.snapshot().get("secrets_masked", 0)
    agent = opened()
    write_everywhere(agent, tmp_path)
    assert contents(agent) == [MASKED] * 6
    assert metrics.snapshot()["secrets_masked"] == before + 5


def test_a_host_that_keeps_them_has_them_as_they_are(opened, tmp_path):
    agent = opened(secrets="keep")
    write_everywhere(agent, tmp_path)
    assert contents(agent) == [TEXT] * 6


def test_a_host_that_refuses_them_stores_nothing_and_says_why_without_the_secret(opened, tmp_path):
    agent = opened(secrets="refuse")
    for write in (agent.observe, agent.hooks.message, agent.remember, agent.rules.add):
        with pytest.raises(InvalidInput, match=r"holds a secret \(api key\)") as refused:
            write(TEXT)
        assert TOKEN not in str(refused.value)
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({"role": "user", "content": TEXT}) + "\n", encoding="utf-8")
    report = agent.import_file(path)
    assert (report.added, report.broken_count) == (0, 1)
    assert contents(agent) == []


def test_secrets_are_masked_in_every_field_that_is_worded_freely(opened, tmp_path):
    agent = opened()
    write_in_every_field(agent, tmp_path)
    everything = written(agent)
    assert TOKEN not in everything
    assert KEY[:20] not in everything
    assert agent.audit(kinds=["secret"]).findings == ()


def test_a_host_that_keeps_secrets_has_them_in_every_field_and_the_audit_finds_each(opened, tmp_path):
    agent = opened(secrets="keep")
    write_in_every_field(agent, tmp_path)
    live = [
        memory
        for memory in agent.list(limit=1000)
        if TOKEN in json.dumps(memory.to_dict()) or KEY[:20] in memory.content
    ]
    found = {finding.ids[0] for finding in agent.audit(kinds=["secret"]).findings}
    assert found == {memory.id for memory in live}
    assert len(found) > 12


def test_what_was_masked_is_found_by_the_name_that_was_given(opened):
    agent = opened()
    fact = agent.remember("often", subject=f"Ana {TOKEN}", predicate=f"pushes {TOKEN}")
    assert [one.id for one in agent.facts(f"Ana {TOKEN}", predicate=f"pushes {TOKEN}")] == [fact.id]
    assert [hit.memory.id for hit in agent.recall("often", subjects=[f"Ana {TOKEN}"])] == [fact.id]
    note = agent.notes.save(f"key {TOKEN}", "a note")
    assert agent.notes.recall(f"key {TOKEN}").id == note.id
    assert agent.notes.related(f"key {TOKEN}") == []
    assert agent.notes.forget(f"key {TOKEN}").id == note.id
    entity = agent.entities.create(f"Ben {TOKEN}")
    assert agent.entities.resolve(f"Ben {TOKEN}")[0].entity_id == entity.id
    assert agent.entities.profile(f"Ben {TOKEN}").entity.id == entity.id


def test_what_was_masked_is_known_to_the_graph_by_what_was_given(opened):
    graph = opened().graph
    node = GraphEntity(name=f"shop {TOKEN}", entity_type="project", observations=(TEXT,))
    relation = GraphRelation(source=f"shop {TOKEN}", relation_type="has api key:", target=KEY)
    observed = EntityObservations(entity_name=f"shop {TOKEN}", contents=(TEXT,))
    assert len(graph.create_entities([node])) == len(graph.create_relations([relation])) == 1
    assert graph.create_entities([node]) == graph.create_relations([relation]) == []
    assert graph.add_observations([observed])[0].contents == ()
    assert graph.open([f"shop {TOKEN}"]).relations[0].target == "********"
    assert graph.delete_relations([relation]) == graph.delete_observations([observed]) == 1
    assert graph.delete_entities([f"shop {TOKEN}"]) == ["shop ********"]


def test_an_imported_observation_is_one_after_it_was_masked(opened, tmp_path):
    agent = opened()
    line = {"type": "entity", "name": "shop", "entityType": "project", "observations": [TEXT]}
    (tmp_path / "graph.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    agent.import_file(tmp_path / "graph.jsonl")
    assert [node.observations for node in agent.graph.read().entities] == [(MASKED,)]


def test_a_host_that_refuses_secrets_refuses_them_in_every_field(opened):
    agent = opened(secrets="refuse")
    rule = agent.rules.add("Push late")
    entity = agent.entities.create("shop")
    for write in (
        lambda: agent.observe("A turn", tool_calls=[{"command": TEXT}]),
        lambda: agent.observe("A turn", metadata={"why": TEXT}),
        lambda: agent.remember("often", subject=TOKEN, predicate="pushes"),
        lambda: agent.remember("often", subject="Ana", predicate=TOKEN),
        lambda: agent.remember(KEY, subject="stripe", predicate="api key"),
        lambda: agent.rules.mark_harmful(rule.id, TEXT),
        lambda: agent.notes.save(TOKEN, "a note"),
        lambda: agent.entities.create(TOKEN),
        lambda: agent.entities.update(entity.id, aliases=[TOKEN]),
        lambda: agent.graph.create_entities([GraphEntity(name="x", entity_type="", observations=(TEXT,))]),
        lambda: agent.graph.create_relations([GraphRelation(source="x", relation_type="uses", target=TOKEN)]),
        lambda: agent.graph.add_observations([EntityObservations(entity_name="shop", contents=(TEXT,))]),
        lambda: agent.consolidation.save_facts([{"subject": "a", "predicate": "b", "content": TEXT}]),
    ):
        before = written(agent)
        with pytest.raises(InvalidInput, match=r"holds a secret \(api key\)") as refused:
            write()
        assert TOKEN not in str(refused.value)
        assert written(agent) == before
    assert agent.notes.recall(TOKEN) is None
    assert agent.graph.delete_observations([EntityObservations(entity_name="shop", contents=(TEXT,))]) == 0


def test_a_password_that_somebody_tells_as_a_fact_stays_and_the_audit_finds_it(opened):
    agent = opened()
    fact = agent.remember("blue42horse", subject="Wi-Fi", predicate="password")
    assert fact.content == "blue42horse"
    assert [finding.ids for finding in agent.audit(kinds=["secret"]).findings] == [(fact.id,)]


def test_names_that_a_host_gives_stay_as_they_are(opened):
    turn = opened().observe("A turn", session=TOKEN, speaker=TOKEN, tags=[TOKEN])
    assert (turn.session, turn.speaker, turn.tags) == (TOKEN, TOKEN, (TOKEN,))
