import gc
import logging
import os
import sys
import tempfile
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from engrain.agent.operations.instrumentation import log_verbs

# Tests import `tests.support`; `pytest` alone, unlike `python -m pytest`, leaves the project's folder out.
ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from tests.support.folders import use_memory  # noqa: E402  # found by the path above

use_memory()

SERVERS = Path(__file__).with_name("servers")
EMBEDDED = ("sqlite",)

pytest_plugins = ["tests.support.commands"]

# Nothing here speaks TLS, and to read the authorities of the system takes each HTTP client 35 ms.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(SERVERS)

# No key of a server's backups is made in the home of whoever runs the tests.
DATA_HOME = tempfile.TemporaryDirectory(prefix="engrain-data-")
os.environ["XDG_DATA_HOME"] = DATA_HOME.name

# Backups of one memory are restored into another: both have this key, unless a test says otherwise.
os.environ["ENGRAIN_BACKUP__SIGNING_KEY"] = "the key of all memories of the tests"

# A slow machine fails no test: neither an example nor the making of some is timed.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run. `pytest --hypothesis-profile random` looks for others.
settings.register_profile("engrain", UNTIMED, derandomize=True)
settings.register_profile("random", UNTIMED)
settings.load_profile("engrain")
# Hypothesis (6.170) also draws constants from the source of whatever modules of ours are loaded by then: what a test is
# given would hang on which others its process ran before, which is chance where several share them. No setting ends it.
providers._get_local_constants = lambda: providers._local_constants


def prepare_in_memory(connection):
    """Spare whoever opens a database in memory the making of its schema."""
    from tests.support.new_databases import copy_schema  # which imports both databases

    copy_schema(connection)


apsw.connection_hooks.append(prepare_in_memory)


def pytest_addoption(parser):
    parser.addoption("--no-servers", action="store_true", help="skip what needs PostgreSQL, Redis or served processes")


def pytest_collection_modifyitems(config, items):
    """Deselects the tests that need a server, where `--no-servers` asks for it."""
    if config.getoption("--no-servers"):
        config.hook.pytest_deselected(items=[item for item in items if needs_server(item)])
        items[:] = [item for item in items if not needs_server(item)]


def needs_server(item):
    """Whether a test is in tests/servers and no parameter of it names an embedded store, or one names a server."""
    if SERVERS not in item.path.parents:
        return False
    names = [str(value) for value in item.callspec.params.values()] if hasattr(item, "callspec") else []
    return not any(name.startswith(EMBEDDED) for name in names) or any("postgres" in name for name in names)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """What is collected stays to the end: looking through it for garbage takes a quarter of the time, and later too.

    What tests load stays as well, so all of it is looked through rarely; what a test leaves is young, and soon found.
    """
    from tests.support.rewriting import rewrite_share  # which `pytest` alone finds by the path above

    gc.disable()
    rewrite_share(session.config)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(2_000, 10, 100)
        gc.enable()


@pytest.fixture
def path(tmp_path):
    """Where a test's own memory file is to be."""
    return tmp_path / "memory.db"


@pytest.fixture(autouse=True)
def own_log():
    """Whoever serves in this process sets up its log; the next test begins without."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = [each for each in root.handlers if each in handlers]
    log_verbs(enabled=False)
