"""Erased means gone: what somebody who takes the file finds of erased memories, byte by byte."""

import os
import random
import signal
from pathlib import Path

import apsw
import pytest

from engrain import Memory
from engrain.errors import NotFound
from tests.support.write_kills import kill

SECRETS = 297


@pytest.fixture
def memory(path):
    with Memory.open(path, embedder="none", settings={"storage": {"busy_timeout_s": 0.05}}) as memory:
        yield memory


def found(path, secrets):
    """Secrets that stand in the file, its log or its shared memory, be it as a word of the index."""
    files = [Path(f"{path}{ending}") for ending in ("", "-wal", "-shm")]
    content = b"".join(file.read_bytes() for file in files if file.exists()).lower()
    return [secret for secret in secrets if secret.encode() in content]


def store_secrets(agent, secrets):
    """Secrets among other talk, as episodes, facts, rules and notes; the ids of their memories."""
    numbers = random.Random(3)
    words = [f"w{numbers.getrandbits(40):x}" for _ in range(3_000)]
    ids = []
    for number, secret in enumerate(secrets):
        talk = " ".join(numbers.choices(words, k=30))
        match number % 4:
            case 0:
                ids.append(agent.observe(f"{talk} {secret} {talk}", session=f"s{number // 12}", role="user").id)
            case 1:
                ids.append(agent.remember(f"{talk} {secret}", subject=f"subject {number}", predicate="says").id)
            case 2:
                ids.append(agent.rules.add(f"{talk} {secret}").id)
            case 3:
                ids.append(agent.notes.save(f"key {number}", f"{talk} {secret}").id)
        for turn in range(3):
            talk = " ".join(numbers.choices(words, k=40))
            agent.observe(talk, session=f"s{number // 12}", role="user", idempotency_key=f"{number}-{turn}")
        if number % 20 == 0:
            agent.recall(words[number])
    return ids


def test_nothing_of_what_was_erased_stays_in_the_bytes_of_the_file(memory, path):
    secrets = [f"zq{number}x{random.Random(number).getrandbits(64):016x}" for number in range(SECRETS)]
    agent = memory.agent("aide")
    ids = store_secrets(agent, secrets)
    assert len(found(path, secrets)) == SECRETS
    for start in range(0, SECRETS, 33):
        assert len(agent.erase(ids[start : start + 33]).ids) == 33
    assert found(path, secrets) == []
    memory.jobs.run("compaction")
    assert found(path, secrets) == []
    memory.close()
    assert found(path, secrets) == []


def test_nothing_of_a_tenant_that_was_erased_stays_in_the_bytes_of_the_file(memory, path):
    """Not its words, nor the names of its users, agents, sessions and speakers, nor what was written to others."""
    secrets = [f"zq{number}x{random.Random(number).getrandbits(64):016x}" for number in range(40)]
    names = ["zquserzq", "zqagentzq", "zqsessionzq", "zqspeakerzq", "zqentityzq", "zqkeyzq", "zqitemzq", "zqlogzq"]
    for tenant in ("acme", "default"):
        agent = memory.agent("zqagentzq" if tenant == "acme" else "aide", tenant=tenant, user="zquserzq", session="s")
        store_secrets(agent, secrets if tenant == "acme" else ["kept"])
    agent = memory.agent("zqagentzq", tenant="acme", user="zquserzq", session="zqsessionzq")
    agent.observe("The door code is 4711", speaker="zqspeakerzq")
    agent.entities.create("zqentityzq", "place")
    agent.store("zqitemzq").put("main", {"of": secrets[0]}, index="of")
    agent.log.append([{"content": "zqlogzq"}])
    memory.keys.create(role="writer", tenant="acme", name="zqkeyzq")
    memory.erase_user("zquserzq")
    assert set(found(path, [*secrets, *names])) == {*secrets, *names}
    memory.erase_tenant("acme")
    assert found(path, [*secrets, *names]) == ["zquserzq"]  # in what the other tenant keeps of an erasure
    assert "kept" in found(path, ["kept"]) or memory.agent("aide").list().items == ()


def test_a_log_that_another_process_reads_is_cleared_by_the_next_write_that_finds_it_free(memory, path):
    agent = memory.agent("aide")
    erased = agent.observe("the door code is zqsecret4711", role="user")
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM episodes").fetchall()
    assert agent.erase([erased.id]).ids == [erased.id]
    assert found(path, ["zqsecret4711"]) != []
    with pytest.raises(NotFound):  # which is rolled back, and leaves the log to the next one
        agent.link(erased.id, erased.id[::-1], "supports")
    reader.execute("COMMIT")
    agent.observe("the tram is late", role="user")
    assert found(path, ["zqsecret4711"]) == []
    reader.close()


def when_committed(memory, act):
    """Do something once the next transaction of a memory is committed, and before anything else is done."""
    writer = memory.parts.store.backend._connections._writer

    def hook(*_):
        writer.set_wal_hook(None)
        act()
        return 0

    writer.set_wal_hook(hook)


def store_in_one_segment(agent):
    """A secret, and an index that no merge but a whole one would take its words from; its id."""
    ids = store_secrets(agent, ["zqsecret4711", *(f"another{number}" for number in range(12))])
    agent.erase(ids[-1:])
    agent.observe("the tram is late", role="user")
    agent.recall("tram", count_references=False)  # which would be written before the erasure
    return ids[0]


def test_an_erasure_is_done_where_another_process_writes_before_its_words_are_merged(memory, path):
    agent = memory.agent("aide")
    secret = store_in_one_segment(agent)
    other = apsw.Connection(str(path))
    when_committed(memory, lambda: other.execute("BEGIN IMMEDIATE"))
    assert agent.erase([secret]).ids == [secret]
    assert agent.get(secret) is None
    assert found(path, ["zqsecret4711"]) != []
    other.execute("ROLLBACK")
    agent.observe("the tram is late again", role="user")
    assert found(path, ["zqsecret4711"]) == []
    other.close()


def test_words_that_an_erasure_left_as_it_was_killed_are_gone_with_the_next_compaction(path):
    with Memory.open(path, embedder="none") as memory:
        secret = store_in_one_segment(memory.agent("aide"))

    def erase(_):
        memory = Memory.open(path, embedder="none")
        when_committed(memory, lambda: os.kill(os.getpid(), signal.SIGKILL))
        memory.agent("aide").erase([secret])

    assert kill(erase, None).is_killed
    with Memory.open(path, embedder="none") as memory:
        assert memory.agent("aide").get(secret) is None
        assert found(path, ["zqsecret4711"]) != []
        memory.jobs.run("compaction")
    assert found(path, ["zqsecret4711"]) == []


def test_what_waits_in_this_process_is_erased_too(memory, path):
    agent = memory.agent("aide", session="monday")
    agent.working.append("the door code is 4711", role="user")
    [said] = agent.working.messages()
    locking = apsw.Connection(str(path))
    locking.execute("BEGIN IMMEDIATE")
    waiting = agent.hooks.message("the safe code is 4712", role="user")
    locking.execute("ROLLBACK")
    locking.close()
    assert not waiting.is_stored
    ids = [waiting.episode.id, said.id]
    assert memory.agent("other").erase(ids).ids == []
    assert agent.erase(ids).ids == [waiting.episode.id]
    assert agent.working.messages() == []
    agent.hooks.message("the tram is late", role="user")
    assert [episode.content for episode in agent.hooks.recent().episodes] == ["the tram is late"]
