"""What a SQLite store is asked, statement by statement."""

import threading
from contextlib import contextmanager


@contextmanager
def statements(store):
    """What this thread runs; what a worker does for it afterwards is counted apart."""
    ran, here = [], threading.get_ident()

    def note(_, sql, __):
        if threading.get_ident() == here:
            ran.append(sql)
        return True

    with store._connections.reading() as reader:
        connections = [reader, store._connections._writer]
    for each in connections:
        each.exec_trace = note
    try:
        yield ran
    finally:
        for each in connections:
            each.exec_trace = None
