"""Coverage from what a GPU has counted: the CPU makes counts of it while the GPU weighs it for the interval."""

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

from faithscope.counting.counted import Coverage
from faithscope.counting.counts import Counts
from faithscope.counting.rows import Rows
from faithscope.counting.terms import share_left_out
from faithscope.explanations.distances.near import Near
from faithscope.inputs.array_types import Floats
from faithscope.relations import Relation

_ASIDE = 100_000  # rows: counts of more are made in a thread, while a GPU works


def cover_on_gpu(
    gpu: ModuleType,
    near: Near,
    radii: Floats,
    relations: Sequence[Relation],
    rows: Rows,
    interval: bool,
) -> list[Coverage]:
    """Coverage within one or several radii of every center, counted on a GPU."""
    pairs = gpu.DevicePairs(near, rows.codes, rows.labels, len(rows.names))
    counted = zip(relations, radii, pairs.count(radii), strict=True)
    with ThreadPoolExecutor(1) as pool:
        return [_fetch(pairs, cells, radius, relation, rows, interval, pool) for relation, radius, cells in counted]


def _fetch(
    pairs: Any, cells: Any, radius: Floats, relation: Relation, rows: Rows, interval: bool, pool: Executor
) -> Coverage:
    """Coverage from cells on a GPU: while it weighs many for the interval, a thread makes counts of them."""
    interval = interval and rows.n > 1
    fetched = partial(_fetched_counts, cells.fetch(), relation, rows)
    arriving = pool.submit(fetched) if rows.n > _ASIDE else None
    lost: Any = pairs.influence(radius, *cells.weighed()) if interval else None
    coverage = fetched() if arriving is None else arriving.result()
    if not interval:
        return coverage
    return replace(coverage, left_out=share_left_out(coverage.counts, lost, rows.cell, coverage.own))


def _fetched_counts(fetching: Any, relation: Relation, rows: Rows) -> Coverage:
    """Coverage without its interval."""
    cells = fetching.result()
    table = (cells.explanation, cells.label, cells.given, cells.covered, cells.missed)
    _ = rows.cell  # which is kept
    return Coverage(Counts(rows.kept, rows.names, *table, relation=relation), rows.codes, cells.own, close=cells.close)
