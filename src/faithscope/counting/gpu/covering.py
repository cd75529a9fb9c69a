"""Coverage from what a GPU has counted: the CPU makes counts of it while the GPU weighs it for the interval."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import ModuleType

from faithscope.counting.counted import Coverage
from faithscope.counting.counts import Counts
from faithscope.counting.gpu.devices import on_gpu
from faithscope.counting.rows import Rows
from faithscope.counting.terms import share_left_out
from faithscope.explanations.distances.near import Near
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.relations import Blocks, Parts, Relation

_ASIDE = 100_000  # rows: counts of more are made in a thread, while a GPU works


def cover_on_gpu(
    device: str,
    covers: Parts | Blocks,
    relations: Sequence[Relation],
    rows: Rows,
    interval: bool,
    radii: Floats | None = None,
) -> list[Coverage] | None:
    """Coverage within one or several radii of every center, counted on a GPU; None if the CPU is to do it instead."""

    def count(gpu: ModuleType, near: Near) -> list[Coverage]:
        around = near.radii[None] if radii is None else radii
        pairs = gpu.DevicePairs(near, rows.codes, rows.labels, len(rows.names))
        found = []
        with ThreadPoolExecutor(1) as pool:
            for relation, radius, cells in zip(relations, around, pairs.count(around), strict=True):
                fetched = partial(_fetched, cells.fetch(), cells.close, relation, rows)
                arriving = pool.submit(fetched) if rows.n > _ASIDE else None
                lost = pairs.influence(radius, *cells.weighed()) if interval and rows.n > 1 else None
                coverage = fetched() if arriving is None else arriving.result()
                if lost is not None:
                    left_out = share_left_out(coverage.counts, lost, rows.cell, coverage.own)
                    coverage = replace(coverage, left_out=left_out)
                found.append(coverage)
        return found

    return on_gpu(device, covers.near, len(rows.distinct) * rows.n, count)


def _fetched(arrived: Callable[[], tuple[Ints, Bools]], close: int, relation: Relation, rows: Rows) -> Coverage:
    """Coverage without its interval: while a GPU weighs many cells for that, a thread makes counts of them."""
    (explanation, label, given, covered, missed), own = arrived()
    _ = rows.cell  # which is kept
    counts = Counts(rows.kept, rows.names, explanation, label, given, covered, missed, relation=relation)
    return Coverage(counts, rows.codes, own, close=close)
