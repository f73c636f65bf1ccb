"""Assembly: the parts of a Memory, made of a store, its engines and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain import engines
from engrain.agent.wiring.buffers import Buffers
from engrain.agent.wiring.engines import Engines, with_cache, with_meter
from engrain.agent.wiring.learner import Learner
from engrain.agent.wiring.note_cache import NoteCache
from engrain.agent.wiring.parts import Parts
from engrain.agent.wiring.usage import KeyUses, References
from engrain.agent.wiring.workers import Workers
from engrain.config.jobs import find_time_zone
from engrain.config.tree import HybridWeights, Retrieval, ScoreWeights, Settings
from engrain.context.recipes import build_recipes
from engrain.domain.memories.decay import DecayPolicy
from engrain.retrieval.embeddings.checked_embedder import check_compatibility, wrap_embedder
from engrain.retrieval.embeddings.embedding_queue import EmbeddingQueue
from engrain.retrieval.presets import PRESETS, Preset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.ports import Clock, Ids, Reranker
    from engrain.storage.store import SqlStore


def assemble(store: SqlStore, chosen: Engines, *, settings: Settings, clock: Clock, ids: Ids) -> Parts:
    """Wire the parts of one Memory.

    Raises:
        InvalidInput: a preset, weight, recipe or threshold of the settings is none, or a re-ranker is none.
    """
    decay = DecayPolicy(**settings.decay.to_dict())
    workers = Workers(max_parallel=settings.llm.max_parallel)
    embedder = wrap_embedder(chosen.embedder)
    usable, without_vectors = check_compatibility(store, embedder)
    return Parts(
        store=store,
        queue=EmbeddingQueue(store, usable),
        settings=settings,
        decay=decay,
        clock=clock,
        time_zone=find_time_zone(settings.retrieval.timezone),
        ids=ids,
        embedder=with_cache(usable, settings),
        reranker=_check_reranker(chosen.reranker),
        name_finder=chosen.name_finder,
        llm=with_meter(chosen.llm, settings),
        configured_embedder=embedder,
        without_vectors=without_vectors,
        presets=_load_presets(settings.retrieval),
        recipes=build_recipes(settings.context.order, settings.context.quotas, settings.context.candidates),
        count_tokens=engines.token_counter(settings.context.count_tokens),
        workers=workers,
        learner=Learner(),
        references=References(store, workers),
        key_uses=KeyUses(store, workers),
        note_cache=NoteCache(
            settings.notes.cache_entries, ttl_s=settings.notes.cache_ttl_s, tenant_share=settings.notes.tenant_share
        ),
        buffers=Buffers(settings),
    )


def _check_reranker(reranker: object) -> Reranker | None:
    """Check a re-ranker; where there is none, as most often, nothing is imported for it."""
    if reranker is None:
        return None
    from engrain.retrieval.reranking import check_reranker

    return check_reranker(reranker)


def _load_presets(settings: Retrieval) -> Mapping[str, Preset]:
    """Load the presets that ship, and those of the settings: without any, nothing of a search is imported for them."""
    if not settings.presets and (settings.score_weights, settings.hybrid_weights) == (ScoreWeights(), HybridWeights()):
        return PRESETS
    from engrain.retrieval.custom_presets import add_custom, apply_weights

    shipped = apply_weights(score=settings.score_weights.to_dict(), hybrid=settings.hybrid_weights.to_dict())
    return add_custom(settings.presets, shipped)
