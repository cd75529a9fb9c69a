"""What every relation is, the two forms in which it says which rows are covered, and equality."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Postings, Shared
from faithscope.explanations.distances.tiles import Near
from faithscope.inputs.array_types import Bools, Ints

Masks = Bools
Mask = Callable[[int, int], Masks]


@dataclass(frozen=True)
class Parts:
    """Coverage by conjunction: an explanation covers the rows on which all of its parts hold.

    Attributes
    ----------
    parts : list
        The conditions, words or prototypes that explanations are made of.
    lists : list of tuples of int
        For each explanation, the numbers of its parts.
    masks : callable
        ``masks(order)`` gives pairs of the number of a part and the (n,) bool array of the rows on which it holds, in
        that order of rows, or as they come for None. The parts come in any order.
    postings : Postings, optional
        The same as pairs (part, row), if each part holds on few rows.
    """

    parts: list[Any]
    lists: list[tuple[int, ...]]
    masks: Callable[[Ints | None], Iterator[tuple[int, Masks]]]
    postings: Postings | None = None

    asked: ClassVar[None] = None  # of all pairs it is known whether the explanation covers the row
    near: ClassVar[None] = None  # coverage is not by distance

    def whole(self, rows: int) -> Masks:
        """Whether each of so many rows is covered by each explanation, shape (n_rows, n_explanations)."""
        held = np.ones((len(self.parts), rows), bool)
        for part, mask in self.masks(None):
            held[part] = mask
        return np.array([held[list(parts)].all(axis=0) for parts in self.lists], bool).reshape(-1, rows).T


@dataclass(frozen=True)
class Blocks:
    """Coverage of one explanation after the other.

    Attributes
    ----------
    masks : callable
        ``masks(order)(start, stop)`` is a (stop - start, n) bool array: which rows, in that order, or as they come for
        None, explanations start to stop cover.
    threads : bool
        Whether several threads may make masks at once.
    near : callable, optional
        Makes the same as centers and radii, if coverage is by distance.
    asked : Postings, optional
        The pairs (explanation, row) of which it is known whether the one covers the other; None if all are. A pair that
        is not known is not in `masks`.
    """

    masks: Callable[[Ints | None], Mask]
    threads: bool = True
    near: Callable[[], Near] | None = None
    asked: Postings | None = None

    @classmethod
    def of(cls, mask: Mask, **known: Any) -> "Blocks":
        """From the masks of rows as they come."""

        def masks(order: Ints | None) -> Mask:
            return mask if order is None else lambda start, stop: np.take(mask(start, stop), order, axis=1)

        return cls(masks, **known)


class Relation(ABC):
    """Which rows an explanation covers."""

    @property
    def partitions(self) -> bool:
        """Whether every row is covered by exactly one explanation, as the paper's error bound needs."""
        return False

    @property
    def reads_rows(self) -> bool:
        """Whether `cover` reads the rows themselves; False if it reads their positions in place of X."""
        return True

    @property
    def partial(self) -> bool:
        """Whether it is unknown of pairs of an explanation and a row whether the one covers the other."""
        return False

    def scopes(self, explanations: Explanations) -> Explanations:
        """The explanations, equal exactly when they cover the same rows; by default the explanations themselves."""
        return explanations

    @abstractmethod
    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts | Blocks:
        """Which rows each of the distinct scopes covers; the rows are X, and were given `explanations`."""


@dataclass(frozen=True)
class Same(Relation):
    """An explanation covers the rows that were given the same explanation: consistency.

    Examples
    --------
    >>> from faithscope.explanations.keys import Plain
    >>> leaves = Plain(["leaf 3", "leaf 7", "leaf 3"])
    >>> Same().cover(leaves.take([0, 1]), leaves, X=None).masks(None)(0, 2).tolist()
    [[True, False, True], [False, True, False]]
    """

    partitions = True

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        codes = distinct.locate(explanations)
        return Blocks.of(lambda start, stop: codes == np.arange(start, stop)[:, None])


@dataclass(frozen=True)
class Beside(Same):
    """The same, if only some rows ask: those of a group, beside everybody."""

    partitions = False


def number_parts(distinct: Shared) -> tuple[list[Any], list[tuple[int, ...]]]:
    """The parts that explanations are made of, and for each explanation the numbers of its parts."""
    rows = [distinct.distinct[code] for code in distinct.codes.tolist()]
    objects = {id(part): part for row in rows for part in row}  # most parts are shared: each is hashed once
    numbers: dict[Any, int] = {}
    of = {key: numbers.setdefault(part, len(numbers)) for key, part in objects.items()}
    return list(numbers), [tuple([of[id(part)] for part in row]) for row in rows]
