"""One life of a memory as data: what is asked of it step by step, in the library's words.

What a step gives can be named (`keeps`) and used by later ones: `$name` is its id, `$name.field` another field of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

TENANT, ADA, BEN = "acme", "ada", "ben"
SETTINGS = {
    "tenant": TENANT,
    "agent": ADA,
    "embedding": {"wait_s": 60.0},
    "episodes": {"ttl_days": 7.0},  # as the profile `butler` has it by itself
}
NOBODY = "018f0000-0000-7000-8000-000000000000"


@dataclass(frozen=True)
class Step:
    """One call: of an agent's verb or, where the verb begins with `memory.`, of the memory's."""

    verb: str
    given: Mapping[str, Any]
    keeps: str | None = None
    refused: str | None = None  # the code of the error that is to be expected
    agent: str = ADA
    session: str | None = None  # the conversation going on
    request_id: str | None = None


def does(verb: str, **given: Any) -> Step:
    """What stands before the arguments of the verb ends with an underscore: keeps_, refused_, agent_, session_."""
    besides = {name: given.pop(f"{name}_") for name in ("keeps", "refused", "agent", "session") if f"{name}_" in given}
    return Step(verb, MappingProxyType(given), **besides)


OF_THE_TENANT = {"tenant": TENANT, "agent": ADA}
KEYED = {"subject": "tea", "predicate": "is drunk", "content": "without milk", "idempotency_key": "tea-1"}

STEPS = (
    # What happens is stored: a turn with all that a runtime knows of it, and turns with little.
    does(
        "observe",
        keeps_="moved",
        content="I moved to Lisbon in May and still hate early flights",
        session="trip",
        speaker="Ana",
        event_time="2025-06-01T09:00:00Z",
        tags=["travel"],
    ),
    does(
        "observe",
        keeps_="booked",
        content='{"flight": "TP1337", "seat": "11A"}',
        session="trip",
        role="tool",
        event_time="2025-06-01T09:00:20+02:00",
        tokens=14,
        model="clerk-2",
        tool_calls=[{"name": "book", "arguments": {"seat": "11A"}}],
    ),
    does("observe", keeps_="tap", content="The kitchen tap drips again", session="home"),
    does("observe", content="Plumbers come on Thursday, wrote Müller & Söhne 🔧", session="home", importance=7.5),
    does(
        "observe",
        content="Reminder: pay the plumber",
        ttl_days=2.5,
        metadata={"channel": "sms", "to": ["Ana"]},
        idempotency_key="sms-1",
    ),
    # What is true, and what takes its place.
    does("remember", keeps_="lisbon", content="Lisbon", subject="Ana", predicate="lives in", valid_from="2025-05-01"),
    does("remember", keeps_="porto", content="Porto", subject="Ana", predicate="lives in", valid_from="2025-09-01"),
    does("remember", keeps_="wine", content="Grüner Veltliner", subject="Ana", predicate="drinks", scope="ada"),
    does("rules.add", keeps_="aisle", content="Ask for an aisle seat before paying", scope="ada", tags=["travel"]),
    # What a butler's prompt is given is ranked by the clock as well: of two facts it is clear which is the better one.
    does("context", query="Which city does Ana live in, Porto?", budget_tokens=300, recipe="butler"),
    does("get", id_="$moved"),
    does("context", query="Which city does Ana live in, Porto?", session_="trip", recipe="butler"),
    does("get", id_="$moved"),
    # A text that stands for itself, and many of one subject; the same again takes its own place.
    does("remember", keeps_="dog", content="The dog of Ana's neighbour barks at night"),
    does("remember", content="Ana's bicycle has a flat tyre", scope="ada"),
    does("remember", content="afraid of heights", subject="Ana"),
    does("remember", content="The dog of Ana's neighbour barks at night"),
    does("remember", content="Ana's aunt", predicate="is"),
    # More that is true; a key that is used again gives what was stored first.
    does("remember", keeps_="flight", content="14:20", subject="TP1337", predicate="leaves at", permanence="volatile"),
    does("remember", keeps_="tea", **KEYED),
    does("remember", **KEYED),
    does(
        "remember",
        keeps_="seat",
        content="11A",
        subject="TP1337",
        predicate="has the seat",
        source="the airline",
        source_episode_id="$booked",
        category="travel",
        tags=["travel", "seat"],
    ),
    does(
        "remember",
        content="vegetarian food",
        subject="TP1337",
        predicate="serves",
        importance=6.5,
        confidence=0.8,
        valid_to="2099-12-31T00:00:00Z",
        metadata={"asked": {"by": "Ana", "miles": 1200.5}},
    ),
    does("correct", keeps_="braga", id_="$porto", content="Braga", source="Ana", valid_from="2025-10-01T00:00:00Z"),
    does("correct", keeps_="later", id_="$flight", content="15:05", confidence=0.9, metadata={"gate": 7}),
    does(
        "correct",
        keeps_="last",
        id_="$later",
        content="15:20",
        valid_to="2099-01-01T00:00:00Z",
        source_episode_id="$booked",
    ),
    does("confirm", id_="$last"),
    # What was said of one thing: now, then, at all.
    does("get", id_="$braga"),
    does("get", id_="$lisbon", as_of="$lisbon.created_at"),
    does("get", id_="$porto", as_of="$lisbon.created_at", refused_="not_found"),
    does("facts", subject="Ana"),
    does("facts", subject="Ana", predicate="lives in", as_of="$porto.created_at"),
    does("facts", keeps_="known", include_inactive=True, limit=4),
    does("facts", include_inactive=True, limit=4, after="$known.next"),
    does("facts", after="no cursor", refused_="invalid_input"),
    does("history", id_="$lisbon"),
    # What is there at all, page by page.
    does("list", keeps_="newest", include_inactive=True, limit=3),
    does("list", include_inactive=True, limit=3, after="$newest.next"),
    does("list", kind="fact", limit=2),
    does("list", kind="thing", refused_="invalid_input"),
    does("episodes", session="trip", limit=1),
    does("episodes", keeps_="turns", limit=2),
    does("episodes", limit=2, after="$turns.next"),
    does("episodes", after="$newest.next", refused_="invalid_input"),
    # How to go about something.
    does(
        "rules.add",
        keeps_="call",
        content="Call the plumber before eight",
        source_episode_id="$tap",
        metadata={"learned": ["at home", 2]},
        idempotency_key="call-1",
    ),
    does("rules.mark_helpful", id_="$aisle"),
    does("rules.mark_harmful", id_="$call", reason="Nobody was there so early"),
    does("rules.mark_helpful", id_="$call"),
    does("rules.applications", keeps_="marks", id_="$call", limit=1),
    does("rules.applications", id_="$call", limit=1, after="$marks.next"),
    does("confirm", id_="$aisle"),
    does("link", keeps_="edge", source_id="$seat", target_id="$aisle", relation="related_to", weight=0.5),
    does("links", id_="$seat"),
    does("links", id_="$aisle", direction="incoming", relation="related_to"),
    # Searches; a read of one memory between them, since what they counted is there after the next write.
    does("recall", query="Which seat on the flight to Lisbon?", preset="keyword", limit=5),
    does("get", id_="$seat"),
    does("recall", query="Where does Ana live now?", preset="hybrid", limit=4),
    does("get", id_="$braga"),
    does("recall", query="Where does Ana live?", limit=3, neighbours=1, explain=True, count_references=False),
    does("get", id_="$wine"),
    does("recall", query="trouble with water at home", preset="semantic", kinds=["episode", "rule"], limit=3),
    does("get", id_="$tap"),
    does("recall", query="what does Ana drink", preset="assistant", kinds=["fact"], limit=3),
    does("get", id_="$tea"),
    does(
        "recall",
        query="flights",
        sessions=["trip", "home"],
        exclude_sessions=["home"],
        roles=["user", "assistant"],
        speakers=["Ana"],
        tags=["travel"],
        since="2025-05-31T00:00:00Z",
        until="2025-06-02T00:00:00Z",
        min_confidence=0.5,
    ),
    does("recall", query="lives in", subjects=["Ana"], as_of="$porto.created_at", include_inactive=True),
    does("recall", query="drinks", scope="ada", preset="keyword", deep=True),  # without a re-ranker
    does("get", id_="$moved"),
    # What a prompt is given.
    does(
        "context", query="Ana's flight", budget_tokens=300, session_="trip", with_sources=True, include_superseded=True
    ),
    does("get", id_="$moved"),
    does(
        "context",
        query="Ana's flight",
        with_dates=False,
        count_tokens="wordpiece",
        recent_episodes=2,
        count_references=False,
    ),
    does("get", id_="$moved"),
    does("messages", asked="When does the flight leave?", window_tokens=4000, recent_episodes=2),
    does("get", id_="$moved"),
    does("messages", asked="Where to?", tools=3, recipe="assistant", count_tokens="characters"),
    does("get", id_="$moved"),
    does("summarize", ids=["$moved", "$tap"], strategy="extractive", target_tokens=60),
    does("summarize", query="kitchen tap", target_tokens=40),
    does("route", content="My name is Ana"),
    does("route", content="I live in Braga", role="user", speaker="Ana"),
    does("route", content="", refused_="invalid_input"),
    # Whom facts are about.
    does("entities.create", keeps_="ana", name="Ana Silva", entity_type="person", aliases=["Ana"]),
    does("entities.create", keeps_="anna", name="Anna Silva", entity_type="person", metadata={"seen": "in a mail"}),
    does("remember", keeps_="works", content="a bakery", subject="Ana", predicate="works in", entity_id="$ana"),
    does("remember", content="Alentejo", subject="Anna", predicate="was born in", entity_id="$anna"),
    does("entities.update", id_="$anna", name="Anna Silva", aliases=["Anni"]),
    does("entities.update", id_="$anna", metadata={"spelt": "with two n"}),
    does("entities.resolve", name="Ana"),
    does("entities.resolve", name="Anna Silwa", entity_type="person", fuzzy=True, hints={"topic": "bread"}),
    does("entities.merge", source_id="$anna", target_id="$ana"),
    does("entities.get", id_="$anna"),
    does("entities.find", entity_type="person", limit=5),
    does("entities.create", name="Bento Reis", entity_type="person"),
    does("entities.find", keeps_="people", entity_type="person", limit=1),
    does("entities.find", entity_type="person", limit=1, after="$people.next"),
    does("entities.profile", id_or_name="Ana Silva"),
    does("entities.unmerge", source_id="$anna"),
    does("entities.unmerge", source_id="$anna", refused_="invalid_input"),
    does("entities.unmerge", source_id=NOBODY, refused_="not_found"),
    # What an agent keeps for itself under keys.
    does("notes.save", keeps_="alpha", key="project:alpha", content="The project deadline is in June"),
    does("notes.save", key="project:beta", content="The beta project has a deadline in July"),
    does("notes.save", key="project:alpha", content="The project deadline moved to August"),
    does("notes.recall", key="project:alpha"),
    does("notes.list", limit=10),
    does("notes.list", keeps_="notes", limit=1),
    does("notes.list", limit=1, after="$notes.next"),
    does("notes.list", after="$people.next", refused_="invalid_input"),
    does("notes.list_by_category", keeps_="projects", category="project", limit=1),
    does("notes.list_by_category", category="project", limit=1, after="$projects.next"),
    does("notes.search", query="project deadline", limit=5),
    does("notes.related", note="project:alpha", limit=5),
    does("notes.forget", key="project:beta"),
    does("notes.recall", key="project:beta", refused_="not_found"),
    does("notes.save", key="trip:packing", content="Pack the camera and two chargers"),
    does("notes.save", key="trip:train", content="The train to the airport takes an hour"),
    does("notes.summarize_old", older_than_days=0),
    does("notes.list"),
    # What comes back as it was given, in order.
    does(
        "log.append",
        keeps_="appended",
        entries=[
            {"uuid": "1", "role": "user", "content": "  The tap still drips\n"},
            {"uuid": "2", "tool": {"n": [1.5, None, True], "text": "a\x00b"}},
        ],
        session="trip",
        log="chat",
        id_field="uuid",
        remember=True,
    ),
    does(
        "log.append",
        entries=[{"uuid": "2"}, {"uuid": "3"}],
        log="chat",
        session="trip",
        subkey="side/1",
        id_field="uuid",
    ),
    does("log.append", entries=[{"uuid": "2"}, {"n": 1}], log="chat", session_="trip", id_field="uuid"),
    does("log.append", entries=[{"n": 1}], log="chat", session="home"),
    does("log.append", entries=[{"n": 1}], session="", refused_="invalid_input"),
    does("log.read", session="trip", log="chat"),
    does("log.read", log="chat", last=1, session_="trip"),
    does("log.read", session="trip", subkey="side/1", log="chat"),
    does("log.read", session="trip", log="chat", agent_=BEN),
    does("log.subkeys", session="trip", log="chat"),
    does("log.sessions", keeps_="logged", log="chat", limit=1),
    does("log.sessions", log="chat", limit=1, after="$logged.next"),
    does("log.pop", session="trip", log="chat"),
    does("log.pop", session="nowhere", log="chat", refused_="not_found"),
    does("log.delete", session="trip", subkey="side/1", log="chat"),
    does("log.delete", session="trip", log="chat"),
    # What is found by its name, and replaced without a trace.
    does(
        "store.put",
        keeps_="theme",
        key="theme",
        value={"color": "dark red", "n": [1.5, None], "text": "a\x00b"},
        namespace=["users", "ana"],
        index=["color"],
        ttl_s=1e6,
    ),
    does(
        "store.put", key="theme", value={}, namespace=["users", "ana"], expected_version=0, refused_="version_conflict"
    ),
    does("store.put", key="", value={}, refused_="invalid_input"),
    does("store.get", key="theme", namespace=["users", "ana"], refresh=True),
    does("store.get", key="theme", namespace=["users"], refused_="not_found"),
    does("store.get", key="theme", namespace=["users", "ana"], agent_=BEN, refused_="not_found"),
    does(
        "store.put",
        key="theme",
        value={"color": "light blue"},
        namespace=["users", "ana"],
        index=["color"],
        expected_version="$theme.version",
        keep_history=True,
    ),
    does("store.history", key="theme", namespace=["users", "ana"]),
    does(
        "store.write",
        changes=[{"key": "tea", "value": {"kind": "green", "grams": 100}, "namespace": ["shop"]}, {"key": "none"}],
        namespace=["users"],
    ),
    does("store.search", query="a bright colour", namespace=["users"]),
    does("store.search", keeps_="items", limit=1),
    does("store.search", limit=1, after="$items.next", fields={"color": {"$ne": "red"}}),
    does("store.search", fields={"grams": {"$round": 1}}, refused_="invalid_input"),
    does("store.namespaces", namespace=["*"], suffix=["ana"], depth=1, limit=5),
    does("store.delete", key="theme", namespace=["users", "ana"], expected_version=1, refused_="version_conflict"),
    does("store.delete", key="theme", namespace=["users", "ana"]),
    does("store.delete", key="theme", namespace=["users", "ana"]),
    # What some share, and who does not see it.
    does("pools.create", name="crew", members=[BEN]),
    does("remember", keeps_="code", content="4711", subject="alarm", predicate="has the code", scope="pool:crew"),
    does("pools.contribute", name="crew", id_="$wine", keeps_="shared"),
    does("pools.query", name="crew", query="alarm code", limit=3, preset="keyword"),
    does("pools.list"),
    does("get", id_="$wine", agent_=BEN, refused_="not_found"),
    does("get", id_="$code", agent_=BEN),
    does("recall", query="what is the code of the alarm", preset="keyword", limit=3, agent_=BEN),
    does("pools.sync_to_agent", name="crew", agent_=BEN),
    does("pools.add", name="crew", member="cleo"),
    does("pools.remove", name="crew", member=BEN),
    does("get", id_="$code", agent_=BEN, refused_="not_found"),
    does("pools.delete", name="crew", refused_="invalid_input"),  # it holds something
    does("pools.create", name="empty", metadata={"for": "trips"}),
    does("pools.delete", name="empty"),
    # Learning step by step, by somebody outside.
    does("consolidation.is_session_consolidated", session="home"),
    does("consolidation.episodes", session="home"),
    does(
        "consolidation.save_facts",
        keeps_="learned",
        facts=[{"subject": "kitchen tap", "predicate": "is", "content": "broken", "source_ids": ["$tap"]}],
    ),
    does("remember", keeps_="mended", content="not broken", subject="kitchen tap", predicate="has been found to be"),
    does("consolidation.detect_conflicts", fact_id="$mended"),
    does("consolidation.resolve_conflict", old_id="$wine", new_id="$mended"),
    does("consolidation.mark_session", session="home"),
    # A chat at once.
    does(
        "add",
        messages=[
            {"role": "user", "content": "The kettle is new", "speaker": "Ana"},
            {"role": "assistant", "content": "What does it weigh?", "event_time": "2026-03-01T10:00:00Z"},
        ],
        session="kettle",
        learn="background",
        tags=["kitchen"],
    ),
    does("add", messages=[{"content": "It weighs a kilo"}], session="kettle", idempotency_key="kilo", learn="later"),
    does("add", messages=[{"role": "robot", "content": "Beep"}], refused_="invalid_input"),
    # The memory as a whole.
    does("memory.consolidate", **OF_THE_TENANT),  # without a language model it counts
    does("memory.consolidate", **OF_THE_TENANT, exclude_session="trip", dry_run=True),
    does("memory.consolidate", **OF_THE_TENANT, session="trip", max_batches=1, now=True),
    does("memory.cleanup", tenant=TENANT, max_entries=1, dry_run=True),
    does("memory.decay", tenant=TENANT, dry_run=True),
    does("summarize", keeps_="kept", session="home", strategy="extractive", target_tokens=60, store=True),
    does("memory.runs", **OF_THE_TENANT, limit=5),
    does("events", run_id="$kept.run_id"),
    does("memory.undo", **OF_THE_TENANT, run_id="$kept.run_id"),
    does("memory.runs", **OF_THE_TENANT, kind="summary"),
    does("memory.runs", **OF_THE_TENANT, keeps_="newest", limit=1),
    does("memory.runs", **OF_THE_TENANT, limit=1, after="$newest.next"),
    does("memory.undo", **OF_THE_TENANT, run_id=NOBODY, refused_="not_found"),
    does("latest_reflection", refused_="not_found"),
    does("remember", content="Ana moves often", subject="ada", predicate="has learned", category="reflection"),
    does("latest_reflection"),
    does("audit", limit=10),
    does("audit", kinds=["contradiction", "never_recalled"], skip=1, unused_days=0.0),
    does("overview", days=1, limit=5),
    does("memory.verify_events", tenant=TENANT),  # nothing is sealed
    does("memory.seal_events", keeps_="sealed", tenant=TENANT),
    does("memory.verify_events", tenant=TENANT, head="$sealed.head"),
    # What goes.
    does("forget", id_="$last"),
    does("forget", id_="$last"),  # twice is once
    does("recall", query="When does TP1337 leave?", preset="keyword", kinds=["fact"]),
    does("get", id_="$last"),
    does("get", id_="$last", count_references=False),
    does("erase", ids=["$booked", "$tea"]),
    does("get", id_="$tea", refused_="not_found"),
    does("memory.cleanup", tenant=TENANT, max_entries=1),
    does("memory.verify_events", tenant=TENANT),
    does("memory.seal_events", tenant=TENANT, late=True),
    does("memory.verify_events", tenant=TENANT, head="$sealed.head"),
    does("stats"),
    does("stats", scope="ada"),
    does("events", id_="$braga"),
    does("events", event_type="rule_harmful", limit=3),
    does("events", keeps_="done", limit=2),
    does("events", limit=2, after="$done.next"),
    does("events", limit=1000),
    # What is refused.
    does("get", id_=NOBODY, refused_="not_found"),
    does("confirm", id_=NOBODY, refused_="not_found"),
    does("confirm", id_="$lisbon", refused_="invalid_input"),
    does("correct", id_=NOBODY, content="Faro", refused_="not_found"),
    does("correct", id_="$lisbon", content="Faro", refused_="invalid_input"),
    does("forget", id_=NOBODY, refused_="not_found"),
    does("rules.mark_helpful", id_=NOBODY, refused_="not_found"),
    does("rules.mark_harmful", id_="$braga", refused_="invalid_input"),
    does("entities.get", id_=NOBODY, refused_="not_found"),
    does("entities.update", id_=NOBODY, name="Nobody", refused_="not_found"),
    does("entities.merge", source_id=NOBODY, target_id="$ana", refused_="invalid_input"),
    does("entities.profile", id_or_name="nobody at all", refused_="not_found"),
    does("entities.create", name="Ana Silva", entity_type="animal", refused_="invalid_input"),
    does("notes.forget", key="project:beta", refused_="not_found"),
    does("notes.related", note="project:beta"),
    does("pools.query", name="crew", query="alarm", agent_=BEN, refused_="not_found"),
    does("links", id_=NOBODY),
    does("history", id_=NOBODY),
    does("observe", content="", refused_="invalid_input"),
    does("observe", content="Said by a cat", role="cat", refused_="invalid_input"),
    does("observe", content="Far too important", importance=11.0, refused_="invalid_input"),
    does("remember", content="x", subject="", predicate="is", refused_="invalid_input"),
    does("remember", content="x", subject="Ana", predicate="is", scope="pool:secret", refused_="invalid_input"),
    # What will be true waits until then; what was true is told of another time.
    does("remember", keeps_="next", content="Coimbra", subject="Ana", predicate="lives in", valid_from="2098-01-01"),
    does("facts", subject="Ana", predicate="lives in"),
    does("facts", subject="Ana", predicate="lives in", valid_at="2098-02-01"),
    does("facts", subject="Ana", predicate="lives in", valid_at="in September 2025"),
    does("forget", id_="$next"),
    does("remember", content="x", subject="Ana", predicate="is", valid_from="soon", refused_="invalid_input"),
    does(
        "remember", content="with milk", subject="a", predicate="b", idempotency_key="tea-1", refused_="invalid_input"
    ),
    does("link", source_id="$wine", target_id="$wine", relation="supports", refused_="invalid_input"),
    does("recall", query="Lisbon", preset="psychic", refused_="invalid_input"),
    does("recall", query="Lisbon", limit=-1, refused_="invalid_input"),
    does("context", query="Lisbon", budget_tokens=-1, refused_="invalid_input"),
    does("facts", limit=1001, refused_="invalid_input"),
    does("events", limit=0),
    # Whose memories there are.
    does("memory.agents", keeps_="agents", tenant=TENANT, limit=1),
    does("memory.agents", tenant=TENANT, after="$agents.next"),
    does("memory.agents", tenant=TENANT, after="no cursor", refused_="invalid_input"),
    does("overview", days=367, refused_="invalid_input"),
    does("stats", scope="pool:secret", refused_="invalid_input"),
)
