"""Cost of the arithmetic of a vector search alone: the same NumPy calls on random data.

`VectorIndex.nearest` is judged by how little it adds to `search_floor`, and by how far it stays below `f32_scan`.
All figures are CPU seconds of the whole process per query, the median of some repeats.
"""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from engrain.storage.sqlite.vector_index import WEIGHED_PER_SURVIVOR, shortlist_size, survivor_count

if TYPE_CHECKING:
    from collections.abc import Callable

_REPEATS = 15
_SCANNED_ROWS = 32_768
_WEIGHED_ROWS = 8192
_DECODED_NUMBERS = 98_304


def bit_scan(n: int, dims: int) -> float:
    """Exclusive-or and population count of n rows of sign bits with one."""
    bits = _random_bits(n, dims)
    query = _random_bits(1, dims)[:, 0]
    equal = np.empty(min(n, _SCANNED_ROWS), np.uint64)
    count = np.empty(len(equal), np.uint8)
    total = np.empty(len(equal), np.uint16)

    def scan() -> None:
        for start in range(0, n, _SCANNED_ROWS):
            stop = min(n, start + _SCANNED_ROWS)
            size = stop - start
            total[:size] = 0
            for word, mask in zip(bits, query, strict=True):
                np.bitwise_xor(word[start:stop], mask, out=equal[:size])
                np.bitwise_count(equal[:size], out=count[:size])
                np.add(total[:size], count[:size], out=total[:size])

    return _cpu_seconds(scan)


def bit_weighing(n: int, dims: int, *, of: int) -> float:
    """Weighing n rows of sign bits, spread over `of`, by three planes of query bits."""
    bits = _random_bits(of, dims)
    columns = np.linspace(0, of - 1, n, dtype=np.intp)
    query, *planes = (_random_bits(1, dims) for _ in range(4))
    scratch = [np.empty((len(bits), _WEIGHED_ROWS), kind) for kind in (np.uint64, np.uint64, np.uint8)]

    def weigh() -> None:
        for start in range(0, n, _WEIGHED_ROWS):
            here = columns[start : start + _WEIGHED_ROWS]
            equal, weighing, count = (array[:, : len(here)] for array in scratch)
            for word, target in zip(bits, equal, strict=True):
                word.take(here, out=target, mode="clip")
            np.bitwise_xor(equal, query, out=equal)
            for plane in planes:
                np.bitwise_count(np.bitwise_and(equal, plane, out=weighing), out=count)
                count.sum(axis=0, dtype=np.uint32)

    return _cpu_seconds(weigh)


def int8_scan(n: int, dims: int, *, of: int | None = None) -> float:
    """Dot products of n int8 rows with a float32 query; `of`: gathered from that many, not one after the other."""
    rows = np.random.default_rng(0).integers(-127, 128, (of or n, dims), dtype=np.int8)
    slots = np.linspace(0, (of or n) - 1, n, dtype=np.intp)
    query = _random_floats(1, dims)[0]
    step = max(1, _DECODED_NUMBERS // dims)

    def scan() -> None:
        for start in range(0, n, step):
            block = rows[start : start + step] if of is None else rows.take(slots[start : start + step], axis=0)
            np.vecdot(block.astype(np.float32), query)

    return _cpu_seconds(scan)


def f32_scan(n: int, dims: int) -> float:
    """The product of a float32 matrix of n rows with a query: brute force by the BLAS, at four bytes per dimension."""
    rows = _random_floats(n, dims)
    query = _random_floats(1, dims)[0]
    return _cpu_seconds(lambda: rows @ query)


def search_floor(n: int, dims: int, limit: int) -> float:
    """The sum of the kernels that one search of n rows runs, without choosing anything between them."""
    survivors = survivor_count(n, dims, limit)
    weighed = WEIGHED_PER_SURVIVOR * survivors
    shortlist = f32_scan(min(n, shortlist_size(limit)), dims)
    if n <= weighed:
        return int8_scan(n, dims) + shortlist
    return bit_scan(n, dims) + bit_weighing(weighed, dims, of=n) + int8_scan(survivors, dims, of=n) + shortlist


def _cpu_seconds(run: Callable[[], object]) -> float:
    run()
    seconds = []
    for _ in range(_REPEATS):
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    return median(seconds)


def _random_bits(n: int, dims: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    return np.random.default_rng(0).integers(0, 2**63, (-(-dims // 64), n), dtype=np.uint64)


def _random_floats(n: int, dims: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(0).random((n, dims), dtype=np.float32) - np.float32(0.5)
