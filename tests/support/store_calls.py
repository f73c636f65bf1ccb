"""Calls of a store: one of every kind that it answers, on a database with a little of everything."""

from datetime import timedelta

from engrain.domain.access.keys import AccessKey
from engrain.domain.maintenance.retention import Retention
from engrain.domain.memories.decay import AGING_KINDS, DecayPolicy
from engrain.domain.records import Caller
from engrain.domain.runs.jobs import Job
from engrain.domain.runs.plans import Action, Plan
from engrain.domain.runs.retries import Retry
from engrain.domain.runs.runs import Claim
from tests.support.backups import add_rows, every_row
from tests.support.sample_records import CALLER, NOON, act, entity, episode, fact, link, request, rule
from tests.support.store_samples import axis, conversation, embed_all, put

LATEST, ENDED = NOON + timedelta(days=9), Retention(fact_days=1)
BEN = entity("Ben")
LISBON, TEA, TRAM = fact("Lisbon"), fact("tea", subject="Ben", predicate="drinks", entity_id=BEN.id), rule("Take it.")
PLACE = (NOON, "z")  # in a list, the newest first
TEAM = Caller(agent="aide", pools=("team",))
KEY = AccessKey(id="k", tenant_id=CALLER.tenant_id, role="admin", created_at=NOON)


def fill(store):
    """Store a conversation and what was learned, as a search meets it: indexed, embedded, linked and mentioning."""
    store.put_entity(act(), BEN)
    turns = put(store, conversation(*(f"Turn {place} of the tram." for place in range(20)), speaker="Ana"))
    learned = put(store, [LISBON, TEA, TRAM])
    embed_all(store, {memory.id: axis(0) for memory in [*turns, *learned]})
    store.link(act(), link(LISBON, TEA))
    store.mention(act(), turns[0].id, [BEN.id])


READS = {
    "get": lambda store: store.get(CALLER, ["one", "two"]),
    "find_active_fact": lambda store: store.find_active_fact(
        CALLER, scope="global", subject="Ana", predicate="lives in"
    ),
    "notes": lambda store: store.recent(request(kinds=("fact",), scopes=("aide",), subjects=("aide",)), 10),
    "of a category": lambda store: store.recent(request(categories=("task",)), 10),
    "of a scope": lambda store: store.keyword(request(scopes=("aide",)), {"tram"}, 10),
    "history": lambda store: store.history(CALLER, LISBON.id),
    "history of an entity": lambda store: store.history(CALLER, TEA.id),
    "links": lambda store: store.links(CALLER, LISBON.id),
    "events": lambda store: store.events(CALLER),
    "events of a memory": lambda store: store.events(CALLER, memory_id=LISBON.id),
    "events of a type": lambda store: store.events(CALLER, event_type="fact_created"),
    "events of a run": lambda store: store.events(CALLER, run_id="a run"),
    "events of turns": lambda store: store.events(CALLER, event_type="episode_created"),
    "events after one": lambda store: store.events(CALLER, after=PLACE),
    "events of a type after one": lambda store: store.events(CALLER, event_type="fact_created", after=PLACE),
    "events of a memory after one": lambda store: store.events(CALLER, memory_id=LISBON.id, after=PLACE),
    "applications": lambda store: store.applications(CALLER, TRAM.id, 10),
    "more_applications": lambda store: store.applications(CALLER, TRAM.id, 10, after=PLACE),
    "after one": lambda store: store.recent(request(after=PLACE), 10),
    "entities": lambda store: store.entities(CALLER, [BEN.id]),
    "newest": lambda store: store.newest(request(TEAM), 10),
    "important": lambda store: store.important(request(TEAM), 10),
    "mentioning": lambda store: store.mentioning(request(TEAM), ["Ben"], 10),
    "unenriched": lambda store: store.unenriched(request(TEAM), most_entities=2, limit=10),
    "recent": lambda store: store.recent(request(), 10),
    "since": lambda store: store.recent(request(since=NOON, until=NOON + timedelta(days=1)), 10),
    "of a session": lambda store: store.keyword(request(sessions=("monday",)), {"tram"}, 10),
    "of the past": lambda store: store.keyword(request(as_of=NOON), {"tram"}, 10),
    "neighbours": lambda store: store.neighbours(request(), episode(session="monday", turn=5), 2),
    "filtered": lambda store: store.keyword(request(speakers=("Ana",), tags=("x",), roles=("user",)), {"tram"}, 10),
    "nearest": lambda store: store.nearest(request(), axis(0), 10, also=[1, 2]),
    "nearest of the past": lambda store: store.nearest(request(as_of=NOON), axis(0), 10, also=[1, 2]),
    "load": lambda store: store.load(request(), [1, 2, 3]),
    "traits": lambda store: store.traits(request(), [1, 2, 3]),
    "speakers": lambda store: store.speakers(request()),
    "stats": lambda store: store.stats(CALLER, NOON),
    "latest_reflection": lambda store: store.latest_reflection(CALLER, NOON, own=True),
    "page": lambda store: store.page(request(), before="f", limit=10),
    "links_from": lambda store: store.links_from(CALLER, [TEA.id, LISBON.id], ("supports", "contradicts")),
    "vectors_of": lambda store: store.vectors_of(CALLER, [TEA.id, LISBON.id]),
    "unmentioned": lambda store: store.unmentioned(CALLER, after=None, limit=10),
    "waiting": lambda store: store.waiting(CALLER),
    "pending_sessions": lambda store: store.pending_sessions(CALLER, NOON),
    "is_session_consolidated": lambda store: store.is_session_consolidated(CALLER, "monday", NOON),
    "pending_of_session": lambda store: store.pending_of_session(CALLER, "monday", NOON),
    "runs": lambda store: store.runs(CALLER, limit=9),
    "runs after one": lambda store: store.runs(CALLER, limit=9, after=PLACE),
    "keys": lambda store: store.keys(CALLER),
    "find_key": lambda store: store.find_key(CALLER, "k"),
    "unembedded": lambda store: store.unembedded(64),
    "versions": lambda store: store.embedding_versions(),
    "extract": every_row,
    "find_entities": lambda store: store.find_entities(CALLER, limit=10),
    "entities_named": lambda store: store.entities_named(CALLER, ["Ben", "Tea"]),
    "resembling": lambda store: store.resembling(CALLER, "Ben", fuzzy=True, limit=10),
    "facts_about": lambda store: store.facts_about(CALLER, [BEN.id], 10),
    "mentions_of": lambda store: store.mentions_of(request(), BEN.id, 10),
    "tenants": lambda store: store.tenants(),
    "backlogs": lambda store: store.backlogs(NOON),
}
WRITES = {
    "put": lambda store: put(store, [episode("One more.", session="monday", speaker="Ben")]),
    "put several": lambda store: put(store, conversation("One.", "Two.", session="friday")),
    "put a rule": lambda store: put(store, [rule("Ask first.")]),
    "supersede": lambda store: put(store, [fact("Porto")]),
    "supersede of an entity": lambda store: put(
        store, [fact("coffee", subject="B.", predicate="drinks", entity_id=BEN.id)]
    ),
    "put_related": lambda store: store.put_related(act(), fact("Porto"), {TEA.id: 0.5}),
    "supersede several": lambda store: store.supersede(act(), fact("Porto"), [LISBON.id, TEA.id]),
    "flush_index": lambda store: (put(store, [episode("One more.", session="monday")]), store.flush_index()),
    "touch": lambda store: store.touch(act(), ["one", LISBON.id]),
    "count_references": lambda store: store.count_references(
        act(), [("episode", "one", NOON), ("fact", LISBON.id, NOON)]
    ),
    "confirm": lambda store: store.confirm(act(), TRAM.id),
    "mark": lambda store: [store.mark(act(), TRAM.id, "harmful", reason="late") for _ in range(3)],
    "sweep": lambda store: [
        store.sweep(act(NOON + timedelta(days=200)), kind, DecayPolicy(), after="", limit=9) for kind in AGING_KINDS
    ],
    "claim": lambda store: claimed(store),  # noqa: PLW0108  # defined below
    "renew": lambda store: store.renew(act(), claimed(store).run.id, 60),
    "carry_out": lambda store: carried_out(store),  # noqa: PLW0108  # defined below
    "give_up": lambda store: store.give_up(act(), claimed(store).run.id, "broken", Retry()),
    "undo": lambda store: store.undo(act(), carried_out(store).run.id),
    "put_key": lambda store: store.put_key(act(), KEY, "d"),
    "revoke_key": lambda store: (store.put_key(act(), KEY, "d"), store.revoke_key(act(), "k")),
    "use_key": lambda store: store.use_key(act(), "k", since=NOON),
    "take_job": lambda store: (
        store.add_job(Job(id="j", name="decay", run_at=NOON, created_at=NOON)),
        store.take_job("w", NOON, lease_s=60, most_attempts=5),
    ),
    "forget": lambda store: store.forget(act(), store.recent(request(), 1)[0].id),
    "forget a fact": lambda store: store.forget(act(), LISBON.id),
    "link": lambda store: store.link(act(), link(TEA, LISBON)),
    "mention": lambda store: store.mention(act(), LISBON.id, [BEN.id]),
    "put_entity": lambda store: store.put_entity(act(), entity("Cleo")),
    "introduce": lambda store: store.introduce(act(), [entity("Cleo")], [fact("Faro", subject="Cleo")]),
    "attach": lambda store: store.attach([1], axis(0)[None]),
    "erase": lambda store: store.erase(act(), [LISBON.id, TRAM.id, store.recent(request(), 1)[0].id]),
    "prune": lambda store: store.prune_vectors(100),
    "restore": lambda store: add_rows(store, every_row(store)),
    "change_entity": lambda store: store.change_entity(act(), BEN.id, aliases=["Benny"], also=["Benjamin"]),
    "enrich": lambda store: store.enrich(act(), LISBON.id, [BEN.id]),
    "merge and unmerge": lambda store: merge_and_part(store),  # noqa: PLW0108  # defined below
    "clean": lambda store: store.clean(act(NOON + timedelta(days=9)), Retention(max_entries=0), limit=9),
    "clean ended": lambda store: (
        store.forget(act(), LISBON.id),
        store.list_ended(act(LATEST), "fact", ENDED, limit=9),
        store.list_ended(act(LATEST), "rule", ENDED, limit=9),
        store.erase_ended(act(LATEST), ENDED, [LISBON.id]),
    ),
}


def claimed(store):
    return store.claim(act(), Claim(kind="consolidation", worker="w", lease_s=60))


def carried_out(store):
    batch = claimed(store)
    porto = Action(kind="new_fact", memory=fact("Porto"), sources=(batch.episodes[0].id,), doubts=(TEA.id,))
    actions = (porto, Action(kind="confirmation", target_id=TRAM.id))
    plan_ = Plan(episode_ids=batch.run.episode_ids, actions=actions)
    assert [each.error for each in store.carry_out(act(), batch.run.id, plan_, {})] == [None, None]
    return batch


def merge_and_part(store):
    """Two who have a fact in one place, and whom one memory mentions both."""
    [zoe] = [store.put_entity(act(), entity("Zoe"))]
    store.put(act(), [fact("tea", predicate="drinks", entity_id=each.id) for each in (BEN, zoe)])
    store.mention(act(), LISBON.id, [BEN.id, zoe.id])
    store.merge_entities(act(), zoe.id, BEN.id)
    store.unmerge_entities(act(), zoe.id)
