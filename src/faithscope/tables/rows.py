"""The rows of a log as engines group them: a label, and the columns that tell explanations apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from faithscope.explanations.base import Explanations
from faithscope.tables.discretize import coarsen, packed
from faithscope.tables.engine import as_number
from faithscope.tables.kinds import Kind, Numbers, Pairs, Sets
from faithscope.tables.missing import Nulls, is_missing, without_nan
from faithscope.tables.sources import Source

_NONE: Mapping[str, str] = MappingProxyType({})
_BITS = 62  # of a whole number that every engine adds without overflow
_MOST_LEVELS = 2**20  # different values of a feature that are worth packing


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
    """

    source: Source
    prediction: str
    columns: tuple[str, ...]
    kind: Kind
    discretizer: Any
    nulls: Nulls
    originals: tuple[str, ...] = ()
    nan: frozenset[str] = frozenset()

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that the measure reads."""
        return (self.prediction, *self.columns, *self.originals)

    def labels(self) -> Any:
        """The table of the labels alone, which no engine should have to discretize for."""
        source = self._kept(self.used)
        return source.select(label=self._clean(source, self.prediction))

    def rows(self, used: Mapping[str, str] = _NONE, shown: Mapping[str, str] = _NONE) -> "Rows":
        """The rows to be counted, with other columns of the log under new names; those only shown may be missing."""
        source = self._kept((*self.used, *used.values()))
        chosen = {"label": self._clean(source, self.prediction), **self._values(source)}
        chosen |= {f"o{j}": self._number(source, name) for j, name in enumerate(self.originals)}
        chosen |= {name: self._clean(source, column) for name, column in used.items()}
        beside = {name: source[column] for name, column in shown.items()}
        table, kind = coarsen(self.discretizer, source.select(**chosen, **beside), self.kind)
        return _keyed(table, kind, ["label", *used, *beside])

    def _kept(self, columns: Sequence[str]) -> Any:
        """The rows that are left where those with missing values in these columns are dropped."""
        source = self.source.table
        if self.nulls != "drop":
            return source
        return source.filter([~is_missing(source[name]) for name in dict.fromkeys(columns)])

    def _values(self, source: Any) -> dict[str, Any]:
        if isinstance(self.kind, Sets):
            return {"v0": source[self.columns[0]].unique().sort()}
        numeric = isinstance(self.kind, Numbers | Pairs)
        read = self._number if numeric else self._clean
        return {f"v{j}": read(source, name) for j, name in enumerate(self.columns)}

    def _number(self, source: Any, name: str) -> Any:
        value = self._clean(source, name)
        value = as_number(value) if value.type().is_boolean() else value
        return value.cast("float64") if value.type().is_numeric() else value

    def _clean(self, source: Any, name: str) -> Any:
        return without_nan(source[name]) if name in self.nan and self.nulls == "key" else source[name]


@dataclass(frozen=True)
class Packing:
    """How several whole numbers share one: Σ code · levels^i, with codes from `low` on, the last one for missing.

    Attributes
    ----------
    source : str
        The columns that hold the numbers: v0 … or m0 ….
    unit : float
        What they are divided by to be the values.
    """

    source: str
    low: int
    levels: int
    holes: bool
    unit: float = 1.0

    @property
    def several(self) -> int:
        """How many values share one."""
        return max(1, int(_BITS / np.log2(self.levels)))

    @classmethod
    def of(cls, kind: Kind) -> "Packing | None":
        """The packing of a kind whose values are few; None where they are not."""
        if not isinstance(kind, Numbers):
            return None
        if kind.span is not None:
            return cls("v", kind.span[0], kind.span[1] - kind.span[0] + 2, kind.holes)
        if kind.decimals is None or kind.bound is None:
            return None
        unit = 10.0**kind.decimals
        reach = kind.bound * unit + 1
        return cls("m", -int(reach), 2 * int(reach) + 2, kind.holes, unit) if reach < _MOST_LEVELS else None

    def packed(self, table: Any, width: int) -> dict[str, Any]:
        """Key columns from the columns of a table."""
        codes = [table[f"{self.source}{j}"] for j in range(width)]
        codes = [code.coalesce(self.low + self.levels - 1) for code in codes] if self.holes else codes
        words = [codes[start : start + self.several] for start in range(0, width, self.several)]
        return {f"k{j}": packed(word, self.levels) for j, word in enumerate(words)}

    def unpacked(self, columns: list[Any], width: int) -> list[Any]:
        """Columns of values from key columns, in Arrow; NaN where missing."""
        import pyarrow as pa

        found = []
        for start, column in zip(range(0, width, self.several), columns, strict=True):
            powers = [self.levels**i for i in range(min(self.several, width - start))]
            word = column.to_numpy().astype(np.int64) - self.low * sum(powers)
            codes = [word // power % self.levels for power in powers]
            values = [np.where(code == self.levels - 1, np.nan, (code + self.low) / self.unit) for code in codes]
            found += [pa.array(value) for value in values]
        return found


@dataclass(frozen=True)
class Rows:
    """A table of rows with the columns `label`, `k0` …, and others that were asked for.

    Attributes
    ----------
    keys : tuple of str
        The columns that tell explanations apart.
    packing : Packing, optional
        How they hold the values; None where they are the values.
    """

    table: Any
    kind: Kind
    keys: tuple[str, ...]
    packing: Packing | None = None

    def read(self, found: Any) -> Explanations:
        """The explanations of an Arrow table that has the key columns."""
        columns = [found.column(key).combine_chunks() for key in self.keys]
        return self.kind.read(columns if self.packing is None else self.packing.unpacked(columns, self.kind.width))


def _keyed(table: Any, kind: Kind, others: list[str]) -> Rows:
    packing = Packing.of(kind)
    if packing is None:
        keys = {f"k{j}": table[f"v{j}"] for j in range(kind.width)}
    else:
        keys = packing.packed(table, kind.width)
    return Rows(table.select(**{name: table[name] for name in others}, **keys), kind, tuple(keys), packing)
