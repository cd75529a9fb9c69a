"""The rows of a log as engines group them: a label, and the columns that tell explanations apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from faithscope.discretizers import Discretizer
from faithscope.explanations.base import Explanations
from faithscope.tables.engine.expressions import as_number
from faithscope.tables.engine.missing import is_missing, without_nan
from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.engine.shown_columns import Column, column
from faithscope.tables.log.discretizers import coarsen
from faithscope.tables.log.kinds import Kind, NumberColumns, PairColumns, ReasonColumn, SetColumn
from faithscope.tables.log.packing import Bytes, Packing
from faithscope.tables.log.reason_stream import MASKED, WORDS
from faithscope.tables.log.streaming import KEY, Stream
from faithscope.tables.options import AuditOptions
from faithscope.tables.sources.source import LogSource

VALUE = "y0"  # the column of predicted numbers, or the first of several
CLUSTER = "cluster"  # the column of clusters, if rows are clustered
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
    nan: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    sparse: bool = False
    stream: Stream | None = None
    inputs: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that the measure reads."""
        return (*self.predictions, *self.columns, *self.originals, *self.inputs, *self.clusters)

    @property
    def others(self) -> tuple[str, ...]:
        """Every column that may be shown beside prediction and explanation, those that identify rows first."""
        measured = (*self.predictions, *self.columns, *self.originals, *self._as_written)
        return tuple(name for name in dict.fromkeys((*self.ids, *self.source.columns)) if name not in measured)

    @property
    def _as_written(self) -> tuple[str, ...]:
        """The column of reasons as written, if there is one beside that in which they are compared."""
        return (self.kind.written,) if isinstance(self.kind, ReasonColumn) and self.kind.written else ()

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
        self,
        used: Mapping[str, str] = _NONE,
        shown: Mapping[str, Column] = _NONE,
        among: Any = None,
        masked: bool = False,
    ) -> "KeyedRows":
        """The rows to be counted, with other columns of the log under new names; columns only shown may be missing.

        `among`, an Arrow table of keys, says which explanations are enough if they are discretized here. `masked`
        takes reasons with the words of labels masked.
        """
        source, place = self._kept(tuple(used.values()), tuple(shown.values()), among)
        beside = self._predicted(source, place)
        beside |= dict(zip((CLUSTER,), (self._clean(source, name, place) for name in self.clusters), strict=False))
        beside |= {name: self._clean(source, wanted, place) for name, wanted in used.items()}
        beside |= {name: column(source, place.get(wanted, wanted)) for name, wanted in shown.items()}
        if self.stream is not None:
            key = source[MASKED].coalesce(source[KEY]) if masked else source[KEY]
            table = source.select(**beside, **{KEY: key})
            return KeyedRows(table, self.stream.coarse_kind, (KEY,), self.stream.packing)
        values = source.select(**beside, **self._values(source))
        table, kind = coarsen(self.options.discretizer, values, self.kind)
        return _keyed(table, kind, list(beside))

    def values(self, discretizer: Discretizer, beside: Mapping[str, Column]) -> tuple[Table, Kind]:
        """Columns of the log under new names, then the values of the explanations, and the kind of these."""
        source = self.source.table
        if isinstance(self.kind, NumberColumns):
            names = {**beside, **{f"v{j}": name for j, name in enumerate(self.columns)}}
            return source.select(**{name: column(source, wanted) for name, wanted in names.items()}), self.kind
        source = self._without_missing(source, (*self.columns, *self.originals))
        others = {name: column(source, wanted) for name, wanted in beside.items()}
        table, kind = coarsen(discretizer, source.select(**others, **self._values(source)), self.kind)
        return table.select(*others, *(f"v{j}" for j in range(kind.width))), kind

    def texts(self, beside: Mapping[str, Column]) -> Table:
        """Columns of the log under new names, then reasons: t as written, f as compared, a0 … inputs, u clusters."""
        source = self._without_missing(self.source.table, self.used)
        names = {"t": self.columns[0]}
        if self._as_written:
            names = {"t": self._as_written[0], "f": self.columns[0]}
        names |= {f"a{j}": name for j, name in enumerate(self.inputs)}
        names |= dict(zip(("u",), self.clusters, strict=False))
        return source.select(**{name: column(source, wanted) for name, wanted in {**beside, **names}.items()})

    def word_counts(self) -> Table:
        """How many rows of each label have which words of labels, as JSON; null for rows that have none."""
        source, place = self._kept()
        table = source.select(**self._predicted(source, place), words=source[WORDS])
        keys = [name for name in table.columns if name == "label"]
        return table.group_by([*keys, "words"]).aggregate(given=table.count())

    def paired_keys(self) -> Table:
        """How many rows have the same explanation as given and masked, prediction, cluster, and name a label or not."""
        import ibis

        source, place = self._kept()
        columns = {"key": source[KEY], "hidden": source[MASKED].coalesce(source[KEY])}
        columns |= dict(zip((CLUSTER,), (self._clean(source, name, place) for name in self.clusters), strict=False))
        numbers = self._predicted(source, place)
        columns |= {name: value for name, value in numbers.items() if name == "label"}
        plain = {name: value for name, value in numbers.items() if name != "label"}
        plain["naming"] = source[WORDS].notnull()
        table = source.select(**columns, **plain)
        table = table.group_by(list(table.columns)).aggregate(given=table.count())
        coded = {name: ibis.dense_rank().over(ibis.window(order_by=table[name])) for name in columns}
        return table.select(**coded, **{name: table[name] for name in (*plain, "given")})

    def _kept(
        self, used: Sequence[str] = (), shown: Sequence[Column] = (), among: Any = None
    ) -> tuple[Table, Mapping[Column, str]]:
        """The rows to be counted, and the names that columns of the log have there if not their own.

        If rows with missing values are dropped, those in which a used value is missing are left out.
        """
        if self.stream is None:
            return self._without_missing(self.source.table, (*self.used, *used)), _NONE
        counted = (*self.predictions, *self.clusters, *used)
        table, place = self.stream.table((*counted, *shown), among)
        return self._without_missing(table, [place[name] for name in counted]), place

    def _without_missing(self, table: Table, columns: Sequence[str]) -> Table:
        if self.options.nulls != "drop":
            return table
        return table.filter([~is_missing(table[name]) for name in dict.fromkeys(columns)])

    def _values(self, source: Table) -> dict[str, Expression]:
        if isinstance(self.kind, SetColumn):
            return {"v0": source[self.columns[0]].unique().sort()}
        numeric = isinstance(self.kind, NumberColumns | PairColumns)
        read = self._number if numeric else self._clean
        values = {f"v{j}": read(source, name) for j, name in enumerate(self.columns)}
        return values | {f"o{j}": self._number(source, name) for j, name in enumerate(self.originals)}

    def _number(self, source: Table, name: str, place: Mapping[Column, str] = _NONE) -> Expression:
        value = self._clean(source, name, place)
        value = as_number(value) if value.type().is_boolean() else value
        return value.cast("float64") if value.type().is_numeric() else value

    def _clean(self, source: Table, name: str, place: Mapping[Column, str] = _NONE) -> Expression:
        value = source[place.get(name, name)]
        return without_nan(value) if name in self.nan and self.options.nulls == "key" else value


@dataclass(frozen=True)
class KeyedRows:
    """A table of rows with the columns `label`, `k0` …, `cluster` if rows are clustered, and others asked for.

    Attributes
    ----------
    keys : tuple of str
        The columns that tell explanations apart.
    packing : Packing or Bytes, optional
        How they hold the values; None if they are the values.
    """

    table: Table
    kind: Kind
    keys: tuple[str, ...]
    packing: Packing | Bytes | None = None

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return CLUSTER in self.table.columns

    @property
    def predicted(self) -> list[str]:
        """The columns of predicted numbers: y0 …"""
        return [name for name in self.table.columns if name[0] == "y" and name[1:].isdigit()]

    def read(self, answer: Any) -> Explanations:
        """The explanations of an Arrow table that has the key columns."""
        columns = [answer.column(key).combine_chunks() for key in self.keys]
        if self.packing is None:
            return self.kind.read(columns)
        assert isinstance(self.kind, NumberColumns)
        return self.kind.of(self.packing.unpacked(columns, self.kind.width))


def _keyed(table: Table, kind: Kind, others: list[str]) -> KeyedRows:
    packing = Packing.of(kind)
    if packing is None:
        keys = {f"k{j}": table[f"v{j}"] for j in range(kind.width)}
    else:
        keys = packing.packed(table, kind.width)
    return KeyedRows(table.select(**{name: table[name] for name in others}, **keys), kind, tuple(keys), packing)
