"""Samples of numeric predictions whose measures are known exactly, each with what it catches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faithscope.testing.scoped_cases import HIGH, LOW, WIDE


@dataclass(frozen=True)
class NumberCase:
    """A sample of numeric predictions, an agreement, and the measure, worked out by hand.

    Attributes
    ----------
    name : str
    catches : str
        The mistake that gives another answer.
    agreement : str
        ``close:eps``, ``tolerance:eps`` or ``spread``: ``K = max(0, 1 - |y - y'| / eps)``, ``K = 1(|y - y'| <= eps)``,
        or the share of the variance that explanations account for.
    make : function
        Takes no arguments; returns explanations (one key per row) and predictions; for sufficiency rules, rows
        (n, 1) and predictions, as for `ScopedCase`.
    value : float
        The measure.

    Examples
    --------
    >>> from faithscope.testing import NUMBER_CASES
    >>> case = NUMBER_CASES[0]
    >>> case.agreement, case.make(), case.value
    ('close:2', (['a', 'a'], [1.0, 1.5]), 0.75)
    """

    name: str
    catches: str
    agreement: str
    make: Callable[[], tuple[Any, ...]] = field(repr=False)
    value: float


def _in_no_order() -> tuple[Any, ...]:
    """Ten explanations of 200 rows; each has the predictions 0, 1, 2 and 3 alike."""
    order = np.random.default_rng(0).permutation(2000)
    return order % 10, (order // 10 % 4).astype(float)


NUMBER_CASES = (
    NumberCase("two rows, a quarter of eps apart", "no credit", "close:2", lambda: (list("aa"), [1.0, 1.5]), 0.75),
    NumberCase(
        "groups of three and two, close",
        "weighting explanations alike instead of rows",
        "close:2",
        lambda: (list("aaabb"), [0.0, 1.0, 2.0, 5.0, 5.0]),
        3 / 5,
    ),
    NumberCase("far apart", "agreement below 0", "close:1", lambda: (list("aaa"), [0.0, 10.0, 10.5]), 1 / 6),
    NumberCase("whole numbers", "division of integers", "close:4", lambda: (list("aa"), [1, 2]), 0.75),
    NumberCase("a row is not its own witness", "counting the row itself", "close:1", lambda: ([1, 2], [3.0, 3.0]), 0.0),
    NumberCase(
        "far from 0, close",
        "single precision",
        "close:0.5",
        lambda: (list("aabb"), [1e9, 1e9 + 0.25, 1e9, 1e9]),
        0.75,
    ),
    NumberCase("rows in no order", "comparing neighbors, or batches", "close:2", _in_no_order, 86.5 / 199),
    NumberCase("exactly eps apart", "< where <= is meant", "tolerance:0.5", lambda: ([1, 1], [0.0, 0.5]), 1.0),
    NumberCase("not transitive", "clusters of chains", "tolerance:1", lambda: ([1, 1, 1], [0.0, 1.0, 2.0]), 2 / 3),
    NumberCase("across a bin", "cutting predictions into bins", "tolerance:0.5", lambda: ([1, 1], [0.9, 1.1]), 1.0),
    NumberCase("signs", "absolute predictions", "tolerance:0.5", lambda: ([1, 1], [-1.0, 1.0]), 0.0),
    NumberCase(
        "200,000 rows with one explanation",
        "comparing pairs of rows",
        "tolerance:1",
        lambda: (np.zeros(200_000, np.int64), np.arange(200_000) % 1000 * 1.0),
        (998 * 599 + 2 * 399) / 1000 / 199_999,
    ),
    NumberCase(
        "two pairs, spread",
        "a variance that divides by n",
        "spread",
        lambda: (list("aabb"), [0.0, 2.0, 4.0, 6.0]),
        0.7,
    ),
    NumberCase(
        "a silent row",
        "leaving out rows that cannot be checked",
        "spread",
        lambda: (list("aab"), [0.0, 2.0, 7.0]),
        11 / 39,
    ),
    NumberCase("worse than chance", "clipping at 0", "spread", lambda: (list("aabb"), [0.0, 4.0, 0.0, 4.0]), -0.5),
    NumberCase(
        "far from 0, spread",
        "sums of squares that cancel",
        "spread",
        lambda: (list("aabb"), (2.0**30 + np.array([0.0, 2.0, 4.0, 6.0]) / 1024)),
        0.7,
    ),
    NumberCase(
        "one-hot labels",
        "anything but the adjusted agreement of labels",
        "spread",
        lambda: (list("aaabb"), np.eye(2)[[0, 0, 1, 1, 1]]),
        1 / 3,
    ),
    NumberCase(
        "outputs in different units",
        "scaling each output",
        "spread",
        lambda: (list("aabb"), np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 10.0], [6.0, 10.0]])),
        0.95,
    ),
)


def _overlapping() -> tuple[Any, ...]:
    return [WIDE, WIDE, HIGH, HIGH], np.array([[1.0], [2.0], [3.0], [4.0]]), [0.0, 1.0, 2.0, 4.0]


def _missed() -> tuple[Any, ...]:
    return [HIGH, HIGH, HIGH], np.array([[1.0], [3.0], [4.0]]), [0.0, 1.0, 3.0]


def _silent() -> tuple[Any, ...]:
    return [LOW, HIGH, HIGH], np.array([[1.0], [3.0], [4.0]]), [5.0, 1.0, 3.0]


SCOPED_NUMBER_CASES = (
    NumberCase("rules that overlap, close", "measuring only rows given the rule", "close:2", _overlapping, 1 / 8),
    NumberCase(
        "rules that overlap, within 1", "measuring only rows given the rule", "tolerance:1", _overlapping, 1 / 4
    ),
    NumberCase("rules that overlap, within 2", "< where <= is meant", "tolerance:2", _overlapping, 5 / 6),
    NumberCase("rules that overlap, spread", "measuring only rows given the rule", "spread", _overlapping, 1 / 5),
    NumberCase("a rule that misses its row, close", "subtracting the row from a sum", "close:4", _missed, 1 / 2),
    NumberCase("a rule that misses its row, spread", "subtracting the row from a sum", "spread", _missed, 1 / 14),
    NumberCase("a rule that covers no other row, close", "leaving out silent rows", "close:4", _silent, 1 / 3),
    NumberCase("a rule that covers no other row, spread", "leaving out silent rows", "spread", _silent, 1 / 6),
)
