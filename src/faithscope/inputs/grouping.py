"""Exact grouping of equal rows: hash, then compare, so that a hash can never merge two explanations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.chunks import over_chunks, rows_at

Words = NDArray[np.uint64]
Rows = NDArray[np.signedinteger[Any]]  # positions of rows, in 32 bits where these do
Column = Array  # (n, w) numeric, or (n,) of Python objects

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
    if len(blocks[0]) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    leader = _leaders(hash_rows(blocks))
    different = _differ_from(blocks, leader)
    if len(different):
        _split_collisions(blocks, leader, different)
    first = np.flatnonzero(leader == np.arange(len(leader)))
    number = np.empty(len(leader), np.int64)
    number[first] = np.arange(len(first))
    return rows_at(number, leader), first


def _group_objects(column: Column) -> tuple[Ints, Ints]:
    numbers: dict[object, int] = {}
    try:
        codes = np.fromiter((numbers.setdefault(item, len(numbers)) for item in column), np.int64, len(column))
    except TypeError as error:
        raise WrongType(
            f"Values must be numbers, texts or dates, and some have an {error}: make texts of them."
        ) from None
    first = np.empty(len(numbers), np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return codes, first


def hash_rows(blocks: Sequence[Column]) -> Words:
    """A 64-bit number for each row; equal rows have equal numbers in every process."""
    rng, widths = np.random.Generator(np.random.PCG64(0)), [_words(block[:1]).shape[1] for block in blocks]
    factors = [2 * rng.integers(0, 2**63, width, np.uint64) + 1 for width in widths]
    hashes = np.zeros(len(blocks[0]), np.uint64)

    def fill(start: int, stop: int) -> None:
        sums = hashes[start:stop]
        for block, odd in zip(blocks, factors, strict=True):
            words = _words(block[start:stop])
            words *= _GOLDEN
            words ^= words >> _HALF
            sums += np.einsum("ij,j->i", words, odd)  # matmul is slow for short rows
        sums ^= sums >> _HALF
        sums *= _GOLDEN

    over_chunks(fill, len(hashes), sum(widths))
    return hashes


def _words(chunk: Column) -> Words:
    """Each row as 64-bit words: one per float, integers packed closely. Adding 0.0 makes -0.0 equal 0.0."""
    if chunk.dtype.kind == "f":
        return (chunk.astype(np.float64, copy=False) + 0.0).view(np.uint64)
    size = chunk.dtype.itemsize * chunk.shape[1]
    if chunk.dtype.itemsize == 8 or size < 8:
        return chunk.astype(np.uint64)
    chunk = np.ascontiguousarray(chunk)
    words = np.empty((-(-size // 8), len(chunk)), np.uint64).T
    for place in range(words.shape[1]):
        beyond = max(0, 8 * place + 8 - size)  # bytes that the last word shares with the one before
        words[:, place] = np.ndarray(len(chunk), np.uint64, chunk.data, 8 * place - beyond, (size,))
        if beyond:
            words[:, place] >>= np.uint64(8 * beyond)
    return words


def _leaders(hashes: Words) -> Rows:
    """For each row the earliest row with the same hash.

    The leading bits of a hash are a slot, which the earliest of its rows owns. Rows whose slot has an owner of another
    hash try again among themselves, by other bits.
    """
    rows = len(hashes)
    bits = np.uint64(64 - (4 * rows // 3).bit_length())  # 4/3 to 8/3 slots per row
    owners: Rows = np.empty(2 ** (64 - int(bits)), np.int32 if rows < 2**31 else np.int64)
    # From behind, since the last row to be written stays.
    owners[(hashes[::-1] >> bits).view(np.int64)] = np.arange(rows - 1, -1, -1, dtype=owners.dtype)
    leader = np.empty(rows, owners.dtype)

    def lead(start: int, stop: int) -> Ints:
        own = hashes[start:stop]
        leader[start:stop] = np.take(owners, (own >> bits).view(np.int64))
        return start + np.flatnonzero(np.take(hashes, leader[start:stop]) != own)

    displaced = np.concatenate(over_chunks(lead, rows, 2))
    if len(displaced):
        leader[displaced] = displaced[_leaders(hashes[displaced] * _GOLDEN)]
    return leader


def _differ_from(blocks: list[Column], leader: Rows) -> Ints:
    """Rows that are not equal to the leader of their group."""

    def compare(start: int, stop: int) -> Ints:
        leaders, different = leader[start:stop], np.zeros(stop - start, bool)
        for block in blocks if (leaders != np.arange(start, stop)).any() else ():
            wrong = block[start:stop] != rows_at(block, leaders)
            if wrong.any():
                different |= wrong.any(axis=1)
        return start + np.flatnonzero(different)

    return np.concatenate(over_chunks(compare, len(leader), sum(block[:1].nbytes for block in blocks) // 8))


def _split_collisions(blocks: list[Column], leader: Rows, different: Ints) -> None:
    """Regroup, by exact comparison, the groups in which a hash has merged different rows; the others stay."""
    merged = np.zeros(len(leader), bool)
    merged[leader[different]] = True
    members = np.flatnonzero(merged[leader])
    exact = np.concatenate([_words(block[members]) for block in blocks], axis=1)
    _, earliest, inner = np.unique(exact, axis=0, return_index=True, return_inverse=True)
    leader[members] = members[earliest][inner.reshape(-1)]


def locate(known: Sequence[Column], wanted: Sequence[Column]) -> Ints:
    """The position of each wanted row among the known ones, which are distinct; -1 if it is not known."""
    codes, _ = group([np.concatenate(pair) for pair in zip(known, wanted, strict=True)])
    place = np.full(int(codes.max(initial=-1)) + 1, -1, np.int64)
    rows = len(known[0])
    place[codes[:rows]] = np.arange(rows)
    return place[codes[rows:]]
