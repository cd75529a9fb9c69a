"""Agreement of explainers against brute force, and what it must be whatever the explainers are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs

OVERLAPS = ("feature_agreement", "sign_agreement")
SEEDS = st.integers(0, 100_000)


def brute_same(a, b, weights, clusters):
    """Same, chance and kappa, over rows and over all pairs of rows of different clusters."""
    same = sum(w for w, x, y in zip(weights, a, b, strict=True) if x == y) / sum(weights)
    agreeing = everything = 0.0
    for i in range(len(a)):
        for j in range(len(a)):
            if clusters[i] != clusters[j]:
                everything += weights[i] * weights[j]
                agreeing += weights[i] * weights[j] * (a[i] == b[j])
    if everything == 0:
        return same, None, None
    chance = agreeing / everything
    return same, chance, None if chance > 1 - 1e-9 else (same - chance) / (1 - chance)


def top(row, k):
    """The k largest in size that are not 0, by rank."""
    ranked = sorted(range(len(row)), key=lambda j: (-abs(row[j]), j))[:k]
    return [j for j in ranked if row[j] != 0]


def brute_overlaps(x, y, k):
    """Feature and sign agreement of two rows of importances."""
    first, second = top(x, k), top(y, k)
    most = max(len(first), len(second))
    if not most:
        return 1.0, 1.0
    both = [j for j in first if j in second]
    sign = [j for j in both if (x[j] > 0) == (y[j] > 0)]
    return len(both) / most, len(sign) / most


def system(seed):
    """Importances of two explainers with ties and zeros, weights of which some are 0, and clusters."""
    rng = default_rng(seed)
    n, d = int(rng.integers(2, 16)), int(rng.integers(1, 5))
    a = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (n, d))
    b = np.where(rng.random((n, d)) < 0.6, a, rng.choice([-1.0, 0.0, 0.5], (n, d)))
    weights, clusters = rng.choice([0.0, 0.5, 1.0, 3.0], n), rng.integers(0, 4, n)
    weights[0], clusters[:2] = 1.0, [0, 1]
    return a, b, weights if seed % 3 else np.ones(n), clusters if seed % 2 else np.arange(n)


@given(SEEDS, st.integers(1, 5), st.sampled_from([fs.Sign(), fs.SignOfTop(1), fs.TopFeatures(2), fs.Rank()]))
def test_agreement_equals_brute_force_in_any_order(seed, k, discretizer):
    a, b, weights, clusters = system(seed)
    how = {"k": k, "discretizer": discretizer}
    (pair,) = fs.explainer_agreement({"a": a, "b": b}, weights=weights, clusters=clusters, **how).pairs
    order = default_rng(seed).permutation(len(a))
    turned = (
        fs.explainer_agreement({"b": b[order], "a": a[order]}, weights=weights[order], clusters=clusters[order], **how)
        .pairs[0]
        .columns()
    )
    for name, number in pair.columns().items():
        assert name in "ab" or turned[name] == (None if number is None else pytest.approx(number, abs=1e-9)), name
    a, b, mass, groups = (each[weights > 0] for each in (a, b, weights, clusters))
    coarse = [list(map(tuple, discretizer(fs.Importances(each)).values.tolist())) for each in (a, b)]
    same, chance, kappa = brute_same(*coarse, mass, groups)
    assert pair.n == len(a)
    assert pair.same.value == pytest.approx(same)
    assert pair.chance == (None if chance is None else pytest.approx(chance, abs=1e-12))
    assert (None if pair.kappa is None else pair.kappa.value) == (None if kappa is None else pytest.approx(kappa))
    per_row = np.array([brute_overlaps(x, y, k) for x, y in zip(a, b, strict=True)])
    for name, values in zip(OVERLAPS, per_row.T, strict=True):
        assert getattr(pair, name).value == pytest.approx(np.average(values, weights=mass)), name
    crossed = np.array([[brute_overlaps(x, y, k)[0] for y in b] for x in a])
    pairs = np.outer(mass, mass) * (groups[:, None] != groups)
    expected = (pairs * crossed).sum() / pairs.sum() if pairs.any() else None
    assert pair.feature_chance == (None if expected is None else pytest.approx(expected, abs=1e-12))
    for name in ("same", "kappa", *OVERLAPS):
        share = getattr(pair, name)
        assert share is None or share.low <= share.value <= share.high <= 1, name


@given(SEEDS)
def test_sets_of_named_features_are_compared_across_kinds(seed):
    rng = default_rng(seed)
    n, names = int(rng.integers(2, 12)), ["age", "job", "hours"]
    values = rng.choice([-1.0, 0.0, 0.5, 1.0], (n, 3))
    sets = [[name for name in names if rng.random() < 0.5] for _ in range(n)]
    rules = fs.Rules.from_conditions([[(name, ">", 0.0) for name in each] for each in sets], features=names[::-1])
    importances = fs.Importances(values, names=names)
    (pair,) = fs.explainer_agreement({"rules": rules, "shap": importances}, k=2).pairs
    expected = []
    for row, each in zip(values, sets, strict=True):
        named, asked = {names[j] for j in top(row, 2)}, set(each)
        most = max(len(named), len(asked))
        expected.append(len(named & asked) / most if most else 1.0)
    assert pair.feature_agreement.value == pytest.approx(np.mean(expected))
    assert pair.same is pair.chance is pair.kappa is pair.sign_agreement is None
    words = fs.Highlights([set(each) for each in sets])
    (other,) = fs.explainer_agreement({"words": words, "shap": importances}, k=2).pairs
    assert other.feature_agreement.value == pytest.approx(np.mean(expected))
