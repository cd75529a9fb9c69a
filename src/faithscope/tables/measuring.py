"""Estimates from a log: all rows, or rows by the values of other columns."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from faithscope.counting.profile import Profile
from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.measures.estimate import Estimate, Interval, estimate
from faithscope.measures.populations import Populations
from faithscope.tables.counts import Labels, counted, find_labels
from faithscope.tables.engine.missing import refuse_missing, scan
from faithscope.tables.engine.showing import refuse_nested
from faithscope.tables.log.rows import Log, Rows
from faithscope.tables.sources.snapshot import changed, refuse_change

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
        if dropped < 0 or self.log.nulls != "drop":
            refuse_change(self.total, found.n)
        if not dropped:
            return found
        return replace(
            found, notes=(*found.notes, several(dropped, "row was", "rows were") + " dropped: values missing")
        )

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Questions that are all about one state of the log, and about the one that was audited."""
        source = self.log.source
        with source.one_state():
            if not source.still and not source.files and self.log.stream is None:
                self._refuse_other()
            yield

    def _refuse_other(self) -> None:
        """Raise where the labels are no longer those that were counted first."""
        now = find_labels(self.log.labels())
        before, after = (dict(zip(one.values, one.rows.tolist(), strict=True)) for one in (self.labels, now))
        if before != after:
            raise changed(f"{self.labels.n:,} rows at first, {now.n:,} later, or other labels")

    def parts(self, rows: Rows, names: Sequence[str], missing: int) -> dict[Any, Any]:
        """The rows counted by other columns, of which some rows are missing a value."""
        found = counted(rows, self.labels, names)
        n = sum(int(one.n) for one in found.values())
        if not self.labels.n - missing <= n <= self.labels.n:
            raise changed(f"{self.labels.n:,} rows at first, {n:,} later")
        return found

    def estimate(self, counts: Any) -> Estimate:
        """An estimate from what was counted."""
        counts = replace(counts, labels=self.labels.values) if isinstance(counts, Profile) else counts
        return estimate(counts, confidence=self.confidence, interval=self.interval)

    def by(self, columns: Sequence[str]) -> Populations:
        """Of the rows of each population: the values of a column, or combinations of values of several."""
        names = {f"p{j}": name for j, name in enumerate(columns)}
        refuse_nested(self.log.source.table.schema(), columns, "a population is one value")
        seen = scan(self.log.source.table, columns)
        refuse_missing(seen, self.log.nulls)
        missing = sum(seen.missing.values()) if self.log.nulls == "drop" else 0
        found = self.parts(self.log.rows(names), tuple(names), missing)
        if len(found) > _MOST_GROUPS:
            raise BadInput(
                f"{' and '.join(map(repr, columns))} give {len(found):,} populations, more than {_MOST_GROUPS:,}: "
                "bin the values first."
            )
        return Populations({name: self.estimate(counts) for name, counts in found.items()}, " and ".join(columns))
