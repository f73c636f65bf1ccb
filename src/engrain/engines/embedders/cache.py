"""Cache of vectors by text, so that the same text is not embedded twice in a day."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.cache import LruCache
from engrain.domain import checks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import Embedder, EmbedRole

MAX_ENTRIES = 10_000
TTL_S = 86_400.0


class CachingEmbedder:
    """Wrapper of an embedder that caches its vectors. Thread-safe.

    It holds at most 10,000 x 384 x 4 B = 15 MB of the default embedder's vectors, and of one with 1,536 dimensions
    61 MB; of texts it holds only digests.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        max_entries: int = MAX_ENTRIES,
        ttl_s: float = TTL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wrap `embedder`, and cache its vectors for `ttl_s`."""
        self.name = embedder.name
        self._embedder = embedder
        self._rows: LruCache[NDArray[np.float32]] = LruCache(max_entries, ttl_s=ttl_s, clock=clock)

    @property
    def dims(self) -> int:
        """Length of every vector."""
        return self._embedder.dims

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """As the port says; texts that are not cached go to the embedder in one call, each once.

        Raises:
            InvalidInput: one text in place of several.
        """
        import numpy as np

        checks.several_texts(texts)
        dims = self.dims
        keys = [self._key(text, role, dims) for text in texts]
        cached = {key: row for key in dict.fromkeys(keys) if (row := self._rows.get(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in cached}
        metrics.count("embedding_cache_hits", len(keys) - len(missing))
        metrics.count("embedding_cache_misses", len(missing))
        if missing:
            rows = self._embedder.embed(list(missing.values()), role=role)
            for key, row in zip(missing, rows, strict=True):
                cached[key] = row.copy()  # a view would keep its whole batch in memory
                self._rows.set(key, cached[key])
        # The caller's own array: a change to it does not reach the cache.
        return np.array([cached[key] for key in keys], np.float32).reshape(len(keys), dims)

    def find(self, text: str, *, role: EmbedRole) -> NDArray[np.float32] | None:
        """Find the cached vector of a text; None where it is to be embedded."""
        row = self._rows.get(self._key(text, role, self.dims))
        if row is None:
            return None
        metrics.count("embedding_cache_hits")
        return row.copy()

    def _key(self, text: str | None, role: EmbedRole, dims: int) -> str:
        identity = f"{self.name}\0{dims}\0{role}\0{text or ' '}"
        return hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()
