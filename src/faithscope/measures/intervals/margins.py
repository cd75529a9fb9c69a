"""Margins: how far the truth may lie from a measure, by what the measure becomes without each row.

All intervals but McDiarmid's are made here: Student's t of the jackknife, and never less than what rows that the sample
missed may change. The least margin of a measure is ``(own + lean) ln(1/δ) / good``: a kind of row that nobody saw has a
probability of at most ``ln(1/δ) / good``, and changes the measure by its own term and by the terms that lean on it.

================================================  ====  ==================
measure                                           own   lean
================================================  ====  ==================
consistency, sufficiency, within, necessity       1     reach, at least 1
the tight interval, for κ                         both times 1 + κ
means over rows (draws, agreement of explainers)  span  0
encoding                                          3     reach
a paired difference                               1     both reaches
================================================  ====  ==================

Rows are as `good` as ``Σw / max w``: one that was missed may weigh as much as the heaviest row, or cluster.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from faithscope.counting.leave_out import LeftOut, Units
from faithscope.errors import NotProven
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.checks import check_share
from faithscope.inputs.chunks import over_chunks

_WIDTH = 4  # numbers worked on per value


class Bracket(NamedTuple):
    """Between which numbers a measure lies, but for sampling error, and the κ that made it (`tight.py`)."""

    low: float
    high: float
    kappa: float = 0.0


@dataclass(frozen=True)
class Margins:
    """How far the truth may lie below the value, and how far above the value plus the unverifiable share.

    If there is a `bracket`, below its lower end and above its upper end.
    """

    below: float
    above: float
    degrees_of_freedom: float = math.inf  # small if a few rows decide the spread
    verified: tuple[float, float] = (1.0, 1.0)  # how far the agreement among rows that can be checked may be off
    weight: float | None = None  # sum over rows of their squared `LeftOut.weight`; None for equality
    again: "Callable[..., Margins] | None" = field(default=None, repr=False, compare=False)  # by confidence
    bracket: Bracket | None = None  # of the measure, if not the value and the value plus silence
    beyond: float | None = None  # how far the agreement beyond chance may be off, if its test leaves out rows

    def at(self, confidence: float) -> "Margins":
        """These margins at another confidence; margins of 0 and of 1 hold at any."""
        if self.again is not None:
            found = self.again(confidence)
            return found if self.bracket is None or found.bracket is not None else replace(found, bracket=self.bracket)
        if 0 < min(self.below, self.above) < 1:
            raise NotProven("These margins are known at one confidence only: measure again with confidence=.")
        return self


class Share(NamedTuple):
    """A share of rows or pairs, or a mean over them, with its interval."""

    value: float
    low: float
    high: float


def check_confidence(confidence: float) -> float:
    """The probability with which the interval may miss the truth, 1 - confidence."""
    return 1 - check_share(confidence, "confidence")


class Deviations(NamedTuple):
    """Leave-one-out values about their mean: how many, the largest |r|, and the sums of r², r³ and r⁴.

    An interval reads nothing else of them, so an engine hands over no more.
    """

    rows: float
    largest: float
    second: float
    third: float
    fourth: float

    @classmethod
    def of(cls, values: Floats, rows: Array | None = None) -> "Deviations":
        """Of values, each of which stands for so many rows, or for one; in chunks, four times as fast."""
        n, total = (len(values), values.sum()) if rows is None else (rows.sum(), np.sum(rows * values))
        mean = total / n

        def sums(start: int, stop: int) -> tuple[float, ...]:
            gap = values[start:stop] - mean
            square = gap * gap
            terms = square if rows is None else rows[start:stop] * square
            powers = terms.sum(), np.sum(terms * gap), np.sum(terms * square)
            return max(float(gap.max()), -float(gap.min())), *map(float, powers)

        largest, *powers = zip(*over_chunks(sums, len(values), _WIDTH), strict=True)
        return cls(float(n), max(largest), *map(math.fsum, powers))

    def margin(self, wrong: float, slowest: float = 1.0) -> tuple[float, float]:
        """Student's t times the jackknife standard error, and the degrees of freedom (Σr²)² / Σr⁴.

        Rare rows that pull a measure down make it skewed: samples that lack them are too high more often than others
        are too low. Of an interval with two ends, the one pays for the other; else Efron's acceleration
        ``a = Σr³ / (6 (Σr²)^1.5)`` does, ``t se / (1 - a t)²``, in which 1 - a t is no less than `slowest`.
        """
        if not self.largest > 1e-14:  # all are the same number, up to rounding
            return 0.0, math.inf
        freedom = self.second**2 / self.fourth
        quantile, error = float(stdtrit(freedom, 1 - wrong)), math.sqrt((self.rows - 1) / self.rows * self.second)
        acceleration = max(0.0, self.third / (6 * self.second**1.5)) if slowest < 1 else 0.0
        return quantile * error / max(slowest, 1 - acceleration * quantile) ** 2, freedom


class LeftOutDeviations(NamedTuple):
    """What an interval reads of leave-one-out values.

    Attributes
    ----------
    value, upper, ratio : Deviations
        Of M̂, of M̂ + U and of M̂ / (1 - U) without each row, or each block of rows. None if the ratio is not known.
    checked : float
        The mean of 1 - U without each row.
    reach, heaviest : float
        As for `LeftOut`.
    weight : float or None
        Sum over rows of the squared `LeftOut.weight`; None for equality.
    beyond : Deviations or None
        Of M̂ / (1 - U) less chance, if chance changes with the rows.
    """

    value: Deviations
    upper: Deviations
    ratio: Deviations | None = None
    checked: float = 1.0
    reach: float = 1.0
    weight: float | None = None
    heaviest: float = 1.0
    beyond: Deviations | None = None

    @classmethod
    def of(cls, left_out: LeftOut, chance: Floats | None = None) -> "LeftOutDeviations":
        """Of leave-one-out values, and of the chance level without each row if it changes."""
        value, rows, silent = left_out.value, left_out.rows, left_out.silent
        times = np.broadcast_to(1.0, len(value)) if rows is None else rows
        lower = upper = ratio = Deviations.of(value, rows)
        ratios, checked = value, 1.0
        if silent.any():
            seen = 1 - silent
            ratios, checked = value / np.where(seen > 0, seen, np.inf), float(times @ seen) / lower.rows
            upper, ratio = Deviations.of(value + silent, rows), Deviations.of(ratios, rows)
        beyond = None if chance is None else Deviations.of(ratios - chance, rows)
        weight = None if left_out.weight is None else float(times @ left_out.weight**2)
        return cls(lower, upper, ratio, checked, left_out.reach, weight, left_out.heaviest, beyond)


class UnseenRows(NamedTuple):
    """Whom a row that the sample missed could be covered by: any explanation, of which each covers so many rows.

    Attributes
    ----------
    others, rows : (m,) arrays
        How many other rows an explanation covers, and how many rows have such an explanation.
    further : int
        How many further rows were looked at, without their predictions.
    """

    others: Array
    rows: Array
    further: int = 0

    def least(self, wrong: float, effective_n: float) -> float:
        """The least margin, ``(L + Σ_i L' / (c_i + L')) / n``, with L = ln(1/δ) and L' = L n / (n + further rows).

        A kind of row that nobody saw has probability at most L / (n + further rows). If it lies under the explanation
        of row i, which covers c_i others, it takes a share L' / (c_i + L') of that row's term. Weighted or clustered
        rows are as good as `effective_n`, so L is larger by n / effective_n.
        """
        n = float(self.rows.sum())
        missed = math.log(1 / wrong) * n / effective_n
        unseen = missed * n / (n + self.further)
        some = self.others > 0
        leaning = np.sum(self.rows[some] * (unseen / (self.others[some] + unseen)))
        return float((missed + leaning) / n)


def margins(
    left_out: LeftOut | LeftOutDeviations | None,
    good: float,
    confidence: float,
    *,
    own: float = 1.0,
    lean: float | None = None,
    unseen: Sequence[UnseenRows] = (),
    bracket: Bracket | None = None,
    explained: float | None = None,
) -> Margins:
    """Margins from leave-one-out values; `own` if there are none, as for a single row.

    Parameters
    ----------
    good : float
        As how many rows of the same weight these are, if none is heavier than others (``left_out.heaviest``).
    own, lean : float
        How much a row that the sample missed may change its own term, and the terms of other rows: by default the
        `reach`, how much they lean on one row at most, ``max_j Σ_i 1(π_i covers j) / c_i``. It is 1 for equality.
    unseen : sequence of UnseenRows
        Allows for rows that may lie under more explanations than any row that was seen.
    bracket : Bracket, optional
        Of the tight interval: a row that was missed, whose pairs count 1 + κ, changes so much more.
    explained : float, optional
        The share of variance that is explained, which is skewed: a few predictions far from the others hold much of
        the variance, and a sample that lacks them explains too much. So the lower end is that of
        ``log(1 - explained)``, in which a variance is nearer to normal, with Efron's acceleration.
    """
    wrong = check_confidence(confidence) / 2
    if left_out is None:
        return Margins(own, own)
    known = left_out if isinstance(left_out, LeftOutDeviations) else LeftOutDeviations.of(left_out)
    rows, missed = good / known.heaviest, own + (max(1.0, known.reach) if lean is None else lean)
    least = max(missed * math.log(1 / wrong) / rows, sum(each.least(wrong, rows) for each in unseen))
    # The margin of M̂ / (1 - U): the jackknife of the ratio; the least margin is divided by the share checked.
    among = least / known.checked if known.checked > 0 else math.inf
    verified = 1.0 if known.ratio is None else min(1.0, max(known.ratio.margin(wrong)[0], among))
    beyond = None if known.beyond is None else max(known.beyond.margin(wrong)[0], among)
    least *= 1.0 if bracket is None else 1 + bracket.kappa
    spreads = [known.value.margin(wrong), known.upper.margin(wrong)]
    below, above = (max(margin, least) for margin, _ in spreads)
    freedom = min((freedom for margin, freedom in spreads if margin > least), default=math.inf)
    if explained is not None:
        rest = 1 - explained
        if rest > 1e-12:  # the logarithm says nothing of shares below 0; beyond a quarter the end is 0 anyway
            skewed = known.value.margin(wrong, slowest=0.25)[0]
            below = max(below, min(explained, rest * math.expm1(min(700.0, skewed / rest))))
    again = partial(margins, known, good, own=own, lean=lean, unseen=unseen, bracket=bracket, explained=explained)
    return Margins(below, above, freedom, (verified, verified), known.weight, again, bracket, beyond)


class IndependentUnits(Units):
    """Rows and units that vary independently, and how far means over rows may be off."""

    def without_each(self, part: Floats, whole: Floats) -> Deviations | None:
        """What ``Σ part / Σ whole`` becomes without each unit, about its mean; None if nothing is left of the whole."""
        rest = whole.sum() - whole
        if len(whole) < 2 or not (rest > 1e-12 * whole.sum()).all():
            return None
        return Deviations.of((part.sum() - part) / rest)

    def by_chance(self, pairs: float) -> float | None:
        """What rows of different units share, ``Σ w_i w_j K_ij / Σ w_i w_j``; None if all rows are of one unit."""
        everything = self.mass @ (self.mass.sum() - self.mass)
        return float(np.clip(pairs / everything, 0, 1)) if len(self.mass) > 1 else None

    def least(self, wrong: float) -> float:
        """The least margin of a mean of numbers from 0 to 1, ``ln(1/wrong) max w / Σ w``; `wrong` is that of one side.

        A row changes nothing but its own term, so it moves the mean by no more than its probability.
        """
        return math.log(1 / wrong) / self.good

    def margins(
        self,
        values: Floats,
        confidence: float,
        span: float = 1.0,
        *,
        checked: Floats | None = None,
        gained: Floats | None = None,
    ) -> Margins:
        """How far the mean of values that are at most `span` apart may be off.

        Parameters
        ----------
        checked : (n,) array, optional
            1 for rows that can be checked, the others add 0 to `values` and may add as much as any.
        gained : (n,) array, optional
            How much each row that can be checked adds to the mean beyond chance.
        """
        every = np.ones(len(values)) if checked is None else checked
        seen = self.sums(every)

        def left_out(column: Floats, whole: Floats) -> Deviations | None:
            return self.without_each(self.sums(column), whole)

        below, above = left_out(values, self.mass), left_out(values + 1 - every, self.mass)
        if below is None or above is None:
            return Margins(span, span)
        beyond = None if gained is None else left_out(gained * every, seen)
        known = LeftOutDeviations(below, above, left_out(values, seen), self.mean(every), beyond=beyond)
        return margins(known, self.good, confidence, own=span, lean=0.0)
