"""A function of texts is an embedder, once it has a name and dimensions."""

import numpy as np
import pytest

from engrain import InvalidInput, Memory
from engrain.engines import CallableEmbedder, CallableNames, CallableReranker
from engrain.errors import EngineUnavailable
from tests.support.models import numbers


def vectors(texts):
    return [numbers(text, dims=16) for text in texts]


@pytest.mark.req("G20")
def test_a_function_serves_a_memory(tmp_path):
    embedder = CallableEmbedder(vectors, name="mine:v1", dims=16)
    with Memory.open(tmp_path / "a.db", embedder=embedder) as memory:
        agent = memory.agent("ana")
        agent.observe("The first turn")
        second = agent.observe("The second turn")
        memory.flush()
        answer = agent.recall("The second turn", preset="semantic", limit=1)
        assert answer.degraded == ()
        assert answer[0].memory.id == second.id


@pytest.mark.req("B10.1", "B10.2")
def test_rows_come_back_in_order_and_of_unit_length_and_nothing_is_a_space():
    embedder = CallableEmbedder(vectors, name="mine:v1", dims=16)
    rows = embedder.embed(["a", None, "", " "], role="document")
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1)
    assert (rows[1:] == rows[3]).all()
    assert embedder.embed([], role="query").shape == (0, 16)


@pytest.mark.parametrize("made", [None, [[1.0, 2.0]], [["a", "b"]] * 2, [[1.0], [1.0, 2.0]], [[float("nan")] * 16] * 2])
def test_what_is_no_vector_for_each_text_is_refused(made):
    with pytest.raises(EngineUnavailable, match="the embedder mine:v1 returned"):
        CallableEmbedder(lambda _: made, name="mine:v1", dims=16).embed(["a", "b"], role="document")


def test_a_bare_function_is_refused_with_what_to_do():
    with pytest.raises(InvalidInput, match=r"engrain\.engines\.CallableEmbedder makes one of a function"):
        Memory.open(":memory:", embedder=vectors)


async def awaited(*_):
    return []


@pytest.mark.parametrize("engine", [CallableEmbedder, CallableReranker, CallableNames])
@pytest.mark.parametrize("function", [awaited, "a name"])
def test_what_cannot_be_called_is_refused_at_once(engine, function):
    more = {"dims": 4} if engine is CallableEmbedder else {}
    with pytest.raises(InvalidInput, match="must be called, not awaited"):
        engine(function, name="mine:v1", **more)
