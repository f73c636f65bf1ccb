"""Periods: when a fact is true, apart from whether it is believed. Pure."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # the columns of facts are read off their annotations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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

    def later_begin(self, now: datetime) -> datetime | None:
        """Return when its period begins, if that is later."""
        return None if self.has_begun(now) else self.happened_at

    @property
    def is_bounded(self) -> bool:
        """True if its period has an end, or begins after it was stored: others may fill its slot before and after."""
        return self.valid_to is not None or not self.has_begun(self.created_at)

    @property
    def was_over(self) -> bool:
        """True if its period was over when it was stored: it changes no other."""
        return self.valid_to is not None and self.valid_to <= self.created_at

    def is_open(self, now: datetime) -> bool:
        """True if it is active, and its period is not over."""
        return self.is_active(now) and not self.has_ended(now)

    def limits(self, other: Dated, now: datetime) -> bool:
        """True if another one of the same slot may not be true while this one is.

        Of two that are open the one that begins later, of one that is open and one that is over the former, of
        two that are over the one that was stored later. What was over when it was stored limits none, and is limited by
        those alone that were stored later.
        """
        is_empty = self.valid_to is not None and self.valid_to <= self.happened_at
        if is_empty or self.was_over or (other.was_over and self.created_at <= other.created_at):
            return False
        match self.is_open(now), other.is_open(now):
            case True, True:
                return self.happened_at > other.happened_at
            case True, False:
                return True
            case False, True:
                return False
            case _:
                return self.created_at > other.created_at

    def end_among(self, others: Iterable[Dated], now: datetime) -> datetime | None:
        """Return the end of its period among others of the same slot: where the first begins that limits it."""
        end = self.valid_to
        for other in others:
            is_before = other.valid_to is not None and other.valid_to <= self.happened_at
            if not is_before and (end is None or other.happened_at < end) and other.limits(self, now):
                end = max(self.happened_at, other.happened_at)
        return end

    def is_true_until(self, end: datetime) -> bool:
        """True if its period begins before a moment and lasts at least until then."""
        return self.happened_at < end and (self.valid_to is None or self.valid_to >= end)
