"""A clock that tests set."""

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Clock:
    """Stands still, or goes on at each look by a `tick`, such as `seconds=1`."""

    def __init__(self, now=NOON, **tick):
        self.now = now
        self._tick = timedelta(**tick)

    def __call__(self):
        if self._tick:
            self.now += self._tick
        return self.now

    def pass_time(self, **time):
        self.now += timedelta(**time)
