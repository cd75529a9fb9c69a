"""Beside everybody: the consistency of groups whose rows ask while all rows answer, and how such groups differ."""

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast

import numpy as np

from faithscope.counting.clusters import Kinds
from faithscope.counting.counted import Coverage
from faithscope.counting.kept import goes_with_predictions
from faithscope.counting.leave_out import LeftOut, ratio
from faithscope.measures.comparing.differences import NOTHING_KNOWN, Difference, without_each
from faithscope.measures.covered import coverage_estimate
from faithscope.measures.estimate import FOR_EQUALITY, Estimate, noted
from faithscope.measures.intervals.margins import Margins, check_confidence
from faithscope.measures.notes import NOT_BY_PREDICTION, given_code_notes
from faithscope.notes import MAY_MISS, Note, Notes, of_kind
from faithscope.sample import Sample

_BLOCKS = 100  # of rows that explanations cover, at most
_KEPT = 10**7  # rows or blocks that are left out, of all groups whose estimates are kept for differences
BY_PREDICTION = Note(
    "weights, or the sizes of clusters, go with the prediction, and groups beside everybody weigh pairs of rows, so "
    f"that {MAY_MISS} far more often than it says",
    "interval",
)
FEW_ASK = Note(
    "too few rows ask, or too few predictions vary, for an interval of a share of variance: " + MAY_MISS, "interval"
)


class Side(NamedTuple):
    """One side of a difference: the measure of rows that ask, and the same without each unit of all rows.

    Attributes
    ----------
    estimate : Estimate
    left_out : LeftOut or None
        None unless at least two units ask.
    good : float
        As how many units of the same weight they are.
    """

    estimate: Estimate
    left_out: LeftOut | None
    good: float

    @classmethod
    def of(cls, coverage: Coverage, estimate: Estimate, notes: Notes = ()) -> "Side":
        """From what was counted of the rows that ask, its estimate, and further notes."""
        left_out, good = coverage.left_out, 1.0
        if left_out is not None:
            good = estimate.effective_n / left_out.heaviest
            if coverage.spread is not None:
                few = () if coverage.spread.always_vary else (FEW_ASK,)
                notes, left_out = (*few, *notes), coverage.spread.left_out(left_out)
        return cls(noted(estimate, notes), left_out, good)

    @property
    def checked(self) -> float:
        """The measure among rows that can be checked; the measure itself if none can."""
        known = self.estimate
        return known.value if known.verified is None else known.verified

    @property
    def silence(self) -> float:
        """How much higher the measure could be."""
        known = self.estimate
        return known.unverifiable if known.silence is None else known.silence


def _off(sides: tuple[Side, Side], checked: bool, confidence: float) -> Margins:
    """How far the difference of two sides may be off: each unit is left out on both at once.

    A unit that nobody saw changes its own term, and those that lean on it. Among rows that can be `checked`, it raises
    a share by no more than it lies below 1, and lowers it by no more than it lies above 0, if rows that lean on it are
    like the others.
    """
    known, missed = list[LeftOut](), []
    surprise = math.log(2 / check_confidence(confidence))
    for side in sides:
        left_out = cast(LeftOut, side.left_out)
        most, fall, rise = surprise * (1 + max(1.0, left_out.reach)) / side.good, 1.0, 1.0
        if checked:
            left_out = replace(left_out, value=ratio(left_out.value, 1 - left_out.silent), silent=0 * left_out.silent)
            most, fall, rise = most / (1 - side.silence), side.checked, 1 - side.checked
        known.append(left_out)
        missed.append((most * fall, most * rise))
    found = without_each(known[0], known[1], 1.0, confidence, own=0.0, lean=0.0)
    (fall, rise), (other_fall, other_rise) = missed
    below, above = max(found.below, math.hypot(fall, other_rise)), max(found.above, math.hypot(rise, other_fall))
    return replace(found, below=below, above=above, again=partial(_off, sides, checked))


class Sides:
    """Groups of rows that ask, by their numbers, beside everybody: all rows that an explanation covers answer.

    Intervals leave out every unit in turn, or every block of units, as one that asks and as one that answers.

    Parameters
    ----------
    notes : tuple of str
        What a reader should know of all groups.
    confidence : float
    measure : callable
        The side of some groups together.
    own : Sides, optional
        The same groups among themselves, by `Spread`, whose variance is that of all rows.
    units : int
        How many numbers are kept of each side: here, blocks of the rows that explanations cover.
    """

    def __init__(
        self,
        notes: Notes,
        confidence: float,
        measure: Callable[[Collection[int]], Side],
        own: "Sides | None" = None,
        units: int = _BLOCKS,
    ) -> None:
        self.notes, self.confidence, self.own = notes, confidence, own
        self._side: Callable[[frozenset[int]], Side] = lru_cache(max(2, _KEPT // max(1, units)))(measure)

    def estimate(self, *groups: int) -> Estimate:
        """The estimate of one group, or of some together."""
        return self._side(frozenset(groups)).estimate

    def among(self, group: int) -> Estimate | None:
        """The estimate of a group among themselves, if it is known here: by `Spread`, whose variance is that of all."""
        return None if self.own is None else self.own.estimate(group)

    def difference(
        self, a: Collection[int], b: Collection[int], names: tuple[Any, Any] = ("", ""), *, checked: bool = False
    ) -> Difference:
        """The difference of two sets of groups; of rows that can be `checked` alone, which says no more."""
        one, two = sides = self._side(frozenset(a)), self._side(frozenset(b))
        known = one.left_out is not None and two.left_out is not None and not of_kind(self.notes, "interval")
        ends, value = None, one.checked - two.checked
        if checked:
            known = known and max(one.silence, two.silence) < 1
            value = value if known else 0.0
            ends = (value, value), (0.0, 0.0)
        off = _off(sides, checked, self.confidence) if known else NOTHING_KNOWN
        return Difference.of(names, one.estimate, two.estimate, off, self.confidence, ends, value)


class Beside(Sides):
    """The consistency of groups: a row is compared with all rows that have its explanation, of other clusters."""

    def __init__(self, notes: Notes, confidence: float, kinds: Kinds) -> None:
        super().__init__(notes, confidence, self._measured, units=len(kinds.code))
        self.kinds = kinds

    @classmethod
    def of(cls, sample: Sample, confidence: float = 0.95, method: str | None = None) -> "Beside":
        """The groups of a sample, by their numbers in ``sample.askers``."""
        counted = sample.counted()
        even, told = counted.evenly(), (*counted.all_notes, *given_code_notes(counted))
        notes = (*by_prediction_notes(even), *told, *beside_notes(method))
        return cls(notes, confidence, Kinds.of(even, counted.askers))

    def answered_by(self, groups: Collection[int]) -> "Beside":
        """The same groups beside some of them, such as a reference, whose rows alone answer."""
        answers = np.isin(self.kinds.group, list(groups))
        return Beside(self.notes, self.confidence, replace(self.kinds, answers=answers))

    def among(self, group: int) -> Estimate | None:
        return None if self.kinds.moments is None else self.answered_by([group]).estimate(group)

    def _measured(self, groups: Collection[int]) -> Side:
        # A unit that nobody saw changes its own term, and those that lean on it, as in equality. If a kind of rows was
        # missed that has the share p of all rows, the terms of all that lean on it change by p in all, and no more than
        # that falls to the group: p times all rows over those of the group, which is ln(1/δ) of them.
        coverage = self.kinds.coverage(np.isin(self.kinds.group, list(groups)))
        found = coverage_estimate(coverage, "consistency", self.confidence, "jackknife", unseen=None, notes=self.notes)
        return Side.of(coverage, found)


def by_prediction_notes(sample: Sample) -> tuple[str, ...]:
    """What a reader should know of weights, and of the sizes of clusters, beside everybody."""
    if goes_with_predictions(sample):
        return (BY_PREDICTION,)
    return () if sample.weights is None else (NOT_BY_PREDICTION,)


def beside_notes(method: str | None) -> tuple[str, ...]:
    """A note if the interval is not made by the method that was asked for."""
    if method not in FOR_EQUALITY:
        return ()
    return (f"the interval beside everybody is a jackknife: {method} is proven for rows that all ask",)
