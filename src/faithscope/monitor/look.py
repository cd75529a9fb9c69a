"""Look: one state of a store, read once: limits, alarms and days, for a page, JSON, Prometheus or a caller."""

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.errors import UnknownName
from faithscope.explanations.base import several, told_apart
from faithscope.inputs.hints import hint
from faithscope.measures.estimate import Estimate
from faithscope.monitor.beside import FORGOTTEN, Beside, SharesBeside
from faithscope.monitor.canonical import canonical
from faithscope.monitor.clusters import cluster_notes, ids_again
from faithscope.monitor.estimates import estimates, measures, open_days
from faithscope.monitor.limits import Limits, PairColumns, all_alarms, group_shares
from faithscope.monitor.moments import to_date
from faithscope.monitor.origin import origin
from faithscope.monitor.queries import fetch_lines, fetch_table, held_settings
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.sequential import Alarm, DailyDraws, lower_limit, upper_limit
from faithscope.monitor.store import readable_state

_PAIRS = """
SELECT batch::BIGINT, day::BIGINT, grp::BIGINT, rows, openers, matched, agreeing FROM pairs ORDER BY batch, day, grp
"""
_CLOSED = """
SELECT day, grp, n, agreeing, unverifiable, explanations, low, high, confidence FROM days ORDER BY day, grp
"""
# Ordered pairs of rows with one explanation, of one batch and of any; and rows, and ordered pairs of one batch.
_TOGETHER = """
WITH each AS (SELECT high, low, batch, period, sum(given) AS g FROM cells WHERE level = 0 GROUP BY ALL),
alike AS (SELECT sum(g * g) - sum(g) AS same, sum(g) * sum(g) - sum(g) AS pairs FROM each GROUP BY high, low),
parts AS (SELECT sum(g) AS n FROM each GROUP BY batch, period)
SELECT (SELECT sum(same) FROM alike), (SELECT sum(pairs) FROM alike), sum(n), sum(n * n) - sum(n) FROM parts
"""
_FEWER, _FAR = 4.0, 0.95  # standard errors, and the share below which pairs are far fewer
_OTHERWISE = "SELECT count(DISTINCT day), max(confidence) FROM days WHERE confidence <> ?"

_GONE = (
    "{} of explanations that came once, more than a year ago, are no longer known by explanation and count as "
    "unverifiable"
)
_AGAIN = (
    "{:,} pairs of rows with the same explanation came in one batch, and of independent rows about {:,} would: the "
    'same cases seem to come back in later batches, so that limits may miss the truth and "holds" is not said; add '
    "each case once, or begin another state with clusters=, on the command line --cluster"
)
_IDS_AGAIN = (
    "{1:,} of {2:,} ids in {0!r} came in an earlier batch too: the same cases come back, so that limits may miss the "
    'truth and "holds" is not said; begin another state with clusters={0!r}, on the command line --cluster'
)
_ADDED_UP = (
    "monitors that were added up had rows after the reference, each judged beside rows of its own, so nothing is told "
    "beside the reference; days are still compared among themselves"
)
_OTHER_CONFIDENCE = (
    "the intervals of {:,} closed days are of {:g} confidence, at which they were closed: none is shown at {:g}"
)


@dataclass(frozen=True)
class DayLine:
    """The measures of a day and group: exact, unless rows came after the day was closed (then of its parts)."""

    day: date
    group: Any
    n: int
    agreeing: float
    unverifiable: int
    explanations: int
    low: float | None
    high: float | None
    parts: int = 1
    beside: float | None = None

    @property
    def value(self) -> float:
        """The estimate M̂."""
        return self.agreeing / self.n

    def with_part(self, other: "DayLine") -> "DayLine":
        """Rows of the same day that were counted apart: sums, and no interval."""
        names = ("n", "agreeing", "unverifiable", "explanations", "parts")
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(self, **sums, low=None, high=None)


class Look:
    """What a state shows at one look: whatever is asked is read in one transaction, and once.

    Parameters
    ----------
    connection
        To a store, inside a transaction.
    where : str
        What the store is called.
    confidence, at_least, reference
        As for `Monitor`; the reference may also be one that is asked for at this look alone.
    """

    def __init__(
        self, connection: Any, where: str, confidence: float, at_least: float | None, reference: int | None
    ) -> None:
        self.connection, self.where = connection, where
        self.confidence, self.at_least, self.reference = confidence, at_least, reference
        self.settings = held_settings(connection)
        self.by: tuple[str, ...] = tuple(json.loads(self.settings["by"]))
        self.measure = "sufficiency" if "scopes" in self.settings else "consistency"
        self.origin = origin(connection)  # the first day of the first batch, whatever comes later; None without rows

    @cached_property
    def _known(self) -> dict[str, Any]:
        """The name of each group by its canonical text, in the order of their numbers."""
        query = "SELECT canonical, shown FROM groups ORDER BY code"
        lines = fetch_lines(self.connection, query) if self.by else []
        with readable_state(self.where):
            names = {text: _shown(text, shown) for text, shown in lines}
        owners = {name: text for text, name in names.items()} | {
            name: text for text, name in names.items() if canonical(name) == text
        }  # of two that read the same, the one whose name is its value; the other is named by its canonical text
        return {text: name if owners[name] == text else text for text, name in names.items()}

    @cached_property
    def groups(self) -> list[Any]:
        """The groups that came up, in the order in which they did; `(None,)` are rows whose group is missing."""
        return list(self._known.values())

    @cached_property
    def codes(self) -> dict[Any, int]:
        """The number of all rows, whose name is None, and of each group by its name."""
        return {None: WHOLE, **{name: code for code, name in enumerate(self.groups)}}

    @cached_property
    def names(self) -> dict[Any, str]:
        """How all rows (None) and groups read, no two alike."""
        return {None: "all rows", **dict(zip(self.groups, told_apart(self.groups, "all rows"), strict=True))}

    def name(self, group: Any) -> Any:
        """The name of a group, whatever equal value it is asked for by; None for all rows."""
        known = {canonical(name): name for name in self.groups} | self._known | {canonical(None): None}
        try:
            return known[canonical(group)]
        except KeyError:
            names = list(map(str, self.groups))
            raise UnknownName(f"The monitor has no group {group!r}. {hint(str(group), names)}") from None

    @cached_property
    def pairs(self) -> PairColumns:
        """All pairs, in the order of batches."""
        return PairColumns(*(column.to_numpy() for column in fetch_table(self.connection, _PAIRS).columns))

    @cached_property
    def shares(self) -> dict[Any, float]:
        """The share of an error that all rows, and each group, have."""
        shares = group_shares(self.pairs)
        return {name: shares.get(code, 1.0) for name, code in self.codes.items()}

    @cached_property
    def _come_back(self) -> tuple[int, int] | None:
        """How many pairs of rows with one explanation came in one batch, and how many should; None if not far fewer.

        Given how often each explanation came, every two rows are as likely to be of one batch as any other two if rows
        are independent draws, and batches alike. Whoever comes back later, and not twice in a batch, makes them fewer.
        """
        return far_fewer(*(float(number or 0) for number in fetch_lines(self.connection, _TOGETHER)[0]))

    @cached_property
    def limits(self) -> dict[Any, Limits]:
        """Limits of all rows (None) and of groups, which hold for all groups together."""
        pairs, places = self.pairs, np.array(list(self.codes.values())) + 1  # WHOLE is -1
        n, openers, matched, agreeing = (
            np.bincount(pairs.group + 1, column, places.max() + 1)[places]
            for column in (pairs.rows, pairs.openers, pairs.matched, pairs.agreeing)
        )
        error = (1 - self.confidence) / 2 * np.array(list(self.shares.values()))
        waiting = openers - matched
        lows, highs = lower_limit(agreeing, openers, error), upper_limit(agreeing + waiting, openers, error)
        doubted = self._come_back is not None or ids_again(self.connection) is not None
        return {
            name: Limits(
                float(agreeing[j] / matched[j]) if matched[j] else None,
                *(float(lows[j]), float(highs[j]), self.confidence),
                *(int(n[j]), int(openers[j]), int(matched[j]), int(waiting[j])),
                self.at_least,
                self.measure,
                doubted,
                "clusters" in self.settings,
            )
            for j, name in enumerate(self.codes)
        }

    def draws(self, since: int | None = None) -> dict[Any, DailyDraws]:
        """The draws of all rows (None) and of groups, on the same days; without those before a day."""
        pairs = self.pairs if since is None else self.pairs.take(self.pairs.day >= since)
        days, place = np.unique(pairs.day, return_inverse=True)
        dates = np.array([to_date(int(day)) for day in days], object)
        codes, cells = self.codes, (pairs.group + 1) * len(days) + place  # WHOLE is -1
        shape = (max(codes.values()) + 2, len(days))
        tables = [
            np.bincount(cells, column, shape[0] * shape[1]).reshape(shape)
            for column in (pairs.openers, pairs.matched, pairs.agreeing)
        ]
        return {name: DailyDraws.of_pairs(dates, *(each[code + 1] for each in tables)) for name, code in codes.items()}

    @cached_property
    def alarms(self) -> dict[Any, tuple[Alarm, ...]]:
        """Alarms of all rows (None) and of groups."""
        told = self._shares_beside
        apart = None if told is None else lambda name, error: told.alarms(self.codes[name], error)
        how = (self.at_least, self.reference, 1 - self.confidence, apart)
        return all_alarms(self.draws(self.origin), self.shares, *how)

    @cached_property
    def _shares_beside(self) -> SharesBeside | None:
        """The rows since the reference beside it; None if it was not settled, or nothing was added."""
        if "reference" not in self.settings or self.origin is None:
            return None
        return SharesBeside(self.connection, self.origin + int(self.settings["reference"]))

    @cached_property
    def beside(self) -> dict[Any, Beside]:
        """What all rows (None) and groups are beside the reference; empty if there is nothing to compare with."""
        told = self._shares_beside
        if told is None or self.settings.get("beside") == FORGOTTEN:
            return {}
        return {name: told.told(code, self.confidence, self.shares[name]) for name, code in self.codes.items()}

    def single_look(self, group: Any = None) -> Estimate | None:
        """The measure of all rows ever, or of a group by its name; None if there are none."""
        code = self.codes[group]
        chosen = "" if code == WHOLE else f" WHERE grp = {code}"
        return estimates(self.connection, f"(SELECT * FROM cells{chosen})", (), self.confidence, chosen).get(())

    @cached_property
    def once(self) -> Estimate | None:
        """The measure of all rows ever; None if there are none."""
        return self.single_look()

    def days(self, *, grouped: bool = True) -> list[DayLine]:
        """The measures of every day, of all rows and then, if they are asked for, of each group, in order."""
        names = {code: name for name, code in self.codes.items() if grouped or name is None}
        lines = [
            (day, code, *measured, *(interval if held == self.confidence else (None, None)))
            for day, code, *measured, low, high, held in fetch_lines(self.connection, _CLOSED)
            if code in names
            for interval in [(low, high)]
        ]
        opened = open_days(self.connection, self.confidence, grouped=grouped and bool(self.by))
        lines += [(day, code, *measures(told)) for (day, code), told in opened]
        merged: dict[tuple[int, int], DayLine] = {}
        for day, code, *numbers in lines:
            line = DayLine(to_date(day), names[code], *numbers)
            merged[day, code] = merged[day, code].with_part(line) if (day, code) in merged else line
        in_order = [merged[key] for key in sorted(merged)]
        if (shares := self._shares_beside) is None:
            return in_order
        beside = {name: shares.daily(code) for code, name in names.items()}
        return [replace(line, beside=beside[line.group].get(line.day)) for line in in_order]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        gone = int(fetch_lines(self.connection, "SELECT coalesce(sum(rows), 0) FROM forgotten")[0][0])
        known, again = ids_again(self.connection), self._come_back
        days, held = fetch_lines(self.connection, _OTHERWISE, [self.confidence])[0]
        notes = (
            gone and _GONE.format(several(gone, "row", "rows")),
            _IDS_AGAIN.format(*known) if known else again and _AGAIN.format(*again),
            self.settings.get("beside") == FORGOTTEN and _ADDED_UP,
            days and _OTHER_CONFIDENCE.format(days, held, self.confidence),
        )
        return (*cluster_notes(self.connection), *(note for note in notes if note))


def far_fewer(same: float, pairs: float, n: float, together: float) -> tuple[int, int] | None:
    """Pairs of one explanation and batch, and how many should be, if far fewer; all given numbers are of ordered pairs.

    Parameters
    ----------
    same, pairs
        Of rows with one explanation, in one batch and in any.
    n, together
        Rows, and pairs of rows in one batch.
    """
    expected = pairs * together / max(1.0, n * (n - 1))
    few = min(_FAR * expected, expected - _FEWER * (2 * expected) ** 0.5)
    return (round(same / 2), round(expected / 2)) if same < few else None


def _shown(text: str, shown: str) -> Any:
    """The name of a group, from its canonical text and how it is shown; dates are dates again."""
    value = json.loads(shown)
    if isinstance(value, list) or value is None:
        return (None,) if value is None else tuple(value)
    if isinstance(value, str) and text.startswith("t"):
        with suppress(ValueError):
            return date.fromisoformat(value) if len(value) == len("2026-03-01") else datetime.fromisoformat(value)
    return value
