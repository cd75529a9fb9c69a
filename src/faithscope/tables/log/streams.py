"""Rows that are fetched and discretized here, by `faithscope.discretizers` themselves; DuckDB keeps their keys.

What is kept of a row is the key of its coarse explanation and the columns it is counted by, in a DuckDB of our own that
spills to disk, and every question is then asked as of any other log. Importances come in batches, so that memory stays
bounded; the texts of reasons, and counterfactuals with their rows, come all at once.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from faithscope.discretizers import Discretizer
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.labels import to_weights
from faithscope.measures.named_labels import label_word_notes
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.engine.answers import Column, batches, coded, predictions_of, refuse_infinite
from faithscope.tables.engine.engines import Connection, Table
from faithscope.tables.log.rows import KEY, AuditedLog, Coarse, NumberColumns, Numbered, PackedNumbers, ReasonColumn
from faithscope.tables.sources.connections import kept
from faithscope.tables.sources.source import changed, refuse_change

_CELLS = 2**21  # importances in a batch
_MOST_ROWS = 2**17
_COPIES = 4  # of rows that are fetched all at once, in memory


class Stream(ABC):
    """A log's explanations, discretized here.

    Attributes
    ----------
    coarse_kind : Coarse
        What the kept keys are.
    rows : int or None
        How many rows were read, the same each time; None before the first time.
    """

    coarse_kind: Coarse
    rows: int | None = None
    notes: tuple[str, ...] = ()
    _kept: tuple[Table, dict[Column, str]] | None = None

    def __init__(self, log: AuditedLog) -> None:
        self.log = log

    @abstractmethod
    def _keyed(self, expression: Table, start: int) -> Iterator[tuple[Any, Any, Bools | None]]:
        """Batches of rows, with the keys of each, and which of its rows are kept; None if all are.

        What explanations are made of begins at column `start`.
        """

    def table(self, columns: Sequence[Column], among: Any = None) -> tuple[Table, dict[Column, str]]:
        """The rows as a table of `KEY` and these columns of the log, and the names of these columns in it.

        With `among`, an Arrow table of keys, only the rows with one of them. Without it the table is kept for the next
        question, with the columns of the questions before.
        """
        if among is not None:
            return self._read(columns, among)
        if self._kept is None or not set(columns) <= set(self._kept[1]):
            before = () if self._kept is None else tuple(self._kept[1])
            self._kept = self._read((*before, *columns))
        return self._kept

    def _read(self, columns: Sequence[Column], among: Any = None) -> tuple[Table, dict[Column, str]]:
        import pyarrow as pa

        counted = (*self.log.predictions, *self.log.clusters, *self.log.weights)
        place = {name: f"c{i}" for i, name in enumerate(dict.fromkeys((*counted, *columns)))}
        expression, seen = self.log.raw({short: name for name, short in place.items()}), []
        schema = expression.schema()
        kinds = {short: schema[short].to_pyarrow() for short in place.values()}

        def tables() -> Iterator[Any]:
            for batch, keys, chosen in self._keyed(expression, len(place)):
                seen.append(batch.num_rows)
                held = pa.table({KEY: keys, **{short: batch.column(short).cast(kind) for short, kind in kinds.items()}})
                yield held if chosen is None else held.filter(pa.array(chosen))

        if among is not None:
            self._connection.con.register("among", among)
        table = kept(tables(), self._connection, "" if among is None else f" SEMI JOIN among USING ({KEY})")
        self.rows = sum(seen) if self.rows is None else self.rows
        refuse_change(self.rows, sum(seen))
        return table, place

    @cached_property
    def _connection(self) -> Connection:
        return self.log.source.scratch()


class FetchedStream(Stream):
    """Reasons in words, and counterfactuals with the rows they belong to: all of them at once, as in memory.

    Attributes
    ----------
    sample : Sample
        The rows as they are.
    settled : Discretizer
        What discretizes them, once it has learned from rows that are then not measured.
    looked : int
        How many rows served to learn.
    """

    sample: Sample
    settled: Discretizer
    looked: int = 0
    _codes: Ints

    def _keyed(self, expression: Table, start: int) -> Iterator[tuple[Any, Any, Bools | None]]:
        import pyarrow as pa

        held, chosen = list(batches(expression, _MOST_ROWS)), self.log.options.discretizer
        if not held:
            raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
        size = _COPIES * sum(batch.nbytes for batch in held)
        need(size, f"{sum(map(len, held)):,} rows with {self.log.kind.what}", "audit a part of the log")
        table = pa.Table.from_batches(held).combine_chunks()
        known = np.ones(table.num_rows, bool)
        if isinstance(self.log.kind, ReasonColumn):
            known = table.column(start).is_valid().to_numpy()
        sample = self._sample(table.filter(pa.array(known)), start)
        measured, settled = sample.settled(chosen)
        coarse = measured.discretized(settled)
        if self.rows is None:
            self.sample, self.settled, self.looked = sample, settled, sample.n - measured.n
            codes, first = coarse.explanations.group()
            self._codes, distinct = codes, coarse.explanations.take(first)
            self.coarse_kind = Numbered(distinct, self.log.kind.what)
            self.notes = (*coarse.all_notes, *label_word_notes(sample, coarse, chosen))
        assert isinstance(self.coarse_kind, Numbered)
        codes = self.coarse_kind.explanations.locate(coarse.explanations)
        if (codes < 0).any():
            raise changed("other rows later than at first")
        if chosen.learns and not np.array_equal(codes, self._codes):
            raise changed("rows came in another order, so that those from which phrases are learned are not known")
        numbers = np.full(table.num_rows, -1)
        places = np.flatnonzero(known)
        numbers[places[measured.places]] = codes
        kept = ~known
        kept[places[measured.places]] = True
        yield table, pa.array(numbers, mask=numbers < 0), kept

    def _sample(self, table: Any, start: int) -> Sample:
        log, agreement = self.log, self.log.options.agreement
        outputs = [f"c{j}" for j in range(len(log.predictions))]
        clusters = coded(table, [f"c{len(outputs)}"])[1] if log.clusters else None
        weights = None
        if log.weights:
            mass = table.column(f"c{len(outputs) + len(log.clusters)}").cast("float64")
            weights = to_weights(mass.to_pylist(), table.num_rows)
        explanations = log.kind.read([column.combine_chunks() for column in table.columns[start:]])
        labels = agreement.read(predictions_of(table, outputs))
        return Sample(explanations, labels, clusters=clusters, weights=weights, agreement=agreement)


class NumberStream(Stream):
    """Importances: one column per feature, or lists of them, batch by batch.

    Attributes
    ----------
    features : tuple of str
        What they are called in an error.
    missing : Counter
        How often each feature is missing.
    """

    coarse_kind: PackedNumbers

    def __init__(self, log: AuditedLog) -> None:
        super().__init__(log)
        assert isinstance(log.kind, NumberColumns)
        self.kind, self.missing, self._infinite = log.kind, Counter[str](), Counter[str]()
        self.features = log.columns
        if len(log.columns) < len(self.kind.names):  # of a column of lists
            told = self.kind.names if self.kind.named else range(len(self.kind.names))
            self.features = tuple(f"{log.columns[0]}[{name!r}]" for name in told)
        # A step that does not follow from the one before says so at once.
        coarse = self._coarse(np.empty((0, len(self.kind.names))), self.kind.form)
        self.notes = coarse.remarks
        order = "features" if isinstance(coarse, Rankings) else self.kind.order
        names = coarse.names or tuple(f"x{j}" for j in range(coarse.values.shape[1]))
        form = " | ".join([*([self.kind.form] if self.kind.form else []), *map(repr, self._steps)])
        named = self.kind.named or coarse.names is not None
        numbers = replace(self.kind, names=tuple(names), named=named, form=form, order=order, shape=coarse.shape)
        self.coarse_kind = PackedNumbers(numbers, coarse.values.dtype)

    @property
    def _steps(self) -> tuple[Any, ...]:
        return steps(self.log.options.discretizer)

    def _keyed(self, expression: Table, start: int) -> Iterator[tuple[Any, Any, Bools | None]]:
        self._infinite.clear()
        seen = self.missing if self.rows is None else Counter()
        for batch in batches(expression, max(1, min(_MOST_ROWS, _CELLS // len(self.kind.names)))):
            values = self._values(batch, start)
            missing = _look(values, self.features, seen, self._infinite)
            kept = None if missing is None or self.log.options.nulls != "drop" else ~missing
            yield batch, self.coarse_kind.packed(self._coarse(values, "").values), kept
        refuse_infinite(self._infinite)

    def _values(self, batch: Any, start: int) -> Floats:
        """The importances of a batch, with NaN for missing."""
        import pyarrow as pa

        try:
            lists = batch.column(start)
            if not pa.types.is_nested(lists.type):
                columns = [_floats(batch.column(start + j)) for j in range(len(self.kind.names))]
                return np.ascontiguousarray(np.stack(columns).T)
            values = np.full((len(lists), len(self.kind.names)), np.nan)
            valid = lists.is_valid().to_numpy(zero_copy_only=False)
            values[valid] = _floats(lists.flatten()).reshape(-1, len(self.kind.names))
        except pa.ArrowInvalid as problem:
            if "not in range" not in str(problem):
                raise
            raise BadInput(
                f"The explanation holds integers beyond 2**53, which float64 cannot tell apart: scale them ({problem})."
            ) from None
        return values

    def _coarse(self, values: Floats, form: str) -> Importances:
        """The importances discretized."""
        names = self.kind.names if self.kind.named and not self.kind.order else None
        step = partial(_discretized, kept=self.log.options.nulls == "key")
        return reduce(step, self._steps, Importances.made(values, names, form))


def _floats(column: Any) -> Floats:
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    numbers: Floats = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _look(values: Floats, features: Sequence[str], missing: "Counter[str]", infinite: "Counter[str]") -> Bools | None:
    """Count missing and infinite values by feature; the mask of rows with a missing value, None if no row has one."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return None
    holes = np.isnan(values)
    for counter, mask in ((missing, holes), (infinite, np.isinf(values))):
        per_feature = mask.sum(axis=0)
        counter.update({features[j]: int(per_feature[j]) for j in np.flatnonzero(per_feature).tolist()})
    return np.asarray(holes.any(axis=1))


def _discretized(given: Importances, step: Any, kept: bool) -> Importances:
    """Importances discretized; if rows with missing ones are `kept`, they have no rank and no sign."""
    if kept and given.values.dtype.kind == "f" and np.isnan(given.values).any():
        raise BadInput(
            f'Importances are missing, for which {step!r} has no place: say nulls="drop" (--nulls drop) to leave such '
            "rows out."
        )
    with np.errstate(invalid="ignore"):
        coarse: Importances = step(given)
    return coarse
