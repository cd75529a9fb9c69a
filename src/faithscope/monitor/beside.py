"""Beside the reference: how rows of later days agree with rows of the reference that have their explanations.

When the first row of a day after the reference comes, every row of the reference becomes an opener or a closer by a
coin, once and for all. From then on an opener of the reference, or any row of a later day, is one draw: the share of
closers with its explanation (with scopes, in its scope) that have its label. Given the closers, these draws are
independent, and if nothing changes they have one mean (`docs/proofs.md`). Nobody waits, and closers serve all rows.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.monitor.canonical import Digests
from faithscope.monitor.moments import to_date
from faithscope.monitor.origin import origin
from faithscope.monitor.queries import fetch_table, insert, setting, settle
from faithscope.monitor.schema import EVER, WHOLE
from faithscope.monitor.scopes import held_patterns
from faithscope.monitor.sequential import PARTS, Alarm, drops_beside, share_limits
from faithscope.rounding import down, up

_OPENERS = 0.75  # the chance to open of a row of the reference: a few closers of each explanation suffice
_REFERENCE = """
SELECT grp, high, low, label, sum(given)::BIGINT AS given FROM cells
WHERE level = {ever} OR (period >= {begun} AND period < {end}) GROUP BY ALL ORDER BY grp, high, low, label
"""
_CLOSERS = """
INSERT INTO closers SELECT high, low, label, sum(rows)::BIGINT FROM telling WHERE rows > 0 GROUP BY ALL ORDER BY ALL
"""
_BY_RULE = """
(SELECT day, grp, own::UBIGINT AS high, 0::UBIGINT AS low, label, given FROM telling JOIN patterns USING (high, low))
"""
_COMPARED = f"""
INSERT INTO beside SELECT day::INTEGER, grp::INTEGER,
    coalesce(round({PARTS} * coalesce(closers.rows, 0) / total.rows), -1)::TINYINT AS part, sum(given)::BIGINT
FROM {{rows}} AS came
LEFT JOIN (SELECT high, low, sum(rows) AS rows FROM closers GROUP BY ALL) AS total USING (high, low)
LEFT JOIN closers USING (high, low, label) GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True)
class Beside:
    """How rows since the reference agree with rows of the reference that have their explanations.

    Attributes
    ----------
    value : float or None
        The mean share of closers of the reference, among those with a row's explanation, that have its prediction, over
        rows since the reference whose explanations the closers have; None if there are none.
    low, high : float
        Limits of it that hold at all looks together, as long as nothing changes after the reference.
    before : float or None
        The same of rows of the reference itself, those that are no closers.
    before_low, before_high : float
        Its limits.
    confidence : float
    n, checked, openers : int
        Rows since the reference, those whose explanations the closers have, and rows behind `before`.

    Examples
    --------
    >>> import faithscope as fs
    >>> monitor = fs.Monitor(reference=1)
    >>> for day, labels in ((1, [1, 0]), (2, [1, 1])):
    ...     added = monitor.add(["a", "b"] * 500, labels * 500, when=f"2026-03-0{day}", batch=str(day))
    >>> told = monitor.beside()
    >>> told.value, told.before, told.high < 0.6 < told.before_low
    (0.5, 1.0, True)
    """

    value: float | None
    low: float
    high: float
    before: float | None
    before_low: float
    before_high: float
    confidence: float
    n: int
    checked: int
    openers: int

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        if self.value is None:
            return f"none of {self.n:,} rows since the reference can be checked"
        own = (
            "none of its own rows can be checked"
            if self.before is None
            else f"{self.before:.3f} of its own rows do, between {down(self.before_low)} and {up(self.before_high)}"
        )
        return (
            f"{self.value:.3f} of rows since the reference agree with it, between {down(self.low)} and {up(self.high)}"
            f"; {own}; {self.checked:,} of {self.n:,} rows can be checked"
        )

    __repr__ = __str__


def insert_beside(connection: Any, cells: Mapping[str, Array]) -> tuple[str, ...]:
    """Compare the later rows among these with the reference, which is drawn when the first of them come; a note."""
    days, begun = setting(connection, "reference"), origin(connection)
    if days is None or begun is None or not (later := cells["day"] >= begun + int(days)).any():
        return ()
    drawn = setting(connection, "beside")
    notes = () if drawn is not None else (_draw(connection, begun, begun + int(days)),)
    if drawn != FORGOTTEN:
        _compare(connection, {name: column[later] for name, column in cells.items()})
    return notes


def _draw(connection: Any, begun: int, end: int) -> str:
    """Openers and closers of the reference, by coins of the monitor's seed; what is said of it."""
    answer = fetch_table(connection, _REFERENCE.format(ever=EVER, begun=begun, end=end))
    rows = {name: answer.column(name).to_numpy() for name in answer.column_names}
    given, seed = rows["given"].astype(np.int64), int(setting(connection, "seed") or 0)
    openers = np.random.default_rng([seed, end - begun]).binomial(given, _OPENERS)
    closers = {name: rows[name] for name in ("high", "low", "label")} | {"rows": given - openers}
    patterns = held_patterns(connection, Digests(rows["high"], rows["low"]))
    if patterns is not None:  # whoever lies in a scope closes for it, whatever rule it was given
        labels, number = np.unique(rows["label"], return_inverse=True)
        inside = np.zeros((patterns.inside.shape[1], len(labels)), np.int64)
        np.add.at(inside.T, number, patterns.inside * closers["rows"][:, None])
        scope, label = np.nonzero(inside)
        words = scope.astype(np.uint64)
        closers = {"high": words, "low": 0 * words, "label": labels[label], "rows": inside[scope, label]}
    insert(connection, _CLOSERS, closers)
    settle(connection, "beside", "drawn")
    own = {**rows, "day": np.full(len(given), begun), "given": openers}
    _compare(connection, {name: column[openers > 0] for name, column in own.items()})
    return (
        f"the reference until {to_date(end - 1)} has {given.sum():,} rows, beside which later rows are judged; rows of "
        "its days that come from now on do not count for it"
    )


def _compare(connection: Any, cells: Mapping[str, Array]) -> None:
    """Count rows by the share of closers that have their label; those that no closer has are silent."""
    scoped = setting(connection, "scopes") is not None
    insert(connection, _COMPARED.format(rows=_BY_RULE if scoped else "telling"), dict(cells))


FORGOTTEN = "forgotten"


def forget_beside(connection: Any) -> None:
    """Compare no more: of monitors that were added up each has closers of its own."""
    for table in ("beside", "closers"):
        connection.execute(f"DELETE FROM {table}")
    settle(connection, "beside", FORGOTTEN)


class SharesBeside:
    """What a store knows beside its reference: draws counted by value, of the reference and of each later day.

    Attributes
    ----------
    days : array of int, shape (n_days,)
        Later days with rows.
    end : int
        The first day after the reference.
    """

    def __init__(self, connection: Any, end: int) -> None:
        columns = fetch_table(connection, "SELECT day, grp, part, sum(rows)::BIGINT AS rows FROM beside GROUP BY ALL")
        self._day, self._group, self._part, self._rows = (
            columns.column(name).to_numpy().astype(np.int64) for name in ("day", "grp", "part", "rows")
        )
        self.end, self.days = end, np.unique(self._day[self._day >= end])

    def of(self, code: int) -> tuple[Floats, Floats, Ints]:
        """Of all rows or a group: the draws of the reference and of each later day by value, and each day's rows."""
        here = slice(None) if code == WHOLE else self._group == code
        day, part, rows = self._day[here], self._part[here] + 1, self._rows[here]
        place = np.where(day >= self.end, np.searchsorted(self.days, day) + 1, 0)
        table = np.zeros((len(self.days) + 1, PARTS + 2))
        np.add.at(table, (place, part), rows)
        return table[0, 1:], table[1:, 1:], table[1:].sum(axis=1).astype(np.int64)

    def told(self, code: int, confidence: float, share: float) -> Beside:
        """The limits of all rows or a group, which has this share of the error."""
        before, after, rows = self.of(code)
        error, since = (1 - confidence) / 2 * share, after.sum(axis=0)
        now, then = share_limits(since, error), share_limits(before, error)
        counted = int(rows.sum()), int(since.sum()), int(before.sum())
        return Beside(mean_share(since), *now, mean_share(before), *then, confidence, *counted)

    def daily(self, code: int) -> dict[Any, float | None]:
        """The mean share of each later day, by date."""
        return {to_date(day): mean_share(line) for day, line in zip(self.days.tolist(), self.of(code)[1], strict=True)}

    def alarms(self, code: int, error: float) -> tuple[Alarm, ...]:
        """A drop of all rows or of a group."""
        before, after, _ = self.of(code)
        dates = np.array([to_date(day) for day in self.days.tolist()], object)
        return drops_beside(dates, before, after, error, to_date(self.end).toordinal())


def mean_share(draws: Floats) -> float | None:
    """The mean of draws counted by value; None if there are none."""
    return float(np.arange(PARTS + 1) @ draws / (PARTS * draws.sum())) if draws.sum() else None
