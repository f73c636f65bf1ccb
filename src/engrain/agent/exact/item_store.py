"""Item store of an agent: exact JSON objects by namespace and key, with versions, filters and a search."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from engrain.agent.exact import item_index
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.agent.wiring.view import View
from engrain.domain import checks, pagination
from engrain.domain.items import (
    ANY_LABEL,
    MOST_CHANGES,
    MOST_LABELS,
    MOST_TTL_S,
    ItemAddress,
    ItemChange,
    ItemNamespace,
    Namespace,
    StoredItem,
    WrittenItem,
    check_address,
    decode_namespace,
    encode_namespace,
    find_texts,
    is_prefix,
    is_suffix,
    parse_fields,
    parse_filter,
    parse_namespace,
)
from engrain.domain.pagination import Page
from engrain.errors import InvalidInput
from engrain.storage.exact import items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from engrain.agent.wiring.parts import Parts
    from engrain.domain.records import Caller
    from engrain.storage.exact.items import ItemRow
    from engrain.verbs import exact_words, words

_HIGHEST_VERSION = 2**53 - 1
_LIST, _RANKING, _NAMESPACES = "store.search", "store.search of a query", "store.namespaces"
_HIGHEST_RANK = 10**9
_CHANGE = frozenset("namespace key value index ttl_s expected_version keep_history".split())


@instrument("store")
class ItemStore(View):
    """Exact JSON objects by namespace and key, which this agent alone sees, for its user.

    `agent.store(["users", "ana"])` has the verbs of one namespace; those of `agent.store` name it in `namespace`. What
    comes back is what was given, and nothing of it is masked, learned from or faded. Overwriting leaves no history,
    unless it is asked for.
    """

    __slots__ = ("_namespace",)

    def __init__(self, parts: Callable[[], Parts], caller: Caller, namespace: Namespace = ()) -> None:
        """Made by `Agent.store`."""
        super().__init__(parts, caller)
        self._namespace = namespace

    def __call__(self, namespace: exact_words.ItemNamespaceName) -> ItemStore:
        """Return the verbs of a namespace: of one label, or of several.

        Raises:
            InvalidInput: a label that is empty, too long, or no text that both databases have.
        """
        return type(self)(self._parts, self._caller, parse_namespace(namespace))

    @property
    def _defaults(self) -> Mapping[str, Any]:
        return {"namespace": list(self._namespace)}

    def put(
        self,
        key: exact_words.ItemKey,
        value: exact_words.ItemValue,
        *,
        namespace: exact_words.ItemNamespaceName | None = None,
        index: exact_words.IndexedFields | None = None,
        ttl_s: exact_words.TtlSeconds | None = None,
        expected_version: exact_words.ExpectedVersion | None = None,
        keep_history: exact_words.KeepHistory = False,
    ) -> WrittenItem:
        """Put a JSON object under a key, in the place of the one that was there; its version grows.

        Raises:
            VersionConflict: it has another version than `expected_version`.
            InvalidInput: no JSON object, one that is deeper than 100 levels or longer than 10 MB, or a name, field,
                version or time to live that is none; nothing was written.
        """
        options = {"index": index, "ttl_s": ttl_s, "expected_version": expected_version, "keep_history": keep_history}
        checks.json_object(value, name="value")  # None would delete it
        return self._write([self._parse_change({"namespace": namespace, "key": key, "value": value, **options})])[0]

    def get(
        self,
        key: exact_words.ItemKey,
        *,
        namespace: exact_words.ItemNamespaceName | None = None,
        refresh: exact_words.RefreshTtl = False,
    ) -> StoredItem | None:
        """Read the item of a key; None where there is none."""
        parts, address = self._parts(), self._address(namespace, key)
        refreshes, now = checks.flag(refresh, name="refresh"), parts.clock()
        found = parts.store.read(self._caller, items.find, address, now=now)
        return None if found is None else self._give([found], now, refresh=refreshes)[0]

    def delete(
        self,
        key: exact_words.ItemKey,
        *,
        namespace: exact_words.ItemNamespaceName | None = None,
        expected_version: exact_words.ExpectedVersion | None = None,
    ) -> bool:
        """Delete the item of a key with its history; give whether there was one. A restored backup has it no more.

        Raises:
            VersionConflict: it has another version than `expected_version`.
        """
        change = {"namespace": namespace, "key": key, "expected_version": expected_version}
        return self._write([self._parse_change(change)])[0].existed

    def write(
        self, changes: exact_words.ItemChanges, *, namespace: exact_words.ItemNamespaceName | None = None
    ) -> list[WrittenItem]:
        """Put and delete items in their order, all or none, as `put` and `delete` do; one without a value is deleted.

        Raises:
            VersionConflict: an item has another version than its `expected_version`; nothing was written.
        """
        own = self._chosen(namespace)
        listed = [change for change, _ in checks.json_objects(changes, name="changes", most=MOST_CHANGES)]
        parsed = []
        for index, change in enumerate(listed):
            with checks.locate(f"changes[{index}]"):
                parsed.append(self._parse_change({"namespace": own, **_check_change(change)}))
        return self._write(parsed)

    def search(
        self,
        query: exact_words.ItemQuery | None = None,
        *,
        namespace: exact_words.ItemNamespaceName | None = None,
        fields: exact_words.FieldConditions | None = None,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
        refresh: exact_words.RefreshTtl = False,
    ) -> Page[StoredItem]:
        """List the items of a namespace and of those below, last written first; with a query the best answers first.

        A query ranks the items that were put with an `index`, by words and by meaning; the others follow, without a
        score. Each page ranks anew.
        """
        parts, now = self._parts(), self._parts().clock()
        chosen, conditions = self._chosen(namespace), parse_filter(fields)
        most, refreshes = checks.count(limit, name="limit"), checks.flag(refresh, name="refresh")
        text = None if query is None else checks.query(query)
        if not text:
            position = pagination.decode_moment(_LIST, after)
            found = parts.store.read(
                self._caller, items.list_items, chosen, conditions, most + 1, now=now, after=position
            )
            page = pagination.cut(_LIST, found, most, lambda row: (row.item.updated_at, row.id))
            return Page(items=tuple(self._give(page.items, now, refresh=refreshes)), next=page.next)
        start = _decode_rank(after)
        end = start + most
        ranked = item_index.rank(parts, self._caller, chosen, text, conditions=conditions, now=now)
        if len(ranked) <= end:
            known = {row.id for row in ranked}
            listed = parts.store.read(self._caller, items.list_items, chosen, conditions, end + 1, now=now)
            ranked += [row for row in listed if row.id not in known]
        given = self._give(ranked[start:end], now, refresh=refreshes)
        more = bool(given) and len(ranked) > end
        return Page(items=tuple(given), next=pagination.encode(_RANKING, (str(end), "")) if more else None)

    def namespaces(
        self,
        *,
        namespace: exact_words.NamespacePattern | None = None,
        suffix: exact_words.NamespaceSuffix | None = None,
        depth: exact_words.NamespaceDepth | None = None,
        limit: words.PageLimit = 100,
        after: words.After | None = None,
    ) -> Page[ItemNamespace]:
        """List the namespaces that have items, below one, by their labels; `*` is any label."""
        parts, pattern, end = self._parts(), self._chosen(namespace), parse_namespace(suffix, name="suffix")
        most = checks.count(limit, name="limit")
        deepest = None if depth is None else checks.count(depth, name="depth", high=MOST_LABELS)
        position = pagination.decode(_NAMESPACES, after)
        known = next((place for place, label in enumerate(pattern) if label == ANY_LABEL), len(pattern))
        counted = parts.store.read(self._caller, items.count_namespaces, pattern[:known], now=parts.clock())
        totals: Counter[Namespace] = Counter()
        for labels, count in counted.items():
            if is_prefix(pattern, labels) and is_suffix(end, labels):
                totals[labels if deepest is None else labels[:deepest]] += count
        rows = [ItemNamespace(namespace=labels, items=count) for labels, count in sorted(totals.items())]
        if position is not None:
            rows = [row for row in rows if row.namespace > decode_namespace(position[0])]
        return pagination.cut(_NAMESPACES, rows, most, lambda row: (encode_namespace(row.namespace), ""))

    def history(
        self, key: exact_words.ItemKey, *, namespace: exact_words.ItemNamespaceName | None = None
    ) -> list[StoredItem]:
        """List the versions of an item that are there: the one it has, and those that `keep_history` kept."""
        parts, address = self._parts(), self._address(namespace, key)
        found = parts.store.read(self._caller, items.list_versions, address, now=parts.clock())
        return [row.item for row in found]

    def _write(self, changes: Sequence[ItemChange]) -> list[WrittenItem]:
        parts = self._parts()
        if not changes:
            return []
        ids = [parts.ids() for _ in range(2 * len(changes))]
        texts = [
            [] if change.text is None else find_texts(json.loads(change.text), change.fields) for change in changes
        ]
        complete = item_index.add_entries(parts, changes, texts)
        return parts.store.write(new_act(parts, self._caller), items.write, complete, ids=ids)

    def _give(self, rows: Sequence[ItemRow], now: datetime, *, refresh: bool) -> list[StoredItem]:
        """Return items, and begin their time to live anew."""
        living = [row for row in rows if row.ttl_s is not None] if refresh else []
        if not living:
            return [row.item for row in rows]
        parts = self._parts()
        parts.store.maintain(self._caller.tenant_id, items.refresh, self._caller.tenant_id, living, now)
        return [items.refreshed(row, now) for row in rows]

    def _parse_change(self, change: Mapping[str, Any]) -> ItemChange:
        """Parse a write of one item.

        Raises:
            InvalidInput: a value that is none, or an option of a deletion that deletions do not have.
        """
        address = self._address(change.get("namespace"), change.get("key"))
        ttl_s, version = change.get("ttl_s"), change.get("expected_version")
        parsed = ItemChange(
            address,
            fields=parse_fields(change.get("index")),
            ttl_s=None if ttl_s is None else checks.number(ttl_s, name="ttl_s", low=0, high=MOST_TTL_S),
            expected_version=None
            if version is None
            else checks.count(version, name="expected_version", high=_HIGHEST_VERSION),
            keep_history=checks.flag(change.get("keep_history", False), name="keep_history"),
        )
        if change.get("value") is None:
            return parsed
        return parsed._replace(text=checks.json_object(change["value"], name="value")[1])

    def _address(self, namespace: object, key: object) -> ItemAddress:
        return check_address(self._chosen(namespace), key)

    def _chosen(self, namespace: object) -> Namespace:
        return self._namespace if namespace is None else parse_namespace(namespace)


def _decode_rank(cursor: str | None) -> int:
    """Return the rank that a cursor stands for, 0 without one.

    Raises:
        InvalidInput: it is no cursor of a search with a query.
    """
    position = pagination.decode(_RANKING, cursor)
    rank = position[0] if position is not None else "0"
    return checks.count(int(rank) if rank.isdecimal() else -1, name="rank of the cursor", high=_HIGHEST_RANK)


def _check_change(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change of several without what it leaves out.

    Raises:
        InvalidInput: it has a key that changes do not have.
    """
    if unknown := change.keys() - _CHANGE:
        raise InvalidInput(checks.describe_unknown(min(unknown), sorted(_CHANGE), name="key of a change"))
    return {name: value for name, value in change.items() if value is not None}
