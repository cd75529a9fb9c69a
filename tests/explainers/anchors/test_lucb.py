"""The search that anchors of rows and of texts share: its bounds, its memory, and what it promises."""

import numpy as np
import pytest

from faithscope.explainers.anchors.search import Search, bound


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("level", [0.001, 0.1, 2.0])
def test_bounds_are_where_the_divergence_passes_the_level(mean, level):
    def divergence(q):
        q = min(max(q, 1e-9), 1 - 1e-9)
        return sum(a * np.log(a / b) for a, b in ((mean, q), (1 - mean, 1 - q)) if a > 0)

    low, high = (bound(np.array([mean]), np.array([level]), side)[0] for side in (-1, 1))
    assert 0 <= low <= mean <= high <= 1
    step = 2.0**-15
    assert divergence(min(low + step, mean)) <= level + 1e-6
    assert divergence(max(high - step, mean)) <= level + 1e-6
    assert low < step or divergence(low) >= level - 1e-6
    assert high > 1 - step or divergence(high) >= level - 1e-6


class Urns:
    """Candidates with known precision: feature j alone agrees with probability p[j], whatever else is there."""

    batch = 100

    def __init__(self, precision, seed):
        self.precision, self.width, self.seed, self.draws = np.array(precision), len(precision), seed, 0

    def extend(self, rows, anchors):
        return np.arange(self.width), (anchors == 0).astype(np.int32)

    def coverage(self, anchors, features, codes):
        return np.zeros(codes.shape)

    def agreeing(self, candidates, line, which, batch):
        anchors = candidates.anchors(line, which)
        best = np.where(anchors != 0, self.precision, 0.1).max(axis=1)
        self.draws += len(best) * self.batch
        keys = zip(candidates.rows[line].tolist(), batch.tolist(), candidates.key[line, which].tolist(), strict=True)
        chance = [np.random.default_rng([self.seed, *key]) for key in keys]
        return np.array([generator.binomial(self.batch, p) for generator, p in zip(chance, best, strict=True)])


def test_the_best_candidate_is_missed_by_more_than_tau_in_less_than_delta_of_searches():
    urns = Urns([0.5, 0.62, 0.45, 0.7, 0.68, 0.3, 0.55, 0.2], seed=5)
    anchors = Search(lambda rows: rows, beam=1, delta=0.1, tau=0.15).run(urns, np.arange(200), 0.99, 1)[0]
    chosen = urns.precision[anchors.argmax(axis=1)]
    assert np.mean(chosen < 0.7 - 0.15) <= 0.1
    assert urns.draws < 200 * 8 * 2000
