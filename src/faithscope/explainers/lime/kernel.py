"""How much a draw counts: a kernel over its distance from the row."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

KERNEL = 0.75  # width of the kernel, times the square root of the number of features


def roots(squares: NDArray[Any], features: int) -> NDArray[Any]:
    """Square roots of the weights by a kernel of width 0.75 √d, from squared distances of draws.

    Whole numbers count the features that differ; their roots are looked up, in single precision.
    """
    if squares.dtype.kind == "f":
        return np.asarray(np.exp(squares / (-4 * KERNEL**2 * features)))
    return np.take(_roots_of_counts(features), squares, mode="clip")


@cache
def _roots_of_counts(features: int) -> NDArray[np.float32]:
    return np.exp(np.arange(features + 1) / (-4 * KERNEL**2 * features)).astype(np.float32)
