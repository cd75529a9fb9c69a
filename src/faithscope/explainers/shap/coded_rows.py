"""Rows whose values are numbered, so that mixtures of rows are told apart by a single number each."""

from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np

from faithscope.explainers.shap.keys import Keys
from faithscope.explainers.shared.arrays import Bools, Floats

_HALF = np.uint64(32)


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows, and a number for each of their values; the key of a mixture is the sum of the numbers of its values.

    Equal mixtures have equal keys. If the keys are exact, different mixtures have different keys.

    Attributes
    ----------
    values : (n, d) array
    codes : (n, d) array of uint64
    exact : bool
    """

    values: Floats
    codes: Keys
    exact: bool

    @classmethod
    def pair(cls, rows: Floats, background: Floats) -> tuple[Self, Self]:
        """Rows and background rows, numbered alike; missing equals missing.

        Keys are the digits of a number whose base is, at each feature, how many values the feature has. If 64 bits
        do not hold that number, keys are sums of random numbers, one for each value of each feature.
        """
        both = np.concatenate([rows, background])
        bits = np.where(np.isnan(both), np.nan, both).view(np.int64)  # a model may tell -0.0 from 0.0
        coded = [np.unique(column, return_inverse=True) for column in bits.T]
        sizes = [len(values) for values, _ in coded]
        exact = prod(sizes) <= 2**64
        steps = [prod(sizes[:j]) if size > 1 else 0 for j, size in enumerate(sizes)] if exact else []
        generator = np.random.default_rng(0)
        codes = np.empty(both.shape, np.uint64)
        for j, (values, place) in enumerate(coded):
            if exact:
                codes[:, j] = place.astype(np.uint64) * np.uint64(steps[j])
            else:
                codes[:, j] = generator.integers(0, 2**64, len(values), np.uint64)[place]
        return cls(rows, codes[: len(rows)], exact), cls(background, codes[len(rows) :], exact)

    def take(self, which: Bools | slice) -> Self:
        """Some of the rows."""
        return type(self)(self.values[which], self.codes[which], self.exact)

    def sums(self, members: Bools) -> Keys:
        """The sum of the numbers of each row over the members of each coalition, modulo 2^64: (n, m)."""
        # Halves of 32 bits, whose sums are exact as floats: a product of integers is slower by far.
        chosen = members.T.astype(np.float64)
        halves = (self.codes & np.uint64(2**32 - 1), self.codes >> _HALF)
        low, high = ((half.astype(np.float64) @ chosen).astype(np.uint64) for half in halves)
        return low + (high << _HALF)
