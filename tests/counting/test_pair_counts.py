"""Pairs by distance on the CPU: counts by products are those of the distances of all pairs, in double precision."""

import threading
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.counting import coverage
from faithscope.counting import near as pair_counts
from faithscope.counting.coverage import cover
from faithscope.counting.near import PairCounts
from faithscope.explanations.distances import tiles
from faithscope.explanations.distances.metrics import pairwise
from faithscope.explanations.distances.tiles import Near, ProductTiles, to_tiles
from faithscope.relations import Applies, Within
from faithscope.sample import Sample

METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "hamming", "canberra")


def normal(n, d, random):
    return random.standard_normal((n, d))


def grid(n, d, random):
    return random.integers(-2, 3, (n, d)) * 0.1  # many pairs at the radius itself, but for rounding


def far_away(n, d, random):
    return 1e7 + random.standard_normal((n, d))


def with_outliers(n, d, random):
    points = random.standard_normal((n, d))
    points[:3] *= 1e12
    return points


def tiny(n, d, random):
    return 1e-170 * random.standard_normal((n, d))


def with_zeros(n, d, random):
    return np.where(random.random((n, d)) < 0.5, -0.0, random.integers(0, 2, (n, d)))


def whole(n, d, random):
    return 10_000.0 + random.integers(-3, 4, (n, d))


POINTS = (normal, grid, far_away, with_outliers, tiny, with_zeros, whole)


def radii_of(points):
    """Radii that cover few and many, and some at which pairs lie exactly."""
    distances = pairwise(points[:40], points[40:80], "euclidean").ravel()
    at = np.quantile(distances, [0.0, 0.05, 0.5], method="nearest")
    return [0.0, *at, *np.nextafter(at, 0)]


def test_products_decide_as_distances_do():
    for draw in POINTS:
        points = draw(201, 5, default_rng(0))
        rows = points.copy()
        rows[7, 2] = np.nan
        distances = pairwise(points[:90], rows, "euclidean")
        for radius, is_open in product(radii_of(points), (False, True)):
            near = Near(points[:90], rows, np.full(90, radius), "euclidean", is_open)
            expected = distances < radius if is_open else distances <= radius
            for start, stop, begin, end in ((0, 90, 0, 201), (3, 60, 8, 168), (5, 6, 0, 8)):
                (mask,) = to_tiles(near).masks(slice(start, stop), slice(begin, end))
                np.testing.assert_array_equal(mask, expected[start:stop, begin:end])


def test_products_leave_few_pairs_in_doubt(monkeypatch):
    points, asked = normal(400, 14, default_rng(1)), []
    monkeypatch.setattr(tiles, "pairwise", None)
    monkeypatch.setattr(tiles, "paired", lambda a, b, metric: asked.append(len(a)) or np.zeros(len(a)))
    products = to_tiles(Near(points, points, np.full(400, 3.0), "euclidean"))
    assert isinstance(products, ProductTiles)
    products.masks(slice(0, 400), slice(0, 400))
    assert sum(asked) <= 9


def expected_counts(near, radius, segment, segments):
    distances = pairwise(near.centers, near.rows, near.metric)
    inside = distances < radius[:, None] if near.open else distances <= radius[:, None]
    return np.stack([inside[:, segment == s].sum(axis=1) for s in range(segments)], axis=1)


def counts_of(pairs):
    parts = list(pairs.in_batches(lambda start, counts: (start, counts)))
    assert [start for start, _ in parts] == sorted(start for start, _ in parts)
    return np.concatenate([counts for _, counts in parts], axis=1)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("draw", [normal, grid])
def test_counts_are_those_of_all_pairs(metric, draw, monkeypatch):
    monkeypatch.setattr(pair_counts, "_SIDE", 64)  # several groups of pieces, and several batches
    random = default_rng(3)
    points = draw(700, 4, random)
    codes = random.permutation(700)
    segment = np.where(np.arange(700) < 600, 1, random.integers(3, 6, 700))  # 0 and 2 are empty; 1 is several pieces
    radii = np.repeat([[0.3], [0.1], [0.0]], 700, axis=1)
    for near, given in (
        (Near(points[np.argsort(codes)], points, radii[0], metric), codes),  # every center is a row
        (Near(points[:50], points, radii[0, :50], metric), np.arange(700) % 50),
    ):
        pairs = PairCounts(near, radii[:, : len(near.centers)], given, segment, 7)
        assert pairs.halved == (len(near.centers) == 700 and metric in pair_counts._SYMMETRIC)
        assert len(pairs.groups) > 3
        expected = [expected_counts(near, radius, segment, 7) for radius in pairs.radii]
        np.testing.assert_array_equal(counts_of(pairs), expected)
        own = [pairwise(near.centers, near.rows, metric)[given, np.arange(700)] <= radius[0] for radius in radii]
        np.testing.assert_array_equal(pairs.own(), own)


def checked(near, codes, segment):
    """What is counted at the radii of the points themselves, which is what distances say."""
    pairs = PairCounts(near, near.radii[None], codes, segment, segment.max() + 1)
    expected = expected_counts(near, near.radii, segment, segment.max() + 1)
    np.testing.assert_array_equal(counts_of(pairs)[0], expected)
    return pairs


def test_open_balls_of_different_radii_with_missing_numbers():
    random = default_rng(5)
    centers, rows = grid(60, 3, random), grid(500, 3, random)
    rows[::9, 1] = np.nan
    near = Near(centers, rows, random.choice([0.0, 0.1, 0.2, 5.0], 60), "euclidean", open=True)
    checked(near, np.arange(500) % 60, random.integers(0, 4, 500))


def same_coverage(a, b):
    for column in ("explanation", "label", "given", "covered", "missed"):
        np.testing.assert_array_equal(getattr(a.counts, column), getattr(b.counts, column))
    np.testing.assert_array_equal(a.own, b.own)
    assert a.idle == b.idle
    for column in ("value", "silent", "reach", "weight"):
        np.testing.assert_allclose(getattr(a.left_out, column), getattr(b.left_out, column), rtol=1e-12, atol=1e-13)


RANDOM = default_rng(6)
X = RANDOM.integers(0, 4, (300, 3)).astype(float)
CASES = {
    "all different": (fs.Importances(RANDOM.standard_normal((300, 4))), None, Within(1.5)),
    "repeated": (fs.Importances(X), None, Within(1.0)),
    "cosine": (fs.Importances(1 + X), None, Within(0.01, "cosine")),
    "counterfactuals": (fs.Counterfactuals(X + RANDOM.integers(-1, 2, X.shape), X), X, Applies()),
}


@pytest.mark.parametrize("name", CASES)
def test_pairs_are_counted_as_bitmaps_are(name, monkeypatch):
    explanations, X, relation = CASES[name]
    made = []
    monkeypatch.setattr(coverage, "PairCounts", lambda *given: made.append(PairCounts(*given)) or made[-1])
    for labels in (1, 2, 3):
        sample = Sample(explanations, default_rng(7).integers(0, labels, 300), X)
        pairs = cover(sample, relation, exact=0)
        assert len(made) == labels  # one more for each sample, and none for bitmaps
        with monkeypatch.context() as patch:
            plain = Sample.covered_by
            patch.setattr(Sample, "covered_by", lambda *given, plain=plain: replace(plain(*given), near=None))
            same_coverage(pairs, cover(sample, relation, exact=0))
    assert len(made) == 3


def test_a_function_of_the_caller_is_never_called_in_another_thread():
    threads = set()

    def distance(a, b):
        threads.add(threading.current_thread())
        return float(np.abs(a - b).sum())

    X = default_rng(9).integers(0, 3, (60, 2)).astype(float)
    sample = Sample(fs.Counterfactuals(X + 1, X, metric=distance), np.arange(60) % 2, X)
    cover(sample, Applies(), exact=0)
    cover(Sample(fs.Importances(X), np.arange(60) % 2), Within(1.0, distance), exact=0)
    assert threads == {threading.current_thread()}


def test_large_whole_numbers_beside_small_ones_are_not_rounded():
    for large in [1e15, 1e19, 1e22, 1e36]:
        points = np.column_stack([[0.0, 1.0, 2.0, 3.0, 0.0], np.full(5, large)])
        estimate = fs.within(points, [0, 1, 0, 1, 0], 1.0)
        assert estimate.counts.per_explanation.tolist() == [3, 4, 3, 2]
