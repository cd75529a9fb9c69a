"""Exact grouping of equal rows: hash, sort, then compare, so that a hash can never merge two explanations."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Column = NDArray[Any]  # (n, w) numeric, or (n,) of Python objects

_CHUNK = 2**17  # values at a time, so that every pass over a chunk stays in cache
WORKERS = min(8, os.cpu_count() or 1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def group(columns: Sequence[Column]) -> tuple[Ints, Ints]:
    """Number the rows so that two rows have the same number exactly when they are equal.

    Parameters
    ----------
    columns : sequence of arrays
        Each ``(n, w)`` of numbers without NaN, or ``(n,)`` of hashable objects.

    Returns
    -------
    codes : (n,) array
        The group of each row, numbered from 0 in order of appearance.
    first : (k,) array
        The earliest row of each group, ascending.
    """
    if len(columns) == 1 and columns[0].dtype == object:
        return _group_objects(columns[0])
    blocks = [_group_objects(column)[0][:, None] if column.dtype == object else column for column in columns]
    return _group_numbers(blocks)


def _group_objects(column: Column) -> tuple[Ints, Ints]:
    numbers: dict[object, int] = {}
    codes = np.fromiter((numbers.setdefault(item, len(numbers)) for item in column), np.int64, len(column))
    return codes, _earliest(codes, len(numbers))


def _earliest(codes: Ints, groups: int) -> Ints:
    first = np.empty(groups, np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def _group_numbers(blocks: list[Column]) -> tuple[Ints, Ints]:
    if len(blocks[0]) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    leader = _leaders(hash_rows(blocks))
    different = _differ_from(blocks, leader)
    if len(different):
        _split_collisions(blocks, leader, different)
    return _number(leader)


def hash_rows(blocks: Sequence[Column]) -> Words:
    """A 64-bit number for each row; equal rows have equal numbers in every process."""
    width = sum(_words(block[:1]).shape[1] for block in blocks)
    factors = np.random.Generator(np.random.PCG64(0)).integers(0, 2**63, width).astype(np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    hashes = np.zeros(len(blocks[0]), np.uint64)

    def fill(start: int, stop: int) -> None:
        used = 0
        for block in blocks:
            words = _words(block[start:stop]) * _GOLDEN
            words ^= words >> _HALF
            hashes[start:stop] += words @ factors[used : used + words.shape[1]]
            used += words.shape[1]

    over_chunks(fill, len(hashes), width)
    hashes ^= hashes >> _HALF
    hashes *= _GOLDEN
    return hashes


def _words(chunk: Column) -> NDArray[np.uint64]:
    """Each row as 64-bit words: one per float, integers packed closely. Adding 0.0 makes -0.0 equal 0.0."""
    if chunk.dtype.kind == "f":
        return (chunk.astype(np.float64, copy=False) + 0.0).view(np.uint64)
    size, width = chunk.dtype.itemsize, chunk.shape[1]
    if size == 8:
        return chunk.astype(np.uint64)
    padded = np.zeros((len(chunk), -(-width * size // 8) * 8 // size), chunk.dtype)
    padded[:, :width] = chunk
    return padded.view(np.uint64)


def _leaders(hashes: Words) -> Ints:
    """For each row the earliest row with the same leading bits of its hash; overwrites the hashes.

    Each word carries the number of its row in its last bits, so that a plain sort replaces a slower argsort.
    """
    rows = len(hashes)
    bits = np.uint64(max(1, (rows - 1).bit_length()))
    mask = (np.uint64(1) << bits) - np.uint64(1)
    hashes &= ~mask
    hashes |= np.arange(rows, dtype=np.uint64)
    hashes.sort()
    order = (hashes & mask).view(np.int64)
    hashes >>= bits
    new = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    leader = np.empty(rows, np.int64)
    leader[order] = np.repeat(order[new], np.diff(new, append=rows))  # within a group the rows ascend
    return leader


def _number(leader: Ints) -> tuple[Ints, Ints]:
    """Number the groups in order of appearance: the number of each row, and the leader of each group."""
    leads = np.zeros(len(leader), bool)
    leads[leader] = True
    return (np.cumsum(leads) - 1)[leader], np.flatnonzero(leads)


def _differ_from(blocks: list[Column], leader: Ints) -> Ints:
    """Rows that are not equal to the leader of their group."""
    different: list[Ints] = []

    def compare(start: int, stop: int) -> None:
        for block in blocks:
            wrong = block[start:stop] != block[leader[start:stop]]
            if wrong.any():
                different.append(start + np.flatnonzero(wrong.any(axis=1)))

    over_chunks(compare, len(leader), sum(block.shape[1] for block in blocks))
    return np.concatenate(different) if different else np.empty(0, np.int64)


def _split_collisions(blocks: list[Column], leader: Ints, different: Ints) -> None:
    """Regroup, by exact comparison, the groups in which a hash has merged different rows; the others stay."""
    merged = np.zeros(len(leader), bool)
    merged[leader[different]] = True
    members = np.flatnonzero(merged[leader])
    exact = np.concatenate([_words(block[members]) for block in blocks], axis=1)
    _, earliest, inner = np.unique(exact, axis=0, return_index=True, return_inverse=True)
    leader[members] = members[earliest][inner.reshape(-1)]


def over_chunks(work: Callable[[int, int], None], rows: int, width: int) -> None:
    """Call ``work(start, stop)`` over all rows, in threads if they are many (NumPy releases the lock)."""
    step = max(16, min(8192, _CHUNK // max(1, width)))

    def run(begin: int, end: int) -> None:
        for start in range(begin, end, step):
            work(start, min(start + step, end))

    workers = min(WORKERS, rows // (4 * step))
    if workers < 2:
        run(0, rows)
        return
    bounds = [rows * i // workers for i in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run, bounds[:-1], bounds[1:]))


def sums_over_chunks(work: Callable[[int, int], Sequence[float]], rows: int, width: int) -> NDArray[np.float64]:
    """The sums of the numbers that ``work(start, stop)`` gives, added in order of the rows."""
    parts: dict[int, Sequence[float]] = {}

    def keep(start: int, stop: int) -> None:
        parts[start] = work(start, stop)

    over_chunks(keep, rows, width)
    return np.asarray(np.sum([parts[start] for start in sorted(parts)], axis=0))


def locate(known: Sequence[Column], wanted: Sequence[Column]) -> Ints:
    """The position of each wanted row among the known ones, which are distinct; -1 if it is not known."""
    codes, _ = group([np.concatenate(pair) for pair in zip(known, wanted, strict=True)])
    place = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    rows = len(known[0])
    place[codes[:rows]] = np.arange(rows)
    return place[codes[rows:]]
