"""Keys of facts: by them one statement has one place, however its subject and predicate are written. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from engrain.domain.access.scopes import audience_of
from engrain.domain.memories.predicates import is_free_text, is_many_valued, predicate_key
from engrain.domain.text.names import name_key

if TYPE_CHECKING:
    from collections.abc import Iterable

USER = "user"
"""Key of the subject that stands for the user an agent acts for."""
PENDING_MARK = "?"
"""First character of the value of a pending fact, which stands beside the fact in its slot until it is confirmed."""
PROJECT_PREFIX = "project:"
"""Beginning of the tag that names the project which a memory is about."""
PROJECT_MARK = "@"
"""Beginning of what the value of a fact of one project ends with."""
_FIRST_PERSON = frozenset({"i", "me", "myself", "my self", "user", "the user"})
_LONGEST_VALUE, _DIGEST_BYTES, _PROJECT_BYTES = 80, 12, 8
_MARKS = "\"'\u2018\u2019\u201c\u201d .,;:!?"


class FactKey(NamedTuple):
    """Canonical form of a fact's subject and predicate, and of its content where values stand side by side."""

    subject: str
    predicate: str
    value: str  # "" where the predicate holds one value, whatever the project


def subject_key(subject: str) -> str:
    """Key of a subject: folded, underscores as spaces, without an article; "user" for the first person."""
    key = name_key(subject.replace("_", " "))
    if key in _FIRST_PERSON:
        return USER
    return key.removeprefix("the ") or key or subject


def value_key(content: str) -> str:
    """Key of a content: folded, without an article or the marks around it; of a long one a digest."""
    key = name_key(content).strip(_MARKS)
    key = key.partition(" ")[2] if key.startswith(("a ", "an ", "the ")) else key
    if len(key) <= _LONGEST_VALUE:
        return key or content[:_LONGEST_VALUE]
    return hashlib.blake2b(key.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def project_of(tags: Iterable[str], *, subject: str = "") -> str:
    """Project that some tags name; empty where they name none, or several, or the subject is the user.

    What is known of the user holds in every project.
    """
    named = {tag for tag in tags if tag.startswith(PROJECT_PREFIX)}
    return named.pop().removeprefix(PROJECT_PREFIX) if len(named) == 1 and subject_key(subject) != USER else ""


def is_note_slot(*, scope: str, subject: str, predicate: str) -> bool:
    """True for the slot of a note: what an agent says of itself in its own scope, under a key of its choice.

    A text that stands for itself is a fact there, too.
    """
    return subject == audience_of(scope) and not is_free_text(predicate)


def fact_key(
    *, scope: str, subject: str, predicate: str, content: str, tags: Iterable[str] = (), is_pending: bool = False
) -> FactKey:
    """Key of a fact; a note's predicate is a key as it stands.

    A fact that waits for a confirmation has a slot of its own, whether its predicate holds one value or many. So has a
    fact of a project, beside those of others and of none.
    """
    is_note = is_note_slot(scope=scope, subject=subject, predicate=predicate)
    predicate = predicate if is_note else predicate_key(predicate)
    value = value_key(content) if is_pending or (is_many_valued(predicate) and not is_note) else ""
    project = "" if is_note else project_of(tags, subject=subject)
    if project:
        digest = hashlib.blake2b(project.encode(errors="replace"), digest_size=_PROJECT_BYTES).hexdigest()
        value = f"{value} {PROJECT_MARK}{digest}".strip()
    return FactKey(subject_key(subject), predicate, f"{PENDING_MARK}{value}" if is_pending else value)
