"""Engines and settings of a Memory, as its configuration names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from engrain.config import describe_missing_key, key_for, load
from engrain.config.tree import Settings
from engrain.errors import InvalidInput
from engrain.log_events import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from engrain.domain.ports import LLM, Embedder, NameFinder, Reranker
    from engrain.engines.llms.usage_meter import MeteredLLM

_LOG = get_logger(__name__)


class Engines(NamedTuple):
    """The engines of one Memory; None for one that it has not."""

    embedder: Embedder | None
    reranker: Reranker | None
    name_finder: NameFinder | None
    llm: LLM | None


def choose_engines(
    settings: Settings,
    *,
    embedder: Embedder | str | None,
    reranker: Reranker | str | None,
    name_finder: NameFinder | str | None,
    llm: LLM | str | None,
) -> Engines:
    """Return the engines given, else those that their names or the settings stand for.

    Raises:
        InvalidInput: no such engine, or a key or command that is none.
    """
    from engrain import engines
    from engrain.retrieval.embeddings.checked_embedder import wrap_embedder

    if embedder is None and (reason := describe_missing_key(settings)) is not None:
        _LOG.warning("the embedder has no key", extra={"embedder": settings.embedding.model, "reason": reason})
    if embedder is None or isinstance(embedder, str):
        embedder = configured_embedder(settings, embedder)
    llm = with_meter(configured_llm(settings, llm) if llm is None or isinstance(llm, str) else llm, settings)
    if reranker is None or isinstance(reranker, str):
        reranker = configured_reranker(settings, reranker, llm=llm)
    if name_finder is None or isinstance(name_finder, str):
        name = settings.entities.name_finder if name_finder is None else name_finder
        name_finder = engines.name_finder(name, llm=llm, timeout_s=settings.llm.timeout_s)
    return Engines(wrap_embedder(embedder), reranker, name_finder, llm)


def configured_embedder(settings: Settings, spec: str | None = None) -> Embedder | None:
    """Return the embedder that the settings name, or else `spec`, reached as they say; None for `"none"`.

    Raises:
        InvalidInput: no such embedder, or a key that is none.
    """
    from engrain import engines

    name = settings.embedding.model if spec is None else spec
    key = key_for(name, url=settings.embedding.url, key=settings.embedding.key)
    return engines.embedder(
        name,
        threads=settings.embedding.threads,
        dims=settings.embedding.dims,
        address=engines.ServiceAddress(url=settings.embedding.url, key=key),
    )


def configured_llm(settings: Settings, spec: str | None = None) -> LLM | None:
    """Return the language model that the settings name, or else `spec`, reached as they say; None for `"none"`.

    Raises:
        InvalidInput: no such model, a command that is none, or a key that is none.
    """
    chosen = settings.llm
    name = chosen.model if spec is None else spec
    if name == "none":
        return None
    from engrain import engines
    from engrain.engines.llms.responses import Limits

    key = key_for(name, url=chosen.url, key=chosen.key)
    limits = Limits(attempts=chosen.attempts, max_tokens=chosen.max_tokens)
    return engines.llm(
        name, address=engines.ServiceAddress(url=chosen.url, key=key), limits=limits, command=chosen.command
    )


def configured_reranker(settings: Settings, spec: str | None = None, *, llm: LLM | None = None) -> Reranker | None:
    """Return the re-ranker that the settings name, or else `spec`; None for `"none"`, `llm` for `"llm"`.

    Raises:
        InvalidInput: no such re-ranker, one without an address, a key that is none, or `"llm"` without one.
    """
    from engrain import engines

    name = settings.reranking.model if spec is None else spec
    key = key_for(name, url=settings.reranking.url, key=settings.reranking.key)
    return engines.reranker(name, address=engines.ServiceAddress(url=settings.reranking.url, key=key), llm=llm)


def with_cache(embedder: Embedder | None, settings: Settings) -> Embedder | None:
    """Return the embedder with a cache of its latest vectors, if the settings want one."""
    from engrain.engines.embedders.cache import CachingEmbedder

    if embedder is None or not settings.embedding.cache_entries:
        return embedder
    entries, ttl_s = settings.embedding.cache_entries, settings.embedding.cache_ttl_s
    return CachingEmbedder(embedder, max_entries=entries, ttl_s=ttl_s)


def with_meter(llm: LLM | None, settings: Settings) -> MeteredLLM | None:
    """Return the language model with a meter of this Memory's own."""
    if llm is None:
        return None
    from engrain.engines.llms.usage_meter import MeteredLLM, Prices

    if isinstance(llm, MeteredLLM):
        return llm
    chosen = settings.llm
    prices = Prices(
        input_usd_per_million=chosen.input_usd_per_million, output_usd_per_million=chosen.output_usd_per_million
    )
    return MeteredLLM(llm, prices)


def load_settings(settings: Mapping[str, Any] | Settings | None, config: str | Path | None) -> Settings:
    """Return settings as they are, or load them."""
    if not isinstance(settings, Settings):
        return load(settings, file=config)
    if config is not None:
        raise InvalidInput("these settings are made already; give the file to engrain.config.load, or no file")
    return settings
