"""Look: one state of a store, read once: limits, alarms and days, for a page, JSON, Prometheus or a caller."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.counting.profile import Profile
from faithscope.errors import UnknownName
from faithscope.explanations.base import told_apart
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.hints import hint
from faithscope.measures.estimate import Estimate, estimate
from faithscope.monitor.adding import origin
from faithscope.monitor.beside import Beside, SharesBeside
from faithscope.monitor.canonical import canonical
from faithscope.monitor.moments import to_date
from faithscope.monitor.scopes import Patterns, Scopes, held_patterns
from faithscope.monitor.sequential import Alarm, Draws, below_level, changes, lower_limit, upper_limit
from faithscope.monitor.store import WHOLE, fetched, settings_of
from faithscope.rounding import down, up

_PAIRS = """
SELECT batch, day, grp::BIGINT AS grp, rows, openers, matched, agreeing FROM pairs ORDER BY batch, day, grp
"""
# Ordered pairs of rows with one explanation, of one batch and of any; and rows, and ordered pairs of one batch.
_TOGETHER = """
WITH each AS (SELECT high, low, batch, day, sum(given) AS g FROM cells GROUP BY ALL),
alike AS (SELECT sum(g * g) - sum(g) AS same, sum(g) * sum(g) - sum(g) AS pairs FROM each GROUP BY high, low),
parts AS (SELECT sum(g) AS n FROM each GROUP BY batch, day)
SELECT (SELECT sum(same) FROM alike), (SELECT sum(pairs) FROM alike), sum(n), sum(n * n) - sum(n) FROM parts
"""
_IDS_AGAIN = """
SELECT name, sum(times - 1)::BIGINT AS again, sum(times)::BIGINT AS looked
FROM (SELECT name, word, count(*) AS times FROM ids GROUP BY ALL) GROUP BY name HAVING again > 0.05 * looked
ORDER BY name LIMIT 1
"""  # ids of which so many came before are not of independent draws
_FEWER, _FAR = 4.0, 0.95  # standard errors, and the share below which pairs are far fewer
_HEARD = """
WITH latest AS (SELECT number, rows FROM batches WHERE last_day > (SELECT max(last_day) FROM batches) - 7)
SELECT (SELECT sum(rows) FROM batches)::BIGINT, (SELECT sum(given) FROM cells)::BIGINT,
    (SELECT sum(rows) FROM latest)::BIGINT,
    (SELECT coalesce(sum(given), 0) FROM cells SEMI JOIN latest ON cells.batch = latest.number)::BIGINT
"""
_FEW = 0.1  # the share of rows that count below which a change would hardly be seen
_COME_BACK = (
    'limits may miss the truth and "holds" is not said; add each case once, or begin another state with clusters=, on '
    "the command line --cluster"
)
# Explanations with the same numbers of rows by label are merged in the database, and only those numbers come back.
_KINDS = """
WITH labelled AS (SELECT {keys} high, low, label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL),
explained AS (SELECT {keys} high, low, list_sort(list(given)) AS given FROM labelled GROUP BY ALL)
SELECT {keys} given, count(*) AS times FROM explained GROUP BY ALL
"""
_LABELS = "SELECT {keys} label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL"
# In an order of their own, since that of an engine differs from run to run, and rounding of sums with it.
_PATTERNS = """
SELECT {keys} high, low, label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL ORDER BY {keys} high, low, label
"""


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


class Look:
    """What a state shows at one look: whatever is asked is read in one transaction, and once.

    Parameters
    ----------
    connection
        To a store, inside a transaction.
    where : str
        What the store is called.
    confidence, at_least
        As for `Monitor`.
    scopes : Scopes or None
        Those with which the store began.
    """

    def __init__(
        self, connection: Any, where: str, confidence: float, at_least: float | None, scopes: Scopes | None
    ) -> None:
        self.connection, self.where, self.scopes = connection, where, scopes
        self.confidence, self.at_least = confidence, at_least
        self.settings = settings_of(connection, where)
        self.by: list[str] = self.settings["by"]
        self.reference: int | None = self.settings.get("reference")
        self.clustered = self.settings.get("clusters", "none") != "none"
        self.measure = "consistency" if scopes is None else "sufficiency"
        self.origin = origin(connection)  # the first day of the first batch, whatever comes later; None without rows

    @cached_property
    def _known(self) -> dict[str, Any]:
        """The name of each group by its canonical text, in the order of their numbers."""
        query = "SELECT canonical, shown FROM names WHERE what = 'groups' ORDER BY code"
        lines = self.connection.execute(query).fetchall() if self.by else []
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
    def pairs(self) -> dict[str, Array]:
        """What each batch added by group and day of openers, in the order of batches."""
        return fetched(self.connection, _PAIRS)

    @cached_property
    def shares(self) -> dict[Any, float]:
        """The share of an error that all rows, and each group, have."""
        shares = group_shares(self.pairs["grp"], self.pairs["batch"])
        return {name: shares.get(code, 1.0) for name, code in self.codes.items()}

    @cached_property
    def _come_back(self) -> str:
        """What is said if the same cases seem to come back in later batches; nothing if they do not.

        Given how often each explanation came, every two rows are as likely to be of one batch as any other two if rows
        are independent draws, and batches alike. Whoever comes back later, and not twice in a batch, makes them fewer.
        """
        for name, again, looked in self.connection.execute(_IDS_AGAIN).fetchall():
            told = f"{again:,} of {looked:,} ids in {name!r} came in an earlier batch too"
            return f"{told}: the same cases come back, so that {_COME_BACK}"
        ((*sums,),) = self.connection.execute(_TOGETHER).fetchall()
        few = far_fewer(*(float(number or 0) for number in sums))
        if few is None:
            return ""
        told = (
            "{:,} pairs of rows with the same explanation came in one batch, and of independent rows about {:,} would"
        )
        return f"{told.format(*few)}: the same cases seem to come back in later batches, so that {_COME_BACK}"

    @cached_property
    def _sums(self) -> tuple[Ints, list[Array]]:
        """The days, and what all rows and each group had on each: rows, openers, matched and agreeing ones."""
        days, place = np.unique(self.pairs["day"], return_inverse=True)
        shape = (len(self.codes), len(days))
        cells = (self.pairs["grp"] - WHOLE) * len(days) + place
        amounts = (self.pairs[name] for name in ("rows", "openers", "matched", "agreeing"))
        return days, [np.bincount(cells, each, shape[0] * shape[1]).reshape(shape) for each in amounts]

    @cached_property
    def draws(self) -> dict[Any, Draws]:
        """The draws of all rows (None) and of groups, on the same days."""
        days, (_, *amounts) = self._sums
        return {name: Draws.of_pairs(days, *(each[j] for each in amounts)) for j, name in enumerate(self.codes)}

    @cached_property
    def limits(self) -> dict[Any, Limits]:
        """Limits of all rows (None) and of groups, which hold for all groups together."""
        n, openers, matched, agreeing = (each.sum(axis=1) for each in self._sums[1])
        error = (1 - self.confidence) / 2 * np.array(list(self.shares.values()))
        waiting = openers - matched
        lows = lower_limit(np.column_stack([openers - agreeing, agreeing]), error)
        highs = upper_limit(np.column_stack([matched - agreeing, agreeing + waiting]), error)
        return {
            name: Limits(
                float(agreeing[j] / matched[j]) if matched[j] else None,
                *(float(lows[j]), float(highs[j]), self.confidence),
                *(int(n[j]), int(openers[j]), int(matched[j]), int(waiting[j])),
                self.at_least,
                self.measure,
                bool(self._come_back),
                self.clustered,
            )
            for j, name in enumerate(self.codes)
        }

    @cached_property
    def alarms(self) -> dict[Any, tuple[Alarm, ...]]:
        """Alarms of all rows (None) and of groups, false with probability at most 1 - confidence over all looks.

        All rows have half of the error and groups their shares of the other half; these are shared alike by what is
        asked: against a level, and of a reference against the same rows' own one and beside it.
        """
        questions, told = (self.at_least is not None) + 2 * (self.reference is not None), dict[Any, tuple[Alarm, ...]]()
        if self.origin is None or not questions:
            return told
        for name, ever in self.draws.items():
            draws = ever.take(ever.days >= self.origin)
            error = (1 - self.confidence) / questions / (2 if self.groups else 1) * self.shares[name]
            alarms = below_level(draws, self.at_least, error) if self.at_least else ()
            if self.reference is not None:
                alarms += changes(draws, self.reference, error, self.origin)
            if self._shares_beside is not None:
                alarms += self._shares_beside.alarms(self.codes[name], error)
            if alarms:
                told[name] = tuple(replace(each, day=to_date(each.day), since=to_date(each.since)) for each in alarms)
        return told

    @cached_property
    def _shares_beside(self) -> SharesBeside | None:
        """The rows since the reference beside it; None if it was not settled, or nothing was added."""
        if self.reference is None or self.origin is None:
            return None
        return SharesBeside(self.connection, self.origin, self.reference, self.settings["seed"], self.scopes)

    @cached_property
    def beside(self) -> dict[Any, Beside]:
        """What all rows (None) and groups are beside the reference; empty if there is nothing to compare with."""
        told = self._shares_beside
        if told is None:
            return {}
        return {name: told.told(code, self.confidence, self.shares[name]) for name, code in self.codes.items()}

    def single_look(self, group: Any = None) -> Estimate | None:
        """The measure of all rows ever, or of a group by its name; None if there are none."""
        code = self.codes[group]
        return self._estimates(f"(SELECT * FROM cells{'' if code == WHOLE else f' WHERE grp = {code}'})").get(())

    @cached_property
    def once(self) -> Estimate | None:
        """The measure of all rows ever; None if there are none."""
        return self.single_look()

    def days(self, *, grouped: bool = True) -> list[dict[str, Any]]:
        """The measures of every day, of all rows and then, if they are asked for, of each group, in order.

        With a reference `beside` is the agreement of the day's rows with it, None on its own days.
        """
        found, names = dict[tuple[int, ...], Estimate](), {code: name for name, code in self.codes.items()}
        for group in (WHOLE, "grp") if grouped and self.by else (WHOLE,):
            found |= self._estimates(f"(SELECT day, {group} AS grp, high, low, label, given FROM cells)", "day", "grp")
        told = self._shares_beside
        beside = {} if told is None else {code: told.daily(code) for _, code in found}
        lines = []
        for (day, code), each in sorted(found.items()):
            line: dict[str, Any] = {"day": to_date(day), "group": names[code]}
            line |= {name: getattr(each, name) for name in ("n", "value", "low", "high", "unverifiable")}
            line["explanations"] = each.distinct
            lines.append(line if told is None else {**line, "beside": beside[code].get(day)})
        return lines

    def _estimates(self, cells: str, *keys: str) -> dict[tuple[int, ...], Estimate]:
        """The measure for each combination of keys among cells, which are a query in parentheses."""
        told, found = {"cells": cells, "keys": "".join(f"{key}, " for key in keys)}, {}
        if self.scopes is not None:
            rows = fetched(self.connection, _PATTERNS.format(**told))
            patterns = held_patterns(self.connection, self.scopes, rows["high"], rows["low"])
            for key, at in _by_key(rows, keys).items():
                mine = Patterns(patterns.own[at], patterns.inside[at])
                found[key] = self.scopes.sufficiency(mine, rows["label"][at], rows["given"][at], self.confidence)
            return found
        kinds, labels = (fetched(self.connection, query.format(**told)) for query in (_KINDS, _LABELS))
        labelled = _by_key(labels, keys)
        for key, at in _by_key(kinds, keys).items():
            lists = kinds["given"][at].tolist()
            which = np.repeat(np.arange(len(lists)), [*map(len, lists)])
            given = np.concatenate(lists).astype(np.int64)
            profile = Profile.of_groups(which, given, kinds["times"][at], labels["given"][labelled[key]])
            found[key] = estimate(profile, confidence=self.confidence, interval=None)
        return found

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        notes = [self._come_back] if self._come_back else []
        if not self.clustered:
            return tuple(notes)
        rows, heard, recent, new = (number or 0 for number in self.connection.execute(_HEARD).fetchall()[0])
        if new < _FEW * recent:
            notes.append(
                f"of {recent:,} rows of the last seven days {new:,} count, so a change for clusters that came before "
                "is hardly seen: begin another state, in which each counts again"
            )
        once = (
            f"{rows:,} rows are of {heard:,} clusters, and each counts once, by a row of the first day on which it "
            "came: limits and alarms speak of such rows"
        )
        return (once, *notes)


def _by_key(rows: dict[str, Array], keys: Sequence[str]) -> dict[tuple[int, ...], Array]:
    """The places of lines by the combination of their keys, in order."""
    table = np.column_stack([*(rows[key] for key in keys), np.zeros(len(rows["given"]), np.int64)])
    different, place = np.unique(table, axis=0, return_inverse=True)
    parts = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    return {tuple(line[:-1]): part for line, part in zip(different.tolist(), parts, strict=False)}


def group_shares(groups: Array, batches: Array) -> dict[int, float]:
    """The share of an error that each group has, by its number; they add up to 1 at most, whatever groups will come.

    The i-th batch that brings new groups has 1 / (i (i + 1)), which its new groups share alike.
    """
    codes, first = np.unique(groups, return_index=True)  # lines are in the order of batches
    codes, first = codes[codes != WHOLE], first[codes != WHOLE]
    _, turn, many = np.unique(batches[first], return_inverse=True, return_counts=True)
    shares = 1 / ((turn + 1) * (turn + 2) * many[turn])
    return dict(zip(codes.tolist(), shares.tolist(), strict=True))


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
