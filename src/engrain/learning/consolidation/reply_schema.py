"""JSON schema of a reply, which a provider may hold its model to and `reply_parser` reads.

Entries are rows of texts: the names, braces and colons of objects were half of what a model wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# The first texts of a row; rating, date and quotes follow, which are known by their form.
ROWS: Mapping[str, tuple[str, ...]] = {
    "new_facts": ("subject", "predicate", "content"),
    "updated_facts": ("target_id", "reason", "subject", "predicate", "content"),
    "new_rules": ("content",),
    "confirmations": ("target_id",),
}
SECTIONS = tuple(ROWS)
RECAP = "recap"
_ROW_FORMS = {
    "new_facts": "[subject, predicate, content, rating, since, quote, ...]",
    "updated_facts": "[known, reason, subject, predicate, content, rating, since, quote, ...]",
    "new_rules": "[content, quote, ...]",
    "confirmations": "[known, quote, ...]",
}
_ROW = {"type": "array", "items": {"type": "string"}}

# Closed, and with every property required: the form in which services enforce a schema.
REPLY: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        **{name: {"type": "array", "items": {**_ROW, "description": form}} for name, form in _ROW_FORMS.items()},
        RECAP: {"type": "string", "description": "two sentences where the episodes are cut, else empty"},
    },
    "required": [*SECTIONS, RECAP],
    "additionalProperties": False,
}
