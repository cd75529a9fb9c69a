"""A model's answers to perturbed rows, remembered by keys: numbers that stand for the rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shared.arrays import Bools, Codes, Floats, Ints

Keys = NDArray[np.uint64]

_KEPT = 2**22  # answers remembered; beyond that all are forgotten


def mix(numbers: Any) -> Keys:
    """Numbers that look random, the same in every process: the finalizer of splitmix64."""
    mixed = np.asarray(numbers).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def condition_keys(feature: Any, code: Any) -> Keys:
    """The key of each condition, 0 for none. The key of an anchor is the sum of the keys of its conditions."""
    return np.where(np.asarray(code) == 0, np.uint64(0), mix((np.asarray(feature) + 1) * 2**32 + code))


def anchor_keys(anchors: Codes) -> Keys:
    """The key of each anchor; equal anchors have equal keys: (…, width) -> (…)."""
    return np.asarray(condition_keys(np.arange(anchors.shape[-1]), anchors).sum(axis=-1, dtype=np.uint64))


class Answers:
    """The model's answers to perturbed rows by key: a hash table that works on whole arrays. No key is 0."""

    def __init__(self) -> None:
        self._clear(2**16)

    def of(self, keys: Keys, ask: Callable[[Ints], Floats]) -> Floats:
        """One answer per key, in the shape of the keys.

        Parameters
        ----------
        keys : array
        ask : function
            From positions among the flattened keys to answers; called once, with the keys that were never asked about.
        """
        flat = keys.ravel()
        answers, known = self._find(flat)
        new = np.flatnonzero(~known)
        if len(new):
            distinct, first, place = np.unique(flat[new], return_index=True, return_inverse=True)
            asked = ask(new[first])
            answers[new] = asked[place]
            self._add(distinct, asked)
        return answers.reshape(keys.shape)

    def _clear(self, size: int) -> None:
        self.keys, self.answers, self.used = np.zeros(size, np.uint64), np.zeros(size, np.float64), 0

    def _find(self, keys: Keys) -> tuple[Floats, Bools]:
        """The remembered answers, and which keys have one."""
        answers, known = np.zeros(len(keys), np.float64), np.zeros(len(keys), bool)
        left, place = np.arange(len(keys)), self._first(keys)
        while len(left):
            there = self.keys[place]
            hit = there == keys
            answers[left[hit]], known[left[hit]] = self.answers[place[hit]], True
            on = (there != 0) & ~hit
            left, keys, place = left[on], keys[on], self._next(place[on])
        return answers, known

    def _add(self, keys: Keys, answers: Floats) -> None:
        """Add keys that are not there, each once."""
        self._make_room(len(keys))
        self.used += len(keys)
        place = self._first(keys)
        while len(keys):
            free = self.keys[place] == 0
            self.keys[place[free]] = keys[free]  # if several keys want a place, the last gets it
            placed = free & (self.keys[place] == keys)
            self.answers[place[placed]] = answers[placed]
            keys, answers, place = keys[~placed], answers[~placed], self._next(place[~placed])

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
