"""The paper's bound on the mean squared error, and the sample sizes that follow from it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from faithscope.agreements import Spread
from faithscope.counting.counts import to_counted
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.checks import check_share, check_whole
from faithscope.inputs.labels import to_numbers
from faithscope.measures.intervals.margins import check_confidence


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
    It holds for every agreement from 0 to 1: replacing one row changes n·M̂ by at most 3, so by Efron and Stein its
    variance is at most 9/(4n), and the bias is at most the probability of silence.

    Parameters
    ----------
    estimate : Estimate or Counts, optional
        A sample that was measured.
    p, q : array-like, optional
        For each explanation of the population, the share of rows that are given it, and the share of rows that it
        covers (by default p).
    n : int, optional
        Number of rows; required with `p`.
    confidence : float
        With which a bound from a sample holds.

    Returns
    -------
    MeanSquaredErrorBound
        A float that knows the confidence it holds at.

    Examples
    --------
    >>> from faithscope import consistency
    >>> print(mse_bound(consistency(["a", "b"] * 500, [0, 1] * 500)))
    mean squared error at most 0.009991, with confidence 95%
    >>> print(mse_bound(p=[0.5, 0.5], n=100))
    mean squared error at most 0.04
    """
    if (estimate is None) == (p is q is n is None):
        raise BadInput("Pass either an estimate, or the population's p (and q) with n: an estimate knows its own.")
    if p is not None:
        given, covered = to_numbers(p, "p"), to_numbers(p if q is None else q, "q")
        rows = check_whole(n, "With p, the number of rows n")
        alike = given.shape == covered.shape and abs(given.sum() - 1) < 1e-6 and (given >= 0).all()
        if not alike or (covered > 1).any() or (covered < given - 1e-12).any():
            raise BadInput(
                "p must be a distribution over explanations, and q as long, from p to 1, since explanations cover the "
                f"rows they are given to; got shapes {given.shape} and {covered.shape}, and p sums to {given.sum():g}."
            )
        others = float(min(rows - 1, 10**300))  # larger numbers give the same bias
        bias = float(np.sum(given * np.exp(-others * covered)))
        return MeanSquaredErrorBound(4 / rows + bias**2)
    counts = to_counted(estimate, "mse_bound")
    if isinstance(counts.agreement, Spread) or not counts.plain or not counts.covers_once:
        raise NotProven(
            "The mean-squared-error bound is not proven here, but for independent rows that count the same, agreements "
            "from 0 to 1, and rows that each lie under their own explanation alone: use the jackknife interval."
        )
    silent = counts.profile().terms.silent / counts.n
    bias = min(1.0, silent + math.sqrt(2 * math.log(1 / check_confidence(confidence)) / counts.n))
    return MeanSquaredErrorBound(4 / counts.n + bias**2, confidence)


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
    """Rows with x's explanation that determine its local measure to ±epsilon, by Hoeffding: ``ln(2/δ) / (2ε²)``.

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
        raise BadInput("So small an error takes more rows than can be counted: ask for a larger epsilon.") from None
