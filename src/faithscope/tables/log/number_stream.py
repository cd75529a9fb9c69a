"""Importances discretized in NumPy, batch by batch."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import Rank
from faithscope.errors import BadInput
from faithscope.explanations.importances import Importances, Rankings
from faithscope.tables.engine.missing import refuse_infinite
from faithscope.tables.log.kinds import NumberColumns
from faithscope.tables.log.packing import Bytes
from faithscope.tables.log.streaming import KEY, Stream

_CELLS = 2**21  # importances in a batch
_MOST_ROWS = 2**17


@dataclass(eq=False, kw_only=True)
class NumberStream(Stream):
    """Importances: the values v0 …, or lists of them, discretized in NumPy.

    Attributes
    ----------
    kind : NumberColumns
        What the values are.
    features : tuple of str
        What they are called in an error.
    steps : tuple of Discretizer
    drop : bool
        Whether rows with missing values are left out.
    missing : Counter
        How often each feature is missing.
    """

    kind: NumberColumns
    features: tuple[str, ...]
    steps: tuple[Any, ...]
    drop: bool
    missing: "Counter[str]" = field(default_factory=Counter)
    _infinite: "Counter[str]" = field(default_factory=Counter)

    def __post_init__(self) -> None:
        # A step that does not follow from the one before says so at once.
        coarse = self._coarse(np.empty((0, self.kind.width)), self.kind.form)
        self._bytes = Bytes(coarse.values.dtype)
        self.packing, self.notes = self._bytes, coarse.remarks
        form = " | ".join([*([self.kind.form] if self.kind.form else []), *map(repr, self.steps)])
        order = "features" if isinstance(coarse, Rankings) else self.kind.order
        names = coarse.names or tuple(f"x{j}" for j in range(coarse.values.shape[1]))
        named = self.kind.named or coarse.names is not None
        self.coarse_kind = replace(
            self.kind, names=tuple(names), named=named, form=form, order=order, shape=coarse.shape
        )
        self.rows_at_once = max(1, min(_MOST_ROWS, _CELLS // self.kind.width))

    def _begin(self) -> None:
        self._infinite = Counter()

    def _end(self) -> None:
        refuse_infinite(self._infinite)

    def _keyed(self, batch: Any, start: int) -> tuple[dict[str, Any], NDArray[np.bool_] | None]:
        values = self._values(batch, start)
        missing = _look(values, self.features, self.missing if self.first else Counter(), self._infinite)
        kept = None if missing is None or not self.drop else ~missing
        return {KEY: self._bytes.packed(self._coarse(values, "", kept is not None).values)}, kept

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

    def _coarse(self, values: NDArray[np.float64], form: str, dropped: bool = False) -> Importances:
        """The importances discretized; rows with missing ones may be `dropped` after."""
        names = self.kind.names if self.kind.named and not self.kind.order else None
        return reduce(partial(_discretized, dropped=dropped), self.steps, Importances.made(values, names, form))


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


def _discretized(given: Importances, step: Any, dropped: bool) -> Importances:
    """Importances discretized, of which some are NaN for missing: smaller than any number, and without a sign."""
    coarse: Importances = step(given)
    if isinstance(step, Rank) or given.values.dtype.kind != "f":
        return coarse
    missing = np.isnan(given.values)
    if not missing.any():
        return coarse
    if coarse.values.shape != given.values.shape:
        if dropped:
            return coarse
        raise BadInput(f'{step!r} adds up importances, and some are missing: say nulls="drop" to leave such rows out.')
    room = step._room(given.values)
    if room is not None:
        missing &= np.cumsum(missing, axis=1) <= room[:, None]
    return Importances.made(np.where(missing, np.nan, coarse.values), coarse.names, coarse.form)
