"""Token counts of texts: an approximation without a model, and checks around the counters of callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engrain.errors import EngrainError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from engrain.domain.ports import TokenCounter

_PER_TOKEN = 4


def approximate_tokens(text: str) -> int:
    """Number of tokens by the characters of a text, rounded up, without a model and the same everywhere.

    Four characters of ASCII are a token, two of the other European, Hebrew and Arabic letters, and one of all others:
    a vocabulary has a word of English as a whole, and of most scripts of Asia a character at best.
    """
    return -(-_count_quarters(text) // _PER_TOKEN)


def _count_quarters(text: str) -> int:
    """Quarters of a token: 1 for a character of one byte in UTF-8, 2 of two bytes, 4 of three, and 6 of four."""
    if text.isascii():
        return len(text)
    more = len(text.encode("utf-8", "surrogatepass")) - len(text)
    return 2 * more + len(text.encode("ascii", "ignore"))


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
    """Counter of the tokens that a piece adds to a text: by its characters a fraction, not rounded; else its count.

    A tokenizer may split the seam of two pieces differently, so a sum of weights is an estimate of its count.
    """
    if counter is approximate_tokens:
        return lambda text: _count_quarters(text) / _PER_TOKEN
    return counter
