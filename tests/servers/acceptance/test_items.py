"""Items: exact JSON objects by namespace and key, of one agent for one user, on both databases."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engrain import AsyncMemory, InvalidInput, Memory
from engrain.domain import pagination
from engrain.errors import EngineUnavailable, UnreadableImport, VersionConflict
from tests.support.clock import NOON, Clock
from tests.support.engines import HashEmbedder

TEXT = st.text(st.characters(exclude_categories=()), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT | st.sampled_from(["\0", "\ud800", "\udc00 \ud800", " x\t"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECTS = st.dictionaries(TEXT, JSON, max_size=4)
ANA = ["users", "ana"]


@pytest.fixture
def clock():
    return Clock(NOON, seconds=1)


@pytest.fixture
def memory(location, clock):
    with Memory.open(location, embedder="none", clock=clock) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("aide")


@pytest.fixture
def store(agent):
    return agent.store(ANA)


def keys(page):
    return [item.key for item in page]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=OBJECTS)
def test_a_value_comes_back_as_it_was_given(store, value):
    store.put("k", value, index="$")
    assert json.dumps(store.get("k").value) == json.dumps(value)  # -0.0, 1.0 and the order of keys too
    assert [json.dumps(item.value) for item in store.search()] == [json.dumps(value)]


def test_names_are_exact_and_a_namespace_is_none_of_its_neighbours(agent):
    labels = ["a", "a ", "A", "a/b", "a%2Fb", "ä", "_", "%", "*", "[a]", "a\n", "0"]
    for label in labels:
        agent.store(label).put("k", {"of": label})
        agent.store([label, "inner"]).put("k", {"of": label})
    for label in labels:
        found = agent.store.search(namespace=label)
        assert [item.namespace for item in found] == [(label, "inner"), (label,)]
        assert {item.value["of"] for item in found} == {label}
    assert agent.store(["a", "b"]).search().items == ()
    assert agent.store.get("k") is None
    assert len(agent.store.search()) == 2 * len(labels)


def test_versions_grow_and_decide_who_may_write(store):
    first = store.put("k", {"n": 1}, expected_version=0)
    with pytest.raises(VersionConflict, match="version"):
        store.put("k", {"n": 2}, expected_version=0)
    second = store.put("k", {"n": 2}, expected_version=first.version)
    assert (first.existed, second.existed) == (False, True)
    assert second.version > first.version
    with pytest.raises(VersionConflict):
        store.delete("k", expected_version=first.version)
    with pytest.raises(VersionConflict):  # all or none
        store.write([{"key": "other", "value": {}}, {"key": "k", "expected_version": first.version}])
    assert store.get("other") is None
    assert store.delete("k", expected_version=second.version) is True
    assert store.delete("k") is False
    assert store.get("k") is None
    assert store.put("k", {"n": 3}).version > second.version
    item = store.get("k")
    assert (item.value, item.created_at == item.updated_at) == ({"n": 3}, True)


def test_overwriting_leaves_no_history_unless_it_is_asked_for(store):
    store.put("k", {"n": 1})
    store.put("k", {"n": 2})
    assert [item.value for item in store.history("k")] == [{"n": 2}]
    store.put("k", {"n": 3}, keep_history=True)
    store.put("k", {"n": 4}, keep_history=True)
    kept = store.history("k")
    assert [item.value["n"] for item in kept] == [4, 3, 2]
    assert len({item.created_at for item in kept}) == 1
    assert store.get("k").value == {"n": 4}
    assert keys(store.search()) == ["k"]
    store.delete("k")
    store.put("k", {"n": 5})
    assert [item.value["n"] for item in store.history("k")] == [5]


def test_of_writers_at_once_one_wins_each_version(location):
    with Memory.open(location, embedder="none") as memory, ThreadPoolExecutor(4) as pool:
        store = memory.agent("aide").store("counters")
        store.put("k", {"n": 0})

        def increase(_):
            while True:
                item = store.get("k")
                try:
                    return store.put("k", {"n": item.value["n"] + 1}, expected_version=item.version).version
                except VersionConflict:
                    continue

        versions = list(pool.map(increase, range(40)))
        created = list(pool.map(lambda n: store.put("new", {"n": n}).existed, range(8)))
        assert (store.get("k").value, len(set(versions)), created.count(False)) == ({"n": 40}, 40, 1)


def test_filters_read_fields_as_json_does(store):
    values = {
        "one": {"kind": "book", "pages": 90, "tags": ["a", "b"], "by": {"name": "Ana", "age": 30}, "on": True},
        "two": {"kind": "book", "pages": 120.0, "tags": ["a"], "by": {"name": "Bo"}, "on": 1},
        "three": {"kind": None, "title": "b"},
    }
    for key, value in values.items():
        store.put(key, value)
    asked = {
        "one two": {"kind": "book"},
        "one": {"by": {"name": "Ana"}},
        "two": {"tags": ["a"]},
        "one ": {"on": True},
        "two ": {"on": {"$eq": 1}},
        "two  ": {"pages": {"$gt": 90, "$lte": 120}},
        "one  ": {"pages": {"$lt": 91}},
        "three": {"title": {"$gte": "a"}},
        "three ": {"kind": {"$ne": "book"}},
        "three  ": {"kind": None},
        "": {"pages": {"$gt": "1"}},
    }
    for expected, fields in asked.items():
        assert sorted(keys(store.search(fields=fields))) == sorted(expected.split()), fields
    for wrong in ({"pages": {"$near": 1}}, [1], "x", {"a": float("nan")}):
        with pytest.raises(InvalidInput):
            store.search(fields=wrong)


def test_lists_go_by_the_last_write_in_pages_that_are_stable(store):
    for number in range(25):
        store.put(f"k{number:02}", {"n": number, "odd": number % 2})
    store.put("k03", {"n": 3, "odd": 1})
    expected = ["k03", *(f"k{number:02}" for number in range(24, -1, -1) if number != 3)]
    for fields, wanted in ((None, expected), ({"odd": 1}, [key for key in expected if int(key[1:]) % 2])):
        found, after = [], None
        while True:
            page = store.search(fields=fields, limit=4, after=after)
            found += keys(page)
            after = page.next
            if after is None:
                break
        assert found == wanted
    with pytest.raises(InvalidInput):
        store.search("a query", after=store.search(limit=1).next)
    forged = pagination.encode("store.search of a query", ("-1", ""))
    with pytest.raises(InvalidInput, match="rank of the cursor is -1"):
        store.search("a query", after=forged)


def test_namespaces_by_prefix_suffix_wildcard_and_depth(agent):
    every = [("docs",), ("users", "ana", "v1"), ("users", "bo", "v1"), ("users", "bo", "v2"), ("usersx", "ana")]
    for labels in every:
        agent.store(labels).put("k", {})
        agent.store(labels).put("l", {})
    asked = [
        ({}, every),
        ({"namespace": "users"}, every[1:4]),
        ({"namespace": ["*", "ana"]}, [every[1], every[4]]),
        ({"suffix": ["bo", "*"]}, every[2:4]),
        ({"namespace": "users", "suffix": "v1"}, every[1:3]),
        ({"suffix": ["a", "b", "c", "d", "e"]}, []),
    ]
    for arguments, expected in asked:
        assert [found.namespace for found in agent.store.namespaces(**arguments)] == expected, arguments
    cut = agent.store.namespaces(namespace="users", depth=2)
    assert [(found.namespace, found.items) for found in cut] == [(("users", "ana"), 2), (("users", "bo"), 4)]
    first = agent.store.namespaces(limit=2)
    assert [found.namespace for found in agent.store.namespaces(after=first.next)] == every[2:]


def test_a_time_to_live_ends_and_may_begin_anew(memory, store, clock):
    store.put("short", {"n": 1}, ttl_s=60)
    store.put("long", {"n": 2}, ttl_s=600)
    clock.pass_time(minutes=0.8)
    assert store.get("short", refresh=True).expires_at > store.get("long").created_at
    clock.pass_time(minutes=0.8)
    assert store.get("short") is not None
    clock.pass_time(minutes=2)
    assert store.get("short") is None
    assert keys(store.search(refresh=True)) == ["long"]
    assert store.history("short") == []
    assert [found.items for found in memory.agent("aide").store.namespaces()] == [1]
    assert memory.cleanup(dry_run=True).items_deleted == 1
    assert memory.cleanup().items_deleted == 1
    assert memory.cleanup().items_deleted == 0
    fresh = store.put("long", {"n": 3}, expected_version=store.get("long").version)
    assert fresh.expires_at is None
    clock.pass_time(days=2)
    assert store.get("long").value == {"n": 3}
    store.put("over", {}, ttl_s=1)
    clock.pass_time(minutes=1)
    assert store.put("over", {"n": 1}, expected_version=0).existed is False


def test_a_query_has_pages_the_best_first_and_then_what_is_not_indexed(store):
    for number in range(7):
        store.put(f"apple {number}", {"text": f"apple {'pie ' * number}"}, index="text")
    for number in range(3):
        store.put(f"other {number}", {"text": "apple"})
    every = store.search("apple", limit=100)
    assert (len(every), every.next) == (10, None)
    for limit in (1, 3, 7, 9, 10):
        found, after = [], None
        while True:
            page = store.search("apple", limit=limit, after=after)
            found += page
            if (after := page.next) is None:
                break
        assert found == list(every), limit
    assert keys(every)[7:] == ["other 2", "other 1", "other 0"]


def test_a_query_ranks_by_words_and_by_meaning(location):
    with Memory.open(location) as memory:
        store = memory.agent("aide").store("facts")
        store.put("sea", {"text": "The ocean is deep and salty", "n": 1}, index=["text"])
        store.put(
            "dog", {"text": "Rex barks at the postman", "more": {"names": ["terrier", "hound"]}}, index="more.names[*]"
        )
        store.put("code", {"text": "kx-4711 is the door code"}, index="$")
        store.put("plain", {"text": "The ocean is deep and salty"})
        found = store.search("how much salt is in sea water")
        assert keys(found)[0] == "sea"
        assert keys(found)[-1] == "plain"
        assert [item.score is None for item in found] == [False, False, False, True]
        assert keys(store.search("terrier", limit=1)) == keys(store.search("pet animal", limit=1)) == ["dog"]
        assert keys(store.search("kx-4711", limit=1)) == ["code"]
        assert keys(store.search("salt", fields={"n": 1})) == ["sea"]
        store.put("sea", {"text": "A dry desert"}, index=["text"])
        assert keys(store.search("kx-4711", limit=1)) == ["code"]
        assert "sea" not in keys(store.search("ocean", fields={"text": {"$ne": "A dry desert"}}))
        assert memory.agent("aide").recall("ocean").hits == ()


class Failing:
    name, dims = "test:failing", 4
    is_well = True

    def embed(self, texts, *, role):  # noqa: ARG002
        if not self.is_well:
            raise EngineUnavailable("out")
        rows = [[text.count(letter) + 0.01 for letter in "abcd"] for text in texts]
        return [[one / sum(value**2 for value in row) ** 0.5 for one in row] for row in rows]


def test_what_no_embedder_saw_is_found_by_words_and_embedded_later(location):
    embedder = Failing()
    with Memory.open(location, embedder=embedder) as memory:
        store = memory.agent("aide").store("s")
        embedder.is_well = False
        store.put("one", {"t": "aaa word"}, index="t")
        store.put("two", {"t": "bbb other"}, index="t")
        assert keys(store.search("word", limit=1)) == ["one"]
        embedder.is_well = True
        assert keys(store.search("bbbb", limit=1)) == ["two"]


@pytest.mark.parametrize("dims", [[8, 6], [8, 4], [4, 8]], ids=str)
def test_after_a_change_of_dimensions_items_are_ranked_by_vectors_of_the_new_ones(location, dims):
    for of_now in dims:
        embedder = HashEmbedder("openai:text-embedding-3-small", dims=of_now)
        with Memory.open(location, embedder=embedder) as memory:
            memory.reembed()
            store = memory.agent("aide").store(ANA)
            if of_now == dims[0]:
                memory.agent("aide").observe("A turn")
                store.write([{"key": text, "value": {"text": text}, "index": ["text"]} for text in ("tea", "coffee")])
                memory.flush()
            [first, second] = store.search("tea")
            assert (first.key, first.score, second.key) == ("tea", pytest.approx(1, abs=1e-3), "coffee")
            embedded = len(embedder.embedded)
            store.search("tea")
            assert len(embedder.embedded) == embedded


@pytest.mark.parametrize("embedder", [None, "none"], ids=["meaning", "words"])
def test_an_item_without_a_text_in_its_fields_follows_the_others_without_a_score(location, embedder):
    with Memory.open(location, embedder=embedder) as memory:
        store = memory.agent("aide").store(ANA)
        store.put("coffee", {"text": "I like coffee"}, index=["text"])
        store.put("far", {"text": "Quarterly tax filings of the harbour authority"}, index=["text"])
        store.put("no text", {"other": "tea"}, index=["text"])
        for _ in range(2):
            page = store.search("coffee machine")
            assert keys(page) == ["coffee", "far", "no text"]
            assert [item.score is None for item in page] == [False, False, True]


def test_every_agent_and_user_has_items_of_its_own(memory):
    everybody = [memory.agent(name, user=user, tenant=tenant) for tenant in ("acme", "bolt")
                 for name in ("aide", "ana") for user in (None, "ana", "ana/aide")]  # fmt: skip
    for number, one in enumerate(everybody):
        one.store("s").put("k", {"n": number}, index="$", expected_version=0)
    for number, one in enumerate(everybody):
        assert [item.value["n"] for item in one.store.search("n")] == [number]
        assert one.store.namespaces()[0].items == 1
    assert [one.store("s").delete("k") for one in everybody] == [True] * len(everybody)


def test_what_is_done_to_items_is_in_the_audit_record_without_their_values(agent, store):
    store.put("k", {"secret": "Rex"})
    store.write([{"key": "a", "value": {}}, {"key": "b", "value": {}}, {"key": "k"}, {"key": "nothing"}])
    told = [(event.event_type, event.payload) for event in agent.events()]
    assert sorted(kind for kind, _ in told) == ["items_deleted", "items_put", "items_put"]
    assert ("items_put", {"namespace": ANA, "key": "k", "items": 1}) in told
    assert "Rex" not in str(told)


@pytest.mark.parametrize(
    "arguments",
    [
        {"key": ""},
        {"key": "\0"},
        {"key": 1},
        {"key": "k" * 513},
        {"namespace": ["a", ""]},
        {"namespace": ["a" * 500] * 4},
        {"namespace": 7},
        {"value": None},
        {"value": []},
        {"value": {"x": {1, 2}}},
        {"index": ["a["]},
        {"index": 3},
        {"ttl_s": -1},
        {"expected_version": -1},
        {"expected_version": "1"},
        {"keep_history": 1},
    ],
)
def test_what_is_no_item_is_refused_and_nothing_is_written(agent, arguments):
    given = {"key": "k", "value": {}, **arguments}
    with pytest.raises(InvalidInput):
        agent.store.put(given.pop("key"), given.pop("value"), **given)
    with pytest.raises(InvalidInput):
        agent.store.write([{"key": "fine", "value": {}}, {"key": "k", "valeu": {}}])
    assert agent.store.search().items == ()
    assert agent.store.write([]) == []


def test_a_backup_holds_items_and_what_was_deleted_stays_so(memory, store, tmp_path):
    memory.agent("aide", user="ana").store("s").put("k", {"of": "ana"})
    memory.agent("butler").store("s").put("k", {"of": "butler"})
    store.put("kept", {"n": 1})
    store.put("kept", {"n": 2}, keep_history=True)
    store.put("changed", {"n": 1})
    store.put("deleted", {"n": 1}, index="$", ttl_s=86_400)
    store.put("deleted", {"n": 2}, keep_history=True)
    memory.backup(tmp_path / "all.gz", agent="aide")
    store.put("changed", {"n": 2})
    store.delete("deleted")
    memory.restore(tmp_path / "all.gz")
    assert (store.get("changed").value, store.get("deleted")) == ({"n": 2}, None)
    store.put("deleted", {"n": 3})
    assert len(store.history("deleted")) == 1
    store.delete("deleted")
    memory.restore(tmp_path / "all.gz", with_erased=True)
    assert [item.value["n"] for item in store.history("deleted")] == [2, 1]
    memory.restore(tmp_path / "all.gz", agent="clerk")
    clerk = memory.agent("clerk").store(ANA)
    assert [item.value["n"] for item in clerk.history("kept")] == [2, 1]
    assert sorted(keys(clerk.search("n"))) == ["changed", "deleted", "kept"]
    assert memory.agent("clerk", user="ana").store("s").get("k").value == {"of": "ana"}
    assert memory.agent("clerk").store("s").get("k") is None
    clerk.put("only clerk's", {}, index="$")
    memory.restore(tmp_path / "all.gz", agent="clerk", replace=True)
    assert clerk.get("only clerk's") is None
    assert memory.agent("butler").store("s").get("k").value == {"of": "butler"}


def test_a_restore_leaves_an_item_alone_whose_key_was_written_again(memory, tmp_path):
    file = tmp_path / "ana.gz"
    ana = memory.agent("aide", user="ana")
    store, other = ana.store("s"), ana.store("t")
    for number in (1, 2):
        for place in (store, other):
            place.put("theme", {"of backup": number}, keep_history=True)
    ana.observe("I like jazz.")
    memory.backup(file, user="ana")
    memory.erase_user("ana")
    store.put("theme", {"v": "light"})
    written = store.history("theme")
    planned = memory.restore(file, with_erased=True, dry_run=True)
    report = memory.restore(file, with_erased=True)
    assert (report.added["episodes"], report.added["items"], planned.added) == (1, 2, report.added)
    assert store.history("theme") == written
    assert [item.value for item in other.history("theme")] == [{"of backup": 2}, {"of backup": 1}]
    assert memory.restore(file, with_erased=True).added == {}
    store.delete("theme")
    assert "items" not in memory.restore(file).added  # as they stay erased that were left out
    assert store.get("theme") is None


def test_a_restore_elsewhere_leaves_an_item_alone_whose_key_is_taken(memory, store, tmp_path):
    store.put("k", {"of backup": 1})
    memory.backup(tmp_path / "aide.gz", agent="aide")
    memory.agent("clerk").store(ANA).put("k", {})
    assert "items" not in memory.restore(tmp_path / "aide.gz", agent="clerk").added
    assert memory.agent("clerk").store(ANA).get("k").value == {}
    with Memory.open(tmp_path / "copy.db", embedder="none") as copy:
        there = copy.agent("aide").store(ANA)
        there.put("k", {})
        for dry_run in (True, False):
            assert "items" not in copy.restore(tmp_path / "aide.gz", untrusted=True, dry_run=dry_run).added
        assert there.get("k").value == {}


def test_a_copy_to_another_database_holds_items(memory, store, tmp_path):
    store.put("k", {"text": "a\0b"}, index="$")
    memory.backup(tmp_path / "all.gz")
    with Memory.open(tmp_path / "copy.db", embedder="none") as copy:
        copy.restore(tmp_path / "all.gz", untrusted=True)
        there = copy.agent("aide").store(ANA)
        assert there.get("k") == store.get("k")
        assert there.search("text")[0].score is not None


def test_an_export_is_read_back_exactly_and_a_repeat_adds_nothing(memory, store, tmp_path):
    odd = {"é": "a\0b \ud800 ", "n": [1.0, -0.0, 10**400]}
    store.put("k", {}, keep_history=True)
    store.put("k", odd, index=["é"], ttl_s=1e6, keep_history=True)
    assert memory.export(tmp_path / "aide.jsonl", agent="aide", kinds=["item"]).kinds == {"item": 1}
    other = memory.agent("other")
    counted = other.import_file(tmp_path / "aide.jsonl")
    assert (counted.added, dict(counted.kinds), counted.broken_count) == (1, {"item": 1}, 0)
    assert other.store(ANA).get("k") == store.get("k")
    assert keys(other.store.search("b")) == ["k"]
    again = other.import_file(tmp_path / "aide.jsonl")
    assert (again.added, again.present) == (0, 1)
    other.store(ANA).delete("k")
    assert (other.import_file(tmp_path / "aide.jsonl").erased, other.store(ANA).get("k")) == (1, None)
    memory.export(tmp_path / "aide.md", agent="aide", format="markdown")
    assert "## users / ana / k" in (tmp_path / "aide.md").read_text()


def test_an_item_that_has_another_value_than_the_line_is_broken_and_stays(memory, store, tmp_path):
    store.put("k", {"n": 1})
    memory.export(tmp_path / "aide.jsonl", agent="aide", kinds=["item"])
    store.put("k", {"n": 2})
    report = memory.agent("aide").import_file(tmp_path / "aide.jsonl")
    assert (report.added, report.present, report.broken[0].position) == (0, 0, "line 1")
    assert "'k' has another value" in report.broken[0].reason
    assert store.get("k").value == {"n": 2}
    with pytest.raises(UnreadableImport, match=r"line 1: the item 'k' has another value"):
        memory.agent("aide").import_file(tmp_path / "aide.jsonl", strict=True)


def test_a_broken_line_of_an_item_is_named_and_the_others_are_read(memory, tmp_path):
    sound = {"kind": "item", "namespace": ["a"], "key": "k", "value": "{}"}
    wrong = [{"value": "[]"}, {"value": "{"}, {"key": "\0"}, {"namespace": [""]}, {"ttl_s": "x"}, {"version": -1}]
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps({**sound, **other}) + "\n" for other in ({}, *wrong)))
    report = memory.agent("aide").import_file(file)
    assert (report.added, report.broken_count) == (1, len(wrong))


def test_erasing_a_user_erases_the_items_written_for_them(memory, tmp_path):
    for user in (None, "ana", "bob"):
        for name in ("aide", "butler"):
            memory.agent(name, user=user).store("s").put("k", {"secret of": user}, index="$")
            memory.agent(name, user=user).store("s").put("k", {"secret of": user}, keep_history=True)
    memory.export_user("ana", tmp_path / "ana.jsonl")
    assert (tmp_path / "ana.jsonl").read_text().count("secret of") == 2
    memory.backup(tmp_path / "all.gz")
    planned = memory.erase_user("ana", dry_run=True)
    proof = memory.erase_user("ana")
    assert {part.table: part.rows for part in proof.tables} == {"items": 4}
    assert planned.sha256 == proof.sha256
    memory.restore(tmp_path / "all.gz")
    for user, left in ((None, 2), ("ana", 0), ("bob", 2)):
        for name in ("aide", "butler"):
            assert len(memory.agent(name, user=user).store("s").history("k")) == left


def test_the_awaited_store_says_the_same(location):
    async def use():
        async with await AsyncMemory.open(location, embedder="none") as memory:
            store = memory.agent("aide").store(ANA)
            await store.put("k", {"n": 1})
            assert (await store.get("k")).value == {"n": 1}
            assert keys(await store.search()) == ["k"]
            assert await memory.agent("aide").store.get("k") is None

    asyncio.run(use())
