"""Forecast: the unverifiable share expected of a larger sample, and the same forecast tried from half of the rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from faithscope.counting.counts import sums
from faithscope.counting.profile import Profile

Floats = NDArray[np.float64]
_CERTAIN = 400  # others: a row with more is never unverifiable in a smaller or larger sample
_RATES = np.geomspace(0.001, 2 * _CERTAIN, 240)
_STEPS = 200  # of EM: a mixture that is stopped early is smooth, and forecasts better than the best fit


@dataclass(frozen=True)
class Mixture:
    """A Poisson mixture of the number of others that a row has: `shares` of the rows have the rates `rates`."""

    rates: Floats
    shares: Floats

    @classmethod
    def fit(cls, others: NDArray[np.int64], mass: Floats) -> "Mixture | None":
        """The mixture for the number of others that rows have (EM on a grid of rates); None if no row has others."""
        others, place = np.unique(others, return_inverse=True)
        mass = sums(place, mass, len(others))
        if not np.any(mass[others > 0] > 0):
            return None
        near = (others <= _CERTAIN) & (mass > 0)
        seen, weight = others[near].astype(np.float64), mass[near] / mass.sum()
        likelihood = np.exp(seen[:, None] * np.log(_RATES) - _RATES - gammaln(seen + 1)[:, None])
        shares = np.full(len(_RATES), weight.sum() / len(_RATES))
        for _ in range(_STEPS if len(seen) else 0):
            shares *= (weight / np.maximum(likelihood @ shares, 1e-300)) @ likelihood
        return cls(_RATES, shares)

    def silent(self, times: float) -> float:
        """The unverifiable share in a sample that is `times` as large."""
        return float(np.sum(self.shares * np.exp(-self.rates * times)))


@dataclass(frozen=True)
class Backtest:
    """The forecast checked against a known answer: from half of the rows to all of them."""

    rows: int
    forecast: float
    observed: float

    @classmethod
    def of(cls, profile: Profile, observed: float) -> "Backtest | None":
        """The forecast from half of the rows; None if no row of such a half has others."""
        half = profile.n // 2
        mixture = Mixture.fit(*_thinned(profile, half))
        if mixture is None:
            return None
        return cls(half, mixture.silent((profile.n - 1) / (half - 1)), observed)

    @property
    def error(self) -> float:
        """The forecast minus the observed unverifiable share."""
        return self.forecast - self.observed


def _thinned(profile: Profile, rows: int) -> tuple[NDArray[np.int64], Floats]:
    """The expected histogram of the number of others in a random subset of `rows` rows (hypergeometric thinning)."""
    near = profile.others <= _CERTAIN
    others, mass = profile.others[near].astype(np.float64)[:, None], profile.rows[near].astype(np.float64)
    kept = np.arange(_CERTAIN + 1, dtype=np.float64)
    n, m = profile.n - 1.0, rows - 1.0
    possible = (kept <= others) & (kept <= m) & (m - kept <= n - others)
    with np.errstate(all="ignore"):
        log = _log_choose(others, kept) + _log_choose(n - others, m - kept) - _log_choose(n, m)
        thinned = mass @ np.where(possible, np.exp(log), 0.0)
    return np.arange(_CERTAIN + 2), np.append(thinned, float(profile.rows[~near].sum()))


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
