"""Settings: the only reader of the environment and of TOML files."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, get_args

from engrain.config.section import InvalidSetting, Secret
from engrain.config.sources import Source, sources
from engrain.config.tree import Settings, fields
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_LOG = logging.getLogger(__name__)

DEFAULT = "default"
# Variables in which the clients of services expect their keys.
_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "cohere": "COHERE_API_KEY"}
# Settings that no message may quote, in any section; a rejected address may contain a secret.
_SECRET = frozenset({"key", "signing_key", "passphrase", "url"})


@dataclass(frozen=True, slots=True)
class Effective:
    """One setting in force: its dotted name, its value as JSON (of a key only whether it is set), and its source."""

    name: str
    value: Any
    origin: str


def load(values: Mapping[str, Any] | None = None, *, file: str | Path | None = None) -> Settings:
    """Load the settings: `values`, nested as the tree is, over the environment over one TOML file.

    The file is `file`, else that of ENGRAIN_CONFIG, else `engrain.toml` of the working folder. A named file may also be
    a host's, whose table `[modules.memory]` is read.

    Raises:
        InvalidInput: an unknown name (with the nearest known one), or a value of the wrong type or range; the message
            names the source. A named file that is missing.
        UntrustedSettings: the file of the working folder sets more than `retrieval`, `context` and `logging`, and its
            user has not trusted its content (`engrain trust`); or somebody else can change a file.
    """
    loaded = sources(values, file)
    for source in loaded:
        if source.warning:
            _LOG.warning(source.warning)
    return _merge(loaded)


def warnings(values: Mapping[str, Any] | None = None, *, file: str | Path | None = None) -> list[str]:
    """List what is unsafe about the sources of the settings, such as a file of keys that other users may read."""
    return [source.warning for source in sources(values, file) if source.warning]


def effective(values: Mapping[str, Any] | None = None, *, file: str | Path | None = None) -> list[Effective]:
    """Every setting as `load` has it, in the order of the tree; a table of several sources names all of them."""
    loaded = sources(values, file)
    settings = _merge(loaded).to_dict()
    return [_effective(name, settings, loaded) for name in fields()]


def key_for(spec: str, *, url: str | None, key: Secret | None) -> Secret | None:
    """Key of an engine: that of the settings, else of its provider's variable (OPENAI_API_KEY and the like).

    The variable's key is sent to the provider's own address only.
    """
    variable = _KEY_VARIABLES.get(spec.partition(":")[0])
    if key is not None or url is not None or variable is None:
        return key
    value = os.environ.get(variable)
    return Secret(value) if value else None


def describe_missing_key(settings: Settings) -> str | None:
    """Sentence that says that the embedder has no key, and which setting gives one; None where it needs none."""
    embedding = settings.embedding
    variable = _KEY_VARIABLES.get(embedding.model.partition(":")[0])
    if variable is None or embedding.url is not None or key_for(embedding.model, url=None, key=embedding.key):
        return None
    return f"the embedder {embedding.model} has no key, so searches go by keywords: set embedding.key or {variable}"


def _effective(name: str, settings: dict[str, Any], loaded: Iterable[Source]) -> Effective:
    path = name.split(".")
    value: Any = reduce(getitem, path, settings)
    if Secret in get_args(fields()[name].annotation) and not isinstance(value, dict):
        value = "not set" if value is None else "set"
    origins = _origins(path, loaded) or [DEFAULT]
    return Effective(name, value, ", ".join(origins) if isinstance(value, dict) else origins[0])


def _merge(loaded: Iterable[Source]) -> Settings:
    merged: dict[str, Any] = {}
    for source in loaded:
        merged = _under(merged, source.values)
    try:
        return Settings(**merged)
    except InvalidSetting as error:
        raise InvalidInput(_describe_error(error, loaded)) from error


def _under(upper: Mapping[str, Any], lower: Mapping[str, Any]) -> dict[str, Any]:
    """Both, table by table; `upper` wins."""
    both = {**lower, **upper}
    for name in upper.keys() & lower.keys():
        if isinstance(upper[name], dict) and isinstance(lower[name], dict):
            both[name] = _under(upper[name], lower[name])
    return both


def _describe_error(error: InvalidSetting, loaded: Iterable[Source]) -> str:
    path = error.path
    name, value = ".".join(path), repr(error.value)
    is_section = name not in fields()
    origins = _origins(path, loaded)
    shown = "" if is_section or path[-1] in _SECRET or "://" in value else f" = {value:.80}"
    origin = ", ".join(origins) if is_section else origins[0]
    return f"setting {name}{shown}, given by {origin}: {error}"


def _origins(path: Sequence[str], loaded: Iterable[Source]) -> list[str]:
    """Names of the sources of a setting, or of any setting of a section, in order of precedence."""
    return [source.origin for source in loaded if _contains(source.values, path)]


def _contains(values: object, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True
