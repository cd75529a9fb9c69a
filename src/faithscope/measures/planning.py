"""Planning: the unverifiable share by number of rows, exact up to n and forecast beyond, and the rows needed."""

import html
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from faithscope.agreements import Spread
from faithscope.counting.counts import to_counted
from faithscope.counting.profile import Profile
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.checks import check_share, check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.band import Band
from faithscope.measures.bounds import sample_size
from faithscope.measures.estimate import unverifiable as unverifiable_share
from faithscope.measures.forecast import Backtest, Mixture

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Floats = NDArray[np.float64]
NEAR = 4  # times n: there is no point forecast beyond
FARTHEST = 10  # times n: there is no interval beyond


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
class Plan:
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
    _outlook: "_Outlook" = field(repr=False, compare=False)

    def at(self, rows: int) -> float:
        """The expected unverifiable share of a sample of `rows` rows: exact up to n, forecast up to 4 n.

        Parameters
        ----------
        rows : int

        Examples
        --------
        >>> from faithscope import consistency
        >>> planned = plan(consistency([row * row % 97 for row in range(100)], [0] * 100))
        >>> round(planned.at(50), 3), round(planned.at(200), 3)
        (0.263, 0.004)
        """
        if check_whole(rows, "The number of rows") <= self.n:
            return self._outlook.at(rows)
        far = f"a sample of {self.n:,} rows says little beyond {NEAR} times its size" if rows > NEAR * self.n else None
        if why_not := self._outlook.why_not or far:
            told = self.n > 1 and rows <= FARTHEST * self.n
            advice = f"Only an interval is told there: plan.interval({rows})." if told else "Measure more rows first."
            raise BadInput(f"Not forecastable at {rows:,} rows: {why_not}. {advice}")
        return self._outlook.at(rows)

    def interval(self, rows: int) -> tuple[float, float]:
        """The least and the largest unverifiable share to expect of a sample of `rows` rows, up to 10 n.

        All Poisson mixtures that agree with how often explanations repeat in these rows are asked, by two linear
        programs. Up to n both ends are the exact share of these rows. An interval of [0, 1] says that nothing is known.

        Parameters
        ----------
        rows : int

        Examples
        --------
        >>> from faithscope import consistency
        >>> planned = plan(consistency([row * row % 97 for row in range(100)], [0] * 100))
        >>> low, high = planned.interval(400)
        >>> low <= planned.at(400) <= high
        True
        """
        if check_whole(rows, "The number of rows") > FARTHEST * self.n:
            say = f"a sample of {self.n:,} rows says nothing beyond {FARTHEST} times its size"
            raise BadInput(f"Not forecastable at {rows:,} rows: {say}. Measure more rows first.")
        if rows > self.n == 1:
            raise BadInput(f"Not forecastable at {rows:,} rows: {_ONCE}. Measure more rows first.")
        return self._outlook.interval(rows)

    @property
    def curve(self) -> "pd.DataFrame":
        """One line per number of rows ``n``: ``unverifiable`` with ``low`` and ``high``, ``value``, and ``kind``.

        The kind is exact up to the rows measured, forecast up to 4 n, and interval up to 10 n (or from n on, if there
        is no point forecast), ``unverifiable`` then being NaN. The value is M̂ up to the rows measured, and NaN beyond;
        by `Spread` it is NaN throughout.
        """
        return frame(self._outlook.curve())

    def table(self) -> "pd.DataFrame":
        """The `curve`, one line per number of rows."""
        return self.curve

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this plan, ready for JSON."""
        names = [field.name for field in fields(self) if not field.name.startswith("_")]
        tried = None if self.backtest is None else {**asdict(self.backtest), "error": self.backtest.error}
        return {name: getattr(self, name) for name in names} | {"backtest": tried}

    def plot(self) -> "alt.LayerChart":
        """The curve as an Altair chart, with the rows measured, the forecast and its interval."""
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


_ONCE = "every explanation occurred once, so nothing is known about how they repeat"
_ODD = (
    "explanations repeat as those of independent rows hardly ever do (are rows logged twice, or chosen by explanation, "
    "or does one row lie under most rules?)"
)


@dataclass(frozen=True, eq=False)
class _Outlook:
    """What a sample says about smaller and larger samples: the exact curve, the forecast, and its band."""

    profile: Profile
    unverifiable: float
    mixture: Mixture | None
    band: Band

    @classmethod
    def of(cls, profile: Profile, confidence: float) -> "_Outlook":
        rows = profile.rows.astype(np.float64)
        mixture = Mixture.fit(profile.others, rows) if profile.n > 1 else None
        return cls(profile, unverifiable_share(profile), mixture, Band.of(profile.others, rows, confidence))

    @property
    def n(self) -> int:
        return self.profile.n

    @property
    def why_not(self) -> str | None:
        """Why there is no point forecast; None if there is."""
        if self.mixture is None:
            return _ONCE
        return _ODD if self.band.odd else None

    def at(self, rows: float) -> float:
        """The unverifiable share at so many rows; NaN beyond n if there is no forecast."""
        if rows <= self.n:
            return rarefy(self.profile, int(rows))[1]
        return self._point(rows, self.interval(rows))

    def _point(self, rows: float, interval: tuple[float, float]) -> float:
        if self.mixture is None or self.why_not:
            return math.nan
        low, high = interval  # the mixture that is stopped early may leave the band
        return min(self.unverifiable, max(low, min(high, self.mixture.silent(self._times(rows)))))

    def interval(self, rows: float) -> tuple[float, float]:
        return (self.at(rows),) * 2 if rows <= self.n else (self.low(rows), self.high(rows))

    def low(self, rows: float) -> float:
        """The lower end beyond n; no more than these rows show, although their number may be a chance result."""
        return min(self.unverifiable, self.band.low(self._times(rows)))

    def high(self, rows: float) -> float:
        return self.band.high(self._times(rows))

    def _times(self, rows: float) -> float:
        return (rows - 1) / (self.n - 1)

    def curve(self) -> dict[str, list[Any]]:
        """The columns of `Plan.curve`."""
        known = [int(rows) for rows in np.unique(np.geomspace(1, self.n, 60).round())]
        exact = [rarefy(self.profile, rows) for rows in known]
        beyond = self._beyond()
        ends = [self.interval(rows) for rows in beyond]
        told = [rows <= NEAR * self.n and not self.why_not for rows in beyond]
        silent = [share for _, share in exact]
        points = [self._point(*of) if tell else math.nan for tell, *of in zip(told, beyond, ends, strict=True)]
        return {
            "n": known + beyond,
            "unverifiable": silent + points,
            "low": silent + [low for low, _ in ends],
            "high": silent + [high for _, high in ends],
            "value": [value for value, _ in exact] + [math.nan] * len(beyond),
            "kind": ["exact"] * len(known) + ["forecast" if tell else "interval" for tell in told],
        }

    def _beyond(self) -> list[int]:
        """Numbers of rows from n to 10 n, 4 n among them."""
        parts = np.geomspace(1, NEAR, 9)[1:], np.geomspace(NEAR, FARTHEST, 6)[1:]
        rows = np.unique(np.concatenate(parts) * self.n).round()
        return [int(many) for many in np.unique(rows) if many > self.n > 1]

    def needed(self, wanted: float) -> "_Needed":
        """The rows that a wanted share takes."""
        if self.unverifiable <= wanted:
            return _Needed(*(_first(lambda m: rarefy(self.profile, m)[1] <= wanted, 1, self.n),) * 3)
        if self.n == 1:
            return _Needed(None, None, None)
        low, high = (self._reached(share, wanted, FARTHEST) for share in (self.low, self.high))
        point = None if self.why_not else self._reached(self.at, wanted, NEAR)
        return _Needed(point, low, high)

    def _reached(self, share: Callable[[float], float], wanted: float, times: int) -> int | None:
        """The least rows beyond n at which a falling share is at most the wanted one; None beyond so many times n."""
        least, most = self.n + 1.0, float(times * self.n)
        if share(most) > wanted:
            return None
        if share(least) <= wanted:
            return self.n + 1
        from scipy.optimize import brentq

        return math.ceil(brentq(lambda rows: share(rows) - wanted, least, most, xtol=0.01))


@dataclass(frozen=True)
class _Needed:
    """Rows needed, and their interval."""

    rows: int | None
    low: int | None
    high: int | None

    def reason(self, outlook: _Outlook, wanted: float, confidence: float) -> str:
        """The same in words."""
        n, target, sure = outlook.n, f"{wanted:.1%} unverifiable", f"{100 * confidence:g}%"
        if self.rows is not None and self.rows <= n:
            return f"{self.rows:,} rows would do for {target}"
        most = f"more than {FARTHEST * n:,}"
        many = f"{most} rows, {FARTHEST} times as many, are needed for {target} ({sure} confidence)"
        if outlook.why_not:
            return f"not forecastable: {outlook.why_not}{f'; {many}' if n > 1 and self.low is None else ''}"
        if self.low is None:
            return many
        between = f"{self.low:,} to {most if self.high is None else f'{self.high:,}'}"
        if self.rows is None:
            return f"{between} rows in all are needed for {target} ({sure} interval)"
        return f"about {self.rows:,} rows in all are needed for {target} ({sure} interval: {between})"


def plan(estimate: Any, *, unverifiable: float = 0.05, confidence: float = 0.95) -> Plan:
    """How many rows it takes until only a wanted share of them is unverifiable.

    Parameters
    ----------
    estimate : Estimate or Counts
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
    counts = to_counted(estimate, "plan")
    unverifiable = check_share(unverifiable, "unverifiable")
    if not counts.plain:
        raise NotProven(
            "A plan counts independent rows, and these are weighted or clustered: plan from counts without either."
        )
    confidence = check_share(confidence, "confidence")
    profile = counts.profile()
    outlook = _Outlook.of(profile, confidence)
    needed = outlook.needed(unverifiable)
    return Plan(
        n=profile.n,
        unverifiable=outlook.unverifiable,
        wanted=unverifiable,
        confidence=confidence,
        rows_needed=needed.rows,
        rows_needed_low=needed.low,
        rows_needed_high=needed.high,
        reason=needed.reason(outlook, unverifiable, confidence),
        forecastable=outlook.why_not is None,
        backtest=Backtest.of(profile, outlook.unverifiable) if outlook.mixture and profile.n >= 4 else None,
        guarantee=None if isinstance(profile.agreement, Spread) else sample_size(profile.distinct, unverifiable),
        _outlook=outlook,
    )


def _first(enough: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest integer in [low, high] with enough(m), by bisection. Requires: enough is monotone, and true at high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
