"""Differences of two measures: what their intervals are made of, and intervals that hold for many pairs together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from faithscope.agreements import Spread
from faithscope.card import Cell, Table, for_json
from faithscope.counting.leave_out import LeftOut
from faithscope.inputs.checks import check_flag
from faithscope.inputs.frames import frame
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals.margins import Deviations, LeftOutDeviations, Margins, check_confidence, margins
from faithscope.relations import Beside
from faithscope.rounding import down, up
from faithscope.visible import visible
from faithscope.words import readable

if TYPE_CHECKING:
    import pandas as pd

_MOST_PAIRS = 15  # above that, only those that differ are shown
MANY = 10  # with more pairs, a report shows intervals that hold for all of them together
NOTHING_KNOWN = Margins(2.0, 2.0)  # of a difference, wherever in [-1, 1] the two brackets lie (by `Spread`, beyond too)


class Apart(NamedTuple):
    """What the interval of a difference is made of, at any confidence.

    Attributes
    ----------
    least, most : float
        The lower end of a's bracket less the upper end of b's, and the upper end of a's less the lower end of b's.
    margins : Margins
        How far the truth may lie below the one and above the other: 0 if it is known, 2 if nothing is.
    confidence : float
        The confidence that was asked for.
    bound : float
        How far measures can differ: shares of variance beside everybody have no lower end.
    """

    least: float
    most: float
    margins: Margins
    confidence: float
    bound: float = 1.0

    def interval(self, confidence: float | None = None) -> tuple[float, float]:
        """The interval at this confidence, or as it was asked for."""
        found, bound = self.margins if confidence is None else self.margins.at(confidence), self.bound
        low, high = (min(bound, max(-bound, end)) for end in (self.least - found.below, self.most + found.above))
        return low, high


def without_each(one: LeftOut, two: LeftOut, good: float, confidence: float, **how: Any) -> Margins:
    """Margins of a difference of which both sides leave out the same units: below its least, above its most."""
    below, above = (
        Deviations.of(first.value - second.value - second.silent, one.rows)
        for first, second in ((one, two), (two, one))
    )
    known = LeftOutDeviations(below, above, heaviest=max(one.heaviest, two.heaviest))
    return margins(known, good, confidence, **how)


COLUMNS = ("a", "b", "value", "low", "high", "differ", "n")
PAIRED_COLUMNS = ("measure", *COLUMNS)
POPULATION_COLUMNS = (*COLUMNS, "a_at_equal_n", "b_at_equal_n")


@dataclass(frozen=True)
class Difference:
    """The measure of a minus that of b, two populations or two explainers; the interval allows for silence.

    It begins a margin below the lower end of A's bracket less the upper end of B's, and ends likewise: samples of
    unequal size are silent on unequal shares of their rows, so M̂ alone would differ even if the populations do not. The
    value is that of the agreement among rows that can be checked (`Estimate.verified`), and lies inside. If the
    interval of either may miss the truth, nothing is known.

    Of two explainers on the same rows, the margins are jackknifes of these two differences: what changes both alike
    cancels. Explainers that gave every row the same explanation have the interval [0, 0]: they are the same on these
    rows, and may differ on others.
    """

    a: Any
    b: Any
    value: float
    low: float
    high: float
    n: int  # rows of the smaller sample
    apart: Apart = field(repr=False, compare=False)
    measure: str = ""  # of two explainers
    a_at_equal_n: float | None = None  # M̂ of each at n rows, by rarefaction; None if weighted, by `Spread`, or paired
    b_at_equal_n: float | None = None

    @classmethod
    def of(
        cls,
        names: tuple[Any, Any],
        a: Estimate,
        b: Estimate,
        off: Margins,
        confidence: float,
        ends: tuple[tuple[float, float], tuple[float, float]] | None = None,
        value: float | None = None,
        **known: Any,
    ) -> "Difference":
        """The difference a - b, which may lie so far `off` those of the brackets, or of other `ends`.

        By default the value is that of the agreement among rows that can be checked; of M̂, if that of either is not
        known. One beyond the interval, as shares of variance below 0 may give, is its end.
        """
        one, other = (a.bracket, b.bracket) if ends is None else ends
        asked = isinstance(a.counts.relation, Beside) and isinstance(a.agreement, Spread)
        apart = Apart(one[0] - other[1], one[1] - other[0], off, confidence, math.inf if asked else 1.0)
        low, high = apart.interval()
        if value is None:
            value = a.value - b.value
            if a.verified is not None and b.verified is not None:
                value = a.verified - b.verified
        return cls(*names, min(high, max(low, value)), low, high, min(a.n, b.n), apart, **known)

    @property
    def differ(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @property
    def cells(self) -> tuple[Cell, Cell]:
        """The difference and its interval, as cells of a table."""
        interval = f"{down(self.low, signed=True)} to {up(self.high, signed=True)}"
        return Cell(f"{self.value:+.3f}", self.value), Cell(interval, self.low)

    def at(self, confidence: float) -> "Difference":
        """The same difference with its interval at another confidence."""
        low, high = self.apart.interval(confidence)
        return replace(self, low=low, high=high)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this difference, ready for JSON."""
        names = PAIRED_COLUMNS if self.measure else POPULATION_COLUMNS
        return {name: getattr(self, name) for name in names} | {"a": for_json(self.a), "b": for_json(self.b)}


def together(pairs: Sequence[Difference], many: int | None = None) -> list[Difference]:
    """Differences whose intervals hold for all pairs together: each misses with a chance of at most δ / m.

    These are Bonferroni's. Holm's test would call a few more pairs different, but no intervals that agree with it hold
    together: he spends all of δ on pairs that do not differ, and what the intervals of the other pairs miss comes on
    top.

    Parameters
    ----------
    pairs : sequence of differences
    many : int, optional
        The number of pairs that were compared, m, if `pairs` are only some of them.
    """
    m = max(len(pairs), many or 0)
    return [pair.at(1 - check_confidence(pair.apart.confidence) / m) for pair in pairs]


def difference_frame(pairs: Sequence[Difference], names: Sequence[str], simultaneous: Any) -> "pd.DataFrame":
    """One line per difference, of these columns; if `simultaneous`, intervals hold for all of them together."""
    told = together(pairs) if check_flag(simultaneous, "simultaneous") else pairs
    return frame({name: [getattr(pair, name) for pair in told] for name in names})


def difference_tables(
    pairs: Sequence[Difference], title: str = "Differences", together: int = 0, most: int = _MOST_PAIRS
) -> list[Table]:
    """Differences with their intervals; of many, those whose interval excludes zero. No table if there is no pair.

    Parameters
    ----------
    together : int
        Of how many differences the intervals hold together; 0 if each holds by itself.
    most : int
        How many are shown, whatever they say.
    """
    if not pairs:
        return []
    differing = [pair for pair in pairs if pair.differ]
    hold = f"the intervals of {together:,} differences hold together" if together else "each interval holds by itself"
    below = f"{len(differing):,} of {len(pairs):,} exclude zero; {hold}"
    rows = tuple(
        (
            *(visible(readable(each)) for each in (pair.a, pair.b)),
            *pair.cells,
            # Of an interval [0, 0], what it is known for: these rows.
            "the same on these rows" if pair.low == pair.high == 0 else "yes" if pair.differ else "cannot tell",
        )
        for pair in (pairs if len(pairs) <= most else differing)
    )
    return [Table(("of", "less that of", "difference", "interval", "differ"), rows, 2, title, below)]
