"""Systems of numeric predictions whose true measures are known by enumeration.

A system gives every explanation a list of equally likely predictions, thousands of them where the tail matters, so that
sums over all pairs are exact.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from harness import ends
from numpy.random import default_rng
from scipy import stats
from systems import Kinds, beside, nested, sliding

import faithscope as fs
from faithscope.testing.populations import equal, long_tail

EPS = 1.0  # of Close and Tolerance; predictions are made so that it matters
AGREEMENTS = {"close": fs.Close(EPS), "tolerance": fs.Tolerance(EPS), "spread": fs.Spread()}


@dataclass(frozen=True, eq=False)
class NumericSystem(Kinds):
    """Kinds of rows with equally likely predictions: q is a (kinds, m) array, or (kinds, m, outputs)."""

    def draw(self, n, rng):
        """Rows: their kinds and their predictions."""
        kinds = self.kinds(n, rng)
        return kinds, self.q[kinds, rng.integers(0, self.q.shape[1], n)]

    @cache  # noqa: B019 - systems live as long as the study
    def truth(self, agreement):
        """The mean agreement of a row and a row that its explanation covers; of spread, the variance explained."""
        return self.beside(self, agreement)

    def beside(self, group, agreement):
        """The same of rows of a group, which has kinds as often, beside these rows."""
        return self._spread(group) if agreement == "spread" else self._mean(group, agreement)

    def _mean(self, group, agreement):
        total = 0.0
        for kind, mass in enumerate(self.p):
            others = [kind] if self.covers is None else np.flatnonzero(self.covers[kind])
            weight, values = np.repeat(self.p[others], self.q.shape[1]), self.q[others].reshape(-1)
            order = np.argsort(values)
            agreeing = agreement_sums(agreement, group.q[kind], values[order], weight[order])
            total += mass * agreeing.mean() / weight.sum()
        return total

    def _spread(self, group):
        """One minus the mean of half the squared distance from a covered row, over the variance of all predictions."""
        outputs = self.q.reshape(*self.q.shape[:2], -1)
        mean = np.einsum("k,kmo->o", self.p, outputs) / outputs.shape[1]

        def moments(system):
            apart = system.q.reshape(*system.q.shape[:2], -1) - mean
            return np.column_stack([(apart**2).mean(axis=1).sum(axis=1), apart.mean(axis=1)])

        mine, others = moments(group), self.among(moments(self))
        within = (mine[:, 0] + others[:, 0]) / 2 - (mine * others)[:, 1:].sum(axis=1)
        return 1 - self.p @ within / (self.p @ moments(self)[:, 0])


def agreement_sums(agreement, y, values, weight):
    """Σ w over sorted values at most EPS from each y; if close, less their distances: ``Σ w (1 - |y - y'| / EPS)``."""
    upto, moment = (np.append(0.0, np.cumsum(each)) for each in (weight, weight * values))
    if agreement == "tolerance":
        return upto[np.searchsorted(values, y + EPS, "right")] - upto[np.searchsorted(values, y - EPS)]
    below, at, above = (
        x * upto[place] - moment[place]  # Σ w max(0, x - value)
        for x in (y - EPS, y, y + EPS)
        for place in [np.searchsorted(values, x)]
    )
    return (below - 2 * at + above) / EPS


GIVEN_AS = {"consistency": lambda _, kinds: {"explanations": kinds}, "sufficiency": Kinds.ruled, "within": Kinds.placed}


def measured(system, n, rng, measure, names):
    """The intervals of one measure, by several agreements, on the same rows; equal predictions have no spread."""
    kinds, y = system.draw(n, rng)
    rows = {**GIVEN_AS[measure](system, kinds), "predictions": y}
    return {
        f"{measure}, {name}": ends(getattr(fs, measure)(**rows, agreement=AGREEMENTS[name]), system.truth(name))
        for name in names
        if name != "spread" or np.ptp(y.reshape(n, -1), axis=0).max() > 0
    }


def quantiles(shape, m):
    """Equally likely values of a distribution."""
    return shape.ppf((np.arange(m) + 0.5) / m)


def shaped(p, place, shape, scale, m, covers=None):
    """Every explanation moves and stretches one shape, centered."""
    values, stretch = quantiles(shape, m), np.broadcast_to(scale, len(p))
    return NumericSystem(p, place[:, None] + stretch[:, None] * (values - values.mean()), covers)


def moved(cells, shape, scale=0.5, m=0, apart=1.0):
    """Explanations with these chances, or so many equal ones; always the same moves."""
    p = equal(cells) if np.ndim(cells) == 0 else cells
    place = apart * default_rng(20).normal(size=len(p))
    return shaped(p, place, shape, scale, m or max(200, 200_000 // len(p)))


def wavy(shape, scale, covers):
    """Rows on a line; predictions rise and fall along it."""
    points = len(covers)
    return shaped(equal(points), 2 * np.sin(np.linspace(0, 6, points)), shape, scale, 400, covers)


def betas(p, strength):
    """Probabilities around a mean per explanation, in tenths, so that EPS is a tenth."""
    mean = default_rng(21).beta(1, 1, len(p)).clip(0.02, 0.98)
    values = [10 * quantiles(stats.beta(strength * a, strength * (1 - a)), 2_000) for a in mean]
    return NumericSystem(p, np.stack(values))


def outputs(p, classes, strength):
    """Vectors of probabilities of classes."""
    rng = default_rng(22)
    centers = rng.dirichlet(np.ones(classes), len(p)).clip(1e-3)
    return NumericSystem(p, np.stack([rng.dirichlet(strength * center, 2_000) for center in centers]))


def jumping(usual, odd, share, m=10_000):
    """Each of 20 explanations draws from an odd shape now and then."""
    values = np.concatenate([quantiles(usual, round((1 - share) * m)), quantiles(odd, round(share * m))])
    return NumericSystem(equal(20), default_rng(23).normal(size=20)[:, None] + values)


CONSTANT = stats.randint(0, 1)  # always 0
STEPS = np.geomspace(0.02, 3, 20)
NUMERIC = {
    "4, normal": moved(np.array([0.4, 0.3, 0.2, 0.1]), stats.norm),
    "20, normal": moved(20, stats.norm),
    "20, Student t3": moved(20, stats.t(3)),
    "20, lognormal": moved(20, stats.lognorm(1)),
    "20, lognormal, wide": moved(20, stats.lognorm(1.5), 0.3),
    "20, Pareto 3": moved(20, stats.pareto(3)),
    "20, two humps": moved(20, stats.bernoulli(0.5), 3.0),
    "20, counts": NumericSystem(equal(20), np.stack([quantiles(stats.poisson(k / 4), 2_000) for k in range(20)])),
    "1,000, normal": moved(1_000, stats.norm),
    "long tail, normal": moved(long_tail(1_000), stats.norm),
    "long tail, lognormal": moved(long_tail(1_000), stats.lognorm(1), m=1_000),
    "heteroscedastic": moved(20, stats.norm, STEPS),
    "wild where rare": moved(long_tail(100), stats.norm, np.geomspace(0.05, 5, 100)),
    "constant": moved(50, CONSTANT),
    "mostly constant": moved(50, stats.norm, np.where(np.arange(50) < 45, 0.0, 1.0)),
    "80% zeros": jumping(CONSTANT, stats.expon, 0.2),
    "meaningless": moved(20, stats.norm, 1.0, apart=0.0),
    "probabilities": betas(equal(20), 20.0),
    "probabilities, tight": betas(long_tail(200), 200.0),
    "sparse, 20,000": moved(20_000, stats.norm, m=50),
}
UNSEEN = {  # one row in a hundred holds most of the variance: Spread is not judged, as 200 rows may lack that row
    "one rare and wild": moved(np.append(np.full(9, 0.11), 0.01), stats.norm, np.append(np.full(9, 0.1), 20)),
    "1% outliers": jumping(stats.norm(0, 0.5), stats.norm(0, 10), 0.01),
}
_ONE_HOT = np.where(np.arange(400) % 5 > 0, np.arange(20)[:, None] % 5, np.arange(400) // 5 % 5)
VECTORS = {
    "3 classes": outputs(equal(20), 3, 10.0),
    "10 classes, long tail": outputs(long_tail(200), 10, 20.0),
    "one-hot, 5 classes": NumericSystem(equal(20), np.eye(5)[_ONE_HOT]),
    "2 outputs, heavy tails": NumericSystem(
        equal(20), default_rng(25).standard_t(3, (20, 5_000, 2)) + np.arange(20)[:, None, None] / 8
    ),
}
NUMERIC_WITHIN = {
    "sliding, normal": wavy(stats.norm, 0.5, sliding(100, 5)),
    "sliding, Student t3": wavy(stats.t(3), 0.5, sliding(100, 5)),
    "sliding, lognormal": wavy(stats.lognorm(1), 0.5, sliding(100, 10)),
    "sliding, heteroscedastic": wavy(stats.norm, np.geomspace(0.02, 3, 100), sliding(100, 5)),
    "sliding, constant": wavy(CONSTANT, 0.0, sliding(100, 3)),
    "sliding, sparse": wavy(stats.norm, 0.5, sliding(600, 1)),
}
NUMERIC_COVERED = {
    **NUMERIC_WITHIN,
    "nested, normal": wavy(stats.norm, 0.5, nested(100, 5)),
    "nested, lognormal": wavy(stats.lognorm(1), 0.5, nested(100, 10)),
    "beside its own row": wavy(stats.expon, 0.5, beside(100, 1, 8)),
}
