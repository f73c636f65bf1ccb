"""The recording of a search's statements hears what is sent in pipelines, so that a baseline can run it again."""

import psycopg
from pgvector.psycopg import register_vector

from bench.tenants import bare
from engrain import Memory
from tests.support.engines import HashEmbedder
from tests.support.postgres import server


def test_the_statements_of_a_recall_are_recorded_and_run_again():
    url = server().new_database(has_schema=True)
    with Memory.open(url, embedder=HashEmbedder()) as memory:
        agent = memory.agent("ana")
        agent.observe("The ferry to Lisbon leaves at nine.")
        memory.flush()
        with bare.recorded() as statements:
            agent.recall("When does the ferry leave?")
        agent.recall("When does the ferry leave?")
        assert len(statements) > 5
        assert any("memory_vectors" in text for text, _ in statements)
        with psycopg.connect(url, autocommit=True) as db:
            register_vector(db)
            bare.replayed(db, statements, tenant="default")
    server().drop_database(url)
