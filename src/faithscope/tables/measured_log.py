"""Estimates from a log: of all rows, or of rows by the values of other columns."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.agreements import Agreement, Spread
from faithscope.counting.counts import Counts
from faithscope.counting.profile import Profile
from faithscope.discretizers.base import steps
from faithscope.discretizers.reason_codes import ReasonCodes
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.repeats import NOTICED, odd_share
from faithscope.measures.comparing.beside import Beside, beside_notes
from faithscope.measures.comparing.groupings import crossed_name
from faithscope.measures.comparing.populations import Populations, measure_group
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.estimate import Estimate, estimate, noted
from faithscope.measures.leakage import NO_REASONS, Leakage, measure_leakage
from faithscope.measures.notes import given_code_notes
from faithscope.notes import of_kind
from faithscope.runtime.memory import need
from faithscope.sample import Sample, repeated_note, weightless_note
from faithscope.tables.counts import Cells, beside, counted, read_labels
from faithscope.tables.engine.answers import (
    dropped_note,
    fetch,
    numbers_of,
    refuse_nested,
    scan,
    shown,
)
from faithscope.tables.log.layout import open_log
from faithscope.tables.log.rows import SPELLED, AuditedLog, AuditOptions, CodeColumns, Keyed, KeyedRows, ReasonColumn
from faithscope.tables.sources.source import LogSource

_MOST_GROUPS = 1000
_MOST_NUMBERS = 100  # different fractions of a column that are taken for populations
_PER_ROW = 200  # bytes of a row, with what is computed of it
CountedRows = Counts | Profile | Sample


@dataclass(frozen=True)
class MeasuredLog:
    """A log with its estimates.

    `opened` is the log before its columns were laid out, from which it can be measured again.
    """

    log: AuditedLog
    opened: LogSource

    @classmethod
    def of(cls, source: LogSource, options: AuditOptions) -> "MeasuredLog":
        """The log with its rows counted."""
        with source.one_state():
            log = open_log(source, options)
            measured = cls(log, source)
            measured.consistency  # noqa: B018
        return measured

    @property
    def agreement(self) -> Agreement:
        """How much two predictions agree."""
        return self.log.options.agreement

    @cached_property
    def rows(self) -> KeyedRows:
        """The rows with nothing but their label and explanation."""
        return self.log.rows()

    @cached_property
    def labels(self) -> dict[Any, int]:
        """How many rows have each label; of numbers, how many there are, under None."""
        labels = read_labels(self.rows)
        if not any(labels.values()):
            raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
        return labels

    @property
    def n(self) -> int:
        """Rows of all labels together."""
        return sum(self.labels.values())

    @cached_property
    def consistency(self) -> Estimate:
        """The estimate of all rows."""
        options, cells, log, reasons = self.log.options, self.cells, self.log, self.reasons
        if self._by_row and cells is not None:
            whole = measure_consistency(cells.sample, options.confidence, options.interval)
            if isinstance(whole.counts, Counts):
                whole = replace(whole, counts=cells.named(whole.counts))
        else:
            whole = self.estimate(counted(self.rows, self.labels) if cells is None else cells.counts)
        if whole.clusters == 1 and whole.n > 1:
            raise BadInput(
                f"All {whole.n:,} rows are of one cluster in column {log.clusters[0]!r}, so none can be checked "
                "against another: name another column, or leave clusters away if rows are independent."
            )
        notes = list(repeat_notes(log, whole))
        if cells is not None and isinstance(log.kind, CodeColumns):
            coded = Sample(cells.distinct.take(cells.codes), cells.labels, agreement=self.agreement)
            notes += given_code_notes(coded)
        for step in steps(options.discretizer):  # what reason codes count against
            notes += step._facing(None) if isinstance(step, ReasonCodes) and reasons is None else ()
        whole = noted(whole, tuple(notes) if reasons is None else (*notes, *reasons.notes))
        return noted(whole, (*dropped_note(self._before_drop - whole.n), *weightless_note(log.weightless)))

    @property
    def _before_drop(self) -> int:
        """Rows without those that are not measured although no value is missing: of weight 0, or learned from."""
        return self.log.total - self.log.weightless - (0 if self.log.keyed is None else self.log.keyed.looked)

    @property
    def dropped(self) -> int:
        """How many rows were dropped since values are missing."""
        return self._before_drop - self.consistency.n

    @property
    def reasons(self) -> Keyed | None:
        """The rows of reasons in words, and what discretizes them; None of other explanations."""
        return self.log.keyed if isinstance(self.log.kind, ReasonColumn) else None

    def leakage(self, words: Sequence[str] | None) -> Leakage:
        """How many reasons of a log name a label, and their consistency with these words masked."""
        options = self.log.options
        if self.reasons is None:
            raise WrongType(
                NO_REASONS.format(f"{self.log.kind.what} of a log").replace(
                    "pass", "audit it with kind='reasons', or pass"
                )
            )
        sample, discretizer = self.reasons.sample, options.discretizer
        found = measure_leakage(sample, discretizer, options.confidence, options.interval, words)
        return replace(found, consistency=self.consistency)

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Questions inside are all about the state of the log that was audited."""
        with self.log.source.one_state():
            yield

    @property
    def _by_row(self) -> bool:
        """Whether each row counts by itself: numbers, and rows with clusters or weights."""
        return bool(self.agreement.of_numbers or self.log.clusters or self.log.weights)

    @cached_property
    def cells(self) -> Cells | None:
        """The rows in memory; None if engines count them, which they do if explanations are told apart by equality."""
        if not self._by_row and not isinstance(self.rows.kind, SPELLED):
            return None
        return self.fetched(self.rows)

    def fetched(self, rows: KeyedRows, by: Sequence[str] = ()) -> Cells:
        """Rows by population in memory."""
        if self._by_row:
            what = "predicted numbers" if self.agreement.of_numbers else "clusters" if rows.clustered else "weights"
            need(_PER_ROW * self.n, f"{self.n:,} rows with {what}", "audit a part of the log")
        return Cells.of(rows, self.agreement, by)

    def estimate(self, counts: CountedRows) -> Estimate:
        """An estimate from what was counted."""
        confidence, interval = self.log.options.confidence, self.log.options.interval
        if isinstance(counts, Sample):
            return measure_group(counts, lambda rows: measure_consistency(rows, confidence, interval))
        return estimate(counts, confidence=confidence, interval=interval)

    def by(self, columns: Sequence[str]) -> Populations:
        """An estimate per population: the values of a column, or of several crossed."""
        columns = tuple(dict.fromkeys(columns))
        names = {f"p{j}": name for j, name in enumerate(columns)}
        self.refuse_populations(columns)
        return self.populations(self.log.rows(names), tuple(names), crossed_name(columns))

    def refuse_populations(self, columns: Sequence[str]) -> None:
        """Raise if columns that name populations are missing where nobody said what to do, or hold more than values."""
        table = self.log.source.table
        refuse_nested(table.schema(), columns, "a population is one value")
        scan(table, columns, self.log.options.nulls)

    def populations(
        self,
        rows: KeyedRows,
        by: Sequence[str],
        title: str,
        named: Callable[[Any], Any] = lambda name: name,
    ) -> Populations:
        """An estimate per value of these columns: beside everybody, and among themselves.

        Parameters
        ----------
        title : str
            What gives the populations.
        named : callable
            What a population is called.
        """
        cells = self.fetched(rows, by)
        names = cells.populations
        most = _MOST_NUMBERS if isinstance(names[0], float) else _MOST_GROUPS
        if len(names) > most:
            raise BadInput(
                f"{title} gives {len(names):,} populations, more than {most:,}: bin the values first, such as with "
                "pd.cut or width_bucket."
            )
        groups, found = list(map(named, names)), self.beside(cells)
        among = Populations(dict(zip(groups, self.among(cells), strict=True)), title)
        estimates = {name: found.estimate(number) for number, name in enumerate(groups)}
        return Populations(estimates, title, among=among, _apart=found.difference)

    def beside_reference(self, cells: Cells, reference: "MeasuredLog") -> Beside | None:
        """These populations of the log, and then the rows of another log as one more, beside everybody.

        None if explanations or labels of the logs differ in kind, and by `Spread` or with weights.
        """
        if isinstance(self.agreement, Spread) or self.log.weights:
            return None
        both = cells.and_then(reference.cells or reference.fetched(reference.rows))
        return None if both is None else self.beside(both)

    def beside(self, cells: Cells) -> Beside:
        """The populations of cells, in order, beside everybody."""
        options = self.log.options
        if self.agreement.of_numbers or self.log.weights:
            asking = replace(cells.sample, askers=np.repeat(cells.group, cells.rows))
            return Beside.of(asking, options.confidence, options.interval)
        notes = (*of_kind(self.consistency.notes, "interval"), *beside_notes(options.interval))
        return beside(cells, notes, options.confidence)

    def among(self, cells: Cells) -> list[Estimate]:
        """The populations of cells among themselves: by `Spread`, shares of the variance of all rows."""
        spread = self.beside(cells) if isinstance(self.agreement, Spread) else None
        parts = enumerate(cells.parts.values())
        return [(spread and spread.among(number)) or self.estimate(rows) for number, rows in parts]


_FEW = 50_000  # rows that are all compared; of more, a sixteenth


def repeat_notes(log: AuditedLog, estimate: Estimate) -> tuple[str, ...]:
    """A note if whole rows of the log repeat, more often than chance gives.

    Nothing is told of clustered rows, nor of a log that holds explanations and predictions alone: that these repeat is
    what is measured. A column that identifies rows tells all of them apart. Nor is anything told if a column cannot be
    compared.
    """
    import ibis

    log = log if log.keyed is None else log.keyed.before
    rows, others = log.source.table, log.others
    silent = estimate.clusters is not None or 1 - estimate.distinct / max(1, estimate.n) < NOTICED
    if silent or not others or any(shown(rows[name]) is None for name in others):
        return ()
    hashed = rows.select(row=ibis.struct({name: rows[name] for name in dict.fromkeys((*others, *log.used))}).hash())
    if estimate.n > _FEW:  # equal rows are all among the sixteenth, or none is
        hashed = hashed.filter(hashed["row"] % 16 == 0)
    answer = fetch(hashed.group_by("row").aggregate(given=ibis._.count()).group_by("given").aggregate(n=ibis._.count()))
    return repeated_note(odd_share(numbers_of(answer, "given"), numbers_of(answer, "n")), " of the log")
