"""Coverage from what a GPU has counted: the CPU makes counts of it while the GPU weighs it for the interval."""

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.counting.leaving_out.influence import Influence
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.tally import Coverage
from faithscope.explanations.distances.near import Near
from faithscope.relations import Relation

Floats = NDArray[np.float64]

_ASIDE = 100_000  # rows: counts of more are made in a thread, while a GPU works


def cover_on_gpu(
    gpu: ModuleType,
    near: Near,
    radii: Floats,
    relations: Sequence[Relation],
    rows: NumberedRows,
    interval: bool,
) -> list[Coverage]:
    """Coverage within one or several radii of every center, counted on a GPU."""
    pairs = gpu.DevicePairs(near, rows.codes, rows.labels, len(rows.names))
    counted = zip(relations, radii, pairs.count(radii), strict=True)
    with ThreadPoolExecutor(1) as pool:
        return [_fetch(pairs, cells, radius, relation, rows, interval, pool) for relation, radius, cells in counted]


def _fetch(
    pairs: Any, cells: Any, radius: Floats, relation: Relation, rows: NumberedRows, interval: bool, pool: Executor
) -> Coverage:
    """Coverage from cells on a GPU: while it weighs many for the interval, a thread makes counts of them."""
    interval = interval and rows.n > 1
    fetched = partial(_fetched_counts, cells.fetch(), relation, rows, interval)
    arriving = pool.submit(fetched) if rows.n > _ASIDE else None
    sums: Any = pairs.influence(radius, *cells.weighed()) if interval else None
    coverage, influence = fetched() if arriving is None else arriving.result()
    if influence is None:
        return coverage
    return replace(coverage, left_out=influence.left_out(sums, rows.codes, rows.labels, coverage.own))


def _fetched_counts(
    fetching: Any, relation: Relation, rows: NumberedRows, interval: bool
) -> tuple[Coverage, Influence | None]:
    """Coverage without its interval, and what that needs."""
    cells = fetching.result()
    table = (cells.explanation, cells.label, cells.given, cells.covered, cells.missed)
    counts = Counts(rows.kept, rows.names, *table, relation=relation)
    influence = Influence(counts) if interval else None
    _ = influence and influence.cell_of  # which is kept
    return Coverage(counts, rows.codes, cells.own, close=cells.close), influence
