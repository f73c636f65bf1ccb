"""Regular expressions that are compiled when they are first used. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn", "pattern", "flags")

_PHRASES = re.compile(r"^ +([a-z+ ]+):\s+(.+)$", re.MULTILINE)


class _LazyPattern:
    """A pattern that has no method of its own until the first one is asked for."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def join_phrases(phrases: str, parts: Mapping[str, str]) -> str:
    """Make the source of a pattern of phrases, one or more a line, with parts that several share by name."""
    source = "|".join(filter(None, map(str.strip, phrases.splitlines())))
    for name, part in parts.items():
        source = source.replace(name, part)
    return source


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Make a pattern that the first call of one of its methods compiles; later calls cost what a pattern's do.

    Python compiles the patterns of a module while it is imported, and a process that stores one turn imports those by
    which texts in seven languages are read: 57 of the 63 ms that its patterns took were for some that it never used.
    """
    return cast("re.Pattern[str]", _LazyPattern(source, flags))


class KeyedPatterns:
    """Patterns of phrases, each looked for only in texts that have its keys: words of ASCII letters.

    `phrases` are lines of `key key: pattern | pattern`, where a key of several words (`all+after`) needs them all;
    `words` are patterns that are their own keys.
    """

    def __init__(self, phrases: str, *, words: str) -> None:
        self._words = frozenset(words.encode().split())
        lines = [(keys, patterns.split(" | ")) for keys, patterns in _PHRASES.findall(phrases)]
        found: dict[bytes, dict[frozenset[bytes], list[str]]] = {}
        for keys, patterns in [*lines, *((word, [word]) for word in words.split())]:
            for key in keys.encode().split():
                first, *others = key.split(b"+")
                found.setdefault(first, {}).setdefault(frozenset(others), []).extend(patterns)
        self._by_key = {
            key: [(others, lazy_pattern(_join(patterns), re.VERBOSE)) for others, patterns in of_key.items()]
            for key, of_key in found.items()
        }
        self.keys = frozenset(found)
        self.source = _join([pattern for _, patterns in lines for pattern in patterns] + words.split())

    def is_in(self, text: str, words: AbstractSet[bytes]) -> bool:
        """True if any phrase is in a text of these words."""
        keys = self.keys & words
        if not keys:
            return False
        # Here the edges of ASCII words are those of any words.
        if not keys.isdisjoint(self._words) and text.isascii() and "_" not in text:
            return True
        for key in keys:
            for others, pattern in self._by_key[key]:
                if others <= words and pattern.search(text):
                    return True
        return False


def _join(patterns: Iterable[str]) -> str:
    return rf"\b(?:{'|'.join(patterns)})\b"
