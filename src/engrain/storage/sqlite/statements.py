"""Statements of SQLite: the shared ones and this room's own, loaded once."""

from __future__ import annotations

from engrain.storage.dialects import SQLITE
from engrain.storage.sqlite.driver_errors import translate_refusal
from engrain.storage.statements import load_statements

STATEMENTS = load_statements(SQLITE, "sqlite", translate_refusal)
