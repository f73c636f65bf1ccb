"""`Memory.open("http://...")`: a server as a memory, over its faults, its end and its start."""

import asyncio
import json
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from engrain import AsyncMemory, Memory
from engrain.domain.entities.graph import GraphEntity
from engrain.domain.records import Caller, Detail, Episode
from engrain.errors import (
    DatabaseUnreachable,
    EngrainError,
    Forbidden,
    InvalidInput,
    MemoryClosed,
    NotFound,
    OutcomeUnknown,
    Unauthenticated,
    UnusableBackup,
)
from tests.support.cutting_proxy import CuttingProxy
from tests.support.engrain import EngrainServer, keyed_server
from tests.support.ports import free_port
from tests.support.postgres import server as database_server

SAID = "I moved to Lisbon in May"
NO_EMBEDDER = {"embedding": {"model": "none"}}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with EngrainServer(tmp_path_factory.mktemp("server") / "memory.db") as server:
        yield server


@pytest.fixture
def memory(server):
    with Memory.open(server.address) as memory:
        yield memory


@pytest.fixture
def local(tmp_path):
    with Memory.open(tmp_path / "local.db", settings=NO_EMBEDDER) as memory:
        yield memory


@pytest.fixture
def keyed(tmp_path):
    """A server that asks for keys, and the keys of some callers."""
    described = {name: {"role": name} for name in ("admin", "reader")}
    described["ana"] = {"role": "writer", "agent": "butler", "user": "ana"}
    with keyed_server(tmp_path / "memory.db", tenant="acme", **described) as (server, keys):
        yield server.address, keys


@pytest.fixture
def proxy(server):
    """A proxy before the server that can lose the answer to what has a content."""
    with CuttingProxy(server.port, at=b'"content"', end=b"") as proxy:
        proxy.is_delivered = True
        yield proxy


def stored(memory, session):
    return [episode.content for episode in memory.agent(session=session).episodes(session)]


class TestItsCaller:
    def test_a_key_says_for_whom_it_speaks(self, keyed):
        address, keys = keyed
        with Memory.open(address, key=keys["ana"]) as memory:
            caller = Caller(tenant_id="acme", agent="butler", user="ana", is_user_bound=True, may_publish=False)
            assert memory.agent().caller == caller
            assert memory.agent(is_user_bound=True, tenant="acme").observe(SAID).scope == "user:ana/butler"
            with pytest.raises(Forbidden, match="user 'ana' alone"):
                memory.agent(user="ben").observe(SAID)
            with pytest.raises(Forbidden, match="of the tenant 'acme', not 'other'"):
                memory.agent(tenant="other")
            with pytest.raises(Forbidden):
                memory.decay()

    def test_agent_user_session_and_request_id_are_those_of_the_view(self, memory):
        view = memory.agent("Zoë", user="Müller & Söhne", session="🔧 tap", request_id="r-1")
        episode = view.observe(SAID)
        assert (episode.agent, episode.session) == ("Zoë", "🔧 tap")
        assert episode.scope == "user:Müller & Söhne/Zoë"
        assert view.events(episode.id)[0].request_id == "r-1"
        assert memory.agent("Zoë").get(episode.id) is None

    @pytest.mark.parametrize("names", [{"request_id": "two words"}, {"session": "a\nb"}, {"name": "a\x7fb"}])
    def test_a_name_that_no_header_carries_is_refused_before_it_is_sent(self, memory, names):
        with pytest.raises(InvalidInput, match="cannot be sent over HTTP"):
            memory.agent(**names)

    def test_a_wrong_key_is_refused_when_it_is_opened(self, keyed):
        with pytest.raises(Unauthenticated):
            Memory.open(keyed[0], key="engrain_wrong")
        with pytest.raises(InvalidInput, match="no access key"):
            Memory.open(keyed[0], key="two words")

    def test_the_key_is_that_of_the_settings_where_none_is_given(self, keyed, monkeypatch):
        address, keys = keyed
        with pytest.raises(Unauthenticated):
            Memory.open(address)
        monkeypatch.setenv("ENGRAIN_KEY", keys["ana"])
        with Memory.open(address) as memory:
            assert memory.default_caller.user == "ana"
        with Memory.open(address, key=keys["reader"]) as memory:
            assert memory.default_caller.user is None

    def test_a_reader_may_not_write(self, keyed):
        address, keys = keyed
        with Memory.open(address, key=keys["reader"]) as memory, pytest.raises(Forbidden, match="reader"):
            memory.agent("a").observe(SAID)

    def test_an_admin_lists_keys_and_jobs(self, keyed):
        address, keys = keyed
        with Memory.open(address, key=keys["admin"]) as memory:
            made = memory.keys.create(
                role="reader", agent="ben", name="for ben", expires_at=datetime(2099, 1, 1, tzinfo=UTC)
            )
            assert made.key.expires_at == datetime(2099, 1, 1, tzinfo=UTC)
            assert made.key in memory.keys.list()
            assert memory.keys.revoke(made.key.id).revoked_at is not None
            assert memory.jobs.run("decay", enqueue=True) in memory.jobs.list()
            with pytest.raises(InvalidInput, match="authenticate is about the server"):
                memory.keys.authenticate(made.secret)


WRONG = {
    "an empty content": lambda agent, _: agent.observe(""),
    "an unknown time": lambda agent, _: agent.remember("x", valid_from="no time"),
    "an interval that ends before it begins": lambda agent, _: agent.remember(
        "x", valid_from="2026-05-02", valid_to="2026-05-01"
    ),
    "nobody": lambda agent, _: agent.forget("018f0000-0000-7000-8000-000000000000"),
    "an unknown entity": lambda agent, _: agent.remember("x", entity_id="nobody"),
    "another list's cursor": lambda agent, _: agent.facts(after="x"),
    "an empty id": lambda agent, _: agent.confirm(""),
    "an unknown run": lambda _, memory: memory.undo("018f0000-0000-7000-8000-000000000000"),
    "one name where several are wanted": lambda agent, _: agent.graph.delete_entities("Ana"),
    "a value that JSON has not": lambda agent, _: agent.observe("x", metadata={"a": {1, 2}.pop}),
}


class TestItsErrors:
    @pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
    def test_an_error_is_of_the_class_that_a_local_memory_raises(self, memory, local, wrong):
        with pytest.raises(EngrainError) as here:
            wrong(local.agent(), local)
        with pytest.raises(EngrainError) as there:
            wrong(memory.agent(), memory)
        assert type(there.value) is type(here.value)

    @pytest.mark.parametrize("name", ["nobody", "an unknown entity", "another list's cursor", "an empty content"])
    def test_its_words_are_the_librarys(self, memory, local, name):
        with pytest.raises(EngrainError) as here:
            WRONG[name](local.agent(), local)
        with pytest.raises(EngrainError) as there:
            WRONG[name](memory.agent(), memory)
        assert str(there.value) == str(here.value)

    def test_what_is_not_there_is_none(self, memory):
        agent = memory.agent("reader of nothing")
        for id_ in ("018f0000-0000-7000-8000-000000000000", "..", "a/b", "ä?#"):
            assert agent.get(id_) is None
        assert agent.notes.recall("nothing") is None
        assert agent.latest_reflection() is None

    def test_a_parameter_that_is_not_there_is_a_type_error(self, memory):
        with pytest.raises(TypeError, match="contents"):
            memory.agent().observe("x", contents="x")

    def test_a_closed_memory_says_so(self, server):
        memory = Memory.open(server.address)
        agent = memory.agent()
        memory.close()
        memory.close()
        with pytest.raises(MemoryClosed):
            agent.observe(SAID)

    @pytest.mark.parametrize("name", ["flush", "reembed", "health", "readiness", "metrics"])
    def test_what_http_does_not_offer_says_so(self, memory, name):
        with pytest.raises(InvalidInput, match=f"{name} is about the server's own process"):
            getattr(memory, name)()

    @pytest.mark.parametrize("name", ["settings", "embedder", "llm_usage", "now"])
    def test_what_a_server_does_not_tell_says_so(self, memory, name):
        with pytest.raises(InvalidInput, match=f"{name} is about the server's own process"):
            getattr(memory, name)

    def test_a_function_stays_here(self, memory):
        with pytest.raises(InvalidInput, match="decay cannot send progress over HTTP"):
            memory.decay(progress=print)
        with pytest.raises(InvalidInput, match="count_tokens has a value of type builtin_function"):
            memory.agent().context("x", count_tokens=len)

    @pytest.mark.parametrize(
        ("address", "says"),
        [
            ("http://example.org", "unencrypted"),
            ("https://ana:secret@example.org", "names no user or password"),
            ("https://example.org?key=1", "no server's"),
            ("https://", "no server's"),
            ("https://example.org:port", "no URL"),
        ],
    )
    def test_an_address_that_is_none_is_refused(self, address, says):
        with pytest.raises(InvalidInput, match=says):
            Memory.open(address, key="k")

    def test_engines_of_a_server_are_set_there_and_a_file_has_no_key(self, server, tmp_path):
        with pytest.raises(InvalidInput, match="are set there"):
            Memory.open(server.address, settings={})
        with pytest.raises(InvalidInput, match="for the memory of a server"):
            Memory.open(tmp_path / "memory.db", key="k")


def test_one_word_stands_where_several_may(memory):
    agent = memory.agent("filer")
    told = agent.observe(SAID, tags="home", role="assistant")
    assert told.tags == ("home",)
    for narrowed in ({"kinds": "episode"}, {"roles": "assistant"}, {"tags": "home"}):
        assert [hit.memory.id for hit in agent.recall("Lisbon", **narrowed)] == [told.id]


class TestItsRetries:
    def test_a_write_whose_answer_is_lost_is_sent_again_and_stored_once(self, proxy, memory):
        with Memory.open(f"http://127.0.0.1:{proxy.port}") as client:
            proxy.cuts = 3
            episode = client.agent(session="lost").observe(SAID)
            assert proxy.cuts == 0
        assert stored(memory, "lost") == [SAID]
        assert memory.agent().get(episode.id).created_at == episode.created_at

    def test_a_write_without_a_key_is_not_sent_again(self, proxy, memory):
        fact = memory.agent().remember("Porto", subject="Ana", predicate="lives in")
        with Memory.open(f"http://127.0.0.1:{proxy.port}") as client:
            proxy.cuts = 1
            with pytest.raises(OutcomeUnknown, match=r"correct was sent .* look whether it is there"):
                client.agent().correct(fact.id, "Braga")
        assert [fact.content for fact in memory.agent().facts("Ana")] == ["Braga"]
        assert len(memory.agent().history(fact.id)) == 2

    def test_a_forget_whose_answer_is_lost_is_sent_again(self, proxy, memory):
        fact = memory.agent().remember("Evora", subject="Bea", predicate="lives in")
        with Memory.open(f"http://127.0.0.1:{proxy.port}") as client:
            proxy._at = b"/forget"
            proxy.cuts = 1
            assert client.agent().forget(fact.id).state == "retracted"
            assert proxy.cuts == 0
        changes = [event.event_type for event in memory.agent().events(fact.id)]
        assert changes.count("fact_retracted") == 1

    def test_what_is_never_answered_names_the_key_to_repeat_it_with(self, proxy, memory):
        with Memory.open(f"http://127.0.0.1:{proxy.port}", timeout_s=0.4) as client:
            proxy.cuts = 10**6
            with pytest.raises(OutcomeUnknown, match=r"repeat it with idempotency_key='(\S+)'") as lost:
                client.agent(session="never").observe(SAID)
            proxy.cuts = 0
            key = str(lost.value).rpartition("idempotency_key=")[2].strip("'")
            client.agent(session="never").observe(SAID, idempotency_key=key)
        assert stored(memory, "never") == [SAID]

    def test_a_read_is_sent_again(self, proxy):
        with Memory.open(f"http://127.0.0.1:{proxy.port}") as client:
            agent = client.agent("reader")
            proxy._at = b"GET /v1/facts"
            proxy.cuts = 2
            assert list(agent.facts("nobody")) == []
            assert proxy.cuts == 0

    def test_nobody_at_the_address_is_said_at_once_when_it_is_opened(self):
        with pytest.raises(DatabaseUnreachable, match="cannot be reached"):
            Memory.open(f"http://127.0.0.1:{free_port()}")

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            (b"200 OK\r\nContent-Length: 5\r\n\r\nhello", "as no engrain server does"),
            (b"200 OK\r\nContent-Length: 2\r\n\r\n{}", "not as an engrain server does"),
            (b"301 Moved\r\nLocation: https://example.org\r\nContent-Length: 0\r\n\r\n", "redirects"),
        ],
    )
    def test_another_program_at_the_address_is_told_apart(self, answer, says):
        with CannedServer(b"HTTP/1.1 " + answer) as address, pytest.raises(DatabaseUnreachable, match=says):
            Memory.open(address)

    def test_a_path_under_which_no_server_is_is_said_when_it_is_opened(self, server):
        with pytest.raises(DatabaseUnreachable, match="there is no /api/v1/caller"):
            Memory.open(f"{server.address}/api")

    def test_a_server_that_does_not_answer_is_left_in_time(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with pytest.raises(DatabaseUnreachable, match="did not answer within"):
                Memory.open(address, timeout_s=0.2)

    def test_a_server_behind_a_path_is_asked_there(self):
        answer = b'HTTP/1.1 200 OK\r\nContent-Length: 37\r\n\r\n{"tenant_id": "acme", "agent": "ana"}'
        server = CannedServer(answer)
        with server as address, Memory.open(f"{address}/memory/v1/", key="k") as memory:
            assert memory.agent().caller == Caller(tenant_id="acme", agent="ana")
        assert server.heard.startswith(b"GET /memory/v1/caller HTTP/1.1\r\n")
        assert b"authorization: bearer k\r\n" in server.heard.lower()

    def test_a_busy_server_is_asked_again(self, tmp_path):
        with (
            EngrainServer(tmp_path / "memory.db", SERVER__MAX_REQUESTS="1") as server,
            Memory.open(server.address) as memory,
            ThreadPoolExecutor(6) as pool,
        ):
            agent = memory.agent()
            episodes = list(pool.map(lambda number: agent.observe(f"turn {number}"), range(30)))
            assert len({episode.id for episode in episodes}) == 30


class CannedServer:
    """A server of one answer."""

    def __init__(self, answer):
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *_):
        self._thread.join()
        self._listener.close()

    def _serve(self):
        client, _ = self._listener.accept()
        with client:
            self.heard = client.recv(65_536)
            client.sendall(self._answer)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, tmp_path):
    if request.param == "sqlite":
        yield tmp_path / "memory.db"
        return
    url = database_server().new_database()
    yield url
    database_server().drop_database(url)


def test_a_server_killed_in_the_middle_of_writes_loses_and_doubles_nothing(database):
    """Writers know nothing of it: each write returns once, when a server has stored it."""
    port, kills, writers, least = free_port(), 4, 4, 25
    acknowledged = [[] for _ in range(writers)]
    is_over, more = threading.Event(), threading.Semaphore(0)

    def write(memory, number):
        agent, mine = memory.agent("writer", session=f"session {number}"), acknowledged[number]
        while not is_over.is_set() or len(mine) < least:
            content = f"turn {len(mine)} of {number}"
            if len(mine) % 3 == 2:
                agent.remember(content, subject=f"subject {number}", predicate=f"predicate {len(mine)}")
            else:
                agent.observe(content)
            mine.append(content)
            more.release()

    running = EngrainServer(database, "--port", port)
    try:
        with Memory.open(running.address, timeout_s=300) as memory, ThreadPoolExecutor(writers) as pool:
            writing = [pool.submit(write, memory, number) for number in range(writers)]
            for _ in range(kills):
                for _ in range(10):
                    more.acquire()
                running.process.kill()
                running.__exit__(RuntimeError)
                running = EngrainServer(database, "--port", port)
            is_over.set()
            for one in writing:
                one.result()
            agent, found = memory.agent("writer"), []
            for number in range(writers):
                page = agent.episodes(f"session {number}", limit=1000)
                found += [episode.content for episode in page]
            found += [fact.content for fact in agent.facts(include_inactive=True, limit=1000)]
    finally:
        running.__exit__(None)
    assert Counter(found) == Counter(content for mine in acknowledged for content in mine)


class TestItsFiles:
    def test_a_backup_is_restored_by_another_server(self, memory, tmp_path):
        agent = memory.agent("archivist")
        agent.observe(SAID)
        path = tmp_path / "backup.gz"
        report = memory.backup(path, agent="archivist")
        assert (report.path, report.bytes, report.memories) == (str(path), path.stat().st_size, 1)
        assert memory.backup(path, agent="archivist").memories == 1  # in the place of the other
        with EngrainServer(tmp_path / "other.db") as other, Memory.open(other.address) as there:
            with pytest.raises(UnusableBackup, match="signed by another installation"):
                there.restore(path)
            restored = there.restore(path, untrusted=True)
            assert restored.path == str(path)
            assert [episode.content for episode in there.agent("archivist").episodes()] == [SAID]

    def test_an_export_is_imported_and_replaces_no_file(self, memory, tmp_path):
        memory.agent("exporter").remember("Lisbon", subject="Ana", predicate="lives in", scope="exporter")
        path = tmp_path / "export.jsonl"
        report = memory.export(path, agent="exporter")
        assert (report.path, report.kinds) == (str(path), {"fact": 1})
        with pytest.raises(InvalidInput, match="is there already"):
            memory.export(path, agent="exporter")
        imported = memory.agent("importer").import_file(path)
        assert imported.path == str(path)
        assert [fact.content for fact in memory.agent("importer").facts("Ana", "lives in")][:1] == ["Lisbon"]
        with pytest.raises(InvalidInput, match="no file that can be sent"):
            memory.agent("importer").import_file(tmp_path)

    def test_a_users_memories_are_written_as_markdown(self, memory, tmp_path):
        memory.agent("butler", user="ben").observe(SAID)
        path = tmp_path / "ben.md"
        assert memory.export_user("ben", path, format="markdown").format == "markdown"
        assert SAID in path.read_text()

    def test_an_error_leaves_no_file(self, memory, tmp_path):
        with pytest.raises(InvalidInput):
            memory.export(tmp_path / "export.jsonl", kinds=["nothing"])
        assert list(tmp_path.iterdir()) == []


class TestItsHooks:
    def test_they_fail_open_and_what_waits_is_stored_once_and_in_order(self, tmp_path):
        path, port = tmp_path / "memory.db", free_port()
        with EngrainServer(path, "--port", port) as server:
            memory = Memory.open(server.address)
            hooks = memory.agent("butler", session="s").hooks
            assert hooks.message("first").is_stored
            assert server.stop() == 0
        late = [hooks.message(f"late {number}", speaker="Ana", tags=["t"]) for number in range(3)]
        assert [receipt.is_stored for receipt in late] == [False] * 3
        assert late[0].degraded[0].code == "database_unreachable"
        assert [hooks.session_start("hello", budget_tokens=50).text, len(hooks.recent().episodes)] == ["", 0]
        assert hooks.session_end().degraded
        with pytest.raises(InvalidInput):
            hooks.message("")
        with EngrainServer(path, "--port", port), memory:
            assert hooks.message("last").is_stored
            turns = hooks.recent().episodes
            assert [turn.content for turn in turns] == ["first", "late 0", "late 1", "late 2", "last"]
            assert [turn.id for turn in turns[1:4]] == [receipt.episode.id for receipt in late]
            assert [turn.event_time for turn in turns[1:4]] == [receipt.episode.event_time for receipt in late]

    def test_a_closing_memory_sends_what_waits(self, tmp_path):
        path, port = tmp_path / "memory.db", free_port()
        with EngrainServer(path, "--port", port) as server:
            memory = Memory.open(server.address)
            assert server.stop() == 0
        assert not memory.agent(session="s").hooks.message(SAID).is_stored
        with EngrainServer(path, "--port", port) as server:
            memory.close()
            with Memory.open(server.address) as other:
                assert stored(other, "s") == [SAID]


def test_a_log_is_the_one_of_its_name_and_gives_back_exactly_what_it_was_given(memory):
    agent = memory.agent("logger", session="s")
    entries = [{"text": " \x00 \ud800 ü "}, {"number": 1.5, "nothing": None}]
    assert agent.log("chat").append(entries).log == "chat"
    agent.log.append([{"n": 1}], log="other")
    assert [entry.entry for entry in agent.log("chat").read()] == entries
    assert [entry.entry for entry in agent.log.read(log="other")] == [{"n": 1}]
    assert agent.log.read() == []
    assert agent.log("chat").pop().entry == entries[1]
    assert agent.log("empty").pop() is None


class TestAwaited:
    def test_its_verbs_are_those_of_the_client(self, server):
        async def story():
            async with await AsyncMemory.open(server.address) as memory:
                agent = memory.agent("awaited", session="async")
                turns = await asyncio.gather(*(agent.observe(f"turn {number}") for number in range(20)))
                await agent.notes.save("key", "text")
                with pytest.raises(NotFound):
                    await agent.forget("018f0000-0000-7000-8000-000000000000")
                listed = await agent.episodes("async", limit=50)
                return {turn.id for turn in turns}, listed, await agent.notes.recall("key")

        ids, listed, note = asyncio.run(story())
        assert ids == {episode.id for episode in listed}
        assert all(type(episode) is Episode for episode in listed)
        assert note.content == "text"


def test_an_answer_is_the_record_that_the_library_gives(memory, local):
    """Of verbs that the scenario of all interfaces leaves out."""
    for place in (memory, local):
        agent = place.agent("all", session="one")
        agent.working.append("hello")
        agent.working.tool_result("clock", {"at": [1, None]})
        place.agent("all", user="ana").observe("I like tea.")
        agent.graph.create_entities([GraphEntity(name="Ana", entity_type="person", observations=("likes tea",))])
    for call in (
        lambda place: place.agent("all", session="one").working.tool_results(),
        lambda place: place.agent("all", session="one").working.stats(),
        lambda place: place.agent("all").graph.read(),
        lambda place: place.agent("all").notes.cache_stats(),
        lambda place: place.agent("all").graph.delete_entities(["Ana"]),
        lambda place: place.agents(),
        lambda place: place.agent("all").recall("tea", speakers="Ana"),
        lambda place: place.erase_user("ana", dry_run=True),
    ):
        there, here = call(memory), call(local)
        assert type(there) is type(here)
        assert json.dumps(_shape(there)) == json.dumps(_shape(here))


def _shape(value):
    """The fields of an answer and the types of what is in them."""
    if hasattr(value, "to_dict"):
        return {name: type(item).__name__ for name, item in value.to_dict().items() if not isinstance(item, Detail)}
    return value
