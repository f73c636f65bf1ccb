"""The vocabulary of logs and items, whose names and values are kept as they are; see `words`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from engrain.domain.items import MOST_CHANGES, MOST_FIELDS, MOST_LABELS, MOST_TTL_S
from engrain.domain.logs import MOST_ENTRIES
from engrain.verbs.words import Names, Word

LogEntries = Annotated[
    Iterable[Mapping[str, Any]],
    Word(
        "Entries to append, JSON objects, which come back as they are.",
        example=[{"role": "user", "content": "Hello"}],
        most=MOST_ENTRIES,
        option="--entry",
        metavar="JSON",
    ),
]
LogSessionName = Annotated[
    str,
    Word(
        "Name of the session, exact; the current one if left out.",
        example="2026-11-21",
        option="--session",
        metavar="NAME",
    ),
]
Subkey = Annotated[str, Word("Name of a log inside the session; empty for the main one.", metavar="NAME")]
OnlySubkey = Annotated[str, Word("Only this log inside the session; the whole session if left out.", metavar="NAME")]
IdField = Annotated[
    str,
    Word("Field that identifies an entry: one whose value the session has is skipped.", example="uuid", metavar="NAME"),
]
RememberTurns = Annotated[bool, Word("Also remember the messages of users and assistants among them as episodes.")]
LogName = Annotated[str, Word("Name of the log, exact; `default` if left out.", metavar="NAME")]
LastEntries = Annotated[int, Word("Number of entries from the end; all if left out.", low=0, metavar="N")]

# Of items.
ItemKey = Annotated[str, Word("Key of the item, exact.", example="theme", metavar="KEY")]
ItemValue = Annotated[
    Mapping[str, Any], Word("JSON object, which comes back as it is.", example={"color": "dark"}, metavar="JSON")
]
ItemNamespaceName = Annotated[
    Names,
    Word(
        "Labels of the namespace, exact, from the top; the one without labels if left out.",
        example=["users", "ana"],
        most=MOST_LABELS,
        metavar="LABEL",
    ),
]
NamespacePattern = Annotated[
    Names,
    Word(
        "Labels that the namespace begins with; `*` is any label.",
        example=["users", "*"],
        most=MOST_LABELS,
        metavar="LABEL",
    ),
]
NamespaceSuffix = Annotated[
    Names, Word("Labels that the namespace ends with; `*` is any label.", most=MOST_LABELS, metavar="LABEL")
]
NamespaceDepth = Annotated[
    int, Word("Only the first labels, so many; longer ones count there.", low=0, high=MOST_LABELS, metavar="N")
]
IndexedFields = Annotated[
    Names,
    Word(
        "Fields that a search with a query reads: title, author.name, tags[*], `$` for the whole value; none "
        "if left out.",
        example=["title"],
        most=MOST_FIELDS,
        option="--index",
        metavar="FIELD",
    ),
]
TtlSeconds = Annotated[float, Word("Seconds until it expires; never if left out.", low=0, high=MOST_TTL_S, metavar="S")]
ExpectedVersion = Annotated[
    int, Word("Version that it must have, 0 for no item at all; any if left out.", low=0, high=2**53 - 1, metavar="N")
]
KeepHistory = Annotated[bool, Word("Keep the version that is overwritten.")]
RefreshTtl = Annotated[bool, Word("Begin the time to live of what is given anew.")]
ItemQuery = Annotated[str, Word("Question or text; the items put with an index are ranked by it.", metavar="QUERY")]
FieldConditions = Annotated[
    Mapping[str, Any],
    Word(
        "Conditions on fields of the value: a value, an object of conditions, or an object of $eq, $ne, $gt, "
        "$gte, $lt and $lte.",
        example={"kind": "book", "pages": {"$gte": 100}},
        metavar="JSON",
    ),
]


class NewItem(TypedDict):
    """A write of one item among several; without a value it is deleted."""

    key: ItemKey
    namespace: NotRequired[ItemNamespaceName]
    value: NotRequired[ItemValue]
    index: NotRequired[IndexedFields]
    ttl_s: NotRequired[TtlSeconds]
    expected_version: NotRequired[ExpectedVersion]
    keep_history: NotRequired[KeepHistory]


ItemChanges = Annotated[
    Iterable[NewItem],
    Word(
        "Writes of items, each with its key; one without a value deletes.",
        example=[{"key": "theme", "value": {"color": "dark"}}, {"key": "old theme"}],
        most=MOST_CHANGES,
        option="--change",
        metavar="JSON",
    ),
]
