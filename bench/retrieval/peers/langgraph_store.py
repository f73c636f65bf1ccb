"""LangGraph's stores with `index=`: an exact vector search over `text`: docs.langchain.com/oss/python/langgraph."""

from __future__ import annotations

import importlib
import sqlite3
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bench.retrieval.peers import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.retrieval.peers import Vectors

_FIELD = "text"


class LangGraphStore:
    """A `BaseStore`, whichever. It has one embedding function for documents and questions, as MiniLM has."""

    def __init__(self, store: Any, held: ExitStack) -> None:
        self._store = store
        self._held = held

    def remember(self, namespace: str, texts: Sequence[str]) -> None:
        types = importlib.import_module("langgraph.store.base")
        self._store.batch([types.PutOp((namespace,), f"{at:06}", {_FIELD: text}) for at, text in enumerate(texts)])

    def search(self, namespace: str, question: str, limit: int) -> Sequence[int]:
        return [int(item.key) for item in self._store.search((namespace,), query=question, limit=limit)]

    def close(self) -> None:
        self._held.close()


def _in_memory(vectors: Vectors, _: Path) -> LangGraphStore:
    module = importlib.import_module("langgraph.store.memory")
    return LangGraphStore(module.InMemoryStore(index=_index(vectors)), ExitStack())


def _in_sqlite(vectors: Vectors, folder: Path) -> LangGraphStore:
    module = importlib.import_module("langgraph.store.sqlite")
    held = ExitStack()
    opened = module.SqliteStore.from_conn_string(str(folder / "store.db"), index=_index(vectors))
    store = held.enter_context(opened)
    store.setup()
    return LangGraphStore(store, held)


def _index(vectors: Vectors) -> dict[str, object]:
    return {"dims": vectors.dims, "embed": vectors.whichever, "fields": [_FIELD]}


IN_MEMORY = Offer(modules=("langgraph",), install="pip install langgraph", open=_in_memory)
IN_SQLITE = Offer(
    modules=("langgraph", "langgraph.store.sqlite", "sqlite_vec"),
    install="pip install langgraph-checkpoint-sqlite",
    open=_in_sqlite,
    lacks=None if hasattr(sqlite3.Connection, "enable_load_extension") else "a Python whose sqlite3 loads extensions",
)
