"""Cross-encoders of the sentence-transformers package as rerankers."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from engrain.engines.embedders.sentence_transformers import load_model
from engrain.engines.surrogates import replace_surrogates
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BATCH = 8  # a run cannot be interrupted, so the deadline is checked between short ones


class CrossEncoders:
    """Reranker that loads the package and the model with the first question. Thread-safe."""

    def __init__(self, model: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Load nothing."""
        self.name: Final = f"cross-encoder:{model}"
        self._model = model
        self._clock = clock
        self._lock = threading.Lock()
        self._engine: Any = None

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:
        """As the port says; the time that loading the model takes counts as well, and is spent once."""
        import numpy as np

        deadline = self._clock() + timeout_s
        scores: list[float] = []
        if not documents:
            return []
        with self._lock:
            engine = self._load()
            for first in range(0, len(documents), _BATCH):
                if self._clock() > deadline:
                    raise EngineUnavailable(
                        f"the re-ranker {self.name} read {first} of {len(documents)} memories in {timeout_s:g} s"
                    )
                batch = documents[first : first + _BATCH]
                pairs = [(replace_surrogates(query), replace_surrogates(text)) for text in batch]
                try:
                    batch_scores = np.asarray(engine.predict(pairs, convert_to_numpy=True, show_progress_bar=False))
                except Exception as error:  # torch's errors have no other base
                    raise EngineUnavailable(f"the re-ranker {self.name} failed with {type(error).__name__}") from error
                if batch_scores.shape != (len(pairs),) or not np.isfinite(batch_scores).all():
                    raise EngineUnavailable(
                        f"the re-ranker {self.name} gave {batch_scores.shape} numbers for {len(pairs)} memories, or "
                        "some that are not finite: choose a cross-encoder with one label"
                    )
                scores.extend(map(float, batch_scores))
        return list(enumerate(scores))

    def _load(self) -> Any:
        if self._engine is None:
            self._engine = load_model(f"the re-ranker {self.name}", self._open)
        return self._engine

    def _open(self) -> Any:
        from sentence_transformers import CrossEncoder

        return CrossEncoder(self._model)
