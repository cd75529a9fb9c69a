"""The rows of a log as engines group them: a label, and the columns that tell explanations apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from faithscope.discretizers import Floor, Original, Sign
from faithscope.discretizers.base import steps
from faithscope.explanations.base import Explanations
from faithscope.inputs.weights import Floats, to_weights
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.expressions import Expression, Table, as_number
from faithscope.tables.engine.missing import is_missing, without_nan
from faithscope.tables.engine.shown_columns import Column, column
from faithscope.tables.log.discretizers import coarsened
from faithscope.tables.log.kinds import Coarse, Kind, NumberColumns, PairColumns, ReasonColumn, SetColumn
from faithscope.tables.log.streams import KEY, Stream
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource

VALUE = "y0"  # the column of predicted numbers, or the first of several
CLUSTER = "cluster"  # the column of clusters, if rows are clustered
WEIGHT = "weight"  # the column of weights, if rows do not count alike
_WIDE = 100  # features beyond which an engine takes longer to read the question than to answer it
_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class AuditedLog:
    """What of a log is audited, and how.

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
    nan : frozenset of str
        Columns that hold NaN, which is then treated as null.
    notes : tuple of str
        How the explanation was read, if that is not plain.
    sparse : bool
        Whether a feature that an explanation does not name counts 0.
    stream : Stream, optional
        What discretizes the explanations here, if the engine does not.
    inputs : tuple of str
        The columns of the texts that reasons are about, if they are read.
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
    nan: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    sparse: bool = False
    stream: Stream | None = None
    inputs: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that the measure reads."""
        return (*self.predictions, *self.columns, *self.originals, *self.inputs, *self.clusters, *self.weights)

    @property
    def counted_here(self) -> bool:
        """Whether rows are fetched by kind and measured in memory: numbers, clusters and weights are."""
        return bool(self.options.agreement.of_numbers or self.clusters or self.weights)

    @property
    def others(self) -> tuple[str, ...]:
        """Every column that may be shown beside prediction and explanation, those that identify rows first."""
        measured = (*self.predictions, *self.columns, *self.originals, *self._as_written)
        return tuple(name for name in dict.fromkeys((*self.ids, *self.source.columns)) if name not in measured)

    @property
    def _as_written(self) -> tuple[str, ...]:
        """The column of reasons as written, if there is one beside that in which they are compared."""
        return (self.kind.written,) if isinstance(self.kind, ReasonColumn) and self.kind.written else ()

    @property
    def in_batches(self) -> bool:
        """Whether importances are read in batches: to be discretized, or since a question about all is too long."""
        here = isinstance(self.options.discretizer, Original | Sign | Floor) and self.kind.width <= _WIDE
        return isinstance(self.kind, NumberColumns) and not here

    @property
    def at_once(self) -> bool:
        """Whether explanations are read all at once, to be discretized or folded."""
        if self.options.raw:
            return False
        changes = isinstance(self.kind, PairColumns) and bool(steps(self.options.discretizer))
        return changes or isinstance(self.kind, ReasonColumn)

    def labels(self) -> Table:
        """The table of the predictions alone, which no engine should have to discretize for."""
        source, place = self._kept()
        return source.select(**self._predicted(source, place))

    def _predicted(self, source: Table, place: Mapping[Column, str]) -> dict[str, Expression]:
        """The predictions: the column `label`, or for numbers the columns `y0` …"""
        if not self.options.agreement.of_numbers:
            return {"label": self._clean(source, self.predictions[0], place)}
        return {f"y{j}": self._number(source, name, place) for j, name in enumerate(self.predictions)}

    def rows(
        self, used: Mapping[str, str] = _NONE, shown: Mapping[str, Column] = _NONE, among: Any = None
    ) -> "KeyedRows":
        """The rows to be counted, with other columns of the log under new names; columns only shown may be missing.

        `among`, an Arrow table of keys, says which explanations are enough if they are discretized here.
        """
        source, place = self._kept(tuple(used.values()), tuple(shown.values()), among)
        beside = self._predicted(source, place)
        if self.clusters:
            beside[CLUSTER] = self._clean(source, self.clusters[0], place)
        if self.weights:
            beside[WEIGHT] = self._number(source, self.weights[0], place)
        beside |= {name: self._clean(source, wanted, place) for name, wanted in used.items()}
        beside |= {name: column(source, place.get(wanted, wanted)) for name, wanted in shown.items()}
        if self.stream is not None:
            return KeyedRows(source.select(**beside, **{KEY: source[KEY]}), self.stream.coarse_kind, (KEY,))
        keys, kind, chosen = self._values(source), self.kind, self.options.discretizer
        if isinstance(kind, NumberColumns) and not isinstance(chosen, Original):
            keys = {name: coarsened(chosen, value) for name, value in keys.items()}
            kind = replace(kind, form=" | ".join(filter(None, (kind.form, repr(chosen)))))
        return KeyedRows(source.select(**beside, **keys), kind, tuple(keys))

    def raw(self, beside: Mapping[str, Column]) -> Table:
        """Columns of the log under new names, then all that explanations are made of, before they are discretized."""
        source, keys = self.source.table, {}
        if isinstance(self.kind, NumberColumns):
            # Integers as they are: those beyond 2**53 are refused once they are here.
            held = {f"k{j}": source[name] for j, name in enumerate(self.columns)}
            keys = {key: value.cast("float64") if value.type().is_decimal() else value for key, value in held.items()}
        else:
            source = self._without_missing(source, self.used)
            keys = self._values(source, whole=True)
        return source.select(**{name: column(source, wanted) for name, wanted in beside.items()}, **keys)

    def _kept(
        self, used: Sequence[str] = (), shown: Sequence[Column] = (), among: Any = None
    ) -> tuple[Table, Mapping[Column, str]]:
        """The rows to be counted, and the names that columns of the log have there if not their own.

        If rows with missing values are dropped, those in which a used value is missing are left out.
        """
        if self.stream is None:
            return self._weighed(self._without_missing(self.source.table, (*self.used, *used)), _NONE), _NONE
        counted = (*self.predictions, *self.clusters, *self.weights, *used)
        table, place = self.stream.table((*counted, *shown), among)
        return self._weighed(self._without_missing(table, [place[name] for name in counted]), place), place

    def _weighed(self, table: Table, place: Mapping[Column, str]) -> Table:
        """The rows without those of weight 0, which count nowhere; all rows if they are read as they are."""
        if not self.weights or self.options.raw:
            return table
        weight = table[place.get(self.weights[0], self.weights[0])]
        return table.filter((weight != 0) | weight.isnull())

    @cached_property
    def weightless(self) -> int:
        """How many rows have weight 0."""
        if not self.weights:
            return 0
        weight = self.source.table[self.weights[0]]
        return int(fetch_line(self.source.table.aggregate(n=(weight == 0).sum()))["n"] or 0)

    def _without_missing(self, table: Table, columns: Sequence[str]) -> Table:
        if self.options.nulls != "drop":
            return table
        return table.filter([~is_missing(table[name]) for name in dict.fromkeys(columns)])

    def _values(self, source: Table, whole: bool = False) -> dict[str, Expression]:
        """The columns k0 … by which explanations are told apart; the `whole` of what they are made of, or if `raw`."""
        whole = whole or self.options.raw
        if isinstance(self.kind, SetColumn):
            return {"k0": source[self.columns[0]].unique().sort()}
        numeric = isinstance(self.kind, NumberColumns | PairColumns)
        read = self._number if numeric else self._clean
        names = (*self._as_written, *self.columns, *((*self.originals, *self.inputs) if whole else ()))
        return {f"k{j}": read(source, name) for j, name in enumerate(names)}

    def _number(self, source: Table, name: str, place: Mapping[Column, str] = _NONE) -> Expression:
        value = self._clean(source, name, place)
        value = as_number(value) if value.type().is_boolean() else value
        return value.cast("float64") if value.type().is_numeric() else value

    def _clean(self, source: Table, name: str, place: Mapping[Column, str] = _NONE) -> Expression:
        value = source[place.get(name, name)]
        return without_nan(value) if name in self.nan and self.options.nulls == "key" else value


@dataclass(frozen=True)
class KeyedRows:
    """A table of rows with the columns `label`, `k0` …, `cluster` or `weight` if there are any, and others asked for.

    Attributes
    ----------
    keys : tuple of str
        The columns that tell explanations apart.
    """

    table: Table
    kind: Coarse
    keys: tuple[str, ...]

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return CLUSTER in self.table.columns

    def weights(self, answer: Any) -> Floats | None:
        """The weights of an Arrow table of rows; None if all count alike."""
        if WEIGHT not in self.table.columns:
            return None
        return to_weights(answer.column(WEIGHT).to_pylist(), answer.num_rows)

    @property
    def predicted(self) -> list[str]:
        """The columns of predicted numbers: y0 …"""
        return [name for name in self.table.columns if name[0] == "y" and name[1:].isdigit()]

    def read(self, answer: Any) -> Explanations:
        """The explanations of an Arrow table that has the key columns."""
        return self.kind.read([answer.column(key).combine_chunks() for key in self.keys])
