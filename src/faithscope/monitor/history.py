"""What a store has counted, as plain columns: pairs in the order of batches, days, and groups by name."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.profile import Profile
from faithscope.errors import UnknownName
from faithscope.inputs.hints import hint
from faithscope.measures.estimate import Estimate, estimate
from faithscope.monitor.canonical import canonical
from faithscope.monitor.estimates import profiles, with_forgotten
from faithscope.monitor.moments import to_date
from faithscope.monitor.origin import origin
from faithscope.monitor.queries import fetch_lines, fetch_table
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.scoped.estimates import sufficiency_estimates
from faithscope.monitor.scoped.scopes import held_scopes
from faithscope.monitor.store import Store, readable_state

Ints = NDArray[np.int64]

_PAIRS = "SELECT batch, day, grp, rows, openers, matched, agreeing FROM pairs ORDER BY batch, day, grp"
_GROUPS = "SELECT canonical, shown FROM groups ORDER BY code"
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
_FIELDS = {"grp": "group"}
_OPEN = "(SELECT period AS day, {group} AS grp, high, low, label, given FROM cells WHERE level = 0{further})"


@dataclass(frozen=True, eq=False)
class PairColumns:
    """One line per batch, group and day of openers, in the order of batches.

    `openers` arrived, `matched` openers of that day found a partner in that batch, `agreeing` of these agree.
    """

    batch: Ints
    day: Ints
    group: Ints
    rows: Ints
    openers: Ints
    matched: Ints
    agreeing: NDArray[np.float64]

    def take(self, chosen: Any) -> "PairColumns":
        """Some of the lines, by a mask, places or a slice."""
        return PairColumns(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


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
        return DayLine(
            self.day,
            self.group,
            self.n + other.n,
            self.agreeing + other.agreeing,
            self.unverifiable + other.unverifiable,
            self.explanations + other.explanations,
            None,
            None,
            self.parts + other.parts,
        )


class History:
    """What a store held when it was read."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def by(self) -> tuple[str, ...]:
        """The names of what gives groups; empty if there are none."""
        return tuple(json.loads(self._store.settings()["by"]))

    @cached_property
    def groups(self) -> dict[Any, int]:
        """The number of each group by its name; `(None,)` are rows whose group is missing, None stands for all rows."""
        return {name: code for code, name in enumerate(self._known.values())}

    @cached_property
    def _known(self) -> dict[str, Any]:
        """The name of each group by its canonical text, in the order of their numbers."""
        with self._store.transaction() as connection:
            lines = fetch_lines(connection, _GROUPS) if self.by else []
        with readable_state(self._store.name):
            names = {text: _shown(text, shown) for text, shown in lines}
        owners = {name: text for text, name in names.items()} | {
            name: text for text, name in names.items() if canonical(name) == text
        }  # of two that read the same, the one whose name is its value; the other is named by its canonical text
        return {text: name if owners[name] == text else text for text, name in names.items()}

    @property
    def codes(self) -> dict[Any, int]:
        """The number of all rows, whose name is None, and of each group by its name."""
        return {None: WHOLE, **self.groups}

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
        with self._store.transaction() as connection:
            answer = fetch_table(connection, _PAIRS)
        columns = {name: answer.column(name).to_numpy() for name in answer.column_names}
        whole = {
            _FIELDS.get(name, name): column.astype(np.int64) for name, column in columns.items() if name != "agreeing"
        }
        return PairColumns(**whole, agreeing=columns["agreeing"].astype(np.float64))

    @cached_property
    def origin(self) -> int | None:
        """The day on which the watch began: the first of the first batch, whatever comes later; None without rows."""
        with self._store.transaction() as connection:
            return origin(connection)

    def estimate(self, code: int, confidence: float) -> Estimate | None:
        """The measure of all rows ever, or of a group; None if there are none."""
        with self._store.transaction() as connection:
            scopes = held_scopes(connection)
            if scopes is not None:
                chosen = "" if code == WHOLE else f" WHERE grp = {code}"
                cells = f"(SELECT high, low, label, given FROM cells{chosen})"
                return sufficiency_estimates(connection, scopes, cells, (), confidence).get(())
            profile = self.profile(code)
        return None if profile is None else estimate(profile, confidence=confidence, interval=None)

    def profile(self, code: int) -> Profile | None:
        """The counts of all rows ever, or of a group; None if there are none."""
        chosen = "" if code == WHOLE else f" WHERE grp = {code}"
        with self._store.transaction() as connection:
            known = profiles(connection, f"(SELECT high, low, label, given FROM cells{chosen})").get(())
            lone = f"SELECT label, rows FROM forgotten{chosen}"
            lines = fetch_lines(connection, lone)
            if not lines:
                return known
            both = f"SELECT label, given AS rows FROM cells{chosen} UNION ALL {lone}"
            labels = fetch_lines(connection, f"SELECT label, sum(rows)::BIGINT FROM ({both}) GROUP BY label")
        label_rows = np.sort(np.array([rows for _, rows in labels], np.int64))
        return with_forgotten(known, sum(rows for _, rows in lines), label_rows)

    @property
    def come_back(self) -> tuple[int, int] | None:
        """How many pairs of rows with one explanation came in one batch, and how many should; None if not far fewer.

        Given how often each explanation came, every two rows are as likely to be of one batch as any other two if rows
        are independent draws, and batches alike. Whoever comes back later, and not twice in a batch, makes them fewer.
        """
        with self._store.transaction() as connection:
            same, pairs, n, together = (float(number or 0) for number in fetch_lines(connection, _TOGETHER)[0])
        return far_fewer(same, pairs, n, together)

    @property
    def forgotten(self) -> int:
        """Rows of explanations that came once and are no longer known."""
        with self._store.transaction() as connection:
            return int(fetch_lines(connection, "SELECT coalesce(sum(rows), 0) FROM forgotten")[0][0])

    def days(self, confidence: float, *, grouped: bool = True) -> list[DayLine]:
        """The measures of every day, of all rows and then, if they are asked for, of each group, in order."""
        names = {code: name for name, code in self.groups.items() if grouped} | {WHOLE: None}
        with self._store.transaction() as connection:  # one state: a day is either open or closed
            closed = [line for line in fetch_lines(connection, _CLOSED) if line[1] in names]
            opened = list(open_days(connection, confidence, grouped=grouped and bool(self.by)))
        lines = [
            (
                day,
                code,
                DayLine(to_date(day), names[code], *numbers, *(interval if held == confidence else (None, None))),
            )
            for day, code, numbers, interval, held in (
                (line[0], line[1], line[2:6], line[6:8], line[8]) for line in closed
            )
        ]
        lines += [(day, code, DayLine(to_date(day), names[code], *measures(told))) for (day, code), told in opened]
        merged: dict[tuple[int, int], DayLine] = {}
        for day, code, line in lines:
            merged[day, code] = merged[day, code].with_part(line) if (day, code) in merged else line
        return [merged[key] for key in sorted(merged)]


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


def open_days(
    connection: Any, confidence: float, *, grouped: bool, before: int | None = None
) -> Iterator[tuple[tuple[int, int], Estimate]]:
    """The estimate of every day that is not closed, by day and group; of those before a day only, if there is one."""
    further = "" if before is None else f" AND period < {before}"
    scopes = held_scopes(connection)
    for group in (WHOLE, "grp") if grouped else (WHOLE,):
        cells, keys = _OPEN.format(group=group, further=further), ("day", "grp")
        if scopes is not None:
            for key, told in sufficiency_estimates(connection, scopes, cells, keys, confidence).items():
                yield (key[0], key[1]), told
            continue
        for key, profile in profiles(connection, cells, keys).items():
            yield (key[0], key[1]), estimate(profile, confidence=confidence, interval=None)


def measures(told: Estimate) -> tuple[int, float, int, int, float, float]:
    """Rows, the sum of agreements, unverifiable rows, explanations and the interval of an estimate."""
    profile = told.counts.profile()
    terms = profile.terms
    return told.n, terms.agreeing, int(terms.silent), profile.distinct, told.low, told.high


def _shown(text: str, shown: str) -> Any:
    """The name of a group, from its canonical text and how it is shown; dates are dates again."""
    value = json.loads(shown)
    if isinstance(value, list) or value is None:
        return (None,) if value is None else tuple(value)
    if isinstance(value, str) and text.startswith("t"):
        with suppress(ValueError):
            return date.fromisoformat(value) if len(value) == len("2026-03-01") else datetime.fromisoformat(value)
    return value
