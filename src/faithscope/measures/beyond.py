"""What naming features is worth: sufficiency by `Alike` beyond that of random features, and of the same for all."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counted import Coverage
from faithscope.counting.coverage import EXACT, cover
from faithscope.explanations.alike import alike_rules
from faithscope.explanations.forms import in_blocks
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.grouping import hash_rows
from faithscope.inputs.repeats import row_blocks
from faithscope.measures.comparing.paired import LeftOutEstimate, paired_difference
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals.margins import Share
from faithscope.relations import Alike, Applies
from faithscope.sample import Sample

Marks = NDArray[np.int8]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def beyond(
    estimate: Estimate,
    coverage: Coverage | None,
    given: Sample,
    rules: Sample,
    alike: Alike,
    measure: Callable[[Coverage, Sample], LeftOutEstimate],
) -> Estimate:
    """The estimate with what it is beyond two baselines, each measured on the same rows and paired with it.

    Parameters
    ----------
    estimate : Estimate
        Sufficiency of importances by `Alike`.
    coverage : Coverage, optional
        From which it was made, if that is at hand.
    given, rules : Sample
        The rows with their importances, and with the rules that these stand for.
    measure : callable
        The sufficiency of a coverage, without each row or block of rows.
    """
    sizes, names = given.explanations.sizes()  # type: ignore[attr-defined]
    many = (given.explanations.named(alike.k)[0] != 0).sum(axis=1)  # type: ignore[attr-defined]
    baselines = at_random(given.X, many, sizes.shape[1]), on_average(sizes, many, given.weights)
    made = [alike_rules(marks, names, given.X, alike.bins, alike.X_train) for marks in baselines]
    samples = [replace(rules, explanations=each).counted().evenly() for each in (rules.explanations, *made)]
    named, *others = map(measure, _left_out_alike(coverage, samples), samples)
    found = [paired_difference(named, other, estimate.confidence) for other in others]
    random, everybody = (Share(each.value, each.low, each.high) for each in found)
    return replace(estimate, beyond_random=random, beyond_global=everybody)


def _left_out_alike(coverage: Coverage | None, samples: Sequence[Sample]) -> list[Coverage]:
    """Coverage of all samples, without each row or each of the same blocks; the first is counted only if it must be."""
    beside = [sample.explanations for sample in samples]
    first, second = coverage or cover(samples[0], Applies(), beside=beside), cover(samples[1], Applies(), beside=beside)
    single = first.block is None and second.block is None
    last = cover(samples[2], Applies(), exact=EXACT if single else 0, beside=beside)
    block = last.block  # which does not depend on the order of the samples, since all stood beside it
    if block is None:
        return [first, second, last]
    return [
        each
        if each.block is not None and np.array_equal(each.block, block)
        else cover(sample, Applies(), exact=0, beside=beside)
        for each, sample in zip((first, second, last), samples, strict=True)
    ]


def at_random(X: Any, many: Ints, width: int) -> Marks:
    """For each row, so many of the features, drawn at random by what the row is: the order of rows says nothing.

    Equal rows draw one after the other.
    """
    words = hash_rows(row_blocks(X) or [np.arange(len(many))[:, None]])
    order = np.argsort(words, kind="stable")
    first = np.searchsorted(words[order], words[order])
    place = np.empty(len(many), np.int64)
    place[order] = np.arange(len(many)) - first
    seeds = hash_rows([words.view(np.int64)[:, None], place[:, None]])
    marks, features = np.zeros((len(many), width), np.int8), np.arange(1, width + 1, dtype=np.uint64) * _GOLDEN
    for block in in_blocks(marks):
        drawn = (seeds[block, None] ^ features) * _GOLDEN
        drawn ^= drawn >> _HALF
        drawn *= _GOLDEN
        _mark(marks[block], np.argsort(drawn, axis=1), many[block])
    return marks


def on_average(sizes: Array, many: Ints, weights: Floats | None) -> Marks:
    """For each row, so many of the features that are the largest on average, the earlier of equal ones."""
    order = np.argsort(-np.average(sizes, axis=0, weights=weights), kind="stable")
    marks = np.zeros(sizes.shape, np.int8)
    _mark(marks, np.broadcast_to(order, sizes.shape), many)
    return marks


def _mark(marks: Marks, order: Ints, many: Ints) -> None:
    """Mark the first so many features of each row, in this order of features."""
    most = int(many.max(initial=0))
    np.put_along_axis(marks, order[:, :most], (np.arange(most) < many[:, None]).astype(np.int8), axis=1)
