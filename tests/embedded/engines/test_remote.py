"""Embedders that are served: what is asked of which service, and what becomes of its answers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engrain.engines.embedders.dialects import COHERE, OPENAI
from engrain.engines.embedders.remote import MAX_BATCH_BYTES, MAX_TEXT_BYTES, RemoteEmbedder, batches
from engrain.engines.endpoint import Refused
from engrain.errors import EngineUnavailable
from tests.support.models import DIMS, Fault, endpoint_config, numbers

DIALECTS = {"openai": (OPENAI, "/v1/embeddings"), "cohere": (COHERE, "/v2/embed")}


@pytest.fixture(params=DIALECTS)
def provider(request):
    return request.param


@pytest.fixture
def make(models, timing):
    """An embedder of a provider, at the test's server."""

    def made(provider, model="m", dims=None):
        dialect, path = DIALECTS[provider]
        config = replace(endpoint_config(f"{models.url}{path}"), needs_key=True)
        return RemoteEmbedder(dialect, model, config, dims=dims, timing=timing)

    return made


def unit(row):
    return np.array(row) / np.linalg.norm(row)


def texts_of(body):
    return body.get("input") or body["texts"]


@pytest.mark.req("G20")
def test_openai_is_asked_as_its_clients_ask_it(make, models):
    rows = make("openai", "text-embedding-3-small", dims=8).embed(["a", None, ""], role="document")
    [(path, _, body)] = models.asked
    assert path == "/v1/embeddings"
    assert body == {
        "model": "text-embedding-3-small",
        "input": ["a", " ", " "],
        "encoding_format": "float",
        "dimensions": 8,
    }
    assert rows[0] == pytest.approx(unit(numbers("text-embedding-3-small", "a", dims=8)), abs=1e-6)


@pytest.mark.req("G20")
@pytest.mark.parametrize("role", ["query", "document"])
def test_cohere_is_told_what_the_texts_are_for(make, models, role):
    rows = make("cohere", "embed-v4.0", dims=8).embed(["a"], role=role)
    [(path, _, body)] = models.asked
    assert path == "/v2/embed"
    assert body == {
        "model": "embed-v4.0",
        "texts": ["a"],
        "input_type": f"search_{role}",
        "embedding_types": ["float"],
        "truncate": "END",
        "output_dimension": 8,
    }
    assert rows[0] == pytest.approx(unit(numbers("embed-v4.0", f"search_{role}", "a", dims=8)), abs=1e-6)


@pytest.mark.parametrize(
    ("provider", "model", "dims"),
    [
        ("openai", "text-embedding-3-small", 1536),
        ("openai", "text-embedding-3-large", 3072),
        ("openai", "text-embedding-ada-002", 1536),
        ("cohere", "embed-v4.0", 1536),
        ("cohere", "embed-english-v3.0", 1024),
        ("cohere", "embed-multilingual-v3.0", 1024),
        ("cohere", "embed-english-light-v3.0", 384),
        ("cohere", "embed-multilingual-light-v3.0", 384),
    ],
)
def test_the_dimensions_of_known_models_are_known_and_not_asked_for(make, models, provider, model, dims):
    assert make(provider, model).dims == dims
    assert make(provider, model, dims=dims).dims == dims
    assert models.asked == []
    models.twist = lambda _: widened(provider, dims)
    make(provider, model, dims=dims).embed(["a"], role="document")
    assert {"dimensions", "output_dimension"} & set(models.asked[0][2]) == set()


def widened(provider, dims):
    row = [1.0] * dims
    return {"data": [{"index": 0, "embedding": row}]} if provider == "openai" else {"embeddings": {"float": [row]}}


def test_the_dimensions_of_other_models_are_asked_once(make, models, provider):
    embedder = make(provider)
    assert [embedder.dims, embedder.dims] == [DIMS, DIMS]
    assert len(models.asked) == 1
    assert embedder.embed([], role="document").shape == (0, DIMS)
    assert len(models.asked) == 1


def test_dimensions_that_cannot_be_asked_are_asked_again_later(make, models, provider):
    embedder = make(provider)
    models.faults = [Fault(401)]
    with pytest.raises(EngineUnavailable, match="does not accept the key"):
        _ = embedder.dims
    assert embedder.dims == DIMS


@pytest.mark.req("G20", "B10.2")
def test_many_texts_go_out_in_batches_and_come_back_in_order(make, models, provider):
    texts = [f"text {at}" for at in range(600)]
    rows = make(provider, dims=DIMS).embed(texts, role="document")
    sizes = [len(texts_of(body)) for _, _, body in models.asked]
    assert sizes == ([256, 256, 88] if provider == "openai" else [96] * 6 + [24])
    kind = ["m"] if provider == "openai" else ["m", "search_document"]
    expected = np.array([unit(numbers(*kind, text)) for text in texts])
    assert np.abs(rows - expected).max() < 1e-6
    assert rows.dtype == np.float32


def test_a_batch_that_fails_for_a_while_loses_nothing(make, models, passing, provider):
    models.faults = [Fault(500), Fault(is_cut=True), Fault(429, {"retry-after": "4"})]
    rows = make(provider, dims=DIMS).embed(["a", "b"], role="document")
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1)
    assert passing.pauses == [0.5, 1.0, 4.0]


def test_a_question_waits_for_no_longer_than_somebody_looks_on(make, models, passing, provider):
    models.faults = [Fault(503)] * 9
    with pytest.raises(EngineUnavailable, match="answered 503; tried 3 times"):
        make(provider, dims=DIMS).embed(["a"], role="query")
    models.faults = [Fault(429, {"retry-after": "11"})]
    with pytest.raises(EngineUnavailable, match="answered 429; tried once"):
        make(provider, dims=DIMS).embed(["a"], role="query")
    assert passing.now < 1010


def alike(change):
    """A change of the list of vectors, whichever the service."""

    def twist(answer):
        if "data" in answer:
            rows = [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]
            changed = change(rows)
            return {"data": [{"index": at, "embedding": row} for at, row in enumerate(changed)]}
        return {"embeddings": {"float": change(answer["embeddings"]["float"])}}

    return twist


WRONG = {
    "too few": (alike(lambda rows: rows[1:]), "holds no vector for each of 3 texts: check embedding.url"),
    "too many": (alike(lambda rows: [*rows, rows[0]]), "holds no vector for each of 3 texts"),
    "none": (alike(lambda _: []), "holds no vector for each of 3 texts"),
    "too short": (
        alike(lambda rows: [row[1:] for row in rows]),
        f"{DIMS - 1} dimensions, not {DIMS}: set embedding.dims",
    ),
    "uneven": (alike(lambda rows: [rows[0][1:], *rows[1:]]), "what are no vectors of one length"),
    "flat": (alike(lambda rows: [row[0] for row in rows]), r"the shape \(3,\)"),
    "empty": (alike(lambda rows: [[] for _ in rows]), r"the shape \(3, 0\)"),
    "NaN": (alike(lambda rows: [[math.nan, *rows[0][1:]], *rows[1:]]), "a number that is not finite"),
    "infinity": (alike(lambda rows: [[math.inf, *rows[0][1:]], *rows[1:]]), "a number that is not finite"),
    "words": (alike(lambda rows: [["much"] * DIMS for _ in rows]), "no vectors of one length"),
    "objects": (alike(lambda rows: [{} for _ in rows]), "no vectors of one length"),
    "no list": (alike(lambda _: "abc"), "(holds no vector|no vectors of one length)"),
    "another object": (lambda _: {"status": "ok"}, "holds no vector for each of 3 texts"),
    "a list": (lambda _: [1, 2, 3], "holds no vector for each of 3 texts"),
    "a word": (lambda _: "ok", "holds no vector for each of 3 texts"),
    "null": (lambda _: None, "holds no vector for each of 3 texts"),
}


@pytest.mark.parametrize(("twist", "said"), WRONG.values(), ids=WRONG)
def test_an_answer_that_holds_no_vectors_is_refused_at_once(make, models, provider, twist, said):
    embedder = make(provider, dims=DIMS)
    models.twist = twist
    with pytest.raises(EngineUnavailable, match=said) as raised:
        embedder.embed(["secret one", "secret two", "secret three"], role="document")
    assert "secret" not in str(raised.value)
    assert len(models.asked) == 1


def test_places_that_repeat_are_no_order(make, models):
    models.twist = lambda answer: {"data": [{**item, "index": 0} for item in answer["data"]]}
    with pytest.raises(EngineUnavailable, match="holds no vector for each of 2 texts"):
        make("openai", dims=DIMS).embed(["a", "b"], role="document")


def test_vectors_of_any_length_become_unit_vectors_and_nothing_stays_nothing(make, models, provider):
    models.twist = alike(lambda _: [[1e200] * DIMS, [0.0] * DIMS, [1e-300] * DIMS])
    rows = make(provider, dims=DIMS).embed(["a", "b", "c"], role="document")
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1])


def test_a_text_that_is_too_long_for_the_model_is_read_as_far_as_it_goes_and_the_others_whole(make, models):
    models.most_chars = 1000
    texts = ["short", "long " * 500, "also short", "just right " * 80]
    rows = make("openai", dims=DIMS).embed(texts, role="document")
    expected = [unit(numbers("m", text)) for text in ("short", ("long " * 500)[:625], *texts[2:])]
    assert np.abs(rows - np.array(expected)).max() < 1e-6


def test_what_is_refused_whatever_its_length_is_said(make, models):
    texts = ["fine " * 100] * 7 + [models.poison]
    with pytest.raises(Refused, match=r"refused the request \(400 invalid_request_error\)") as raised:
        make("openai", dims=DIMS).embed(texts, role="document")
    assert "fine" not in str(raised.value)


def test_a_service_that_refuses_everything_is_not_asked_for_ever(make, models):
    models.faults = [Fault(400)] * 99
    with pytest.raises(Refused):
        make("openai", dims=DIMS).embed(["long " * 2000] * 64, role="document")
    assert len(models.asked) <= 15


def test_a_text_is_sent_no_further_than_any_model_reads(make, models, provider):
    texts = ["x" * 50_000, "é" * 50_000, "\U0001f600" * 50_000]
    make(provider, dims=DIMS).embed(texts, role="document")
    sent = [text for _, _, body in models.asked for text in texts_of(body)]
    assert [len(text.encode()) for text in sent] == [MAX_TEXT_BYTES] * 3
    assert all(whole.startswith(text) for whole, text in zip(texts, sent, strict=True))


@given(st.lists(st.integers(1, 30_000), max_size=40), st.integers(1, 20))
def test_batches_hold_every_text_in_order_within_both_limits(sizes, most):
    texts = ["x" * size for size in sizes]
    runs = list(batches(texts, max_texts=most))
    assert [text for run in runs for text in run] == texts
    for run in runs:
        assert 1 <= len(run) <= most
        assert len(run) == 1 or sum(map(len, run)) <= MAX_BATCH_BYTES
