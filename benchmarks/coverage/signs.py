"""Direction: kinds of rows whose features move a model by known amounts, and importances with right and wrong signs."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from harness import ends
from numpy.random import default_rng
from runs import weighted
from systems import Kinds

import faithscope as fs

TRAIN = np.array([[-1.0] * 3, [1.0] * 3])  # with mean 0, so that a feature of a sum moves it by its own value


@dataclass(frozen=True, eq=False)
class SignSystem(Kinds):
    """Kinds of rows: q is a (2, kinds, 3) array of their features, whose sum the model predicts, and importances."""

    @cached_property
    def truth(self):
        """The share of named features that move the sum as their sign says, among those that move it."""
        moves, signs = self.q[0], np.sign(self.q[1])
        right, wrong = ((moves * signs * side > 0).sum(axis=1) for side in (1, -1))
        return self.p @ right / (self.p @ (right + wrong))


def signs(seed, kinds, right, **how):
    """Kinds with up to three named features, of which a share is right; some features move nothing."""
    rng = default_rng(seed)
    moves = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (kinds, 3), p=[0.2, 0.2, 0.2, 0.2, 0.2])
    named = rng.random((kinds, 3)) < 0.8
    named[:, 0] = True
    sides = np.where(rng.random((kinds, 3)) < right, 1.0, -1.0)
    return SignSystem(rng.dirichlet(np.ones(kinds)), np.stack([moves, named * sides * np.sign(moves + 0.1)]), **how)


_RARE = SignSystem(
    np.array([0.6, 0.39, 0.01]),
    np.array([[[1.0, 1, 0]] * 3, [[1.0, 1, 0], [1, 0, 0], [-1, -1, 0]]]),
)
SIGNS = {
    "signs 90% right": signs(1, 40, 0.9),
    "signs tossed": signs(2, 500, 0.5),
    "signs flipped": signs(3, 40, 0.05),
    "1% wrong": _RARE,
    "weighted 1 to 5": weighted(signs(4, 40, 0.8), np.linspace(1, 5, 40)),
    "weighted by kind": weighted(signs(5, 40, 0.8), np.repeat([4.0, 1.0], 20)),
    "clusters of 5": signs(6, 40, 0.8, together=5),
}


def direction(system, n, rng):
    """The interval of direction."""
    kinds = system.kinds(n, rng)
    rows, importances = system.q[:, kinds]
    drawn = fs.Perturbed(TRAIN, draws=20, seed=int(rng.integers(2**31)))
    model = partial(np.sum, axis=1)
    return {
        "direction": ends(fs.direction(importances, model, rows, population=drawn, **system.known(kinds)), system.truth)
    }
