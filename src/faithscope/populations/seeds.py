"""Random numbers per row: they depend on the row and the seed, never on the other rows or on the batch."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def seeds_of(seed: int, X: Any) -> list[int]:
    """A seed per row, from the row's content; equal rows are told apart by how often they occurred before.

    So rows in another order get the same draws, and equal rows get draws that are independent of each other, as an
    interval over rows needs.
    """
    from faithscope.explainers.shared.seeds import row_digests  # here, since it loads all explainers

    seen: Counter[bytes] = Counter()
    seeds = []
    for digest in row_digests(seed, X):
        seeds.append(int.from_bytes(digest, "little") + (seen[digest] << 64))
        seen[digest] += 1
    return seeds


def uniforms(seeds: list[int], *shape: int) -> Floats:
    """Numbers from 0 to 1, without 1: (rows, *shape)."""
    numbers = np.empty((len(seeds), *shape))
    for row, seed in enumerate(seeds):
        np.random.Generator(np.random.SFC64(seed)).random(out=numbers[row])
    return numbers
