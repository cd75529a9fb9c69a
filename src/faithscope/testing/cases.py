"""Samples whose measures are known exactly, each with what it catches; those of a few rows are in ``cases.json``."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np

Inputs = tuple[Any, ...]  # explanations, rows where there are any, and predictions
Conditions = list[tuple[str, str, Any]]


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
    make: Callable[[], Inputs] = field(repr=False)
    value: float


@dataclass(frozen=True)
class ScopedCase:
    """A few rows under rules, worked out by hand.

    Attributes
    ----------
    name : str
    catches : str
    rules : list of lists of conditions
        One conjunction per row, as `Rules.from_conditions` takes them.
    rows : list of float
        Value of the only feature, ``x``, per row.
    predictions : list
    consistency, sufficiency : list of float or None
        Local value of each row, leaving the row itself out; None if there is no other row to compare with.

    Examples
    --------
    >>> from faithscope.testing import SCOPED_CASES
    >>> SCOPED_CASES[0].rules[0], SCOPED_CASES[0].sufficiency[0]
    ([('x', '<=', 10.0)], 0.3333333333333333)
    """

    name: str
    catches: str
    rules: list[Conditions]
    rows: list[float]
    predictions: list[Any]
    consistency: list[float | None]
    sufficiency: list[float | None]

    @property
    def global_consistency(self) -> float:
        """M̂ of consistency: rows without any other row to compare with count 0."""
        return sum(agreement or 0.0 for agreement in self.consistency) / len(self.rows)

    @property
    def global_sufficiency(self) -> float:
        """M̂ of sufficiency."""
        return sum(agreement or 0.0 for agreement in self.sufficiency) / len(self.rows)


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


def _numbers_in_no_order() -> Inputs:
    order = np.random.default_rng(0).permutation(2000)
    return order % 10, (order // 10 % 4).astype(float)


# Samples of many rows.
_MADE: dict[str, Callable[[], Inputs]] = {
    "partners 65 rows apart": lambda: _apart(65),
    "partners 5,000 rows apart": lambda: _apart(5000),
    "a hub and many that are alone": _hub,
    "rows in no order": _shuffled,
    "100,000 labels": lambda: ((np.arange(200_000) // 2)[:, None].astype(float), np.arange(200_000) // 2),
    "a million rows": lambda: ((np.arange(1_000_000) % 1000)[:, None].astype(float), np.arange(1_000_000) % 1000 % 3),
    "numbers in no order": _numbers_in_no_order,
    "200,000 rows with one explanation": lambda: (np.zeros(200_000, np.int64), np.arange(200_000) % 1000 * 1.0),
}


def _read(part: list[Any]) -> Any:
    """What JSON has for keys, vectors, rules or labels: vectors as an array, and conditions of rules as tuples."""
    if not isinstance(part[0], list):
        return list(part)
    if isinstance((part[0] or [[]])[0], list):
        return [[tuple(condition) for condition in rule] for rule in part]
    return np.array(part, np.float64)


def _maker(case: dict[str, Any]) -> Callable[[], Inputs]:
    made = case.pop("made", None)
    given = case.pop("given", ())
    return _MADE[made] if made else lambda: tuple(map(_read, given))


_KEPT = json.loads(files("faithscope.testing").joinpath("cases.json").read_text("utf-8"))
CASES = tuple(Case(make=_maker(case), **case) for case in _KEPT["consistency"])
SCOPED_CASES = tuple(ScopedCase(**case | {"rules": _read(case["rules"])}) for case in _KEPT["sufficiency"])
NUMBER_CASES, SCOPED_NUMBER_CASES = (
    tuple(NumberCase(make=_maker(case), **case) for case in _KEPT[f"{measure} of numbers"])
    for measure in ("consistency", "sufficiency")
)
