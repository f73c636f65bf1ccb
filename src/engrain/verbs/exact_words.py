"""The vocabulary of logs, whose names and values are kept as they are; see `words`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from engrain.domain.logs import MOST_ENTRIES
from engrain.verbs.words import Word

LogEntries = Annotated[
    Iterable[Mapping[str, Any]],
    Word(
        sentence="Entries to append, JSON objects, which come back as they are.",
        example=[{"role": "user", "content": "Hello"}],
        most=MOST_ENTRIES,
        option="--entry",
        metavar="JSON",
    ),
]
LogSessionName = Annotated[
    str,
    Word(
        sentence="Name of the session, exact; the current one if left out.",
        example="2026-11-21",
        option="--session",
        metavar="NAME",
    ),
]
Subkey = Annotated[str, Word(sentence="Name of a log inside the session; empty for the main one.", metavar="NAME")]
OnlySubkey = Annotated[
    str, Word(sentence="Only this log inside the session; the whole session if left out.", metavar="NAME")
]
IdField = Annotated[
    str,
    Word(
        sentence="Field that identifies an entry: one whose value the session has is skipped.",
        example="uuid",
        metavar="NAME",
    ),
]
RememberTurns = Annotated[
    bool, Word(sentence="Also remember the messages of users and assistants among them as episodes.")
]
LogName = Annotated[str, Word(sentence="Name of the log, exact; `default` if left out.", metavar="NAME")]
LastEntries = Annotated[int, Word(sentence="Number of entries from the end; all if left out.", low=0, metavar="N")]
