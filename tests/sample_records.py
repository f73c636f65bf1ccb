"""Records to test with: sensible where nobody says otherwise, and any at all for hypothesis."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from engrain.domain.ids import IdSource
from engrain.domain.ports import Request
from engrain.domain.query import Filter
from engrain.domain.records import KINDS, ROLES, Caller, Episode, Fact

NOON = datetime(2024, 5, 7, 12, tzinfo=UTC)
CALLER = Caller(agent="aide")

_ids = IdSource(lambda: NOON)


def episode(content="The tram was late.", **changes):
    values = {"id": _ids(), "agent": "aide", "scope": "aide", "event_time": NOON, "created_at": NOON}
    return Episode(**{**values, "content": content, **changes})


def fact(content="Lisbon", **changes):
    values = {"id": _ids(), "agent": "aide", "subject": "Ana", "predicate": "lives in", "created_at": NOON}
    return Fact(**{**values, "content": content, **changes})


def request(caller=CALLER, now=NOON + timedelta(days=1), **conditions):
    return Request(caller=caller, filter=Filter(**conditions), now=now)


MOMENTS = st.integers(-3, 3).map(lambda days: NOON + timedelta(days=days))
_SESSIONS = st.sampled_from(["monday", "friday"])
_SPEAKERS = st.sampled_from(["Ana", "Ben"])
_TAGS = st.sampled_from(["travel", "work", "food"])


def several(of, **sizes):
    return st.lists(of, unique=True, max_size=2, **sizes).map(tuple)


EPISODES = st.builds(
    episode,
    session=st.none() | _SESSIONS,
    role=st.sampled_from(ROLES),
    speaker=st.none() | _SPEAKERS,
    event_time=MOMENTS,
    expires_at=st.none() | MOMENTS,
    tags=several(_TAGS),
)
FACTS = st.builds(
    fact,
    validity=st.sampled_from(["active", "superseded", "expired", "retracted"]),
    created_at=MOMENTS,
    valid_from=st.none() | MOMENTS,
    tags=several(_TAGS),
)
MEMORIES = EPISODES | FACTS
FILTERS = st.builds(
    Filter,
    kinds=several(st.sampled_from(KINDS), min_size=1),
    sessions=several(_SESSIONS),
    exclude_sessions=several(_SESSIONS),
    roles=several(st.sampled_from(ROLES)),
    speakers=several(_SPEAKERS),
    tags=several(_TAGS),
    since=st.none() | MOMENTS,
    until=st.none() | MOMENTS,
)
