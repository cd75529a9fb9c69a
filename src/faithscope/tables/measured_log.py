"""Estimates from a log: of all rows, or of rows by the values of other columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from faithscope.agreements import Agreement, Spread
from faithscope.counting.counts import Counts
from faithscope.counting.profile import Profile
from faithscope.discretizers.base import steps
from faithscope.discretizers.reason_codes import ReasonCodes
from faithscope.errors import BadInput, Incompatible, WrongType
from faithscope.measures.comparing.beside import Beside, beside_notes
from faithscope.measures.comparing.groupings import crossed_name
from faithscope.measures.comparing.populations import Populations, measure_group
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.estimate import Estimate, estimate, noted
from faithscope.measures.leakage import NO_REASONS, Leakage, measure_leakage
from faithscope.measures.notes import given_code_note
from faithscope.notes import of_kind
from faithscope.sample import Sample, weightless_note
from faithscope.tables.counts import FetchedKinds, Labels, counted, read_labels, read_numbers
from faithscope.tables.engine.answers import fetch, fetch_line
from faithscope.tables.engine.expressions import Table
from faithscope.tables.engine.missing import dropped_note, refuse_missing, scan
from faithscope.tables.engine.shown_columns import refuse_nested
from faithscope.tables.fetched import FetchedRows, beside
from faithscope.tables.log.kinds import ReasonColumn, SetColumn
from faithscope.tables.log.opening import open_log
from faithscope.tables.log.rows import AuditedLog, KeyedRows
from faithscope.tables.log.streams import FetchedStream
from faithscope.tables.options import AuditOptions
from faithscope.tables.repeats import repeat_notes
from faithscope.tables.sources.snapshot import changed, refuse_change
from faithscope.tables.sources.source import LogSource

_MOST_GROUPS = 1000
_MOST_NUMBERS = 100  # different fractions of a column that are taken for populations
CountedRows = Counts | Profile | Sample


@dataclass(frozen=True)
class MeasuredLog:
    """A log with the number of its rows, those with missing values included, and its estimates.

    `opened` is the log before its columns were laid out, from which it can be measured again.
    """

    log: AuditedLog
    total: int
    opened: LogSource

    @classmethod
    def of(cls, source: LogSource, options: AuditOptions, carried: Sequence[str] = ()) -> "MeasuredLog":
        """The log with its rows counted; `carried` are other columns that will be asked for."""
        options.check_counted()
        with source.one_state():
            log, seen = open_log(source, options, carried)
            measured = cls(log, seen.rows, source)
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
    def labels(self) -> Labels:
        """The labels that occur; of numbers, how many there are and their ends."""
        labels = self._labels()
        if not labels.n:
            raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
        return labels

    def _labels(self) -> Labels:
        return (read_numbers if self.agreement.of_numbers else read_labels)(self.log.labels())

    @cached_property
    def consistency(self) -> Estimate:
        """The estimate of all rows."""
        options, fetched = self.log.options, self.fetched
        if fetched is not None:
            whole = measure_consistency(fetched.sample, options.confidence, options.interval)
            if isinstance(whole.counts, Counts):
                whole = replace(whole, counts=fetched.named(whole.counts))
        else:
            whole = self.estimate(self._counted(self.rows)[None])
        if whole.clusters == 1 and whole.n > 1:
            raise BadInput(
                f"All {whole.n:,} rows are of one cluster in column {self.log.clusters[0]!r}, so none can be checked "
                "against another: name another column, or leave clusters away if rows are independent."
            )
        whole = noted(whole, (*repeat_notes(self.log, whole, self.total), *_given_codes(self.rows)))
        whole = noted(whole, self._reason_notes())
        dropped = self.total - self._left - whole.n
        if dropped < 0 or self.log.options.nulls != "drop":
            refuse_change(self.total - self._left, whole.n)
        return noted(whole, (*dropped_note(dropped), *weightless_note(self.log.weightless)))

    @property
    def _left(self) -> int:
        """Rows that are not measured although no value is missing: of weight 0, or those that a discretizer learned."""
        return self.log.weightless + (self.reasons.looked if self.reasons is not None else 0)

    @property
    def dropped(self) -> int:
        """How many rows were dropped since values are missing."""
        return self.total - self._left - self.consistency.n

    @property
    def reasons(self) -> FetchedStream | None:
        """What discretizes reasons in words, if explanations are such."""
        stream = self.log.stream
        return stream if isinstance(stream, FetchedStream) and isinstance(self.log.kind, ReasonColumn) else None

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

    def _reason_notes(self) -> tuple[str, ...]:
        """What a reader should know of reasons in words, and of what reason codes count against."""
        if self.reasons is not None:
            return self.reasons.notes
        codes = [step for step in steps(self.log.options.discretizer) if isinstance(step, ReasonCodes)]
        return tuple(note for step in codes for note in step._facing(None))

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Questions inside are all about one state of the log, and about the state that was audited."""
        source = self.log.source
        with source.one_state():
            if not source.still and not source.files and self.log.stream is None:
                now = self._labels()
                if self.labels.counts != now.counts:
                    raise changed(f"{self.labels.n:,} rows at first, {now.n:,} later, or other labels")
            yield

    def parts(self, rows: KeyedRows, names: Sequence[str], missing: int) -> dict[Any, CountedRows]:
        """The rows counted by other columns, in which at most so many rows are missing a value."""
        parts = self._counted(rows, names)
        n = sum(int(counts.n) for counts in parts.values())
        if not self.labels.n - missing <= n <= self.labels.n:
            raise changed(f"{self.labels.n:,} rows at first, {n:,} later")
        return parts

    def _counted(self, rows: KeyedRows, names: Sequence[str] = ()) -> dict[Any, CountedRows]:
        if self.log.counted_here:
            return dict(FetchedRows.of(rows, self.labels.n, self.agreement, names).parts)
        return dict(counted(rows, self.labels, names))

    @cached_property
    def fetched(self) -> FetchedRows | None:
        """The rows in memory, if predictions are numbers, or have clusters or weights; None if engines count them."""
        return FetchedRows.of(self.rows, self.labels.n, self.agreement) if self.log.counted_here else None

    def estimate(self, counts: CountedRows) -> Estimate:
        """An estimate from what was counted."""
        confidence, interval = self.log.options.confidence, self.log.options.interval
        if isinstance(counts, Sample):
            return measure_group(counts, lambda rows: measure_consistency(rows, confidence, interval))
        return estimate(counts, confidence=confidence, interval=interval)

    def by(self, columns: Sequence[str]) -> Populations:
        """An estimate per population: the values of a column; of several, each of them and their combinations."""
        columns = tuple(dict.fromkeys(columns))
        each = tuple(self._by((column,)) for column in columns) if len(columns) > 1 else ()
        return replace(self._by(columns), each=each)

    def _by(self, columns: Sequence[str]) -> Populations:
        names = {f"p{j}": name for j, name in enumerate(columns)}
        missing = self.missing(columns)
        return self.populations(self.log.rows(names), tuple(names), missing, crossed_name(columns))

    def missing(self, columns: Sequence[str]) -> int:
        """How many rows may be left out since columns that name populations are missing; raises if they cannot."""
        source, nulls = self.log.source, self.log.options.nulls
        refuse_nested(source.table.schema(), columns, "a population is one value")
        seen = scan(source.table, columns)
        refuse_missing(seen, nulls)
        _refuse_fractions(source.table, columns)
        return sum(seen.missing.values()) if nulls == "drop" else 0

    def populations(
        self,
        rows: KeyedRows,
        by: Sequence[str],
        missing: int,
        title: str,
        named: Callable[[Any], Any] = lambda name: name,
    ) -> Populations:
        """An estimate per value of these columns: beside everybody, and among themselves.

        Parameters
        ----------
        missing : int
            In how many rows, at most, a value is missing.
        title : str
            What gives the populations.
        named : callable
            What a population is called.
        """
        parts = self.parts(rows, by, missing)
        if len(parts) > _MOST_GROUPS:
            raise BadInput(
                f"{title} gives {len(parts):,} populations, more than {_MOST_GROUPS:,}: bin the values first, such as "
                "with pd.cut or width_bucket."
            )
        found = self.beside(rows, by, list(parts))
        among = Populations(dict(zip(map(named, parts), self.among(parts, found), strict=True)), title)
        if found is None:
            return among
        estimates = {name: found.estimate(number) for number, name in enumerate(among.estimates)}
        return Populations(estimates, title, among=among, _apart=found.difference)

    def among(self, parts: Mapping[Any, CountedRows], beside: Beside | None) -> list[Estimate]:
        """The estimates of populations among themselves: by `Spread`, shares of the variance of all rows."""
        known = [None if beside is None else beside.among(number) for number in range(len(parts))]
        return [one or self.estimate(counts) for one, counts in zip(known, parts.values(), strict=True)]

    def beside(
        self, rows: KeyedRows, by: Sequence[str], names: Sequence[Any], reference: "MeasuredLog | None" = None
    ) -> Beside | None:
        """These populations of the log, in this order, beside everybody; and then the rows of another log, as one more.

        None if too much had to be fetched, if explanations or labels of two logs differ in kind, and by `Spread` or
        with weights of two logs.
        """
        options = self.log.options
        if reference is not None and (isinstance(self.agreement, Spread) or self.log.weights):
            return None
        if reference is None and (self.agreement.of_numbers or self.log.weights):
            fetched = FetchedRows.of(rows, self.labels.n, self.agreement, by)
            asking = replace(fetched.sample, askers=fetched.group)
            return Beside.of(asking, options.confidence, options.interval)
        parts = [(FetchedKinds.of(rows, self.agreement, by), {name: number for number, name in enumerate(names)})]
        if reference is not None:
            parts.append((FetchedKinds.of(reference.rows, self.agreement), {None: len(names)}))
        known = [(part, groups) for part, groups in parts if part is not None]
        if len(known) < len(parts) or len({_types(part.predicted[0]) for part, _ in known}) > 1:
            return None
        notes = (*of_kind(self.consistency.notes, "interval"), *beside_notes(options.interval))
        try:
            return beside(known, self.agreement, notes, options.confidence)
        except Incompatible:  # a feature that one of the logs never names
            return None


def _types(labels: Sequence[Any]) -> frozenset[bool]:
    """Whether labels are texts or not; None is neither."""
    return frozenset(isinstance(label, str) for label in labels if label is not None)


def _refuse_fractions(table: Table, columns: Sequence[str]) -> None:
    """Raise if a column holds fractions with many values, each of which would be a population of a few rows."""
    for name in columns:
        floating = table[name].type().is_floating()
        different = fetch_line(table.aggregate(n=table[name].nunique()))["n"] if floating else 0
        if different > _MOST_NUMBERS:
            raise BadInput(
                f"Column {name!r} holds {different:,} different numbers, each of which would be a population: bin them "
                "first, such as with pd.cut or width_bucket."
            )


def _given_codes(rows: KeyedRows) -> tuple[str, ...]:
    """The note of `given_code_note`, if the log holds codes."""
    if not isinstance(rows.kind, SetColumn) or rows.kind.holds != "codes" or "label" not in rows.table.columns:
        return ()
    table = rows.table.select(label=rows.table["label"], given=rows.table[rows.keys[0]].length() > 0)
    lines = fetch(table.distinct()).to_pylist()
    given, left = ([line["label"] for line in lines if bool(line["given"]) is has] for has in (True, False))
    return given_code_note(given, left)
