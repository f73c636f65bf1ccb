"""Normalisation of vectors from any source to unit length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engrain.errors import EngineUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_rows(vectors: Any, *, count: int, label: str) -> NDArray[np.float32]:
    """Normalise `count` vectors to rows of length 1; one of length 0 stays as it is.

    Raises:
        EngineUnavailable: they are not `count` vectors of one length, or hold what is no finite number.
    """
    import numpy as np

    try:
        rows = np.asarray(vectors, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise EngineUnavailable(f"{label} returned what are no vectors of one length") from None
    if len(rows.shape) != 2 or not rows.shape[1]:  # noqa: PLR2004  # rows and columns
        raise EngineUnavailable(f"{label} returned the shape {rows.shape}, not one vector for each of {count} texts")
    if len(rows) != count:
        raise EngineUnavailable(f"{label} returned {len(rows)} vectors for {count} texts")
    if not np.isfinite(rows).all():
        raise EngineUnavailable(f"{label} returned a vector with a number that is not finite")
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)  # or squares of 1e200 would overflow
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(rows, lengths, out=rows, where=lengths > 0).astype(np.float32)
    return unit
