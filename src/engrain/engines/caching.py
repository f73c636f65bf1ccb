"""Vectors kept by what they are of, so that the same text is not embedded twice in a day."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from engrain import metrics
from engrain.cache import LruCache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import Embedder, EmbedRole

MAX_ENTRIES = 10_000
TTL_S = 86_400.0


class CachingEmbedder:
    """Another embedder, asked only for what it was not asked lately. Thread-safe.

    At the most it holds 10,000 x 384 x 4 B = 15 MB of the default embedder's vectors, and of one with 1,536 dimensions
    61 MB; of the texts it holds digests alone.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        max_entries: int = MAX_ENTRIES,
        ttl_s: float = TTL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask `embedder`, and hold what it answers for `ttl_s`."""
        self.name = embedder.name
        self._embedder = embedder
        self._rows: LruCache[NDArray[np.float32]] = LruCache(max_entries, ttl_s=ttl_s, clock=clock)

    @property
    def dims(self) -> int:
        """Length of every vector."""
        return self._embedder.dims

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """As the port says; what is not held goes to the embedder in one call, each text once."""
        import numpy as np

        dims = self.dims
        keys = [self._key(text, role, dims) for text in texts]
        held = {key: row for key in dict.fromkeys(keys) if (row := self._rows.get(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in held}
        metrics.count("embedding_cache_hits", len(keys) - len(missing))
        metrics.count("embedding_cache_misses", len(missing))
        if missing:
            made = self._embedder.embed(list(missing.values()), role=role)
            for key, row in zip(missing, made, strict=True):
                held[key] = row.copy()  # a view would keep its whole batch in memory
                self._rows.set(key, held[key])
        # The caller's own array: whatever is done to it, the held rows stay as they are.
        return np.array([held[key] for key in keys], np.float32).reshape(len(keys), dims)

    def _key(self, text: str | None, role: EmbedRole, dims: int) -> str:
        said = f"{self.name}\0{dims}\0{role}\0{text or ' '}"
        return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()
