"""The least that SQLite itself needs for the same words and the same rows: what engrain is compared with."""

from __future__ import annotations

import itertools
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import apsw
import numpy as np

from bench.speed.language import TURNS_PER_SESSION
from bench.speed.stopwatch import per_call
from bench.speed.vectors import RandomVectors
from engrain.domain.events import memory_created
from engrain.domain.ids import fresh_id
from engrain.domain.records import Caller, Episode
from engrain.domain.requests import Act
from engrain.domain.text.analysis import terms
from engrain.domain.text.indexing import NEIGHBOURS, near_terms, turn_terms
from engrain.storage.sqlite.connections import Connections
from engrain.storage.sqlite.statements import STATEMENTS
from engrain.storage.sqlite.vector_index import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bench.speed.language import SpokenTurn

_ROWS_AT_ONCE = 500  # as many as an import writes in one transaction
_TOKENIZER = "tokenize = 'unicode61 remove_diacritics 0'"
_SCHEMA = f"""
PRAGMA journal_mode = wal;
PRAGMA synchronous = normal;
PRAGMA cache_size = -8000;
PRAGMA mmap_size = 268435456;
CREATE TABLE episodes (
    doc INTEGER PRIMARY KEY, tenant_id TEXT, id TEXT, agent TEXT, scope TEXT, session TEXT, turn INTEGER, role TEXT,
    speaker TEXT, content TEXT, event_time INTEGER, created_at INTEGER, expires_at INTEGER, importance REAL,
    reference_count INTEGER, last_referenced_at INTEGER, consolidation_status TEXT, tags TEXT, metadata TEXT
);
CREATE UNIQUE INDEX episodes_id ON episodes (tenant_id, id);
CREATE VIRTUAL TABLE words USING fts5 (own, content = '', {_TOKENIZER});
CREATE VIRTUAL TABLE near_words USING fts5 (own, near, content = '', {_TOKENIZER});
"""
_INSERT = f"INSERT INTO episodes VALUES ({', '.join('?' * 19)})"
_MATCH_OWN = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?"
_MATCH_NEAR = "SELECT rowid FROM near_words WHERE near_words MATCH ? ORDER BY bm25(near_words, 1.0, 0.4) LIMIT ?"


@dataclass(frozen=True, slots=True)
class Row:
    """A turn as a plain table takes it, its words analysed beforehand."""

    values: tuple[object, ...]
    own: str


class PlainTables:
    """A table of episodes and two of full text, with nothing around them: SQLite as engrain opens it, in WAL mode."""

    def __init__(self, path: Path) -> None:
        """Make the tables in a new file."""
        self._db = apsw.Connection(str(path))
        self._db.execute(_SCHEMA).fetchall()

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def fill(self, said: Sequence[SpokenTurn]) -> float:
        """CPU seconds of inserting the turns in large transactions; their neighbours' words follow, untimed."""
        rows = [row(turn, place) for place, turn in enumerate(said)]
        batches = [rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(rows), _ROWS_AT_ONCE)]
        spent = sum(per_call(self._insert, batches))
        with self._db:
            self._db.executemany("INSERT INTO near_words (own, near) VALUES (?, ?)", _with_neighbours(said, rows))
        return spent

    def insert_each(self, said: Sequence[SpokenTurn], first: int) -> list[float]:
        """CPU seconds of each durable insert by this thread, one transaction a turn."""
        rows = [[row(turn, first + place)] for place, turn in enumerate(said)]
        return per_call(self._insert, rows, clock=time.thread_time)

    def match(self, questions: Sequence[str], limit: int, *, near: bool, most_seconds: float) -> list[float]:
        """CPU seconds of each question's MATCH, best `limit` by bm25: own words, or those of the neighbours as well."""
        statement = _MATCH_NEAR if near else _MATCH_OWN
        asked = [" OR ".join(f'"{term}"' for term in dict.fromkeys(terms(question))) for question in questions]

        def ask(match: str) -> None:
            self._db.execute(statement, (match, limit)).fetchall()

        return per_call(ask, asked, most_seconds=most_seconds)

    def _insert(self, rows: Sequence[Row]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        for each in rows:
            self._db.execute(_INSERT, each.values)
            self._db.execute("INSERT INTO words (rowid, own) VALUES (?, ?)", (self._db.last_insert_rowid(), each.own))
        self._db.execute("COMMIT")


class BareStatements:
    """The statements of a turn in a file of engrain's own, every value at hand: the least that its schema allows."""

    def __init__(self, path: Path) -> None:
        """Open a file that nobody else writes to meanwhile."""
        self._connections = Connections(str(path))
        self._connections.use_write_ahead_log()
        with self._connections.writing() as db:
            self._run = db.cursor().execute
            self._last = int(db.execute("SELECT max(doc) FROM memory_index").get)
        self._turns, self._events = STATEMENTS.records.kinds["episode"], STATEMENTS.records.events
        self._add_turn = self._turns.insertions["episodes", "doc", "asking"]
        self._add_event = self._events.insertions["memory_events",]

    def close(self) -> None:
        """Release the file."""
        self._connections.close()

    def insert_each(self, said: Sequence[SpokenTurn]) -> list[float]:
        """CPU seconds of each turn and its event by this thread, one durable transaction a turn."""
        return per_call(self._insert, [self._values_of(turn) for turn in said], clock=time.thread_time)

    def _insert(self, values: tuple[Sequence[object], Sequence[object]]) -> None:
        turn, event = values
        self._run("BEGIN IMMEDIATE")
        self._run(self._add_turn, turn)
        self._run(self._add_event, event)
        self._run("COMMIT")

    def _values_of(self, turn: SpokenTurn) -> tuple[Sequence[object], Sequence[object]]:
        self._last += 1
        act = Act(caller=Caller(agent="assistant"), at=datetime.now(UTC))
        episode = Episode(
            id=fresh_id(),
            agent="assistant",
            scope="assistant",
            session=turn.session,
            turn=self._last,
            speaker=turn.speaker,
            content=turn.content,
            event_time=turn.said_at,
            created_at=act.at,
        )
        event = self._events.values(memory_created(act, episode, fresh_id))
        return [*self._turns.values(episode), self._last, 0.0], event


def nearest(said: Sequence[SpokenTurn], questions: Sequence[str], limit: int) -> list[float]:
    """CPU seconds of each question's nearest vectors, asked of engrain's vector index alone."""
    embedder = RandomVectors()
    texts = [f"{turn.speaker}: {turn.content}" for turn in said]
    rows = np.concatenate([embedder.embed(texts[at : at + 1000], role="document") for at in range(0, len(texts), 1000)])
    index = VectorIndex(embedder.dims)
    index.put(np.arange(1, len(rows) + 1, dtype=np.int64), rows)

    def ask(query: NDArray[np.float32]) -> None:
        index.nearest(query, limit, exact=lambda docs: rows[docs - 1])

    return per_call(ask, embedder.embed(questions, role="query"))


def row(turn: SpokenTurn, place: int) -> Row:
    """The turn as a row; `place` counts all turns from 0."""
    at = int(turn.said_at.timestamp() * 1e6)
    name = str(uuid.UUID(int=place))
    who = ("default", name, "assistant", "assistant", turn.session, place % TURNS_PER_SESSION + 1, "user", turn.speaker)
    return Row(
        values=(None, *who, turn.content, at, at, None, 5.0, 0, None, "pending", "[]", "{}"),
        own=" ".join(turn_terms(turn.content, speaker=turn.speaker, event_time=turn.said_at)),
    )


def _with_neighbours(said: Sequence[SpokenTurn], rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Own words and those of the two turns before and after in the session."""
    found = []
    for _, group in itertools.groupby(range(len(said)), key=lambda place: said[place].session):
        session = list(group)
        for at, place in enumerate(session):
            around = session[max(0, at - NEIGHBOURS) : at] + session[at + 1 : at + 1 + NEIGHBOURS]
            near = " ".join(near_terms(said[each].content for each in around))
            found.append((rows[place].own, near))
    return found
