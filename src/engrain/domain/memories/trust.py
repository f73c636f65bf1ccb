"""Trust levels: how far a memory is to be believed by its origin; what is derived has the lowest of its sources. Pure.

A level below `user` stands in the metadata of a memory, where the role of an episode does not say it.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  # the schema of answers reads it
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

# From the least to the most: a tool or web page, an assistant, a file that was imported, a user or the host itself.
TrustLevel = Literal["tool", "assistant", "import", "user"]
TRUST_LEVELS: tuple[TrustLevel, ...] = get_args(TrustLevel)
# A fact of these waits for a confirmation.
PENDING_LEVELS: tuple[TrustLevel, ...] = ("tool", "assistant")
# The key of the metadata.
TRUST = "trust"
REFLECTION = "reflection"  # category of facts that reflect on others
SUMMARY = "summary"  # category of facts that summarize others
DERIVED = (REFLECTION, SUMMARY)


def read_trust(metadata: Mapping[str, Any]) -> TrustLevel:
    """The level in the metadata of a memory; `user` where none is there."""
    return next((level for level in TRUST_LEVELS if level == metadata.get(TRUST)), "user")


def role_trust(role: str) -> TrustLevel:
    """The level of what a role says: the system's words are the host's own."""
    return next((level for level in PENDING_LEVELS if level == role), "user")


def is_pending(metadata: Mapping[str, Any], category: str | None) -> bool:
    """True if a fact of a category waits for a confirmation; what sums up others claims nothing of its own."""
    return category is not None and category not in DERIVED and read_trust(metadata) in PENDING_LEVELS


def lowest_trust(levels: Iterable[TrustLevel]) -> TrustLevel:
    """The lowest of some levels; `user` of none."""
    return min(levels, key=TRUST_LEVELS.index, default="user")


def levels_from(least: TrustLevel) -> tuple[TrustLevel, ...]:
    """The levels that are not below one."""
    return TRUST_LEVELS[TRUST_LEVELS.index(least) :]


class Trusted:
    """A memory with the trust level of what it was learned from."""

    __slots__ = ()
    metadata: Mapping[str, Any]

    @property
    def trust(self) -> TrustLevel:
        """Trust level: of its role if it is an episode, or a lower one in its metadata."""
        return lowest_trust((role_trust(getattr(self, "role", "user")), read_trust(self.metadata)))

    @property
    def is_pending(self) -> bool:
        """True for a fact that waits for a confirmation: only tools or assistants have said it."""
        return is_pending(self.metadata, getattr(self, "category", None))


def with_trust(metadata: Mapping[str, Any], level: TrustLevel) -> Mapping[str, Any]:
    """The metadata of a memory of a level."""
    return metadata if read_trust(metadata) == level else {**metadata, TRUST: level}
