"""A log of which it is known what its columns hold: rows as engines group them, and estimates, also by populations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from faithscope.agreements import Agreement, Spread
from faithscope.counting.clusters import Kinds
from faithscope.counting.counts import Counts
from faithscope.counting.kept import sizes_matter
from faithscope.counting.profile import Profile
from faithscope.discretizers import Discretizer
from faithscope.discretizers.base import steps
from faithscope.discretizers.reason_codes import ReasonCodes
from faithscope.errors import BadInput, TooLarge, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain
from faithscope.inputs.labels import refuse_numbers
from faithscope.inputs.repeats import NOTICED, odd_share
from faithscope.measures.comparing.beside import BY_PREDICTION, Beside, beside_notes
from faithscope.measures.comparing.groupings import crossed_name
from faithscope.measures.comparing.populations import Populations, measure_group
from faithscope.measures.consistency import granularity_notes, measure_consistency
from faithscope.measures.estimate import FOR_EQUALITY, Estimate, estimate, noted
from faithscope.measures.leakage import NO_REASONS, Leakage, measure_leakage
from faithscope.measures.notes import given_code_notes
from faithscope.notes import of_kind
from faithscope.runtime.memory import available
from faithscope.sample import in_order, repeated_note, weightless_note
from faithscope.tables.cells import Cells
from faithscope.tables.columns import (
    CLUSTER,
    KEY,
    SPELLED,
    WEIGHT,
    Coarse,
    CodeColumns,
    Kind,
    NumberColumns,
    PairColumns,
    ReasonColumn,
    SetColumn,
    keys_of,
    predicted,
    sample_of,
)
from faithscope.tables.engines import (
    NO_ROW,
    Nulls,
    Table,
    coded,
    dropped_note,
    fetch,
    in_fixed_order,
    literal,
    nan_as_null,
    numbers_of,
    refuse_nested,
    scan,
    shown,
)
from faithscope.tables.source import LogSource

_PER_VALUE = 100  # bytes of a value of a cell, with what is computed of it
_FEW = 50_000  # rows that are all compared to see whether any repeat; of more, a sixteenth
_MOST_GROUPS = 1000
_MOST_NUMBERS = 100  # different fractions of a column that are taken for populations
_SIDE_BY_SIDE = 16  # labels that are counted side by side
_MOST_LABELS = 1_000_000
_INSTEAD = (
    "pass agreement=fs.Spread() or fs.Close(eps), on the command line --agreement spread, or a column of labels or bins"
)
_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class AuditOptions:
    """How a log is read and measured; `faithscope.Log` and `faithscope.audit` say what each of these is.

    `said` is the `Log`, which says what its columns mean. `features` are those of the log that this one is compared
    with, in its order; empty for the log's own. `raw` reads rows as they are, with all their inputs, to be discretized
    in memory.
    """

    said: Any
    discretizer: Discretizer
    confidence: float
    interval: str | None
    agreement: Agreement
    nulls: Nulls = "error"
    features: tuple[str, ...] = ()
    unseen: bool = False
    raw: bool = False


@dataclass(frozen=True, eq=False)
class Keyed:
    """Explanations that were read and discretized here, so that a column of keys stands for them.

    Attributes
    ----------
    kind : Coarse
        What the keys are.
    before : AuditedLog
        The log as it was.
    sample : Sample, optional
        The rows as they were, if all were read at once.
    settled : Discretizer, optional
        What discretized these, once it had learned from rows that are not measured.
    looked : int
        How many rows served to learn.
    notes : tuple of str
        Of the reasons that are measured.
    """

    kind: Coarse
    before: "AuditedLog"
    sample: Any = None
    settled: Any = None
    looked: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class AuditedLog:
    """What of a log is audited, and how; its estimates are computed when they are first asked for.

    Attributes
    ----------
    predictions : tuple of str
        The column of predicted labels; the columns of predicted numbers, several for `Spread` of several outputs.
    columns : tuple of str
        The columns of the explanation, as many as the kind is wide.
    originals : tuple of str
        For counterfactuals the columns of the rows they belong to.
    ids : tuple of str
        Columns that identify rows, and are never measured.
    clusters : tuple of str
        The column that says which rows belong together; empty if rows are independent.
    weights : tuple of str
        The column that says how much each row counts; empty if all count alike.
    sparse : bool
        Whether a feature that an explanation does not name counts 0.
    keyed : Keyed, optional
        What stands for the explanations, if they were read here and not by the engine.
    inputs : tuple of str
        The columns of the texts that reasons are about, if they are read.
    total : int
        How many rows the log has, those with missing values included.
    weightless : int
        How many rows have weight 0.
    """

    source: LogSource
    options: AuditOptions
    predictions: tuple[str, ...]
    columns: tuple[str, ...]
    kind: Kind
    originals: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    sparse: bool = False
    keyed: Keyed | None = None
    inputs: tuple[str, ...] = ()
    total: int = 0
    weightless: int = 0

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that explanations have a value for, in order; empty if they have none."""
        kind = self.kind
        if isinstance(kind, NumberColumns):
            return kind.like.names or ()
        return kind.names if isinstance(kind, PairColumns) else ()

    @property
    def coarse(self) -> Coarse:
        """What the columns that tell explanations apart hold."""
        return self.kind if self.keyed is None else self.keyed.kind

    def read(self, answer: Any) -> Explanations:
        """The explanations of an Arrow table that has these columns."""
        return self.coarse.read([answer.column(key).combine_chunks() for key in keys_of(answer.column_names)])

    @property
    def explained(self) -> tuple[str, ...]:
        """The columns that explanations are made of, or that stand for them."""
        written = getattr(self.kind, "written", "")
        return (*self.columns, *self.originals, *([written] if written else []), KEY)

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that the measure reads, and in which a value may be missing: a missing code is none."""
        read: tuple[str, ...] = ()
        if self.keyed is None:
            columns = () if isinstance(self.kind, CodeColumns) else self.columns
            read = (*columns, *self.originals, *self.inputs)
        return (*self.predictions, *read, *self.clusters, *self.weights)

    @property
    def others(self) -> tuple[str, ...]:
        """Every column that may be shown beside prediction and explanation, those that identify rows first."""
        measured = (*self.predictions, *self.explained)
        return tuple(name for name in dict.fromkeys((*self.ids, *self.source.table.columns)) if name not in measured)

    def rows(self, used: Mapping[str, str] = _NONE, shown: Mapping[str, str] = _NONE, *, whole: bool = False) -> Table:
        """The rows to be counted, with other columns of the log under new names; columns only shown may be missing.

        These are `label`, or y0 … of predicted numbers, `cluster` and `weight` if there are any, and k0 …, which tell
        explanations apart; or all that these are made of, if they are read `whole`, before they are discretized.

        Rows of weight 0 count nowhere; if rows with missing values are dropped, those in which a used value is missing
        are left out.
        """
        options, kind, table = self.options, self.coarse, self.source.table
        if options.nulls == "drop":
            needed = dict.fromkeys((*self.used, *used.values()))
            table = table.filter([nan_as_null(table[name]).notnull() for name in needed])
        if self.weights and not options.raw:
            weight = table[self.weights[0]]
            table = table.filter((weight != 0) | weight.isnull())

        numbers = options.agreement.of_numbers
        named = {f"y{j}" if numbers else "label": name for j, name in enumerate(self.predictions)}
        numeric = {WEIGHT, *named} if numbers else {WEIGHT}
        if self.clusters:
            named[CLUSTER] = self.clusters[0]
        if self.weights:
            named[WEIGHT] = self.weights[0]
        columns: tuple[str, ...] = (KEY,)
        if self.keyed is None:
            written = [kind.written] if isinstance(kind, ReasonColumn) and kind.written else []
            columns = (*written, *self.columns, *((*self.originals, *self.inputs) if whole or options.raw else ()))
        keys = {f"k{j}": name for j, name in enumerate(columns)}
        if isinstance(kind, NumberColumns | PairColumns):
            numeric |= keys.keys()
        values = dict[str, Any]()
        for short, name in {**named, **used, **shown, **keys}.items():
            value = table[name]
            if options.nulls == "key" and short not in shown:
                value = nan_as_null(value)
            if short in numeric and (value.type().is_numeric() or value.type().is_boolean()):
                value = value.cast("float64")
            values[short] = value
        if isinstance(kind, SetColumn):
            values["k0"] = values["k0"].unique().sort()
        return table.select(**values)

    @cached_property
    def everything(self) -> Cells:
        """The rows in memory."""
        return self.fetched(self.rows())

    def fetched(self, rows: Table, by: Sequence[str] = ()) -> Cells:
        """Rows of the log in memory, with populations by these columns; raises if they do not fit."""
        held = rows.columns
        names = [name for name in held if name in (*by, *keys_of(held), *predicted(held), CLUSTER, WEIGHT)]
        most = int(min(2**62, available() / (_PER_VALUE * len(names))))
        lines = fetch(rows.group_by(names).aggregate(given=rows.count()).limit(most + 1))
        if lines.num_rows > most:
            raise TooLarge(
                f"More than {most:,} different {self.kind.what}, with their predictions and populations, do not fit in "
                "memory: audit a part of the log."
            )
        if not lines.num_rows:
            raise BadInput(NO_ROW)
        lines = in_fixed_order(lines)
        explanations, (members, place) = self.read(lines), coded(lines, by)
        codes, first = explanations.group()
        known = [j for j, name in enumerate(members) if name is not None]
        order = [known[j] for j in in_order([members[j] for j in known])]
        order += [j for j, name in enumerate(members) if name is None]
        kinds = sample_of(lines, Plain(codes), self.options.agreement)
        populations, group = [members[j] for j in order], np.argsort(order)[place]
        drawn = isinstance(self.options.agreement, Spread) or self.options.interval in FOR_EQUALITY
        by_content, given = drawn and not kinds.plain, numbers_of(lines, "given")
        return Cells(lines, kinds, explanations.take(first), populations, group, given, by_content)

    @property
    def cells(self) -> Cells | None:
        """The same; None if engines count them, which they do if explanations are told apart by equality.

        Numbers, and rows with clusters or weights, count each by itself.
        """
        here = self.options.agreement.of_numbers or self.clusters or self.weights or isinstance(self.coarse, SPELLED)
        return self.everything if here else None

    @cached_property
    def consistency(self) -> Estimate:
        """The estimate of all rows."""
        options, rows, keyed = self.options, self.rows(), self.keyed
        labels = {} if options.agreement.of_numbers else read_labels(rows)
        cells, confidence, interval = self.cells, options.confidence, options.interval
        if cells is not None and cells.by_row:
            whole = measure_consistency(cells.sample, confidence, interval)
            if isinstance(whole.counts, Counts) and not cells.by_content:
                whole = replace(whole, counts=cells.named(whole.counts))
        else:
            counts = counted(rows, labels) if cells is None else cells.counts
            whole = estimate(counts, confidence=confidence, interval=interval)
        if whole.clusters == 1 and whole.n > 1:
            raise BadInput(
                f"All {whole.n:,} rows are of one cluster in column {self.clusters[0]!r}, so none can be checked "
                "against another: name another column, or leave clusters away if rows are independent."
            )
        notes = list(self._repeat_notes(whole))
        if cells is not None and isinstance(self.kind, CodeColumns):
            notes += given_code_notes(replace(cells.kinds, explanations=cells.distinct.take(cells.codes)))
        if isinstance(self.kind, NumberColumns | PairColumns):
            notes += granularity_notes(whole, self.kind.like, options.discretizer)
        for step in steps(options.discretizer):  # what reason codes count against
            notes += step._facing(None) if isinstance(step, ReasonCodes) else ()
        # No value is missing in rows of weight 0, and in those that served to learn, which are not measured.
        left, told = (self.weightless, ()) if keyed is None else (self.weightless + keyed.looked, keyed.notes)
        dropped = dropped_note(self.total - left - whole.n)
        return noted(whole, (*notes, *told, *dropped, *weightless_note(self.weightless)))

    def _repeat_notes(self, estimate: Estimate) -> tuple[str, ...]:
        """A note if whole rows of the log repeat, more often than chance gives.

        Nothing is told of clustered rows, nor of a log that holds explanations and predictions alone: that these repeat
        is what is measured. A column that identifies rows tells all of them apart. Nor is anything told if a column
        cannot be compared.
        """
        import ibis

        log = self if self.keyed is None else self.keyed.before
        rows, others = log.source.table, log.others
        silent = estimate.clusters is not None or 1 - estimate.distinct / max(1, estimate.n) < NOTICED
        if silent or not others or any(shown(rows[name]) is None for name in others):
            return ()
        hashed = rows.select(row=ibis.struct({name: rows[name] for name in dict.fromkeys((*others, *log.used))}).hash())
        if estimate.n > _FEW:  # equal rows are all among the sixteenth, or none is
            hashed = hashed.filter(hashed["row"] % 16 == 0)
        times = hashed.group_by("row").aggregate(given=ibis._.count())
        answer = fetch(times.group_by("given").aggregate(n=ibis._.count()))
        return repeated_note(odd_share(numbers_of(answer, "given"), numbers_of(answer, "n")), " of the log")

    @property
    def reasons(self) -> Keyed | None:
        """The rows of reasons in words, and what discretizes them; None of other explanations."""
        return self.keyed if isinstance(self.kind, ReasonColumn) else None

    def leakage(self, words: Sequence[str] | None) -> Leakage:
        """How many reasons of a log name a label, and their consistency with these words masked."""
        options = self.options
        if self.reasons is None:
            raise WrongType(
                NO_REASONS.format(f"{self.kind.what} of a log").replace("pass", "audit it with kind='reasons', or pass")
            )
        sample, discretizer = self.reasons.sample, options.discretizer
        found = measure_leakage(sample, discretizer, options.confidence, options.interval, words)
        return replace(found, consistency=self.consistency)

    def by(self, columns: Sequence[str]) -> Populations:
        """An estimate per population: the values of a column, or of several crossed."""
        names = {f"p{j}": name for j, name in enumerate(columns)}
        self.refuse_populations(columns)
        return self.populations(self.rows(names), tuple(names), crossed_name(columns))

    def refuse_populations(self, columns: Sequence[str]) -> None:
        """Raise if columns that name populations are missing where nobody said what to do, or hold more than values."""
        table = self.source.table
        refuse_nested(table.schema(), columns, "a population is one value")
        scan(table, columns, self.options.nulls)

    def populations(
        self,
        rows: Table,
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
        among = Populations(dict(zip(map(named, names), self.among(cells), strict=True)), title)
        return among._beside_everybody(self.beside(cells))

    def beside_reference(self, cells: Cells, reference: "AuditedLog") -> Beside | None:
        """These populations of the log, and then the rows of another log as one more, beside everybody.

        None if explanations or labels of the logs differ in kind, and by `Spread` or with weights.
        """
        if isinstance(self.options.agreement, Spread) or self.weights:
            return None
        both = cells.and_then(reference.everything)
        return None if both is None else self.beside(both)

    def beside(self, cells: Cells) -> Beside:
        """The populations of cells, in order, beside everybody."""
        options = self.options
        if options.agreement.of_numbers or self.weights:
            asking = replace(cells.sample, askers=np.repeat(cells.group, cells.given))
            return Beside.of(
                asking.noting(of_kind(self.consistency.notes, "rows", "restates")), options.confidence, options.interval
            )
        notes = (*of_kind(self.consistency.notes, "interval", "rows", "restates"), *beside_notes(options.interval))
        if self.clusters and sizes_matter(cells.sample):
            notes = (*notes, BY_PREDICTION)
        kinds = replace(cells.kinds, explanations=cells.distinct.take(cells.codes))
        return Beside(notes, options.confidence, kinds=Kinds.of(kinds, cells.group, cells.given))

    def among(self, cells: Cells) -> list[Estimate]:
        """The populations of cells among themselves: by `Spread`, shares of the variance of all rows."""
        confidence, interval = self.options.confidence, self.options.interval
        if not cells.by_row:
            counts = (cells.named(cells.count(each)) for each in cells.members)
            return [estimate(each, confidence=confidence, interval=interval) for each in counts]
        spread = self.beside(cells) if isinstance(self.options.agreement, Spread) else None
        measure = partial(measure_consistency, confidence=confidence, method=interval)
        parts = enumerate(map(cells.sample.take, cells.members))
        return [(spread and spread.among(number)) or measure_group(part, measure) for number, part in parts]


def read_labels(table: Table) -> dict[Any, int]:
    """How many rows have each label, None for missing; refuses numbers that are nearly all different."""
    answer = fetch(table.group_by("label").aggregate(given=table.count()).limit(_MOST_LABELS + 1))
    values, given = answer.column("label").to_pylist(), numbers_of(answer, "given")
    if not values:
        raise BadInput(NO_ROW)
    if len(values) > _MOST_LABELS:
        many = f"Predictions have more than {_MOST_LABELS:,} different values"
        raise BadInput(f"{many}: pass classes, bins, or agreement=fs.Spread().")
    known = [(label, n) for label, n in zip(values, given, strict=True) if label is not None]
    if known and all(isinstance(label, int | float) and not isinstance(label, bool) for label, _ in known):
        numbers, rows = (np.array(column) for column in zip(*known, strict=True))
        try:
            refuse_numbers(numbers.astype(np.float64), rows, "")
        except BadInput:  # what is passed instead are columns, not arrays
            raise BadInput(
                f"Predictions are numbers, {len(numbers):,} different ones in {int(rows.sum()):,} rows such as "
                f"{numbers[0]:g}, and labels agree only if they are equal: {_INSTEAD}."
            ) from None
    return dict(zip(values, given.tolist(), strict=True))


def counted(table: Table, labels: Mapping[Any, int]) -> Profile:
    """The rows counted where they are.

    Groups with the same numbers of rows by label are merged in the engine, and only those numbers come back, if labels
    are few in columns side by side, else in sorted lists.
    """
    keys, label = [name for name in table.columns if name != "label"], table["label"]
    plain = all(isinstance(value, str | bool | int | float | None) for value in labels)
    if plain and len(labels) <= _SIDE_BY_SIDE and not label.type().is_unknown():
        counts = {}
        for j, value in enumerate(labels):
            is_it = label.isnull() if value is None else label == literal(value)
            counts[f"n{j}"] = table.count(where=is_it)
        groups = table.group_by(keys).aggregate(**counts)
        answer = fetch(groups.group_by(list(counts)).aggregate(times=groups.count()))
        cell = np.column_stack([numbers_of(answer, name) for name in counts])
        which, place = np.nonzero(cell)
        given, times = cell[which, place], numbers_of(answer, "times")
    else:
        groups = table.group_by([*keys, "label"]).aggregate(given=table.count())
        groups = groups.group_by(keys).aggregate(given=groups["given"].collect())
        groups = groups.mutate(given=groups["given"].sort())
        answer = fetch(groups.group_by("given").aggregate(times=groups.count()))
        lists = answer.column("given").combine_chunks()
        which = np.repeat(np.arange(len(lists)), np.asarray(lists.value_lengths()))
        given, times = np.asarray(lists.flatten()).astype(np.int64), numbers_of(answer, "times")
    profile = Profile.of_groups(which, given, times, np.array([*labels.values()], np.int64))
    return replace(profile, labels=tuple(labels))
