"""Rows by explanation, label and day: those that arrive, and those that wait for a partner."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faithscope.counting.pairing.order import explanation_numbers, sorted_places

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Arrivals:
    """Rows that arrive together: `counts` rows of a group with an explanation, a label and a day.

    Parameters
    ----------
    high, low
        The 128 bits that stand for an explanation, shape (n_cells,) each.
    labels
        Codes of labels that never change, or the predictions themselves if they are numbers.
    days
        Days as integers; rows of later days are matched first.
    counts
        How many such rows there are; cells may repeat.
    groups
        Codes of groups: only rows of one group are matched.
    """

    high: Words
    low: Words
    labels: NDArray[Any]
    days: Integers
    counts: Integers
    groups: Integers

    _added_up: ClassVar[tuple[str, ...]] = ("counts",)  # of cells that are merged

    @classmethod
    def of(
        cls,
        high: ArrayLike,
        low: ArrayLike,
        labels: ArrayLike,
        days: ArrayLike,
        counts: ArrayLike,
        groups: ArrayLike = 0,
    ) -> Self:
        """Cells from arrays; a single day or group is that of all."""
        n = len(np.asarray(high))
        return cls(
            np.asarray(high, np.uint64),
            np.asarray(low, np.uint64),
            np.asarray(labels),
            *(np.broadcast_to(np.asarray(column, np.int64), n) for column in (days, counts, groups)),
        )

    def __len__(self) -> int:
        return len(self.high)

    @property
    def rows(self) -> int:
        """How many rows the cells hold."""
        return int(self.counts.sum())

    def take(self, places: NDArray[Any]) -> Self:
        """The cells at these places."""
        return replace(self, **{field.name: getattr(self, field.name)[places] for field in fields(self)})

    def merged(self) -> Self:
        """The same rows in an order that depends on them alone, every kind of row in one cell."""
        kept = self.take(self.counts > 0) if len(self) and self.counts.min() <= 0 else self
        if not len(kept):
            return kept
        order, first = sorted_places(kept.numbers()[0], *kept.inner())
        if len(first) == len(kept) and np.array_equal(order, first):
            return kept  # already so
        sums = {name: np.add.reduceat(getattr(kept, name)[order], first) for name in self._added_up}
        return replace(kept.take(order[first]), **sums)

    def numbers(self) -> tuple[Integers, Integers]:
        """The number of each cell's explanation in the order of keys, and a cell of each explanation."""
        return explanation_numbers(self.groups, self.high, self.low)

    def inner(self) -> tuple[NDArray[Any], ...]:
        """What tells cells of one explanation apart."""
        return self.days, self.labels

    def draw_openers(self, places: Integers, share: float, rng: np.random.Generator) -> Integers:
        """How many rows of the cells at these places are openers: each row by a coin."""
        return rng.binomial(self.counts[places], share)

    def draw_closing(self, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether each row, cell by cell, is a closer: each by a coin."""
        return rng.random(self.rows) >= share


@dataclass(frozen=True)
class Assigned(Arrivals):
    """Rows that arrive as openers, of which a cell has `opening`, and as closers.

    Examples
    --------
    >>> words, ones = np.ones(2, np.uint64), np.ones(2, np.int64)
    >>> cells = Assigned(words, words, ones, ones, counts=3 * ones, groups=ones, opening=ones).merged()
    >>> cells.rows, cells.opening.tolist(), cells.draw_closing(0.5, np.random.default_rng(0)).tolist()
    (6, [2], [False, False, True, True, True, True])
    """

    opening: Integers

    _added_up: ClassVar[tuple[str, ...]] = ("counts", "opening")

    def draw_openers(self, places: Integers, share: float, rng: np.random.Generator) -> Integers:
        return self.opening[places]

    def draw_closing(self, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        inside = np.arange(self.rows) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        return np.asarray(inside >= np.repeat(self.opening, self.counts))


@dataclass(frozen=True)
class Waiting(Arrivals):
    """Rows that wait for a partner: closers where `closing`, and openers.

    Examples
    --------
    >>> Waiting.empty() + Waiting.empty() == Waiting.empty()
    True
    """

    closing: NDArray[np.bool_]

    @classmethod
    def empty(cls, labels: Any = np.int64) -> Self:
        """No rows, with labels of this type."""
        words, integers = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        return cls(words, words, np.zeros(0, labels), integers, integers, integers, np.zeros(0, np.bool_))

    def __add__(self, other: Self) -> Self:
        both = {
            field.name: np.concatenate([getattr(self, field.name), getattr(other, field.name)])
            for field in fields(self)
        }
        return replace(self, **both)

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same rows, whatever their order."""
        if not isinstance(other, Waiting):
            return NotImplemented
        mine, theirs = self.merged(), other.merged()
        return all(np.array_equal(getattr(mine, field.name), getattr(theirs, field.name)) for field in fields(self))

    __hash__ = None  # type: ignore[assignment]

    @property
    def openers(self) -> int:
        """How many openers wait."""
        return int(self.counts[~self.closing].sum())

    def since(self, day: int) -> Self:
        """Without the rows before a day, which are forgotten: openers among them are never matched, closers never used.

        What is forgotten depends on days alone and never on labels, so limits still hold.
        """
        return self.take(self.days >= day)

    def inner(self) -> tuple[NDArray[Any], ...]:
        return self.days, self.labels, self.closing
