"""Samples whose measures are known exactly, each with what it catches; those of a few rows are in ``cases.json``."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np

Inputs = tuple[Any, ...]  # explanations, rows where there are any, and predictions


@dataclass(frozen=True)
class Case:
    """A sample, and the paper's estimate M̂ on it, worked out by hand.

    Attributes
    ----------
    name : str
    catches : str
        The mistake that gives another answer.
    make : function
        Takes no arguments; returns explanations and predictions. Explanations are an (n, d) array, or one key per row;
        for sufficiency there are rules, one conjunction per row, as `Rules.from_conditions` takes them, then rows of
        the only feature ``x``, (n, 1), then predictions.
    value : float
        Consistency: ``(1/n) Σ_i 1(N_π > 1) (N_{π,y} - 1) / (N_π - 1)``; or sufficiency.
    agreement : str
        Of numbers ``close:eps``, ``tolerance:eps`` or ``spread``: ``K = max(0, 1 - |y - y'| / eps)``,
        ``K = 1(|y - y'| <= eps)``, or the share of the variance that explanations account for. Empty for labels.
    local : dict, optional
        Local consistency and sufficiency of each row, leaving the row itself out; None if there is no other row.

    Examples
    --------
    >>> from faithscope.testing import CASES, NUMBER_CASES
    >>> CASES[0].name, CASES[0].make(), CASES[0].value
    ('two pairs, one of them split', (['a', 'a', 'b', 'b'], [1, 1, 0, 1]), 0.5)
    >>> NUMBER_CASES[0].agreement, NUMBER_CASES[0].make(), NUMBER_CASES[0].value
    ('close:2', (['a', 'a'], [1.0, 1.5]), 0.75)
    """

    name: str
    catches: str
    make: Callable[[], Inputs] = field(repr=False)
    value: float
    agreement: str = ""
    local: dict[str, list[float | None]] | None = field(default=None, repr=False)


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
CASES, SCOPED_CASES, NUMBER_CASES, SCOPED_NUMBER_CASES = (
    tuple(Case(make=_maker(case), **case) for case in cases) for cases in _KEPT.values()
)
