"""Explanations with very many rows: pairs drawn as from urns, whatever the number of rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.pairing.cells import Arrivals, Integers
from faithscope.counting.pairing.rows import Rows
from faithscope.counting.pairing.tally import DayTally

AgreementOfPairs = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
_HEAVY = 4096  # rows of one explanation and day
_TABLE = 64  # and so many rows per pair of its labels


class Drawn(NamedTuple):
    """Pairs of one explanation's rows of one day, and the rows of each label left over."""

    openers: int
    matched: int
    agreeing: float
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
    for start, stop in zip(starts, np.append(starts, len(cells))[1:], strict=True):
        drawn = draw_pairs(cells.counts[start:stop], cells.labels[start:stop], share, spare, agreement, rng)
        unit = Rows(numbers[[start]], cells.labels[[start]], cells.days[[start]], np.zeros(1, np.bool_))
        for which, amount in enumerate((drawn.openers, drawn.matched, drawn.agreeing)):
            tally.add(which, unit, np.array([amount], np.float64))
        left[:, start:stop] = drawn.open_left, drawn.closing_left
    places = np.repeat(np.tile(np.arange(len(cells)), 2), left.ravel())
    closing = np.repeat(np.array([False, True]), left.sum(axis=1))
    return Rows(numbers[places], cells.labels[places], cells.days[places], closing)


def _unit_starts(cells: Arrivals, numbers: Integers) -> Integers:
    """Where the cells of each explanation and day begin."""
    changes = (numbers[1:] != numbers[:-1]) | (cells.days[1:] != cells.days[:-1])
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(numbers)), np.bool_), changes]))


def draw_pairs(
    counts: Integers,
    labels: NDArray[Any],
    share: float,
    spare: int,
    agreement: AgreementOfPairs,
    rng: np.random.Generator,
) -> Drawn:
    """Each row an opener with probability `share`, and openers and closers matched at random.

    Parameters
    ----------
    counts, labels
        Rows of one explanation, by label.
    spare
        How many closers may be left over.
    """
    openers = rng.binomial(counts, share)
    closers = counts - openers
    matched = int(min(openers.sum(), closers.sum()))
    chosen, partners = _some(openers, matched, rng), _some(closers, matched, rng)
    left = closers - partners
    return Drawn(
        int(openers.sum()),
        matched,
        _agreeing(chosen, partners, labels, agreement, rng),
        openers - chosen,
        _some(left, min(spare, int(left.sum())), rng),
    )


def _agreeing(
    openers: Integers, closers: Integers, labels: NDArray[Any], agreement: AgreementOfPairs, rng: np.random.Generator
) -> float:
    """The agreement of a random matching of all openers with all closers, which are as many."""
    total, left = 0.0, closers
    for label, rows in zip(labels, openers, strict=True):
        partners = _some(left, int(rows), rng)
        left = left - partners
        total += float(partners @ agreement(np.full(len(labels), label), labels))
    return total


def _some(counts: Integers, rows: int, rng: np.random.Generator) -> Integers:
    """So many rows at random, by label."""
    return rng.multivariate_hypergeometric(counts, rows, method="marginals").astype(np.int64)
