"""What the two databases hold: the same tables and columns, the indexes each query needs, and what they refuse."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from engrain.storage.backup.tables import DEPARTURES, DERIVED, TABLES
from tests.support.rows_of_old import LISBON, TURN, fill
from tests.support.sample_records import act, entity
from tests.support.schemas import DATABASES, EXPRESSION, Index, Sqlite, empty_database

KEYS = "predicate_key value_key"

# What only one of them has, and why.
DIFFERENCES: dict[str, dict[str, set[str]]] = {
    "sqlite": {
        # FTS5 keeps a table of words in four others, and names two columns of its own.
        "memory_words_config": {"k", "v"},
        "memory_words_data": {"id", "block"},
        "memory_words_docsize": {"id", "sz", "origin"},
        "memory_words_idx": {"segid", "term", "pgno"},
        "memory_words": {"own", "near", "memory_words", "rank"},
        # PostgreSQL has sequences of its own.
        "sequences": {"tenant_id", "name", "value"},
        # How a process learns what another wrote: PostgreSQL's searches read the table itself.
        "memory_vectors": {"change"},
        "memory_vector_packs": {
            *("tenant_id", "version", "namespace", "changes_after", "last_change", "first_doc", "last_doc"),
            *("centre", "docs", "scales", "codes", "bits"),
        },
    },
    "postgres": {
        # Codes of words in a text search vector.
        "memory_words": {"tenant_id", "doc", "words"},
        # Small namespaces are read whole: their words are in no index.
        "namespaces": {"has_words"},
        # Vectors of small namespaces are compared one by one: they are in no graph.
        "memory_vectors": {"in_graph"},
        # Who lends words to a turn, joined when they are read: SQLite stores them with it.
        "memory_index": {"lenders"},
    },
}


@contextmanager
def created(name: str, folder: Path) -> Iterator[Sqlite]:
    """A database of either kind that a store has just created."""
    with empty_database(name, folder) as made:
        with closing(made.open()) as store:
            store.use_embedder("test:axes", 4)
        yield made


@pytest.fixture(scope="module", params=DATABASES)
def database(request, tmp_path_factory) -> Iterator[Sqlite]:
    """A database that nobody writes to."""
    with created(request.param, tmp_path_factory.mktemp("catalogue")) as made:
        yield made


def test_both_have_the_same_tables_and_columns_but_for_those_named_here(tmp_path):
    left = {}
    for name in DATABASES:
        with created(name, tmp_path) as made:
            found = {table: set(columns) for table, columns in made.columns().items()}
        own = DIFFERENCES[name]
        assert all(columns <= found[table] for table, columns in own.items())
        left[name] = {
            table: columns - own.get(table, set()) for table, columns in found.items() if own.get(table) != columns
        }
    assert left["sqlite"] == left["postgres"]


def index(table: str, columns: str, *, unique: bool = False, partial: bool = False) -> Index:
    return Index(table, tuple(columns.split()), is_unique=unique, is_partial=partial)


# By what asks. A tenant is in every key; an agent's episodes are those of its scope.
INDEXES = [
    (
        pytest.mark.req("B25.2"),
        {
            "episodes_importance": index("episodes", "tenant_id scope importance event_time"),
            "episodes_time": index("episodes", "tenant_id scope event_time"),
            "episodes_expiry": index("episodes", "tenant_id expires_at", partial=True),
            "episodes_pending": index("episodes", "tenant_id agent created_at id", partial=True),
            "episodes_consolidated": index("episodes", "tenant_id created_at id", partial=True),
            "episodes_session": index("episodes", "tenant_id scope session turn"),
        },
    ),
    (
        pytest.mark.req("B25.3"),
        {
            "facts_subject": index("facts", "tenant_id subject_key predicate_key"),
            "facts_importance": index("facts", f"tenant_id scope importance {EXPRESSION}"),
            "facts_time": index("facts", f"tenant_id scope {EXPRESSION}"),
            "facts_source": index("facts", "tenant_id source_episode_id", partial=True),
        },
    ),
    (
        pytest.mark.req("B25.4"),
        {
            "facts_active_entity": index("facts", f"tenant_id entity_id scope {KEYS}", unique=True, partial=True),
            "facts_active_subject": index("facts", f"tenant_id scope subject_key {KEYS}", unique=True, partial=True),
        },
    ),
    (pytest.mark.req("B25.5"), {"memory_links_target": index("memory_links", "tenant_id target_kind target_id")}),
    (
        pytest.mark.req("B25.6"),
        {
            "facts_about": index("facts", f"tenant_id entity_id scope {EXPRESSION}", partial=True),
            "memory_entities_time": index(
                "memory_entities", "tenant_id entity_id memory_kind scope happened_at memory_id"
            ),
            "entities_name": index("entities", "tenant_id canonical_name entity_type user_id", unique=True),
            "facts_entity": index("facts", "tenant_id entity_id predicate_key scope", partial=True),
        },
    ),
    (
        pytest.mark.req("B25.7"),
        {
            "memory_events_type": index("memory_events", "tenant_id event_type created_at", partial=True),
            "memory_events_time": index("memory_events", "tenant_id created_at"),
            "memory_events_memory": index("memory_events", "tenant_id memory_id", partial=True),
            "memory_events_run": index("memory_events", "tenant_id run_id id", partial=True),
        },
    ),
    (
        pytest.mark.req("N03"),
        {
            "runs_running": index("runs", "tenant_id agent user_id kind", unique=True, partial=True),
            "runs_time": index("runs", "tenant_id agent started_at id"),
        },
    ),
    (
        pytest.mark.req("N04"),
        {
            "jobs_dedupe": index("jobs", "tenant_id name dedupe_key", unique=True, partial=True),
            "jobs_due": index("jobs", "tenant_id run_at id", partial=True),
        },
    ),
]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        pytest.param(name, made, marks=requirement, id=name)
        for requirement, indexes in INDEXES
        for name, made in indexes.items()
    ],
)
def test_an_index_is_made_of_what_its_query_asks_for(database, name, made):
    assert database.indexes()[name] == made


# What no row may say, each with a row that says it otherwise well.
REFUSED = {
    "role": "UPDATE episodes SET role = 'robot'",
    "consolidation status": "UPDATE episodes SET consolidation_status = 'lost'",
    "validity": "UPDATE facts SET validity = 'doubtful'",
    "permanence": "UPDATE facts SET permanence = 'eternal'",
    "maturity": "UPDATE rules SET maturity = 'ripe'",
    "outcome": "UPDATE rule_applications SET outcome = 'mixed'",
    "relation": "UPDATE memory_links SET relation = 'likes'",
    "entity type": "UPDATE entities SET entity_type = 'planet'",
    "state of an embedder": "UPDATE embedding_versions SET state = 'asleep'",
    "status of a job": "UPDATE jobs SET status = 'forgotten'",
    "status of a run": "UPDATE runs SET status = 'lost'",
    "role of a key": "UPDATE access_keys SET role = 'king'",
    "kind of a run": "UPDATE runs SET kind = 'sleep'",
    "two runs of a kind": (
        "INSERT INTO runs (tenant_id, id, kind, agent, worker, lease_until, started_at) "
        "SELECT tenant_id, 'n9', kind, agent, worker, lease_until, started_at FROM runs"
    ),
    "a fact without content": "UPDATE facts SET content = NULL",
    "an episode that is no more": f"DELETE FROM episodes WHERE id = '{TURN.id}'",
    "an entity that is no more": "UPDATE facts SET entity_id = 'nobody'",
    "a pool that is not there": "UPDATE pool_members SET pool = 'nowhere'",
    "two active embedders": (
        "INSERT INTO embedding_versions (tenant_id, version, name, dims, state, created_at) "
        "SELECT tenant_id, 9, name, dims, state, created_at FROM embedding_versions"
    ),
    "a name of nobody": "UPDATE entity_names SET entity_id = 'nobody'",
    "a name twice": (
        "INSERT INTO entities (tenant_id, id, canonical_name, entity_type, created_at, updated_at) "
        "SELECT tenant_id, 'e9', canonical_name, entity_type, created_at, updated_at FROM entities"
    ),
}
PROVES = {
    "relation": pytest.mark.req("B25.5"),
    "entity type": pytest.mark.req("B25.6"),
    "a name twice": pytest.mark.req("B25.6"),
}


@pytest.fixture(scope="module", params=DATABASES)
def filled(request, tmp_path_factory) -> Iterator[Sqlite]:
    """A database with a row in every table."""
    with created(request.param, tmp_path_factory.mktemp("filled")) as made:
        with made.raw() as db:
            db.execute("DELETE FROM embedding_versions")
            if made.name == "postgres":
                db.execute("DROP INDEX memory_vectors_version_1")
        fill(made)
        yield made


@pytest.mark.parametrize(
    "statement",
    [pytest.param(sql, id=what, marks=PROVES.get(what, ())) for what, sql in REFUSED.items()],
)
def test_the_database_refuses_what_no_row_may_say(filled, statement):
    with pytest.raises(filled.refusal), filled.guarded() as db:
        db.execute(statement)


@pytest.mark.req("B25.4", "N08")
@pytest.mark.parametrize("entity_id", [None, "e1"], ids=["subject", "entity"])
def test_one_active_fact_holds_a_place_of_either_kind_and_others_may_stand_beside_it(filled, entity_id):
    """The same subject and predicate without an entity and with one are two places."""
    copied = [name for name in LISBON.__dataclass_fields__ if name not in {"id", "entity_id", "validity"}]

    def another(id_: str, doc: int, who: str | None, validity: str = "active") -> str:
        own = ", ".join(filled.literal(value) for value in (id_, doc, who, validity))
        columns = ", ".join(copied)
        return (
            f"INSERT INTO facts (id, doc, entity_id, validity, {columns}) "
            f"SELECT {own}, {columns} FROM facts WHERE id = '{LISBON.id}'"
        )

    beside = another("with an entity", 91, "e1")
    with pytest.raises(UndoneError):
        attempt(filled, beside, another("one that is over", 92, entity_id, "retracted"))
    with pytest.raises(filled.refusal):
        attempt(filled, beside, another("a second one", 92, entity_id))


class UndoneError(Exception):
    """All statements were accepted, and none was committed."""


def attempt(database, *statements):
    with database.guarded() as db:
        for statement in statements:
            db.execute(statement)
        raise UndoneError


@pytest.mark.req("N10")
def test_every_mutation_has_a_place_to_be_written_down(database):
    found = {table: set(columns) for table, columns in database.columns().items()}
    assert found["memory_links"] >= {"source_id", "target_id", "relation", "weight"}
    assert found["memory_events"] >= {"event_type", "actor", "request_id", "memory_id", "payload", "created_at"}
    assert found["rule_applications"] >= {"rule_id", "outcome", "created_at"}
    assert found["embedding_versions"] >= {"version", "name", "dims", "state"}


@pytest.mark.req("B25.1", "B25.2", "B25.3")
@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_postgresql_finds_words_and_vectors_by_indexes_of_their_own(database):
    """`vector` is all it needs: ids are made by the application."""
    assert {name for (name,) in database.rows("SELECT extname FROM pg_extension")} == {"plpgsql", "vector"}
    methods = database.methods()
    assert (methods["memory_words_words"], methods["memory_vectors_version_1"]) == ("gin", "hnsw")


@pytest.mark.req("G18")
@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_postgresql_finds_what_is_old_by_blocks(database):
    assert database.methods()["memory_events_age"] == "brin"


@pytest.mark.req("Y19")
def test_the_length_of_vectors_is_on_record(database):
    assert database.rows("SELECT name, dims FROM embedding_versions") == [("test:axes", 4)]
    with closing(database.open()) as store:
        assert store.use_embedder("test:axes", 5) == "test:axes"


@pytest.mark.req("Y19")
def test_sqlite_writes_ahead_and_its_words_follow_its_rows(tmp_path):
    database = Sqlite(tmp_path)
    with closing(database.open()) as store:
        store.put_entity(act(), entity("Ana"))
    assert database.rows("PRAGMA journal_mode") == [("wal",)]


@pytest.mark.req("G13")
def test_every_table_is_in_a_backup_or_is_named_with_those_that_are_not(database):
    """A new table is forgotten by no backup: it goes into `storage.backup.tables`, or among what is made anew."""
    searches = {"memory_index", "memory_words", "namespaces", "sequences"}
    tables = {table for table, columns in database.columns().items() if "tenant_id" in columns}
    assert tables - searches == {*TABLES, *DERIVED} - {DEPARTURES} - ({"memory_vector_packs"} - tables)
