"""Statements of PostgreSQL: the shared ones and this room's own, loaded once."""

from __future__ import annotations

from engrain.storage.dialects import postgres_dialect
from engrain.storage.postgres.driver_errors import translate_refusal
from engrain.storage.statements import load_statements

STATEMENTS = load_statements(postgres_dialect(), "postgres", translate_refusal)
