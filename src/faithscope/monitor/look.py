"""Look: one state of a store, read once: limits, alarms and days, for a page, JSON, Prometheus or a caller."""

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.card import for_json
from faithscope.counting.profile import Profile
from faithscope.errors import UnknownName
from faithscope.inputs.array_types import Array, Ints
from faithscope.measures.estimate import Estimate, estimate
from faithscope.monitor.adding import origin
from faithscope.monitor.beside import Beside, SharesBeside
from faithscope.monitor.canonical import canonical
from faithscope.monitor.moments import to_date
from faithscope.monitor.sequential import Alarm, Draws, below_level, between, changes
from faithscope.monitor.store import WHOLE, fetched, settings_of
from faithscope.words import hint, told_apart

_PAIRS = """
SELECT batch, day, grp::BIGINT AS grp, rows, openers, matched, agreeing FROM pairs ORDER BY batch, day, grp
"""
# The share of an error of each group; they add up to 1 at most, whatever groups will come: the i-th batch that brings
# new groups has 1 / (i (i + 1)), which its new groups share alike.
_SHARES = """
WITH came AS (SELECT grp, min(batch) AS batch FROM pairs WHERE grp >= 0 GROUP BY grp),
turns AS (SELECT grp, dense_rank() OVER (ORDER BY batch) AS turn, count(*) OVER (PARTITION BY batch) AS many FROM came)
SELECT grp, 1::DOUBLE / (turn * (turn + 1) * many) FROM turns
"""
# Pairs of rows with one explanation that came in one batch, and as many as should have, if they are far fewer: by four
# standard errors and a twentieth. Given how often each explanation came, every two rows are as likely to be of one
# batch as any other two if rows are independent draws, and batches alike.
_FAR_FEWER = """
WITH each AS (SELECT high, low, batch, day, sum(given) AS g FROM cells GROUP BY ALL),
alike AS (SELECT sum(g * g) - sum(g) AS same, sum(g) * sum(g) - sum(g) AS pairs FROM each GROUP BY high, low),
parts AS (SELECT sum(g)::DOUBLE AS n FROM each GROUP BY batch, day),
whole AS (SELECT sum(n) AS n, sum(n * n) - sum(n) AS together FROM parts),
told AS (
    SELECT (SELECT sum(same) FROM alike)::DOUBLE AS same,
        (SELECT sum(pairs) FROM alike)::DOUBLE * together / greatest(1, n * (n - 1)) AS expected FROM whole
)
SELECT round(same / 2)::BIGINT, round(expected / 2)::BIGINT FROM told
WHERE same < least(0.95 * expected, expected - 4 * sqrt(2 * expected))
"""
_IDS_AGAIN = """
SELECT name, sum(times - 1)::BIGINT AS again, sum(times)::BIGINT AS looked
FROM (SELECT name, word, count(*) AS times FROM ids GROUP BY ALL) GROUP BY name HAVING again > 0.05 * looked
ORDER BY name LIMIT 1
"""  # ids of which so many came before are not of independent draws
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
WITH cells AS (SELECT {day} AS day, {grp} AS grp, high, low, label, given FROM cells WHERE {chosen}),
labelled AS (SELECT day, grp, high, low, label, sum(given)::BIGINT AS given FROM cells GROUP BY ALL),
explained AS (SELECT day, grp, high, low, list_sort(list(given)) AS given FROM labelled GROUP BY ALL),
kinds AS (SELECT day, grp, given, count(*) AS times FROM explained GROUP BY ALL),
labels AS (SELECT day, grp, label, sum(given)::BIGINT AS given FROM cells GROUP BY ALL),
told AS (SELECT day, grp, list(given ORDER BY label) AS labels FROM labels GROUP BY ALL)
SELECT day, grp, list(given ORDER BY given), list(times ORDER BY given), any_value(labels)
FROM kinds JOIN told USING (day, grp) GROUP BY day, grp
"""


@dataclass(frozen=True)
class Limits:
    """Limits of consistency that hold at all looks together.

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
        return {"measure": "consistency", **asdict(self), "verdict": self.verdict}

    def __str__(self) -> str:
        level = "" if self.at_least is None else f"; at least {self.at_least:g}: {self.verdict}"
        return (
            f"consistency {between(self.low, self.high)} at all looks together ({self.confidence:.0%} "
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
    """

    def __init__(self, connection: Any, where: str, confidence: float, at_least: float | None) -> None:
        self.connection, self.confidence, self.at_least = connection, confidence, at_least
        self.settings = settings_of(connection, where)
        self.by: list[str] = self.settings["by"]
        self.reference: int | None = self.settings.get("reference")
        self.clustered = self.settings.get("clusters", "none") != "none"
        self.origin = origin(connection)  # the first day of the first batch, whatever comes later; None without rows

    @cached_property
    def groups(self) -> list[Any]:
        """The groups that came up, in the order in which they did; `(None,)` are rows whose group is missing."""
        query = "SELECT shown FROM names WHERE what = 'groups' ORDER BY code"
        lines = self.connection.execute(query).fetchall() if self.by else []
        shown = [json.loads(text) for (text,) in lines]
        return [(None,) if each is None else each for each in shown]

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
        try:
            return {canonical(for_json(name)): name for name in self.codes}[canonical(for_json(group))]
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
        shares = dict(self.connection.execute(_SHARES).fetchall())
        return {name: shares.get(code, 1.0) for name, code in self.codes.items()}

    @cached_property
    def _come_back(self) -> str:
        """What is said if the same cases seem to come back in later batches; nothing if they do not."""
        for name, again, looked in self.connection.execute(_IDS_AGAIN).fetchall():
            told = f"{again:,} of {looked:,} ids in {name!r} came in an earlier batch too"
            return f"{told}: the same cases come back, so that {_COME_BACK}"
        for came, should in self.connection.execute(_FAR_FEWER).fetchall():
            told = f"{came:,} pairs of rows with the same explanation came in one batch, and of independent rows about "
            return f"{told}{should:,} would: the same cases seem to come back in later batches, so that {_COME_BACK}"
        return ""

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
        told = {}
        for j, (name, draws) in enumerate(self.draws.items()):
            n, openers, matched, agreeing = (int(each[j].sum()) for each in self._sums[1])
            told[name] = Limits(
                agreeing / matched if matched else None,
                *draws.ends((1 - self.confidence) / 2 * self.shares[name]),
                self.confidence,
                *(n, openers, matched, openers - matched),
                self.at_least,
                bool(self._come_back),
                self.clustered,
            )
        return told

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
        return SharesBeside(self.connection, self.origin, self.reference, self.settings["seed"])

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
        return self._estimates("0", "0", "true" if code == WHOLE else f"grp = {code}").get((0, 0))

    @cached_property
    def once(self) -> Estimate | None:
        """The measure of all rows ever; None if there are none."""
        return self.single_look()

    def days(self, *, grouped: bool = True) -> list[dict[str, Any]]:
        """The measures of every day, of all rows and then, if they are asked for, of each group, in order."""
        found, names = dict[tuple[int, ...], Estimate](), {code: name for name, code in self.codes.items()}
        for group in (f"{WHOLE}", "grp") if grouped and self.by else (f"{WHOLE}",):
            found |= self._estimates("day", group)
        measured = ("n", "value", "low", "high", "unverifiable")
        return [
            {
                "day": to_date(day),
                "group": names[code],
                **{name: getattr(each, name) for name in measured},
                "explanations": each.distinct,
            }
            for (day, code), each in sorted(found.items())
        ]

    def _estimates(self, day: str, group: str, chosen: str = "true") -> dict[tuple[int, ...], Estimate]:
        """The measure for each day and group, which are expressions of SQL, among the cells that are chosen."""
        found = dict[tuple[int, ...], Estimate]()
        query = _KINDS.format(day=day, grp=group, chosen=chosen)
        for *key, lists, times, labels in self.connection.execute(query).fetchall():
            which = np.repeat(np.arange(len(lists)), [*map(len, lists)])
            profile = Profile.of_groups(which, np.concatenate(lists), np.array(times), np.array(labels))
            found[tuple(key)] = estimate(profile, confidence=self.confidence, interval=None)
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
