"""How sure: jackknife and McDiarmid margins, and the paper's mean-squared-error bound."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from faithscope.errors import BadInput, NotProven
from faithscope.explanations.inputs import check_share, check_whole
from faithscope.explanations.labels import to_numbers
from faithscope.measures.counts import to_counted
from faithscope.measures.profile import Profile

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Margins:
    """How far the truth may lie below the value, and above the value plus what cannot be verified."""

    below: float
    above: float
    degrees_of_freedom: float = math.inf  # small where a few rows decide the spread
    verified: float = 1.0  # how far the agreement among rows that can be checked may be off, to either side
    weight: float | None = None  # sum over rows of their squared `LeftOut.weight`; None for equality


@dataclass(frozen=True, eq=False)
class LeftOut:
    """M̂ and U with each row, or each block of rows, left out in turn; and the reach of a row (see below).

    `weight` is how much a row takes part in the answer: 1 for its own term where it has one, and how much the terms
    of other rows lean on it. None for equality, where a row that can be checked has 2 and any other none.
    """

    value: Floats
    silent: Floats
    reach: float = 1.0
    weight: Floats | None = None


def check_confidence(confidence: float) -> float:
    """The chance allowed for being wrong, 1 - confidence."""
    return 1 - check_share(confidence, "confidence")


def mcdiarmid(profile: Profile, confidence: float, sides: int = 2) -> Margins:
    """Margins that hold for any model, explainer and population, from n alone.

    Replacing one row moves n·M̂ by at most 3 and n·(M̂ + U) by at most 2 (McDiarmid's inequality does the rest).
    """
    tail = math.log(sides / check_confidence(confidence)) / profile.n
    return Margins(math.sqrt(4.5 * tail), math.sqrt(2 * tail))


def jackknife(profile: Profile, confidence: float, sides: int = 2) -> Margins:
    """Margins from what M̂ and M̂ + U become when one row is left out, in closed form.

    Never narrower than ``2 ln(2/δ) / n``: where no disagreement was seen the spread
    is 0, yet a rare one may have been missed (the rule of three).
    """
    if profile.n < 2:
        return Margins(1.0, 1.0)
    return jackknife_margins(without_one_row(profile), profile.rows, float(profile.n), confidence, sides)


def without_one_row(profile: Profile) -> LeftOut:
    """M̂ and U with one row of each kind left out.

    A group of N rows with S agreeing ordered pairs adds S / (N - 1); without one of
    the s + 1 rows of a label it adds (S - 2s) / (N - 2).
    """
    size, n = profile.others + 1, profile.n
    before = np.divide(profile.pairs, size - 1, out=np.zeros(len(size)), where=size > 1)
    after = np.divide(profile.pairs - 2 * profile.agreeing, size - 2, out=np.zeros(len(size)), where=size > 2)
    total = float(np.sum(profile.rows / size * before))
    alone = int(profile.rows[size == 1].sum())
    silent = alone + np.where(size == 2, 1, 0) - (size == 1)
    return LeftOut((total - before + after) / (n - 1), silent / (n - 1))


def jackknife_margins(
    left_out: LeftOut, rows: NDArray[Any], effective_n: float, confidence: float, sides: int = 2
) -> Margins:
    """Margins from leave-one-out values, each standing for some rows.

    Reach is how much the terms of other rows lean on one row at most, ``max_j Σ_i 1(π_i covers j) / c_i``; it is 1
    for equality. A kind of row that the sample happened to miss has a chance of at most ln(1/δ)/n, and moves the
    measure by its own term and by what leans on it: hence the least margin ``(1 + reach) ln(1/δ) / n``.
    """
    wrong = check_confidence(confidence) / sides
    least = (1 + max(1.0, left_out.reach)) * math.log(1 / wrong) / effective_n
    spreads = [spread(left_out.value, rows, wrong), spread(left_out.value + left_out.silent, rows, wrong)]
    below, above = (max(margin, least) for margin, _ in spreads)
    freedom = min((freedom for margin, freedom in spreads if margin > least), default=math.inf)
    weight = None if left_out.weight is None else float(np.sum(rows * left_out.weight**2))
    return Margins(below, above, freedom, _verified_margin(left_out, rows, least, wrong), weight)


def _verified_margin(left_out: LeftOut, rows: NDArray[Any], least: float, wrong: float) -> float:
    """The same for ``M̂ / (1 - U)``: the jackknife of the ratio, with the least margin shared by fewer rows."""
    checked = 1 - left_out.silent
    share = float(np.sum(rows * checked) / rows.sum())
    if share <= 0:
        return 1.0
    ratios = np.divide(left_out.value, checked, out=np.zeros(len(checked)), where=checked > 0)
    return min(1.0, max(spread(ratios, rows, wrong)[0], least / share))


def weight_of_blocks(leaning: Floats, rows: Floats) -> Floats:
    """`LeftOut.weight` where blocks of rows were left out: the same for each block.

    Blocks are dealt at random, so the spread of their sums tells the spread among single rows.

    Parameters
    ----------
    leaning, rows : (blocks,) arrays
        How much other rows lean on the rows of each block, and how many these are.
    """
    n = float(rows.sum())
    mean, size = float(leaning.sum()) / n, n / len(rows)
    among = float(np.var(leaning, ddof=1)) / size if len(rows) > 1 else 0.0
    return np.full(len(rows), math.sqrt(n * ((1 + mean) ** 2 + among) / len(rows)))


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


class MeanSquaredErrorBound(float):
    """An upper bound on E[(M̂ - m)²], with the confidence it holds at (None: always)."""

    confidence: float | None

    def __new__(cls, value: float, confidence: float | None = None) -> "MeanSquaredErrorBound":
        bound = super().__new__(cls, value)
        bound.confidence = confidence
        return bound

    def __str__(self) -> str:
        known = "" if self.confidence is None else f", with confidence {100 * self.confidence:g}%"
        return f"mean squared error at most {float(self):.4g}{known}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (float(self), self.confidence))


def mse_bound(
    estimate: Any = None,
    *,
    p: ArrayLike | None = None,
    q: ArrayLike | None = None,
    n: int | None = None,
    confidence: float = 0.95,
) -> MeanSquaredErrorBound:
    """The paper's bound on the mean squared error of M̂.

    With the population known (`p`, `q`, `n`) it is the Theorem, ``4/n + (Σ p(π) e^{-(n-1) q(π)})²``.
    From a sample it is ``4/n + min(1, U + √(2 ln(1/δ)/n))²``, which holds with confidence 1 - δ; observed
    frequencies in place of p and q would not do (a sample of unique explanations would give .14 where the truth is 1).

    Parameters
    ----------
    estimate : Estimate or Counts, optional
        A measured sample.
    p, q : array-like, optional
        For each explanation of the population, the share of rows given it and the share it covers (default: p).
    n : int, optional
        Number of rows, with `p`.

    Returns
    -------
    MeanSquaredErrorBound
        A float that knows the confidence it holds at.
    """
    if (estimate is None) == (p is None):
        raise BadInput("Pass either an estimate, or the population's p (and q) with n.")
    if p is not None:
        return _known_population_bound(p, p if q is None else q, n)
    counts = to_counted(estimate, "mse_bound")
    if counts.weight is not None:
        raise NotProven("The mean-squared-error bound is proven for unweighted rows only: use the jackknife interval.")
    if not counts.covers_once:
        raise NotProven(
            f"The mean-squared-error bound is not proven for {counts.relation} unless every row lies under its own "
            "explanation and no other: use the jackknife interval."
        )
    profile, wrong = counts.profile(), check_confidence(confidence)
    silent = float(profile.rows[profile.others == 0].sum() / profile.n)
    bias = min(1.0, silent + math.sqrt(2 * math.log(1 / wrong) / profile.n))
    return MeanSquaredErrorBound(4 / profile.n + bias**2, confidence)


def _known_population_bound(p: ArrayLike, q: ArrayLike, n: int | None) -> MeanSquaredErrorBound:
    given, covered = to_numbers(p, "p"), to_numbers(q, "q")
    rows = check_whole(n, "With p, the number of rows n")
    if given.shape != covered.shape or len(given) == 0:
        raise BadInput(f"p and q must be two lists of one length; got shapes {given.shape} and {covered.shape}.")
    if not (np.all(given >= 0) and abs(given.sum() - 1) < 1e-6 and np.all((covered >= 0) & (covered <= 1))):
        raise BadInput(
            f"p must be a distribution and q lie in [0, 1]; p sums to {given.sum():g}, q reaches {covered.max():g}."
        )
    if np.any(covered < given - 1e-12):
        raise BadInput("q(π) cannot be smaller than p(π): an explanation covers the rows it was given to.")
    others = float(min(rows - 1, 10**300))  # beyond it the share is the same
    bias = float(np.sum(given * np.exp(-others * covered)))
    return MeanSquaredErrorBound(4 / rows + bias**2)


def sample_size(range_size: int, epsilon: float) -> int:
    """Rows that guarantee a mean squared error of at most epsilon, by the paper's Corollary.

    ``n ≥ range(e)·(12/ε)·ln(3/ε)``, where range(e) is the number of explanations the explainer can give.

    Examples
    --------
    >>> sample_size(64, 0.1)
    26122
    """
    check_whole(range_size, "range_size, the number of possible explanations,")
    check_share(epsilon, "epsilon")
    return _whole_rows(lambda: range_size * 12 / epsilon * math.log(3 / epsilon))


def local_sample_size(epsilon: float, confidence: float = 0.9) -> int:
    """Rows with x's explanation that pin its local measure down to ±epsilon, by Hoeffding: ``ln(2/δ) / (2ε²)``.

    Examples
    --------
    >>> local_sample_size(0.1)
    150
    """
    check_share(epsilon, "epsilon")
    wrong = check_confidence(confidence)
    return _whole_rows(lambda: math.log(2 / wrong) / (2 * float(epsilon) ** 2))


def _whole_rows(rows: Callable[[], float]) -> int:
    try:
        return math.ceil(rows())
    except (OverflowError, ZeroDivisionError):
        raise BadInput("So small an error takes more rows than can be counted: ask for a larger one.") from None
