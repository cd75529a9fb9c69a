"""What naming features is worth: sufficiency by `Alike` beyond that of random features, and of the same for all."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counted import Coverage
from faithscope.counting.coverage import cover
from faithscope.explanations.alike import alike_rules
from faithscope.explanations.forms import in_blocks
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.grouping import hash_rows
from faithscope.inputs.repeats import row_blocks
from faithscope.measures.comparing.paired import LeftOutEstimate, leaving_out_alike, paired_difference
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals.margins import Share
from faithscope.relations import Alike, Applies
from faithscope.sample import Sample

Marks = NDArray[np.int8]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def beyond(
    estimate: Estimate,
    coverage: Coverage,
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
    coverage : Coverage
        From which it was made.
    given, rules : Sample
        The rows with their importances, and with the rules that these stand for.
    measure : callable
        The sufficiency of a coverage, without each row or block of rows.
    """
    given, rules = given.counted(), rules.counted()
    sizes, names = given.explanations.sizes()  # type: ignore[attr-defined]
    many = (given.explanations.named(alike.k)[0] != 0).sum(axis=1)  # type: ignore[attr-defined]
    baselines = at_random(given.X, many, sizes.shape[1]), on_average(sizes, many, given.weights)
    made = [alike_rules(marks, names, given.X, alike.bins, alike.X_train) for marks in baselines]
    samples = [replace(rules, explanations=each).evenly() for each in (rules.explanations, *made)]
    applies = [Applies()] * len(samples)
    # In blocks all are counted again, since rules on other features have other blocks.
    covers = [coverage, *map(cover, samples[1:], applies)] if coverage.block is None else []
    named, *others = map(measure, leaving_out_alike(covers, samples, applies, cover), samples)
    found = [paired_difference(named, other, estimate.confidence) for other in others]
    random, everybody = (Share(each.value, each.low, each.high) for each in found)
    return replace(estimate, beyond_random=random, beyond_global=everybody)


def at_random(X: Any, many: Ints, width: int) -> Marks:
    """For each row, so many of the features, drawn at random by what the row is: the order of rows says nothing.

    Equal rows draw one after the other.
    """
    words = hash_rows(row_blocks(X) or [np.arange(len(many))[:, None]])
    order, place = np.argsort(words, kind="stable"), np.arange(len(many))
    place[order] = place - np.searchsorted(words[order], words[order])
    seeds = hash_rows([words.view(np.int64)[:, None], place[:, None]])
    marks, features = np.zeros((len(many), width), np.int8), np.arange(width)
    salts = (1 + features).astype(np.uint64) * _GOLDEN
    for block in in_blocks(marks):
        drawn = (seeds[block, None] ^ salts) * _GOLDEN
        drawn ^= drawn >> _HALF
        drawn *= _GOLDEN
        np.put_along_axis(marks[block], np.argsort(drawn, axis=1), (features < many[block, None]).astype(np.int8), 1)
    return marks


def on_average(sizes: Array, many: Ints, weights: Floats | None) -> Marks:
    """For each row, so many of the features that are the largest on average, the earlier of equal ones."""
    order = np.argsort(-np.average(sizes, axis=0, weights=weights), kind="stable")
    return (np.argsort(order) < many[:, None]).astype(np.int8)
