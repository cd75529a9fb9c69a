"""Explanations that are read and discretized here, by `faithscope.discretizers` themselves: keys take their place.

The log is read once, into a DuckDB of our own that spills to disk: its other columns as they are, and for each row the
key of its coarse explanation. Every question is then asked as of any other log. Importances come in batches, so that
memory stays bounded; the texts of reasons, and counterfactuals with their rows, come all at once.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.discretizers import Floor, Sign
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Bools, Floats
from faithscope.measures.named_labels import label_word_notes
from faithscope.runtime.memory import need
from faithscope.tables.audited import AuditedLog, Keyed
from faithscope.tables.columns import KEY, NumberColumns, Numbered, ReasonColumn, keys_of, sample_of
from faithscope.tables.connections import beside, kept
from faithscope.tables.engines import NO_ROW, Table, batches
from faithscope.tables.source import LogSource

_CELLS = 2**21  # importances in a batch
_MOST_ROWS = 2**17
_COPIES = 4  # of rows that are fetched all at once, in memory


def in_batches(log: AuditedLog) -> tuple[AuditedLog, Counter[str], Counter[str]]:
    """The log with keys of its importances as they are discretized; how often each feature is missing, and infinite."""
    kind, missing, infinite = log.kind, Counter[str](), Counter[str]()
    assert isinstance(kind, NumberColumns)
    features = log.columns
    if len(features) < kind.width:  # of a column of lists
        features = tuple(f"{log.columns[0]}[{name!r}]" for name in kind.like.names or range(kind.width))
    chosen = log.options.discretizer
    # Of each number alone, so that those that are missing may stay so.
    alone = log.options.nulls == "key" and isinstance(chosen, Sign | Floor)

    def coarse(values: Floats) -> Any:
        given = kind.like._with(values=values)
        for step in steps(chosen):
            if log.options.nulls == "key" and given.values.dtype.kind == "f" and np.isnan(given.values).any():
                raise BadInput(
                    f'Importances are missing, for which {step!r} has no place: say nulls="drop" (--nulls drop) to '
                    "leave such rows out."
                )
            with np.errstate(invalid="ignore"):
                given = step(given)
        return given

    empty = coarse(kind.like.values)  # a step that does not follow from the one before says so at once
    if chosen.learns or not isinstance(empty, Importances):
        raise WrongType(
            f"{chosen!r} does not make importances of each row alone: read the log, log.read(), and measure its rows "
            "in memory."
        )
    packed = NumberColumns(empty._with(remarks=()), np.dtype(np.float64) if alone else empty.values.dtype)
    rows, put = _with_others(log)

    def keyed() -> Iterator[Any]:
        for batch in batches(rows, max(1, min(_MOST_ROWS, _CELLS // kind.width))):
            values = kind.matrix([batch.column(key) for key in keys_of(rows.columns)])
            holes = _look(values, features, missing, infinite)
            if alone and holes is not None:
                numbers = np.where(np.isnan(values), np.nan, coarse(np.nan_to_num(values)).values)
            else:
                numbers = coarse(values).values
            told = put(batch, packed.packed(numbers))
            yield told if holes is None or log.options.nulls != "drop" else told.filter(~holes)

    source = _kept(log, keyed(), empty.remarks)
    return replace(log, source=source, keyed=Keyed(packed, log)), missing, infinite


def at_once(log: AuditedLog) -> AuditedLog:
    """The log with numbers in place of its explanations, once all of them are read and discretized."""
    import pyarrow as pa

    rows, put = _with_others(log)
    held, what = list(batches(rows, _MOST_ROWS)), log.kind.what
    if not held:
        raise BadInput(NO_ROW)
    size = _COPIES * sum(batch.nbytes for batch in held)
    need(size, f"{sum(map(len, held)):,} rows with {what}", "audit a part of the log")
    table = pa.Table.from_batches(held).combine_chunks()
    known = np.ones(table.num_rows, bool)
    if isinstance(log.kind, ReasonColumn):  # with nulls="key"
        known = table.column("k0").is_valid().to_numpy()
    there, chosen = table.filter(pa.array(known)), log.options.discretizer
    sample = sample_of(there, log.read(there), log.options.agreement)
    sample = replace(sample, labels=log.options.agreement.read(sample.labels))
    measured, settled = sample.settled(chosen)
    coarse = measured.discretized(settled)
    notes = (*coarse.all_notes, *label_word_notes(sample, coarse, chosen))
    codes, first = coarse.explanations.group()
    numbers, places = np.full(len(known), -1), np.flatnonzero(known)[measured.places]
    numbers[places] = codes
    left = (numbers >= 0) | ~known  # without the rows that served to learn
    copy = put(table, pa.array(numbers, mask=numbers < 0)).filter(pa.array(left))
    stands = Keyed(Numbered(coarse.explanations.take(first), what), log, sample, settled, sample.n - measured.n)
    if isinstance(log.kind, ReasonColumn):
        return replace(log, source=_kept(log, [copy]), keyed=replace(stands, notes=notes))
    return replace(log, source=_kept(log, [copy], notes), keyed=stands)


def _with_others(log: AuditedLog) -> tuple[Table, Callable[[Any, Any], Any]]:
    """All that explanations are made of, with the log's other columns; and what puts keys beside these."""
    import pyarrow as pa

    others = [name for name in log.source.table.columns if name not in log.explained]
    short = {f"c{i}": name for i, name in enumerate(others)}

    def put(rows: Any, keys: Any) -> Any:
        return pa.table([keys, *(rows.column(name) for name in short)], [KEY, *others])

    return log.rows(shown=short, whole=True), put


def _kept(log: AuditedLog, tables: Any, notes: Sequence[str] = ()) -> LogSource:
    copy = kept(tables, beside(log.source.table.get_backend()))
    return replace(log.source, table=copy, files={}, notes=(*log.source.notes, *notes))


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
