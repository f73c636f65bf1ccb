"""Token counts of texts: an approximation without a model, and checks around the counters of callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.errors import EngrainError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.ports import TokenCounter

CHARACTERS_PER_TOKEN = 4


def approximate_tokens(text: str) -> int:
    """Number of tokens at four characters each, rounded up: close for English, and the same everywhere."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def check_counter(counter: TokenCounter) -> TokenCounter:
    """Wrap a counter so that it raises InvalidInput where it fails, or returns anything but a whole number from 0.

    Raises:
        InvalidInput: it is not callable.
    """
    if not callable(counter):
        raise InvalidInput(f"count_tokens must be a function of a text, not {counter!r:.80}; pass one that returns int")

    def count_tokens(text: str) -> int:
        try:
            count: object = counter(text)
        except EngrainError:
            raise
        except Exception as error:  # it is the caller's code
            failure = f"count_tokens failed on a text of {len(text):,} characters"
            raise InvalidInput(f"{failure} ({type(error).__name__}: {error}); correct the counter") from error
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            failure = f"count_tokens returned {count!r:.80} for a text of {len(text):,} characters"
            raise InvalidInput(f"{failure}; it must return a whole number, 0 or more")
        return count

    return approximate_tokens if counter is approximate_tokens else count_tokens


def piece_weight(counter: TokenCounter) -> Callable[[str], float]:
    """Counter of the tokens that a piece adds to a text: for characters a fraction, not rounded; else its count.

    A tokenizer may split the seam of two pieces differently, so a sum of weights is an estimate of its count.
    """
    if counter is approximate_tokens:
        return lambda text: len(text) / CHARACTERS_PER_TOKEN
    return counter
