"""Random numbers per row: they depend on the row and the seed, never on the other rows or on the batch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def seeds_of(seed: int, X: Any, explained: Callable[[int], str] | None = None) -> list[int]:
    """A seed per row, from the row's content; equal rows are told apart by their number among equal rows.

    So rows in another order get the same draws, and equal rows get draws that are independent of each other, as an
    interval over rows needs.

    Parameters
    ----------
    seed : int
    X : rows
    explained : function, optional
        From the position of a row to its explanation in words, by which equal rows are sorted before they are numbered.
    """
    from faithscope.explainers.shared.seeds import row_digests  # here, since it loads all explainers

    equal: dict[bytes, list[int]] = {}
    for row, digest in enumerate(row_digests(seed, X)):
        equal.setdefault(digest, []).append(row)
    seeds = [0] * sum(map(len, equal.values()))
    for digest, rows in equal.items():
        ordered = sorted(rows, key=explained) if explained is not None and len(rows) > 1 else rows
        for number, row in enumerate(ordered):
            seeds[row] = int.from_bytes(digest, "little") + (number << 64)
    return seeds


def uniforms(seeds: list[int], *shape: int) -> Floats:
    """Numbers from 0 to 1, without 1: (rows, *shape)."""
    numbers = np.empty((len(seeds), *shape))
    for row, seed in enumerate(seeds):
        np.random.Generator(np.random.SFC64(seed)).random(out=numbers[row])
    return numbers
