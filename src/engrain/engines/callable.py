"""An embedder and a re-ranker, each made of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.engines.vectors import unit_rows
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole


class CallableEmbedder:
    """The embedder that a function of texts is, with the name and dimensions that are recorded beside its vectors.

    The function gets a list of texts, none of them empty, and returns one vector for each: any sequence of sequences of
    numbers, of any length but zero. It is called from several threads.
    """

    def __init__(self, embed: Callable[[list[str]], Any], *, name: str, dims: int) -> None:
        """Call `embed` for vectors; another `name` (such as "mine:v2") says that they are not comparable any more."""
        self.name = name
        self.dims = dims
        self._embed = embed

    def embed(self, texts: Sequence[str | None], *, role: EmbedRole) -> NDArray[np.float32]:  # noqa: ARG002  # the function reads questions and documents alike
        """As the port says; the rows are brought to unit length."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dims), np.float32)
        rows = self._embed([text or " " for text in texts])
        return unit_rows(rows, count=len(texts), who=f"the embedder {self.name}")


class CallableReranker:
    """The re-ranker that a function is: it gets a question and a list of texts.

    It returns a number for each text in their order, larger is better, or pairs (index, number) for those it judges.
    """

    def __init__(self, rerank: Callable[[str, list[str]], Sequence[Any]], *, name: str) -> None:
        """Call `rerank`; `name` stands in explanations."""
        self.name = name
        self._rerank = rerank

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:  # noqa: ARG002  # a function cannot be told when to stop
        """As the port says.

        Raises:
            EngineUnavailable: it returns numbers, and not one for each text.
        """
        said = self._rerank(query, list(documents))
        if all(isinstance(each, (tuple, list)) for each in said):
            return [(place, score) for place, score in said]
        if len(said) != len(documents):
            raise EngineUnavailable(f"the reranker {self.name} gave {len(said)} numbers for {len(documents)} texts")
        return [(place, float(score)) for place, score in enumerate(said)]
