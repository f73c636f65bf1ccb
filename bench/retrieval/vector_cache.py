"""Vectors of texts that were embedded in an earlier run, so that only the first one waits for the embedder."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from typing import TYPE_CHECKING

import apsw
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from engrain.domain.ports import Embedder, EmbedRole

# Two builds of one model may share a name. What this sentence's vector was tells them apart; batches of the same model
# differ by 1e-7.
_PROBE = "The lighthouse keeper wrote down the weather every evening."
_SAME = 1e-5
_LOOKED_UP_AT_ONCE = 500


class CachedEmbedder:
    """An embedder that remembers documents in a file of its own, and questions while it is open.

    Thread-safe; close it. Vectors come back bit for bit, and a file whose embedder has changed starts anew. What a
    question's vector took the first time adds up in `spared_s` whenever it is asked again, so that the time of a search
    can be told as a user would wait for it.
    """

    def __init__(self, inner: Embedder, folder: Path) -> None:
        """Wrap an embedder; the file in `folder` carries its name."""
        self._inner = inner
        self._lock = threading.Lock()
        self.seconds = 0.0  # spent in the inner embedder on documents
        self.embedded = 0  # documents it was given
        self.spared_s = 0.0
        self.questions_cpu_s = 0.0  # CPU of the process while the inner embedder had questions
        self._questions: dict[str, tuple[NDArray[np.float32], float]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._db = apsw.Connection(str(folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', inner.name)}-{inner.dims}.sqlite"))
        self._db.set_busy_timeout(60_000)
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        self._forget_another_model()

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dims(self) -> int:
        return self._inner.dims

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> NDArray[np.float32]:
        """The inner embedder's vectors of the texts, new or cached."""
        if role == "query":
            return np.array([self._ask(text) for text in texts], np.float32).reshape(len(texts), self.dims)
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        with self._lock:
            known = self._known(keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                known |= self._embedded(missing)
        return np.array([known[key] for key in keys], np.float32).reshape(len(texts), self.dims)

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def _ask(self, text: str) -> NDArray[np.float32]:
        with self._lock:
            if text in self._questions:
                known, took = self._questions[text]
                self.spared_s += took
                return known
            start, cpu = time.perf_counter(), time.process_time()
            vector: NDArray[np.float32] = np.asarray(self._inner.embed([text], role="query"), np.float32)[0]
            self._questions[text] = vector, time.perf_counter() - start
            self.questions_cpu_s += time.process_time() - cpu
            return vector

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found: dict[bytes, NDArray[np.float32]] = {}
        for start in range(0, len(keys), _LOOKED_UP_AT_ONCE):
            some = keys[start : start + _LOOKED_UP_AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._db.execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", some)
            found |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        return found

    def _embedded(self, texts: dict[bytes, str]) -> dict[bytes, NDArray[np.float32]]:
        start = time.perf_counter()
        vectors = self._inner.embed(list(texts.values()), role="document")
        self.seconds += time.perf_counter() - start
        self.embedded += len(texts)
        made = dict(zip(texts, np.asarray(vectors, np.float32), strict=True))
        with self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO vectors (text, vector) VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in made.items()],
            )
        return made

    def _forget_another_model(self) -> None:
        [now] = np.asarray(self._inner.embed([_PROBE], role="document"), np.float32)
        key = hashlib.sha256(_PROBE.encode()).digest()
        before = self._known([key]).get(key)
        with self._db:
            if before is None or float(np.abs(before - now).max()) > _SAME:
                self._db.execute("DELETE FROM vectors")
                self._db.execute("INSERT INTO vectors (text, vector) VALUES (?, ?)", (key, now.tobytes()))
