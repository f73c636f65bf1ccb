"""Memories in PostgreSQL with pgvector; needs the extra `postgres`."""

from importlib import import_module

from engrain.errors import InvalidInput

for _driver in ("psycopg", "psycopg_pool", "pgvector.psycopg"):
    try:
        import_module(_driver)
    except ImportError as error:
        raise InvalidInput(
            f'a PostgreSQL database needs {_driver}, which cannot be loaded: pip install "engrain[postgres]" ({error})'
        ) from error
