"""Embedder of the sentence-transformers package, by a name on its hub or a folder."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from engrain.engines.embedders.vectors import unit_rows
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from engrain.domain.ports import EmbedRole

_INSTALL: Final = "pip install 'engrain[sentence-transformers]'"
# Known dimensions, so that a memory opens without loading the model.
_DIMS: Final = {
    "all-MiniLM-L6-v2": 384,
    "all-MiniLM-L12-v2": 384,
    "all-mpnet-base-v2": 768,
    "multi-qa-mpnet-base-dot-v1": 768,
    "paraphrase-multilingual-MiniLM-L12-v2": 384,
    "BAAI/bge-small-en-v1.5": 384,
    "BAAI/bge-base-en-v1.5": 768,
    "BAAI/bge-m3": 1024,
}


class SentenceTransformers:
    """Embedder that loads the package and the model with the first text. Thread-safe, one call at a time.

    Questions and documents get the prompts that the model declares for them. None and the empty text stand for one
    space. Threads and device are torch's own choice.
    """

    def __init__(self, model: str, *, dims: int | None = None) -> None:
        """Load nothing; with `dims` cut the vectors of a model that is made for it to that length."""
        self.name: Final = f"sentence-transformers:{model}"
        self._model = model
        self._requested_dims = dims
        self._dims = dims or _DIMS.get(model.removeprefix("sentence-transformers/"))
        self._lock = threading.Lock()  # tokenizers of the tokenizers package refuse two threads at once
        self._engine: Any = None

    @property
    def dims(self) -> int:
        """Length of every vector; loads the model where neither the settings nor this engine know.

        Raises:
            EngineUnavailable: the model had to be loaded, and cannot be.
        """
        if self._dims is None:
            with self._lock:
                engine = self._load()
            is_new = hasattr(engine, "get_embedding_dimension")  # the other name goes away
            dims = engine.get_embedding_dimension() if is_new else engine.get_sentence_embedding_dimension()
            if not isinstance(dims, int):
                raise EngineUnavailable(f"the embedder {self.name} does not say its dimensions: set embedding.dims")
            self._dims = dims
        return self._dims

    def embed(self, texts: Sequence[str | None], *, role: EmbedRole) -> NDArray[np.float32]:
        """As the port says; EngineUnavailable where the package or the model is missing."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dims), np.float32)
        sentences = [replace_surrogates(text or " ") for text in texts]
        with self._lock:
            engine = self._load()
            encode = engine.encode_query if role == "query" else engine.encode_document
            try:
                rows = encode(sentences, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
            except Exception as error:  # torch's errors have no other base
                raise EngineUnavailable(f"the embedder {self.name} failed with {type(error).__name__}") from error
        return unit_rows(rows, count=len(texts), label=f"the embedder {self.name}")

    def _load(self) -> Any:
        if self._engine is None:
            self._engine = load_model(f"the embedder {self.name}", self._open)
        return self._engine

    def _open(self) -> Any:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(self._model, truncate_dim=self._requested_dims)


def load_model(label: str, load: Callable[[], Any]) -> Any:
    """Call `load` and return its model.

    Raises:
        EngineUnavailable: the package is not installed, or the model cannot be had.
    """
    try:
        return load()
    except ImportError as error:
        raise EngineUnavailable(f"{label} needs a package that is not installed: {_INSTALL}") from error
    except Exception as error:  # hubs, files and torch raise what they like
        reason = next(iter(str(error).splitlines()), "")
        raise EngineUnavailable(
            f"{label} cannot be loaded ({type(error).__name__}: {reason:.200}): check the model's name, and the "
            "network for the first time"
        ) from error
