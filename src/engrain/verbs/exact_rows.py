"""Rows of the verbs of logs and items, whose values are kept as they are; see `table`."""

from __future__ import annotations

from engrain.verbs.rows import Verb

EXACT_ROWS: tuple[Verb, ...] = (
    # Logs.
    Verb(name="log.append", effect="adds", route="POST /log/append", command="log append"),
    Verb(name="log.read", route="GET /log/read", command="log read"),
    Verb(name="log.pop", effect="removes", route="POST /log/pop", command="log pop"),
    Verb(name="log.delete", effect="removes", route="POST /log/delete", command="log delete", field="entries"),
    Verb(name="log.sessions", route="GET /log/sessions", command="log sessions"),
    Verb(name="log.subkeys", route="GET /log/subkeys", command="log subkeys", field="subkeys"),
    # Items.
    Verb(name="store.put", effect="replaces", route="POST /store/put", command="store put {key}"),
    Verb(name="store.get", route="GET /store/get", command="store get {key}"),
    Verb(
        name="store.delete", effect="removes", route="POST /store/delete", command="store delete {key}", field="deleted"
    ),
    Verb(name="store.write", effect="removes", route="POST /store/write", command="store write"),
    Verb(name="store.search", route="POST /store/search", command="store search"),
    Verb(name="store.namespaces", route="GET /store/namespaces", command="store namespaces"),
    Verb(name="store.history", route="GET /store/history", command="store history {key}"),
)
