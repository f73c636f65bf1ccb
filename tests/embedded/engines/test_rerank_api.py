"""Re-rankers that are served: both kinds of request and of answer, and a budget of time that holds."""

import math

import pytest

from engrain.engines.rerankers.remote import RemoteReranker
from engrain.errors import EngineUnavailable
from tests.support.models import KEY, Fault, endpoint_config, words_shared
from tests.support.ports import free_port

QUERY = "who likes red apples"
DOCUMENTS = ["ben reads books", "ana likes red apples", "", "pears and apples", "red ships \udc00"]


@pytest.fixture
def make(models, timing):
    def made(provider="cohere", model="rerank-v3.5", path="/v2/rerank", url=models.url):
        config = endpoint_config(f"{url}{path}", section="reranking")
        return RemoteReranker(provider, model, config, timing=timing)

    return made


@pytest.fixture(params=["cohere", "tei"])
def reranker(request, make):
    return make() if request.param == "cohere" else make("tei", None, "/rerank")


def test_each_document_gets_its_score_wherever_the_answer_puts_it(reranker):
    pairs = dict(reranker.rerank(QUERY, DOCUMENTS, timeout_s=30))
    assert pairs == {at: words_shared(QUERY, each) for at, each in enumerate(DOCUMENTS)}


def test_cohere_jina_and_vllm_are_asked_by_model(make, models):
    make().rerank(QUERY, ["a", ""], timeout_s=30)
    [(path, headers, body)] = models.asked
    assert (path, headers["authorization"]) == ("/v2/rerank", f"Bearer {KEY}")
    assert body == {"model": "rerank-v3.5", "query": QUERY, "documents": ["a", " "], "top_n": 2}


def test_text_embeddings_inference_is_asked_without_and_for_as_many_as_it_takes(make, models):
    models.most_texts = 32
    documents = [f"apples {at}" if at % 3 else "ships" for at in range(50)]
    pairs = make("tei", None, "/rerank").rerank("apples", documents, timeout_s=30)
    assert [body.keys() for _, _, body in models.asked] == [{"query", "texts", "truncate"}] * 2
    assert sorted(pairs) == [(at, 1.0 if at % 3 else 0.0) for at in range(50)]


def test_no_documents_ask_nobody(reranker, models):
    assert list(reranker.rerank(QUERY, [], timeout_s=30)) == []
    assert models.asked == []


def test_either_kind_of_answer_is_read_whoever_was_asked(make, models):
    models.twist = lambda answer: [{"index": each["index"], "score": 0.5} for each in answer["results"]]
    assert sorted(make().rerank(QUERY, ["a", "b"], timeout_s=30)) == [(0, 0.5), (1, 0.5)]
    models.twist = lambda answer: {"results": [{"index": hit["index"], "relevance_score": 1} for hit in answer]}
    assert sorted(make("tei", None, "/rerank").rerank(QUERY, ["a", "b"], timeout_s=30)) == [(0, 1.0), (1, 1.0)]


def results(*pairs):
    return lambda _: {"results": [{"index": at, "relevance_score": score} for at, score in pairs]}


WRONG = {
    "too few": results((0, 1.0)),
    "none": results(),
    "twice": results((0, 1.0), (0, 0.5)),
    "out of range": results((0, 1.0), (2, 0.5)),
    "negative": results((0, 1.0), (-1, 0.5)),
    "NaN": results((0, 1.0), (1, math.nan)),
    "words": results((0, 1.0), (1, "high")),
    "no score": lambda _: {"results": [{"index": 0}, {"index": 1}]},
    "mixed places": results((0, 1.0), ("1", 0.5)),
    "another object": lambda _: {"status": "ok"},
    "a number": lambda _: 7,
    "null": lambda _: None,
}


@pytest.mark.parametrize("twist", WRONG.values(), ids=WRONG)
def test_an_answer_that_scores_not_every_document_is_refused(make, models, twist):
    models.twist = twist
    with pytest.raises(
        EngineUnavailable, match=r"the re-ranker cohere:rerank-v3\.5 (answered JSON that holds no|did not give each)"
    ) as raised:
        make().rerank(QUERY, ["what Ana said", "b"], timeout_s=30)
    assert "Ana" not in str(raised.value)


def test_a_setback_is_tried_again_within_the_budget(reranker, models, passing):
    models.faults = [Fault(503)]
    assert len(reranker.rerank(QUERY, ["a"], timeout_s=20)) == 1
    models.faults = [Fault(503), Fault(503)]
    with pytest.raises(EngineUnavailable, match="answered 503; tried 2 times"):
        reranker.rerank(QUERY, ["a"], timeout_s=20)
    models.faults = [Fault(429, {"retry-after": "30"})]
    with pytest.raises(EngineUnavailable, match="answered 429; tried once"):
        reranker.rerank(QUERY, ["a"], timeout_s=20)
    assert passing.pauses == [0.5, 0.5]


def test_nobody_there_is_said(make):
    with pytest.raises(EngineUnavailable, match=r"the re-ranker cohere:rerank-v3\.5 at http.* cannot be reached"):
        make(url=f"http://127.0.0.1:{free_port()}").rerank(QUERY, ["a"], timeout_s=1)


def test_a_refused_key_names_the_setting(make, models):
    models.key = "another"
    with pytest.raises(EngineUnavailable, match=r"does not accept the key \(401 invalid_api_key\): set reranking.key"):
        make().rerank(QUERY, ["a"], timeout_s=30)
