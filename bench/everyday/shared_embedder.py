"""Embedder of the package with its vectors kept, so that no text is embedded twice in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engrain.engines.embedders.minilm import MiniLM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole


class SharedEmbedder:
    """MiniLM, which embeds questions and documents alike, with a dictionary of its vectors. Thread-safe."""

    def __init__(self) -> None:
        self._inner = MiniLM()
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self.name, self.dims = self._inner.name, self._inner.dims

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """Return the vectors of the texts, new or kept."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if missing:
            self._vectors |= dict(zip(missing, self._inner.embed(missing, role=role), strict=True))
        return np.array([self._vectors[text] for text in texts], np.float32).reshape(len(texts), self.dims)
