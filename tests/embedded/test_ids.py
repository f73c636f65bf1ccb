import subprocess
import sys

# A process that made an id, and one forked from it, each make one at the same moment.
FORKED = """
import os
from datetime import UTC, datetime
from engrain.domain.ids import IdSource
source = IdSource(lambda: datetime(2026, 5, 4, tzinfo=UTC))
source()
child = os.fork()
other = IdSource(lambda: datetime(2026, 5, 5, tzinfo=UTC))
if child:
    os.waitpid(child, 0)
print(other(), flush=True)
"""


def test_a_forked_process_draws_other_ids_than_its_parent():
    ended = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    assert len(set(ended.stdout.split())) == 2
