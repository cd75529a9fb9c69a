"""What is left of importances after discretizers: their form is these in turn, as ``Floor(decimals=1) | Sign()``."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.array_types import Array

SIGNS = ("Sign(", "SignOfTop(", "DeltaSign(")  # the last discretizers that leave signs, without sizes
MARKS = ("TopFeatures(", "TopRegions(", "Modified(")  # those that leave only which features
CODES = "ReasonCodes("  # that which leaves the features with the most negative importances, with or without their order
NO_CODE = "no negative importance"
_CELLS = 2**20  # values sorted at a time


def last_step(form: str) -> str:
    """The last discretizer of a form; empty if there is none."""
    return form.rpartition(" | ")[2]


def are_codes(form: str) -> bool:
    """Whether importances have become reason codes."""
    return last_step(form).startswith(CODES)


def have_order(form: str) -> bool:
    """Whether importances have become reason codes in order, numbered from 1."""
    return are_codes(form) and form.endswith("ordered=True)")  # a label before it ends in a quotation mark or a digit


def names_all(form: str) -> bool:
    """Whether all features that are not 0 are named, since a discretizer has kept only these."""
    return last_step(form).startswith(("SignOfTop(", "DeltaSign(", *MARKS, CODES))


def only_named(form: str) -> bool:
    """Whether a description names features without their values."""
    return last_step(form).startswith(("TopRegions(", "TopFeatures(", CODES))


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
