"""Who is let in: a header becomes a grant, or an error that gives nothing away, and guessing is slow."""

from itertools import product

import pytest

from engrain import Memory
from engrain.domain.access.keys import ROLES, Grant
from engrain.errors import Forbidden, RateLimited, Unauthenticated
from engrain.interfaces.access import Gate, require, secret_of_header
from engrain.interfaces.rates import RateLimit
from tests.support.clock import Clock


@pytest.fixture
def clock():
    return Clock(0.0)


@pytest.fixture
def memory():
    with Memory.open(":memory:", settings={"embedding": {"model": "none"}}) as memory:
        yield memory


def wrong(number):
    return f"Bearer ek_wrong_{number}"


def refusal(gate, authorization, **asked):
    with pytest.raises((Unauthenticated, RateLimited)) as refused:
        gate.admit(authorization, **asked)
    return refused.value


@pytest.mark.parametrize(
    ("header", "secret"),
    [
        ("Bearer ek_x", "ek_x"),
        ("bearer   ek_x ", "ek_x"),
        ("Token ek_x", "ek_x"),
        ("Basic ek_x", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("ek_x", None),
        ("", None),
        (None, None),
    ],
)
def test_a_header_shows_a_key_after_its_scheme(header, secret):
    assert secret_of_header(header) == secret


def test_where_keys_are_required_only_a_key_lets_in(memory):
    gate = Gate(memory, keys_required=True)
    created = memory.keys.create(role="reader", tenant="acme", agent="ana")
    expected = Grant(key_id=created.key.id, tenant_id="acme", agent="ana", role="reader")
    assert gate.admit(f"Bearer {created.secret}") == expected
    for header in (None, "", "Basic YTpi", f"Basic {created.secret}", "Bearer garbage", f"Bearer {created.key.id}"):
        assert isinstance(refusal(gate, header), Unauthenticated)
    memory.keys.revoke(created.key.id, tenant="acme")
    assert isinstance(refusal(gate, f"Bearer {created.secret}"), Unauthenticated)


def test_where_none_is_required_everybody_is_an_admin_unless_a_key_says_otherwise(memory):
    gate = Gate(memory, keys_required=False)
    everybody = Grant(key_id=None, tenant_id=memory.settings.tenant, agent=None, role="admin")
    for header in (None, "", "Bearer somebody else's", "Token m0-x"):
        assert gate.admit(header) == everybody
    created = memory.keys.create(role="reader", tenant="acme")
    assert gate.admit(f"Bearer {created.secret}") == created.key.grant
    assert isinstance(refusal(gate, f"Bearer {created.secret}x"), Unauthenticated)


def test_a_token_lets_in_as_admin_and_nothing_does_without(memory):
    gate = Gate(memory, keys_required=False, token="et_secret")
    user = Grant(key_id="local", tenant_id=memory.settings.tenant, agent=None, role="admin")
    assert gate.admit("Bearer et_secret") == gate.admit("Token et_secret") == user
    for header in (
        None,
        "",
        "Bearer et_secre",
        "Bearer et_secret2",
        "Basic et_secret",
        "Bearer \N{LATIN SMALL LETTER E}",
    ):
        assert "engrain token" in str(refusal(gate, header))
    created = memory.keys.create(role="reader", tenant="acme")
    assert gate.admit(f"Bearer {created.secret}") == created.key.grant


def test_no_refusal_says_what_was_shown(memory):
    gate = Gate(memory, keys_required=True, failures_per_minute=1)
    said = [str(refusal(gate, "Bearer ek_opensesame", address="a")) for _ in range(3)]
    assert "opensesame" not in "".join(said)


def test_a_key_has_so_many_requests_a_minute_and_another_its_own(memory, clock):
    gate = Gate(memory, keys_required=True, rate_limit_per_minute=3, clock=clock)
    one, other = (f"Bearer {memory.keys.create(role='reader').secret}" for _ in range(2))
    for _ in range(3):
        gate.admit(one)
    refused = refusal(gate, one)
    assert (refused.code, refused.retry_after_s) == ("rate_limited", 20.0)
    gate.admit(other)
    clock.now += 20
    gate.admit(one)
    refusal(gate, one)


def test_guessing_is_slow_by_address_and_shuts_out_no_valid_key(memory, clock):
    gate = Gate(memory, keys_required=True, failures_per_minute=2, clock=clock)
    known, fresh = (f"Bearer {memory.keys.create(role='reader').secret}" for _ in range(2))
    gate.admit(known, address="a")
    assert [refusal(gate, wrong(n), address="a").code for n in range(4)] == [
        *["unauthenticated"] * 2,
        *["rate_limited"] * 2,
    ]
    assert refusal(gate, wrong(4), address="a").retry_after_s == 30.0
    gate.admit(known, address="a")
    gate.admit(fresh, address="a")
    clock.now += 30
    assert refusal(gate, wrong(9), address="a").code == "unauthenticated"
    assert refusal(gate, wrong(9), address="a").code == "rate_limited"


def test_a_known_key_that_was_revoked_is_refused_and_known_no_more(memory, clock):
    gate = Gate(memory, keys_required=True, failures_per_minute=1, clock=clock)
    created = memory.keys.create(role="reader")
    header = f"Bearer {created.secret}"
    gate.admit(header, address="a")
    memory.keys.revoke(created.key.id)
    assert [refusal(gate, header, address="a").code for _ in range(2)] == ["unauthenticated", "rate_limited"]


def test_who_shows_no_key_is_told_so_as_often_as_he_asks(memory):
    gate = Gate(memory, keys_required=True, failures_per_minute=1)
    assert {refusal(gate, None, address="a").code for _ in range(5)} == {"unauthenticated"}


def test_the_limits_are_the_settings_where_none_is_given(clock):
    settings = {"embedding": {"model": "none"}, "server": {"rate_limit_per_minute": 1, "failures_per_minute": 1}}
    with Memory.open(":memory:", settings=settings) as memory:
        gate = Gate(memory, keys_required=True, clock=clock)
        header = f"Bearer {memory.keys.create(role='reader').secret}"
        gate.admit(header)
        assert refusal(gate, header).code == "rate_limited"
        assert [refusal(gate, wrong(n)).code for n in range(2)] == ["unauthenticated", "rate_limited"]


def test_a_role_may_what_it_may():
    forbidden = {("reader", "writer"), ("reader", "admin"), ("writer", "admin")}
    for has, needs in product(ROLES, ROLES):
        grant = Grant(key_id=None, tenant_id="t", agent=None, role=has)
        if (has, needs) not in forbidden:
            require(grant, needs)
            continue
        with pytest.raises(Forbidden, match=needs):
            require(grant, needs)


class TestRate:
    def test_a_minutes_worth_at_once_and_then_one_at_a_time(self, clock):
        rate = RateLimit(60, clock=clock)
        assert [rate.take("a") for _ in range(60)] == [0.0] * 60
        assert rate.take("a") == 1.0
        clock.now += 0.5
        assert rate.take("a") == 0.5
        clock.now += 0.5
        assert rate.take("a") == 0.0
        clock.now += 3_600
        assert [rate.take("a") for _ in range(61)] == [0.0] * 60 + [1.0]

    def test_no_bound(self, clock):
        rate = RateLimit(0, clock=clock)
        assert {rate.take("a") for _ in range(1_000)} == {0.0}

    def test_what_is_remembered_is_bounded_and_the_oldest_begins_anew(self, clock):
        rate = RateLimit(1, clock=clock)
        for name in range(10_001):
            rate.take(str(name))
        assert rate.take("10000") == 60.0
        assert rate.take("0") == 0.0
        assert len(rate._buckets) == 10_000
