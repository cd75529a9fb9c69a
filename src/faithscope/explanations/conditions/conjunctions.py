"""Explanations that are sets of parts: each is kept once, and shared by the rows that were given it."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.grouping import group

Postings = tuple[Ints, Ints]  # pairs: numbers of conditions, and the rows on which they hold
Conjunction = tuple[Any, ...]  # its parts, all of them hashable, in one canonical order


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Shared(Explanations):
    """One tuple of parts per row; rows with equal tuples share one.

    Attributes
    ----------
    codes : (n,) array
        Which of the distinct tuples each row was given.
    distinct : tuple of tuples
        The tuples, their parts hashable and in canonical order, so that equal explanations are equal tuples.
    """

    codes: Ints
    distinct: tuple[Conjunction, ...]

    _per_row = ("codes",)

    def conjunction(self, row: int) -> Conjunction:
        """The parts of one row's explanation."""
        return self.distinct[self.codes[row]]

    def item(self, row: int) -> Any:
        return self.conjunction(row)

    @property
    def content(self) -> Sequence[Any]:
        """What tells the distinct tuples apart in any other explanations of their kind."""
        return self.distinct

    def _aligned(self, other: Any) -> tuple[Self, Any]:
        self.check_comparable(other)
        both, numbers = number_conjunctions([*self.distinct, *other.distinct])
        own, others = np.split(numbers, [len(self.distinct)])
        return self._with(codes=own[self.codes], distinct=both), other._with(codes=others[other.codes], distinct=both)


class Conjunctions(Shared):
    """Conjunctions of conditions: they apply to the rows on which all conditions hold, the empty one to all rows."""

    @abstractmethod
    def masks(self, conditions: Sequence[Any], X: Any, order: Ints | None) -> Iterator[tuple[int, Bools]]:
        """The number of each condition and its mask: in any order, of rows in that order; else in their own."""

    def holds(self, conditions: Sequence[Any], X: Any) -> Iterator[Bools]:
        """For each of the conditions in turn, the (n,) mask of the rows of X on which it holds.

        A condition on a missing value is false unless it asks for missing, or says "or missing". Rows of a plain array
        have their columns in the order of `Rules.features`.
        """
        return (mask for _, mask in self.masks(conditions, X, None))

    def postings(self, conditions: Sequence[Any], X: Any) -> Postings | None:
        """Which condition holds on which row, as pairs; None for kinds whose conditions hold on many rows."""
        return None


def as_they_come(masks: Iterator[Bools], order: Ints | None) -> Iterator[tuple[int, Bools]]:
    """Numbered masks of parts, of rows in that order, from masks that are made one after the other."""
    return ((number, mask if order is None else mask[order]) for number, mask in enumerate(masks))


def number_conjunctions(given: Sequence[Conjunction]) -> tuple[tuple[Conjunction, ...], Ints]:
    """The distinct tuples in order of appearance, and the number of each given tuple."""
    codes, first = group([to_objects(given)])
    return tuple(given[row] for row in first.tolist()), codes
