"""Intervals: jackknife and McDiarmid margins around a value."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from faithscope.counting.leave_out import LeftOut, leave_out_rows
from faithscope.counting.profile import Profile
from faithscope.inputs.checks import check_share

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Margins:
    """How far the truth may lie below the value, and how far above the value plus the unverifiable share."""

    below: float
    above: float
    degrees_of_freedom: float = math.inf  # small if a few rows decide the spread
    verified: float = 1.0  # how far the agreement among rows that can be checked may be off, to either side
    weight: float | None = None  # sum over rows of their squared `LeftOut.weight`; None for equality


def check_confidence(confidence: float) -> float:
    """The probability with which the interval may miss the truth, 1 - confidence."""
    return 1 - check_share(confidence, "confidence")


def mcdiarmid(profile: Profile, confidence: float, sides: int = 2) -> Margins:
    """Margins that hold for any model, explainer and population, from n alone.

    Replacing one row changes n·M̂ by at most 3 and n·(M̂ + U) by at most 2, so McDiarmid's inequality applies.
    """
    tail = math.log(sides / check_confidence(confidence)) / profile.n
    return Margins(math.sqrt(4.5 * tail), math.sqrt(2 * tail))


def jackknife(profile: Profile, confidence: float, sides: int = 2) -> Margins:
    """Margins from what M̂ and M̂ + U become when one row is left out, in closed form.

    Never less than ``2 ln(2/δ) / n``: if no disagreement was seen the spread is 0, but rare disagreements may have
    been missed (the rule of three).
    """
    if profile.n < 2:
        return Margins(1.0, 1.0)
    return jackknife_margins(leave_out_rows(profile.kinds()), float(profile.n), confidence, sides)


def jackknife_margins(left_out: LeftOut | None, effective_n: float, confidence: float, sides: int = 2) -> Margins:
    """Margins from leave-one-out values; 1 if there are none, as for a single row.

    The reach is how much the terms of other rows lean on one row at most, ``max_j Σ_i 1(π_i covers j) / c_i``; it is 1
    for equality. A kind of row that the sample missed has probability at most ln(1/δ)/n, and changes the measure by
    its own term and by the terms that lean on it: hence the least margin ``(1 + reach) ln(1/δ) / n``.
    """
    wrong = check_confidence(confidence) / sides
    if left_out is None:
        return Margins(1.0, 1.0)
    rows = np.ones(len(left_out.value)) if left_out.rows is None else left_out.rows
    least = (1 + max(1.0, left_out.reach)) * math.log(1 / wrong) / effective_n
    spreads = [spread(left_out.value, rows, wrong), spread(left_out.value + left_out.silent, rows, wrong)]
    below, above = (max(margin, least) for margin, _ in spreads)
    freedom = min((freedom for margin, freedom in spreads if margin > least), default=math.inf)
    weight = None if left_out.weight is None else float(np.sum(rows * left_out.weight**2))
    return Margins(below, above, freedom, _verified_margin(left_out, rows, least, wrong), weight)


def _verified_margin(left_out: LeftOut, rows: NDArray[Any], least: float, wrong: float) -> float:
    """The margin of ``M̂ / (1 - U)``: the jackknife of the ratio; the least margin is divided by the share checked."""
    checked = 1 - left_out.silent
    share = float(np.sum(rows * checked) / rows.sum())
    if share <= 0:
        return 1.0
    ratios = np.divide(left_out.value, checked, out=np.zeros(len(checked)), where=checked > 0)
    return min(1.0, max(spread(ratios, rows, wrong)[0], least / share))


def spread(values: Floats, rows: NDArray[Any], wrong: float) -> tuple[float, float]:
    """Student's t times the jackknife standard error, and the degrees of freedom (Σr²)² / Σr⁴."""
    n = float(rows.sum())
    deviations = values - np.sum(rows * values) / n
    largest = float(np.abs(deviations).max(initial=0.0))
    if largest <= 1e-14:  # all leave-one-out values are the same number, up to rounding
        return 0.0, math.inf
    squares = (deviations / largest) ** 2
    second, fourth = float(np.sum(rows * squares)), float(np.sum(rows * squares**2))
    freedom = second**2 / fourth
    error = largest * math.sqrt((n - 1) / n * second)
    return float(stdtrit(freedom, 1 - wrong)) * error, freedom
