"""Openers matched with closers of the same explanation, at random and whatever their labels."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.pairing.cells import Arrivals, Integers, Waiting
from faithscope.counting.pairing.order import explanation_numbers
from faithscope.counting.pairing.rows import Rows, concatenated, expanded, matching
from faithscope.counting.pairing.tally import DayTally
from faithscope.counting.pairing.urns import AgreementOfPairs, draw_units, heavy_units

OPENER_SHARE = 0.25
SPARE_CLOSERS = 4


@dataclass(frozen=True)
class Pairs:
    """What a batch adds, by group and by the day on which the opener arrived, and who waits afterwards.

    `openers` arrived, `matched` of that day's openers found a partner now, and `agreeing` is the sum of their
    agreements.
    """

    groups: Integers
    days: Integers
    openers: Integers
    matched: Integers
    agreeing: NDArray[np.float64]
    waiting: Waiting

    def __add__(self, other: Self) -> Self:
        """What both add, for groups of which none is in both."""
        names = ("groups", "days", "openers", "matched", "agreeing")
        both = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return replace(self, **both, waiting=self.waiting + other.waiting)


def pair(
    arrivals: Arrivals,
    waiting: Waiting,
    rng: np.random.Generator,
    *,
    share: float = OPENER_SHARE,
    spare: int = SPARE_CLOSERS,
    agreement: AgreementOfPairs = np.equal,
) -> Pairs:
    """Arriving rows become openers and closers by a coin, and find partners among each other and among those that wait.

    The answer depends on the rows and on `rng`, never on the order of rows or on how they are divided into cells. Who
    is matched depends on explanations, days and `rng` alone, so that labels cannot favor a pair. The latest rows are
    matched first.

    Parameters
    ----------
    arrivals
        If `Assigned`, who opens and who closes is settled, and `share` is not read.
    waiting
        Rows that wait. Those whose explanations did not arrive are returned as they are, so a store need not hand
        them over.
    share
        The probability of being an opener: less than half, since an opener without a partner is silent.
    spare
        How many closers of an explanation wait at most. Others are dropped, whatever their labels.
    agreement
        Of two arrays of labels: a number between 0 and 1 per pair.

    Examples
    --------
    >>> arrivals = Arrivals.of([7], [7], [1], days=0, counts=[1000])
    >>> pairs = pair(arrivals, Waiting.empty(), np.random.default_rng(0))
    >>> int(pairs.openers[0]), int(pairs.matched[0]), float(pairs.agreeing[0]), pairs.waiting.rows
    (269, 269, 269.0, 4)
    """
    arrivals, waiting = arrivals.merged(), waiting.merged()
    keys = (np.concatenate([getattr(arrivals, name), getattr(waiting, name)]) for name in ("groups", "high", "low"))
    numbers, places = explanation_numbers(*keys)
    new, old = numbers[: len(arrivals)], numbers[len(arrivals) :]
    tally = DayTally.over(arrivals, waiting, places)
    heavy = heavy_units(arrivals, new)
    left = draw_units(arrivals, new, heavy, share, spare, agreement, rng, tally)
    rest = arrivals.take(~heavy)
    light = expanded(rest, new[~heavy])._replace(closing=rest.draw_closing(share, rng))
    tally.open(light)
    rows = concatenated([light, left, expanded(waiting, old, waiting.closing)])
    opening, partners, over = matching(rows, len(places), spare, rng)
    tally.match(opening, np.asarray(agreement(opening.labels, partners), np.float64))
    return Pairs(*tally.table(), _waiting(over, places, arrivals, waiting))


def _waiting(rest: Rows, places: Integers, arrivals: Arrivals, waiting: Waiting) -> Waiting:
    """The rows left over, with their keys again."""
    cells = places[rest.numbers]
    high, low, groups = (
        np.concatenate([getattr(arrivals, name), getattr(waiting, name)])[cells] for name in ("high", "low", "groups")
    )
    ones = np.ones(len(cells), np.int64)
    return Waiting(high, low, rest.labels, rest.days, ones, groups, rest.closing).merged()
