"""What a monitor's page shows: plain values, measured before."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from faithscope.monitor.beside import Beside
from faithscope.monitor.sequential import Alarm, DailyDraws


@dataclass(frozen=True)
class WatchedLine:
    """All rows, or a group, over time: one entry per day, in order.

    Attributes
    ----------
    name : str
    days : tuple of str
        As ISO dates.
    value : tuple
        The agreement of the pairs of that day; None on days without pairs.
    low, high : tuple of float
        Limits as of that day, of all rows until then, that hold on all days together.
    once_low, once_high : tuple of float
        The interval as of that day, for a single look.
    alarms : tuple of Alarm
    openers : int
        How many pairs were begun.
    """

    name: str
    days: tuple[str, ...]
    value: tuple[float | None, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    once_low: tuple[float, ...]
    once_high: tuple[float, ...]
    alarms: tuple[Alarm, ...] = ()
    openers: int = 0

    @classmethod
    def of(cls, name: str, draws: DailyDraws, error: float, alarms: Sequence[Alarm] = ()) -> Self:
        """The line of draws; days that have a day's name, such as dates, are shown by it."""
        met = draws.draws - (draws.most - draws.least)
        value = [None if n < 1 else float(k / n) for k, n in zip(draws.least, met, strict=True)]
        low, high = map(_floats, draws.limits(error))
        once_low, once_high = map(_floats, draws.single_look(error))
        days, openers = tuple(map(str, draws.days)), int(draws.draws.sum())
        return cls(name, days, tuple(value), low, high, once_low, once_high, tuple(alarms), openers)

    def points(self) -> list[dict[str, Any]]:
        """One row per day, for a chart."""
        names = ("value", "low", "high", "once_low", "once_high")
        columns = zip(self.days, *(getattr(self, name) for name in names), strict=True)
        return [{"day": day, **dict(zip(names, numbers, strict=True))} for day, *numbers in columns]


@dataclass(frozen=True)
class ChangedExplanation:
    """An explanation whose rows agree less, or more, than in the reference period."""

    text: str
    rows: tuple[int, int]
    agreement: tuple[float, float]
    part: float
    probability: float
    labels: str = ""


@dataclass(frozen=True)
class MonitorRecord:
    """Everything that a monitor's page shows.

    Attributes
    ----------
    title, headline : str
        The headline is the sentence to quote.
    lines : tuple of WatchedLine
        All rows first, then groups.
    rows : int
    confidence : float
    at_least : float, optional
        The level that was promised.
    reference_end : str, optional
        The last day of the reference period.
    changed : tuple of str
        Sentences about what changed since the reference.
    explanations : tuple of ChangedExplanation
        The largest losses first.
    features : tuple of pairs
        Features with what the explanations that name them add to the change.
    drift : tuple of str
        Sentences about the explanations themselves.
    notes : tuple of str
    measure : str
        What is watched, in a word.
    beside : tuple of pairs
        All rows and groups beside the reference, by name.
    """

    title: str
    headline: str
    lines: tuple[WatchedLine, ...]
    rows: int
    confidence: float = 0.95
    at_least: float | None = None
    reference_end: str | None = None
    changed: tuple[str, ...] = ()
    explanations: tuple[ChangedExplanation, ...] = ()
    features: tuple[tuple[str, float], ...] = ()
    drift: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    measure: str = "consistency"
    beside: tuple[tuple[str, Beside], ...] = ()


def _floats(column: Any) -> tuple[float, ...]:
    return tuple(np.asarray(column, np.float64).tolist())
