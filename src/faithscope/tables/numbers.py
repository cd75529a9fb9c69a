"""Predictions of a log that are numbers: how many there are, and between which ends."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from faithscope.agreements import Agreement, Close
from faithscope.errors import BadInput
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.protocol import Table

_FINEST = 2.0**52  # a prediction in units of eps, beyond which doubles are farther than eps apart
_PER_ROW = 200  # bytes of a row, with what is computed of it


class Range(NamedTuple):
    """The numbers of one column: the lowest, the highest and the mean."""

    low: float
    high: float
    mean: float


@dataclass(frozen=True)
class Numbers:
    """Predictions that are numbers.

    Attributes
    ----------
    n : int
        Number of rows.
    columns : tuple of str
        The columns that hold them: y0 …
    ranges : tuple of Range
        One per column.
    """

    n: int
    columns: tuple[str, ...]
    ranges: tuple[Range, ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """Empty: different numbers are too many to be listed."""
        return ()

    @classmethod
    def of(cls, table: Table, agreement: Agreement) -> "Numbers":
        """Those of a table."""
        columns = tuple(table.columns)
        question: dict[str, Any] = {"n": table.count()}
        for name in columns:
            question |= {f"low_{name}": table[name].min(), f"high_{name}": table[name].max()}
            question[f"mean_{name}"] = table[name].mean()
        line = fetch_line(table.aggregate(**question))
        if not line["n"]:
            raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
        ranges = tuple(Range(*(float(line[f"{part}_{name}"] or 0.0) for part in Range._fields)) for name in columns)
        largest = max(max(abs(column.low), abs(column.high)) for column in ranges)
        if isinstance(agreement, Close) and largest >= _FINEST * agreement.eps:
            raise BadInput(
                f"Predictions as large as {largest:g} are float64 numbers that lie farther apart than eps="
                f"{agreement.eps:g}: choose a larger eps, or leave such rows out."
            )
        return cls(int(line["n"]), columns, ranges)

    def same(self, other: "Numbers") -> bool:
        """Whether rows, ends and means are the same; a mean is rounded, in an order that no engine fixes."""
        return self.n == other.n and all(_alike(a, b) for a, b in zip(self.ranges, other.ranges, strict=True))


def _alike(a: Range, b: Range) -> bool:
    return (a.low, a.high) == (b.low, b.high) and abs(a.mean - b.mean) <= 1e-9 * max(abs(a.low), abs(a.high))
