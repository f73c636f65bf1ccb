"""Embedding of a query, as a search asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import Degraded

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEmbedding:
    """Embedding of a query.

    `begin` starts on it and returns a function that waits for the vector, or for a sentence that says why there is
    none; it may be called again. `catch_up` takes the number of visible memories without a vector, and returns true if
    it made those vectors. `find` returns a vector that is at hand.
    """

    begin: Callable[[str], Callable[[], NDArray[np.float32] | Degraded]]
    catch_up: Callable[[int], bool]
    find: Callable[[str], NDArray[np.float32] | None] = lambda _: None


NO_VECTORS = QueryEmbedding(begin=lambda _: lambda: Degraded(code="no_embedder", message=""), catch_up=lambda _: False)
