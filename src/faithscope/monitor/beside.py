"""Beside the reference: how rows of later days agree with rows of the reference that have their explanations.

With the first batch that has rows of a later day the reference is complete: each of its rows is an opener or a closer
by a coin, which falls the same at every look. An opener of the reference, or any row of a later day, is one draw: the
share of closers with its explanation that have its label. Given the closers, these draws
are independent, and if nothing changes they have one mean (`docs/proofs.md`). Nobody waits, and closers serve all rows.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Ints
from faithscope.monitor.sequential import PARTS, Alarm, Draws, between, changes, mean_share
from faithscope.monitor.store import WHOLE, fetched, registered

_OPENERS = 0.75  # the chance to open of a row of the reference: a few closers of each explanation suffice
_REFERENCE = """
SELECT grp::BIGINT AS grp, high, low, label::BIGINT AS label, sum(given)::BIGINT AS given FROM cells
WHERE day >= {begun} AND day < {end} AND batch <= (SELECT min(batch) FROM cells WHERE day >= {end})
GROUP BY ALL ORDER BY ALL
"""
_COMPARED = """
SELECT day::BIGINT AS day, grp::BIGINT AS grp, sum(given)::BIGINT AS rows,
    coalesce(round({parts} * coalesce(mine.rows, 0) / everybody.rows), -1)::BIGINT AS part
FROM (
    SELECT day, grp, high, low, label, given FROM openers WHERE given > 0
    UNION ALL SELECT day, grp, high, low, label, given FROM cells WHERE day >= {end}
) AS came
LEFT JOIN (SELECT high, low, sum(rows) AS rows FROM closers GROUP BY ALL) AS everybody USING (high, low)
LEFT JOIN (SELECT high, low, label, sum(rows) AS rows FROM closers GROUP BY ALL) AS mine USING (high, low, label)
GROUP BY ALL
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
            else f"{self.before:.3f} of its own rows do, {between(self.before_low, self.before_high)}"
        )
        return (
            f"{self.value:.3f} of rows since the reference agree with it, {between(self.low, self.high)}"
            f"; {own}; {self.checked:,} of {self.n:,} rows can be checked"
        )

    __repr__ = __str__


class SharesBeside:
    """Draws beside the reference, counted by value: of the reference and of each later day.

    Attributes
    ----------
    days : array of int, shape (n_days,)
        The first day of the reference, under which its draws are filed, and later days with rows.
    closers : dict of arrays
        How many rows of the reference close, by explanation and label.
    """

    def __init__(self, connection: Any, begun: int, reference: int, seed: int) -> None:
        self._begun, self._end = begun, (end := begun + reference)
        rows = fetched(connection, _REFERENCE.format(begun=begun, end=end))
        cell = np.repeat(np.arange(len(rows["given"])), rows["given"])
        coin = np.random.default_rng([seed, reference]).random(len(cell))
        closing = np.bincount(cell[coin >= _OPENERS], minlength=len(rows["given"]))
        openers = {**rows, "day": np.full(len(closing), begun), "given": rows["given"] - closing}
        place = np.flatnonzero(closing)
        self.closers = {name: rows[name][place] for name in ("high", "low", "label")} | {"rows": closing[place]}
        with registered(connection, "openers", openers), registered(connection, "closers", self.closers):
            self._told = fetched(connection, _COMPARED.format(parts=PARTS, end=end))
        self.days = np.unique(np.append(begun, self._told["day"]))

    def of(self, code: int) -> tuple[Draws, Ints]:
        """Of all rows or a group: draws of the reference, on its first day, and of later days; and rows of each day."""
        here = slice(None) if code == WHOLE else self._told["grp"] == code
        day, part, rows = (self._told[name][here] for name in ("day", "part", "rows"))
        table = np.zeros((len(self.days), PARTS + 2))
        np.add.at(table, (np.searchsorted(self.days, day), part + 1), rows)
        return Draws(self.days, table[:, 1:], table[:, 1:]), table.sum(axis=1).astype(np.int64)

    def told(self, code: int, confidence: float, share: float) -> Beside:
        """The limits of all rows or a group, which has this share of the error."""
        draws, rows = self.of(code)
        error, later = (1 - confidence) / 2 * share, draws.days >= self._end
        since, before = draws.take(later), draws.take(~later)
        now, then = since.least.sum(axis=0), before.least.sum(axis=0)
        limits = (mean_share(now), *since.ends(error), mean_share(then), *before.ends(error))
        return Beside(*limits, confidence, int(rows[later].sum()), int(now.sum()), int(then.sum()))

    def alarms(self, code: int, error: float) -> tuple[Alarm, ...]:
        """A drop of all rows or of a group."""
        return changes(self.of(code)[0], self._end - self._begun, error, self._begun, ["drop beside the reference"])
