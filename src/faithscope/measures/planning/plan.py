"""Planning: the unverifiable share by number of rows, exact up to n and forecast beyond, and the rows needed."""

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from faithscope.agreements import Spread
from faithscope.counting.counts import to_counted
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.checks import check_share, check_whole
from faithscope.inputs.frames import frame
from faithscope.measures.estimate import NECESSITY
from faithscope.measures.intervals.bounds import sample_size
from faithscope.measures.planning.forecast import Backtest
from faithscope.measures.planning.outlook import FARTHEST, NEAR, ONCE, Outlook
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


@dataclass(frozen=True)
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
    _outlook: Outlook = field(repr=False, compare=False)

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
        >>> import numpy as np
        >>> from faithscope import consistency
        >>> planned = plan(consistency(np.random.default_rng(0).integers(0, 80, 100), np.zeros(100)))
        >>> low, high = planned.interval(400)
        >>> low <= planned.at(400) <= high
        True
        """
        if check_whole(rows, "The number of rows") > FARTHEST * self.n:
            say = f"a sample of {self.n:,} rows says nothing beyond {FARTHEST} times its size"
            raise BadInput(f"Not forecastable at {rows:,} rows: {say}. Measure more rows first.")
        if rows > self.n == 1:
            raise BadInput(f"Not forecastable at {rows:,} rows: {ONCE}. Measure more rows first.")
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

    def _card(self) -> Card:
        low, high = self.rows_needed_low, self.rows_needed_high
        between = "–" if low is None else f"at least {low:,}" if high is None else f"{low:,} to {high:,}"
        facts = {
            "rows measured": f"{self.n:,}",
            "unverifiable": f"{self.unverifiable:.1%}",
            "wanted at most": f"{self.wanted:.1%}",
            "rows needed": "–" if self.rows_needed is None else f"{self.rows_needed:,}",
            f"rows needed, {100 * self.confidence:g}% interval": between,
            "rows that the paper's corollary guarantees": "–" if self.guarantee is None else f"{self.guarantee:,}",
        }
        return Card("How many rows are enough?", (Sentence(self._line),), (Table(("", "value"), tuple(facts.items())),))

    def __str__(self) -> str:
        return in_lines(self._line)

    __repr__ = __str__

    @property
    def _line(self) -> str:
        tried = ""
        if self.backtest is not None:
            b = self.backtest
            tried = f" Tried from {b.rows:,} rows to {self.n:,}: forecast {b.forecast:.3f}, observed {b.observed:.3f}."
        return f"{self.unverifiable:.1%} of {self.n:,} rows unverifiable; {self.reason}.{tried}"


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
    outlook = Outlook.of(profile, confidence)
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
