"""Settings: the only reader of the environment and of TOML files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, get_args

from pydantic import SecretStr, ValidationError

from engrain.config.sources import CALLER, CONFIG_VARIABLE, TOML_FILE, Given, sources
from engrain.config.tree import ENV_DELIMITER, ENV_PREFIX, Settings, default_location, fields
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

__all__ = [
    "CALLER",
    "CONFIG_VARIABLE",
    "DEFAULT",
    "ENV_DELIMITER",
    "ENV_PREFIX",
    "TOML_FILE",
    "Effective",
    "Settings",
    "default_location",
    "effective",
    "key_for",
    "load",
]

DEFAULT = "default"
# Where services' own clients look for their keys.
_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "cohere": "COHERE_API_KEY"}
# What no message may quote, in any section; a rejected address may hold what it should not.
_SECRET = frozenset({"key", "url"})


@dataclass(frozen=True, slots=True)
class Effective:
    """One setting in force: its dotted name, its value as JSON (of a key only whether it is set), and who gave it."""

    name: str
    value: Any
    origin: str


def load(values: Mapping[str, Any] | None = None, *, file: str | Path | None = None) -> Settings:
    """The settings in force: `values`, nested as the tree is, over the environment over one TOML file.

    The file is `file`, else the one that ENGRAIN_CONFIG names, else `engrain.toml` of the working folder. A file that
    is named may also be a host's, whose table `[modules.memory]` is read.

    Raises:
        InvalidInput: an unknown name (with the nearest known one), or a value of the wrong type or range; the message
            says which source gave it. A named file that is missing.
    """
    return _settled(sources(values, file))


def effective(values: Mapping[str, Any] | None = None, *, file: str | Path | None = None) -> list[Effective]:
    """Every setting as `load` has it, in the order of the tree; a table of several sources names all of them."""
    given = sources(values, file)
    settings = _settled(given).model_dump(mode="json")
    return [_effective(name, settings, given) for name in fields()]


def key_for(spec: str, *, url: str | None, key: SecretStr | None) -> SecretStr | None:
    """The key for an engine: the settings' own, else what its provider's variable holds (OPENAI_API_KEY and the like).

    That one is for the provider's own address, and goes to no other.
    """
    variable = _KEY_VARIABLES.get(spec.partition(":")[0])
    if key is not None or url is not None or variable is None:
        return key
    held = os.environ.get(variable)
    return SecretStr(held) if held else None


def _effective(name: str, settings: dict[str, Any], given: Iterable[Given]) -> Effective:
    path = name.split(".")
    value: Any = reduce(getitem, path, settings)
    if SecretStr in get_args(fields()[name].annotation):
        value = "not set" if value is None else "set"
    origins = _origins(path, given) or [DEFAULT]
    return Effective(name, value, ", ".join(origins) if isinstance(value, dict) else origins[0])


def _settled(given: Iterable[Given]) -> Settings:
    merged: dict[str, Any] = {}
    for each in given:
        merged = _under(merged, each.values)
    try:
        return Settings(**merged)
    except ValidationError as error:
        raise InvalidInput(_refusal(error.errors()[0], given)) from error


def _under(upper: Mapping[str, Any], lower: Mapping[str, Any]) -> dict[str, Any]:
    """Both, table by table; what `upper` says wins."""
    both = {**lower, **upper}
    for name in upper.keys() & lower.keys():
        if isinstance(upper[name], dict) and isinstance(lower[name], dict):
            both[name] = _under(upper[name], lower[name])
    return both


def _refusal(error: ErrorDetails, given: Iterable[Given]) -> str:
    path = [str(part) for part in error["loc"]]
    name, value = ".".join(path), repr(error["input"])
    is_section = name not in fields()
    origins = _origins(path, given)
    shown = "" if is_section or path[-1] in _SECRET or "://" in value else f" = {value:.80}"
    origin = ", ".join(origins) if is_section else origins[0]
    return f"setting {name}{shown}, given by {origin}: {error['msg'].removeprefix('Value error, ')}"


def _origins(path: Sequence[str], given: Iterable[Given]) -> list[str]:
    """Who says something about a setting, or about one of a section; the one that wins first."""
    return [each.origin for each in given if _says(each.values, path)]


def _says(values: object, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True
