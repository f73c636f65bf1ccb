"""Names of settings: checks of the names in a source, with suggestions for wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engrain.config.tree import Settings, fields, section
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from engrain.config.section import Section


def check(
    values: Mapping[str, object], *, origin: str, model: type[Section] | Section = Settings, path: tuple[str, ...] = ()
) -> None:
    """Check that every name of a nested mapping, found at `path`, is a setting.

    Raises:
        InvalidInput: an unknown name, with the nearest known one; a section that is no table.
    """
    for name, value in values.items():
        here = (*path, name)
        if name not in model.declared:
            raise _unknown(here, model, origin)
        inner = section(model, name)
        if inner is None:
            continue
        if not isinstance(value, Mapping):
            members = f"a table of {', '.join(inner.declared)}"
            raise InvalidInput(f"setting {'.'.join(here)}, given by {origin}, is {members}, not {type(value).__name__}")
        check(value, origin=origin, model=inner, path=here)


def _unknown(path: tuple[str, ...], model: type[Section] | Section, origin: str) -> InvalidInput:
    name = ".".join(path)
    return InvalidInput(f"setting {name:.80}, given by {origin:.300}, is unknown; {_hint(path, model)}")


def _hint(path: tuple[str, ...], model: type[Section] | Section) -> str:
    if "." in path[-1] and path[-1] in fields():
        outer, _, leaf = path[-1].rpartition(".")
        return f"write it within its section, as {{{outer!r}: {{{leaf!r}: ...}}}}"
    near = _nearest(path, model)
    return f"known are: {', '.join(model.declared)}" if near is None else f"did you mean {near}?"


def _nearest(path: tuple[str, ...], model: type[Section] | Section) -> str | None:
    """The most similar name of the section, or of the tree; else the setting with the most similar last part."""
    import difflib  # only for a wrong name

    *outer, leaf = path
    known = list(fields())
    nearby = model.declared if outer else [*known, *model.declared]
    alike = difflib.get_close_matches(leaf.lower(), nearby, n=1)
    if alike:
        return ".".join([*outer, alike[0]])
    by_leaf = {name.rpartition(".")[2]: name for name in reversed(known)}
    alike = difflib.get_close_matches(leaf.lower(), by_leaf, n=1)
    return by_leaf[alike[0]] if alike else None
