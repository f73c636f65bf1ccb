"""Regular expressions that are compiled when they are first used. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

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


class KeyedPatterns:
    """Patterns of phrases, each looked for only in texts that have one of its keys: words of ASCII letters.

    `phrases` are lines of `key key: pattern | pattern`, `words` patterns that are their own keys.
    """

    def __init__(self, phrases: str, *, words: str) -> None:
        by_key: dict[bytes, list[str]] = {word.encode(): [word] for word in words.split()}
        for keys, patterns in re.findall(r"^ +([a-z ]+):\s+(.+)$", phrases, re.MULTILINE):
            for key in keys.encode().split():
                by_key.setdefault(key, []).extend(patterns.split(" | "))
        self._by_key = {key: lazy_pattern(rf"\b(?:{'|'.join(found)})\b", re.VERBOSE) for key, found in by_key.items()}
        self.keys = frozenset(by_key)

    def is_in(self, text: str, words: Iterable[bytes]) -> bool:
        """True if any phrase is in a text of these words."""
        return any(self._by_key[key].search(text) for key in self.keys.intersection(words))
