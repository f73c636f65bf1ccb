"""Models of the sentence-transformers package: the real one where it is installed, else a stand-in of its surface."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from engrain.engines.embedders.sentence_transformers import SentenceTransformers
from engrain.engines.rerankers.cross_encoder import CrossEncoders
from engrain.errors import EngineUnavailable
from tests.support.local_models import DIMS, make_cross_encoder, make_embedder, package
from tests.support.models import FakeTime

DOCUMENTS = ["ana likes red apples", "ben reads books", "", "pears and apples", "ships \udc00"] * 4


@pytest.fixture(scope="module", autouse=True)
def _importable():
    with package():
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_embedder(tmp_path_factory.mktemp("models") / "embedder")


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    return make_cross_encoder(tmp_path_factory.mktemp("models") / "cross-encoder")


class TestEmbedder:
    @pytest.mark.req("G20")
    def test_gives_unit_rows_in_order_and_the_models_dimensions(self, model):
        embedder = SentenceTransformers(model)
        assert embedder.name == f"sentence-transformers:{model}"
        assert embedder.dims == DIMS
        rows = embedder.embed(DOCUMENTS, role="document")
        assert rows.shape == (len(DOCUMENTS), DIMS)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
        assert np.abs(rows[::-1] - embedder.embed(DOCUMENTS[::-1], role="document")).max() < 1e-5

    @pytest.mark.req("B10.1", "B10.2")
    def test_nothing_is_a_space_and_no_texts_load_nothing(self, model):
        embedder = SentenceTransformers(model, dims=DIMS)
        assert embedder.embed([], role="query").shape == (0, DIMS)
        assert embedder._engine is None
        nothing, empty, space = embedder.embed([None, "", " "], role="document")
        assert (nothing == space).all()
        assert (empty == space).all()

    def test_questions_are_read_by_the_prompt_of_the_model(self, model):
        embedder = SentenceTransformers(model)
        asked = embedder.embed(["ana likes apples"], role="query")
        assert np.abs(asked - embedder.embed(["ana likes apples"], role="document")).max() > 1e-3

    def test_shorter_vectors_are_the_first_part_of_the_longer(self, model):
        whole = SentenceTransformers(model).embed(DOCUMENTS, role="document")[:, :8]
        short = SentenceTransformers(model, dims=8)
        assert short.dims == 8
        expected = whole / np.linalg.norm(whole, axis=1, keepdims=True)
        assert np.abs(short.embed(DOCUMENTS, role="document") - expected).max() < 1e-5

    def test_the_dimensions_of_well_known_models_need_no_model(self):
        assert SentenceTransformers("sentence-transformers/all-mpnet-base-v2").dims == 768
        assert SentenceTransformers("all-MiniLM-L6-v2").dims == 384

    @pytest.mark.req("B10.3")
    def test_loads_once_and_serves_any_thread(self, model):
        embedder = SentenceTransformers(model)
        assert embedder._engine is None
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: (embedder.embed(DOCUMENTS, role="query"), embedder._engine), range(8)))
        assert len({id(engine) for _, engine in answers}) == 1
        assert all(np.abs(rows - answers[0][0]).max() < 1e-5 for rows, _ in answers)

    def test_a_model_that_is_nowhere_is_said(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        nowhere = SentenceTransformers(str(tmp_path / "nowhere"))
        with pytest.raises(EngineUnavailable, match=r"nowhere cannot be loaded \(\w+: .*\): check the model's name"):
            _ = nowhere.dims
        with pytest.raises(EngineUnavailable, match="cannot be loaded"):
            nowhere.embed(["a"], role="query")

    def test_a_failing_run_is_unavailability_and_quotes_nothing(self, model):
        embedder = SentenceTransformers(model)
        embedder.embed(["a"], role="query")
        embedder._engine = type("Broken", (), {})()
        embedder._engine.encode_query = lambda *_, **__: 1 / 0
        with pytest.raises(EngineUnavailable, match=r"failed with ZeroDivisionError$"):
            embedder.embed(["what Ana said"], role="query")


class TestReranker:
    def test_gives_each_document_a_score(self, cross_encoder):
        reranker = CrossEncoders(cross_encoder)
        assert reranker.name == f"cross-encoder:{cross_encoder}"
        pairs = reranker.rerank("what does ana like", DOCUMENTS, timeout_s=60)
        assert [at for at, _ in pairs] == list(range(len(DOCUMENTS)))
        alone = [reranker.rerank("what does ana like", [each], timeout_s=60)[0][1] for each in DOCUMENTS]
        assert [score for _, score in pairs] == pytest.approx(alone, abs=1e-5)
        assert len({round(score, 6) for _, score in pairs}) > 1
        assert {type(score) for _, score in pairs} == {float}

    def test_no_documents_load_nothing(self, cross_encoder):
        reranker = CrossEncoders(cross_encoder)
        assert list(reranker.rerank("q", [], timeout_s=1)) == []
        assert reranker._engine is None

    def test_time_ends_between_runs(self, cross_encoder):
        passing = FakeTime()

        def clock():
            passing.now += 1
            return passing.now

        reranker = CrossEncoders(cross_encoder, clock=clock)
        assert len(reranker.rerank("q", DOCUMENTS, timeout_s=9)) == len(DOCUMENTS)
        with pytest.raises(EngineUnavailable, match="read 16 of 20 memories in 2 s"):
            reranker.rerank("q", DOCUMENTS, timeout_s=2)

    def test_a_model_of_several_labels_ranks_nothing(self, tmp_path):
        reranker = CrossEncoders(make_cross_encoder(tmp_path / "three", labels=3))
        with pytest.raises(EngineUnavailable, match=r"gave \(2, 3\) numbers for 2 memories.*with one label"):
            reranker.rerank("q", ["a", "b"], timeout_s=60)

    def test_a_model_that_is_nowhere_is_said(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        with pytest.raises(EngineUnavailable, match=r"the re-ranker .*nowhere cannot be loaded"):
            CrossEncoders(str(tmp_path / "nowhere")).rerank("q", ["a"], timeout_s=60)

    def test_threads_share_one_model(self, cross_encoder):
        reranker = CrossEncoders(cross_encoder)
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: reranker.rerank("ana", DOCUMENTS, timeout_s=60), range(8)))
        for answer in answers:
            assert [score for _, score in answer] == pytest.approx([score for _, score in answers[0]], abs=1e-5)
