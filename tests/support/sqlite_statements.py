"""What a SQLite store is asked, statement by statement."""

import threading
from contextlib import contextmanager


@contextmanager
def statements(store):
    """What this thread runs, without what begins and ends a read; what a worker does for it is counted apart."""
    ran, here, is_read = [], threading.get_ident(), False

    def note(_, sql, __):
        nonlocal is_read
        if threading.get_ident() != here:
            return True
        if sql == "BEGIN" or (is_read and sql == "COMMIT"):
            is_read = sql == "BEGIN"
        else:
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
