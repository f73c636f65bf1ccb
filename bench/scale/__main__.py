"""Apply the schema to a Citus cluster, spread it by tenant, and run the store's conformance suite there.

python -m bench.scale postgresql://role:password@coordinator:5432/engrain [--statements]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from contextlib import closing

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from bench.scale import distribution
from engrain.storage.postgres.backend import PostgresBackend
from engrain.storage.store import SqlStore

_SCHEMAS = ("engrain_scale_1", "engrain_scale_2")  # some tests compare two stores


def main() -> int:
    """The exit code of the conformance suite; 2 where there is no cluster."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("url", help="an empty database on the coordinator, with the extensions citus and vector")
    parser.add_argument("--statements", action="store_true", help="only print what would distribute it")
    asked = parser.parse_args()
    if asked.statements:
        print(*distribution.statements(str(conninfo_to_dict(asked.url)["dbname"])), sep=";\n", end=";\n")
        return 0
    try:
        urls = [_prepared(asked.url, schema) for schema in _SCHEMAS]
    except distribution.NotACluster as error:
        print(error, file=sys.stderr)
        return 2
    suite = [sys.executable, "-m", "pytest", "-q", "tests/servers/conformance", "-k", "postgres and not parity"]
    environment = {**os.environ, "ENGRAIN_TEST_DATABASES": " ".join(urls)}
    return subprocess.run(suite, env=environment, check=False).returncode


def _prepared(url: str, schema: str) -> str:
    """The URL of a schema with our tables, distributed."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    there = f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}%2Cpublic"
    with closing(SqlStore(PostgresBackend(there))) as store:
        print(f"schema {store.health().schema} in {schema} at {store.location}")
    tables, nodes = distribution.distribute(there)
    print(f"{tables} tables by tenant_id over {nodes} nodes")
    return there


if __name__ == "__main__":
    sys.exit(main())
