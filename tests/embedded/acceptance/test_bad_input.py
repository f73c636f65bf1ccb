"""Whatever is passed in: a documented answer, or an InvalidInput that holds the value and says what to do."""

import functools
import math
import operator
import sys
from datetime import UTC, date, datetime
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.domain.ids import derived_id
from engrain.errors import InvalidInput, MemoryClosed, NotFound, StorageError
from engrain.service import Memory
from engrain.storage import open_store
from engrain.verbs.signatures import signature
from tests.support.engines import HashEmbedder
from tests.support.uncounted import uncounted

# Values that no parameter of a sort may have, and None where the parameter has to be something.
NOT_TEXT = [7, 1.5, True, b"bytes", ["a list"], {"a": "mapping"}]
BLANK = ["", " \t\n", "\x00\x00", " \x00 "]
TEXT = [*NOT_TEXT, *BLANK, "long" * 2_500_001]
NAME = [*NOT_TEXT, *BLANK, "n" * 513]
NAMES = [7, 1.5, True, b"bytes", [7], [None], [["nested"]], *BLANK, [""], ["fine", "n" * 513], "n" * 513]
CHOICE = [*NOT_TEXT, *BLANK, "unknown", "Unknown" * 1_000]
CHOICES = [7, True, b"bytes", [7], [None], "unknown", ["unknown"], "", "n" * 600]
NOT_NUMBER = [math.nan, math.inf, -math.inf, True, "5", b"5", [5], 1j, 10**400, -1, -0.001]
TIME = ["", "some day", "2026-13-01", "10000-01-01", 0, True, 1.5, b"2026", date(2026, 1, 1)]
TIME += [["2026-01-01"], "2026" * 1_000]
COUNT = [-1, -(10**30), 10**30, 10**5_000, 2.5, math.nan, True, "5", b"5", [5]]
FLAG = [0, 1, "yes", b"true", [True]]


def nested(levels):
    value = {}
    for _ in range(levels):
        value = {"deeper": value}
    return value


ENDLESS = {}
ENDLESS["itself"] = ENDLESS
METADATA = [7, "text", b"bytes", [("a", 1)], {"a": math.nan}, {"a": math.inf}, {"a": ...}, {"a": b"bytes"}]
METADATA += [{("a", "b"): 1}, {"a": {1, 2}}, {"a": 10**5_000}, nested(101), nested(100_000), ENDLESS]

MARKS = [{"hidden": True}, {"forgotten": True}, {"status": "fading"}]

JSON_VALUES = [7, "text", b"bytes", {"a": "mapping"}, [...], [b"bytes"], [math.nan], [{"a": 10**5_000}]]
JSON_VALUES += [[nested(100)], [ENDLESS]]
PATH = [*NOT_TEXT, *BLANK, "a\x00b", "a\ud800b", "~nobody-of-that-name/x", "missing.jsonl", "."]

TURN, FACT = (derived_id("default", "ana", "idempotency", f"of a {kind}", at=None) for kind in ("turn", "fact"))
OBSERVE = {"content": "A turn"}
REMEMBER = {"content": "A fact", "subject": "Ana", "predicate": "works in"}
OF_TYPE = {str: NAME, bool: FLAG, int: COUNT, float: NOT_NUMBER, list[str]: NAMES, dict[str, Any]: METADATA}
# Of parameters whose name says more than their type.
OF_NAME = {
    "content": TEXT,
    "query": NOT_TEXT,
    "tool_calls": JSON_VALUES,
    "path": PATH,
    **dict.fromkeys(("event_time", "valid_from", "valid_to", "since", "until", "as_of"), TIME),
    **dict.fromkeys(("preset", "scope", "format"), CHOICE),
}
# What is refused besides: beyond bounds that the word leaves to the verb, and what is there but of another sort.
BESIDES = {
    "ttl_days": [36_501],
    "tokens": [1_000_000_001],
    "entity_id": ["of nobody"],
    "scope": ["pool:x", "GLOBAL", "another agent"],
    "source_episode_id": ["of nothing", FACT],
    ("observe", "idempotency_key"): ["of a fact"],
    **{(verb, "idempotency_key"): ["of a turn"] for verb in ("remember", "rules.add")},
    **{(verb, "id_"): [TURN] for verb in ("correct", "confirm")},
    ("link", "source_id"): [TURN],
    ("link", "target_id"): [FACT],
    ("entities.create", "name"): ["Ana"],
    **{(verb, "metadata"): MARKS for verb in ("observe", "remember", "correct", "rules.add")},
}
GOOD = {
    "observe": OBSERVE,
    "remember": REMEMBER,
    "recall": {"query": "turn"},
    "context": {"query": "turn"},
    "get": {"id_": TURN},
    "facts": {},
    "history": {"id_": FACT},
    "links": {"id_": FACT},
    "events": {},
    "stats": {},
    "audit": {},
    "confirm": {"id_": FACT},
    "correct": {"id_": FACT, "content": "Another fact"},
    "link": {"source_id": FACT, "target_id": TURN, "relation": "derived_from"},
    "forget": {"id_": TURN},
    "erase": {"ids": [TURN]},
    "rules.add": {"content": "A rule"},
    "entities.create": {"name": "Bo"},
    "entities.get": {"id_": "an id"},
    "notes.save": {"key": "editor", "content": "vim"},
    "notes.recall": {"key": "editor"},
    "notes.list": {},
    "notes.list_by_category": {"category": "general"},
    "notes.related": {"note": "editor"},
    "notes.search": {"query": "vim"},
    "notes.forget": {"key": "editor"},
    "notes.summarize_old": {},
    "import_file": {"path": "export.jsonl"},
}


def refused_values(verb, parameter):
    """The values that a verb refuses for a parameter, by its name and type, its bounds, and what else is there."""
    annotation = parameter.json_type
    items = get_args(annotation)[0] if get_origin(annotation) is list else None
    if parameter.name in OF_NAME:
        values = OF_NAME[parameter.name]
    elif annotation in OF_TYPE:
        values = OF_TYPE[annotation]
    else:
        values = CHOICE if items is None else CHOICES
    nothing = [] if parameter.is_optional else [None]
    step = 1 if annotation is int else 0.001
    beyond = [] if parameter.word.high is None else [parameter.word.high + step]
    return [*values, *nothing, *beyond, *BESIDES.get(parameter.name, []), *BESIDES.get((verb, parameter.name), [])]


PARAMETERS = [(verb, parameter) for verb in GOOD for parameter in signature(verb).parameters]


def shown(value):
    """The beginning of a value as it is printed; of what cannot be printed, its type."""
    try:
        return repr(value)[:60]
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def says(message, value):
    """Whether a message holds the value, the member of it that is wrong, or what is too much of it."""
    members = value if isinstance(value, list | bytes) else []
    told = [shown(each).strip("'") for each in [value, *members]]
    told += [f"{len(value):,} bytes", shown(value.strip())] if isinstance(value, str) else []
    told += ["deeper than 100 levels"] if isinstance(value, dict | list) else []
    return any(text in message for text in told)


def case_name(value):
    return shown(value) if not isinstance(value, str) or len(value) < 30 else f"{value[:10]!r} x {len(value)}"


@pytest.fixture
def memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Memory(open_store(":memory:")) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return known(memory.agent("ana", session="s"))


@pytest.fixture(scope="module")
def lasting():
    with Memory(open_store(":memory:")) as memory:
        yield known(memory.agent("ana", session="s"))


@pytest.fixture
def unchanged(lasting, tmp_path, monkeypatch):
    """An agent as above, for calls that leave its memory as it was: not even a reference is counted."""
    monkeypatch.chdir(tmp_path)
    return lasting


def known(agent):
    """The agent, with a memory of each kind that the calls below name."""
    agent.observe("A turn", speaker="Ana", tags=["a tag"], idempotency_key="of a turn")
    agent.remember("A fact", subject="Ana", predicate="lives in", idempotency_key="of a fact")
    agent.entities.create("Ana")
    return agent


def call(agent, verb, **arguments):
    return operator.attrgetter(verb)(agent)(**arguments)


def test_what_is_called_good_here_is_good(agent, tmp_path):
    """Or the refusals below would be of something else."""
    (tmp_path / "export.jsonl").write_text('{"content": "imported"}', encoding="utf-8")
    for verb, arguments in GOOD.items():
        call(agent, verb, **arguments)


@pytest.mark.parametrize(("verb", "parameter"), PARAMETERS, ids=lambda each: getattr(each, "name", each))
def test_a_bad_value_is_refused_by_name_and_nothing_is_written(unchanged, verb, parameter, subtests):
    before = unchanged.stats(), unchanged.events(limit=1_000)
    for value in refused_values(verb, parameter):
        with subtests.test(value=case_name(value)):
            with pytest.raises(InvalidInput) as refused:
                call(unchanged, verb, **{**GOOD[verb], parameter.name: value})
            message = str(refused.value)
            assert says(message, value), message
            assert len(message) < 1_000
            assert (unchanged.stats(), unchanged.events(limit=1_000)) == before


OF_AGENT = {
    "name": [*NAME, "global", "pool:x", " global ", "pool:"],
    "session": NAME,
    "tenant": NAME,
    "request_id": NAME,
}


@pytest.mark.parametrize(
    ("parameter", "value"), [(name, value) for name in OF_AGENT for value in OF_AGENT[name]], ids=case_name
)
def test_a_bad_caller_is_refused(memory, parameter, value):
    with pytest.raises(InvalidInput) as refused:
        memory.agent(**{"name": "ana", parameter: value})
    assert says(str(refused.value), value)


SETTINGS = [7, "text", b"bytes", [("limit", 5)], {7: 1}, {"limit": 5}, {"retrieval": {"limits": 5}}, {"db": 7}]
SETTINGS += [
    {"retrieval": {"limit": "many"}},
    {"retrieval": {"limit": -1}},
    {"retrieval": {"limit": None}},
    {"retrieval": {7: 1}},
    {"retrieval": 7},
    {"retrieval": [("limit", 5)]},
    {"storage": {"busy_timeout_s": math.nan}},
    {"embedding": {"wait_s": -1}},
    {"storage": {"synchronous": "off"}},
    {"l" * 10_000: 1},
]
OF_OPEN = {
    "location": [
        7,
        True,
        b"bytes",
        ["a list"],
        *BLANK,
        "a\x00b.db",
        "mysql://host/db",
        "~nobody-of-that-name/x.db",
    ],
    "embedder": ["", "unknown", "mini-lm", 7, b"bytes", ..., HashEmbedder, ["minilm"]],
    "settings": SETTINGS,
    "config": [7, b"bytes", ["a list"], "nowhere.toml", "a\x00b.toml", "~nobody-of-that-name/x.toml"],
}


@pytest.mark.parametrize(
    ("parameter", "value"), [(name, value) for name in OF_OPEN for value in OF_OPEN[name]], ids=case_name
)
def test_a_memory_that_cannot_be_opened_so_is_refused_and_leaves_no_file(tmp_path, monkeypatch, parameter, value):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput) as refused:
        Memory.open(**{"location": tmp_path / "memory.db", "embedder": HashEmbedder(), parameter: value})
    assert len(str(refused.value)) < 1_000
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_memory(tmp_path):
    with pytest.raises(StorageError, match=str(tmp_path)):
        Memory.open(tmp_path, embedder=HashEmbedder())


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("a\x00b\x00", "ab"),
        (" \r\n padded \t", "padded"),
        ("half \ud800 a pair \udfff", "half \ufffd a pair \ufffd"),
        ("\U0001f600\U0001f468\u200d\U0001f469", "\U0001f600\U0001f468\u200d\U0001f469"),
        ("\u202ertl \u05e9\u05dc\u05d5\u05dd", "\u202ertl \u05e9\u05dc\u05d5\u05dd"),
        ("'; DROP TABLE episodes; --", "'; DROP TABLE episodes; --"),
        ("\u0935\u0949\u0928 \u0e2a\u0e27\u0e31 \u4f60\u597d", "\u0935\u0949\u0928 \u0e2a\u0e27\u0e31 \u4f60\u597d"),
        ("word " * 200_000, ("word " * 200_000).strip()),
        ("x" * 10_000_000, "x" * 10_000_000),
    ],
    ids=case_name,
)
def test_any_text_is_kept_without_what_no_database_can_hold(agent, given_, kept):
    episode = agent.observe(given_)
    assert agent.get(episode.id).content == kept
    fact = agent.remember(given_, subject="Ana", predicate="said")
    assert agent.get(fact.id).content == kept


def test_names_may_be_as_long_as_they_say(memory):
    name = "\U0001f600" * 512
    agent = memory.agent(name, session=name, tenant=name, request_id=name)
    episode = agent.observe("A turn", speaker=name, tags=[name])
    fact = agent.remember("A fact", subject=name, predicate=name, scope=name)
    found = agent.recall("turn fact", sessions=name, speakers=name, tags=name)
    assert [hit.memory for hit in found] == [episode]
    assert agent.get(fact.id, as_of=fact.created_at) == fact


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("0001-01-01", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        ("2026-05-01T01:00:00+02:00", datetime(2026, 4, 30, 23, tzinfo=UTC)),
        (datetime(1999, 1, 1, tzinfo=UTC), datetime(1999, 1, 1, tzinfo=UTC)),
    ],
)
def test_times_far_out_are_kept_to_the_microsecond(agent, said, meant):
    episode = agent.observe("Long ago or far ahead", event_time=said)
    assert agent.get(episode.id).event_time == meant
    fact = agent.remember("True it was", subject="It", predicate="was", valid_from=said, valid_to=said)
    assert (agent.get(fact.id).valid_from, agent.get(fact.id).valid_to) == (meant, meant)
    assert {hit.memory.id for hit in agent.recall("far true", since=meant, include_inactive=True)} >= {
        episode.id,
        fact.id,
    }
    assert not {hit.memory.id for hit in agent.recall("far true", until=meant)} & {episode.id, fact.id}


def test_a_time_before_the_first_year_is_refused(agent):
    with pytest.raises(InvalidInput, match="is outside the years 1 to 9999 in UTC"):
        agent.observe("Before all", event_time="0001-01-01T00:00:00+14:00")


def test_a_time_outside_the_years_of_utc_is_named_as_it_was_given(agent):
    with pytest.raises(InvalidInput, match="event_time '9999-12-31T23:59:59-12:00' is outside the years"):
        agent.observe("x", event_time="9999-12-31T23:59:59-12:00")


def test_one_of_several_that_is_refused_is_named_by_its_place(agent):
    changes = [{"key": "a", "value": {}}, {"key": "", "value": {}}]
    with pytest.raises(InvalidInput, match=r"^changes\[1\]: key "):
        agent.store("settings").write(changes)
    with pytest.raises(InvalidInput, match=r"^changes\[1\]: key of a change 'vallue' is unknown"):
        agent.store("settings").write([changes[0], {"key": "b", "vallue": {}}])
    assert agent.store("settings").get("a") is None
    with pytest.raises(InvalidInput, match=r"^ids\[1\]: id is empty"):
        agent.erase([agent.observe("x").id, ""])


def test_an_interval_that_ends_before_it_begins_is_refused(agent):
    before = agent.stats()
    with pytest.raises(InvalidInput, match="valid_to 2025-12-31 lies before valid_from 2026-01-01"):
        agent.remember("No", subject="It", predicate="was", valid_from="2026-01-01", valid_to="2025-12-31")
    assert agent.stats() == before


def test_what_lives_for_no_time_is_stored_and_never_found(agent):
    episode = agent.observe("A turn for no time", ttl_days=0)
    assert agent.get(episode.id).content == episode.content
    assert episode.id not in {hit.memory.id for hit in agent.recall("turn")}


def test_no_hits_are_as_many_as_were_asked_for(agent):
    assert agent.recall("turn", limit=0).hits == ()
    assert agent.context("turn", budget_tokens=0).text == ""
    assert len(agent.recall("turn fact", limit=1_000)) == 2


def test_deep_metadata_is_kept(agent):
    metadata = nested(99)
    assert agent.get(agent.observe("A turn", metadata=metadata).id).metadata == metadata


def test_an_id_that_repeats_is_refused_and_loses_nothing():
    with Memory(open_store(":memory:"), ids=lambda: "always-the-same") as memory:
        agent = memory.agent("ana")
        first = agent.observe("The first")
        with pytest.raises(InvalidInput, match="always-the-same"):
            agent.observe("The second")
        assert agent.get("always-the-same", as_of=first.created_at) == first


QUERIES = [
    "",
    "   ",
    "\x00",
    "\ud800",
    "the of and",
    "?!...,;:",
    '"',
    '"unbalanced turn',
    "turn AND",
    "AND OR NOT",
    "turn NOT turn",
    "NEAR(turn fact, 5)",
    "NEAR(",
    "own:turn",
    "{own near}: turn",
    "tur*",
    "^turn",
    "- turn",
    "turn + fact",
    "(turn",
    "))((",
    "n1xturn",
    "'; DROP TABLE episodes; --",
    "%s %d {0} $1 ?1 :id",
    "\\",
    "\U0001f600",
    "\u200d\u202e",
    "turn" * 25_000,
    "turn " * 20_000,
    " ".join(f"word{number}" for number in range(10_000)),
    "(" * 100_000,
    '"' * 99_999,
    "\u4f60" * 33_000,
]


@pytest.mark.parametrize("preset", ["engrain", "keyword", "semantic", "hybrid"])
@pytest.mark.parametrize("query", QUERIES, ids=case_name)
def test_any_text_is_a_query_with_one_answer(agent, query, preset):
    assert uncounted(agent.recall(query, preset=preset)) == uncounted(agent.recall(query, preset=preset))


@pytest.mark.parametrize("query", ["", "the of and", "?!", "\U0001f600"])
def test_a_query_without_words_gives_the_newest_and_says_so(agent, query):
    answer = agent.recall(query, preset="keyword")
    assert [hit.memory.content for hit in answer] == ["A fact", "A turn"]
    assert "empty_query" in {reason.code for reason in answer.degraded}


@pytest.fixture(scope="module")
def library():
    with Memory(open_store(":memory:"), embedder=HashEmbedder()) as memory:
        agent = memory.agent("ana", session="s")
        for number in range(20):
            agent.observe(f"turn {number} about Caf\u00e9 \u4f60\u597d AND OR NOT NEAR")
        memory.flush()
        yield agent


@given(query=st.text(st.characters(exclude_categories=()), max_size=200))
def test_no_text_breaks_a_query(library, query):
    assert uncounted(library.recall(query)) == uncounted(library.recall(query))
    library.context(query)


STRANGERS = [("bo", "default"), ("ana", "another tenant"), ("bo", "another tenant")]


@pytest.mark.parametrize(("name", "tenant"), STRANGERS)
def test_what_belongs_to_others_is_like_what_does_not_exist(memory, name, tenant):
    stranger = memory.agent(name, tenant=tenant)
    ana = memory.agent("ana", session="s")
    secrets = [ana.observe("A secret"), ana.remember("A secret", subject="Ana", predicate="has", scope="ana")]
    unknown = "01890000-0000-7000-8000-000000000000"
    with pytest.raises(NotFound) as nothing:
        stranger.forget(unknown)
    for secret in secrets:
        assert stranger.get(secret.id) is None
        with pytest.raises(NotFound) as refused:
            stranger.forget(secret.id)
        assert str(refused.value).replace(secret.id, unknown) == str(nothing.value)
        assert ana.get(secret.id, as_of=secret.created_at) == secret
    assert stranger.recall("secret", sessions="s").hits == ()
    assert stranger.recall("").hits == ()


def test_every_verb_of_a_closed_memory_says_that_it_is_closed(memory, agent):
    memory.close()
    calls = [functools.partial(call, agent, verb, **arguments) for verb, arguments in GOOD.items()]
    for each in [*calls, agent.stats, memory.flush, memory.health]:
        with pytest.raises(MemoryClosed, match="open"):
            each()


def test_a_word_of_any_length_is_no_obstacle(agent):
    word = "w" * sys.getrecursionlimit() * 10
    episode = agent.observe(word)
    assert agent.recall(word)[0].memory == episode
