"""Keys, numbers of 64 bits that stand for rows: which are distinct, and which were answered before."""

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shared.arrays import Floats, Ints

Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_KEPT = 2**20  # numbers remembered; if there are more, all are forgotten
_SAMPLED = 2**8  # keys that show whether many coincide
_RAREST = 2**5  # one key in so many is in the sample


def share_repeated(keys: Keys) -> float:
    """About which share of the keys is equal to an earlier one.

    A sample is drawn by the hash of the keys, so that it holds all keys that are equal to one that it holds.
    """
    rate = max(1, min(_RAREST, len(keys) // _SAMPLED))
    sample = keys[keys * _GOLDEN <= np.uint64((2**64 - 1) // rate)]
    return 1 - len(np.unique(sample)) / max(1, len(sample))


def distinct_keys(keys: Keys) -> tuple[Ints, Ints]:
    """The position of one key of each value, in ascending order, and the place of every key among these."""
    leader = _leaders(keys)
    leads = leader == np.arange(len(keys))
    return np.flatnonzero(leads), (np.cumsum(leads) - 1)[leader]


def _leaders(keys: Keys) -> Ints:
    """For each key the position of an equal key, the same for all that are equal.

    A hash table: the position of a key is written to its slot, and read again. Keys that read the position of a key
    of another value try the next slot.
    """
    bits = (2 * len(keys)).bit_length()
    table = np.empty(1 << bits, np.int32)
    slot = _slots(keys, bits)
    table[slot] = np.arange(len(keys), dtype=np.int32)
    leader = table[slot].astype(np.int64)
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


def _slots(keys: Keys, bits: int) -> Ints:
    return ((keys * _GOLDEN) >> np.uint64(64 - bits)).view(np.int64)


class KeyMemory:
    """Answers by key: a hash table that works on whole arrays.

    Parameters
    ----------
    outputs : int
        Numbers of one answer.
    """

    def __init__(self, outputs: int) -> None:
        self._outputs = outputs
        self._resize(0, 2**10)

    def find(self, keys: Keys) -> Ints:
        """The place of the answer to each key; -1 if it is not remembered."""
        place = np.full(len(keys), -1, np.int64)
        left, slot = np.arange(len(keys)), self._slots(keys)
        while len(left):
            there = self._table[slot]
            used = there >= 0
            left, slot, there = left[used], slot[used], there[used]
            same = self._keys[there] == keys[left]
            place[left[same]] = there[same]
            left, slot = left[~same], self._next(slot[~same])
        return place

    def answers(self, places: Ints) -> Floats:
        """The answers at places: (n, outputs)."""
        return self._answers[places]

    def add(self, keys: Keys, answers: Floats) -> None:
        """Remember the answers to keys, each once and none remembered yet; forget all others if there are too many."""
        most = _KEPT // self._outputs
        if len(keys) > most:
            return
        used = self._used if self._used + len(keys) <= most else 0
        if used < self._used or used + len(keys) > len(self._keys):
            self._resize(used, used + len(keys))
        self._used = used + len(keys)
        self._keys[used : self._used], self._answers[used : self._used] = keys, answers
        self._enter(keys, used)

    def _resize(self, kept: int, wanted: int) -> None:
        """Make room for as many answers as wanted, or up to twice as many, and keep the first of them."""
        room = 1 << max(0, wanted - 1).bit_length()
        keys, answers = np.empty(room, np.uint64), np.empty((room, self._outputs))
        if kept:
            keys[:kept], answers[:kept] = self._keys[:kept], self._answers[:kept]
        self._keys, self._answers, self._used = keys, answers, kept
        self._table = np.full(2 * room, -1, np.int32)
        self._enter(keys[:kept], 0)

    def _enter(self, keys: Keys, start: int) -> None:
        """Enter the places of keys, the first of which is `start`, into the table."""
        place, slot = np.arange(start, start + len(keys), dtype=np.int32), self._slots(keys)
        while len(place):
            free = self._table[slot] < 0
            self._table[slot[free]] = place[free]  # if several keys want a slot, one of them gets it
            waits = self._table[slot] != place
            place, slot = place[waits], self._next(slot[waits])

    def _slots(self, keys: Keys) -> Ints:
        return _slots(keys, len(self._table).bit_length() - 1)

    def _next(self, slot: Ints) -> Ints:
        return (slot + 1) & (len(self._table) - 1)
