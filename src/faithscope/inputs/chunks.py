"""Chunks: work over many rows, some at a time, in threads."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from faithscope.inputs.array_types import Array

S = TypeVar("S")
T = TypeVar("T")

CHUNK = 2**16  # values at a time, so that a chunk and what is made of it stay in cache
_MOST = 2**15  # rows of a chunk
_WORTH = 2**20  # values from which on threads pay for their start
_MANY = 2**16  # rows from which on threads gather them
WORKERS = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def over_chunks(work: Callable[[int, int], T], rows: int, width: int) -> list[T]:
    """What ``work(start, stop)`` gives over all rows, in order; in threads if they are many (NumPy frees the lock)."""
    step = max(16, min(_MOST, CHUNK // max(1, width)))
    starts = range(0, rows, step)
    if WORKERS > 1 and rows * width >= _WORTH and rows >= 4 * step:
        return list(in_threads(lambda start: work(start, min(start + step, rows)), starts))
    return list(map(work, starts, [*starts[1:], rows]))


def in_threads(work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """The results of `work` in order; several threads work, a few items ahead of whoever reads the results."""
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * WORKERS:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)


def rows_at(array: Any, rows: Array | slice) -> Any:
    """``array[rows]``, in threads if many rows are named by their positions.

    Examples
    --------
    >>> rows_at(np.array([[1, 2], [3, 4]]), np.array([1, -1])).tolist()
    [[3, 4], [3, 4]]
    """
    if isinstance(rows, slice) or rows.dtype.kind not in "iu":
        return array[rows]
    if array.dtype == object or not array.flags.c_contiguous:  # take would copy all of it
        return array[rows]
    if len(rows) < _MANY:
        return np.take(array, rows, axis=0)
    taken = np.empty((len(rows), *array.shape[1:]), array.dtype)

    def fill(start: int, stop: int) -> None:
        taken[start:stop] = np.take(array, rows[start:stop], axis=0)

    over_chunks(fill, len(rows), taken[:1].nbytes // 8)
    return taken
