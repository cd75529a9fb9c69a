"""Simulatability: decoders that have learned from 300 rows, whose accuracy on new rows is known."""

from functools import cache

import numpy as np
from harness import ends
from numpy.random import default_rng
from systems import FinitePopulation, drawn_rows, from_masses

import faithscope as fs

DECODERS = {"optimal": fs.OptimalDecoder, "Gibbs": fs.GibbsDecoder}


def decoded(explanations, labels, purity, skew, seed):
    """Explanations with probabilities like ``1 / rank**skew``, most of whose rows have one label each."""
    shares = 1 / np.arange(1, explanations + 1) ** skew
    within = np.full((explanations, labels), (1 - purity) / max(1, labels - 1))
    within[np.arange(explanations), default_rng(seed).integers(0, labels, explanations)] = purity
    return FinitePopulation(shares / shares.sum(), within)


RARE = decoded(20, 2, 0.97, 0.5, 5)
DECODED = {
    "pure, few": decoded(8, 2, 0.99, 0.0, 0),
    "pure, many unseen": decoded(600, 2, 0.99, 0.7, 1),
    "mixed, few": decoded(8, 3, 0.7, 0.5, 2),
    "mixed, many": decoded(100, 5, 0.8, 1.0, 3),
    "no use": decoded(20, 2, 0.5, 0.0, 4),
    "rare label": from_masses(RARE.p[:, None] * RARE.q * [1.0, 0.05]),
}


def rows_of(system, n, rng, how="independent"):
    """Explanations and predictions, and weights or clusters; weights undo that high predictions are drawn often."""
    joint, labels = system.p[:, None] * system.q, system.q.shape[1]
    rows, known = drawn_rows(joint.ravel(), n, rng, how, np.tile(1.0 + np.arange(labels), len(joint)))
    return *np.divmod(rows, labels), known


@cache
def fitted(system, name):
    """A decoder that has learned, always from the same rows; its accuracy on all kinds of rows, and that by chance."""
    learned = rows_of(system, 300, default_rng(1))[:2]
    decoder = DECODERS[name]().fit(*learned)
    kinds = (place.ravel() for place in np.indices(system.q.shape))
    told = decoder.accuracy(*kinds, weights=(system.p[:, None] * system.q).ravel())
    return decoder, told.value, told.chance


def simulatability(system, n, rng, how):
    """The intervals of both decoders on the same new rows: independent, weighted, or in clusters of equal ones."""
    explanations, predictions, known = rows_of(system, n, rng, how)
    answers = {}
    for name in DECODERS:
        decoder, value, chance = fitted(system, name)
        told = decoder.accuracy(explanations, predictions, **known)
        answers[f"{name}, labels, {how}"] = ends(told, value)
        answers[f"{name}, labels, {how}: gain"] = told.gain_low, told.gain_high, value - chance
    return answers
