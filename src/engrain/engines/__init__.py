"""What computes: `"provider:model"` strings to the one engine of that name in the process."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Final

from engrain.engines.minilm import MiniLM
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engrain.domain.ports import Embedder

_MODELS: Final[Mapping[str, str]] = {"minilm": MiniLM.name, MiniLM.name: MiniLM.name, "none": "none"}


def embedder(spec: str, *, threads: int | None = None) -> Embedder | None:
    """The embedder named `"provider:model"`, or `"provider"` for its default model; None for `"none"`.

    The same name and number of threads give the same object, so a model is loaded once per process, on first use: this
    loads nothing.

    Raises:
        InvalidInput: no such embedder; the message names the nearest and the known ones.
    """
    if spec not in _MODELS:
        nearest = get_close_matches(spec, _MODELS, n=1)
        suggestion = f"did you mean {nearest[0]!r}? " if nearest else ""
        raise InvalidInput(f"unknown embedder {spec!r}: {suggestion}known are {', '.join(_MODELS)}")
    return None if spec == "none" else _minilm(threads)


@cache
def _minilm(threads: int | None) -> MiniLM:
    return MiniLM(threads=threads)
