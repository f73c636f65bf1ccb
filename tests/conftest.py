import logging
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from engrain.agent.watching import keep_journal

# Suites share `tests.reference_store`; `pytest` alone, unlike `python -m pytest`, leaves the project's folder out.
ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

settings.register_profile("engrain", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("engrain")


@pytest.fixture(autouse=True)
def own_log():
    """Whoever serves in this process sets up its log; the next test begins without."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = [each for each in root.handlers if each in handlers]
    keep_journal(kept=False)
