"""Assertion rewriting of test files, divided among the workers of a run: a new checkout has nothing in its caches.

Each worker collects every file, and would rewrite every file: 5 s of CPU.
"""

import sys
from pathlib import Path

from _pytest.assertion import rewrite

TESTS = Path(__file__).parents[1]


def rewrite_share(config):
    """Fill the caches of a worker's share of the files that have none; pytest rewrites what nobody has come to yet."""
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    first = int(worker["workerid"].removeprefix("gw"))
    for path in sorted(TESTS.glob("*/**/test_*.py"))[first :: worker["workercount"]]:
        cache = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if not cache.exists() and rewrite.try_makedirs(cache.parent):
            source, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, cache)
