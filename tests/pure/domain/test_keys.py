from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from engrain.domain.access.keys import ROLES, AccessKey, CreatedKey, Grant, allows
from engrain.errors import RateLimited

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
KEY = AccessKey(id="k", tenant_id="acme", agent="ana", role="writer", created_at=NOW)


def test_each_role_may_what_those_below_it_may_and_no_more():
    allowed = {(has, needs) for has, needs in product(ROLES, ROLES) if allows(has, needs)}
    assert allowed == {
        ("reader", "reader"),
        ("writer", "reader"),
        ("writer", "writer"),
        ("admin", "reader"),
        ("admin", "writer"),
        ("admin", "admin"),
    }


@pytest.mark.parametrize(
    ("expires_in", "revoked", "valid"),
    [(None, False, True), (1, False, True), (0, False, False), (-1, False, False), (None, True, False)],
)
def test_a_key_opens_until_it_is_revoked_or_its_time_has_come(expires_in, revoked, valid):
    key = AccessKey(
        id="k",
        tenant_id="acme",
        role="reader",
        created_at=NOW,
        expires_at=None if expires_in is None else NOW + timedelta(seconds=expires_in),
        revoked_at=NOW if revoked else None,
    )
    assert key.is_valid(NOW) is valid


def test_a_key_grants_what_it_says_and_nothing_else():
    assert KEY.grant == Grant(key_id="k", tenant_id="acme", agent="ana", role="writer")


def test_the_secret_is_in_the_answer_and_in_no_text_of_it():
    created = CreatedKey(secret="ek_k_secret", key=KEY)
    assert created.to_dict()["secret"] == "ek_k_secret"
    assert "ek_k_secret" not in repr(created) + str(created)


def test_who_comes_too_often_is_told_when_to_come_again():
    assert RateLimited("too many", retry_after_s=3.5).retry_after_s == 3.5
