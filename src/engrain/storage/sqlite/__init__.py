"""The embedded store: one SQLite file, full text by FTS5, exact vector search in process."""
