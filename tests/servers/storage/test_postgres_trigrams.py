"""Our trigrams are those of the extension that defined them."""

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engrain.domain.text.similarity import similarity
from tests.support.postgres import server

WORDS = st.text(alphabet="abcABC12 .,-'", max_size=16)


@pytest.fixture(scope="module")
def extension():
    """A connection to a database with pg_trgm in it."""
    url = server().new_database(has_schema=True)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        yield connection
    server().drop_database(url)


@pytest.mark.req("B17.4")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(WORDS, WORDS)
def test_similarity_is_what_pg_trgm_computes(extension, one, two):
    [theirs] = extension.execute("SELECT similarity(%s, %s)", [one, two]).fetchone()
    assert similarity(one, two) == pytest.approx(theirs, abs=1e-6)
