"""The rows of a log as engines group them: a label, and the columns that tell explanations apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from faithscope.explanations.base import Explanations
from faithscope.tables.engine.calls import as_number
from faithscope.tables.engine.missing import Nulls, is_missing, without_nan
from faithscope.tables.engine.showing import Column, column
from faithscope.tables.log.discretizers import coarsen
from faithscope.tables.log.kinds import Kind, Numbers, Pairs, Sets
from faithscope.tables.log.packing import Bytes, Packing
from faithscope.tables.log.streaming import KEY, Stream
from faithscope.tables.sources.source import Source

_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Log:
    """What of a log is audited, and how.

    Attributes
    ----------
    prediction : str
        The column of predicted labels.
    columns : tuple of str
        The columns of the explanation, as many as the kind is wide.
    originals : tuple of str
        For counterfactuals the columns of the rows they belong to.
    nan : frozenset of str
        Columns that hold NaN, which is then treated as null.
    stream : Stream, optional
        What discretizes the explanations here, where the engine does not.
    ids : tuple of str
        Columns that identify rows, and are never measured.
    """

    source: Source
    prediction: str
    columns: tuple[str, ...]
    kind: Kind
    discretizer: Any
    nulls: Nulls
    originals: tuple[str, ...] = ()
    nan: frozenset[str] = frozenset()
    stream: Stream | None = None
    ids: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that the measure reads."""
        return (self.prediction, *self.columns, *self.originals)

    def labels(self) -> Any:
        """The table of the labels alone, which no engine should have to discretize for."""
        source, place = self._kept()
        return source.select(label=self._clean(source, self.prediction, place))

    def rows(self, used: Mapping[str, str] = _NONE, shown: Mapping[str, Column] = _NONE, among: Any = None) -> "Rows":
        """The rows to be counted, with other columns of the log under new names; those only shown may be missing.

        `among`, an Arrow table of keys, says which explanations are enough where they are discretized here.
        """
        source, place = self._kept(tuple(used.values()), tuple(shown.values()), among)
        beside = {"label": self._clean(source, self.prediction, place)}
        beside |= {name: self._clean(source, wanted, place) for name, wanted in used.items()}
        beside |= {name: column(source, place.get(wanted, wanted)) for name, wanted in shown.items()}
        if self.stream is not None:
            table = source.select(**beside, **{KEY: source[KEY]})
            return Rows(table, self.stream.coarse_kind, (KEY,), self.stream.packing)
        table, kind = coarsen(self.discretizer, source.select(**beside, **self._values(source)), self.kind)
        return _keyed(table, kind, list(beside))

    def values(self, discretizer: Any, beside: Mapping[str, Column]) -> tuple[Any, Kind]:
        """Columns of the log under new names, then the values of the explanations, and what these are."""
        source = self.source.table
        if isinstance(self.kind, Numbers):
            named = {f"v{j}": name for j, name in enumerate(self.columns)}
            return source.select(**{name: column(source, one) for name, one in {**beside, **named}.items()}), self.kind
        source = self._without_missing(source, (*self.columns, *self.originals))
        others = {name: column(source, wanted) for name, wanted in beside.items()}
        table, kind = coarsen(discretizer, source.select(**others, **self._values(source)), self.kind)
        return table.select(*others, *(f"v{j}" for j in range(kind.width))), kind

    def _kept(
        self, used: Sequence[str] = (), shown: Sequence[Column] = (), among: Any = None
    ) -> tuple[Any, Mapping[Column, str]]:
        """The rows to be counted, and what columns of the log are called there where it is not their own name.

        Where rows with missing values are dropped, those that are missing a used one are left out.
        """
        if self.stream is None:
            return self._without_missing(self.source.table, (*self.used, *used)), _NONE
        table, place = self.stream.table((self.prediction, *used, *shown), among)
        return self._without_missing(table, [place[name] for name in (self.prediction, *used)]), place

    def _without_missing(self, table: Any, columns: Sequence[str]) -> Any:
        if self.nulls != "drop":
            return table
        return table.filter([~is_missing(table[name]) for name in dict.fromkeys(columns)])

    def _values(self, source: Any) -> dict[str, Any]:
        if isinstance(self.kind, Sets):
            return {"v0": source[self.columns[0]].unique().sort()}
        numeric = isinstance(self.kind, Numbers | Pairs)
        read = self._number if numeric else self._clean
        values = {f"v{j}": read(source, name) for j, name in enumerate(self.columns)}
        return values | {f"o{j}": self._number(source, name) for j, name in enumerate(self.originals)}

    def _number(self, source: Any, name: str) -> Any:
        value = self._clean(source, name)
        value = as_number(value) if value.type().is_boolean() else value
        return value.cast("float64") if value.type().is_numeric() else value

    def _clean(self, source: Any, name: str, place: Mapping[Column, str] = _NONE) -> Any:
        value = source[place.get(name, name)]
        return without_nan(value) if name in self.nan and self.nulls == "key" else value


@dataclass(frozen=True)
class Rows:
    """A table of rows with the columns `label`, `k0` …, and others that were asked for.

    Attributes
    ----------
    keys : tuple of str
        The columns that tell explanations apart.
    packing : Packing or Bytes, optional
        How they hold the values; None where they are the values.
    """

    table: Any
    kind: Kind
    keys: tuple[str, ...]
    packing: Packing | Bytes | None = None

    def read(self, found: Any) -> Explanations:
        """The explanations of an Arrow table that has the key columns."""
        columns = [found.column(key).combine_chunks() for key in self.keys]
        if self.packing is None:
            return self.kind.read(columns)
        assert isinstance(self.kind, Numbers)
        return self.kind.of(self.packing.unpacked(columns, self.kind.width))


def _keyed(table: Any, kind: Kind, others: list[str]) -> Rows:
    packing = Packing.of(kind)
    if packing is None:
        keys = {f"k{j}": table[f"v{j}"] for j in range(kind.width)}
    else:
        keys = packing.packed(table, kind.width)
    return Rows(table.select(**{name: table[name] for name in others}, **keys), kind, tuple(keys), packing)
