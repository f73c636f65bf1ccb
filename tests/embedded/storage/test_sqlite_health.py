"""A check-up finds what something else did to a file, and nothing where only engrain wrote."""

import sys
from contextlib import closing

import apsw
import pytest

from engrain.domain.text.analysis import words
from engrain.storage.migrations import HEAD
from tests.support.sample_records import NOON, act, entity, episode, fact, request, rule
from tests.support.store_samples import axis, conversation, embed_all, keyword, put
from tests.support.stores import SqliteStore


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "agent.db")


def use(store) -> None:
    """Everything that moves rows and words: sessions, expiry, supersession, forgetting, erasure, vectors."""
    turns = put(store, conversation(*(f"Turn {place} of the tram." for place in range(12)), speaker="Ana"))
    put(store, [episode("Already over.", session="monday", expires_at=NOON), episode("Alone.")])
    put(store, [fact("Lisbon"), fact("tea", predicate="drinks"), fact("x", subject="Z", validity="expired")])
    put(store, [fact("Porto"), rule("Take the tram."), rule("Walk.", metadata={"forgotten": True})])
    store.put_entity(act(), entity("Ana", aliases=("Anita",)))
    embed_all(store, {each.id: axis(0) for each in turns[:9]})
    for turn in turns[3:6]:
        store.forget(act(), turn.id)
    store.forget(act(), store.recent(request(kinds=("fact",)), 1)[0].id)
    store.erase(act(), [turns[0].id, turns[11].id])
    put(store, [episode("Not settled.", session="monday")])


def meddle(path, sql) -> None:
    with closing(apsw.Connection(path)) as db:
        db.execute(sql)


def test_a_used_file_is_sound_and_says_what_it_holds(path):
    with closing(SqliteStore(path)) as store:
        use(store)
        health = store.health()
        assert health.problems == ()
        assert health.location == path
        assert health.backend == f"sqlite {apsw.sqlite_lib_version()}"
        assert health.schema == HEAD
        assert health.size_bytes % 4096 == 0
        assert health.size_bytes > 0
        assert (health.memories, health.embedded, health.embedder) == (19, 5, "test:axes")


def test_a_file_that_is_written_while_it_is_looked_at_is_sound(path):
    """What it should hold and what it does is asked in several statements, of one state."""
    with closing(SqliteStore(path)) as store, closing(SqliteStore(path)) as other:
        use(store)
        looked = []

        def write_between(db):
            def note(_, sql, __):
                if "entity_names" in sql and not looked:
                    looked.append(other.put_entity(act(), entity("Ben")))
                return True

            db.exec_trace = note

        apsw.connection_hooks.append(write_between)
        try:
            health = store.health()
        finally:
            apsw.connection_hooks.remove(write_between)
        assert (len(looked), health.problems) == (1, ())
        assert store.health().problems == ()


def test_a_file_in_memory_is_sound_too():
    with closing(SqliteStore(":memory:")) as store:
        use(store)
        assert store.health().problems == ()
        assert store.health().memories == 19


def test_a_reader_that_has_searched_before_another_wrote_sees_no_damage(path):
    """SQLite's check compares the file with what the full text of the same connection remembers of it."""
    with closing(SqliteStore(path)) as here, closing(SqliteStore(path)) as there:
        use(here)
        assert keyword(there, "tram")
        for place in range(30):
            put(here, conversation(f"Another tram {place}.", "And one more.", session=f"{place}"))
            assert keyword(there, "tram")
        assert here.health().problems == there.health().problems == ()


def test_a_check_up_sees_what_is_not_in_the_file_proper_yet(path):
    """The log is part of the file: a second process reads it too."""
    with closing(SqliteStore(path)) as here:
        put(here, [episode("In the log.")])
        with closing(SqliteStore(path)) as there:
            assert there.health().memories == 1


@pytest.mark.parametrize(
    ("deed", "sentence"),
    [
        ("DELETE FROM memory_words WHERE rowid = 2", "1 memories are missing from the keyword index"),
        ("DELETE FROM memory_words WHERE rowid < 4", "2 memories are missing from the keyword index"),
        (
            "INSERT INTO memory_words (rowid, own, near) VALUES (4, 'n1xghost', '')",
            "1 memories that are gone are still",
        ),
        ("DELETE FROM memory_index WHERE doc = 2", "1 memories have no place in the searches"),
        ("DELETE FROM memory_vectors WHERE doc = 3", "1 memories have lost their vector"),
        ("DELETE FROM episodes WHERE doc = 2", "1 places in the searches belong to no memory"),
        ("DELETE FROM entity_names WHERE name = 'ana'", "1 names of entities are missing or nobody's"),
        ("UPDATE entities SET aliases = '[\"Annie\"]'", "2 names of entities are missing or nobody's"),
    ],
)
def test_what_something_else_did_is_found_by_a_thorough_check_and_there_is_advice(path, deed, sentence):
    with closing(SqliteStore(path)) as store:
        use(store)
        store.flush_index()
        assert store.health().problems == ()
        meddle(path, deed)
        assert store.health(thorough=False).problems == ()
        problems = store.health().problems
        assert any(each.startswith(sentence) for each in problems)
        assert all("import it anew" in each for each in problems)


def test_every_word_is_one_word_of_the_full_text_as_it_is():
    """The tokenizer of the file and the analyzer of the domain agree on each character there is."""
    known = {word for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000 for word in words(chr(code))}
    glued = {f"n17x{word}" for word in known} | {f"n17x{word}a{word}" for word in known}
    with closing(SqliteStore(":memory:")) as store, store._connections.writing() as db:
        db.executemany(
            "INSERT INTO memory_words (rowid, own, near) VALUES (?, ?, '')", enumerate(sorted(glued), start=1)
        )
        db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, memory_words, 'row')")
        assert {term for (term,) in db.execute("SELECT term FROM temp.vocabulary")} == glued
        db.execute("DROP TABLE temp.vocabulary")
