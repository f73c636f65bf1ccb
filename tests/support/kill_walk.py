"""A walk over the write calls of an operation: killed at some of them, opened again, compared, and done again."""

import json
import shutil
import sys
from collections import Counter
from contextlib import closing, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from zlib import crc32

from tests.support import kill_worlds
from tests.support.kill_cases import CASES, DONE
from tests.support.kill_worlds import blur
from tests.support.stores import open_verbs
from tests.support.write_kills import PLACES, KillPoint, counted, kill


def make_worlds(folder):
    """Make the files that the cases begin with, in a folder each."""
    for name, make, *others in (
        ("small", kill_worlds.make_small),
        ("large", kill_worlds.make_large, "small"),
        ("sparse", kill_worlds.make_sparse, "small"),
    ):
        (Path(folder) / name).mkdir()
        make(Path(folder) / name, *(Path(folder) / other for other in others))


def choose_points(count, most, seed):
    """At most so many points among the write calls: the first, the last, and others evenly between them."""
    if len(PLACES) * count <= most:
        return [KillPoint(number, place) for number in range(1, count + 1) for place in PLACES]
    numbers = [1 + round(index * (count - 1) / (most - 1)) for index in range(most)]
    return [KillPoint(number, PLACES[(index + seed) % 3]) for index, number in enumerate(numbers)]


class Walk:
    """The walk of one case, in a folder of its own."""

    def __init__(self, name, worlds, folder):
        self._case = CASES[name]
        self._seed = crc32(name.encode())
        self._world = worlds / self._case.world
        self._folder = folder / "death"
        self.failures = []
        self.before = self._state()
        self._renew()
        with counted(of_python=self._case.of_python) as calls:
            self._case.work(self._folder, lambda _: None)
        self.after = self._state(is_new=False)
        self.count = calls.count

    def walk(self, most):
        """Kill it at so many points, and return the number of those at which it died."""
        return sum(self._kill(point) for point in choose_points(self.count, most, self._seed))

    def _kill(self, point):
        try:
            return self._check(point)
        except Exception as error:
            error.add_note(f"killed {point.place} write {point.number} of {self.count}")
            raise

    def _check(self, point):
        self._renew()
        death = kill(
            lambda acknowledge: self._case.work(self._folder, acknowledge),
            point,
            of_python=self._case.of_python,
            meanwhile=self._watch if point.number % 3 == 0 else nullcontext,
        )
        state = self._state(is_new=False)
        if self._case.is_whole and state not in (self.before, self.after):
            self._fail(point, "is half done", state)
        done = [line for line in death.acknowledged if line != DONE]
        is_kept = state == self.after or DONE not in death.acknowledged or not self._case.is_durable
        if not (is_kept and self._case.keeps(done, state)):
            self._fail(point, "was acknowledged and is lost", state)
        if state != self.after or self._case.is_repeatable:
            self._case.work(self._folder, lambda _: None, is_again=True)
            again = self._state(is_new=False)
            if self._blur(again) != self._blur(self.after):
                self._fail(point, "is another one when it is done again", again)
        return death.is_killed

    @contextmanager
    def _watch(self):
        """Read the database before and after somebody else was killed, by the same connections."""
        with closing(open_verbs(self._folder / kill_worlds.NAME)) as store:
            assert store.health().problems == ()
            yield
            assert store.health().problems == ()

    def _state(self, *, is_new=True):
        if is_new:
            self._renew()
        return self._case.state(self._folder)

    def _blur(self, state):
        return state if self._case.is_whole else blur(state)

    def _renew(self):
        if self._folder.exists():
            shutil.rmtree(self._folder)
        shutil.copytree(self._world, self._folder)

    def _fail(self, point, what, state):
        rows = difference(self._blur(self.after), self._blur(state))
        self.failures.append(f"killed {point.place} write {point.number} of {self.count}, it {what}: {rows}")


def difference(expected, found):
    """The rows that are missing and those that are too many, a few of each table."""
    missing, extra = (
        {table: (Counter(one[table]) - Counter(other.get(table, ()))).elements() for table in one}
        for one, other in ((expected, found), (found, expected))
    )
    return {
        table: {"missing": lines, "extra": others}
        for table in sorted({*expected, *found})
        for lines, others in [[list(islice(rows.get(table, ()), 2)) for rows in (missing, extra)]]
        if lines or others
    }


def main(arguments):
    """Make the worlds in a folder, or walk a case: [folder], or [name, worlds, folder, most]."""
    if len(arguments) == 1:
        make_worlds(arguments[0])
        return
    name, worlds, folder, most = arguments
    walk = Walk(name, Path(worlds), Path(folder))
    deaths = walk.walk(int(most))
    answer = {"writes": walk.count, "deaths": deaths, "changes": walk.before != walk.after, "failures": walk.failures}
    sys.stdout.write(json.dumps(answer) + "\n")
