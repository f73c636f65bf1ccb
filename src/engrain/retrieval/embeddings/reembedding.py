"""Reembedding: new vectors by another embedder, made beside the ones in use and then put in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engrain.domain.records import EmbeddingVersion, Record
from engrain.errors import EngineUnavailable, InvalidInput
from engrain.retrieval.embeddings.embedding_queue import BATCH, BisectingEmbedder, describe_refusal
from engrain.storage.write import embedding_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engrain.domain.ports import Embedder
    from engrain.domain.requests import Act, Unembedded
    from engrain.storage.store import SqlStore

_LOOK_AHEAD = 16 * BATCH  # the search for missing vectors reads past all existing ones
_PRUNE_AT_ONCE = 1_000
# The engine is at fault, not the texts, where it refuses so many.
_MAX_REFUSED = 100


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
        self._version = version
        self._progress = progress
        self._missing = BisectingEmbedder(store, embedder, version.version)

    def finish(self) -> None:
        """Make all that are missing now, those of memories that are written meanwhile included.

        Raises:
            EngineUnavailable: some texts are refused, and all the others have their vectors.
        """
        while True:
            settled = self._store.flush_index()
            missing = self._missing.find_missing(_LOOK_AHEAD)
            for first in range(0, len(missing), BATCH):
                self._make(missing[first : first + BATCH])
            if not missing and not settled:
                break
        refused = self._missing.list_refused()  # some may have been forgotten since
        if refused:
            raise EngineUnavailable(self._refusal(refused))

    def _make(self, batch: Sequence[Unembedded]) -> None:
        made = self._missing.make_vectors(batch)
        self.embedded += made
        if self._progress is not None and made:
            self._progress(made)
        if len(self._missing.refused) > _MAX_REFUSED:
            raise EngineUnavailable(self._refusal(list(self._missing.refused.values())))

    def _refusal(self, ids: Sequence[str]) -> str:
        if self._version.state == "active":
            return describe_refusal(self._version.name, ids)
        return describe_refusal(self._version.name, ids, until_then="keep the vectors they had")


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
