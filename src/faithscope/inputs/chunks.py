"""Chunks: work over many rows, some at a time, in threads."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
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
    workers = min(WORKERS, rows // (2 * step)) if rows * width >= _WORTH else 1
    if workers < 2:
        return [work(start, min(start + step, rows)) for start in range(0, rows, step)]
    starts = iter(range(0, rows, step))  # shared, so that no thread waits for one whose core is busy
    taking = Lock()  # without Python's global lock, two threads that ask an iterator may get the same
    done: dict[int, T] = {}

    def run() -> None:
        try:
            while True:
                with taking:
                    start = next(starts, rows)
                if start >= rows:
                    return
                done[start] = work(start, min(start + step, rows))
        except BaseException:
            with taking:  # the other threads find nothing more to do
                deque(starts, maxlen=0)
            raise

    with ThreadPoolExecutor(workers - 1) as pool:  # the caller's own thread is one more
        others = [pool.submit(run) for _ in range(workers - 1)]
        run()
    for other in others:
        other.result()
    return [done[start] for start in range(0, rows, step)]


def in_threads(work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """The results of `work` in order; several threads work, a few items ahead of whoever reads the results."""
    if WORKERS == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def rows_at(array: Any, rows: Array | slice) -> Any:
    """``array[rows]``, in threads if many rows are named by their positions.

    Examples
    --------
    >>> rows_at(np.array([[1, 2], [3, 4]]), np.array([1, -1])).tolist()
    [[3, 4], [3, 4]]
    """
    if isinstance(rows, slice) or rows.dtype.kind not in "iu" or not isinstance(array, np.ndarray):
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


def sort_in_place(numbers: Array) -> None:
    """``numbers.sort()``: parts in threads, which are then merged.

    Examples
    --------
    >>> numbers = np.array([3, 1, 2])
    >>> sort_in_place(numbers)
    >>> numbers.tolist()
    [1, 2, 3]
    """
    if WORKERS < 2 or len(numbers) < 2 * _MANY:
        numbers.sort()
        return
    ends = np.linspace(0, len(numbers), WORKERS + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda start, stop: numbers[start:stop].sort(), ends[:-1], ends[1:]))
    numbers.sort(kind="stable")  # which merges runs that ascend
