"""The wire: what is tried again, for how long, and what the errors say and do not say."""

import json
from dataclasses import replace
from email.utils import formatdate

import pytest

from engrain import metrics
from engrain.engines.endpoint import Endpoint, Refused, RetryPolicy, join_url
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable, InvalidInput
from tests.support.models import KEY, Fault, endpoint_config, message_of_failure
from tests.support.ports import free_port
from tests.support.races import run_together

SAID = "what Ana said in confidence"
BODY = {"model": "m", "input": [SAID]}
PATIENT = RetryPolicy(attempts=5, total_s=60)


@pytest.fixture
def endpoint(models, timing):
    return Endpoint("the embedder test:m", endpoint_config(f"{models.url}/v1/embeddings"), timing)


def failure(endpoint, policy=PATIENT, kind=EngineUnavailable):
    return message_of_failure(lambda: endpoint.post(BODY, policy=policy), SAID, KEY, kind=kind)


def test_an_answer_comes_back_parsed_and_the_key_goes_out_as_a_bearer(endpoint, models):
    answer = endpoint.post(BODY, policy=PATIENT)
    [(path, headers, body)] = models.asked
    assert len(answer["data"]) == 1
    assert (path, body) == ("/v1/embeddings", BODY)
    assert headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_no_authorization_goes_out(models, timing):
    models.key = None
    Endpoint("e", endpoint_config(f"{models.url}/v1/embeddings", key=None), timing).post(BODY, policy=PATIENT)
    assert "authorization" not in models.asked[0][1]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again_with_growing_pauses(endpoint, models, passing, status):
    models.faults = [Fault(status), Fault(status), Fault(status)]
    retries = metrics.snapshot().get("engine_retries", 0)
    assert endpoint.post(BODY, policy=PATIENT)["data"]
    assert passing.pauses == [0.5, 1.0, 2.0]
    assert metrics.snapshot()["engine_retries"] == retries + 3


def test_chance_shortens_a_pause_by_up_to_a_half_and_none_is_longer_than_8_seconds(models, timing, passing):
    endpoint = Endpoint("e", endpoint_config(f"{models.url}/v1/embeddings"), replace(timing, chance=lambda: 0.0))
    models.faults = [Fault(500)] * 6
    endpoint.post(BODY, policy=RetryPolicy(attempts=7, total_s=600))
    assert passing.pauses == [0.25, 0.5, 1.0, 2.0, 4.0, 4.0]


def test_a_connection_that_is_cut_is_tried_again(endpoint, models, passing):
    models.faults = [Fault(is_cut=True), Fault(is_cut=True)]
    assert endpoint.post(BODY, policy=PATIENT)["data"]
    assert passing.pauses == [0.5, 1.0]


@pytest.mark.parametrize("value", ["7", " 7 ", formatdate(1007, usegmt=True)], ids=["seconds", "blanks", "date"])
def test_the_service_says_how_long_to_wait(endpoint, models, passing, value):
    models.faults = [Fault(429, {"retry-after": value})]
    assert endpoint.post(BODY, policy=PATIENT)["data"]
    assert passing.pauses == [7.0]


@pytest.mark.parametrize("value", ["soon", "-3", "", formatdate(0, usegmt=True), "Mon, 99 Foo 2026 25:00:00 GMT"])
def test_an_unreadable_or_past_wish_leaves_the_pause_as_it_was(endpoint, models, passing, value):
    models.faults = [Fault(503, {"retry-after": value})]
    assert endpoint.post(BODY, policy=PATIENT)["data"]
    assert passing.pauses == [0.5]


@pytest.mark.parametrize("value", ["61", "9" * 400, formatdate(1000 + 86_400, usegmt=True)])
def test_who_asks_for_more_time_than_there_is_gets_none(endpoint, models, passing, value):
    models.faults = [Fault(429, {"retry-after": value})]
    assert failure(endpoint).endswith("answered 429; tried once")
    assert passing.pauses == []


def test_attempts_end(endpoint, models):
    models.faults = [Fault(500)] * 9
    said = failure(endpoint, RetryPolicy(attempts=3, total_s=60))
    assert said == f"the embedder test:m at {models.url}/v1/embeddings answered 500; tried 3 times"
    assert len(models.asked) == 3


def test_time_ends_before_attempts_do(endpoint, models, passing):
    models.faults = [Fault(500)] * 9
    assert failure(endpoint, RetryPolicy(attempts=9, total_s=2)).endswith("tried 3 times")
    assert passing.now <= 1002


def test_nobody_there_is_said(timing):
    url = f"http://127.0.0.1:{free_port()}/v1/embeddings"
    said = failure(Endpoint("the embedder test:m", endpoint_config(url), timing), RetryPolicy(attempts=2, total_s=60))
    assert said.startswith(f"the embedder test:m at {url} cannot be reached: ConnectError (")
    assert said.endswith("tried 2 times")


def test_a_server_that_does_not_answer_costs_no_more_than_the_time_there_is(timing):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        said = failure(Endpoint("e", endpoint_config(url), timing), RetryPolicy(attempts=1, total_s=0.05))
    assert said == f"e at {url} did not answer in time; tried once"


def test_an_answer_that_drips_is_left_when_time_is_up(models, timing, passing):
    """Every piece arrives in time; only the whole does not."""

    def clock():
        passing.now += 1
        return passing.now

    endpoint = Endpoint("e", endpoint_config(f"{models.url}/v1/embeddings"), replace(timing, clock=clock))
    models.twist = lambda answer: {**answer, "padding": "x" * 3_000_000}
    assert "did not finish its answer in time" in failure(endpoint, RetryPolicy(attempts=1, total_s=4))


def test_an_answer_without_end_is_refused(models, timing):
    endpoint = Endpoint("e", endpoint_config(f"{models.url}/v1/embeddings"), timing)
    models.twist = lambda answer: {**answer, "padding": "x" * (65 << 20)}
    assert failure(endpoint).endswith("answered more than 64 MB")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "does not accept the key (401): set embedding.key"),
        (403, "does not accept the key (403): set embedding.key"),
        (404, "has nothing there (404): check embedding.url and the model's name"),
        (405, "has nothing there (405): check embedding.url and the model's name"),
        (302, "has nothing there (302): check embedding.url and the model's name"),
    ],
)
def test_what_will_not_pass_is_not_tried_again_and_says_what_to_set(endpoint, models, status, said):
    models.faults = [Fault(status, {"location": "http://127.0.0.1:9/elsewhere"})]
    assert failure(endpoint) == f"the embedder test:m at {models.url}/v1/embeddings {said}"
    assert len(models.asked) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_request_is_an_error_of_its_own(endpoint, models, status):
    models.faults = [Fault(status, content=json.dumps({"error": {"message": SAID, "code": "too_long"}}).encode())]
    assert failure(endpoint, kind=Refused).endswith(f"refused the request ({status} too_long)")
    assert len(models.asked) == 1


@pytest.mark.parametrize("error", [{"code": SAID}, {"code": 7}, SAID, [SAID], None, {"type": f"bad {KEY}"}])
def test_only_a_code_of_the_services_error_is_quoted(endpoint, models, error):
    models.faults = [Fault(400, content=json.dumps({"error": error}).encode())]
    assert failure(endpoint).endswith("refused the request (400)")


def test_a_wrong_key_is_said_without_quoting_it(models, timing):
    wrong = Endpoint("e", endpoint_config(f"{models.url}/v1/embeddings", key="sk-wrong"), timing)
    said = failure(wrong)
    assert said == f"e at {models.url}/v1/embeddings does not accept the key (401 invalid_api_key): set embedding.key"


@pytest.mark.parametrize("content", [b"<html>Welcome</html>", b"", b"\xff\xfe", b"[" * 100_000])
def test_an_answer_that_is_no_json_is_said_and_not_tried_again(endpoint, models, content):
    models.faults = [Fault(200, {"content-type": "text/html; charset=utf-8"}, content)]
    assert failure(endpoint).endswith("answered no JSON (text/html): check embedding.url")
    assert len(models.asked) == 1


def test_a_missing_key_is_said_before_anything_goes_out(models, timing):
    needy = replace(endpoint_config(f"{models.url}/v1/embeddings", key=None), needs_key=True)
    assert failure(Endpoint("e", needy, timing)) == "e has no key: set embedding.key"
    assert models.asked == []


@pytest.mark.parametrize("key", ["sk\nx: y", "sk a", "sk-é", "sk\x00"])
def test_a_key_that_no_header_carries_is_refused_unquoted(key):
    with pytest.raises(InvalidInput) as refused:
        Endpoint("e", endpoint_config("http://127.0.0.1:9/", key=key))
    assert str(refused.value) == "the key in embedding.key is none: a key is printable ASCII without blanks"


def test_nothing_that_can_be_printed_holds_the_key(endpoint):
    held = {**vars(endpoint), "_secret": None}
    assert KEY not in f"{endpoint!r} {endpoint} {held!r}"


def test_threads_share_an_endpoint(endpoint):
    answers = run_together(lambda _: endpoint.post(BODY, policy=PATIENT), range(8))
    assert [answer == answers[0] for answer in answers] == [True] * 8


def test_a_fork_opens_connections_of_its_own(endpoint):
    endpoint.post(BODY, policy=PATIENT)
    ours = endpoint._client_of_process()
    endpoint._process -= 1  # as a fork finds it
    assert endpoint._client_of_process() is not ours
    assert endpoint.post(BODY, policy=PATIENT)["data"]
    ours.close()


@pytest.mark.parametrize("base", ["http://h/v1", "http://h/v1/", "http://h/v1/embeddings", "http://h/v1/embeddings/"])
def test_a_base_may_name_the_path_already(base):
    assert join_url(base, "/embeddings") == "http://h/v1/embeddings"


@pytest.mark.req("B10.1")
@pytest.mark.parametrize(
    ("text", "sent"), [(None, " "), ("", " "), (" ", " "), ("a\ud83d\ude00", "a😀"), ("a\udc00", "a\ufffd")]
)
def test_texts_become_what_json_carries(text, sent):
    assert replace_surrogates(text or " ") == sent
