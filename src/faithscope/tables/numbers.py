"""Predictions of a log that are numbers: how many there are, and between which ends."""

from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.protocol import Table


@dataclass(frozen=True)
class Numbers:
    """Predictions that are numbers: how many rows there are, and the lowest, the highest and the mean by column."""

    n: int
    ends: tuple[tuple[float, float, float], ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """Empty: different numbers are too many to be listed."""
        return ()

    @classmethod
    def of(cls, table: Table) -> "Numbers":
        """Those of a table."""
        sums = [(column.min(), column.max(), column.mean()) for column in (table[name] for name in table.columns)]
        asked = {f"a{j}_{k}": part for j, parts in enumerate(sums) for k, part in enumerate(parts)}
        line = fetch_line(table.aggregate(n=table.count(), **asked))
        if not line["n"]:
            raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
        ends = (tuple(float(line[f"a{j}_{k}"] or 0.0) for k in range(3)) for j in range(len(sums)))
        return cls(int(line["n"]), tuple(ends))  # type: ignore[arg-type]

    def same(self, other: "Numbers") -> bool:
        """Whether rows, ends and means are the same; a mean is rounded, in an order that no engine fixes."""
        return self.n == other.n and all(
            (low, high) == (a, b) and abs(mean - c) <= 1e-9 * max(abs(low), abs(high))
            for (low, high, mean), (a, b, c) in zip(self.ends, other.ends, strict=True)
        )
