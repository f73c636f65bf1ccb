"""Periods: when a fact is true, apart from whether it is believed. Pure."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # the columns of facts are read off their annotations


class Lasting:
    """A memory that is active, or was; a fact is so whatever its period."""

    __slots__ = ()
    content: str

    @property
    def statement(self) -> str:
        """Content in words; of a fact with what it is about."""
        return self.content

    def is_live(self, now: datetime) -> bool:
        """True if reads return it."""
        raise NotImplementedError

    def is_active(self, now: datetime) -> bool:
        """True if it is live, or a fact that is not superseded, retracted or expired, whatever its period."""
        validity = getattr(self, "validity", None)
        return self.is_live(now) if validity is None else bool(validity == "active")


class Dated(Lasting):
    """A fact with the period in which it is true: from `valid_from` up to, and without, `valid_to`."""

    __slots__ = ()
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime

    @property
    def happened_at(self) -> datetime:
        """Time from which it is true; if unknown, the time it was stored."""
        return self.created_at if self.valid_from is None else self.valid_from

    def has_ended(self, now: datetime) -> bool:
        """True if its period is over."""
        return self.valid_to is not None and self.valid_to <= now

    def has_begun(self, now: datetime) -> bool:
        """True unless its period begins later."""
        return self.valid_from is None or self.valid_from <= now

    @property
    def is_bounded(self) -> bool:
        """True if its period has an end, or begins after it was stored: others may fill its slot before and after."""
        return self.valid_to is not None or not self.has_begun(self.created_at)

    def is_true_until(self, end: datetime) -> bool:
        """True if its period begins before a moment and lasts at least until then."""
        return self.happened_at < end and (self.valid_to is None or self.valid_to >= end)
