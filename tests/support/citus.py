"""Databases on every node of a Citus cluster, for the suites that a store passes whatever server it is on.

`ENGRAIN_TEST_CITUS` is a superuser's URL of a database on the coordinator that knows the nodes (`citus_add_node`). All
nodes let that superuser and its new roles in by the same password, or without one.
"""

import contextlib
from collections import defaultdict

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.postgres import Databases
from tests.support.stores import PostgresStore
from tests.support.wiped import deletion_of

_NODES = "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 ORDER BY nodeport"

_SHARDS = "SELECT shard_name, nodename, nodeport FROM citus_shards"


class CitusDatabases(Databases):
    """Databases on one cluster: each is made on all nodes, and knows them."""

    def __init__(self, superuser_url):
        with psycopg.connect(superuser_url) as connection:
            self._workers = connection.execute(_NODES).fetchall()
        at = conninfo_to_dict(superuser_url)
        self._coordinator = at["host"], int(at["port"])
        self._shards = {}
        super().__init__(superuser_url)

    @property
    def ports(self):
        return [port for _, port in (*self._workers, self._coordinator)]

    def run_everywhere(self, database, statement):
        for host, port in (*self._workers, self._coordinator):
            with psycopg.connect(self._node_url(host, port, database), autocommit=True) as connection:
                with contextlib.suppress(psycopg.errors.UndefinedObject):  # a database without the extension
                    connection.execute("SET citus.enable_ddl_propagation = off")
                connection.execute(statement)

    def _copy(self, template):
        name = super()._copy(self._name)  # a copy of shards would belong to nobody
        self.run_everywhere(name, "CREATE EXTENSION citus")
        self.psql(name, "SELECT citus_set_coordinator_host(%s, %s)", self._coordinator)
        for node in self._workers:
            self.psql(name, "SELECT citus_add_node(%s, %s)", node)
        if template != self._name:
            PostgresStore(self._url_of(name)).close()
        return name

    def empty(self, url):
        """Empty our tables of a database, shard by shard: through the coordinator it takes 300 ms."""
        name = conninfo_to_dict(url)["dbname"]
        if name not in self._shards:
            shards = defaultdict(list)
            for shard, *node in self.psql(name, _SHARDS):
                shards[tuple(node)].append(deletion_of(shard))
            self._shards[name] = [
                (psycopg.connect(self._node_url(*node, name), autocommit=True), "; ".join(deletions))
                for node, deletions in shards.items()
            ]
            for connection, _ in self._shards[name]:
                connection.execute("SET session_replication_role = replica")
                connection.execute("SET citus.enable_manual_changes_to_shards = on")
        for connection, deletions in self._shards[name]:
            connection.execute(deletions)

    def drop_database(self, url):
        for connection, _ in self._shards.pop(conninfo_to_dict(url)["dbname"], ()):
            connection.close()
        super().drop_database(url)

    def _node_url(self, host, port, database):
        return make_conninfo(self.url, host=host, port=port, dbname=database)
