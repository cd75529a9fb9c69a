"""Weights and sizes of clusters that depend on the prediction: kept rows against brute force, and what holds."""

from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from bins import rules_in_bins
from brute_numbers import agreement_of
from faithscope.agreements import Same as SameLabel
from faithscope.counting.clusters import Strangers
from faithscope.counting.kept import Lots, go_with_labels, keep, kept_rows, thin
from faithscope.sample import Sample

SEEDS = st.integers(0, 2**32 - 1)
AGREEMENTS = {"labels": None, "close": fs.Close(1.5), "tolerance": fs.Tolerance(1.5)}


def brute(explanations, table, weights, most, clusters=None):
    """A and S: for every row, every way of keeping at most one row of each other cluster with its explanation."""
    clusters = np.arange(len(weights)) if clusters is None else clusters
    most = np.broadcast_to(most, len(weights))
    agreeing = silent = 0.0
    for row in range(len(weights)):
        others = np.flatnonzero((explanations == explanations[row]) & (clusters != clusters[row]))
        lots = [others[clusters[others] == cluster] for cluster in np.unique(clusters[others])]
        for ways in product(*([None, *lot] for lot in lots)):
            chance = weights[row]
            for lot, way in zip(lots, ways, strict=True):
                chance *= 1 - weights[lot].sum() / most[row] if way is None else weights[way] / most[row]
            kept = [way for way in ways if way is not None]
            agreeing += chance * table[row, kept].mean() if kept else 0.0
            silent += chance * (not kept)
    return np.array([agreeing, silent])


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("name", AGREEMENTS)
@given(SEEDS)
def test_sums_of_kept_rows_are_the_mean_over_all_ways_of_keeping_them(name, clustered, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    weights = rng.uniform(0.05, 2, n) ** 2 if seed % 2 else rng.integers(1, 4, n).astype(float)
    explanations, predictions = rng.integers(0, 3, n), rng.integers(0, 3, n).astype(float)
    clusters = np.append([0, 1], rng.integers(0, 4, n - 2)) if clustered else np.arange(n)
    sample = Sample.of(
        explanations, predictions, None, weights, AGREEMENTS[name], clusters.tolist() if clustered else None
    )
    terms = keep(sample, Strangers(sample)) or _all_kept(sample)
    lots = dict.fromkeys(zip(explanations, clusters, strict=True), 0.0)
    for pair, weight in zip(zip(explanations, clusters, strict=True), weights, strict=True):
        lots[pair] += weight
    most = np.full(n, max(lots.values()))
    if clustered and not terms.notes:  # sizes do not seem to go with predictions
        most = np.array([max(lots[pair] for pair in lots if pair[0] == code) for code in explanations])
    table = agreement_of(name, 1.5)(predictions[:, None], predictions)
    expected = brute(explanations, table, weights, most, clusters)
    assert (terms.sums.agreeing, terms.sums.silent) == pytest.approx(tuple(expected), abs=1e-9)
    for number, unit in enumerate(dict.fromkeys(clusters.tolist())):
        kept = np.flatnonzero(clusters != unit)
        part = (explanations[kept], table[np.ix_(kept, kept)], weights[kept], most[kept], clusters[kept])
        without = brute(*part) / weights[kept].sum()
        assert (terms.left_out.value[number], terms.left_out.silent[number]) == pytest.approx(tuple(without), abs=1e-9)


def _all_kept(sample):
    """Kept rows although pairs would be weighed, since few of these would be kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faithscope.counting.kept._APART", -1.0)
        return keep(sample, Strangers(sample))


@pytest.mark.parametrize(("n", "chance", "weight"), [(3, 0.1, 4.0), (6, 0.5, 4.0), (6, 0.1, 20.0), (5, 0.3, 0.2)])
def test_the_truth_lies_between_the_means_of_what_agrees_and_what_may(n, chance, weight):
    """One explanation of probability .4, whose rows have label 1 with a chance, and then a weight: every sample."""
    lowest = highest = mass = 0.0
    for rows in range(1, n + 1):
        for ones in range(rows + 1):
            labels = np.array([1] * ones + [0] * (rows - ones))
            weights = np.where(labels == 1, weight, 1.0)
            likely = comb(n, rows) * 0.4**rows * 0.6 ** (n - rows) * comb(rows, ones)
            likely *= chance**ones * (1 - chance) ** (rows - ones)
            same = (labels[:, None] == labels) * 1.0
            agreeing, silent = brute(np.zeros(rows), same, weights, max(weight, 1.0))
            lowest, highest = lowest + likely * agreeing, highest + likely * (agreeing + silent)
            mass += likely * weights.sum()
    share = chance * weight / (chance * weight + 1 - chance)
    assert lowest <= (share**2 + (1 - share) ** 2) * mass <= highest


@pytest.mark.parametrize("rows", [2, 3, 5, 17, 33, 34, 100, 999, 1_001, 3_000, 100_000])
def test_quadrature_is_exact_for_any_number_of_rows(rows):
    """If all rows are kept with one probability, what is kept is binomial: E[(N - 1)⁺ | ...] is known."""
    given = np.array([rows - rows // 2, rows // 2])
    labels, agreement = np.arange(2), SameLabel().over(np.arange(2.0))
    for kept in (1.0, 0.3, 1e-4):
        chance = np.full(2, kept)
        result = thin(Lots(0 * labels, chance, chance**2, given, labels, labels, chance), agreement)
        pairs = float(np.sum(given * (given - 1.0))) / (rows * (rows - 1.0))
        silent = rows * kept * (1 - kept) ** (rows - 1)
        assert result.silent[0] == pytest.approx(silent, rel=1e-11)
        assert result.agreeing[0] == pytest.approx(pairs * (rows * kept - silent), rel=1e-8 if kept < 1e-3 else 1e-11)


@pytest.mark.parametrize("clustered", [False, True])
def test_rows_kept_by_chance_are_draws_of_the_target_population_in_any_order(clustered):
    """Of heavy rows, or large clusters, as many are kept as they weigh; and the order of rows decides nothing."""
    rng = np.random.default_rng(3)
    labels, n = rng.integers(0, 2, 3000), 3000
    size = np.where(labels == 1, 5, 1)
    row = np.repeat(np.arange(n), size) if clustered else np.arange(n)
    X, order = rng.normal(size=n)[row, None], rng.permutation(len(row))
    weights, clusters = (None, row) if clustered else (size.astype(float), None)

    def kept(order):
        mass = None if weights is None else weights[order]
        which = None if clusters is None else clusters[order]
        return kept_rows(Sample.of(X[order], labels[row][order], X[order], mass, None, which))

    first, again = kept(np.arange(len(row))), kept(order)
    assert sorted(first.X[:, 0]) == sorted(again.X[:, 0])
    assert first.weights is first.clusters is None
    assert len(np.unique(first.X)) == first.n == pytest.approx(size.sum() / 5, rel=0.03)
    assert first.labels.mean() == pytest.approx(size[labels == 1].sum() / size.sum(), abs=0.03)


def windows(seed, n=400):
    """Rules that overlap, and labels of which one weighs more."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    low = (np.floor(x * 40) / 40)[:, None]
    labels = (rng.random(n) < 0.3).astype(int)
    return rules_in_bins(low - 0.02, low + 0.04, ["x"]), labels, x[:, None], np.where(labels == 1, 4.0, 1.0)


def told(estimate):
    return estimate.value, estimate.low, estimate.high


ODD = {
    "one row": (["a"], [0], [2.0]),
    "all alone": (["a", "b"], [0, 1], [2.0, 1.0]),
    "one pair": (["a", "a"], [0, 1], [2.0, 1.0]),
    "one label": (["a"] * 30, [0] * 30, [1.0] * 29 + [5.0]),
    "labels that never meet": (["a", "b"] * 20, [0, 1] * 20, [1.0, 9.0] * 20),
    "one heavy row": (["a", "b", "a", "c"] * 10, [0, 1, 1, 0] * 10, [1.0] * 39 + [1e6]),
    "nobody shares": (list(range(30)), [0, 1, 2] * 10, np.arange(1.0, 31.0)),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_samples_have_an_interval_around_their_value(kind):
    explanations, labels, weights = ODD[kind]
    found = fs.consistency(explanations, labels, weights=weights)
    assert 0 <= found.low <= found.value <= found.upper <= found.high <= 1
    assert found.unverifiable <= (1 if found.silence is None else found.silence + 1e-12)
    assert (found.verified is None) == (found.unverifiable == 1)


def test_weights_that_differ_much_are_thinned_if_they_go_with_the_prediction_and_pairs_weighed_if_not():
    rng = np.random.default_rng(4)
    explanations, labels = rng.integers(0, 10, 1000), (rng.random(1000) < 0.1).astype(int)
    by_chance = rng.lognormal(0, 0.8, 1000)
    for weights, method, note in (
        (np.where(labels == 1, 8.0, 1.0) * by_chance, "kept rows", "the interval is that of about"),
        (by_chance, "jackknife", "assumes that weights do not depend on the prediction"),
    ):
        found = fs.consistency(explanations, labels, weights=weights)
        assert found.method == method
        assert any(note in told for told in found.notes)


def test_weights_that_vary_otherwise_with_the_prediction_are_thinned_however_alike_their_logarithms():
    """Of equal means of log w, rows of one label may weigh three times as much in the mean as those of the other."""
    rng = np.random.default_rng(1)
    explanations, labels = rng.integers(0, 50, 1000), rng.integers(0, 2, 1000)
    heavy = labels == (explanations < 25)
    found = fs.consistency(explanations, labels, weights=np.exp(np.where(heavy, 1.5, 0.3) * rng.normal(size=1000)))
    share = np.exp(1.5**2 / 2) / (np.exp(1.5**2 / 2) + np.exp(0.3**2 / 2))
    assert found.method == "kept rows"
    assert found.low <= share**2 + (1 - share) ** 2 <= found.high
    assert fs.consistency(explanations, labels, weights=np.exp(rng.normal(size=1000))).method == "jackknife"


def test_spread_with_weights_has_the_interval_of_kept_rows():
    """Weights of large numbers: pairs would miss the truth, 1 - E[w (z - m)²] / E[w (z - μ)²], in most samples."""
    rng, K = np.random.default_rng(2), 200
    means = rng.normal(size=K) * 0.7

    def draw(rows):
        codes = rng.integers(0, K, rows)
        numbers = means[codes] + 0.7 * rng.normal(size=rows)
        return codes, numbers, np.where(numbers > 1, 10.0, 1.0)

    codes, numbers, weights = draw(400_000)
    mass = np.bincount(codes, weights)
    apart = numbers - (np.bincount(codes, weights * numbers) / mass)[codes]
    truth = 1 - weights @ apart**2 / (weights @ (numbers - np.average(numbers, weights=weights)) ** 2)
    held = 0
    for _ in range(20):
        codes, numbers, weights = draw(1000)
        found = fs.consistency(codes, numbers, weights=weights, agreement=fs.Spread())
        assert found.method == "kept rows"
        held += found.low <= truth <= found.high
    assert held >= 18
    even = fs.consistency(codes, numbers, weights=np.full(1000, 2.0), agreement=fs.Spread())
    assert even.method == "jackknife"


def test_rules_that_partition_the_rows_are_as_sufficient_as_they_are_consistent():
    rng = np.random.default_rng(0)
    x = rng.random((300, 1))
    leaves = np.ceil(x * 30) / 30
    rules = rules_in_bins(leaves - 1 / 30, leaves, ["x"])
    labels = (rng.random(300) < leaves[:, 0]).astype(int)
    how = {"weights": np.where(labels == 1, 3.0, 1.0)}
    suffices, agrees = fs.sufficiency(rules, labels, x, **how), fs.consistency(rules, labels, **how)
    for name in ("value", "unverifiable", "verified", "chance", "effective_n"):
        assert getattr(suffices, name) == pytest.approx(getattr(agrees, name), abs=1e-10), name


@pytest.mark.parametrize("given", ["weights", "clusters", "both"])
def test_a_row_that_was_missed_may_weigh_as_much_as_the_heaviest(given):
    # No row disagrees, so all that the interval allows for is a kind of row, or of cluster, that was not seen.
    sizes = np.array([1, 1, 2, 3, 3, 9] * 40)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    options = {
        "weights": {"weights": sizes.astype(float), "interval": "jackknife"},
        "clusters": {"clusters": cluster},
        "both": {"clusters": np.repeat(np.arange(len(sizes)), 2), "weights": np.repeat(sizes / 2, 2)},
    }[given]
    n = {"weights": len(sizes), "clusters": len(cluster), "both": 2 * len(sizes)}[given]
    found = fs.consistency(np.zeros(n, int), np.zeros(n, int), **options)
    assert found.low == pytest.approx(1 - 2 * log(40) * sizes.max() / sizes.sum())


@pytest.mark.parametrize("given", ["weights", "clusters"])
def test_rare_heavy_rows_that_disagree_are_allowed_for_if_other_heavy_rows_were_seen(given):
    # With the effective sample size alone, the interval missed the truth in one of five of these samples.
    rng, n, rare, heavy, weight, held = np.random.default_rng(1), 300, 0.005, 0.02, 20, 0
    odd = rare * weight / (1 + (rare + heavy) * (weight - 1))
    truth = odd**2 + (1 - odd) ** 2
    for _ in range(100):
        kind = rng.choice(3, n, p=[1 - heavy - rare, heavy, rare])
        sizes, labels = np.where(kind > 0, weight, 1), kind == 2
        if given == "weights":
            found = fs.consistency(np.zeros(n, int), labels, weights=sizes.astype(float), interval="jackknife")
        else:
            cluster = np.repeat(np.arange(n), sizes)
            found = fs.consistency(np.zeros(len(cluster), int), labels[cluster], clusters=cluster)
        held += found.low <= truth <= found.high
    assert held >= 95


@pytest.mark.parametrize("labels", [2, 40, 200])
def test_weights_drawn_by_chance_seldom_seem_to_go_with_labels_however_many_there_are(labels):
    rng, seeming = np.random.default_rng(labels), 0
    for _ in range(200):
        weights = np.exp(rng.normal(size=400))
        seeming += go_with_labels(Sample.of(np.arange(400), rng.integers(0, labels, 400), None, weights))
    assert seeming <= 10  # about 1% are expected


def test_weights_of_rows_that_all_agree_change_nothing_to_the_last_bit():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 1))
        labels = X[:, 0] > 0
        rules = fs.Rules.from_conditions([[("a", ">" if label else "<=", 0.0)] for label in labels], features=["a"])
        assert fs.sufficiency(rules, labels, X, weights=rng.random(20) + 0.1).verified == 1.0


def test_sufficiency_weighs_pairs_unless_weights_go_with_the_prediction():
    rules, labels, X, by_label = windows(5)
    any_weights = np.random.default_rng(6).lognormal(0, 1.5, len(labels))
    spread = np.exp(np.random.default_rng(7).normal(size=len(labels)) * np.where(labels == 1, 1.5, 0.3))
    for weights, kept in ((any_weights, False), (by_label, True), (spread, True), (2 * any_weights, False)):
        found = fs.sufficiency(rules, labels, X, weights=weights)
        assert found.method == ("kept rows" if kept else "jackknife")
        assert any("do not depend on the prediction" in note for note in found.notes) != kept
        assert any("kept by chance" in note for note in found.notes) == kept


def test_explainers_are_compared_on_the_rows_that_their_estimates_thinned():
    pytest.importorskip("pandas")
    rules, labels, X, weights = windows(7)
    coarse = fs.Rules.from_conditions([[("x", "<=", 2.0)]] * len(labels), features=["x"])
    compared = fs.compare(labels, {"a": rules, "b": coarse}, X, weights=weights)
    lines = compared.differences().set_index("measure")
    for measure in ("consistency", "sufficiency"):
        first, second = (getattr(compared[name], measure) for name in "ab")
        assert first.method == "kept rows"
        assert lines.loc[measure, "value"] == pytest.approx(first.value - second.value)
        assert lines.loc[measure, "low"] <= first.value - second.value <= lines.loc[measure, "high"]


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("weight", ["ones", "by label", "skewed"])
def test_rows_of_weight_0_are_as_if_they_were_not_there(unseen, weight):
    rng = np.random.default_rng(8)
    X, n = rng.normal(size=(80, 2)).round(1), 80
    labels = (X[:, 0] + 0.4 * rng.normal(size=n) > 0).astype(int)
    weights = {"ones": np.ones(n), "by label": 1.0 + labels, "skewed": rng.lognormal(size=n)}[weight]
    weights[rng.choice(n, 9, replace=False)] = 0
    further = rng.normal(size=(60, 2)).round(1)
    rules = {
        name: fs.Rules.from_conditions([[(name, "<=", end)] for end in (column + 0.5).round()], features=["a", "b"])
        for name, column in zip("ab", X.T, strict=True)
    }

    def measured(kept, more):
        compared = fs.compare(
            labels[kept],
            {name: given.take(kept) for name, given in rules.items()},
            X[kept],
            weights=weights[kept],
            unseen=unseen,
            unlabeled=more,
        )
        curve = fs.tolerance_curve(X[kept, 1].round(), X[kept, 0], weights=weights[kept])
        pairs = [pair.to_dict() for pair in compared.pairs]
        estimates = [(told(each), each.unverifiable) for ev in compared.values() for each in ev._estimates()]
        return pairs, estimates, curve.note, list(map(told, curve.estimates))

    for more in (None, further):
        assert measured(np.arange(n), more) == measured(np.flatnonzero(weights), more)


def test_rows_of_equal_weight_are_compared_as_rows_without_weights():
    rules, labels, X, _ = windows(7, 100)
    coarse = fs.Rules.from_conditions([[("x", "<=", 0.5)], [("x", ">", 0.2)]] * 50, features=["x"])
    pairs = [
        fs.compare(labels, {"a": rules, "b": coarse}, X, weights=weights).pairs for weights in (None, np.full(100, 0.3))
    ]
    assert [pair.to_dict() for pair in pairs[0]] == [pair.to_dict() for pair in pairs[1]]


@pytest.mark.parametrize(
    ("weights", "message"), [([1.0, -1.0], "negative"), ([0.0, 0.0], "All weights are 0"), ([1.0], "rows")]
)
def test_bad_weights_get_a_clear_sentence(weights, message):
    rules = fs.Rules.from_conditions([[], []], features=["x"])
    with pytest.raises(fs.errors.BadInput, match=message):
        fs.sufficiency(rules, [0, 1], [[1.0], [2.0]], weights=weights)
