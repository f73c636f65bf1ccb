"""Settings: the only reader of the environment and of TOML files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr, ValidationError

from engrain.config.sources import CONFIG_VARIABLE, TOML_FILE, Given, sources
from engrain.config.tree import ENV_DELIMITER, ENV_PREFIX, Settings, default_location, dotted_names
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails

__all__ = [
    "CONFIG_VARIABLE",
    "ENV_DELIMITER",
    "ENV_PREFIX",
    "TOML_FILE",
    "Settings",
    "default_location",
    "dotted_names",
    "key_for",
    "load",
]

# Where services' own clients look for their keys.
_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "cohere": "COHERE_API_KEY"}
# What no message may quote, in any section; a rejected address may hold what it should not.
_SECRET = frozenset({"key", "url"})


def load(values: Mapping[str, Any] | None = None, *, file: str | Path | None = None) -> Settings:
    """The settings in force: `values`, nested as the tree is, over the environment over one TOML file.

    The file is `file`, else the one that ENGRAIN_CONFIG names, else `engrain.toml` of the working folder. A file that
    is named may also be a host's, whose table `[modules.memory]` is read.

    Raises:
        InvalidInput: an unknown name (with the nearest known one), or a value of the wrong type or range; the message
            says which source gave it. A named file that is missing.
    """
    given = sources(values, file)
    try:
        return Settings(**_merged(given))
    except ValidationError as error:
        raise InvalidInput(_refusal(error.errors()[0], given)) from error


def key_for(spec: str, *, url: str | None, key: SecretStr | None) -> SecretStr | None:
    """The key for an engine: the settings' own, else what its provider's variable holds (OPENAI_API_KEY and the like).

    That one is for the provider's own address, and goes to no other.
    """
    variable = _KEY_VARIABLES.get(spec.partition(":")[0])
    if key is not None or url is not None or variable is None:
        return key
    held = os.environ.get(variable)
    return SecretStr(held) if held else None


def _merged(given: Iterable[Given]) -> dict[str, Any]:
    """The values of all sources, the first that says something winning, table by table."""
    merged: dict[str, Any] = {}
    for each in given:
        merged = _under(merged, each.values)
    return merged


def _under(upper: Mapping[str, Any], lower: Mapping[str, Any]) -> dict[str, Any]:
    both = {**lower, **upper}
    for name in upper.keys() & lower.keys():
        if isinstance(upper[name], Mapping) and isinstance(lower[name], Mapping):
            both[name] = _under(upper[name], lower[name])
    return both


def _refusal(error: ErrorDetails, given: Iterable[Given]) -> str:
    path = [str(part) for part in error["loc"]]
    value = repr(error["input"])
    shown = "" if path[-1] in _SECRET or "://" in value else f" = {value:.80}"
    return f"setting {'.'.join(path)}{shown}, given by {_origin(path, given)}: {error['msg']}"


def _origin(path: Iterable[str], given: Iterable[Given]) -> str:
    """The source that won; a setting that was refused has one."""
    return next(each.origin for each in given if _says(each.values, path))


def _says(values: object, path: Iterable[str]) -> bool:
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return False
        values = values[name]
    return True
