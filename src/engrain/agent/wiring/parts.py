"""Parts: the store, engines, caches and background work of one Memory, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, tzinfo

    from engrain.agent.wiring.buffers import Buffers
    from engrain.agent.wiring.learner import Learner
    from engrain.agent.wiring.note_cache import NoteCache
    from engrain.agent.wiring.usage import KeyUses, References
    from engrain.agent.wiring.workers import Workers
    from engrain.config.tree import Settings
    from engrain.context.recipes import Recipe
    from engrain.domain.memories.decay import DecayPolicy
    from engrain.domain.ports import Clock, Embedder, Ids, NameFinder, Reranker, TokenCounter
    from engrain.domain.records import Degraded
    from engrain.engines.llms.usage_meter import MeteredLLM
    from engrain.retrieval.embeddings.embedding_queue import EmbeddingQueue
    from engrain.retrieval.presets import Preset
    from engrain.storage.store import SqlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of one Memory as `Memory` wires them; functions of this room take it as their first argument."""

    store: SqlStore
    queue: EmbeddingQueue
    settings: Settings
    decay: DecayPolicy
    clock: Clock
    time_zone: tzinfo  # of days in words
    ids: Ids
    embedder: Embedder | None
    reranker: Reranker | None
    name_finder: NameFinder | None  # finds names that their spelling does not give away
    llm: MeteredLLM | None  # asked where a model helps; `workers.map_bounded` asks it several things at once
    configured_embedder: Embedder | None  # the one in force, or whose vectors would have to be made first
    without_vectors: Degraded | None  # why a configured embedder is not used
    presets: Mapping[str, Preset]
    recipes: Mapping[str, Recipe]
    count_tokens: TokenCounter  # of blocks and messages that name none
    workers: Workers
    learner: Learner
    references: References
    key_uses: KeyUses
    note_cache: NoteCache
    buffers: Buffers

    def local_now(self) -> datetime:
        """Return the time by the clock in the time zone of days in words."""
        return self.clock().astimezone(self.time_zone)
