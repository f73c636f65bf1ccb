"""Embedders that are served over HTTP: what they have in common. One file beside this for each service's dialect."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engrain.engines.endpoint import Endpoint, Patience, Refused, sendable
from engrain.engines.vectors import unit_rows
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole
    from engrain.engines.endpoint import Access, Timing

# A question waits while somebody looks on; documents are made in the background, and their queue tries again by itself.
PATIENCE: Final[Mapping[EmbedRole, Patience]] = {
    "query": Patience(attempts=3, total_s=10),
    "document": Patience(attempts=4, total_s=60),
}
MOST_BYTES = 200_000  # of texts in a request: OpenAI takes 300,000 tokens, and no token is shorter than a byte
# About 8,000 tokens, which the widest models read, in the scripts that need the most bytes for one.
MOST_TEXT_BYTES = 24_000
# A text this short fits every model, so it is refused for something other than its length.
SURE_CHARS = 256
_PROBE = "Is anybody there?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one service is asked for vectors.

    Attributes:
        provider: the part of an embedder's name before the colon.
        url: the service's own address, used where the settings give none.
        path: what follows the base of an address.
        dims: the dimensions of the models that are known.
        most_texts: texts in one request.
        request: the JSON for a model, texts, their role and the dimensions to be asked for, if any.
        vectors: the vectors of an answer, in the order of that many texts; LookupError, TypeError or ValueError where
            it is no such answer.
    """

    provider: str
    url: str
    path: str
    dims: Mapping[str, int]
    most_texts: int
    request: Callable[[str, Sequence[str], EmbedRole, int | None], Mapping[str, Any]]
    vectors: Callable[[Any, int], Sequence[Any]]


class RemoteEmbedder:
    """The embedder of a service. Thread-safe; says nothing to it before the first text.

    None and the empty text stand for one space, and a text is cut where no model reads on.
    """

    def __init__(
        self, dialect: Dialect, model: str, access: Access, *, dims: int | None = None, timing: Timing | None = None
    ) -> None:
        """Speak `dialect`; with `dims` ask for, and insist on, vectors of that length."""
        self.name: Final = f"{dialect.provider}:{model}"
        self._who = f"the embedder {self.name}"
        self._dialect = dialect
        self._model = model
        self._endpoint = Endpoint(self._who, access, timing)
        known = dialect.dims.get(model)
        self._asked_dims = None if dims == known else dims
        self._dims = dims or known
        self._probing = threading.Lock()

    @property
    def dims(self) -> int:
        """Length of every vector; asks the service once where neither the settings nor this engine know.

        Raises:
            EngineUnavailable: the service had to be asked, and cannot answer.
        """
        with self._probing:
            if self._dims is None:
                self._dims = len(self._rows([_PROBE], "query")[0])
            return self._dims

    def embed(self, texts: Sequence[str | None], *, role: EmbedRole) -> NDArray[np.float32]:
        """As the port says; texts go out in batches, one after the other."""
        import numpy as np

        vectors = np.empty((len(texts), self.dims), np.float32)
        first = 0
        for batch in batches([_cut(sendable(text)) for text in texts], most=self._dialect.most_texts):
            rows = self._taken(batch, role)
            if rows.shape[1] != self.dims:
                raise EngineUnavailable(
                    f"{self._who} returned vectors of {rows.shape[1]} dimensions, not {self.dims}: set embedding.dims "
                    "to what it returns"
                )
            vectors[first : first + len(batch)] = rows
            first += len(batch)
        return vectors

    def _taken(self, texts: Sequence[str], role: EmbedRole) -> NDArray[np.float32]:
        """The vectors of a batch; a text that is too long for the model is found by halves, and read up to a half.

        Raises:
            Refused: a text is refused that fits every model.
        """
        import numpy as np

        try:
            return self._rows(texts, role)
        except Refused:
            longest = max(map(len, texts))
            if longest <= SURE_CHARS:
                raise
        if len(texts) == 1:
            return self._taken([texts[0][: longest // 2]], role)
        half = len(texts) // 2
        return np.concatenate([self._taken(texts[:half], role), self._taken(texts[half:], role)])

    def _rows(self, texts: Sequence[str], role: EmbedRole) -> NDArray[np.float32]:
        request = self._dialect.request(self._model, texts, role, self._asked_dims)
        answer = self._endpoint.post(request, patience=PATIENCE[role])
        try:
            vectors = self._dialect.vectors(answer, len(texts))
        except (LookupError, TypeError, ValueError):
            raise EngineUnavailable(
                f"{self._who} answered JSON that holds no vector for each of {len(texts)} texts: check embedding.url"
            ) from None  # the cause may quote the answer
        return unit_rows(vectors, count=len(texts), who=self._who)


def batches(texts: Sequence[str], *, most: int) -> Iterator[list[str]]:
    """The texts in order, in runs of at most `most` and MOST_BYTES (one text always fits)."""
    batch: list[str] = []
    size = 0
    for text in texts:
        size += len(text.encode())
        if batch and (len(batch) == most or size > MOST_BYTES):
            yield batch
            batch, size = [], len(text.encode())
        batch.append(text)
    if batch:
        yield batch


def _cut(text: str) -> str:
    return text.encode()[:MOST_TEXT_BYTES].decode(errors="ignore") if len(text) * 4 > MOST_TEXT_BYTES else text
