"""Beside everybody: the consistency of groups whose rows ask while all rows answer, and how such groups differ."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from faithscope.counting.clusters import Kinds
from faithscope.counting.counted import Coverage
from faithscope.counting.kept import goes_with_predictions
from faithscope.counting.leave_out import LeftOut, ratio
from faithscope.measures.comparing.differences import Apart, Difference, bound_of, without_each
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

    @property
    def missed(self) -> float:
        """How much a unit that nobody saw may change: its own term, and those that lean on it."""
        return (1 + max(1.0, 1.0 if self.left_out is None else self.left_out.reach)) / self.good

    def _off(self, other: "Side", checked: bool, confidence: float) -> Margins:
        """How far the difference may be off: each unit is left out on both sides at once.

        Among rows that can be checked, units that nobody saw raise a share by no more than it lies below 1, and lower
        it by no more than it lies above 0, if rows that lean on them are like the others.
        """
        sides = self, other
        one, two = (each.left_out for each in sides if each.left_out is not None)
        if not checked:
            return without_each(one, two, 2 / math.hypot(self.missed, other.missed), confidence)
        one, two = (
            replace(each, value=ratio(each.value, 1 - each.silent), silent=0 * each.silent) for each in (one, two)
        )
        found = without_each(one, two, 1.0, confidence, own=0.0, lean=0.0)
        surprise = math.log(2 / check_confidence(confidence))
        first, second = (side.missed * surprise / (1 - side.silence) for side in sides)
        here, there = self.checked, other.checked
        below = max(found.below, math.hypot(first * here, second * (1 - there)))
        above = max(found.above, math.hypot(first * (1 - here), second * there))
        return replace(found, below=below, above=above, again=partial(self._off, other, checked))


@dataclass(frozen=True, eq=False)
class Sides:
    """Groups of rows that ask, by their numbers, beside everybody: here, all rows that an explanation covers answer.

    Intervals leave out every unit in turn, or every block of units, as one that asks and as one that answers.
    """

    notes: tuple[str, ...] = ()  # what a reader should know of all groups
    confidence: float = 0.95
    measure: Callable[[Collection[int]], Side] | None = None  # some groups together
    own: "Sides | None" = None  # the same groups among themselves, by `Spread`

    @property
    def _units(self) -> int:
        """How many numbers are kept of each side: here, blocks of the rows that explanations cover."""
        return _BLOCKS

    def _measured(self, groups: Collection[int]) -> Side:
        """What is known of some groups together."""
        assert self.measure is not None
        return self.measure(groups)

    @cached_property
    def _kept(self) -> Callable[[frozenset[int]], Side]:
        return lru_cache(max(2, _KEPT // max(1, self._units)))(self._measured)

    def estimate(self, *groups: int) -> Estimate:
        """The estimate of one group, or of some together."""
        return self._kept(frozenset(groups)).estimate

    def among(self, group: int) -> Estimate | None:
        """The estimate of a group among themselves, if it is known here: by `Spread`, whose variance is that of all."""
        return None if self.own is None else self.own.estimate(group)

    def difference(
        self, a: Collection[int], b: Collection[int], names: tuple[Any, Any], *, checked: bool = False
    ) -> Difference:
        """The difference of two sets of groups; of rows that can be `checked` alone, which says no more."""
        one, two = (self._kept(frozenset(groups)) for groups in (a, b))
        first, second, value = one.estimate, two.estimate, one.checked - two.checked
        known = one.left_out is not None and two.left_out is not None and not of_kind(self.notes, "interval")
        least, most = first.value - second.value - two.silence, first.value + one.silence - second.value
        bound = bound_of(first)
        if checked:
            known = known and max(one.silence, two.silence) < 1
            least = most = value = value if known else 0.0
            bound = 1.0
        found = one._off(two, checked, self.confidence) if known else Margins(1.0, 1.0)
        return Difference.of(names, value, min(first.n, second.n), Apart(least, most, found, self.confidence, bound))

    def checked_difference(
        self, a: Collection[int], b: Collection[int], names: tuple[Any, Any] = ("", "")
    ) -> Difference:
        """The difference of two sets of groups among rows that can be checked."""
        return self.difference(a, b, names, checked=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Beside(Sides):
    """The consistency of groups: a row is compared with all rows that have its explanation, of other clusters."""

    kinds: Kinds

    @property
    def _units(self) -> int:
        return len(self.kinds.code)

    @classmethod
    def of(cls, sample: Sample, confidence: float = 0.95, method: str | None = None) -> "Beside":
        """The groups of a sample, by their numbers in ``sample.askers``."""
        counted = sample.counted()
        even, groups = counted.evenly(), counted.askers
        assert groups is not None
        notes = (*by_prediction_notes(even), *counted.all_notes)
        notes = (*notes, *given_code_notes(counted), *beside_notes(method))
        return cls(notes, confidence, kinds=Kinds.of(even, groups))

    def answered_by(self, groups: Collection[int]) -> "Beside":
        """The same groups beside some of them, such as a reference, whose rows alone answer."""
        answers = np.isin(self.kinds.group, list(groups))
        return replace(self, kinds=replace(self.kinds, answers=answers))

    def among(self, group: int) -> Estimate | None:
        return None if self.kinds.moments is None else self.answered_by([group]).estimate(group)

    def _measured(self, groups: Collection[int]) -> Side:
        # A unit that nobody saw changes its own term, and those that lean on it, as in equality. If a kind of rows was
        # missed that has the share p of all rows, the terms of all that lean on it change by p in all, and no more than
        # that falls to the group: p times all rows over those of the group, which is ln(1/δ) of them.
        coverage = self.kinds.coverage(np.isin(self.kinds.group, list(groups)))
        found = coverage_estimate(coverage, "consistency", self.confidence, "jackknife", unseen=None, notes=self.notes)
        side = Side.of(coverage, found)
        left_out = None if side.left_out is None else replace(side.left_out, heaviest=1.0)  # `good` allows for it
        return side._replace(left_out=left_out)


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
