"""A user's backup: what is the user's and nothing else; it comes back, but not where the user was erased since."""

import gzip
from contextlib import contextmanager

import pytest

from engrain.errors import InvalidInput, UnusableBackup
from tests.support.backups import DATABASES, content, everything, forged, memory_in, rows, said
from tests.support.users import live, rows_of

DIRECTIONS = [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite"), ("postgres", "postgres")]
MEMORIES = ("episodes", "facts", "rules")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "ana.backup"


@contextmanager
def lived_in(kind, folder):
    """A memory of two users and nobody, who share some of what they know."""
    with memory_in(kind, folder) as memory:
        live(memory)
        shared = memory.agent("assistant").entities.create("Acme of everybody", "organization")
        public = memory.agent("assistant").remember("opens at nine", subject="Acme", predicate="hours")
        ana = memory.agent("assistant", user="ana")
        about = ana.remember("my bank", subject="Acme", predicate="is", entity_id=shared.id)
        ana.link(about.id, public.id, "supports")
        ana.erase([ana.observe("ana wants this gone").id])
        memory.flush()
        yield memory


def told(agent):
    return sorted((record.kind, record.content, record.scope) for record in agent.list(include_inactive=True, limit=99))


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_a_user_comes_back_whole_and_alone(tmp_path, file, source, target):
    with lived_in(source, tmp_path) as memory:
        before = memory.backup(file, user="ana")
        assert (before.tenant_id, before.agent, before.user) == ("default", None, "ana")
        known = {name: told(memory.agent(name, user="ana")) for name in ("assistant", "billing")}
        shared = told(memory.agent("assistant"))
    text = gzip.decompress(file.read_bytes()).decode()
    assert not [word for word in ("bob", "Nobody", "everybody", "opens at nine", "wants this gone") if word in text]
    with memory_in(target, tmp_path) as memory:
        report = memory.restore(file)
        assert (report.user, report.memories, report.vectors) == ("ana", before.memories, "kept")
        assert memory.health(thorough=True).problems == ()
        assert content(memory.backup(tmp_path / "again", user="ana")) == content(before)
        assert [row.user_id for row in memory.users()] == ["ana"]
        for name, records in known.items():
            assert told(memory.agent(name, user="ana")) == [record for record in records if record not in shared]
            assert told(memory.agent(name)) == told(memory.agent(name, user="bob")) == []
        assert memory.agent("assistant", user="ana").recall("secret of ana")[0].memory.scope.startswith("user:ana")
        there = everything(memory)
        assert memory.restore(file).added == {}
        assert everything(memory) == there


@pytest.mark.parametrize("kind", DATABASES)
def test_every_table_of_a_user_has_rows_in_this_suite(tmp_path, file, kind):
    with lived_in(kind, tmp_path) as memory:
        report = memory.backup(file, user="ana")
    empty = {table.table for table in report.tables if not table.rows}
    assert empty <= {*"memory_metadata pools pool_members sessions_consolidations runs memory_departures".split()} | {
        "memory_entities"
    }


@pytest.mark.parametrize("kind", DATABASES)
def test_in_another_tenant_it_is_that_users_under_other_ids(tmp_path, file, kind):
    with lived_in(kind, tmp_path) as memory:
        memory.backup(file, user="ana")
        report = memory.restore(file, tenant="acme")
        ids = {row["id"] for table in MEMORIES for row in rows(file, table)}
        ana = memory.agent("assistant", user="ana", tenant="acme")
        assert report.memories == len(ids)
        assert not {record.id for record in ana.list(include_inactive=True, limit=99)} & ids
        assert told(memory.agent("assistant", tenant="acme")) == []
        assert [row.user_id for row in memory.users("acme")] == ["ana"]
        assert memory.health(thorough=True).problems == ()
        assert memory.restore(file, tenant="acme").memories == 0


@pytest.mark.parametrize("kind", DATABASES)
def test_one_agents_part_of_a_user_is_backed_up_too(tmp_path, file, kind):
    with lived_in(kind, tmp_path) as memory:
        report = memory.backup(file, user="ana", agent="billing")
        assert (report.agent, report.user) == ("billing", "ana")
    with memory_in(kind, tmp_path) as memory:
        memory.restore(file)
        mine = {row["agent"] for row in everything(memory)["facts"]}
        assert mine == {"billing"}


@pytest.mark.parametrize("kind", DATABASES)
def test_replace_clears_the_user_first_and_nobody_else(tmp_path, file, kind):
    with lived_in(kind, tmp_path) as memory:
        memory.backup(file, user="ana")
        others = rows_of(memory, "bob"), told(memory.agent("assistant"))
        before = told(memory.agent("assistant", user="ana"))
        memory.agent("assistant", user="ana").remember("later", subject="user", predicate="was")
        memory.agent("assistant", user="ana").entities.create("Zoe of later", "person")
        report = memory.restore(file, replace=True)
        assert (report.cleared, report.present) == (report.memories + 1, 0)
        assert told(memory.agent("assistant", user="ana")) == before
        registry = memory.agent("assistant", user="ana").entities.find().items
        assert "Zoe of later" not in {entity.canonical_name for entity in registry}
        assert (rows_of(memory, "bob"), told(memory.agent("assistant"))) == others
        assert memory.health(thorough=True).problems == ()


@pytest.mark.parametrize("whose", ["user", "agent", "tenant"])
@pytest.mark.parametrize("kind", DATABASES)
def test_a_user_who_was_erased_stays_erased(tmp_path, file, kind, whose):
    """Not only what has a tombstone: an episode that expired before, an entity, a session's name, a run."""
    extent = {"user": {"user": "ana"}, "agent": {"agent": "assistant"}, "tenant": {"tenant": "default"}}[whose]
    with lived_in(kind, tmp_path) as memory:
        ana = memory.agent("assistant", user="ana")
        short = ana.observe("ana said this for a moment", session="secret affair", ttl_days=1e-9)
        memory.backup(file, **extent)
        assert short.id in {row["id"] for row in rows(file, "episodes")}
        memory.cleanup()
        assert ana.get(short.id) is None
        memory.erase_user("ana")
        gone = rows_of(memory, "ana")
        report = memory.restore(file)
        assert report.erased > 0
        assert rows_of(memory, "ana") == gone
        assert told(memory.agent("assistant", user="ana")) == told(memory.agent("assistant"))
        memory.restore(file, tenant="acme")
        assert "ana" not in {row.user_id for row in memory.users("acme")}
        assert "secret affair" not in str(everything(memory))
        later = ana.observe("ana is back")
        memory.backup(tmp_path / "later", user="ana")
        ana.erase([later.id])
        assert memory.restore(file, with_erased=True).memories > 0
        assert ana.get(short.id) is not None


@pytest.mark.parametrize("kind", DATABASES)
def test_what_a_user_said_after_an_erasure_comes_back(tmp_path, file, kind):
    with lived_in(kind, tmp_path) as memory:
        memory.erase_user("ana")
        kept = memory.agent("assistant", user="ana").observe("ana is back")
        memory.backup(file, user="ana")
    with memory_in(kind, tmp_path) as memory:
        memory.agent("assistant", user="ana").observe("ana is here, too")
        memory.erase_user("ana")
        assert memory.restore(file).memories == 0  # which is older than this erasure
        memory.restore(file, tenant="acme")
    with lived_in(kind, tmp_path) as memory:
        memory.restore(file)
        assert memory.agent("assistant", user="ana").get(kept.id).content == "ana is back"


def test_a_file_that_says_it_is_a_users_and_holds_others_is_refused(tmp_path, file):
    with lived_in("sqlite", tmp_path) as memory:
        memory.backup(file, user="ana")
        there = everything(memory)
        for table, change in {
            "facts": {"scope": "user:bob/assistant"},
            "episodes": {"scope": "global"},
            "entities": {"user_id": ""},
            "rules": {"scope": "assistant"},
        }.items():
            lines = said(file)
            first = lines.index({"begin": table}) + 1
            lines[first] = {**lines[first], **change}
            with pytest.raises(UnusableBackup, match="is not of user 'ana'"):
                memory.restore(forged(tmp_path / "forged", lines), untrusted=True)
        for header in ({"user": 7}, {"user": "ana", "tenant": None}, {"whose": "ana"}):
            lines = said(file)
            lines[0] = {**lines[0], **header}
            with pytest.raises(UnusableBackup, match="first line"):
                memory.restore(forged(tmp_path / "forged", lines), untrusted=True)
        with pytest.raises(UnusableBackup, match="name no agent"):
            memory.restore(file, agent="billing")
        with pytest.raises(UnusableBackup, match="not signed"):
            memory.restore(forged(tmp_path / "forged", said(file)))
        assert everything(memory) == there
        with pytest.raises(InvalidInput, match="user"):
            memory.backup(file, user=" ")
