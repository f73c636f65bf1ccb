"""Sources of settings: the caller, environment variables, a TOML file, and the defaults of a predecessor."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

from engrain.config import names, predecessors, trust
from engrain.config.section import Section
from engrain.config.tree import ENV_DELIMITER, ENV_PREFIX, Settings, section
from engrain.errors import InvalidInput

TOML_FILE = "engrain.toml"
CONFIG_VARIABLE = "ENGRAIN_CONFIG"
CALLER = "the caller"
DEFAULTS_OF = "the defaults of"
_HOST_TABLE = ("modules", "memory")
_OF_THE_TEST_SUITES = "ENGRAIN_TEST_"
_IN_NO_WORD = re.compile(r"[\s\[\]{}\"]")  # of a list without JSON


@dataclass(frozen=True, slots=True)
class Source:
    """One source of settings: its name, nested values whose names have been checked, and what is unsafe about it."""

    origin: str
    values: Mapping[str, Any]
    warning: str | None = None


def sources(values: object, file: str | Path | None) -> list[Source]:
    """Sources in order of precedence: the caller, variables (the most specific first), one file, defaults.

    Raises:
        InvalidInput: an unknown name, a section that is no table, a file that is missing or no TOML.
        UntrustedSettings: a file that was found, not named, sets what only a trusted one may.
    """
    explicit = [_caller(values), *_environment(), *_file(file)]
    system = next((source.values["defaults"] for source in explicit if "defaults" in source.values), None)
    defaults = predecessors.DEFAULTS.get(system) if isinstance(system, str) else None
    return explicit if defaults is None else [*explicit, Source(f"{DEFAULTS_OF} {system}", defaults)]


def _caller(values: object) -> Source:
    if values is None:
        return Source(CALLER, {})
    if not isinstance(values, Mapping) or not _all_text(values):
        raise InvalidInput(f"settings must be a mapping of names to values, not {values!r:.80}")
    names.check(values, origin=CALLER)
    return Source(CALLER, _as_dict(values))


def _all_text(values: Mapping[object, object]) -> bool:
    return all(
        isinstance(name, str) and (not isinstance(inner, Mapping) or _all_text(inner)) for name, inner in values.items()
    )


def _as_dict(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dicts from any mappings, as sections are made of dicts."""
    return {name: _as_dict(inner) if isinstance(inner, Mapping) else inner for name, inner in values.items()}


def _environment() -> Iterator[Source]:
    """One source for each variable, in any case, so that errors can name it."""
    paths = {
        variable: variable.upper().removeprefix(ENV_PREFIX).lower().split(ENV_DELIMITER)
        for variable in os.environ
        if _is_ours(variable.upper())
    }
    for variable in sorted(paths, key=lambda name: (-len(paths[name]), name)):
        path = paths[variable]
        names.check(_nested(path, {}), origin=variable)
        values = _nested(path, _parse_variable(variable, path))
        names.check(values, origin=variable)
        yield Source(variable, values)


def _parse_variable(variable: str, path: list[str]) -> Any:
    """Read a variable: JSON where it has a table or a list, which may be plain words with commas between them."""
    text, type_ = os.environ[variable], _type(path)
    if type_ not in {dict, list, tuple}:
        return text
    is_list = type_ is not dict
    words = [word.strip() for word in text.split(",") if word.strip()]
    if is_list and not any(_IN_NO_WORD.search(word) for word in words):
        return words
    try:
        return json.loads(text)
    except ValueError as error:
        expected = 'list: write one,two, or as JSON ["one", "two"]' if is_list else "JSON, as a table must be"
        raise InvalidInput(f"setting {'.'.join(path)}, given by {variable}, is no {expected}") from error


def _type(path: list[str]) -> Any:
    """Return what a section or a setting with several values is made as: dict, list or tuple; else anything."""
    model: type[Section] | Section = Settings
    for name in path[:-1]:
        inner = section(model, name)
        if inner is None:
            return None
        model = inner
    declared = model.declared[path[-1]]
    return dict if isinstance(declared, Section) else get_origin(declared.annotation)


def _is_ours(variable: str) -> bool:
    """True for a variable that is a setting; some name the file of settings, or servers of the test suites."""
    return (
        variable.startswith(ENV_PREFIX) and variable != CONFIG_VARIABLE and not variable.startswith(_OF_THE_TEST_SUITES)
    )


def _nested(path: list[str], value: Any) -> Any:
    """`{"a": {"b": value}}` for a path of a and b."""
    return {path[0]: _nested(path[1:], value)} if path else value


def _file(named: str | Path | None) -> Iterator[Source]:
    """The file the caller names, else that of ENGRAIN_CONFIG, else engrain.toml if it exists."""
    if named is not None and not isinstance(named, str | Path):
        raise InvalidInput(f"config must be the path of a TOML file, not {named!r:.80}")
    named = named or os.environ.get(CONFIG_VARIABLE) or None
    if named is None and not Path(TOML_FILE).is_file():  # nor has a working folder that is gone
        return
    path = _absolute(TOML_FILE if named is None else named)
    content, status = _read(path)
    origin, values = _checked(path, content, is_named=named is not None)
    trust.check(path, content, status, values, is_named=named is not None)
    yield Source(origin, values, warning=trust.exposed_secrets(path, status, values))


def trust_file(named: str | None) -> tuple[Path, list[str]]:
    """Trust a settings file, or that of the working folder, as it is now; its path, and what needs the trust.

    Raises:
        InvalidInput: it is missing, no TOML, or sets an unknown name.
    """
    path = _absolute(named or TOML_FILE)
    content, _ = _read(path)
    _, values = _checked(path, content, is_named=named is not None)
    trust.trust(path, content)
    return path, trust.needing_trust(values)


def revoke_trust(named: str | None) -> tuple[Path, bool]:
    """Trust a settings file no longer; its path, and whether it was trusted."""
    path = _absolute(named or TOML_FILE)
    return path, trust.revoke(path)


def _checked(path: Path, content: bytes, *, is_named: bool) -> tuple[str, Mapping[str, Any]]:
    """Origin and values of a file's settings, their names checked; a named file may be a host's."""
    origin, values = str(path), _parsed(path, content)
    if is_named and _HOST_TABLE[0] in values:
        origin = f"[{'.'.join(_HOST_TABLE)}] of {path}"
        values = predecessors.translate_names(_of_host(values, path), origin=origin)
    names.check(values, origin=origin)
    return origin, values


def _read(path: Path) -> tuple[bytes, os.stat_result]:
    """Content of a settings file, and the owner and mode of just what was read."""
    try:
        with path.open("rb") as file:
            return file.read(), os.fstat(file.fileno())
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}; name a TOML file") from error
    except ValueError as error:  # a NUL in its name
        raise InvalidInput(f"{str(path)!r:.300} is no path: {error}; name a TOML file") from error


def _absolute(path: str | Path) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:  # ~name of an unknown user
        raise InvalidInput(f"{str(path)!r:.300} names the folder of a user who does not exist") from error


def _parsed(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib  # only where there is a file

    try:
        return tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML in UTF-8: {error}; correct it") from error


def _of_host(document: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The table [modules.memory] of a host's file; the rest of it is the host's."""
    table: Any = document
    for name in _HOST_TABLE:
        table = table.get(name) if isinstance(table, Mapping) else None
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{path} is a host's file and has no table [{'.'.join(_HOST_TABLE)}]; add one")
    return table
