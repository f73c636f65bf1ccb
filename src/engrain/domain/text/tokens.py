"""How long a text is for a model: counted without one, and counted by others' counters with care."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.errors import EngrainError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.ports import TokenCounter

CHARACTERS_PER_TOKEN = 4


def approximate_tokens(text: str) -> int:
    """Four characters to the token, rounded up: close for English, and the same everywhere."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def check_counter(counter: TokenCounter) -> TokenCounter:
    """The counter, refusing what is no count.

    Raises:
        InvalidInput: it cannot be called; and when called, it failed, or returned anything but a whole number from 0.
    """
    if not callable(counter):
        raise InvalidInput(f"count_tokens must be a function of a text, not {counter!r:.80}; pass one that returns int")

    def counted(text: str) -> int:
        try:
            count: object = counter(text)
        except EngrainError:
            raise
        except Exception as error:  # it is the caller's code
            said = f"count_tokens failed on a text of {len(text):,} characters"
            raise InvalidInput(f"{said} ({type(error).__name__}: {error}); correct the counter") from error
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            said = f"count_tokens returned {count!r:.80} for a text of {len(text):,} characters"
            raise InvalidInput(f"{said}; it must return a whole number, 0 or more")
        return count

    return approximate_tokens if counter is approximate_tokens else counted


def piece_weight(counter: TokenCounter) -> Callable[[str], float]:
    """What a piece adds to a text, in tokens: exact for characters, whose rounding is of the whole; else its count.

    A tokenizer may read the seam of two pieces differently, so a sum of weights is an estimate of what it counts.
    """
    if counter is approximate_tokens:
        return lambda text: len(text) / CHARACTERS_PER_TOKEN
    return counter
