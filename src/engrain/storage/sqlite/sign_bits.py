"""Vectors as one bit per dimension, and how far those bits alone tell which of them lie near a query.

A row's bit says on which side of the centre it lies: around the mean of the data the bits tell most apart. Bits are
kept by words of 64 dimensions, `uint64[ceil(dims / 64), n]`, so that a scan reads each word of all rows in one go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Rows at a time: the scratch arrays of a scan take 11 bytes a row, those of a weighing 120 at 384 dims. With fewer
# rows NumPy's calls take longer than what they do: 2,048 rows at a time are weighed in twice the time of 8,192.
_SCANNED_ROWS: Final = 32_768
_WEIGHED_ROWS: Final = 8192
_WEIGHT_BITS: Final = 3
_WORDS_A_BYTE: Final = 3  # whose bits a byte can count


def sign_bits(rows: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Mark the components of `float32[n, dims]` above the centre's, as bits; those past the last dimension are 0."""
    return _packed(rows > centre)


def agreement(bits: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Count the bits of each column that equal those of the query, `uint64[words, 1]`."""
    rows = bits.shape[1]
    total = np.zeros(rows, np.uint16)
    equal = np.empty(min(rows, _SCANNED_ROWS), np.uint64)
    counts = np.empty((_WORDS_A_BYTE, len(equal)), np.uint8)
    for start in range(0, rows, _SCANNED_ROWS):
        here = slice(start, min(rows, start + _SCANNED_ROWS))
        size = here.stop - start
        for first in range(0, len(bits), _WORDS_A_BYTE):
            words = zip(bits[first : first + _WORDS_A_BYTE], ~query[first:, 0], counts[:, :size], strict=False)
            for word, unlike, count in words:
                np.bitwise_xor(word[here], unlike, out=equal[:size])
                np.bitwise_count(equal[:size], out=count)
            _add_counts(total[here], counts[: len(bits) - first, :size])
    return total


def weighed_agreement(
    bits: NDArray[np.uint64], columns: NDArray[np.intp], query: NDArray[np.float32], centre: NDArray[np.float32]
) -> NDArray[np.uint32]:
    """The agreement of some columns with the query, each dimension weighing as the query's distance from the centre.

    The weights are whole numbers, 0 to 7: one plane of bits for each of their binary digits. The asymmetric estimate
    of RaBitQ (https://arxiv.org/abs/2405.12497, section 3.3), without its rotation. To miss as few of the nearest as
    plain agreement does, it need pass on only a fifth as many rows.
    """
    away = np.abs(query - centre)
    weights = np.rint(away * ((2**_WEIGHT_BITS - 1) / max(float(away.max()), 1e-30))).astype(np.uint8)
    planes = [_packed((weights[None, :] >> digit & 1).astype(np.bool_)) for digit in range(_WEIGHT_BITS)]
    unlike = ~sign_bits(query[None, :], centre)
    total = np.zeros(len(columns), np.uint32)
    # One scratch for all: arrays of a half megabyte go back to the system when they are freed, and are paged in again.
    size = min(len(columns), _WEIGHED_ROWS)
    scratch = [np.empty((len(bits), size), kind) for kind in (np.uint64, np.uint64, np.uint8)]
    for start in range(0, len(columns), _WEIGHED_ROWS):
        here = columns[start : start + _WEIGHED_ROWS]
        equal, weighing, count = (array[:, : len(here)] for array in scratch)
        for word, target in zip(bits, equal, strict=True):
            word.take(here, out=target, mode="clip")  # any other mode copies
        np.bitwise_xor(equal, unlike, out=equal)
        sums = total[start : start + len(here)]
        for plane in reversed(planes):
            np.left_shift(sums, 1, out=sums)
            np.bitwise_count(np.bitwise_and(equal, plane, out=weighing), out=count)
            for first in range(0, len(bits), _WORDS_A_BYTE):
                _add_counts(sums, count[first : first + _WORDS_A_BYTE])
    return total


def _add_counts(total: NDArray[Any], counts: NDArray[np.uint8]) -> None:
    """Add the counts of up to three words to totals; they are overwritten, as bytes add up in a third of the time."""
    first, *others = counts
    for other in others:
        np.add(first, other, out=first)
    np.add(total, first, out=total)


def _packed(is_set: NDArray[np.bool_]) -> NDArray[np.uint64]:
    rows, dims = is_set.shape
    octets = np.zeros((rows, -(-dims // 64) * 8), np.uint8)
    octets[:, : -(-dims // 8)] = np.packbits(is_set, axis=1)
    return octets.view(np.uint64).T
