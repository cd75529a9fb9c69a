"""Planning: the unverifiable share by number of rows, exact up to n and forecast beyond, and the rows needed."""

import html
import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from faithscope.agreements import Spread
from faithscope.counting.counts import sums, to_counted
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.checks import check_share, check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.bounds import sample_size
from faithscope.measures.estimate import unverifiable as unverifiable_share

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Floats = NDArray[np.float64]
FARTHEST = 10  # times n: there is no forecast beyond
_CERTAIN = 400  # others: a row with more is never unverifiable in a smaller or larger sample
_RATES = np.geomspace(0.001, 2 * _CERTAIN, 240)
_STEPS = 200  # of EM: a mixture that is stopped early is smooth, and forecasts better than the best fit


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


@dataclass(frozen=True)
class _Mixture:
    """A Poisson mixture of the number of others that a row has: `shares` of the rows have the rates `rates`."""

    rates: Floats
    shares: Floats

    def silent(self, times: float) -> float:
        """The unverifiable share in a sample that is `times` as large."""
        return float(np.sum(self.shares * np.exp(-self.rates * times)))


def _fit(others: NDArray[np.int64], mass: Floats) -> _Mixture | None:
    """A Poisson mixture for the number of others that a row has (EM on a grid of rates); None if no row has others."""
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
    return _Mixture(_RATES, shares)


def _half_sample(profile: Profile, rows: int) -> tuple[NDArray[np.int64], Floats]:
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


@dataclass(frozen=True)
class Backtest:
    """The forecast checked against a known answer: from half of the rows to all of them."""

    rows: int
    forecast: float
    observed: float

    @property
    def error(self) -> float:
        """The forecast minus the observed unverifiable share."""
        return self.forecast - self.observed


@dataclass(frozen=True)
class Plan:
    """How the unverifiable share falls as rows are added, and the rows needed for a wanted share.

    Attributes
    ----------
    n : int
        Number of rows that were measured.
    unverifiable : float
        The unverifiable share of these rows.
    wanted : float
        The unverifiable share that is wanted.
    rows_needed : int or None
        Rows needed in all, those measured included; None if that cannot be said.
    reason : str
        `rows_needed` in words, or why it cannot be said.
    forecastable : bool
        Whether anything can be said beyond n.
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
    rows_needed: int | None
    reason: str
    forecastable: bool
    backtest: Backtest | None
    guarantee: int | None
    _profile: Profile = field(repr=False, compare=False)
    _mixture: _Mixture | None = field(repr=False, compare=False)

    def at(self, rows: int) -> float:
        """The expected unverifiable share of a sample of `rows` rows: exact up to n, forecast up to 10 n."""
        if check_whole(rows, "The number of rows") <= self.n:
            return rarefy(self._profile, rows)[1]
        if self._mixture is None or rows > FARTHEST * self.n:
            raise BadInput(f"Not forecastable at {rows:,} rows: {self._why_not(rows)}.")
        return min(self.unverifiable, self._mixture.silent((rows - 1) / (self.n - 1)))

    def _why_not(self, rows: int) -> str:
        if self._mixture is None:
            return "every explanation occurred once, so nothing is known about how they repeat"
        return f"a sample of {self.n:,} says little beyond {FARTHEST} times its size"

    @property
    def curve(self) -> "pd.DataFrame":
        """One line per number of rows ``n``: ``unverifiable``, ``value``, and ``kind``.

        The value is M̂ up to the rows measured, and NaN beyond; by `Spread` it is NaN throughout.
        """
        known = np.unique(np.geomspace(1, self.n, 60).round().astype(int))
        exact = [rarefy(self._profile, int(rows)) for rows in known]
        beyond: Any = (
            np.unique(np.geomspace(self.n, FARTHEST * self.n, 30).round().astype(int))[1:] if self.forecastable else []
        )
        return frame(
            {
                "n": [*known, *beyond],
                "unverifiable": [u for _, u in exact] + [self.at(int(rows)) for rows in beyond],
                "value": [v for v, _ in exact] + [math.nan] * len(beyond),
                "kind": ["exact"] * len(known) + ["forecast"] * len(beyond),
            }
        )

    def table(self) -> "pd.DataFrame":
        """The `curve`, one line per number of rows."""
        return self.curve

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this plan, ready for JSON."""
        names = ("n", "unverifiable", "wanted", "rows_needed", "reason", "forecastable", "guarantee")
        tried = None if self.backtest is None else {**asdict(self.backtest), "error": self.backtest.error}
        return {name: getattr(self, name) for name in names} | {"backtest": tried}

    def plot(self) -> "alt.LayerChart":
        """The curve as an Altair chart, with the rows measured and the forecast."""
        from faithscope.charts import curve

        return curve(self)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"

    def __str__(self) -> str:
        tried = ""
        if self.backtest is not None:
            b = self.backtest
            tried = f" Tried from {b.rows:,} rows to {self.n:,}: forecast {b.forecast:.3f}, observed {b.observed:.3f}."
        return f"{self.unverifiable:.1%} of {self.n:,} rows unverifiable; {self.reason}.{tried}"


def plan(estimate: Any, *, unverifiable: float = 0.05) -> Plan:
    """How many rows it takes until only a wanted share of them is unverifiable.

    Parameters
    ----------
    estimate : Estimate or Counts
    unverifiable : float
        The wanted share of rows on which the sample is silent.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from faithscope import consistency
    >>> plan(consistency([row % 50 for row in range(200)], [0] * 200)).unverifiable
    0.0
    """
    counts = to_counted(estimate, "plan")
    unverifiable = check_share(unverifiable, "unverifiable")
    if not counts.plain:
        raise NotProven(
            "A plan counts independent rows, and these are weighted or clustered: plan from counts without either."
        )
    profile = counts.profile()
    mixture = _fit(profile.others, profile.rows.astype(np.float64)) if profile.n > 1 else None
    needed, reason = _rows_needed(profile, mixture, unverifiable)
    return Plan(
        n=profile.n,
        unverifiable=unverifiable_share(profile),
        wanted=unverifiable,
        rows_needed=needed,
        reason=reason,
        forecastable=mixture is not None,
        backtest=_backtest(profile) if mixture is not None and profile.n >= 4 else None,
        guarantee=None if isinstance(profile.agreement, Spread) else sample_size(profile.distinct, unverifiable),
        _profile=profile,
        _mixture=mixture,
    )


def _backtest(profile: Profile) -> Backtest | None:
    half = profile.n // 2
    mixture = _fit(*_half_sample(profile, half))
    if mixture is None:
        return None
    return Backtest(half, mixture.silent((profile.n - 1) / (half - 1)), unverifiable_share(profile))


def _rows_needed(profile: Profile, mixture: _Mixture | None, wanted: float) -> tuple[int | None, str]:
    n, target = profile.n, f"{wanted:.1%} unverifiable"
    if unverifiable_share(profile) <= wanted:
        rows = _first(lambda m: rarefy(profile, m)[1] <= wanted, 1, n)
        return rows, f"{rows:,} rows would do for {target}"
    if mixture is None:
        return None, "not forecastable: every explanation occurred once, so nothing is known about how they repeat"
    if mixture.silent((FARTHEST * n - 1) / (n - 1)) > wanted:
        return (
            None,
            f"not forecastable: {target} takes more than {FARTHEST} times the rows, beyond what a sample can tell",
        )
    rows = _first(lambda m: mixture.silent((m - 1) / (n - 1)) <= wanted, n + 1, FARTHEST * n)
    return rows, f"about {rows:,} rows in all are needed for {target}"


def _first(enough: Any, low: int, high: int) -> int:
    """Smallest integer in [low, high] with enough(m), by bisection. Requires: enough is monotone, and true at high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
