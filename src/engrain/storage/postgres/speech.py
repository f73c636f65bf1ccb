"""Everything that is said to PostgreSQL: the shared statements and this room's own, loaded once."""

from __future__ import annotations

from engrain.storage.dialects import postgres
from engrain.storage.postgres.driver_errors import refusal
from engrain.storage.transaction import speech

SPEECH = speech(postgres(), "engrain.storage.postgres", refusal)
