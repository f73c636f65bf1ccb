"""Records to test with: sensible where nobody says otherwise, and any at all for hypothesis."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from engrain.domain.access.scopes import GLOBAL_SCOPE
from engrain.domain.filters import Filter
from engrain.domain.ids import IdSource
from engrain.domain.memories.trust import TRUST_LEVELS
from engrain.domain.records import KINDS, ROLES, VALIDITIES, Caller, Entity, Episode, Explanation, Fact, Hit, Link, Rule
from engrain.domain.requests import Act, Request

NOON = datetime(2024, 5, 7, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
CALLER = Caller(agent="aide")
FOREIGN = Caller(tenant_id="other", agent="aide")  # the same agent of another tenant

_ids = IdSource(lambda: NOON)


def episode(content="The tram was late.", **changes):
    values = {"id": _ids(), "agent": "aide", "scope": "aide", "event_time": NOON, "created_at": NOON}
    return Episode(**{**values, "content": content, **changes})


def fact(content="Lisbon", **changes):
    values = {"id": _ids(), "agent": "aide", "subject": "Ana", "predicate": "lives in", "created_at": NOON}
    return Fact(**{**values, "content": content, **changes})


def rule(content="Ask before booking early flights.", **changes):
    values = {"id": _ids(), "agent": "aide", "created_at": NOON}
    return Rule(**{**values, "content": content, **changes})


def entity(name="Ana", **changes):
    values = {"id": _ids(), "entity_type": "person", "created_at": NOON, "updated_at": NOON}
    return Entity(**{**values, "canonical_name": name, **changes})


def link(source, target, relation="related_to", **changes):
    values = {"source_id": source.id, "target_id": target.id, "created_at": NOON}
    return Link(**{**values, "relation": relation, **changes})


def hit(memory, score=1.0):
    return Hit(score=score, memory=memory, why=Explanation(preset="engrain", contributions=()))


def hits_of(memories):
    """Hits in this order, best first."""
    return [hit(memory, 1 - place / 1_000) for place, memory in enumerate(memories)]


def request(caller=CALLER, now=NOON + timedelta(days=1), **conditions):
    return Request(caller=caller, filter=Filter(**conditions), now=now)


def act(at=NOON, caller=CALLER):
    return Act(caller=caller, at=at)


def author(*memories):
    """Who may write these: one agent of one tenant, in the pools it takes."""
    [tenant_id] = {memory.tenant_id for memory in memories}
    scopes = {memory.scope for memory in memories} - {GLOBAL_SCOPE}
    pools = tuple(sorted(scope.removeprefix("pool:") for scope in scopes if scope.startswith("pool:")))
    [agent] = {scope for scope in scopes if not scope.startswith("pool:")} or {"aide"}
    return Caller(tenant_id=tenant_id, agent=agent, pools=pools)


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
    created_at=MOMENTS,
    expires_at=st.none() | MOMENTS,
    metadata=st.sampled_from([{}, {}, {"hidden": True}, {"hidden": "yes"}, {"trust": "import"}, {"trust": "odd"}]),
    tags=several(_TAGS),
)
FACTS = st.builds(
    fact,
    subject=_SPEAKERS,
    predicate=st.sampled_from(["lives in", "likes", "observation 0123456789ab"]),
    category=st.sampled_from(["fact", "task", "summary"]),
    permanence=st.sampled_from(["permanent", "standard"]),
    last_confirmed_at=st.none() | MOMENTS,
    validity=st.sampled_from(VALIDITIES),
    created_at=MOMENTS,
    valid_from=st.none() | MOMENTS,
    invalidated_at=st.none() | MOMENTS,
    metadata=st.sampled_from([{}, {}, {"hidden": True}, {"trust": "tool"}, {"trust": "import"}]),
    tags=several(_TAGS),
)
RULES = st.builds(
    rule,
    created_at=MOMENTS,
    invalidated_at=st.none() | MOMENTS,
    metadata=st.sampled_from(
        [{}, {}, {"forgotten": True, "hidden": True}, {"forgotten": True}, {"forgotten": False}, {"status": "fading"}]
    ),
    tags=several(_TAGS),
)
MEMORIES = EPISODES | FACTS | RULES
FILTERS = st.builds(
    Filter,
    kinds=several(st.sampled_from(KINDS), min_size=1) | st.just(KINDS),
    scopes=st.just(()) | several(st.sampled_from(["global", "aide", "ana", "pool:team"])),
    sessions=several(_SESSIONS),
    exclude_sessions=several(_SESSIONS),
    exclude_from_turn=st.integers(0, 3),
    roles=several(st.sampled_from(ROLES)),
    speakers=several(_SPEAKERS),
    subjects=several(_SPEAKERS),
    predicates=several(st.sampled_from(["lives in", "likes"])),
    categories=several(st.sampled_from(["fact", "task"])),
    tags=several(_TAGS),
    standing=st.booleans(),
    trust=several(st.sampled_from(TRUST_LEVELS)),
    notes_of=st.none() | st.sampled_from(["Ana", "ana"]),
    since=st.none() | MOMENTS,
    until=st.none() | MOMENTS,
    as_of=st.none() | MOMENTS,
    valid_at=st.none() | MOMENTS,
    include_inactive=st.booleans(),
    period=st.sampled_from(["any", "open", "current"]),
    after=st.none() | st.tuples(MOMENTS, st.sampled_from(["", "0", "8", "z"])),
)
