"""The squared errors of decoding numbers from explanations, in the sample and leaving rows out."""

from typing import Literal

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.errors import BadInput
from faithscope.measures.numbers.groups import NumberGroups, squared


def squared_error(counts: Counts, decoded: Literal["all", "mean", "draw"], *, leave_out: bool = False) -> float:
    """The mean squared error of decoding the numbers of these counts; the columns of vectors add up.

    Parameters
    ----------
    decoded : {"all", "mean", "draw"}
        To what a row is decoded: the mean of all rows, whose error is the variance, and which refuses predictions that
        are all equal; the mean of the rows with its explanation; or one of these rows, drawn at random.
    leave_out : bool
        Whether a row takes no part in its own decoding. If no other row has its explanation, it is decoded to the mean
        of all others, or to any of them.
    """
    if not counts.n:
        raise BadInput("This decoder has seen no rows: fit it, or build it from counts.")
    if not counts.agreement.of_numbers:
        raise BadInput("These predictions are labels, which have no squared error: fit(..., agreement=fs.Spread()).")
    groups = NumberGroups.of_counts(counts)
    everybody = NumberGroups.of(np.zeros_like(groups.group), groups.values, groups.rows, 1)
    n, sizes, whole = float(counts.n), groups.n, float(everybody.squares[0])
    if decoded == "all" and not everybody.largest_gap[0] > 0:
        raise BadInput("Predictions are all equal, so there is no variance to decode: read error instead.")
    if leave_out and n < 2:
        raise BadInput("Leaving a row out takes at least 2 rows; this decoder has seen 1.")
    drawn = 2.0 if decoded == "draw" else 1.0
    total = whole if decoded == "all" else drawn * float(groups.squares.sum())
    if leave_out and decoded == "all":
        total *= (n / (n - 1)) ** 2
    elif leave_out:
        more = sizes / np.maximum(sizes - 1, 1)
        alone = groups.values[groups.n[groups.group] == 1]
        apart = (((alone - everybody.mean[0]) / groups.unit) ** 2).sum(axis=1)  # from the mean of all rows
        if decoded == "mean":
            shared, lone = groups.squares * more**2, apart * (n / (n - 1)) ** 2
        else:
            shared, lone = 2 * groups.squares * more, (n * apart + whole) / (n - 1)
        total = float(shared[sizes > 1].sum() + lone.sum())
    return float(squared(np.asarray(total / n), groups.unit))
