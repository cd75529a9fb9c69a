"""Rows by how repeatable they are, and the explanations that each was given most often."""

from typing import Any

import numpy as np

from faithscope.inputs.alignment import index_of, row_labels
from faithscope.measures.repeatability.runs import Ints, Runs, group_sizes


def row_columns(runs: Runs, k: int | None) -> dict[str, Any]:
    """One entry per row, the least repeatable first: its share of equal pairs and its two commonest explanations."""
    order = np.argsort(runs.shares, kind="stable")[:k]
    codes, sizes, different = commonest(runs.codes[:, order])
    positions = np.arange(runs.n) if runs.sample.positions is None else runs.sample.positions
    texts = {int(code): runs.describe(code) for code in np.unique(codes[sizes > 0])}
    told = [[texts[int(c)] if s else "" for c, s in zip(*pair, strict=True)] for pair in zip(codes, sizes, strict=True)]
    labels = _labels(runs)
    return {
        "row": positions[order],
        **({} if labels is None else {"index": [labels[row] for row in order]}),
        "value": runs.shares[order],
        "different": different,
        "commonest": told[0],
        "runs": sizes[0],
        "second": told[1],
        "second_runs": sizes[1],
    }


def _labels(runs: Runs) -> Any:
    holder = runs.sample.X if index_of(runs.sample.X) is not None else runs.sample.explanations
    return row_labels(holder)


def commonest(codes: Ints) -> tuple[Ints, Ints, Ints]:
    """The two commonest numbers of each column, how often each occurs, and how many different ones there are.

    Of equally common ones the smaller, which occurs first. If all are the same, the second occurs 0 times.

    Examples
    --------
    >>> [part.tolist() for part in commonest(np.array([[5], [2], [5]]))]
    [[[5], [2]], [[2], [1]], [2]]
    """
    ordered = np.sort(codes, axis=0)
    sizes = group_sizes(ordered)
    sizes[1:][ordered[1:] == ordered[:-1]] = 0  # each group counts once, at its first number
    first = sizes.argmax(axis=0)[None]
    largest = np.take_along_axis(sizes, first, axis=0)
    different = (sizes > 0).sum(axis=0)
    np.put_along_axis(sizes, first, 0, axis=0)
    second = sizes.argmax(axis=0)[None]
    both = np.concatenate([first, second])
    times = np.concatenate([largest, np.take_along_axis(sizes, second, axis=0)])
    return np.take_along_axis(ordered, both, axis=0), times, different
