"""Compares the store of LangGraph with its InMemoryStore over random operations, on one database, given as argument."""

import asyncio
import random
import sys
from datetime import UTC, date, datetime
from uuid import UUID

from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from engrain import AsyncMemory, Memory
from engrain.integrations.langgraph import EngrainStore

LABELS = ("users", "ana", "Ana", "an", "a_b", "a%", "*", "v1", "ä\n", "a/b")
KEYS = ("k", "key/with/slash.md", "K", " k ", "7", "ключ")
VALUES = (0, 1, 2.5, "a", "b", "", None, ["x", 1], {"n": 1, "m": "b"}, {"n": 2})
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


def namespace(chance):
    return tuple(chance.choices(LABELS, k=chance.randint(1, 3)))


def value(chance):
    return {f"f{number}": chance.choice(VALUES) for number in range(chance.randint(0, 3))} | {"n": chance.randint(0, 5)}


def condition(chance):
    if chance.random() < 0.5:
        return {"n": {chance.choice(OPERATORS): chance.randint(0, 5) for _ in range(chance.randint(1, 2))}}
    return {f"f{chance.randint(0, 2)}": chance.choice(VALUES)}


def operation(chance, *, deletes):
    """One of a world with deletions, or of one that lists namespaces: of these the memory store keeps empty ones."""
    match chance.choice([0, 1, 2, 3] if deletes else [0, 1, 3, 4, 5]):
        case 0 | 1:
            return PutOp(
                namespace(chance), chance.choice(KEYS), None if deletes and chance.random() < 0.2 else value(chance)
            )
        case 2:
            return GetOp(namespace(chance), chance.choice(KEYS))
        case 3:
            narrow = condition(chance) if chance.random() < 0.7 else None
            return SearchOp(namespace(chance)[: chance.randint(0, 2)], filter=narrow, limit=1_000)
        case _:
            conditions = tuple(
                MatchCondition(
                    chance.choice(["prefix", "suffix"]), tuple(chance.choices(LABELS, k=chance.randint(1, 2)))
                )
                for _ in range(chance.randint(0, 2))
            )
            depth = chance.choice([None, 1, 2])
            return ListNamespacesOp(
                conditions or None, depth, limit=chance.choice([3, 100]), offset=chance.choice([0, 1])
            )


def shown(result):
    """What is the same of both: the memory store lists in the order of insertion."""
    if isinstance(result, list):
        return sorted((shown(one) for one in result), key=repr)
    if result is None or isinstance(result, tuple):
        return result
    return (result.namespace, result.key, result.value)


def compare(store, run, chance, *, deletes):
    reference = InMemoryStore()
    for _ in range(60):
        batch = [operation(chance, deletes=deletes) for _ in range(chance.randint(1, 6))]
        ours, theirs = run(store, batch), reference.batch(batch)
        assert list(map(shown, ours)) == list(map(shown, theirs)), batch


def check_times(store):
    place = ("users", "ana")
    store.put(place, "k", {"n": 1})
    first = store.get(place, "k")
    store.put(place, "k", {"n": 2})
    second = store.get(place, "k")
    assert (first.created_at, first.updated_at < second.updated_at) == (second.created_at, True)
    assert second.updated_at.tzinfo is not None
    for key in ("a", "b", "c"):
        store.put(place, key, {})
    assert [item.key for item in store.search(place, limit=2, offset=1)] == ["b", "a"]
    for number in range(1_003):
        store.put(("many",), str(number), {"n": number}, index=False)
    found = [item.key for start in range(0, 1_100, 100) for item in store.search(("many",), limit=100, offset=start)]
    assert found == [str(number) for number in range(1_002, -1, -1)]
    assert len(store.search(("many",), limit=2_000)) == 1_003


def check_ttl(memory):
    now = memory.parts.clock()
    store = EngrainStore(memory, agent="ttl", ttl={"default_ttl": 2, "refresh_on_read": False})
    item = memory.agent("ttl").store
    store.put(("s",), "default", {})
    store.put(("s",), "never", {}, ttl=None)
    store.put(("s",), "over", {}, ttl=0)
    ends = {row.key: row.expires_at for row in item.search()}
    assert store.get(("s",), "over") is None
    assert 119 < (ends["default"] - now).total_seconds() < 180
    assert ends["never"] is None
    store.get(("s",), "default")
    assert item.get("default", namespace=["langgraph", "s"]).expires_at == ends["default"]
    store.get(("s",), "default", refresh_ttl=True)
    assert item.get("default", namespace=["langgraph", "s"]).expires_at > ends["default"]
    store.put(("t",), "older", {}, ttl=None)
    store.put(("t",), "newer", {})
    end = item.get("newer", namespace=["langgraph", "t"]).expires_at
    for query in (None, "nothing"):  # what comes before the offset is not given, and not refreshed
        assert [found.key for found in store.search(("t",), query=query, offset=1, refresh_ttl=True)] == ["older"]
    assert item.get("newer", namespace=["langgraph", "t"]).expires_at == end


def check_queries(memory):
    store = EngrainStore(memory, agent="queries", fields=["text"])
    place = ("memories",)
    store.put(place, "sea", {"text": "The ocean is deep and salty", "n": 1})
    store.put(place, "dog", {"text": "Rex barks at the postman", "n": 2})
    store.put(place, "own", {"text": "nothing", "more": [{"t": "a salty soup"}]}, index=["more[*].t"])
    store.put(place, "none", {"text": "The ocean is deep and salty"}, index=False)
    found = store.search(place, query="salt in the sea")
    assert found[0].key == "sea"
    assert found[-1].key == "none"
    assert found[-1].score is None
    scores = [item.score for item in found[:-1]]
    assert scores == sorted(scores, reverse=True)
    assert store.search(place, query="soup", limit=1)[0].key == "own"
    assert [item.key for item in store.search(place, query="salt", filter={"n": 2})] == ["dog"]
    assert [item.key for item in store.search(place, query="")] == ["none", "own", "dog", "sea"]


def check_pages_of_queries(memory):
    """A query has as many answers as are asked for."""
    store = EngrainStore(memory, agent="pages", fields=["text"])
    store.batch([PutOp(("many",), str(number), {"text": f"apple {number}"}) for number in range(1_003)])
    assert len(store.search(("many",), query="apple", limit=2_000)) == 1_003
    assert len(store.search(("many",), query="apple", limit=10, offset=1_000)) == 3
    assert store.search(("many",), query="apple", limit=10, offset=1_003) == []


def check_values(store):
    """Times and UUIDs are text, as in the stores of LangGraph that have a database."""
    at, id_ = datetime(2026, 5, 1, 9, 30, tzinfo=UTC), UUID(int=7)
    store.put(("values",), "k", {"at": at, "of": [{"id": id_}], "day": date(2026, 5, 1)})
    told = {"at": at.isoformat(), "of": [{"id": str(id_)}], "day": "2026-05-01"}
    assert store.get(("values",), "k").value == told
    assert [item.key for item in store.search(("values",), filter={"at": {"$lte": at}})] == ["k"]


def check_names(store):
    for wrong in ((), ("a.b",), ("",), ("langgraph",)):
        try:
            store.put(wrong, "k", {})
        except ValueError:
            continue
        raise AssertionError(wrong)


def main(location):
    with Memory.open(location) as memory:
        check_queries(memory)
    with Memory.open(location, embedder="none") as memory:
        chance = random.Random(7)
        for number, run in enumerate((EngrainStore.batch, lambda store, batch: asyncio.run(store.abatch(batch)))):
            for deletes in (True, False):
                one = AsyncMemory(memory) if number else memory
                store = EngrainStore(one, agent=f"agent {number} {deletes}")
                compare(store, run, chance, deletes=deletes)
        check_times(EngrainStore(memory, agent="times"))
        check_names(store)
        check_values(store)
        check_pages_of_queries(memory)
        check_ttl(memory)
        store.close()
        assert memory.agent("times").store.get("k", namespace=["langgraph", "users", "ana"]) is not None  # still open
    sys.stdout.write("ok\n")


main(sys.argv[1])
