"""Discretizers that no engine should work out: rows come in batches, NumPy coarsens them, DuckDB keeps the keys.

The discretizers are those of `faithscope.discretizers` themselves, so answers are the same by definition.
What is kept of a row are the bytes of its coarse explanation and the columns it is counted by, in a DuckDB of our own
that spills to disk: memory stays bounded, and every question is then asked as of any other log.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import (
    Chain,
    Delta,
    DeltaSign,
    Discretizer,
    Modified,
    Original,
    Rank,
)
from faithscope.errors import BadInput
from faithscope.explanations.importances import Importances, Rankings
from faithscope.tables.engine.answers import batches
from faithscope.tables.engine.failures import clear_errors
from faithscope.tables.engine.missing import refuse_infinite
from faithscope.tables.engine.protocol import Connection, Table
from faithscope.tables.engine.shown_columns import Column
from faithscope.tables.log.kinds import Kind, NumberColumns, PairColumns
from faithscope.tables.log.packing import Bytes
from faithscope.tables.sources.snapshot import refuse_change

KEY = "k0"  # the column of keys; the log's own columns are c0, c1, … beside it

_CELLS = 2**21  # importances in a batch
_MOST_ROWS = 2**17
_WIDE = 100  # features beyond which an engine takes longer to read the question than to answer it


def steps(discretizer: Any) -> tuple[Any, ...]:
    """The discretizers of a chain, in order."""
    if isinstance(discretizer, Chain):
        return (*steps(discretizer.first), *steps(discretizer.second))
    return () if isinstance(discretizer, Original) else (discretizer,)


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


@dataclass(eq=False)
class Stream:
    """A log's explanations, discretized in NumPy batch by batch.

    Attributes
    ----------
    expression : function
        From columns of the log under new names to an Ibis table of these and then the values: v0 …, or lists of them.
    kind : Numbers
        What the values are.
    features : tuple of str
        What they are called in an error.
    steps : tuple of Discretizer
    drop : bool
        Whether rows with missing values are left out.
    scratch : function
        Connects to the DuckDB that keeps the keys.
    rows : int or None
        How many rows were read, the same each time; None before the first time.
    """

    expression: Callable[[Mapping[str, Column]], Table]
    kind: NumberColumns
    features: tuple[str, ...]
    steps: tuple[Any, ...]
    drop: bool
    scratch: Callable[[], Connection]
    missing: "Counter[str]" = field(default_factory=Counter)
    rows: int | None = None
    _kept: tuple[Table, dict[Column, str]] | None = None

    def __post_init__(self) -> None:
        none = Importances.made(np.empty((0, self.kind.width)), None, self.kind.form)
        coarse = self._coarse(none)  # a step that does not follow from the one before says so at once
        self.packing, self.notes = Bytes(coarse.values.dtype), coarse.remarks
        form = " | ".join([*([self.kind.form] if self.kind.form else []), *map(repr, self.steps)])
        order = "features" if isinstance(coarse, Rankings) else self.kind.order
        self.coarse_kind = replace(self.kind, form=form, order=order)

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
        name, first = gen_name("faithscope_rows"), among is None and self._kept is None
        infinite: Counter[str] = Counter()
        rows = 0
        for number, batch in enumerate(batches(expression, self._rows_at_once)):
            rows += batch.num_rows
            values = self._values(batch, len(place))
            missing = _look(values, self.features, self.missing if first else Counter(), infinite)
            beside = [batch.column(i).cast(kind) for i, kind in enumerate(kinds)]
            table = dict(zip((KEY, *place.values()), (self._keys(values), *beside), strict=True))
            self._put(table, name, number, missing, among)
        refuse_infinite(infinite)
        self.rows = rows if self.rows is None else self.rows
        refuse_change(self.rows, rows)
        return self._connection.table(name), place

    @cached_property
    def _connection(self) -> Connection:
        return self.scratch()

    @property
    def _rows_at_once(self) -> int:
        return max(1, min(_MOST_ROWS, _CELLS // self.kind.width))

    def _values(self, batch: Any, start: int) -> NDArray[np.float64]:
        """The importances of a batch, with NaN for missing."""
        import pyarrow as pa

        try:
            if pa.types.is_nested(batch.column(start).type):
                return self._from_lists(batch.column(start))
            columns = [_floats(batch.column(start + j)) for j in range(self.kind.width)]
        except pa.ArrowInvalid as problem:
            if "not in range" not in str(problem):
                raise
            raise BadInput(
                f"The explanation holds integers beyond 2**53, which float64 cannot tell apart: scale them ({problem})."
            ) from None
        return np.ascontiguousarray(np.stack(columns).T)

    def _from_lists(self, lists: Any) -> NDArray[np.float64]:
        valid = lists.is_valid().to_numpy(zero_copy_only=False)
        values = np.full((len(lists), self.kind.width), np.nan)
        values[valid] = _floats(lists.flatten()).reshape(-1, self.kind.width)
        return values

    def _coarse(self, given: Importances) -> Importances:
        return reduce(_discretized, self.steps, given)

    def _keys(self, values: NDArray[np.float64]) -> Any:
        return self.packing.packed(self._coarse(Importances.made(values, None, "")).values)

    def _put(self, columns: dict[str, Any], name: str, number: int, missing: Any, among: Any) -> None:
        """Keep a batch, the first of which makes the table of this name."""
        import pyarrow as pa

        batch = pa.table(columns)
        if self.drop and missing is not None:
            batch = batch.filter(pa.array(~missing))
        scratch = self._connection.con
        with clear_errors("Keeping the explanations in DuckDB"):
            scratch.register("batch", batch)
            if among is not None:
                scratch.register("among", among)
            begin = f"INSERT INTO {name}" if number else f"CREATE TABLE {name} AS"
            scratch.execute(f"{begin} SELECT * FROM batch" + f" SEMI JOIN among USING ({KEY})" * (among is not None))
            scratch.unregister("batch")


def _floats(column: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    numbers: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _look(
    values: NDArray[np.float64], features: Sequence[str], missing: "Counter[str]", infinite: "Counter[str]"
) -> NDArray[np.bool_] | None:
    """Count missing and infinite values by feature; the mask of rows with a missing value, None if no row has one."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return None
    holes = np.isnan(values)
    for counter, mask in ((missing, holes), (infinite, np.isinf(values))):
        per_feature = mask.sum(axis=0)
        counter.update({features[j]: int(per_feature[j]) for j in np.flatnonzero(per_feature).tolist()})
    return np.asarray(holes.any(axis=1))


def _discretized(given: Importances, step: Any) -> Importances:
    """Importances discretized, of which some are NaN for missing: smaller than any number, and without a sign."""
    coarse: Importances = step(given)
    if isinstance(step, Rank) or given.values.dtype.kind != "f":
        return coarse
    missing = np.isnan(given.values)
    if not missing.any():
        return coarse
    room = step._room(given.values)
    if room is not None:
        missing &= np.cumsum(missing, axis=1) <= room[:, None]
    return Importances.made(np.where(missing, np.nan, coarse.values), coarse.names, coarse.form)
