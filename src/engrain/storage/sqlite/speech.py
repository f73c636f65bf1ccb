"""Everything that is said to SQLite: the shared statements and this room's own, loaded once."""

from __future__ import annotations

from engrain.storage.dialects import SQLITE
from engrain.storage.sqlite.driver_errors import refusal
from engrain.storage.transaction import speech

SPEECH = speech(SQLITE, "engrain.storage.sqlite", refusal)
