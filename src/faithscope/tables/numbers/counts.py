"""Numbers of a log, counted in its engine."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from faithscope.agreements import Agreement, Close, Spread
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.tables.engine.answers import fetch, fetch_line
from faithscope.tables.engine.protocol import Table
from faithscope.tables.log.kinds import RuleColumn
from faithscope.tables.log.rows import KeyedRows
from faithscope.tables.numbers.close import count_close
from faithscope.tables.numbers.counted import CountedConstant, CountedNumbers, CountedSpread
from faithscope.tables.numbers.spread import count_spread

_MOST_TEXTS = 2_000_000  # different texts of rules that are fetched
_MOST_SPELLINGS = 1_000  # texts of rules that are written in another way, too
_USUAL = 900  # the power of two of a prediction beyond which sums over rows may be too large, or lose digits
_FINEST = 2.0**52  # a prediction in units of eps, beyond which doubles are farther than eps apart


class Range(NamedTuple):
    """The numbers of one column: the lowest, the highest, the mean, and the variance (0 for a single row)."""

    low: float
    high: float
    mean: float
    variance: float


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

    @property
    def unit(self) -> float:
        """A power of two by which predictions become usual numbers if their sum may not be one, else 1."""
        largest = max(max(abs(column.low), abs(column.high)) for column in self.ranges)
        power = math.frexp(largest)[1]
        return math.ldexp(1.0, max(power, -1000)) if abs(power) > _USUAL else 1.0

    @classmethod
    def of(cls, table: Table, agreement: Agreement) -> "Numbers":
        """Those of a table."""
        columns = tuple(table.columns)
        question: dict[str, Any] = {"n": table.count()}
        for name in columns:
            question |= {f"low_{name}": table[name].min(), f"high_{name}": table[name].max()}
            question |= {f"mean_{name}": table[name].mean(), f"variance_{name}": table[name].var(how="sample")}
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


def count_numbers(
    rows: KeyedRows, numbers: Numbers, agreement: Agreement, by: Sequence[str] = ()
) -> dict[Any, CountedNumbers | CountedSpread | CountedConstant]:
    """The rows of each population, all of them under None without columns that name populations."""
    table = one_text_per_rule(rows).select(*by, *rows.keys, *numbers.columns)
    if isinstance(agreement, Spread):
        return dict(count_spread(table, numbers.columns, by, rows.keys, numbers.unit))
    return dict(count_close(table, agreement, by, rows.keys))


def one_text_per_rule(rows: KeyedRows) -> Table:
    """The rows with one text for each rule, of which several may be one: engines compare texts."""
    if not isinstance(rows.kind, RuleColumn):
        return rows.table
    key = rows.keys[0]
    answer = fetch(rows.table.select(key).distinct().limit(_MOST_TEXTS + 1))
    if answer.num_rows > _MOST_TEXTS:
        raise BadInput(f"The log has more than {_MOST_TEXTS:,} different rules: audit a part of it.")
    texts = sorted(answer.column(key).to_pylist())
    codes, first = _read(rows, texts).group()
    other = {text: texts[first[code]] for text, code in zip(texts, codes.tolist(), strict=True)}
    spellings = [(text, same) for text, same in other.items() if text != same]
    if len(spellings) > _MOST_SPELLINGS:
        raise BadInput(f"More than {_MOST_SPELLINGS:,} rules are written in several ways: write each in one way.")
    if not spellings:
        return rows.table
    return rows.table.mutate(**{key: rows.table[key].cases(*spellings, else_=rows.table[key])})


def _read(rows: KeyedRows, texts: list[str]) -> Explanations:
    import pyarrow as pa

    return rows.read(pa.table({rows.keys[0]: pa.array(texts, pa.string())}))
