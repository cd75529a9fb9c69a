"""Target populations: consistency where rows count more or less."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts, count, sums
from faithscope.counting.leave_out import LeftOut
from faithscope.errors import NotProven
from faithscope.explanations import Explanations
from faithscope.explanations.base import several
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_labels
from faithscope.inputs.weights import to_weights
from faithscope.measures.estimate import Estimate, Shares, assemble, check_interval
from faithscope.measures.intervals import Margins, jackknife_margins

Floats = NDArray[np.float64]


def weighted_consistency(
    explanations: Explanations, predictions: Any, weights: Any, confidence: float, interval: str
) -> Estimate:
    """Consistency in a target population.

    ``M̂_w = (1/W) Σ_π W_π · Σ_y (W_{πy}² - V_{πy}) / (W_π² - V_π)`` with W sums of weights and V sums of their
    squares; with equal weights it is M̂. The jackknife needs each row's weight, so it is one more pass over the rows.
    """
    check_interval(interval)
    if interval != "jackknife":
        raise NotProven(f"interval={interval!r} is proven for unweighted rows only: use 'jackknife' with weights.")
    labels, mass = to_labels(predictions), to_weights(weights, len(explanations))
    same_length(explanations=len(explanations), predictions=len(labels))
    kept = mass > 0
    notes = () if kept.all() else (several(int((~kept).sum()), "row", "rows") + " of weight 0 left out",)
    if notes:
        explanations, labels, mass = explanations.take(kept), labels[kept], mass[kept]
    counts = count(explanations, labels, mass)
    found, margins = _measure(counts, explanations, labels, mass, confidence)
    return assemble(counts, found, margins, "consistency", confidence, interval, notes)


def _measure(
    counts: Counts, explanations: Explanations, labels: NDArray[Any], mass: Floats, confidence: float
) -> tuple[Shares, Margins]:
    size = counts.per_explanation
    weight, square, pairs = _group_sums(counts)
    shares = _share(weight, square, pairs, size)
    total = float(counts.masses[0].sum())
    silent = float(weight[size == 1].sum())
    found = Shares(float(shares.sum()), silent, total, label_chance(counts))
    if counts.n < 2:
        return found, Margins(1.0, 1.0)
    codes, cells = counts.locate(explanations, labels)
    same = counts.masses[0][cells]
    after = _share(
        weight[codes] - mass, square[codes] - mass**2, pairs[codes] - 2 * mass * (same - mass), size[codes] - 1
    )
    left = total - mass
    lonely = np.where(size[codes] == 2, weight[codes] - mass, 0.0) - np.where(size[codes] == 1, mass, 0.0)
    value, quiet = (shares.sum() - shares[codes] + after) / left, (silent + lonely) / left
    return found, jackknife_margins(LeftOut(value, quiet), counts.effective_n, confidence)


def _group_sums(counts: Counts) -> tuple[Floats, Floats, Floats]:
    """For each explanation: its weight, its sum of squares, and the weight of its agreeing pairs."""
    mass, squares = counts.masses
    weight, square, pairs = (
        sums(counts.explanation, cells, counts.distinct) for cells in (mass, squares, mass**2 - squares)
    )
    return weight, square, pairs


def _share(weight: Floats, square: Floats, pairs: Floats, size: NDArray[np.int64]) -> Floats:
    """The weighted agreement that each explanation adds, 0 where it has a single row."""
    all_pairs = weight**2 - square
    return np.divide(weight * pairs, all_pairs, out=np.zeros(len(weight)), where=(size > 1) & (all_pairs > 0))


def label_chance(counts: Counts) -> float | None:
    """Probability that two rows of the target population, whatever their explanations, share a prediction."""
    if counts.n < 2:
        return None
    mass, squares = counts.masses
    by_label = np.bincount(counts.label, weights=mass)
    weight, square = float(mass.sum()), float(squares.sum())
    return float(np.sum(by_label**2) - square) / (weight**2 - square)
