"""Discretizers that no engine should work out: rows come in batches, are coarsened here, and DuckDB keeps the keys.

The discretizers are those of `faithscope.discretizers` themselves, so answers are the same by definition.
What is kept of a row are the bytes of its coarse explanation and the columns it is counted by, in a DuckDB of our own
that spills to disk: memory stays bounded, and every question is then asked as of any other log.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import (
    Delta,
    DeltaSign,
    Discretizer,
    Modified,
    Original,
)
from faithscope.discretizers.base import steps
from faithscope.tables.engine.answers import batches
from faithscope.tables.engine.failures import clear_errors
from faithscope.tables.engine.protocol import Connection, Table
from faithscope.tables.engine.shown_columns import Column
from faithscope.tables.log.kinds import Kind, NumberColumns, PairColumns
from faithscope.tables.log.packing import Bytes
from faithscope.tables.sources.snapshot import refuse_change

KEY = "k0"  # the column of keys; the log's own columns are c0, c1, … beside it

_WIDE = 100  # features beyond which an engine takes longer to read the question than to answer it


def split(discretizer: Discretizer, kind: Kind) -> tuple[Discretizer, tuple[Any, ...]] | None:
    """The part of a discretizer that an engine works out, and what is left to NumPy; None if nothing is left.

    Floor, Truncate and Sign are one expression per feature; the others order the features of a row.
    """
    chain = steps(discretizer)
    changes = 1 if isinstance(kind, PairColumns) and chain and isinstance(chain[0], Delta | DeltaSign | Modified) else 0
    left = chain[changes:]
    numbers = isinstance(kind, NumberColumns) or (changes == 1 and (chain[0] != Delta() or all(kind.numeric)))  # type: ignore[union-attr]
    ordered = any(step.orders_features for step in left)
    if not numbers or not (ordered or kind.width > _WIDE):
        return None
    return (chain[0] if changes else Original()), left


@dataclass(eq=False, kw_only=True)
class Stream(ABC):
    """A log's explanations, discretized here batch by batch.

    Attributes
    ----------
    expression : function
        From columns of the log under new names to an Ibis table of these and then what explanations are made of.
    scratch : function
        Connects to the DuckDB that keeps the keys.
    coarse_kind, packing : Kind and Bytes or None
        What the kept keys are, and how they hold the values; None if they are the values.
    rows : int or None
        How many rows were read, the same each time; None before the first time.
    """

    expression: Callable[[Mapping[str, Column]], Table]
    scratch: Callable[[], Connection]
    coarse_kind: Kind = field(init=False)
    packing: Bytes | None = field(default=None, init=False)
    rows: int | None = field(default=None, init=False)
    _kept: tuple[Table, dict[Column, str]] | None = field(default=None, init=False)

    rows_at_once: int = field(init=False)

    @abstractmethod
    def _keyed(self, batch: Any, start: int) -> tuple[dict[str, Any], NDArray[np.bool_] | None]:
        """The columns that are kept of a batch, `KEY` first, and which rows are kept; None if all are.

        What explanations are made of begins at column `start`.
        """

    @abstractmethod
    def _begin(self) -> None:
        """Called before the rows are read, each time."""

    @abstractmethod
    def _end(self) -> None:
        """Called after the rows were read, each time."""

    @property
    def first(self) -> bool:
        """Whether the rows are read for the first time."""
        return self.rows is None

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
        from ibis.util import gen_name

        place = {name: f"c{i}" for i, name in enumerate(dict.fromkeys(columns))}
        expression = self.expression({short: name for name, short in place.items()})
        schema = expression.schema()
        kinds = [schema[short].to_pyarrow() for short in place.values()]
        name, rows = gen_name("faithscope_rows"), 0
        self._begin()
        for number, batch in enumerate(batches(expression, self.rows_at_once)):
            rows += batch.num_rows
            keys, kept = self._keyed(batch, len(place))
            beside = [batch.column(i).cast(kind) for i, kind in enumerate(kinds)]
            self._put({**keys, **dict(zip(place.values(), beside, strict=True))}, name, number, kept, among)
        self._end()
        self.rows = rows if self.rows is None else self.rows
        refuse_change(self.rows, rows)
        return self._connection.table(name), place

    @cached_property
    def _connection(self) -> Connection:
        return self.scratch()

    def _put(
        self, columns: dict[str, Any], name: str, number: int, kept: NDArray[np.bool_] | None = None, among: Any = None
    ) -> None:
        """Keep a batch, the first of which makes the table of this name."""
        import pyarrow as pa

        batch = pa.table(columns)
        if kept is not None:
            batch = batch.filter(pa.array(kept))
        scratch = self._connection.con
        with clear_errors("Keeping the explanations in DuckDB"):
            scratch.register("batch", batch)
            if among is not None:
                scratch.register("among", among)
            begin = f"INSERT INTO {name}" if number else f"CREATE TABLE {name} AS"
            scratch.execute(f"{begin} SELECT * FROM batch" + f" SEMI JOIN among USING ({KEY})" * (among is not None))
            scratch.unregister("batch")
