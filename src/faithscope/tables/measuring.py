"""Estimates from a log: all rows, or rows by the values of other columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.measures.estimate import Estimate, Interval, estimate
from faithscope.measures.populations import Populations
from faithscope.tables.counts import Labels, counted, find_labels
from faithscope.tables.missing import refuse_missing, scan
from faithscope.tables.rows import Log, Rows

_MOST_GROUPS = 1000


@dataclass(frozen=True)
class Measured:
    """A log with its labels, and how its estimates are made."""

    log: Log
    total: int  # rows of the log, those with missing values included
    confidence: float
    interval: Interval

    @cached_property
    def rows(self) -> Rows:
        """The rows with nothing but their label and explanation."""
        return self.log.rows()

    @cached_property
    def labels(self) -> Labels:
        """The labels that occur."""
        found = find_labels(self.log.labels())
        if not len(found.values):
            raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
        return found

    @cached_property
    def consistency(self) -> Estimate:
        """Of all rows."""
        found = self.estimate(counted(self.rows, self.labels)[None])
        dropped = self.total - found.n
        if not dropped:
            return found
        return replace(
            found, notes=(*found.notes, several(dropped, "row was", "rows were") + " dropped: values missing")
        )

    def estimate(self, counts: Any) -> Estimate:
        """An estimate from what was counted."""
        return estimate(counts, confidence=self.confidence, interval=self.interval)

    def by(self, columns: Sequence[str]) -> Populations:
        """Of the rows of each population: the values of a column, or combinations of values of several."""
        names = {f"p{j}": name for j, name in enumerate(columns)}
        refuse_missing(scan(self.log.source.table, columns), self.log.nulls)
        rows = self.log.rows(names)
        found = counted(rows, self.labels, tuple(names))
        if len(found) > _MOST_GROUPS:
            raise BadInput(
                f"{' and '.join(map(repr, columns))} give {len(found):,} populations, more than {_MOST_GROUPS:,}: "
                "bin the values first."
            )
        return Populations({name: self.estimate(counts) for name, counts in found.items()}, " and ".join(columns))
