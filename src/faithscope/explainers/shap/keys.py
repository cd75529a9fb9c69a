"""Keys, numbers of 64 bits that stand for rows: how many are equal, and which."""

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shared.arrays import Ints
from faithscope.explainers.shared.blocks import blocks

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_CHUNK = 2**15  # keys whose hash table stays in a cache
_SAMPLED = 2**8  # keys that show whether many are equal
_RAREST = 2**5  # one key in so many is in the sample, at least


def share_repeated(keys: Keys) -> float:
    """About which share of the keys is equal to an earlier one.

    A sample is drawn by the hash of the keys, so that it holds all keys that are equal to one that it holds.
    """
    rate = max(1, min(_RAREST, len(keys) // _SAMPLED))
    sample = np.sort(keys[keys * _GOLDEN <= np.uint64((2**64 - 1) // rate)])  # np.unique takes longer
    return np.count_nonzero(sample[1:] == sample[:-1]) / max(1, len(sample))


def leaders(keys: Keys) -> Ints:
    """For each key the position of an equal key, which is its own leader; equal keys far apart may have different ones.

    Examples
    --------
    >>> leader = leaders(np.array([7, 5, 7], np.uint64))
    >>> bool(leader[0] == leader[2]), int(leader[1])
    (True, 1)
    """
    parts = [block.start + _leaders(keys[block]) for block in blocks(len(keys), _CHUNK)]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _leaders(keys: Keys) -> Ints:
    """Leaders by a hash table: a key writes its position to a slot, and reads it again.

    A key that reads the position of a different key tries the next slot.
    """
    bits = (2 * len(keys)).bit_length()
    table = np.empty(1 << bits, np.int64)
    slot = ((keys * _GOLDEN) >> np.uint64(64 - bits)).view(np.int64)
    table[slot] = np.arange(len(keys))
    leader = table[slot]
    left = np.flatnonzero(keys[leader] != keys)
    slot = slot[left]
    while len(left):
        slot = (slot + 1) & (len(table) - 1)
        table[slot] = left
        there = table[slot]
        same = keys[there] == keys[left]
        leader[left[same]] = there[same]
        left, slot = left[~same], slot[~same]
    return leader
