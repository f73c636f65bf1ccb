"""What can go wrong over HTTP: every error has a status, a code and a message, and none tells of the server's own."""

import inspect

import httpx2
import pytest

from engrain import Memory, errors
from engrain.interfaces.access import Gate
from engrain.interfaces.http.app import create_app
from engrain.interfaces.http.problems import STATUSES, status_of
from tests.support.asgi import serving

CLASSES = {name: each for name, each in vars(errors).items() if inspect.isclass(each)}
PARENTS = {base for each in CLASSES.values() for base in each.__bases__}
LEAVES = {name: each for name, each in CLASSES.items() if each not in PARENTS}
EXPECTED = {
    "UnreadableImport": 422,
    "UntrustedSettings": 422,
    "UnusableBackup": 422,
    "NotFound": 404,
    "VersionConflict": 409,
    "Unauthenticated": 401,
    "Forbidden": 403,
    "RateLimited": 429,
    "MemoryClosed": 503,
    "CannotListen": 500,
    "EngineUnavailable": 503,
    "NotAnEngrainFile": 500,
    "SchemaTooNew": 500,
    "DatabaseDamaged": 500,
    "DatabaseReadOnly": 500,
    "DatabaseFull": 507,
    "DatabaseBusy": 503,
    "DatabaseUnreachable": 503,
    "IntegrityViolated": 409,
    "OutcomeUnknown": 503,
}
TOLD = {
    "UntrustedSettings",
    "UnreadableImport",
    "UnusableBackup",
    "NotFound",
    "VersionConflict",
    "Unauthenticated",
    "Forbidden",
    "RateLimited",
}


class Raising(Gate):
    """A gate at which every request fails."""

    error = RuntimeError("nothing was said")

    def admit(self, authorization, *, address=None):  # noqa: ARG002  # nobody
        raise self.error


@pytest.fixture(scope="module")
def answer():
    """What a server answers whose every request fails of one error."""

    def of(error):
        gate.error = error
        return client.get("/v1/stats", headers={"X-Request-ID": "r-7"})

    with (
        Memory.open(":memory:", embedder="none") as memory,
        serving(create_app(memory, gate=(gate := Raising(memory, keys_required=False)))) as url,
        httpx2.Client(base_url=url, timeout=60) as client,
    ):
        yield of


def test_every_error_has_a_status():
    assert {name: int(status_of(each("x"))) for name, each in LEAVES.items()} == EXPECTED
    assert status_of(errors.InvalidInput("x")) == 422
    assert set(STATUSES) <= set(CLASSES.values())


@pytest.mark.parametrize("name", LEAVES)
def test_a_problem_says_what_the_caller_may_know_and_nothing_of_the_server(answer, name):
    told = answer(LEAVES[name]("/srv/secret.db cannot do this"))
    problem = told.json()
    assert told.headers["Content-Type"] == "application/problem+json"
    assert problem == {
        "type": f"urn:engrain:error:{LEAVES[name].code}",
        "title": problem["title"],
        "status": EXPECTED[name],
        "detail": problem["detail"],
        "code": LEAVES[name].code,
        "request_id": "r-7",
    }
    assert told.status_code == EXPECTED[name]
    assert ("secret" in told.text) == (name in TOLD)
    assert len(problem["detail"]) > 20
    assert ("Retry-After" in told.headers) == (EXPECTED[name] in (429, 503))
    assert ("WWW-Authenticate" in told.headers) == (EXPECTED[name] == 401)


def test_a_limit_says_when_to_try_again(answer):
    assert answer(errors.RateLimited("slow down", retry_after_s=2.3)).headers["Retry-After"] == "3"


def test_what_nobody_foresaw_is_told_without_a_word_of_it(answer, caplog):
    told = answer(RuntimeError("the memory said: my PIN is 1234"))
    assert (told.status_code, told.json()["code"]) == (500, "internal_error")
    assert "1234" not in told.text
    assert "Traceback" not in told.text
    [said] = caplog.records
    assert (said.request_id, said.error) == ("r-7", "RuntimeError")
    assert "1234" not in caplog.text
