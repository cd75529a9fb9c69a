"""What a model said to perturbed rows, found again by numbers that stand for the rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.integer[Any]]
Keys = NDArray[np.uint64]

_KEPT = 2**22  # answers remembered, then forgotten all together


def mix(numbers: Any) -> Keys:
    """Numbers that look random, the same in every process: the finalizer of splitmix64."""
    mixed = np.asarray(numbers).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def condition_keys(feature: Any, code: Any) -> Keys:
    """A number for each condition, 0 for none. The key of an anchor is the sum over its conditions."""
    return np.where(np.asarray(code) == 0, np.uint64(0), mix((np.asarray(feature) + 1) * 2**32 + code))


def anchor_keys(anchors: Codes) -> Keys:
    """A number for each anchor, equal for equal ones: (…, width) -> (…)."""
    return np.asarray(condition_keys(np.arange(anchors.shape[-1]), anchors).sum(axis=-1, dtype=np.uint64))


class Answers:
    """What the model said to perturbed rows, by their keys: a hash table on whole arrays. No key is 0."""

    def __init__(self) -> None:
        self._clear(2**16)

    def of(self, keys: Keys, ask: Callable[[Ints], Ints]) -> Ints:
        """The answers, at least 0, of the keys' shape.

        Parameters
        ----------
        keys : array
        ask : function
            From positions among the keys, flattened, to answers: called with those that were never asked about.
        """
        flat = keys.ravel()
        answers = self._find(flat)
        new = np.flatnonzero(answers < 0)
        if len(new):
            distinct, first, place = np.unique(flat[new], return_index=True, return_inverse=True)
            said = ask(new[first])
            answers[new] = said[place]
            self._add(distinct, said)
        return answers.reshape(keys.shape)

    def _clear(self, size: int) -> None:
        self.keys, self.answers, self.used = np.zeros(size, np.uint64), np.zeros(size, np.int32), 0

    def _find(self, keys: Keys) -> Ints:
        found, left, place = np.full(len(keys), -1), np.arange(len(keys)), self._first(keys)
        while len(left):
            there = self.keys[place]
            hit = there == keys
            found[left[hit]] = self.answers[place[hit]]
            on = (there != 0) & ~hit
            left, keys, place = left[on], keys[on], self._next(place[on])
        return found

    def _add(self, keys: Keys, answers: Codes) -> None:
        """Add keys that are not there, each once."""
        self._make_room(len(keys))
        self.used += len(keys)
        place = self._first(keys)
        while len(keys):
            free = self.keys[place] == 0
            self.keys[place[free]] = keys[free]  # of several that want a place the last gets it
            mine = free & (self.keys[place] == keys)
            self.answers[place[mine]] = answers[mine]
            keys, answers, place = keys[~mine], answers[~mine], self._next(place[~mine])

    def _make_room(self, more: int) -> None:
        if 2 * (self.used + more) > len(self.keys):
            kept = np.flatnonzero(self.keys) if self.used <= _KEPT else np.empty(0, np.int64)
            keys, answers = self.keys[kept], self.answers[kept]
            self._clear(2 ** (int(len(kept) + more).bit_length() + 1))
            self._add(keys, answers)

    def _first(self, keys: Keys) -> Ints:
        return np.asarray(mix(keys) & np.uint64(len(self.keys) - 1)).astype(np.int64)

    def _next(self, place: Ints) -> Ints:
        return (place + 1) & (len(self.keys) - 1)
