"""Re-rankers of the sentence-transformers package, which read question and memory together."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from engrain.engines.sentence_transformers import loaded, well_formed
from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAIRS_AT_ONCE = 8  # a run cannot be stopped, so time is looked at between short ones


class CrossEncoders:
    """A re-ranker. Cheap to make: loads the package and the model with the first question. Thread-safe."""

    def __init__(self, model: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Load nothing."""
        self.name: Final = f"cross-encoder:{model}"
        self._model = model
        self._clock = clock
        self._working = threading.Lock()
        self._engine: Any = None

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> Sequence[tuple[int, float]]:
        """As the port says; the time that loading the model takes counts as well, and is spent once."""
        import numpy as np

        ends = self._clock() + timeout_s
        scores: list[float] = []
        if not documents:
            return []
        with self._working:
            engine = self._loaded()
            for first in range(0, len(documents), _PAIRS_AT_ONCE):
                if self._clock() > ends:
                    raise EngineUnavailable(
                        f"the re-ranker {self.name} read {first} of {len(documents)} memories in {timeout_s:g} s"
                    )
                pairs = [(well_formed(query), well_formed(each)) for each in documents[first : first + _PAIRS_AT_ONCE]]
                try:
                    found = np.asarray(engine.predict(pairs, convert_to_numpy=True, show_progress_bar=False))
                except Exception as error:  # torch's errors have no other base
                    raise EngineUnavailable(f"the re-ranker {self.name} failed with {type(error).__name__}") from error
                if found.shape != (len(pairs),) or not np.isfinite(found).all():
                    raise EngineUnavailable(
                        f"the re-ranker {self.name} gave {found.shape} numbers for {len(pairs)} memories, or some that "
                        "are not finite: choose a cross-encoder with one label"
                    )
                scores.extend(map(float, found))
        return list(enumerate(scores))

    def _loaded(self) -> Any:
        if self._engine is None:
            self._engine = loaded(f"the re-ranker {self.name}", self._open)
        return self._engine

    def _open(self) -> Any:
        from sentence_transformers import CrossEncoder

        return CrossEncoder(self._model)
