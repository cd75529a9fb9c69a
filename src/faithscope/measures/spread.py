"""Spread: the share of the variance of numeric predictions that explanations account for."""

import math
from dataclasses import replace

import numpy as np

from faithscope.counting.clusters import spread_by_explanation
from faithscope.counting.counts import count_rows
from faithscope.counting.drawn import Counted
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.moments import SpreadCounts, spread_of_plain_rows
from faithscope.counting.profile import Profile, with_lone
from faithscope.measures.estimate import Estimate, noted, to_estimate
from faithscope.measures.intervals.margins import Deviations, LeftOutDeviations, margins
from faithscope.notes import Notes
from faithscope.relations import Beside
from faithscope.sample import Sample

_HEAVY = 10.0  # kurtosis beyond which a few predictions may decide the variance; 3 for a normal distribution


def spread_consistency(sample: Sample, confidence: float) -> Estimate:
    """`Spread` among rows with the same explanation."""
    if sample.weights is not None:
        return spread_estimate(count_rows(sample), *spread_by_explanation(sample), "consistency", confidence)
    spread, left_out, sizes, pairs, label_pairs = spread_of_plain_rows(sample)
    # One entry per explanation that rows share, and one for all others.
    some = sizes > 1
    size, pairs, single = sizes[some], pairs[some], int(np.sum(~some))
    table = with_lone(single, size - 1, pairs / size, pairs, size)
    profile = Profile(*table, np.array([sample.n]), len(sizes), 0, agreement=sample.agreement, label_pairs=label_pairs)
    return spread_estimate(profile, spread, left_out, "consistency", confidence)


def spread_estimate(
    counts: Counted,
    spread: SpreadCounts,
    left_out: LeftOut,
    measure: str,
    confidence: float,
    notes: Notes = (),
) -> Estimate:
    """An estimate from W, S and T, and from the leave-one-out values of W and U.

    Among rows that can be checked, the share explained is ``1 - W / ((1 - U) T)``.
    """
    whole, without, silent, n = spread.whole, spread.without, spread.unverifiable, counts.effective_n
    value, within = float(whole.explained[0]), float(whole.within[0] / whole.whole[0])
    known = checked = None
    if spread.always_vary:
        lower = upper = ratio = Deviations.of(without.explained, left_out.rows)
        if left_out.silent.any() or without.silent.any():  # else all three are the same
            seen = 1 - left_out.silent
            ratios = left_out.value / np.where(seen > 0, seen, np.inf)
            columns = (1 - without.within / without.whole, 1 - ratios / without.whole)
            upper, ratio = (Deviations.of(column, left_out.rows) for column in columns)
        known = LeftOutDeviations(lower, upper, reach=left_out.reach)
        checked = known._replace(value=ratio, upper=ratio)
    found = among = margins(known, n, confidence, explained=value)
    if 0 < silent < 1:
        among = margins(checked, n * (1 - silent), confidence, explained=1 - within / (1 - silent))
    if left_out.weight is not None:
        rows = 1.0 if left_out.rows is None else left_out.rows
        found = replace(found, weight=float(np.sum(rows * left_out.weight**2)))
    asked = isinstance(counts.relation, Beside)  # what shuffled predictions reach is not known of some rows that ask
    found = replace(found, beyond=among.below) if asked else found
    sums = Sums(-within * counts.n, silent * counts.n, float(counts.n))
    gap = None if silent >= 1 else spread.unit * math.sqrt(2 * float(whole.within[0]) / (1 - silent))
    estimate = to_estimate(
        counts,
        sums,
        found,
        measure,
        confidence,
        notes=notes,
        shuffled=not asked,
        spread=spread,
        among=among,
        gap=gap,
    )
    if spread.kurtosis <= _HEAVY:
        return estimate
    few = f"a few predictions far from the others decide the variance (kurtosis {spread.kurtosis:.0f}, 3 if normal)"
    return noted(estimate, (f"{few}: measure fs.Close(eps) beside it",))
