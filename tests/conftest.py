import gc
import logging
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from engrain.agent.watching import keep_journal

# Suites share `tests.reference_store`; `pytest` alone, unlike `python -m pytest`, leaves the project's folder out.
ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

# A slow machine fails no test: neither an example nor the making of some is timed.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run. `pytest --hypothesis-profile random` looks for others.
settings.register_profile("engrain", UNTIMED, derandomize=True)
settings.register_profile("random", UNTIMED)
settings.load_profile("engrain")
# Hypothesis (6.170) also draws constants from the source of whatever modules of ours are loaded by then: what a test is
# given would hang on which others its process ran before, which is chance where several share them. No setting ends it.
providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays to the end: looking through it for garbage takes a quarter of the time, and later too."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def own_log():
    """Whoever serves in this process sets up its log; the next test begins without."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = [each for each in root.handlers if each in handlers]
    keep_journal(kept=False)
