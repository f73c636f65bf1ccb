"""Embedder of a service over HTTP: batches, retries and the division of texts that a model refuses."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from engrain.engines.embedders.vectors import unit_rows
from engrain.engines.endpoint import Endpoint, Refused, RetryPolicy, Timing
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole
    from engrain.engines.embedders.dialects import Dialect
    from engrain.engines.endpoint_config import EndpointConfig

# A question waits while somebody looks on; documents are made in the background, and their queue tries again by itself.
RETRIES: Final[Mapping[EmbedRole, RetryPolicy]] = {
    "query": RetryPolicy(attempts=3, total_s=10),
    "document": RetryPolicy(attempts=4, total_s=60),
}
MAX_BATCH_BYTES = 200_000  # of texts in a request: OpenAI takes 300,000 tokens, and no token is shorter than a byte
# About 8,000 tokens, which the widest models read, in the scripts that need the most bytes for one.
MAX_TEXT_BYTES = 24_000
# A text this short fits every model, so it is refused for something other than its length.
SAFE_CHARS = 256
_PROBE = "Is anybody there?"


class RemoteEmbedder:
    """Embedder of a service. Thread-safe; sends nothing before the first text.

    None and the empty text stand for one space, and a text is cut where no model reads on.
    """

    def __init__(
        self,
        dialect: Dialect,
        model: str,
        config: EndpointConfig,
        *,
        dims: int | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Use `dialect`; with `dims` request and require vectors of that length."""
        self.name: Final = f"{dialect.provider}:{model}"
        self._label = f"the embedder {self.name}"
        self._dialect = dialect
        self._model = model
        self._endpoint = Endpoint(self._label, config, timing)
        known = dialect.dims.get(model)
        self._requested_dims = None if dims == known else dims
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
                self._dims = len(self._request_rows([_PROBE], "query")[0])
            return self._dims

    def embed(self, texts: Sequence[str | None], *, role: EmbedRole) -> NDArray[np.float32]:
        """As the port says; texts go out in batches, one after the other."""
        import numpy as np

        vectors = np.empty((len(texts), self.dims), np.float32)
        first = 0
        for batch in batches([_cut(text) for text in texts], max_texts=self._dialect.max_texts):
            rows = self._embed_batch(batch, role)
            if rows.shape[1] != self.dims:
                raise EngineUnavailable(
                    f"{self._label} returned vectors of {rows.shape[1]} dimensions, not {self.dims}: set "
                    "embedding.dims to what it returns"
                )
            vectors[first : first + len(batch)] = rows
            first += len(batch)
        return vectors

    def _embed_batch(self, texts: Sequence[str], role: EmbedRole) -> NDArray[np.float32]:
        """The vectors of a batch; a text that is too long for the model is found by bisection, and cut in half.

        Raises:
            Refused: a text is refused that fits every model.
        """
        import numpy as np

        try:
            return self._request_rows(texts, role)
        except Refused:
            longest = max(map(len, texts))
            if longest <= SAFE_CHARS:
                raise
        if len(texts) == 1:
            return self._embed_batch([texts[0][: longest // 2]], role)
        half = len(texts) // 2
        return np.concatenate([self._embed_batch(texts[:half], role), self._embed_batch(texts[half:], role)])

    def _request_rows(self, texts: Sequence[str], role: EmbedRole) -> NDArray[np.float32]:
        request = self._dialect.request(self._model, texts, role, self._requested_dims)
        answer = self._endpoint.post(request, policy=RETRIES[role])
        try:
            vectors = self._dialect.vectors(answer, len(texts))
        except (LookupError, TypeError, ValueError):
            raise EngineUnavailable(
                f"{self._label} answered JSON that holds no vector for each of {len(texts)} texts: check embedding.url"
            ) from None  # the cause may quote the answer
        return unit_rows(vectors, count=len(texts), label=self._label)


def batches(texts: Sequence[str], *, max_texts: int) -> Iterator[list[str]]:
    """The texts in order, in runs of at most `max_texts` and MAX_BATCH_BYTES (one text always fits)."""
    batch: list[str] = []
    size = 0
    for text in texts:
        size += len(text.encode())
        if batch and (len(batch) == max_texts or size > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], len(text.encode())
        batch.append(text)
    if batch:
        yield batch


def _cut(text: str | None) -> str:
    """The text as it is sent: one space where there is none, valid Unicode, at most MAX_TEXT_BYTES."""
    text = replace_surrogates(text or " ")
    return text.encode()[:MAX_TEXT_BYTES].decode(errors="ignore") if len(text) * 4 > MAX_TEXT_BYTES else text
