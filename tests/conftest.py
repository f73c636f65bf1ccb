import sys
from pathlib import Path

from hypothesis import settings

# Suites share `tests.reference_store`; `pytest` alone, unlike `python -m pytest`, leaves the project's folder out.
ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

settings.register_profile("engrain", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("engrain")
