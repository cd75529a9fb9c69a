"""What a monitor's page shows: lines over time, alarms, and what changed since the reference, measured at one look."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from faithscope.monitor.compared import CELLS_BY_RULE, compare, scoped_changes
from faithscope.monitor.look import Look
from faithscope.monitor.moments import to_date
from faithscope.monitor.periods import ChangedExplanation, distance, drift_sentences
from faithscope.monitor.scopes import held_scopes
from faithscope.monitor.sequential import Alarm, DailyDraws, changes, shares

_MOST_FEATURES = 20
_NO_REFERENCE = (
    "What changed, and whether explanations drift, is told against a reference period that was fixed beforehand: pass "
    "reference=30 for the first 30 days, on the command line --reference 30."
)
_POINT = ("day", "value", "low", "high", "once_low", "once_high")


class WatchedLine(NamedTuple):
    """All rows, or a group, over time.

    Attributes
    ----------
    name : str
    points : list of dict
        One per day, in order: the day as an ISO date; the agreement of its pairs, None without pairs; limits as of that
        day, of all rows until then, that hold on all days together; and the interval as of that day for a single look.
    alarms : sequence of Alarm
    openers : int
        How many pairs were begun.
    """

    name: str
    points: list[dict[str, Any]]
    alarms: Sequence[Alarm]
    openers: int

    @classmethod
    def of(cls, name: str, draws: DailyDraws, error: float, alarms: Sequence[Alarm] = ()) -> "WatchedLine":
        """The line of draws; days that have a day's name, such as dates, are shown by it."""
        met = draws.draws - (draws.most - draws.least)
        value = [None if n < 1 else float(k / n) for k, n in zip(draws.least, met, strict=True)]
        ends = (column.tolist() for column in (*draws.limits(error), *draws.single_look(error)))
        points = [
            dict(zip(_POINT, point, strict=True)) for point in zip(map(str, draws.days), value, *ends, strict=True)
        ]
        return cls(name, points, alarms, int(draws.draws.sum()))


class MonitorRecord:
    """Everything that a monitor's page shows, of one look.

    Attributes
    ----------
    title, headline : str
        The headline is the sentence to quote.
    lines : list of WatchedLine
        All rows first, then groups.
    reference_end : str, optional
        The last day of the reference period.
    changed : tuple of str
        Sentences about what changed since the reference.
    explanations : tuple of ChangedExplanation
        The largest losses first.
    features : list of pairs
        Features with what the explanations that name them add to the change.
    drift : tuple of str
        Sentences about the explanations themselves.
    notes : list of str
    facts : dict of str
    beside : list of pairs
        All rows and groups beside the reference, by name.
    rows, confidence, at_least, measure
        As of the look.
    """

    def __init__(self, look: Look) -> None:
        self.confidence, self.at_least, self.measure = look.confidence, look.at_least, look.measure
        self.title, self.headline = f"{look.measure.capitalize()}, watched", _headline(look)
        self.rows, error = look.limits[None].n, 1 - look.confidence
        self.lines = [
            WatchedLine.of(look.names[name], draws, error * look.shares[name], look.alarms.get(name, ()))
            for name, draws in look.draws().items()
        ]
        self.beside = [(look.names[name], told) for name, told in look.beside.items()]
        grouped = "Limits of groups hold for all groups together." if look.groups else None
        notes = (grouped, None if look.reference else _NO_REFERENCE, *look.notes)
        self.notes = [note for note in notes if note]
        facts = {"state": Path(look.where).name, "groups by": ", ".join(look.by)}
        if look.once is not None:
            facts |= {"explanations": f"{look.once.distinct:,}", "unverifiable rows": f"{look.once.unverifiable:.1%}"}
        self.facts = {name: fact for name, fact in facts.items() if fact}
        self.changed: tuple[str, ...] = ()
        self.drift: tuple[str, ...] = ()
        self.explanations: tuple[ChangedExplanation, ...] = ()
        self.features: list[tuple[str, float]] = []
        self.reference_end: str | None = None
        if look.reference is not None and look.origin is not None:
            end = to_date(look.origin + look.reference - 1)
            self.reference_end = str(end)
            self._compare(look, look.reference, end)

    def _compare(self, look: Look, reference: int, end: date) -> None:
        """What changed within explanations, and of the explanations themselves, at all looks together.

        What is seen changes with a batch only, so the distance after the i-th one has its share of the error. Of scopes
        each rule is told in a sentence.
        """
        scopes, error = held_scopes(look.connection), (1 - look.confidence) / 2
        compared = compare(look.connection, reference, "cells" if scopes is None else CELLS_BY_RULE)
        if compared is None:
            self.changed = ("There are no rows after the reference yet, or they were merged with it.",)
            return
        periods = compared.periods
        self.changed = periods.sentences() if scopes is None else scoped_changes(look.connection, scopes, reference)
        if compared.until > end:
            self.changed += (
                f"The state no longer tells the explanations of the reference from those until {compared.until}: here "
                "they count as the reference's.",
            )
        new = changes(compared.fresh, compared.reference, error, compared.begin.toordinal())
        batches = len(np.unique(look.pairs.batch))
        apart = distance(periods.given[0], periods.given[1], error * float(shares(np.array([batches - 1]))[0]), seed=0)
        self.drift = drift_sentences(look.alarms.get(None, ()), new, apart, periods.fresh, look.measure)
        if scopes is None:
            parts = periods.feature_parts(compared.features)
            largest = sorted(parts.items(), key=lambda item: -abs(item[1]))[:_MOST_FEATURES]
            self.features = [(name, part) for name, part in sorted(largest, key=lambda item: item[1]) if part]
            self.explanations = periods.changed(compared.names, compared.labels)


def _headline(look: Look) -> str:
    limits, alarms = look.limits[None], [(name, alarm) for name, told in look.alarms.items() for alarm in told]
    if not limits.n:
        return "No rows were added yet."
    if not alarms:
        return f"No alarm. {limits}."
    name, alarm = alarms[0]
    others = len({group for group, _ in alarms if group is not None and group != name})
    more = f"; alarms in {others} group{'s' * (others != 1)} too" if others else ""
    return f"Alarm for {look.names[name]}: {alarm}{more}."
