"""Rows whose values are numbered, so that mixtures of rows are told apart by a single number each."""

from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np

from faithscope.explainers.shap.keys import Keys
from faithscope.explainers.shared.arrays import Bools, Floats, Ints

_HALF = np.uint64(32)


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows, and a number for each of their values; the key of a mixture is the sum of the numbers of its values.

    Attributes
    ----------
    values : (n, d) array
    codes : (n, d) array of uint64
    domain : int or None
        All keys are below this number, and different mixtures have different keys. None if different mixtures may have
        equal keys. Equal mixtures always have equal keys.
    """

    values: Floats
    codes: Keys
    domain: int | None

    @classmethod
    def pair(cls, rows: Floats, background: Floats) -> tuple[Self, Self]:
        """Rows and background rows, numbered alike; missing equals missing.

        A key is a number whose digits are the places of the values, in a base per feature: how many values it has. If
        64 bits do not hold such numbers, each value has a random number.
        """
        places = _places(np.concatenate([rows, background]))
        sizes = (places.max(axis=0, initial=0) + 1).tolist()
        domain = prod(sizes) if prod(sizes) < 2**64 else None
        if domain is None:
            first = np.cumsum([0, *sizes[:-1]])
            codes = np.random.default_rng(0).integers(0, 2**64, sum(sizes), np.uint64)[places + first]
        else:
            codes = places.astype(np.uint64) * np.array([prod(sizes[:j]) for j in range(len(sizes))], np.uint64)
        return cls(rows, codes[: len(rows)], domain), cls(background, codes[len(rows) :], domain)

    def take(self, which: Bools | slice) -> Self:
        """Some of the rows."""
        return type(self)(self.values[which], self.codes[which], self.domain)

    def sums(self, members: Bools) -> Keys:
        """The sum of the numbers of each row over the members of each coalition, modulo 2^64: (n, m)."""
        # Halves of 32 bits, whose sums are exact as floats: a product of integers is slower by far.
        chosen = members.T.astype(np.float64)
        halves = (self.codes & np.uint64(2**32 - 1), self.codes >> _HALF)
        low, high = ((half.astype(np.float64) @ chosen).astype(np.uint64) for half in halves)
        return low + (high << _HALF)


def _places(values: Floats) -> Ints:
    """The place of each value among the distinct values of its column. -0.0 is not 0.0: a model may tell them apart."""
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
    order = bits.argsort(axis=0)
    ordered = np.take_along_axis(bits, order, axis=0)
    places = np.zeros(values.shape, np.int64)
    np.put_along_axis(places, order[1:], np.cumsum(ordered[1:] != ordered[:-1], axis=0), axis=0)
    return places
