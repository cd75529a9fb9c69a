"""Planning: the unverifiable share by number of rows, exact up to n and forecast beyond, and the rows needed."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, ndtri, pdtr

from faithscope.agreements import Spread
from faithscope.counting.counts import to_counted
from faithscope.counting.layout import divided, sums
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import check_share, check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.estimate import NECESSITY
from faithscope.measures.intervals.bounds import sample_size
from faithscope.measures.intervals.local import log_choose
from faithscope.runtime.memory import FEWER_ROWS
from faithscope.runtime.of_logs import takes_log
from faithscope.shareable import Shareable

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


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
    c = profile.others.astype(np.float64)
    silent = np.where(c > 0, -math.inf, 0.0)  # log of C(n-1-c, m-1) / C(n-1, m-1): none of the others is in the subset
    possible, weight = (c > 0) & (c <= profile.n - rows), profile.rows / profile.n
    others = c[possible]
    chance = betaln(profile.n - others, others) - betaln(profile.n - rows - others + 1, others)
    silent[possible] = np.minimum(chance, 0.0)
    known = math.nan if isinstance(profile.agreement, Spread) else divided(profile.agreeing, c, 0.0)
    return float(np.sum(weight * -np.expm1(silent) * known)), float(weight @ np.exp(silent))


def mixture(others: Ints, mass: Floats) -> Floats | None:
    """A Poisson mixture of the number of others that rows have: the shares of rows with the rates `_RATES`.

    It is fitted to the different numbers of `others`, and the `mass` of rows that have so many (EM on a grid of rates);
    None if none has others.
    """
    if not np.any(mass[others > 0] > 0):
        return None
    near = (others <= _CERTAIN) & (mass > 0)
    seen, weight = others[near].astype(np.float64), mass[near] / mass.sum()
    likelihood = np.exp(seen[:, None] * np.log(_RATES) - _RATES - gammaln(seen + 1)[:, None])
    shares = np.full(len(_RATES), weight.sum() / len(_RATES))
    for _ in range(_STEPS):
        shares *= (weight / np.maximum(likelihood @ shares, 1e-300)) @ likelihood
    return shares


def forecast(shares: Floats, times: float) -> float:
    """The unverifiable share that a mixture expects of a sample that is `times` as large."""
    return float(np.sum(shares * np.exp(-_RATES * times)))


@dataclass(frozen=True)
class Backtest:
    """The forecast checked against a known answer: from half of the rows to all of them."""

    rows: int
    forecast: float
    observed: float

    @classmethod
    def of(cls, others: Ints, rows: Floats, observed: float) -> "Backtest | None":
        """The forecast from half of the rows; None if no row of such a half has others."""
        half, near = int(rows.sum()) // 2, others <= _CERTAIN
        known, kept = others[near].astype(np.float64)[:, None], np.arange(_CERTAIN + 1, dtype=np.float64)
        n, m = rows.sum() - 1, half - 1.0
        possible = (kept <= known) & (kept <= m) & (m - kept <= n - known)
        with np.errstate(all="ignore"):  # hypergeometric thinning: the expected numbers of others in a random half
            log = log_choose(known, kept) + log_choose(n - known, m - kept) - log_choose(n, m)
            thinned = rows[near] @ np.where(possible, np.exp(log), 0.0)
        shares = mixture(np.arange(_CERTAIN + 2), np.append(thinned, rows[~near].sum()))
        return None if shares is None else cls(half, forecast(shares, n / m), observed)

    @property
    def error(self) -> float:
        """The forecast minus the observed unverifiable share."""
        return self.forecast - self.observed

    def to_dict(self) -> dict[str, float]:
        """These numbers, ready for JSON."""
        return {**vars(self), "error": self.error}


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
    return np.vstack([curves, j == _FEW[:, None], j <= _AT_MOST[:, None]])


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
        """The band of a sample in which so many `rows` have so many `others`, each of which is another number.

        Standard errors are no smaller than if one more explanation had 1, 2, 3 or 4 rows: ``n² se² = Σ_k Φ_k v_k``, Φ_k
        explanations having k rows, and ``f(k) = k (a_{k-1} - T)`` being what such an explanation adds: v = f(k)² for
        few rows, ``k (f(k) - f(k-1))²`` for more (the Poisson-Poincaré inequality).
        """
        n, size = rows.sum(), others + 1.0
        statistics = coefficients(others) @ rows / n

        def added(others: Array) -> Floats:
            return np.asarray((others + 1.0) * (coefficients(np.maximum(others, 0)) - statistics[:, None]))

        vary = np.where(size <= _SMALL, added(others) ** 2, size * (added(others) - added(others - 1)) ** 2)
        squares = vary @ (rows / size) + np.sum(added(np.arange(4)) ** 2, axis=1)
        squares[-len(_AT_MOST) :] += (_AT_MOST + 2.0) ** 2
        allowed = float(-ndtri((1 - confidence) / (2 * _TOGETHER)))
        unseen = math.log(2 / (1 - confidence)) / n  # explanations of this mass may be unseen: rule of three
        finer = 1 if n <= _MANY else 4
        least = max(0.001 / finer**2, unseen / allowed)  # what the grid can tell apart, in any statistic
        return cls(*rates(finer), statistics, np.maximum(np.sqrt(squares) / n, least), allowed)

    def low(self, times: float) -> float:
        """The least unverifiable share of a sample `times` as large."""
        return self._least(np.exp(-times * self.rates))

    def high(self, times: float) -> float:
        """The largest unverifiable share of a sample `times` as large."""
        return 1 - self._least(-np.expm1(-times * self.rates))

    @cached_property
    def odd(self) -> bool:
        """Whether no mixture comes as near as independent rows nearly always do: then the band is all of [0, 1]."""
        return math.isnan(self._smallest(np.zeros(len(self.rates))))

    def _least(self, shares: Floats) -> float:
        """The least ``∫ shares dg`` over the mixtures of the band; 0, which is true, if there is none."""
        return 0.0 if self.odd else min(max(0.0, self._smallest(shares)), 1.0)

    def _smallest(self, shares: Floats) -> float:
        """The same by a linear program, expectations and statistics in standard errors; NaN if there is no mixture."""
        from scipy.optimize import linprog  # takes longer to import than all else here

        rates, many = len(shares), len(self.statistics)
        result = linprog(
            np.append(shares, np.zeros(many)),
            A_eq=np.block([[self.expected / self.errors[:, None], np.eye(many)], [np.ones(rates), np.zeros(many)]]),
            b_eq=np.append(self.statistics / self.errors, 1.0),
            bounds=[(0.0, 1.0)] * rates + [(-self.allowed, self.allowed)] * many,
            method="highs-ds",
        )
        return float(result.fun) if result.status == 0 else math.nan


NEAR = 4  # times n: there is no point forecast beyond
FARTHEST = 10  # times n: there is no interval beyond
ONCE = "every explanation occurred once, so nothing is known about how they repeat"
_MORE = "Measure more rows first."
_ODD = (
    "explanations repeat as those of independent rows hardly ever do (are rows logged twice, or chosen by explanation, "
    "or does one row lie under most rules?)"
)


@dataclass(frozen=True, repr=False)
class Plan(Shareable):
    """How the unverifiable share falls as rows are added, and the rows needed for a wanted share.

    Beyond the rows measured all is a forecast for rows that are drawn independently, as these were.

    Attributes
    ----------
    n : int
        Number of rows that were measured.
    unverifiable : float
        The unverifiable share of these rows.
    wanted : float
        The unverifiable share that is wanted.
    confidence : float
        Confidence of intervals beyond n.
    rows_needed : int or None
        Rows needed in all, those measured included; None if that is more than 4 n or cannot be said.
    rows_needed_low, rows_needed_high : int or None
        Its interval: more than n rows, at which the lower and the upper end of the unverifiable share reach the one
        that is wanted; None beyond 10 n. Both are `rows_needed` if the rows measured are enough.
    reason : str
        The rows needed in words, or why they cannot be said.
    forecastable : bool
        Whether there are point forecasts beyond n. Not if every explanation occurred once, nor if explanations repeat
        as those of independent rows hardly ever do.
    backtest : Backtest or None
        The forecast from n/2 rows to n, beside what was observed.
    guarantee : int or None
        Rows that the paper's Corollary requires for a mean squared error of at most `wanted`, if every explanation
        that the explainer can give has been seen; None by `Spread`, for which it is not proven.

    Examples
    --------
    >>> from faithscope import consistency
    >>> estimate = consistency([row % 50 for row in range(200)], [0] * 200)
    >>> planned = plan(estimate)
    >>> planned.rows_needed, planned.unverifiable
    (127, 0.0)
    """

    n: int
    unverifiable: float
    wanted: float
    confidence: float
    rows_needed: int | None
    rows_needed_low: int | None
    rows_needed_high: int | None
    reason: str
    forecastable: bool
    backtest: Backtest | None
    guarantee: int | None
    _outlook: "_Outlook" = field(compare=False)

    def at(self, rows: int) -> float:
        """The expected unverifiable share of a sample of `rows` rows: exact up to n, forecast up to 4 n.

        Parameters
        ----------
        rows : int

        Examples
        --------
        >>> import numpy as np
        >>> from faithscope import consistency
        >>> planned = plan(consistency(np.random.default_rng(0).integers(0, 80, 100), np.zeros(100)))
        >>> round(planned.at(50), 3), round(planned.at(200), 3)
        (0.575, 0.123)
        """
        reached = self._outlook.at(self._asked(rows))[1]
        if math.isnan(reached):
            why = self._outlook.why_not or f"a sample of {self.n:,} rows says little beyond {NEAR} times its size"
            raise BadInput(
                f"Not forecastable at {rows:,} rows: {why}. Only an interval is told there: plan.interval({rows})."
            )
        return reached

    def _asked(self, rows: int) -> int:
        """A number of rows of which something is known."""
        far = check_whole(rows, "The number of rows") > FARTHEST * self.n
        if far or rows > self.n == 1:
            say = f"a sample of {self.n:,} rows says nothing beyond {FARTHEST} times its size" if far else ONCE
            raise BadInput(f"Not forecastable at {rows:,} rows: {say}. {_MORE}")
        return rows

    def interval(self, rows: int) -> tuple[float, float]:
        """The least and the largest unverifiable share to expect of a sample of `rows` rows, up to 10 n.

        All Poisson mixtures that agree with how often explanations repeat in these rows are asked, by two linear
        programs. Up to n both ends are the exact share of these rows. An interval of [0, 1] says that nothing is known.
        The lower end beyond n is no more than these rows show, although their number may be a chance result.

        Parameters
        ----------
        rows : int

        Examples
        --------
        >>> import numpy as np
        >>> from faithscope import consistency
        >>> planned = plan(consistency(np.random.default_rng(0).integers(0, 80, 100), np.zeros(100)))
        >>> low, high = planned.interval(400)
        >>> low <= planned.at(400) <= high
        True
        """
        low, _, high, _ = self._outlook.at(self._asked(rows))
        return low, high

    @property
    def curve(self) -> "pd.DataFrame":
        """One line per number of rows ``n``: ``unverifiable`` with ``low`` and ``high``, ``value``, and ``kind``.

        The kind is exact up to the rows measured, forecast up to 4 n, and interval up to 10 n (or from n on, if there
        is no point forecast), ``unverifiable`` then being NaN. The value is M̂ up to the rows measured, and NaN beyond;
        by `Spread` it is NaN throughout.
        """
        beyond = np.concatenate([np.geomspace(1, NEAR, 9)[1:], np.geomspace(NEAR, FARTHEST, 6)[1:]])
        known = np.concatenate([np.geomspace(1, self.n, 60), beyond * self.n if self.n > 1 else []])
        rows = np.unique(known.round()).astype(np.int64).tolist()
        low, points, high, values = map(list, zip(*map(self._outlook.at, rows), strict=True))
        kinds = [
            "exact" if many <= self.n else "interval" if math.isnan(point) else "forecast"
            for many, point in zip(rows, points, strict=True)
        ]
        columns = {"n": rows, "unverifiable": points, "low": low, "high": high, "value": values, "kind": kinds}
        return frame(columns)

    def table(self) -> "pd.DataFrame":
        """The `curve`, one line per number of rows."""
        return self.curve

    _title = "How many rows are enough?"

    def plot(self) -> "alt.LayerChart":
        """The curve as an Altair chart, with the rows measured, the forecast and its interval."""
        from faithscope.charts import curve

        return curve(self)

    @property
    def _line(self) -> str:
        tried = ""
        if b := self.backtest:
            tried = f" Tried from {b.rows:,} rows to {self.n:,}: forecast {b.forecast:.3f}, observed {b.observed:.3f}."
        return f"{self.unverifiable:.1%} of {self.n:,} rows unverifiable; {self.reason}.{tried}"


@takes_log(FEWER_ROWS)
def plan(estimate: Any, *, unverifiable: float = 0.05, confidence: float = 0.95) -> Plan:
    """How many rows it takes until only a wanted share of them is unverifiable.

    Parameters
    ----------
    estimate : Estimate, Counts, or a Log, of whose consistency it is then
    unverifiable : float
        The wanted share of rows on which the sample is silent.
    confidence : float
        Confidence of the intervals beyond the rows measured.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from faithscope import consistency
    >>> plan(consistency([row % 50 for row in range(200)], [0] * 200)).unverifiable
    0.0
    """
    if getattr(estimate, "measure", "") == NECESSITY:
        raise NotProven("A plan is of explanations that cover no other row, not of necessity: plan from sufficiency.")
    counts = to_counted(estimate, "plan")
    unverifiable = check_share(unverifiable, "unverifiable")
    if not counts.plain:
        raise NotProven(
            "A plan counts independent rows, and these are weighted or clustered: plan from counts without either."
        )
    if counts.relation.partial:
        raise NotProven(
            "A plan is of more rows, and a judge who was not asked about all pairs leaves rows unverifiable however "
            "many there are: ask about more pairs, fs.pairs_to_ask(explanations, per_explanation=...)."
        )
    confidence = check_share(confidence, "confidence")
    profile = counts.profile()
    others, place = np.unique(profile.others, return_inverse=True)
    rows = sums(place, profile.rows.astype(np.float64), len(others))
    shares = mixture(others, rows)
    outlook = _Outlook(profile, shares, Band.of(others, rows, confidence))
    needed = outlook.needed(unverifiable)
    return Plan(
        profile.n,
        outlook.silent,
        unverifiable,
        confidence,
        *needed,
        outlook.reason(unverifiable, confidence, *needed),
        forecastable=outlook.why_not is None,
        backtest=None if shares is None or profile.n < 4 else Backtest.of(others, rows, outlook.silent),
        guarantee=None if isinstance(profile.agreement, Spread) else sample_size(profile.distinct, unverifiable),
        _outlook=outlook,
    )


class _Outlook(NamedTuple):
    """What is known of the unverifiable share of other numbers of rows: exactly up to n, forecast beyond."""

    profile: Profile
    shares: Floats | None  # of the mixture
    band: Band

    @property
    def silent(self) -> float:
        """The unverifiable share of the rows that were measured."""
        return self.profile.terms.silent / self.profile.n

    @property
    def why_not(self) -> str | None:
        """Why there is no point forecast; None if there is."""
        return ONCE if self.shares is None else _ODD if self.band.odd else None

    def at(self, rows: int) -> tuple[float, float, float, float]:
        """The least, the expected and the largest unverifiable share of so many rows, and M̂; NaN if not known."""
        n, point = self.profile.n, math.nan
        if rows <= n:
            value, exact = rarefy(self.profile, rows)
            return exact, exact, exact, value
        times = (rows - 1) / (n - 1)
        low, high = min(self.silent, self.band.low(times)), self.band.high(times)
        if self.shares is not None and not self.why_not and rows <= NEAR * n:  # stopped early, it may leave the band
            point = min(self.silent, max(low, min(high, forecast(self.shares, times))))
        return low, point, high, math.nan

    def needed(self, wanted: float) -> tuple[int | None, int | None, int | None]:
        """The rows that the wanted share takes, None beyond 4 n, and their interval, None beyond 10 n."""
        n, never = self.profile.n, FARTHEST * self.profile.n + 1
        if self.silent <= wanted:
            rows = 1 + bisect_left(range(1, n), True, key=lambda m: rarefy(self.profile, m)[1] <= wanted)
            return rows, rows, rows
        if n == 1:
            return None, None, None

        def reached(share: Callable[[float], float]) -> int:
            """The least rows beyond n at which a falling share is at most the wanted one."""
            return n + 1 + bisect_left(range(n + 1, never), True, key=lambda m: share((m - 1) / (n - 1)) <= wanted)

        low, high, rows = reached(self.band.low), reached(self.band.high), never
        if self.shares is not None and not self.why_not:  # the point never leaves the band
            rows = max(low, min(high, reached(partial(forecast, self.shares))))
        return rows if rows <= NEAR * n else None, low if low < never else None, high if high < never else None

    def reason(self, wanted: float, confidence: float, rows: int | None, low: int | None, high: int | None) -> str:
        """The rows needed, and their interval, in words, or why they cannot be said."""
        n, target, sure = self.profile.n, f"{wanted:.1%} unverifiable", f"{100 * confidence:g}%"
        if rows is not None and rows <= n:
            return f"{rows:,} rows would do for {target}"
        most = f"more than {FARTHEST * n:,}"
        many = f"{most} rows, {FARTHEST} times as many, are needed for {target} ({sure} confidence)"
        if self.why_not:
            return f"not forecastable: {self.why_not}{f'; {many}' if n > 1 and low is None else ''}"
        if low is None:
            return many
        between = f"{low:,} to {most if high is None else f'{high:,}'}"
        if rows is None:
            return f"{between} rows in all are needed for {target} ({sure} interval)"
        return f"about {rows:,} rows in all are needed for {target} ({sure} interval: {between})"
