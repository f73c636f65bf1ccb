"""Items: exact JSON objects by namespace and key; their names, the fields that are searched, and filters on fields."""

from __future__ import annotations

import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engrain.domain import checks
from engrain.domain.records import Record
from engrain.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

MOST_CHANGES = 1_000  # of one call
MOST_FIELDS = 100
MOST_LABELS = 100
MOST_TTL_S = 36_500 * 86_400.0
# PostgreSQL indexes 2,704 bytes: of these names, a tenant's and a scope's.
MOST_ADDRESS_BYTES = 1_536
WHOLE = "$"  # the field that is the whole value
ANY_LABEL = "*"
_TOKEN = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|[^.\[\]{}]+")

Namespace = tuple[str, ...]


class ItemAddress(NamedTuple):
    """Name of an item: the labels of its namespace, and its key."""

    namespace: Namespace
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem(Record):
    """An item: its value as it was given, and its version, which grows with every write.

    `score` is how well it answers a query; None without one, and of an item that is not indexed.
    """

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any] = field(hash=False)
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenItem(Record):
    """Result of a write: the version that the item has now, 0 where it was deleted, and whether there was one."""

    namespace: tuple[str, ...]
    key: str
    version: int
    existed: bool
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemNamespace(Record):
    """A namespace, and how many items are in it, and in those below where it was cut."""

    namespace: tuple[str, ...]
    items: int


class IndexEntry(NamedTuple):
    """Index of an item: its words as `bm25` packs them, and vectors as bytes, of which embedder and length."""

    words: int
    packed: bytes
    embedder: str | None = None
    vectors: bytes | None = None


class ItemChange(NamedTuple):
    """A write of one item: its value in ASCII JSON, None to delete it.

    `expected_version` is the version that it must have, 0 for none at all.
    """

    address: ItemAddress
    text: str | None = None
    fields: tuple[str, ...] = ()
    ttl_s: float | None = None
    expected_version: int | None = None
    keep_history: bool = False
    entry: IndexEntry | None = None


def parse_namespace(value: object, *, name: str = "namespace") -> Namespace:
    """Return the labels of a namespace from one label or several; None is the namespace that has no label.

    Raises:
        InvalidInput: no labels, more than 100, or one that is no exact name.
    """
    if value is None:
        return ()
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a label or a list of labels, not {type(value).__name__}")
    labels = (value,) if isinstance(value, str) else tuple(value)
    if len(labels) > MOST_LABELS:
        raise InvalidInput(f"{name} has {len(labels):,} labels; the most is {MOST_LABELS}")
    return tuple(checks.exact_name(label, name=f"label of {name}") for label in labels)


def check_address(namespace: Namespace, key: object) -> ItemAddress:
    """Return the address of a key.

    Raises:
        InvalidInput: the key is no exact name, or they are too long together.
    """
    address = ItemAddress(namespace, checks.exact_name(key, name="key"))
    size = len(encode_namespace(namespace).encode()) + len(address.key.encode())
    if size > MOST_ADDRESS_BYTES:
        raise InvalidInput(f"namespace and key have {size:,} bytes; at most {MOST_ADDRESS_BYTES:,}: shorten them")
    return address


def parse_fields(value: object) -> tuple[str, ...]:
    """Return the paths of the fields that are searched.

    Raises:
        InvalidInput: no list of paths, too many, or a path with a bracket or brace that is not closed.
    """
    if value is None:
        return ()
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"index must be a list of fields, not {type(value).__name__}")
    paths = tuple(checks.exact_name(path, name="field") for path in ([value] if isinstance(value, str) else value))
    if len(paths) > MOST_FIELDS:
        raise InvalidInput(f"index has {len(paths):,} fields; the most is {MOST_FIELDS}")
    for path in paths:
        if path != WHOLE and "".join(_TOKEN.findall(path)) != path.replace(".", ""):
            raise InvalidInput(
                f"field {path!r:.80} is no path, such as title, author.name, tags[*] or chapters[0].text"
            )
    return paths


def encode_namespace(labels: Iterable[str]) -> str:
    """Return a namespace as one text that begins with those of the namespaces above it: `/users/ana/`."""
    return "/" + "".join(f"{label.replace('%', '%25').replace('/', '%2F')}/" for label in labels)


def decode_namespace(text: str) -> Namespace:
    """Return the labels of an encoded namespace."""
    return tuple(label.replace("%2F", "/").replace("%25", "%") for label in text.split("/")[1:-1])


def below(labels: Iterable[str]) -> dict[str, str]:
    """Return the bounds of the encoded namespaces that begin with these labels: the first, and one past the last."""
    low = encode_namespace(labels)
    return {"low": low, "high": f"{low[:-1]}0"}  # 0 comes after /


def is_prefix(pattern: Namespace, labels: Namespace) -> bool:
    """Tell whether a namespace begins with a pattern, in which `*` is any label."""
    return len(labels) >= len(pattern) and all(
        wanted in (ANY_LABEL, label) for wanted, label in zip(pattern, labels, strict=False)
    )


def is_suffix(pattern: Namespace, labels: Namespace) -> bool:
    """Tell whether a namespace ends with a pattern, in which `*` is any label."""
    return is_prefix(pattern[::-1], labels[::-1])


def find_texts(value: Any, paths: Iterable[str]) -> list[str]:
    """Return the texts of some fields of a value: each path may name none, one or several."""
    return [text.encode("utf-8", "replace").decode() for path in paths for text in _find_texts(value, path)]


def _find_texts(value: Any, path: str) -> Iterator[str]:
    if path == WHOLE:
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
    else:
        yield from _follow(value, _TOKEN.findall(path))


def _follow(value: Any, tokens: Sequence[str]) -> Iterator[str]:
    """Yield the texts at the end of a path, with numbers and whole objects as JSON."""
    if not tokens:
        if value is not None:
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        return
    head, rest = tokens[0], tokens[1:]
    if head.startswith("{"):
        for part in head[1:-1].split(","):
            yield from _follow(value, [*_TOKEN.findall(part.strip()), *rest])
        return
    for inner in _step(value, head):
        yield from _follow(inner, rest)


def _step(value: Any, token: str) -> Iterable[Any]:
    """Return what one step of a path leads to."""
    if token in ("*", "[*]"):
        return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if token.startswith("["):
        place = token[1:-1].strip()
        is_index = isinstance(value, list) and place.lstrip("-").isdigit() and -len(value) <= int(place) < len(value)
        return [value[int(place)]] if is_index else []
    return [value[token]] if isinstance(value, dict) and token in value else []


def parse_filter(value: object) -> dict[str, Any]:
    """Return conditions on fields, by the names of the fields.

    Raises:
        InvalidInput: no JSON object, or an unknown operator.
    """
    if value is None:
        return {}
    conditions, _ = checks.json_object(value, name="fields")
    for condition in conditions.values():
        if _is_comparison(condition):
            for comparison in condition:
                checks.choice(comparison, _OPERATORS, name="operator of fields")
    return conditions


def matches(value: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Tell whether a value meets all conditions on its fields."""
    return all(_meets(value.get(name), condition) for name, condition in conditions.items())


def _meets(actual: Any, condition: Any) -> bool:
    if _is_comparison(condition):
        return all(_OPERATORS[comparison](actual, operand) for comparison, operand in condition.items())
    if isinstance(condition, dict):
        return isinstance(actual, dict) and matches(actual, condition)
    return _is_equal(actual, condition)


def _is_comparison(condition: Any) -> bool:
    return isinstance(condition, dict) and any(name.startswith("$") for name in condition)


def _is_equal(first: Any, second: Any) -> bool:
    """Compare as JSON: true is not 1."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_is_equal, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_is_equal(first[name], second[name]) for name in first)
    return isinstance(first, bool) is isinstance(second, bool) and bool(first == second)


def _compare(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return the comparison of two numbers or two texts; nothing else compares."""

    def compare(first: Any, second: Any) -> bool:
        numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (first, second))
        texts = isinstance(first, str) and isinstance(second, str)
        return (numbers or texts) and holds(first, second)

    return compare


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": _is_equal,
    "$ne": lambda first, second: not _is_equal(first, second),
    "$gt": _compare(operator.gt),
    "$gte": _compare(operator.ge),
    "$lt": _compare(operator.lt),
    "$lte": _compare(operator.le),
}


def digest_item(address: ItemAddress, version: int) -> str:
    """Return the digest of a deleted item for its tombstone: of its name and version."""
    return hashlib.sha256(repr((address, version)).encode()).hexdigest()
