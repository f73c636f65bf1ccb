"""Logs: exact JSON entries in order, by session, of one agent for one user, on both databases."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engrain import AsyncMemory, InvalidInput, Memory
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from tests.support.asgi import serving
from tests.support.clock import NOON, Clock

HI = {"role": "user", "content": "  My dog is called Rex\n", "uuid": "u1"}
ANSWER = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "Nice name"}]}}
LISTED = {"role": "user", "content": ["He barks", 7, {"type": "text", "text": "at night"}]}
CALL = {"type": "function_call", "arguments": '{"a": 1}', "call_id": "c"}
TEXT = st.text(st.characters(exclude_categories=()), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT | st.sampled_from(["\0", "\ud800", "\udc00 \ud800", " x\t"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECTS = st.dictionaries(TEXT, JSON, max_size=4)


@pytest.fixture
def memory(location):
    with Memory.open(location, embedder="none", clock=Clock(NOON, seconds=1)) as memory:
        yield memory


@pytest.fixture
def agent(memory):
    return memory.agent("aide", session="monday")


@pytest.fixture
def chat(agent):
    return agent.log("chat")


def entries(log, **where):
    return [entry.entry for entry in log.read(**where)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(OBJECTS, max_size=4), max_size=4))
def test_entries_come_back_as_they_were_given_in_their_order(chat, batches):
    chat.delete()
    for batch in batches:
        chat.append(batch)
    expected = [entry for batch in batches for entry in batch]
    found = entries(chat)
    assert found == expected
    assert json.dumps(found) == json.dumps(expected)  # -0.0, 1.0 and the order of keys too
    assert entries(chat, last=2) == expected[-2:]


def test_the_last_entries_are_in_their_order_and_numbers_are_not_used_again(chat):
    chat.append([{"n": number} for number in range(5)])
    assert [entry.sequence for entry in chat.read(last=2)] == [4, 5]
    assert entries(chat, last=0) == []
    assert chat.pop().entry == {"n": 4}
    assert chat.append([{"n": 9}]).entries == 5
    assert [entry.sequence for entry in chat.read(last=2)] == [4, 6]
    assert [chat.pop() is not None for _ in range(6)] == [True] * 5 + [False]
    assert chat.read() == []
    assert [session.entries for session in chat.sessions()] == [0]


def test_a_batch_is_all_or_nothing(chat):
    for wrong, why in (
        ([{"n": 1}, {"x": float("nan")}], r"entries\[1\]"),
        ([{"n": 1}, "text"], r"entries\[1\] must be a JSON object"),
        ([{"n": 1}, {"x": {1, 2}}], "is not JSON"),
        ({"n": 1}, "must be a list"),
        ([{"n": number} for number in range(10_001)], "10,000: split it"),
        ([{"n": 1}, {"x": "x" * 10_000_000}], "the most is 10,000,000"),
    ):
        with pytest.raises(InvalidInput, match=why):
            chat.append(wrong)
    deep = {}
    for _ in range(101):
        deep = {"x": deep}
    with pytest.raises(InvalidInput, match="deeper than 100 levels"):
        chat.append([{}, deep])
    assert chat.read() == []
    assert chat.append([]).added == 0
    assert list(chat.sessions()) == []


def test_a_turn_that_is_refused_is_an_entry_that_is_not_remembered(location, caplog):
    with Memory.open(location, embedder="none", settings={"privacy": {"secrets": "refuse"}}) as memory:
        chat = memory.agent("aide", session="s").log("chat")
        secret = {"role": "user", "content": "push with ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"}
        empty = {"role": "user", "content": "\0 "}
        appended = chat.append([secret, HI, empty, ANSWER], remember=True)
        assert entries(chat) == [secret, HI, empty, ANSWER]
        assert [memory.agent("aide").get(id_).content for id_ in appended.episode_ids] == [
            HI["content"].strip(),
            "Nice name",
        ]
    assert [(record.msg, record.error) for record in caplog.records] == [("turn not remembered", "InvalidInput")]


def test_an_entry_whose_id_is_there_is_skipped(chat):
    first = chat.append([HI, CALL, {**HI, "content": "twice in a batch"}], id_field="uuid")
    again = chat.append([HI, CALL, {"uuid": ""}, {"uuid": 1}, {"uuid": "\ud800"}], id_field="uuid")
    assert (first.added, first.skipped, first.entries) == (2, 1, 2)
    assert (again.added, again.skipped, again.entries) == (4, 1, 6)
    assert entries(chat)[:2] == [HI, CALL]
    assert chat.append([HI]).added == 1  # without id_field nothing is the same


def test_names_are_exact_and_logs_sessions_and_subkeys_apart(agent):
    names = ("a", "A", " a", "a ", "a/b", "%", "_", "ä")
    for log in names:
        for session in names:
            agent.log(log).append([{"log": log, "session": session}], session=session)
            agent.log(log).append([{"sub": session}], session=session, subkey=" a")
    for log in names:
        assert {session.session for session in agent.log(log).sessions()} == {*names}
        for session in names:
            assert entries(agent.log(log), session=session) == [{"log": log, "session": session}]
            assert [entry.entry for entry in agent.log.read(session=session, subkey=" a", log=log)] == [
                {"sub": session}
            ]
    for name in ("", "x" * 513, "a\0", "\ud800", 7):
        with pytest.raises(InvalidInput):
            agent.log(name)
        with pytest.raises(InvalidInput):
            agent.log.read(session=name)
    hanzi = "".join(map(chr, range(0x4E00, 0x4E00 + 512)))
    agent.log(hanzi[:171]).append([{}], session=hanzi[171:342], subkey=hanzi[342:])
    with pytest.raises(InvalidInput, match="1,539 bytes together"):
        agent.log(hanzi[:171]).append([{}], session=hanzi[171:342], subkey=hanzi[341:])
    agent.log("x" * 512).append([{}], session="y" * 512, subkey="z" * 512)


def test_a_session_is_deleted_with_its_subkeys_or_a_subkey_alone(chat):
    for subkey in ("", "side/2", "side/1"):
        chat.append([{"in": subkey}] * 2, subkey=subkey)
        chat.append([{"in": subkey}], session="tuesday", subkey=subkey)
    assert chat.subkeys() == ["side/1", "side/2"]
    assert chat.delete(subkey="side/1") == 2
    assert chat.subkeys() == ["side/2"]
    assert chat.delete() == 4
    assert (chat.delete(), chat.read(), chat.subkeys()) == (0, [], [])
    assert chat.subkeys(session="tuesday") == ["side/1", "side/2"]
    chat.append([{"n": "anew"}])
    assert [entry.sequence for entry in chat.read()] == [1]


def test_sessions_are_listed_last_written_first_page_by_page(chat):
    for name in ("a", "b", "c", "a"):
        chat.append([{"n": name}], session=name)
    chat.append([{}], session="only a subkey", subkey="side")
    pages = [chat.sessions(limit=2)]
    while pages[-1].next:
        pages.append(chat.sessions(limit=2, after=pages[-1].next))
    found = [session for page in pages for session in page]
    assert [(session.session, session.entries) for session in found] == [("a", 2), ("c", 1), ("b", 1)]
    assert found[0].created_at < found[1].created_at < found[0].updated_at
    with pytest.raises(InvalidInput, match="cursor"):
        chat.sessions(after="no cursor")


def test_a_session_is_named_or_the_agents_own(memory):
    with pytest.raises(InvalidInput, match="pass session"):
        memory.agent("aide").log.read()


def test_logs_are_one_agents_for_one_user(memory):
    everybody = [
        memory.agent(name, user=user, tenant=tenant, session="monday")
        for name in ("aide", "butler")
        for user in (None, "ana", "ana/aide")
        for tenant in ("default", "other")
    ]
    for number, one in enumerate(everybody):
        one.log.append([{"n": number, "uuid": "same"}], id_field="uuid")
    for number, one in enumerate(everybody):
        assert entries(one.log) == [{"n": number, "uuid": "same"}]
        assert len(one.log.sessions()) == 1
    assert [one.log.delete() for one in everybody] == [1] * len(everybody)


def test_writers_at_once_lose_and_mix_nothing(location):
    def write(writer):
        log = memory.agent("aide", session="s").log("chat")
        for number in range(10):
            log.append([{"w": writer, "n": number, "part": part} for part in (1, 2)])
        return [log.pop() for _ in range(5)]

    with Memory.open(location, embedder="none") as memory, ThreadPoolExecutor(4) as pool:
        popped = [entry for some in pool.map(write, range(4)) for entry in some]
        log = memory.agent("aide", session="s").log("chat")
        left = log.read()
        assert len({entry.sequence for entry in (*popped, *left)}) == len(popped) + len(left) == 80
        assert [session.entries for session in log.sessions()] == [60]
        everything = sorted((*popped, *left), key=lambda entry: entry.sequence)
        for first, second in zip(everything[::2], everything[1::2], strict=True):  # a batch is in one piece
            assert {**first.entry, "part": 2} == second.entry


def test_turns_are_remembered_as_episodes_in_the_same_act(agent, chat):
    time = "2026-03-04T05:06:07+00:00"
    added = chat.append([HI, CALL, {**ANSWER, "timestamp": time}], id_field="uuid", remember=True)
    turns = [agent.get(id_) for id_ in added.episode_ids]
    assert [(turn.role, turn.content, turn.session) for turn in turns] == [
        ("user", "My dog is called Rex", "monday"),
        ("assistant", "Nice name", "monday"),
    ]
    assert turns[1].event_time.isoformat() == time
    assert agent.recall("dog called", kinds=["episode"])[0].memory.id == turns[0].id
    assert chat.append([HI], id_field="uuid", remember=True).episode_ids == ()
    nothing = [{"role": "user", "content": " "}, {"role": "system", "content": "x"}, {"role": "user", "content": [7]}]
    assert chat.append([*nothing, {"message": "x"}], remember=True).episode_ids == ()
    [listed] = chat.append([LISTED], remember=True).episode_ids
    assert agent.get(listed).content == "He barks\nat night"
    chat.delete()
    assert agent.get(turns[0].id) is not None
    assert agent.episodes(session="other").items == ()


def test_what_is_done_to_a_log_is_in_the_audit_record(agent, chat):
    chat.append([HI, CALL])
    chat.pop()
    chat.delete()
    told = [(event.event_type, event.payload["entries"]) for event in agent.events()]
    assert told == [("log_deleted", 1), ("log_popped", 1), ("log_appended", 2)]
    assert "Rex" not in str([event.to_dict() for event in agent.events()])


def test_a_backup_holds_logs_and_what_was_deleted_stays_so(memory, chat, tmp_path):
    memory.agent("aide", user="ana").log("chat").append([HI], session="anas")
    memory.agent("butler").log("chat").append([CALL], session="butlers")
    for name in ("kept", "grown", "deleted"):
        chat.append([HI, CALL], session=name, id_field="uuid")
        chat.append([ANSWER], session=name, subkey="side")
    memory.backup(tmp_path / "all.gz", agent="aide")
    chat.append([ANSWER], session="grown")
    chat.delete(session="deleted")
    memory.restore(tmp_path / "all.gz")
    assert entries(chat, session="grown") == [HI, CALL, ANSWER]
    assert [entry.entry for entry in chat.read(session="deleted")] == []
    memory.restore(tmp_path / "all.gz", with_erased=True)
    assert entries(chat, session="deleted") == [HI, CALL]
    memory.restore(tmp_path / "all.gz", agent="clerk")
    clerk = memory.agent("clerk").log("chat")
    assert entries(clerk, session="kept") == [HI, CALL]
    assert entries(clerk, session="kept", subkey="side") == [ANSWER]
    assert clerk.append([HI], session="kept", id_field="uuid").skipped == 1
    assert entries(memory.agent("clerk", user="ana").log("chat"), session="anas") == [HI]
    assert clerk.read(session="butlers") == []
    clerk.append([CALL], session="only clerk's")
    memory.restore(tmp_path / "all.gz", agent="clerk", replace=True)
    assert clerk.read(session="only clerk's") == []
    assert entries(memory.agent("butler").log("chat"), session="butlers") == [CALL]


def test_an_export_is_read_back_exactly_and_a_repeat_adds_nothing(memory, chat, tmp_path):
    odd = {"uuid": "é", "t": "a\0b \ud800 ", "n": [1.0, -0.0, 10**400]}
    chat.append([HI, odd], id_field="uuid")
    chat.pop()
    chat.append([odd], subkey="side")
    chat.append([odd])
    report = memory.export(tmp_path / "aide.jsonl", agent="aide", kinds=["log"])
    assert report.kinds == {"log": 3}
    other = memory.agent("other", session="monday")
    counted = other.import_file(tmp_path / "aide.jsonl")
    assert (counted.added, dict(counted.kinds), counted.broken_count) == (3, {"log": 3}, 0)
    assert [entry.to_dict() for entry in other.log("chat").read()] == [entry.to_dict() for entry in chat.read()]
    assert entries(other.log("chat"), subkey="side") == [odd]
    again = other.import_file(tmp_path / "aide.jsonl")
    assert (again.added, again.present) == (0, 3)
    other.log("chat").delete()
    assert (other.import_file(tmp_path / "aide.jsonl").erased, other.log("chat").read()) == (3, [])
    memory.export(tmp_path / "aide.md", agent="aide", format="markdown")
    assert "## chat / monday / side" in (tmp_path / "aide.md").read_text()


@pytest.mark.parametrize("other", [{"sequence": 1, "key": "c"}, {"sequence": 3, "entry": '{"n": 3}'}])
def test_an_entry_whose_number_or_key_another_has_is_broken(memory, tmp_path, other):
    log = memory.agent("aide").log("chat")
    log.append([{"id": "a"}, {"id": "b"}], session="s", id_field="id")
    sound = {"kind": "log", "log": "chat", "session": "s", "sequence": 2, "entry": '{"id": "b"}', "key": "b"}
    file = tmp_path / "logs.jsonl"
    file.write_text("".join(json.dumps({**sound, **line}) + "\n" for line in ({}, {"sequence": 4}, other)))
    report = memory.agent("aide").import_file(file)
    assert (report.added, report.present) == (0, 2)  # the same entry, and its key under another number
    assert [broken.position for broken in report.broken] == ["line 3"]
    assert "another entry of this session has the number" in report.broken[0].reason
    assert entries(log, session="s") == [{"id": "a"}, {"id": "b"}]


def test_a_broken_line_of_a_log_is_named_and_the_others_are_read(memory, tmp_path):
    sound = {"kind": "log", "log": "chat", "session": "s", "sequence": 1, "entry": "{}"}
    wrong = [{"sequence": 0}, {"entry": "[]"}, {"entry": "{"}, {"session": "x" * 513}, {"subkey": "\0"}]
    file = tmp_path / "logs.jsonl"
    file.write_text("".join(json.dumps({**sound, **other}) + "\n" for other in ({}, *wrong)))
    report = memory.agent("aide").import_file(file)
    assert (report.added, report.broken_count) == (1, len(wrong))


def test_erasing_a_user_erases_the_logs_written_for_them(memory, tmp_path):
    for user in (None, "ana", "bob"):
        for name in ("aide", "butler"):
            memory.agent(name, user=user, session="s").log("chat").append([{"secret of": user}])
    memory.export_user("ana", tmp_path / "ana.jsonl")
    assert (tmp_path / "ana.jsonl").read_text().count("secret of") == 2
    memory.backup(tmp_path / "all.gz")
    planned = memory.erase_user("ana", dry_run=True)
    proof = memory.erase_user("ana")
    assert {part.table: part.rows for part in proof.tables} == {"log_sessions": 2}
    assert planned.sha256 == proof.sha256
    memory.restore(tmp_path / "all.gz")
    for user, left in ((None, 1), ("ana", 0), ("bob", 1)):
        for name in ("aide", "butler"):
            assert len(memory.agent(name, user=user, session="s").log("chat").read()) == left


def test_the_awaited_log_says_the_same(location):
    async def use():
        async with await AsyncMemory.open(location, embedder="none") as memory:
            log = memory.agent("aide", session="s").log("chat")
            await log.append([HI, CALL])
            assert [entry.entry for entry in await log.read()] == [HI, CALL]
            assert (await log.pop()).entry == CALL
            assert await memory.agent("aide", session="s").log.read() == []

    asyncio.run(use())


def test_a_lone_surrogate_survives_http(memory):
    odd = {"t": "a\0b \ud800 \udc00", "n": 1.0}
    with serving(create_app(memory, gate=Gate(memory, keys_required=False))) as url:
        who = {"Engrain-Agent": "aide", "Engrain-Session": "monday", "Content-Type": "application/json"}
        with httpx2.Client(base_url=url, headers=who, timeout=60) as client:
            body = json.dumps({"entries": [odd]}).encode()
            assert client.post("/v1/log/append", content=body).json()["added"] == 1
            answer = client.get("/v1/log/read")
    assert [item["entry"] for item in json.loads(answer.content)["items"]] == [odd]
    assert entries(memory.agent("aide", session="monday").log) == [odd]
