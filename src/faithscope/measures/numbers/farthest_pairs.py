"""The pairs of numbers that are farthest apart, without comparing all pairs."""

import numpy as np

from faithscope.agreements import Agreement
from faithscope.inputs.array_types import Array, Ints
from faithscope.measures.numbers.groups import disagree, distance

_FAR = 128  # vectors at each end that are compared with each other


def farthest_pairs(values: Array, agreement: Agreement, wanted: int) -> Ints:
    """Positions of pairs that disagree: among them the `wanted` pairs that are farthest apart, (m, 2).

    Of numbers this is exact: in the i-th lowest and the j-th highest of the p farthest pairs, i j is at most p. Of more
    than 256 vectors, those farthest from the mean, and those farthest from the first of these, are compared with each
    other, so that the largest gap is at least half of the largest there is.

    Examples
    --------
    >>> from faithscope.agreements import Close
    >>> farthest_pairs(np.array([1.0, 9.0, 4.0]), Close(1.0), 1).tolist()
    [[0, 1]]
    """
    if values.ndim == 1:
        order, last = np.argsort(values, kind="stable"), len(values) - 1
        ends = [(low, last - high) for low in range(min(wanted, last)) for high in range(wanted // (low + 1))]
        pairs = order[np.array([(low, high) for low, high in ends if low < high], np.int64).reshape(-1, 2)]
    else:
        far = np.arange(len(values))
        if len(values) > 2 * _FAR:
            ends_of_mean = np.argsort(-distance(values, values.mean(axis=0)[None]), kind="stable")[:_FAR]
            others = np.argsort(-distance(values, values[ends_of_mean[:1]]), kind="stable")[:_FAR]
            far = np.union1d(ends_of_mean, others)
        pairs = far[np.column_stack(np.triu_indices(len(far), 1))]
    return pairs[disagree(agreement, values[pairs[:, 0]], values[pairs[:, 1]])]
