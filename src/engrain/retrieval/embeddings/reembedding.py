"""Reembedding: new vectors by another embedder, made beside the ones in use and then put in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engrain import metrics
from engrain.domain.records import Record
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from engrain.domain.ports import Embedder
    from engrain.domain.records import EmbeddingVersion
    from engrain.domain.requests import Act, Ref, Unembedded
    from engrain.storage.store import SqlStore

BATCH = 64  # made in one call and stored in one transaction: the loss by a crash
_LOOK_AHEAD = 16 * BATCH  # the search for missing vectors reads past all existing ones
_PRUNE_AT_ONCE = 1_000
# The engine is at fault, not the texts, where it refuses so many.
_MAX_REFUSED = 100
_MAX_NAMED = 5
_HARMLESS = "Is anybody there?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedReport(Record):
    """Report of a reembedding: the embedder now in use, and the numbers of vectors made and of old ones removed."""

    embedder: str
    dims: int
    version: int
    embedded: int
    pruned: int


def reembed(
    store: SqlStore, embedder: Embedder, act: Act, *, progress: Callable[[int], None] | None = None
) -> ReembedReport:
    """Make the embedder's vectors of every memory, search them from then on, and remove the old ones.

    Searches are served from the old vectors until all the new ones are there; then one transaction changes over. What
    is made is kept, batch by batch: a call after one that was stopped goes on from there, and one after the change-over
    makes what is missing and removes what is left of the old. `progress` is told after each batch how many it embedded.

    Raises:
        EngineUnavailable: the engine cannot work now, or refuses some texts, which the message names once all others
            have their vectors. The old vectors are searched as before.
        InvalidInput: vectors of yet another embedder are being built.
    """
    version = _begin_version(store, embedder)
    builder = _VersionBuilder(store, embedder, version, progress)
    while True:
        builder.finish()
        if version.state == "active" or _switch_version(store, act, version):
            break
    store.use_embedder(embedder.name, embedder.dims)
    pruned = 0
    while removed := store.prune_vectors(_PRUNE_AT_ONCE):
        pruned += removed
    return ReembedReport(
        embedder=embedder.name, dims=embedder.dims, version=version.version, embedded=builder.embedded, pruned=pruned
    )


class _VersionBuilder:
    """Builder of the vectors of one version."""

    def __init__(
        self, store: SqlStore, embedder: Embedder, version: EmbeddingVersion, progress: Callable[[int], None] | None
    ) -> None:
        """Begin with no vectors made by this call."""
        self.embedded = 0
        self._store = store
        self._embedder = embedder
        self._version = version
        self._progress = progress
        # The memories whose text the engine does not take, by tenant and handle.
        self._refused: dict[tuple[str, Ref], str] = {}

    def finish(self) -> None:
        """Make all that are missing now, those of memories that are written meanwhile included.

        Raises:
            EngineUnavailable: some texts are refused, and all the others have their vectors.
        """
        while True:
            settled = self._store.flush_index()
            missing = self._store.inspect(
                None, embedding_versions.find_unembedded, _LOOK_AHEAD + len(self._refused), self._version.version
            )
            fresh = [memory for memory in missing if (memory.tenant_id, memory.ref) not in self._refused]
            for first in range(0, len(fresh), BATCH):
                self._make(fresh[first : first + BATCH])
            if not fresh and not settled:
                break
        refused = [memory.id for memory in missing]  # some may have been forgotten since
        if refused:
            raise EngineUnavailable(_refusal(self._version, refused))

    def _make(self, batch: Sequence[Unembedded]) -> None:
        made = self._embed(batch)
        if made:
            rows = np.array([row for _, row in made], np.float32)
            tenants = [memory.tenant_id for memory, _ in made]
            self._store.attach([memory.ref for memory, _ in made], rows, version=self._version.version, tenants=tenants)
        self.embedded += len(made)
        metrics.count("memories_embedded", len(made))
        if self._progress is not None and made:
            self._progress(len(made))
        if len(self._refused) > _MAX_REFUSED:
            raise EngineUnavailable(_refusal(self._version, list(self._refused.values())))

    def _embed(self, batch: Sequence[Unembedded]) -> list[tuple[Unembedded, NDArray[np.float32]]]:
        """The vectors of a batch; a text that makes it fail is found by bisection, and left out.

        Raises:
            EngineUnavailable: it would fail with any text.
        """
        try:
            rows = self._embedder.embed([memory.text for memory in batch], role="document")
        except EngineUnavailable:
            if len(batch) == 1:
                self._embedder.embed([_HARMLESS], role="document")
                self._refused[batch[0].tenant_id, batch[0].ref] = batch[0].id
                return []
            half = len(batch) // 2
            return self._embed(batch[:half]) + self._embed(batch[half:])
        return list(zip(batch, rows, strict=True))


def _begin_version(store: SqlStore, embedder: Embedder) -> EmbeddingVersion:
    """Begin or continue a version: a building one, or the active one where that is this embedder's already."""
    if store.use_embedder(embedder.name, embedder.dims) is not None:
        try:
            return store.begin_version(embedder.name, embedder.dims)
        except InvalidInput:
            if store.use_embedder(embedder.name, embedder.dims) is not None:
                raise
    active = store.inspect(None, embedding_versions.find_active)
    assert active is not None  # this embedder is
    return active


def _switch_version(store: SqlStore, act: Act, version: EmbeddingVersion) -> bool:
    """Switch searches to the version; False where a memory without its vector came meanwhile."""
    try:
        return store.switch_version(act, version.version)
    except InvalidInput:
        if store.use_embedder(version.name, version.dims) is None:
            return True  # another process made the last vectors, and was first
        raise


def _refusal(version: EmbeddingVersion, ids: Sequence[str]) -> str:
    named = ", ".join(ids[:_MAX_NAMED])
    rest = f" and {len(ids) - _MAX_NAMED:,} more" if len(ids) > _MAX_NAMED else ""
    texts = "the text of 1 memory" if len(ids) == 1 else f"the texts of {len(ids):,} memories"
    until_then = "are by words alone for it" if version.state == "active" else "keep the vectors they had"
    return (
        f"the embedder {version.name} refuses {texts} ({named}{rest}): searches {until_then}, nothing is lost, and the "
        "vectors that were made are kept; run it again when the embedder takes them, or forget those first"
    )
