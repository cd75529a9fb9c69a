"""Rarefaction: what a random subset of the rows would have shown, exactly."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from faithscope.agreements import Spread
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_whole

Floats = NDArray[np.float64]


def rarefy(profile: Profile, rows: int) -> tuple[float, float]:
    """M̂ and the unverifiable share expected of a random subset of `rows` of the n rows, exactly.

    ``(1/n) Σ_i [1 - C(n-1-c_i, m-1) / C(n-1, m-1)] · s_i / c_i`` with c_i the other rows that row i's
    explanation covers and s_i those of them with its label; U is the mean of the binomial ratio. No resampling.
    By `Spread` M̂ is NaN: a share of the variance is a ratio, whose expectation has no such form.
    """
    if check_whole(rows, "The number of rows of a subset") > profile.n:
        raise BadInput(f"A subset has between 1 and {profile.n:,} rows; got {rows:,}.")
    silent = _log_chance_of_none(profile.others, profile.n, rows)
    weight = profile.rows / profile.n
    if isinstance(profile.agreement, Spread):
        return math.nan, float(np.sum(weight * np.exp(silent)))
    shares = np.divide(profile.agreeing, profile.others, out=np.zeros(len(weight)), where=profile.others > 0)
    return float(np.sum(weight * -np.expm1(silent) * shares)), float(np.sum(weight * np.exp(silent)))


def _log_chance_of_none(others: NDArray[np.int64], n: int, rows: int) -> Floats:
    """Logarithm of C(n-1-c, m-1) / C(n-1, m-1): a subset of m rows that holds x holds none of its c others."""
    c = others.astype(np.float64)
    log = np.full(len(c), -math.inf)
    log[c == 0] = 0.0
    possible = (c > 0) & (c <= n - rows)
    log[possible] = betaln(n - c[possible], c[possible]) - betaln(n - rows - c[possible] + 1, c[possible])
    return np.asarray(np.minimum(log, 0.0))
