"""The distribution statements, and the suite in one prepared database: as far as it goes without a cluster."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.scale import distribution
from engrain.storage.postgres.schema import OUR_TABLES
from tests.support.postgres import server

ROOT = Path(__file__).parents[3]


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_every_table_is_distributed_once_and_beside_the_first():
    made = [statement for statement in distribution.statements("engrain") if "create_distributed_table" in statement]
    assert sorted(each.split("'")[1] for each in made) == sorted(OUR_TABLES)
    assert all("'tenant_id'" in each for each in made)
    assert [each.endswith("colocate_with => 'episodes')") for each in made] == [False, *[True] * (len(made) - 1)]


def test_plain_postgres_is_no_cluster():
    url = server().new_database()
    with pytest.raises(distribution.NotACluster):
        distribution.distribute(url)
    ran = run("bench.scale", url)
    assert (ran.returncode, "CREATE EXTENSION citus" in ran.stderr) == (2, True)


def test_the_statements_are_printed_without_a_server():
    ran = run("bench.scale", "postgresql://nobody@nowhere:1/some", "--statements")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[0] == "ALTER DATABASE \"some\" SET citus.propagate_set_commands = 'local';"


def test_the_suite_runs_in_prepared_databases():
    """As on a cluster: by their owner, who is no superuser, one store after another."""
    urls = [server().new_database() for _ in range(2)]
    suite = ["pytest", "-q", "tests/servers/conformance/test_store_entities.py", "-k", "postgres and not large"]
    ran = run(*suite, ENGRAIN_TEST_DATABASES=" ".join(urls))
    assert ran.returncode == 0, ran.stdout[-2_000:]
    assert "passed" in ran.stdout
