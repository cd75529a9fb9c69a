"""Limits that hold at all looks together, and alarms, from the pairs that a monitor has counted."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from faithscope.monitor.history import Ints, PairColumns
from faithscope.monitor.moments import to_date
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.sequential import Alarm, DailyDraws, changes, departures, lower_limit, upper_limit
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


def all_limits(
    pairs: PairColumns,
    codes: Mapping[Any, int],
    confidence: float,
    at_least: float | None,
    measure: str,
    doubted: bool,
    clustered: bool,
) -> dict[Any, Limits]:
    """Limits of all rows and of groups, by name; a group has its share of the error."""
    shares, places = group_shares(pairs), np.array(list(codes.values())) + 1  # WHOLE is -1
    n, openers, matched, agreeing = (
        np.bincount(pairs.group + 1, getattr(pairs, name), places.max() + 1)[places]
        for name in ("rows", "openers", "matched", "agreeing")
    )
    error = (1 - confidence) / 2 * np.array([shares.get(code, 1.0) for code in codes.values()])
    waiting = openers - matched
    lines = zip(
        [k / m if m else None for k, m in zip(agreeing.tolist(), matched.tolist(), strict=True)],
        lower_limit(agreeing, openers, error).tolist(),
        upper_limit(agreeing + waiting, openers, error).tolist(),
        [confidence] * len(codes),
        *(column.astype(np.int64).tolist() for column in (n, openers, matched, waiting)),
        *([value] * len(codes) for value in (at_least, measure, doubted, clustered)),
        strict=True,
    )
    return {name: Limits(*line) for name, line in zip(codes, lines, strict=True)}


def group_shares(pairs: PairColumns) -> dict[int, float]:
    """The share of an error that each group has, by its number; they add up to 1 at most, whatever groups will come.

    The i-th batch that brings new groups has 1 / (i (i + 1)), which its new groups share alike.
    """
    codes, first = np.unique(pairs.group, return_index=True)  # lines are in the order of batches
    codes, first = codes[codes != WHOLE], first[codes != WHOLE]
    _, turn, many = np.unique(pairs.batch[first], return_inverse=True, return_counts=True)
    shares = 1 / ((turn + 1) * (turn + 2) * many[turn])
    return dict(zip(codes.tolist(), shares.tolist(), strict=True))


def daily_draws(columns: PairColumns, days: Ints) -> DailyDraws:
    """The pairs by the day of their openers, on each of these days."""
    place = np.searchsorted(days, columns.day)
    sums = [np.bincount(place, getattr(columns, name), len(days)) for name in ("openers", "matched", "agreeing")]
    dates = np.array([to_date(int(day)) for day in days], object)
    return DailyDraws.of_pairs(dates, *sums)


def all_draws(pairs: PairColumns, codes: Mapping[Any, int], since: int | None = None) -> dict[Any, DailyDraws]:
    """The draws of all rows and of groups, by name, on the same days; without those before `since`."""
    pairs = pairs if since is None else pairs.take(pairs.day >= since)
    days = np.unique(pairs.day)
    pairs = pairs.take(np.argsort(pairs.group, kind="stable"))
    starts, ends = (np.searchsorted(pairs.group, list(codes.values()), side) for side in ("left", "right"))
    parts = map(slice, starts, ends)
    return {name: daily_draws(pairs.take(part), days) for name, part in zip(codes, parts, strict=True)}


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
        apart = () if beside is None else beside(name, part / questions)
        alarms = (*_alarms(draws, at_least, reference, part / questions), *apart)
        if alarms:
            told[name] = alarms
    return told


def _alarms(draws: DailyDraws, at_least: float | None, reference: int | None, error: float) -> tuple[Alarm, ...]:
    below = () if not at_least else departures(draws, (at_least, 1.0), error)
    return (*below, *(() if reference is None else changes(draws, reference, error)))
