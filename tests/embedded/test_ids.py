import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import chain

from engrain.domain.ids import NumberSource

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)

# A process that made an id and a number, and one forked from it, each make one of both at the same moment.
FORKED = """
import os
from datetime import UTC, datetime
from engrain.domain.ids import IdSource, NumberSource
source = IdSource(lambda: datetime(2026, 5, 4, tzinfo=UTC))
numbers = NumberSource(lambda: datetime(2026, 5, 4, tzinfo=UTC))
source(), numbers.several(1, kind=0)
child = os.fork()
other = IdSource(lambda: datetime(2026, 5, 5, tzinfo=UTC))
if child:
    os.waitpid(child, 0)
print(other(), source(), numbers.several(1, kind=0)[0], flush=True)
"""


def test_a_forked_process_draws_other_ids_and_numbers_than_its_parent():
    ended = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    assert len(set(ended.stdout.split())) == 6


def test_numbers_ascend_whatever_the_clock_does_and_have_63_bits():
    clock = iter([NOON, NOON, NOON - timedelta(days=1), NOON + timedelta(seconds=1), datetime(2089, 1, 1, tzinfo=UTC)])
    source = NumberSource(lambda: next(clock))
    drawn = [source.several(count, kind=kind) for count, kind in ((1, 0), (500, 1), (3, 2), (1, 0), (9, 1))]
    numbers = list(chain(*drawn))
    assert [len(each) for each in drawn] == [1, 500, 3, 1, 9]
    assert numbers == sorted(set(numbers))
    assert all(0 < number < 1 << 63 for number in numbers)


def test_numbers_of_two_processes_ascend_with_their_time():
    earlier, later = NumberSource(lambda: NOON), NumberSource(lambda: NOON + timedelta(milliseconds=1))
    assert max(earlier.several(1_000, kind=2)) < min(later.several(1_000, kind=0))


def test_two_kinds_never_have_a_number_in_common():
    sources = [NumberSource(lambda: NOON) for _ in range(3)]
    kinds = [{number & 3 for number in source.several(99, kind=kind)} for kind, source in enumerate(sources)]
    assert kinds == [{0}, {1}, {2}]
