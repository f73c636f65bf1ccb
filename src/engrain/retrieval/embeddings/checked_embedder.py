"""Wrapper that makes any embedder keep the port's contract, and the check of an embedder against a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engrain import metrics
from engrain.domain import checks
from engrain.domain.faults import describe_fault
from engrain.domain.records import Degraded
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.storage.write.embedding_versions import find_active

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from engrain.domain.ports import Embedder, EmbedRole
    from engrain.storage.store import SqlStore

_MAX_DIMS = 65_535
# Rows of half precision are off by a thousandth; rows that were never normalised by far more.
_LENGTH_TOLERANCE = 0.01


class CheckedEmbedder:
    """Wrapper of an embedder: its errors, and answers that are no vectors, become EngineUnavailable.

    So one policy covers every engine: writers never notice, searches answer by keywords and say why, the queue tries
    again. None and the empty text reach the engine as one space, and no texts do not reach it.
    """

    def __init__(self, embedder: Embedder, *, dims: int | None = None) -> None:
        """Wrap `embedder`; `dims` is the length of its vectors where it cannot say so itself now.

        Raises:
            InvalidInput: it lacks what an embedder has.
        """
        if isinstance(embedder, type) or not callable(getattr(embedder, "embed", None)):
            raise InvalidInput(
                f"embedder {embedder!r:.80} must be provider:model or have name, dims and embed(); "
                "engrain.engines.CallableEmbedder makes one of a function"
            )
        self.name = checks.name(getattr(embedder, "name", None), name="the embedder's name")
        self._embedder = embedder
        self._dims = dims

    def with_dims(self, dims: int) -> CheckedEmbedder:
        """The same embedder with that length of vectors."""
        return CheckedEmbedder(self._embedder, dims=dims)

    @property
    def dims(self) -> int:
        """Length of every vector.

        Raises:
            EngineUnavailable: the engine would have to ask a service that does not answer.
            InvalidInput: it is no length.
        """
        if self._dims is not None:
            return self._dims
        dims = checks.count(getattr(self._embedder, "dims", None), name="the embedder's dims", high=_MAX_DIMS)
        if dims == 0:
            raise InvalidInput(f"the embedder's dims is 0; it must lie in [1, {_MAX_DIMS:,}]")
        return dims

    def embed(self, texts: Sequence[str | None], *, role: EmbedRole) -> NDArray[np.float32]:
        """Rows of length 1 (or 0, of a text in which the engine finds nothing).

        Raises:
            InvalidInput: one text in place of several.
        """
        checks.several_texts(texts)
        if not texts:
            return np.empty((0, self.dims), np.float32)
        try:
            rows = np.asarray(self._embedder.embed([text or " " for text in texts], role=role), np.float32)
        except EngineUnavailable:
            raise
        except Exception as error:
            # Its message stays in the cause: it may quote what somebody said, and this one is logged.
            raise EngineUnavailable(f"the embedder {self.name} failed with {type(error).__name__}") from error
        expected = (len(texts), self.dims)
        if rows.shape != expected:
            raise EngineUnavailable(f"the embedder {self.name} returned the shape {rows.shape}, not {expected}: fix it")
        lengths = np.linalg.norm(rows, axis=1)
        wrong = ~((np.abs(lengths - 1) <= _LENGTH_TOLERANCE) | (lengths == 0))
        if wrong.any():
            shown = f"{lengths[wrong][0]:.3g}"
            raise EngineUnavailable(
                f"the embedder {self.name} returned a vector of length {shown}, not 1: normalise it"
            )
        return rows


def wrap_embedder(embedder: Embedder | None) -> CheckedEmbedder | None:
    """Wrap an embedder; None stays None, and a wrapped one stays as it is."""
    return embedder if embedder is None or isinstance(embedder, CheckedEmbedder) else CheckedEmbedder(embedder)


def check_compatibility(
    store: SqlStore, embedder: CheckedEmbedder | None
) -> tuple[CheckedEmbedder | None, Degraded | None]:
    """The embedder if its vectors are comparable with those of the store; else why not, and what to do."""
    if embedder is None:
        return None, None
    try:
        dims = embedder.dims
    except EngineUnavailable as error:
        # An engine that is away now is waited for, if it has been here before.
        active = store.inspect(None, find_active)
        if active is None or active.name != embedder.name:
            return None, describe_fault(error, "embedder").with_prefix("keywords alone: ")
        embedder, dims = embedder.with_dims(active.dims), active.dims
    recorded = store.use_embedder(embedder.name, dims)
    if recorded is None:
        return embedder, None
    metrics.count("embedder_mismatches")
    other = f"not of {dims} dimensions" if recorded == embedder.name else f"not of {embedder.name}"
    return None, mismatch(
        f"they are of {recorded}, {other}; open with that one, "
        f"or make new ones: engrain reembed --embedder {embedder.name}"
    )


def mismatch(detail: str) -> Degraded:
    """The reason why searches use keywords alone where the vectors are of another embedder."""
    message = "keywords alone: the vectors here are of another embedder"
    return Degraded(code="embedder_mismatch", message=message, detail=detail)
