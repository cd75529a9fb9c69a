"""What is left of importances after discretizers: their form is these in turn, as ``Floor(decimals=1) | Sign()``."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.array_types import Array

# What the last discretizer left of importances, as it declares it (`Discretizer.leaves`); "" for numbers with sizes.
SIGNS = "signs"  # of all features
NAMED_SIGNS = "signs of the named"
NAMED = "the named"  # without signs
CHANGED = "the changed"  # likewise, of counterfactuals
CODES = "reason codes"  # the features with the most negative importances
ORDERED_CODES = "reason codes in order"  # numbered from 1
NO_CODE = "no negative importance"
_CELLS = 2**20  # values sorted at a time


def are_codes(left: str) -> bool:
    """Whether importances have become reason codes."""
    return left in (CODES, ORDERED_CODES)


def names_all(left: str) -> bool:
    """Whether all features that are not 0 are named, since a discretizer has kept only these."""
    return left not in ("", SIGNS)


def in_blocks(values: Array) -> Iterator[slice]:
    """Blocks of rows, so that their order, at 8 bytes per value, is never in memory as a whole."""
    step = max(1, _CELLS // max(1, values.shape[1]))
    return (slice(start, start + step) for start in range(0, len(values), step))


def signs(values: Array) -> NDArray[np.int8]:
    """-1, 0 or 1 for each value."""
    return (values > 0).astype(np.int8) - (values < 0)


def top_signs(values: Array, k: int) -> NDArray[np.int8]:
    """The signs of the k values largest in size per row, the earlier of equal ones; 0 for the others."""
    kept = signs(values)
    for block in in_blocks(kept) if k < kept.shape[1] else ():
        order = np.argsort(-np.abs(values[block]), axis=1, kind="stable")
        np.put_along_axis(kept[block], order[:, k:], 0, axis=1)
    return kept
