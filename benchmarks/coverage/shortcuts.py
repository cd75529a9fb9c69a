"""Whether explanations that mean nothing are said to be above chance: one of nearly all rows, and rare labels."""

import numpy as np
from harness import Line, said

import faithscope as fs

CHANCE = {  # share of the explanation that nearly all rows have, other explanations, rows of the rare label
    "99% and 30 rare, 1% of a rare label": (0.99, 30, 0.01),
    "99% and 5 rare, 1% of a rare label": (0.99, 5, 0.01),
    "90% and 300 rare, 1% of a rare label": (0.9, 300, 0.01),
    "99% and 30 rare, labels alike": (0.99, 30, 0.5),
}


def chance(system, n, rng):
    """Whether meaningless explanations are not said to be above chance."""
    share, others, rare = system
    explanations = np.where(rng.random(n) < share, 0, 1 + rng.integers(0, others, n))
    labels = rng.permutation(np.arange(n) < rare * n)
    return {"not said to be above chance": said(not fs.consistency(explanations, labels).above_chance)}


def lines():
    """The study of chance."""
    judged = {"quick": tuple(CHANCE)[:1], "quick_rows": 1_000, "bar": lambda *_: 0.975, "nominal": 0.975}
    yield Line("shortcuts/chance", chance, CHANCE, {1_000: 1_000}, **judged)
