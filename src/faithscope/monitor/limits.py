"""Limits that hold at all looks together, and alarms, from the pairs that a monitor has counted."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from faithscope.inputs.array_types import Floats, Ints
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.sequential import Alarm, DailyDraws, changes, departures
from faithscope.rounding import down, up


@dataclass(frozen=True)
class Limits:
    """Limits of consistency, or of the sufficiency of scopes, that hold at all looks together.

    Attributes
    ----------
    value : float or None
        The share of pairs that agree; None if there are none.
    low, high : float
        The true measure lies between them at every look there ever is, with the stated confidence.
    confidence : float
    n : int
        Rows.
    openers, pairs, waiting : int
        Rows that look for a partner, those that found one, and those that wait.
    at_least : float or None
        The level that was promised.
    measure : str
        "consistency", or "sufficiency" if scopes were fixed beforehand.
    clustered : bool
        Whether each cluster counts once: `n` are then rows of which no two are of one cluster.
    doubted : bool
        Whether rows seem to come back in later batches, so that limits need not hold; the notes of the monitor say so.

    Examples
    --------
    >>> import faithscope as fs
    >>> monitor = fs.Monitor(at_least=0.9)
    >>> added = monitor.add(["a", "b"] * 500, [1, 0] * 500, when="2026-03-01")
    >>> limits = monitor.limits()
    >>> limits.verdict, limits.n, limits.low > 0.9
    ('holds', 1000, True)
    """

    value: float | None
    low: float
    high: float
    confidence: float
    n: int
    openers: int
    pairs: int
    waiting: int
    at_least: float | None = None
    measure: str = "consistency"
    doubted: bool = False  # whether rows seem to come back, so that they are no independent draws
    clustered: bool = False

    @property
    def verdict(self) -> str:
        """`alarm` if the measure is below the promised level, `holds` if it is not, else `cannot tell yet`.

        If rows seem to come back, `holds` is not said.
        """
        if self.at_least is None:
            return "no level was promised"
        holds = self.low >= self.at_least and not self.doubted
        return "alarm" if self.high < self.at_least else "holds" if holds else "cannot tell yet"

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return {"measure": self.measure, **asdict(self), "verdict": self.verdict}

    def __str__(self) -> str:
        level = "" if self.at_least is None else f"; at least {self.at_least:g}: {self.verdict}"
        return (
            f"{self.measure} between {down(self.low)} and {up(self.high)} at all looks together ({self.confidence:.0%} "
            f"confidence); n={self.n:,}{', one row per cluster' * self.clustered}, {self.pairs:,} pairs, "
            f"{self.waiting:,} wait for a partner{level}"
        )

    __repr__ = __str__


class PairColumns(NamedTuple):
    """One line per batch, group and day of openers, in the order of batches.

    `openers` arrived, `matched` openers of that day found a partner in that batch, `agreeing` of these agree.
    """

    batch: Ints
    day: Ints
    group: Ints
    rows: Ints
    openers: Ints
    matched: Ints
    agreeing: Floats

    def take(self, chosen: Any) -> "PairColumns":
        """Some of the lines, by a mask, places or a slice."""
        return PairColumns(*(column[chosen] for column in self))


def group_shares(pairs: PairColumns) -> dict[int, float]:
    """The share of an error that each group has, by its number; they add up to 1 at most, whatever groups will come.

    The i-th batch that brings new groups has 1 / (i (i + 1)), which its new groups share alike.
    """
    codes, first = np.unique(pairs.group, return_index=True)  # lines are in the order of batches
    codes, first = codes[codes != WHOLE], first[codes != WHOLE]
    _, turn, many = np.unique(pairs.batch[first], return_inverse=True, return_counts=True)
    shares = 1 / ((turn + 1) * (turn + 2) * many[turn])
    return dict(zip(codes.tolist(), shares.tolist(), strict=True))


def all_alarms(
    lines: Mapping[Any, DailyDraws],
    shares: Mapping[Any, float],
    at_least: float | None,
    reference: int | None,
    error: float,
    beside: Callable[[Any, float], tuple[Alarm, ...]] | None = None,
) -> dict[Any, tuple[Alarm, ...]]:
    """Alarms by group (None for all rows), false with probability at most `error` over all of them and all looks.

    All rows have half of the error and groups their shares of the other half; these are shared alike by what is asked:
    against a level, against the same rows' own reference, and beside the reference if that was settled.
    """
    questions = (at_least is not None) + (reference is not None) + (beside is not None)
    if not questions:
        return {}
    told = {}
    for name, draws in lines.items():
        part = error if len(lines) == 1 else error / 2 if name is None else error / 2 * shares[name]
        share = part / questions
        below = () if not at_least else departures(draws, (at_least, 1.0), share)
        changed = () if reference is None else changes(draws, reference, share)
        alarms = (*below, *changed, *(() if beside is None else beside(name, share)))
        if alarms:
            told[name] = alarms
    return told
