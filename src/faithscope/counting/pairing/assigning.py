"""Rows under scopes that may overlap: each an opener of its own scope, or a closer of a scope that a coin chose."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.pairing.cells import Assigned, Integers, Waiting
from faithscope.counting.pairing.order import sorted_places
from faithscope.counting.pairing.pairs import OPENER_SHARE

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScopedArrivals:
    """Rows that arrive together, by their own scope and by all scopes that they lie in.

    Parameters
    ----------
    own
        The number of the scope that each cell's rows were given, shape (n_cells,).
    inside
        Whether they lie in each scope, shape (n_cells, n_scopes).
    labels, days, counts, groups
        As of `Arrivals`.
    """

    own: Integers
    inside: NDArray[np.bool_]
    labels: NDArray[Any]
    days: Integers
    counts: Integers
    groups: Integers

    def take(self, places: Any) -> Self:
        """The cells at these places."""
        return replace(self, **{field.name: getattr(self, field.name)[places] for field in fields(self)})

    def merged(self) -> Self:
        """The same rows in an order that depends on them alone, every kind of row in one cell."""
        bits = np.packbits(self.inside, axis=1).T
        order, first = sorted_places(self.groups, self.own, *bits, self.days, self.labels)
        return replace(self.take(order[first]), counts=np.add.reduceat(self.counts[order], first))

    def by_group(self) -> Iterator[tuple[int, Self]]:
        """The cells of each group; requires that they are merged."""
        groups, starts = np.unique(self.groups, return_index=True)
        for group, start, stop in zip(groups, starts, (*starts[1:], len(self.own)), strict=True):
            yield int(group), self.take(slice(start, stop))

    def cells(self, scope: Integers, counts: Integers, opening: Integers) -> Assigned:
        """So many rows of each cell as openers and closers of a scope."""
        kept = counts > 0
        words = scope[kept].astype(np.uint64)
        others = (column[kept] for column in (self.labels, self.days, counts, self.groups, opening))
        return Assigned(words, np.zeros_like(words), *others)


@dataclass(frozen=True)
class ScopedOpeners:
    """What openers have told of scopes: how many were given each, and how many lie in each.

    Only openers are asked: whom a closer serves may depend on anything about openers, never on another closer.
    """

    given: Integers
    inside: Integers
    total: int

    @classmethod
    def none(cls, scopes: int) -> Self:
        """That of no openers."""
        return cls(np.zeros(scopes, np.int64), np.zeros(scopes, np.int64), 0)

    @classmethod
    def of(cls, arrivals: ScopedArrivals, openers: Integers) -> Self:
        """That of so many openers of each cell."""
        given = np.bincount(arrivals.own, openers, arrivals.inside.shape[1]).astype(np.int64)
        inside = np.array([openers[column].sum() for column in arrivals.inside.T], np.int64)
        return cls(given, inside, int(openers.sum()))

    def __add__(self, other: Self) -> Self:
        return replace(
            self, given=self.given + other.given, inside=self.inside + other.inside, total=self.total + other.total
        )

    def crowding(self, classes: Integers) -> Floats:
        """For each class of scopes, how many closers there must be per opener; its sum is at least about 1.

        It is the largest share of a scope's rows that were given it; 1 as long as nothing is known.
        """
        return _largest(np.minimum(1.0, (self.given + 1) / (self.inside + 1)), classes)

    def share(self, classes: Integers) -> float:
        """The probability of being an opener by which closers suffice; `OPENER_SHARE` if scopes do not overlap."""
        return float(1 / (1 + (1 / OPENER_SHARE - 1) * max(1.0, self.crowding(classes).sum())))

    def chances(self, need: Integers, classes: Integers) -> Floats:
        """The probability of each class for a closer: half by what is needed in the long run, half by who waits now."""
        crowding = self.crowding(classes)
        now = _largest(need * (self.total + 1) / (self.inside + 1), classes)
        now = now if now.any() else crowding
        return np.asarray((crowding / crowding.sum() + now / now.sum()) / 2)


def assign(
    arrivals: ScopedArrivals,
    waiting: Waiting,
    before: Mapping[int, ScopedOpeners],
    classes: Integers,
    rng: np.random.Generator,
) -> tuple[Assigned, dict[int, ScopedOpeners]]:
    """Openers of their own scopes, and closers of the scopes that they serve; what the openers tell of scopes.

    A closer draws one class of scopes, whatever it is like, and serves the scope of that class in which it lies, if
    there is one; else nobody. So the labels of the closers of a scope are draws from those within the scope, and no
    closer serves two scopes. The answer depends on the rows and on `rng`, never on their order.

    Parameters
    ----------
    waiting
        Rows that wait, by the number of their scope.
    before
        By group, what earlier openers told.
    classes
        The class of each scope, shape (n_scopes,): no two scopes of a class share a row.
    """
    cells, told = [], {}
    for group, part in arrivals.merged().by_group():
        known = before.get(group) or ScopedOpeners.none(len(classes))
        openers = rng.binomial(part.counts, known.share(classes))
        told[group] = ScopedOpeners.of(part, openers)
        need = np.maximum(0, told[group].given + _open(waiting, group, len(classes)))
        chances = (known + told[group]).chances(need, classes)
        cells.append(part.cells(part.own, openers, openers))
        cells += _closers(part, part.counts - openers, chances, classes, rng)
    names = [field.name for field in fields(Assigned)]
    return Assigned(*(np.concatenate([getattr(each, name) for each in cells]) for name in names)), told


def _closers(
    part: ScopedArrivals, closers: Integers, chances: Floats, classes: Integers, rng: np.random.Generator
) -> Iterator[Assigned]:
    """The closers of each class, class after class among those that are left."""
    last, rest = len(chances) - 1, 1.0
    for number, chance in enumerate(chances):
        drawn = closers if number == last else rng.binomial(closers, chance / max(rest, chance))
        closers, rest = closers - drawn, rest - chance
        members = np.flatnonzero(classes == number)
        inside = part.inside[:, members]
        kept = np.where(inside.any(axis=1), drawn, 0)
        yield part.cells(members[inside.argmax(axis=1)], kept, np.zeros_like(kept))


def _open(waiting: Waiting, group: int, scopes: int) -> Integers:
    """Per scope, how many more openers than closers of a group wait."""
    here = waiting.take(waiting.groups == group)
    signed = np.where(here.closing, -here.counts, here.counts)
    return np.bincount(here.high.astype(np.int64), signed, scopes).astype(np.int64)


def _largest(values: Floats, classes: Integers) -> Floats:
    """The largest value of each class."""
    largest = np.zeros(int(classes.max()) + 1)
    np.maximum.at(largest, classes, values)
    return largest
