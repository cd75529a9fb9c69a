"""Many numbers in few key columns: integers share one integer in an engine, or a row's bytes are one blob in NumPy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.tables.engine.protocol import Expression, Table
from faithscope.tables.log.discretizers import packed
from faithscope.tables.log.kinds import Kind, NumberColumns

_BITS = 62  # of a whole number that every engine adds without overflow
_MOST_LEVELS = 2**20  # different values of a feature that are worth packing


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
        """How many values share one integer."""
        return max(1, int(_BITS / np.log2(self.levels)))

    @classmethod
    def of(cls, kind: Kind) -> "Packing | None":
        """The packing of a kind whose values are few; None if they are many."""
        if not isinstance(kind, NumberColumns):
            return None
        if kind.span is not None:
            return cls("v", kind.span[0], kind.span[1] - kind.span[0] + 2, kind.holes)
        if kind.decimals is None or kind.bound is None:
            return None
        unit = 10.0**kind.decimals
        reach = kind.bound * unit + 1
        return cls("m", -int(reach), 2 * int(reach) + 2, kind.holes, unit) if reach < _MOST_LEVELS else None

    def packed(self, table: Table, width: int) -> dict[str, Expression]:
        """Key columns from the columns of a table, as expressions."""
        codes = [table[f"{self.source}{j}"] for j in range(width)]
        codes = [code.coalesce(self.low + self.levels - 1) for code in codes] if self.holes else codes
        words = [codes[start : start + self.several] for start in range(0, width, self.several)]
        return {f"k{j}": packed(word, self.levels) for j, word in enumerate(words)}

    def unpacked(self, columns: list[Any], width: int) -> NDArray[np.float64]:
        """The (n, width) values from key columns; NaN if missing."""
        features: list[NDArray[Any]] = []
        for start, column in zip(range(0, width, self.several), columns, strict=True):
            powers = [self.levels**i for i in range(min(self.several, width - start))]
            word = column.to_numpy().astype(np.int64) - self.low * sum(powers)
            codes = [word // power % self.levels for power in powers]
            features += [np.where(code == self.levels - 1, np.nan, (code + self.low) / self.unit) for code in codes]
        return np.column_stack(features)


@dataclass(frozen=True)
class Bytes:
    """A row of numbers as its own bytes, so that equal rows are equal blobs and nothing is ever merged.

    Attributes
    ----------
    dtype : numpy dtype
        Of the numbers: floats, or small whole ones; the largest that the type holds stands for missing, unless it has
        no signs, as ranks, which are never missing.
    """

    dtype: np.dtype[Any]

    @property
    def _missing(self) -> int:
        return int(np.iinfo(self.dtype).max)

    def packed(self, values: NDArray[Any]) -> Any:
        """One blob per row, as an Arrow array."""
        import pyarrow as pa

        if self.dtype.kind != "f" and values.dtype.kind == "f":
            values = np.where(np.isnan(values), self._missing, values)
        rows: NDArray[Any] = np.ascontiguousarray(values, self.dtype)
        if self.dtype.kind == "f":
            rows = rows + 0.0  # -0.0 is 0.0
            rows[np.isnan(rows)] = np.nan  # of which there are many
        blob = pa.binary(self.dtype.itemsize * rows.shape[1])
        return pa.FixedSizeBinaryArray.from_buffers(blob, len(rows), [None, pa.py_buffer(rows)])

    def unpacked(self, columns: list[Any], width: int) -> NDArray[np.float64]:
        """The (n, width) values from the blobs; NaN if missing."""
        joined = b"".join(columns[0].to_pylist())
        values = np.frombuffer(joined, self.dtype).reshape(-1, width).astype(np.float64)
        if self.dtype.kind == "i":
            values[values == self._missing] = np.nan
        return values
