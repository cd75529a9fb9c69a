"""Explanations that are read and discretized here, by `faithscope.discretizers` themselves: keys take their place.

The log is read once, into a DuckDB of our own that spills to disk: its other columns as they are, and for each row the
key of its coarse explanation. Every question is then asked as of any other log. Importances come in batches, so that
memory stays bounded; the texts of reasons, and counterfactuals with their rows, come all at once.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from faithscope.discretizers import Floor, Sign
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.array_types import Bools, Floats
from faithscope.inputs.labels import to_weights
from faithscope.measures.named_labels import label_word_notes
from faithscope.runtime.memory import need
from faithscope.sample import Sample
from faithscope.tables.engine.answers import batches, coded, predictions_of, refuse_infinite
from faithscope.tables.engine.engines import Table
from faithscope.tables.log.rows import KEY, AuditedLog, Keyed, NumberColumns, Numbered, PackedNumbers, ReasonColumn
from faithscope.tables.sources.connections import kept
from faithscope.tables.sources.source import LogSource

_CELLS = 2**21  # importances in a batch
_MOST_ROWS = 2**17
_COPIES = 4  # of rows that are fetched all at once, in memory


def in_batches(log: AuditedLog) -> tuple[AuditedLog, Mapping[str, int]]:
    """The log with keys of its importances as they are discretized, and how often each feature is missing."""
    kind, missing, infinite = log.kind, Counter[str](), Counter[str]()
    assert isinstance(kind, NumberColumns)
    features = log.columns
    if len(features) < len(kind.names):  # of a column of lists
        told = kind.names if kind.named else range(len(kind.names))
        features = tuple(f"{log.columns[0]}[{name!r}]" for name in told)
    chosen = steps(log.options.discretizer)
    step = partial(_discretized, kept=log.options.nulls == "key")
    # Of each number alone, so that those that are missing may stay so.
    alone = log.options.nulls == "key" and isinstance(log.options.discretizer, Sign | Floor)

    def coarse(values: Floats, form: str = "") -> Any:
        names = kind.names if kind.named and not kind.order else None
        return reduce(step, chosen, Importances.made(values, names, form, left=kind.left))

    # A step that does not follow from the one before says so at once.
    empty = coarse(np.empty((0, len(kind.names))), kind.form)
    if log.options.discretizer.learns or not isinstance(empty, Importances):
        raise WrongType(
            f"{log.options.discretizer!r} does not make importances of each row alone: read the log, log.read(), and "
            "measure its rows in memory."
        )
    packed = PackedNumbers(
        replace(
            kind,
            names=tuple(empty.names or (f"x{j}" for j in range(empty.values.shape[1]))),
            named=kind.named or empty.names is not None,
            form=" | ".join([*([kind.form] if kind.form else []), *map(repr, chosen)]),
            left=empty.left,
            order="features" if isinstance(empty, Rankings) else kind.order,
            shape=empty.shape,
        ),
        np.dtype(np.float64) if alone else empty.values.dtype,
    )
    table, beside = _with_others(log)

    def keyed() -> Iterator[Any]:
        for batch in batches(table, max(1, min(_MOST_ROWS, _CELLS // len(kind.names)))):
            values = _values(batch, len(kind.names))
            holes = _look(values, features, missing, infinite)
            if alone and holes is not None:
                numbers = np.where(np.isnan(values), np.nan, coarse(np.nan_to_num(values)).values)
            else:
                numbers = coarse(values).values
            rows = beside(batch, packed.packed(numbers))
            yield rows if holes is None or log.options.nulls != "drop" else rows.filter(~holes)

    source = _kept(log, keyed())
    refuse_infinite(infinite)
    return replace(log, source=source, keyed=Keyed(packed, log), notes=(*log.notes, *empty.remarks)), missing


def at_once(log: AuditedLog) -> AuditedLog:
    """The log with numbers in place of its explanations, once all of them are read and discretized."""
    import pyarrow as pa

    expression, beside = _with_others(log)
    held, what = list(batches(expression, _MOST_ROWS)), log.kind.what
    if not held:
        raise BadInput("No row is left after those with missing values were dropped: nothing can be measured.")
    size = _COPIES * sum(batch.nbytes for batch in held)
    need(size, f"{sum(map(len, held)):,} rows with {what}", "audit a part of the log")
    table = pa.Table.from_batches(held).combine_chunks()
    rows, known = beside(table, pa.nulls(table.num_rows)), np.ones(table.num_rows, bool)
    parts = [table.column(name) for name in table.column_names if name[0] == "k"]
    if isinstance(log.kind, ReasonColumn):  # with nulls="key"
        known = parts[0].is_valid().to_numpy()
    mask = pa.array(known)
    explanations = log.kind.read([column.filter(mask).combine_chunks() for column in parts])
    there, clusters, weights = rows.filter(mask), None, None
    if log.clusters:
        clusters = coded(there, log.clusters)[1]
    if log.weights:
        weights = to_weights(there.column(log.weights[0]).cast("float64").to_pylist(), there.num_rows)
    agreement, chosen = log.options.agreement, log.options.discretizer
    labels = agreement.read(predictions_of(there, log.predictions))
    sample = Sample(explanations, labels, clusters=clusters, weights=weights, agreement=agreement)
    measured, settled = sample.settled(chosen)
    coarse = measured.discretized(settled)
    notes = (*coarse.all_notes, *label_word_notes(sample, coarse, chosen))
    codes, first = coarse.explanations.group()
    numbers, places = np.full(len(known), -1), np.flatnonzero(known)[measured.places]
    numbers[places] = codes
    left = (numbers >= 0) | ~known  # without the rows that served to learn
    keys = pa.array(numbers, mask=numbers < 0)
    rows = rows.set_column(0, KEY, keys).filter(pa.array(left))
    keyed = Keyed(Numbered(coarse.explanations.take(first), what), log, sample, settled, sample.n - measured.n, notes)
    told = () if isinstance(log.kind, ReasonColumn) else notes
    return replace(log, source=_kept(log, [rows]), keyed=keyed, notes=(*log.notes, *told))


def _with_others(log: AuditedLog) -> tuple[Table, Callable[[Any, Any], Any]]:
    """All that explanations are made of, k0 …, and the log's other columns; and what puts keys beside these."""
    import pyarrow as pa

    others = [name for name in log.source.columns if name not in log.explained]
    short = {f"c{i}": name for i, name in enumerate(others)}
    table = log.rows(shown=short, whole=True).table

    def beside(rows: Any, keys: Any) -> Any:
        return pa.table([keys, *(rows.column(name) for name in short)], [KEY, *others])

    return table, beside


def _kept(log: AuditedLog, tables: Any) -> LogSource:
    copy = kept(tables, log.source.scratch())
    return replace(log.source, table=copy, files={})


def _values(batch: Any, width: int) -> Floats:
    """The importances of a batch, with NaN for missing."""
    import pyarrow as pa

    lists = batch.column("k0")
    if not pa.types.is_nested(lists.type):
        columns = [batch.column(f"k{j}").to_numpy(zero_copy_only=False) for j in range(width)]
        return np.ascontiguousarray(np.stack(columns).T)
    values = np.full((len(lists), width), np.nan)
    try:
        numbers = lists.flatten().cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as problem:
        raise BadInput(
            f"The explanation holds integers beyond 2**53, which float64 cannot tell apart: scale them ({problem})."
        ) from None
    values[lists.is_valid().to_numpy(zero_copy_only=False)] = numbers.reshape(-1, width)
    return values


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


def _discretized(given: Any, step: Any, kept: bool) -> Any:
    """Importances discretized; if rows with missing ones are `kept`, they have no rank and no sign."""
    if kept and given.values.dtype.kind == "f" and np.isnan(given.values).any():
        raise BadInput(
            f'Importances are missing, for which {step!r} has no place: say nulls="drop" (--nulls drop) to leave such '
            "rows out."
        )
    with np.errstate(invalid="ignore"):
        return step(given)
