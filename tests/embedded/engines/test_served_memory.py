"""A memory whose embedder is served: by settings alone, and through everything the service may do."""

import json
import logging

import pytest

from engrain.agent.wiring.engines import configured_embedder, configured_reranker
from engrain.config import load
from engrain.errors import EngineUnavailable
from engrain.interfaces.cli import main
from engrain.service import Memory
from tests.support.models import DIMS, KEY
from tests.support.one_call import OneCall


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """No settings of the machine, and no keys."""
    for variable in ("OPENAI_API_KEY", "COHERE_API_KEY", "ENGRAIN_EMBEDDING__MODEL", "ENGRAIN_DB"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def opened(models, tmp_path, request):
    """Opens the test's database with a model of the test's own: engines are shared in the process."""

    def open_(provider="openai", **settings):
        path = {"openai": "/v1", "cohere": "/v2"}[provider]
        served = {"model": f"{provider}:{request.node.name}", "url": models.url + path, "key": KEY}
        return Memory.open(tmp_path / "memory.db", settings={"embedding": {**served, **settings}})

    return open_


@pytest.mark.req("G20", "N23")
@pytest.mark.parametrize("provider", ["openai", "cohere"])
def test_settings_choose_the_model_and_the_database_records_it(opened, models, provider, request):
    with opened(provider) as memory:
        agent = memory.agent("ana")
        turns = [agent.observe(f"turn {at}") for at in range(100)]
        memory.flush()
        answer = agent.recall("turn 7", preset="semantic")
        assert answer.degraded == ()
        assert {hit.memory.id for hit in answer} <= {turn.id for turn in turns}
        [version] = OneCall(memory.parts.store).embedding_versions()
        assert (version.name, version.dims) == (f"{provider}:{request.node.name}", DIMS)
    asked = [body for path, _, body in models.asked]
    assert {body["model"] for body in asked} == {request.node.name}
    if provider == "cohere":
        assert [body["texts"] for body in asked if body["input_type"] == "search_query"][-1] == ["turn 7"]


def test_a_service_that_is_away_at_the_first_open_costs_vectors_and_nothing_else(opened, models):
    models.key = "another"
    with opened() as memory:
        agent = memory.agent("ana")
        turn = agent.observe("A turn about apples")
        answer = agent.recall("apples")
        assert [hit.memory.id for hit in answer] == [turn.id]
        assert answer.degraded[0].detail.startswith("the embedder openai:")
        assert "does not accept the key (401 invalid_api_key): set embedding.key" in str(answer.degraded[0])
    models.key = KEY
    with opened() as memory:
        memory.flush()
        assert memory.agent("ana").recall("A turn about apples", preset="semantic").degraded == ()


@pytest.mark.parametrize("how", ["by the settings", "by the database"])
def test_one_whose_dimensions_are_known_is_waited_for(opened, models, how):
    known = {}
    if how == "by the settings":
        known["dims"] = DIMS
    else:
        with opened():
            pass
        from engrain import engines

        engines._remote_embedder.cache_clear()  # as a new process finds it
    models.key = "another"
    with opened(**known) as memory:
        agent = memory.agent("ana")
        agent.observe("A turn about apples")
        assert agent.recall("apples").degraded[0].code == "embedder_unavailable"
        with pytest.raises(EngineUnavailable, match="does not accept the key"):
            memory.flush()
        models.key = KEY
        memory.flush()
        assert agent.recall("A turn about apples", preset="semantic").degraded == ()


def test_one_that_has_other_dimensions_now_is_not_mixed_in(opened):
    with opened(dims=DIMS) as memory:
        memory.agent("ana").observe("A turn about apples")
    with opened(dims=DIMS + 1) as memory:
        [said] = memory.agent("ana").recall("apples").degraded
        assert f"not of {DIMS + 1} dimensions; open with that one" in said.detail


def test_the_key_is_nowhere_to_be_read(opened, models, caplog, capsys, monkeypatch):
    models.key = "another"
    caplog.set_level(logging.DEBUG)
    with opened(dims=DIMS) as memory:
        agent = memory.agent("ana")
        agent.observe("A turn about apples")
        said = [*map(str, agent.recall("apples").degraded), repr(memory.settings), *memory.health().problems]
        with pytest.raises(EngineUnavailable) as raised:
            memory.flush()
    said.append(str(raised.value))
    for name, value in (
        ("DB", "memory.db"),
        ("EMBEDDING__MODEL", "openai:doctor"),
        ("EMBEDDING__URL", f"{models.url}/v1"),
        ("EMBEDDING__KEY", KEY),
        ("EMBEDDING__DIMS", str(DIMS)),
    ):
        monkeypatch.setenv(f"ENGRAIN_{name}", value)
    main(["doctor", "--json"])
    main(["doctor"])
    captured = capsys.readouterr()
    assert "does not accept the key" in captured.out + captured.err
    assert models.asked[-1][1]["authorization"] == f"Bearer {KEY}"
    assert KEY not in "\n".join([*said, caplog.text, captured.out, captured.err])


def test_a_providers_key_goes_to_the_providers_own_address_alone(models, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("COHERE_API_KEY", "co-of-cohere")
    models.key = None
    settings = load({"embedding": {"model": "openai:elsewhere", "url": f"{models.url}/v1"}})
    configured_embedder(settings).embed(["a"], role="query")
    served = {"reranking": {"model": "cohere:elsewhere", "url": f"{models.url}/v2"}}
    configured_reranker(load(served)).rerank("q", ["a"], timeout_s=30)
    assert len(models.asked) == 3  # one to learn the dimensions
    assert not any("authorization" in headers for _, headers, _ in models.asked)
    assert "of-openai" not in json.dumps([body for _, _, body in models.asked])


def test_settings_choose_the_reranker(models):
    assert configured_reranker(load()) is None
    settings = load({"reranking": {"model": "http:m", "url": f"{models.url}/v2/rerank", "key": KEY}})
    pairs = configured_reranker(settings).rerank("red apples", ["red apples", "ships"], timeout_s=30)
    assert sorted(pairs) == [(0, 1.0), (1, 0.0)]


def test_the_length_of_vectors_is_asked_for(opened, models):
    with opened(dims=5) as memory:
        memory.agent("ana").observe("A turn")
        memory.flush()
        assert OneCall(memory.parts.store).embedding_versions()[0].dims == 5
    assert {body["dimensions"] for _, _, body in models.asked} == {5}
