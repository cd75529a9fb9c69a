"""Band: the unverifiable shares of larger samples that agree with what a sample shows, by two linear programs."""

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri, pdtr

from faithscope.counting.counts import sums

Floats = NDArray[np.float64]

_TIMES = np.array([0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0])  # below 1 rarefied, above 1 Good-Toulmin
_FEW = np.array([1, 2, 3])
_AT_MOST = np.array([2, 5, 10, 20, 50])
_TOGETHER = 10  # statistics that would err independently: many more are asked, but they move together
_MANY = 50_000  # rows: statistics of more are so precise that rates must lie closer
_SMALL = 5  # rows of an explanation: up to here explanations vary as a whole, above row by row


@dataclass(frozen=True, eq=False)
class Rates:
    """A grid of rates at which a row may meet others, and what every statistic is expected to be at each.

    Attributes
    ----------
    rates : ndarray of shape (n_rates,)
        0, then by ratios, then evenly by their roots, as Poisson counts spread.
    expected : ndarray of shape (n_statistics, n_rates)
    finest : float
        What the grid can tell apart, in any statistic.
    """

    rates: Floats
    expected: Floats
    finest: float

    @classmethod
    @cache
    def spaced(cls, finer: int) -> "Rates":
        """The grid, as many times finer."""
        few = np.geomspace(0.01, 1, 45 * finer, endpoint=False)
        rates = np.concatenate([[0.0], few, np.arange(1, 14.2, 0.15 / finer) ** 2])
        log = np.log(np.maximum(rates, 1e-300))
        shares = np.exp(_FEW[:, None] * log - rates - gammaln(_FEW + 1)[:, None])
        expected = np.vstack([np.exp(-_TIMES[:, None] * rates), shares, pdtr(_AT_MOST[:, None], rates)])
        return cls(rates, expected, 0.001 / finer**2)


@dataclass(frozen=True, eq=False)
class Band:
    """Every mixture g of Poisson rates that agrees with the numbers of others seen in a sample.

    A row meets others at its own rate λ, so that ``E h_j = ∫ e^-λ λ^j / j! dg`` for the share h_j of rows with j
    others, and ``∫ e^-sλ dg`` is the unverifiable share of a sample s times as large. The band holds those g with
    ``|T - E_g T| <= z · se(T)`` for statistics ``T = Σ a_j h_j``: rarefied and Good-Toulmin curves, the shares with
    one, two and three others, and with at most 2, 5, 10, 20 and 50.

    Attributes
    ----------
    rates : Rates
    statistics : ndarray of shape (n_statistics,)
    errors : ndarray of shape (n_statistics,)
        Their standard errors.
    allowed : float
        Standard errors by which a mixture may be off in every statistic: z.
    """

    rates: "Rates"
    statistics: Floats
    errors: Floats
    allowed: float

    @classmethod
    def of(cls, others: NDArray[np.int64], rows: Floats, confidence: float) -> "Band":
        """The band of a sample in which so many `rows` have so many `others`, one number per kind of row."""
        kinds, place = np.unique(others, return_inverse=True)
        mass = sums(place, rows.astype(np.float64), len(kinds))
        statistics = _coefficients(kinds) @ mass / mass.sum()
        rates = Rates.spaced(1 if mass.sum() <= _MANY else 4)
        allowed = float(-ndtri((1 - confidence) / (2 * _TOGETHER)))
        unseen = math.log(2 / (1 - confidence)) / mass.sum()  # explanations of this mass may be unseen: rule of three
        errors = np.maximum(_errors(kinds, mass, statistics), max(rates.finest, unseen / allowed))
        return cls(rates, statistics, errors, allowed)

    def at(self, times: float) -> tuple[float, float]:
        """The least and the largest unverifiable share of a sample `times` as large."""
        return self.low(times), self.high(times)

    def low(self, times: float) -> float:
        """The least unverifiable share of a sample `times` as large."""
        return self._least(np.exp(-times * self.rates.rates))

    def high(self, times: float) -> float:
        """The largest unverifiable share of a sample `times` as large."""
        return 1 - self._least(-np.expm1(-times * self.rates.rates))

    @cached_property
    def odd(self) -> bool:
        """Whether no mixture comes as near as independent rows nearly always do: then the band is all of [0, 1]."""
        moments, seen = self._scaled
        off = np.ones((len(seen), 1))
        result = _linprog(
            np.append(np.zeros(moments.shape[1]), 1.0),
            A_ub=np.block([[moments, -off], [-moments, -off]]),
            b_ub=np.concatenate([seen, -seen]),
            A_eq=np.append(np.ones(moments.shape[1]), 0.0)[None, :],
            b_eq=[1.0],
        )
        return result is None or result > self.allowed

    @property
    def _scaled(self) -> tuple[Floats, Floats]:
        """Expectations by rate, and the statistics, in standard errors."""
        return self.rates.expected / self.errors[:, None], self.statistics / self.errors

    def _least(self, shares: Floats) -> float:
        """The least ``∫ shares dg`` over the mixtures of the band; 0, which is true, if there is none."""
        if self.odd:
            return 0.0
        moments, seen = self._scaled
        everybody = np.append(np.ones(len(shares)), np.zeros(len(seen)))
        within = np.tile([-self.allowed, self.allowed], (len(seen), 1))
        result = _linprog(
            np.append(shares, np.zeros(len(seen))),
            A_eq=np.vstack([np.hstack([moments, np.eye(len(seen))]), everybody]),
            b_eq=np.append(seen, 1.0),
            bounds=np.vstack([np.tile([0.0, 1.0], (len(shares), 1)), within]),
        )
        return 0.0 if result is None else min(max(result, 0.0), 1.0)


def _linprog(costs: Floats, **program: Any) -> float | None:
    """The least cost of a linear program; None if the solver finds none."""
    from scipy.optimize import linprog  # takes longer to import than all else here

    for method in ("highs-ds", "highs-ipm"):  # the simplex is faster and, rarely, stops without an answer
        result = linprog(costs, method=method, **program)
        if result.status == 0:
            return float(result.fun)
    return None


def _coefficients(others: NDArray[Any]) -> Floats:
    """The a_j of every statistic at these j, one row per statistic."""
    j = np.asarray(others, np.float64)
    curves = (1 - _TIMES[:, None]) ** j
    return np.vstack([curves, j == _FEW[:, None], j <= _AT_MOST[:, None]]).astype(np.float64)


def _errors(others: NDArray[np.int64], rows: Floats, statistics: Floats) -> Floats:
    """Standard errors of the statistics, no smaller than if one more explanation had 1, 2, 3 or 4 rows.

    ``n² se² = Σ_k Φ_k v_k``, Φ_k explanations having k rows, and ``f(k) = k (a_{k-1} - T)`` being what such an
    explanation adds: v = f(k)² for few rows, ``k (f(k) - f(k-1))²`` for more (the Poisson-Poincaré inequality).
    """

    def added(others: NDArray[Any]) -> Floats:
        return np.asarray((others + 1.0) * (_coefficients(np.maximum(others, 0)) - statistics[:, None]))

    size = others + 1.0
    vary = np.where(size <= _SMALL, added(others) ** 2, size * (added(others) - added(others - 1)) ** 2)
    squares = vary @ (rows / size) + np.sum(added(np.arange(4)) ** 2, axis=1)
    squares[-len(_AT_MOST) :] += (_AT_MOST + 2.0) ** 2
    return np.asarray(np.sqrt(squares) / rows.sum())
