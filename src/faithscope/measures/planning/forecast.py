"""The unverifiable share of other numbers of rows: exact of smaller ones, forecast of larger ones, with a band."""

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.special import betaln, gammaln, ndtri, pdtr

from faithscope.agreements import Spread
from faithscope.counting.layout import divided, sums
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import check_whole
from faithscope.measures.intervals.local import log_choose

_CERTAIN = 400  # others: a row with more is never unverifiable in a smaller or larger sample
_RATES = np.geomspace(0.001, 2 * _CERTAIN, 240)
_STEPS = 200  # of EM: a mixture that is stopped early is smooth, and forecasts better than the best fit
_TIMES = np.array([0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0])  # below 1 rarefied, above 1 Good-Toulmin
_FEW = np.array([1, 2, 3])
_AT_MOST = np.array([2, 5, 10, 20, 50])
_TOGETHER = 10  # statistics that would err independently: many more are asked, but they move together
_MANY = 50_000  # rows: statistics of more are so precise that rates must lie closer
_SMALL = 5  # rows of an explanation: up to here explanations vary as a whole, above row by row


def rarefy(profile: Profile, rows: int) -> tuple[float, float]:
    """M̂ and the unverifiable share expected of a random subset of `rows` of the n rows, exactly.

    ``(1/n) Σ_i [1 - C(n-1-c_i, m-1) / C(n-1, m-1)] · s_i / c_i`` with c_i the other rows that row i's
    explanation covers and s_i those of them with its label; U is the mean of the binomial ratio. No resampling.
    By `Spread` M̂ is NaN: a share of the variance is a ratio, whose expectation has no such form.
    """
    if check_whole(rows, "The number of rows of a subset") > profile.n:
        raise BadInput(f"A subset has between 1 and {profile.n:,} rows; got {rows:,}.")
    c = profile.others.astype(np.float64)
    silent = np.where(c > 0, -math.inf, 0.0)  # log of C(n-1-c, m-1) / C(n-1, m-1): none of the others is in the subset
    possible = (c > 0) & (c <= profile.n - rows)
    others = c[possible]
    silent[possible] = betaln(profile.n - others, others) - betaln(profile.n - rows - others + 1, others)
    silent = np.minimum(silent, 0.0)
    weight = profile.rows / profile.n
    unverifiable = float(np.sum(weight * np.exp(silent)))
    if isinstance(profile.agreement, Spread):
        return math.nan, unverifiable
    shares = divided(profile.agreeing, profile.others, 0.0)
    return float(np.sum(weight * -np.expm1(silent) * shares)), unverifiable


@dataclass(frozen=True)
class Mixture:
    """A Poisson mixture of the number of others that a row has: `shares` of the rows have the rates `_RATES`."""

    shares: Floats

    @classmethod
    def fit(cls, others: Ints, mass: Floats) -> "Mixture | None":
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
        return cls(shares)

    def silent(self, times: float) -> float:
        """The unverifiable share in a sample that is `times` as large."""
        return float(np.sum(self.shares * np.exp(-_RATES * times)))


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
        near = profile.others <= _CERTAIN
        others, mass = profile.others[near].astype(np.float64)[:, None], profile.rows[near].astype(np.float64)
        kept = np.arange(_CERTAIN + 1, dtype=np.float64)
        n, m = profile.n - 1.0, half - 1.0
        possible = (kept <= others) & (kept <= m) & (m - kept <= n - others)
        with np.errstate(all="ignore"):  # hypergeometric thinning: the expected numbers of others in a random half
            log = log_choose(others, kept) + log_choose(n - others, m - kept) - log_choose(n, m)
            thinned = mass @ np.where(possible, np.exp(log), 0.0)
        mixture = Mixture.fit(np.arange(_CERTAIN + 2), np.append(thinned, float(profile.rows[~near].sum())))
        return None if mixture is None else cls(half, mixture.silent(n / m), observed)

    @property
    def error(self) -> float:
        """The forecast minus the observed unverifiable share."""
        return self.forecast - self.observed


@cache
def rates(finer: int) -> tuple[Floats, Floats]:
    """A grid of rates at which a row may meet others, as many times finer, and what statistics are expected at each.

    Rates are 0, then by ratios, then evenly by their roots, as Poisson counts spread.
    """
    few = np.geomspace(0.01, 1, 45 * finer, endpoint=False)
    grid = np.concatenate([[0.0], few, np.arange(1, 14.2, 0.15 / finer) ** 2])
    log = np.log(np.maximum(grid, 1e-300))
    shares = np.exp(_FEW[:, None] * log - grid - gammaln(_FEW + 1)[:, None])
    return grid, np.vstack([np.exp(-_TIMES[:, None] * grid), shares, pdtr(_AT_MOST[:, None], grid)])


def coefficients(others: Array) -> Floats:
    """The a_j of every statistic at these j, one row per statistic."""
    j = np.asarray(others, np.float64)
    curves = (1 - _TIMES[:, None]) ** j
    return np.vstack([curves, j == _FEW[:, None], j <= _AT_MOST[:, None]]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Band:
    """Every mixture g of Poisson rates that agrees with the numbers of others seen in a sample.

    A row meets others at its own rate λ, so that ``E h_j = ∫ e^-λ λ^j / j! dg`` for the share h_j of rows with j
    others, and ``∫ e^-sλ dg`` is the unverifiable share of a sample s times as large. The band holds those g with
    ``|T - E_g T| <= z · se(T)`` for statistics ``T = Σ a_j h_j``: rarefied and Good-Toulmin curves, the shares with
    one, two and three others, and with at most 2, 5, 10, 20 and 50.

    Attributes
    ----------
    rates, expected : ndarray of shape (n_rates,), and (n_statistics, n_rates)
        A grid of rates at which a row may meet others, and what every statistic is expected to be at each.
    statistics : ndarray of shape (n_statistics,)
    errors : ndarray of shape (n_statistics,)
        Their standard errors.
    allowed : float
        Standard errors by which a mixture may be off in every statistic: z.
    """

    rates: Floats
    expected: Floats
    statistics: Floats
    errors: Floats
    allowed: float

    @classmethod
    def of(cls, others: Ints, rows: Floats, confidence: float) -> "Band":
        """The band of a sample in which so many `rows` have so many `others`, one number per kind of row.

        Standard errors are no smaller than if one more explanation had 1, 2, 3 or 4 rows: ``n² se² = Σ_k Φ_k v_k``, Φ_k
        explanations having k rows, and ``f(k) = k (a_{k-1} - T)`` being what such an explanation adds: v = f(k)² for
        few rows, ``k (f(k) - f(k-1))²`` for more (the Poisson-Poincaré inequality).
        """
        kinds, place = np.unique(others, return_inverse=True)
        mass = sums(place, rows.astype(np.float64), len(kinds))
        statistics = coefficients(kinds) @ mass / mass.sum()

        def added(others: Array) -> Floats:
            return np.asarray((others + 1.0) * (coefficients(np.maximum(others, 0)) - statistics[:, None]))

        size = kinds + 1.0
        vary = np.where(size <= _SMALL, added(kinds) ** 2, size * (added(kinds) - added(kinds - 1)) ** 2)
        squares = vary @ (mass / size) + np.sum(added(np.arange(4)) ** 2, axis=1)
        squares[-len(_AT_MOST) :] += (_AT_MOST + 2.0) ** 2
        allowed = float(-ndtri((1 - confidence) / (2 * _TOGETHER)))
        unseen = math.log(2 / (1 - confidence)) / mass.sum()  # explanations of this mass may be unseen: rule of three
        finer = 1 if mass.sum() <= _MANY else 4
        least = max(0.001 / finer**2, unseen / allowed)  # what the grid can tell apart, in any statistic
        return cls(*rates(finer), statistics, np.maximum(np.sqrt(squares) / mass.sum(), least), allowed)

    def low(self, times: float) -> float:
        """The least unverifiable share of a sample `times` as large."""
        return self._least(np.exp(-times * self.rates))

    def high(self, times: float) -> float:
        """The largest unverifiable share of a sample `times` as large."""
        return 1 - self._least(-np.expm1(-times * self.rates))

    @cached_property
    def odd(self) -> bool:
        """Whether no mixture comes as near as independent rows nearly always do: then the band is all of [0, 1]."""
        return self._smallest(np.zeros(len(self.rates))) is None

    def _least(self, shares: Floats) -> float:
        """The least ``∫ shares dg`` over the mixtures of the band; 0, which is true, if there is none."""
        result = None if self.odd else self._smallest(shares)
        return 0.0 if result is None else min(max(result, 0.0), 1.0)

    def _smallest(self, shares: Floats) -> float | None:
        """The same by a linear program, expectations and statistics in standard errors; None if there is no mixture."""
        from scipy.optimize import linprog  # takes longer to import than all else here

        moments, seen = self.expected / self.errors[:, None], self.statistics / self.errors
        everybody = np.append(np.ones(len(shares)), np.zeros(len(seen)))
        within = np.tile([-self.allowed, self.allowed], (len(seen), 1))
        program = {
            "A_eq": np.vstack([np.hstack([moments, np.eye(len(seen))]), everybody]),
            "b_eq": np.append(seen, 1.0),
            "bounds": np.vstack([np.tile([0.0, 1.0], (len(shares), 1)), within]),
        }
        result = linprog(np.append(shares, np.zeros(len(seen))), method="highs-ds", **program)
        if result.status == 0:
            return float(result.fun)
        return None
