"""Means over repeated samples of rows, and how far they may be off."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.records import Record

_BLOCKS = 20


def mean_of(
    estimates: Sequence[fs.Estimate], like: Record, number: Callable[[fs.Estimate], float] | None = None
) -> Record:
    """A record with the mean over samples: of M̂, or of another number, which then has no interval.

    Parameters
    ----------
    estimates : sequence of Estimate
        One per sample. The limits of the interval are means too, so they hold for one sample of that size.
    like : Record
        The record's table, case, measure, setting, printed number and note.
    number : callable, optional
        From an estimate to a number.
    """
    values = [estimate.value if number is None else number(estimate) for estimate in estimates]
    mean, std = float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None
    record = replace(like, n=estimates[0].n, ours=mean, repeats=len(values), std=std)
    if number is not None:
        return record
    chances = [estimate.chance for estimate in estimates if estimate.chance is not None]
    return replace(
        record,
        low=float(np.mean([estimate.low for estimate in estimates])),
        high=float(np.mean([estimate.high for estimate in estimates])),
        unverifiable=float(np.mean([estimate.unverifiable for estimate in estimates])),
        chance=float(np.mean(chances)) if chances else None,
    )


def share(like: Record, count: int, n: int) -> Record:
    """A record with a share of n rows and Clopper and Pearson's interval; without a number if there are no rows."""
    from scipy.stats import binomtest

    if not n:
        return replace(like, n=0, ours=None, note=f"no rows; {like.note}")
    limits = binomtest(count, n).proportion_ci(0.95, method="exact")
    return replace(like, n=n, ours=count / n, low=float(limits.low), high=float(limits.high))


def rows_expected(like: Record, count: int, n: int, rows: int) -> Record:
    """A record with the rows that another run is expected to count among `rows`, if this one counted `count` of n.

    The interval, which is the range too, holds 95% of such runs (the beta-binomial distribution, from Jeffreys' prior).
    """
    from scipy.stats import betabinom

    if not n:
        return replace(like, n=0, ours=None, note=f"no rows; {like.note}")
    low, high = betabinom.ppf([0.025, 0.975], rows, count + 0.5, n - count + 0.5)
    least, most = float(low), float(high)
    ours = replace(like, n=n, ours=count / n * rows, low=least, high=most)
    return replace(ours, lowest=least, highest=most, hangs_on="anchors")


def unique_share(estimate: fs.Estimate) -> float:
    """Share of rows whose explanation no other row was given: uniqueness as the paper defines it."""
    return float(np.sum(estimate.counts.per_explanation == 1) / estimate.n)


def distinct_share(estimate: fs.Estimate) -> float:
    """Different explanations / rows: uniqueness as the paper's tables print it."""
    return estimate.distinct / estimate.n


def itself_counted(estimate: fs.Estimate) -> float:
    """The measure with every row among its own witnesses: the mean of ``N_{π,y} / N_π``, or of 0 if N_π = 1."""
    profile = estimate.counts.profile()
    shares = (profile.agreeing + 1) / (profile.others + 1)
    return float(np.sum(profile.rows * np.where(profile.others > 0, shares, 0.0)) / profile.n)


def half_width(values: NDArray[np.float64]) -> Any:
    """Half the width of the 95% interval of the mean over the first axis: ``t · s / √n``, t of n - 1 degrees."""
    from scipy.stats import t

    return t.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(values))


def by_blocks(
    measure: Callable[[NDArray[np.int64]], NDArray[np.float64]], n: int, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimates on all rows and the half-widths of their 95% intervals, by leaving out each of 20 blocks of rows.

    The interval covers the sampling error of estimates, such as the difference between two estimates that the paper
    prints. Unlike the interval of an `Estimate`, it says nothing about rows that cannot be checked.

    Parameters
    ----------
    measure : callable
        From positions of rows to an array of numbers.
    n : int
        Number of rows.
    """
    from scipy.stats import t

    block = np.random.default_rng(seed).permutation(n) % _BLOCKS
    left_out = np.array([measure(np.flatnonzero(block != left)) for left in range(_BLOCKS)])
    squares = np.sum((left_out - left_out.mean(axis=0)) ** 2, axis=0)
    return measure(np.arange(n)), t.ppf(0.975, _BLOCKS - 1) * np.sqrt((_BLOCKS - 1) / _BLOCKS * squares)
