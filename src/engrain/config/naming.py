"""Whether the names of what was given are settings, and if not, which one was meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from engrain.config.tree import Settings, dotted_names, sections
from engrain.errors import InvalidInput


def check(given: Mapping[str, object], *, origin: str) -> None:
    """Nothing, where every name of a nested mapping is a setting.

    Raises:
        InvalidInput: a name that is none, with the nearest one that is; a section that is no table.
    """
    inner = sections()
    for name, value in given.items():
        if name not in Settings.model_fields:
            raise unknown(name, origin=origin)
        section = inner.get(name)
        if section is None:
            continue
        if not isinstance(value, Mapping):
            raise InvalidInput(
                f"setting {name}, given by {origin}, is a table of {', '.join(section.model_fields)}, not "
                f"{type(value).__name__}"
            )
        for each in value:
            if each not in section.model_fields:
                raise unknown(f"{name}.{each}", origin=origin)


def unknown(name: str, *, origin: str) -> InvalidInput:
    """The refusal of a dotted name that is no setting."""
    return InvalidInput(f"setting {name:.80}, given by {origin:.300}, is unknown; {_hint(name)}")


def _hint(name: str) -> str:
    known = dotted_names()
    if name in known:  # written with its dot where a table belongs
        section, _, leaf = name.partition(".")
        return f"write it within its section, as {{{section!r}: {{{leaf!r}: ...}}}}"
    near = _nearest(name.lower(), known)
    if near is not None:
        return f"did you mean {near}?"
    of = sections().get(name.partition(".")[0], Settings)
    return f"known are: {', '.join(of.model_fields)}"


def _nearest(name: str, known: list[str]) -> str | None:
    """The setting, or the section, that reads most alike; else the one whose last part does."""
    candidates = [*known, *sections()]
    alike = difflib.get_close_matches(name, candidates, n=1)
    if alike:
        return alike[0]
    by_leaf = {each.rpartition(".")[2]: each for each in reversed(known)}
    alike = difflib.get_close_matches(name.rpartition(".")[2], by_leaf, n=1)
    return by_leaf[alike[0]] if alike else None
