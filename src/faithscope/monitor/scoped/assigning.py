"""Rows under scopes that may overlap: each an opener of its own scope, or a closer of a scope that a coin chose."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from faithscope.monitor.pairing import OPENER_SHARE, Cells, Integers, sorted_places

Floats = NDArray[np.float64]


def assign(
    arrivals: Cells,
    inside: NDArray[np.bool_],
    waiting: Cells,
    before: Mapping[int, Integers],
    classes: Integers,
    rng: np.random.Generator,
) -> tuple[Cells, dict[int, Integers]]:
    """Openers of their own scopes, and closers of the scopes that they serve; what the openers tell of scopes.

    A closer draws one class of scopes, whatever it is like, and serves the scope of that class in which it lies, if
    there is one; else nobody. So the labels of the closers of a scope are draws from those within the scope, and no
    closer serves two scopes. The answer depends on the rows and on `rng`, never on their order.

    Parameters
    ----------
    arrivals
        Rows by the number of the scope that they were given, in place of an explanation's bits.
    inside
        Whether they lie in each scope, shape (n_cells, n_scopes).
    waiting
        Rows that wait, by the number of their scope.
    before
        By group, what earlier openers told, shape (2, n_scopes + 1): how many were given each scope, and how many lie
        in each; last, how many there were. It only adds. Only openers are asked: whom a closer serves may depend on
        anything about openers, never on another closer.
    classes
        The class of each scope, shape (n_scopes,): no two scopes of a class share a row.
    """
    bits, own = np.packbits(inside, axis=1).T, arrivals.high.astype(np.int64)
    order, first = sorted_places(arrivals.groups, own, *bits, arrivals.days, arrivals.labels)
    counts = np.add.reduceat(arrivals.counts[order], first)
    arrivals, inside = replace(arrivals.take(order[first]), counts=counts), inside[order[first]]
    groups, starts = np.unique(arrivals.groups, return_index=True)
    cells, told = [], {}
    for group, start, stop in zip(groups.tolist(), starts, (*starts[1:], len(arrivals)), strict=True):
        part, within = arrivals.take(slice(start, stop)), inside[start:stop]
        known = before.get(group, np.zeros((2, len(classes) + 1), np.int64))
        # The probability by which closers suffice: `OPENER_SHARE` if scopes do not overlap.
        crowded = max(1.0, _crowding(known, classes).sum())
        openers = rng.binomial(part.counts, 1 / (1 + (1 / OPENER_SHARE - 1) * crowded))
        given = np.bincount(part.high.astype(np.int64), openers, len(classes)).astype(np.int64)
        told[group] = np.stack([np.append(given, openers.sum()), np.append(openers @ within, 0)])
        cells.append(replace(part, counts=openers, opening=openers))
        here = waiting.take(waiting.groups == group)
        assert here.opening is not None
        wait = np.bincount(here.high.astype(np.int64), 2 * here.opening - here.counts, len(classes))
        # The probability of each class for a closer: half by what is needed in the long run, half by who waits now.
        known = known + told[group]
        always = _crowding(known, classes)
        now = _largest(np.maximum(0, given + wait) * (known[0, -1] + 1) / (known[1, :-1] + 1), classes)
        now = now if now.any() else always
        chances = (always / always.sum() + now / now.sum()) / 2
        closers, rest = part.counts - openers, 1.0
        for number, chance in enumerate(chances):  # class after class among those that are left
            last = number == len(chances) - 1
            drawn = closers if last else rng.binomial(closers, chance / max(rest, chance))
            closers, rest = closers - drawn, rest - chance
            members = np.flatnonzero(classes == number)
            lies = within[:, members]
            serves = members[lies.argmax(axis=1)].astype(np.uint64)
            kept = np.where(lies.any(axis=1), drawn, 0)
            cells.append(replace(part, high=serves, counts=kept, opening=np.zeros_like(kept)))
    return Cells.joined(cells), told


def _crowding(openers: Integers, classes: Integers) -> Floats:
    """For each class of scopes, how many closers there must be per opener; its sum is at least about 1.

    It is the largest share of a scope's rows that were given it; 1 as long as nothing is known.
    """
    given, inside = openers[:, :-1]
    return _largest(np.minimum(1.0, (given + 1) / (inside + 1)), classes)


def _largest(values: Floats, classes: Integers) -> Floats:
    """The largest value of each class."""
    largest = np.zeros(int(classes.max()) + 1)
    np.maximum.at(largest, classes, values)
    return largest
