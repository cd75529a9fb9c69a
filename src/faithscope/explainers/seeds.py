"""Chance that belongs to a row: the same row draws the same numbers, whatever batch it is in."""

import hashlib

import numpy as np
from numpy.typing import NDArray


def row_seeds(seed: int, rows: NDArray[np.float64]) -> list[int]:
    """A 64-bit seed for each row, a hash of the seed and the row's canonical bytes; -0.0 counts as 0.0."""
    start = hashlib.blake2b(int(seed).to_bytes(16, "little", signed=True), digest_size=8)
    seeds = []
    for row in np.ascontiguousarray(rows + 0.0, "<f8"):
        one = start.copy()
        one.update(row.tobytes())
        seeds.append(int.from_bytes(one.digest(), "little"))
    return seeds


def generators(seed: int, rows: NDArray[np.float64]) -> list[np.random.Generator]:
    """A generator for each row."""
    return [np.random.Generator(np.random.Philox(key=one)) for one in row_seeds(seed, rows)]
