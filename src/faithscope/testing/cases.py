"""Samples whose consistency is known exactly, each with what it catches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Inputs = tuple[Any, Any]  # explanations and predictions


@dataclass(frozen=True)
class Case:
    """A sample, and the paper's estimate M̂ on it.

    Attributes
    ----------
    name : str
    catches : str
        The mistake that gives another answer.
    make : function
        Takes no arguments; returns explanations (an (n, d) array, or one key per row) and predictions.
    consistency : float
        ``(1/n) Σ_i 1(N_π > 1) (N_{π,y} - 1) / (N_π - 1)``, by hand.

    Examples
    --------
    >>> from faithscope.testing import CASES
    >>> CASES[0].name, CASES[0].make(), CASES[0].consistency
    ('two pairs, one of them split', (['a', 'a', 'b', 'b'], [1, 1, 0, 1]), 0.5)
    """

    name: str
    catches: str
    make: Callable[[], Inputs] = field(repr=False)
    consistency: float


def _columns(*values: Sequence[float]) -> NDArray[np.float64]:
    return np.array(values, np.float64)


def _twice(*rows: Sequence[float]) -> Inputs:
    """Two explanations, each twice and with a label of its own."""
    return _columns(*rows, *rows), [0, 1, 0, 1]


def _apart(distance: int) -> Inputs:
    """Every explanation occurs twice, this many rows apart, with one label."""
    keys = np.arange(2 * distance) % distance
    return keys[:, None].astype(float), keys % 2


def _hub() -> Inputs:
    """500 rows share one explanation and two labels; 500 others are all different."""
    keys = np.concatenate([np.zeros(500), np.arange(1, 501)])
    return keys[:, None], np.arange(1000) % 2


def _shuffled() -> Inputs:
    """Ten explanations, each with 300 rows of a label and 100 of another, in no order."""
    order = np.random.default_rng(0).permutation(4000)
    return (order % 10)[:, None].astype(float), (order // 10 % 4 == 0).astype(int)


CASES = (
    Case(
        "two pairs, one of them split",
        "anything but the formula",
        lambda: (list("aabb"), [1, 1, 0, 1]),
        0.5,
    ),
    Case(
        "groups of three and two",
        "weighting explanations alike instead of rows",
        lambda: (list("aaabb"), [0, 0, 1, 1, 1]),
        3 / 5,
    ),
    Case("one explanation, one label", "a value above 1", lambda: (np.zeros((7, 3)), np.zeros(7, int)), 1.0),
    Case(
        "a row is not its own witness",
        "counting the row itself: 1.0 instead of 0.0",
        lambda: (np.arange(50.0)[:, None], np.zeros(50, int)),
        0.0,
    ),
    Case("one row", "a division by zero, or NaN", lambda: (_columns([1.0, 2.0]), [1]), 0.0),
    Case(
        "negative zero",
        "keys that are bytes or text: -0.0 is 0.0",
        lambda: (_columns([0.0], [-0.0]), [1, 1]),
        1.0,
    ),
    Case(
        "sums that differ in the last digit",
        "rounding before comparing: 0.1 + 0.2 is not 0.3",
        lambda: (_columns([0.1 + 0.2], [0.3], [0.1 + 0.2], [0.3]), [1, 0, 1, 0]),
        1.0,
    ),
    Case(
        "signs",
        "taking absolute values",
        lambda: _twice([1.0, -2.0], [-1.0, 2.0]),
        1.0,
    ),
    Case(
        "scales",
        "normalizing each explanation",
        lambda: _twice([1.0, 2.0], [2.0, 4.0]),
        1.0,
    ),
    Case(
        "small features count too",
        "keeping only the largest entries",
        lambda: (np.column_stack([np.full((8, 6), 9.0), np.arange(8) % 4]), np.arange(8) % 4),
        1.0,
    ),
    Case(
        "large and small together",
        "single precision, or hashes of a sum",
        lambda: _twice([1e300, 1.0], [1e300, 2.0]),
        1.0,
    ),
    Case(
        "order within an explanation",
        "sorting or summing features",
        lambda: _twice([1.0, 2.0], [2.0, 1.0]),
        1.0,
    ),
    Case(
        "integers beyond 2**53",
        "keys that pass through floats",
        lambda: ([2**53, 2**53 + 1, 2**53, 2**53 + 1], [0, 1, 0, 1]),
        1.0,
    ),
    Case(
        "labels that are names",
        "labels taken for class numbers",
        lambda: (list("ababb"), ["no", "yes", "no", "yes", "no"]),
        (2 + 2 * 0.5) / 5,
    ),
    Case("labels with gaps", "labels taken for positions", lambda: (list("aabb"), [5, 900, 7, 7]), 0.5),
    Case(
        "partners 65 rows apart",
        "measuring within batches of 64",
        lambda: _apart(65),
        1.0,
    ),
    Case(
        "partners 5,000 rows apart",
        "measuring within batches of any usual size",
        lambda: _apart(5_000),
        1.0,
    ),
    Case("a hub and many that are alone", "leaving out rows that cannot be checked", _hub, 500 / 1000 * 249 / 499),
    Case("rows in no order", "comparing neighbors only", _shuffled, (100 * 99 + 300 * 299) / (400 * 399)),
    Case(
        "100,000 labels",
        "a table of explanations by labels",
        lambda: ((np.arange(200_000) // 2)[:, None].astype(float), np.arange(200_000) // 2),
        1.0,
    ),
    Case(
        "a million rows",
        "comparing pairs of rows",
        lambda: ((np.arange(1_000_000) % 1000)[:, None].astype(float), np.arange(1_000_000) % 1000 % 3),
        1.0,
    ),
)
