"""Explanations with many rows: pairs drawn as from urns, whatever the number of rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.pairing.cells import Arrivals, Integers
from faithscope.counting.pairing.rows import Rows
from faithscope.counting.pairing.tally import DayTally

AgreementOfPairs = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
_HEAVY = 16  # rows of one explanation and day
_TABLE = 2  # and so many rows per pair of its labels


class Drawn(NamedTuple):
    """Pairs per explanation and day, and per label its rows left over, of shape (n_units, n_labels)."""

    openers: Integers
    matched: Integers
    agreeing: NDArray[np.float64]
    open_left: Integers
    closing_left: Integers


def heavy_units(arrivals: Arrivals, numbers: Integers) -> NDArray[np.bool_]:
    """Cells of explanations and days with so many rows that urns are faster; `arrivals` are merged."""
    starts = _unit_starts(arrivals, numbers)
    if not len(starts):
        return np.zeros(0, np.bool_)
    sizes = np.diff(starts, append=len(numbers))
    rows = np.add.reduceat(arrivals.counts, starts)
    return np.repeat(rows > np.maximum(_HEAVY, _TABLE * sizes**2), sizes)


def draw_units(
    arrivals: Arrivals,
    numbers: Integers,
    heavy: NDArray[np.bool_],
    share: float,
    spare: int,
    agreement: AgreementOfPairs,
    rng: np.random.Generator,
    tally: DayTally,
) -> Rows:
    """Pairs of the heavy cells, added to the tally; the rows left over."""
    cells, numbers = arrivals.take(heavy), numbers[heavy]
    left = np.zeros((2, len(cells)), np.int64)
    starts = _unit_starts(cells, numbers)
    sizes = np.diff(starts, append=len(cells))
    for size in np.unique(sizes):  # units with as many labels are drawn together
        first = starts[sizes == size]
        places = first[:, None] + np.arange(size)
        openers = cells.draw_openers(places, share, rng)
        drawn = draw_pairs(openers, cells.counts[places] - openers, cells.labels[places], spare, agreement, rng)
        units = Rows(numbers[first], cells.labels[first], cells.days[first], np.zeros(len(first), np.bool_))
        for which, amounts in enumerate((drawn.openers, drawn.matched, drawn.agreeing)):
            tally.add(which, units, amounts.astype(np.float64))
        left[0, places], left[1, places] = drawn.open_left, drawn.closing_left
    rest = np.repeat(np.tile(np.arange(len(cells)), 2), left.ravel())
    closing = np.repeat(np.array([False, True]), left.sum(axis=1))
    return Rows(numbers[rest], cells.labels[rest], cells.days[rest], closing)


def _unit_starts(cells: Arrivals, numbers: Integers) -> Integers:
    """Where the cells of each explanation and day begin."""
    changes = (numbers[1:] != numbers[:-1]) | (cells.days[1:] != cells.days[:-1])
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(numbers)), np.bool_), changes]))


def draw_pairs(
    openers: Integers,
    closers: Integers,
    labels: NDArray[Any],
    spare: int,
    agreement: AgreementOfPairs,
    rng: np.random.Generator,
) -> Drawn:
    """Openers and closers of a unit matched at random.

    Parameters
    ----------
    openers, closers, labels
        Rows of each unit, an explanation on a day, by label: shape (n_units, n_labels).
    spare
        How many closers of a unit may be left over.
    """
    matched = np.minimum(openers.sum(axis=1), closers.sum(axis=1))
    chosen, partners = _chosen(openers, matched, rng), _chosen(closers, matched, rng)
    left = closers - partners
    return Drawn(
        openers.sum(axis=1),
        matched,
        _agreeing(chosen, partners, labels, agreement, rng),
        openers - chosen,
        _chosen(left, np.minimum(spare, left.sum(axis=1)), rng),
    )


def _agreeing(
    openers: Integers, closers: Integers, labels: NDArray[Any], agreement: AgreementOfPairs, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The agreement of a random matching of all openers with all closers, which are as many, per unit."""
    total, left = np.zeros(len(openers)), closers
    for place in range(openers.shape[1]):
        partners = _chosen(left, openers[:, place], rng)
        left = left - partners
        own = np.broadcast_to(labels[:, [place]], labels.shape)
        total += (partners * np.asarray(agreement(own, labels), np.float64)).sum(axis=1)
    return total


def _chosen(counts: Integers, rows: Integers, rng: np.random.Generator) -> Integers:
    """So many rows of each unit at random, by label: label by label, hypergeometric among those that are left."""
    drawn, rest = np.zeros_like(counts), counts.sum(axis=1)
    for place in range(counts.shape[1] - 1):
        rest = rest - counts[:, place]
        drawn[:, place] = rng.hypergeometric(counts[:, place], rest, rows)
        rows = rows - drawn[:, place]
    drawn[:, -1] = rows
    return drawn
