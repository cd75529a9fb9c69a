"""Rows that belong together do not vouch for each other: clusters against brute force, and known truths."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.counting.clusters import Strangers
from faithscope.counting.counts import count_rows
from faithscope.counting.coverage import cover
from faithscope.errors import BadInput, Incompatible, NotProven
from faithscope.measures.counterexamples import counterexamples
from faithscope.relations import to_relation
from faithscope.sample import Sample

AGREEMENTS = {
    "labels": (None, lambda a, b: (a == b).astype(float)),
    "close": (fs.Close(1.0), lambda a, b: np.maximum(0.0, 1 - np.abs(a - b))),
    "tolerance": (fs.Tolerance(1.0), lambda a, b: (np.abs(a - b) <= 1).astype(float)),
}


def brute(given, covers, table, clusters, weights):
    """M̂ and U: pairs of a row given and a row covered, of different clusters, explanation by explanation."""
    total = silent = 0.0
    for explanation in np.unique(given):
        for own in (True, False):
            rows = (given == explanation) & (np.diag(covers) == own)
            pairs = rows[:, None] & covers & (clusters[:, None] != clusters[None, :])
            mass = np.outer(weights, weights) * pairs
            if pairs.any():
                total += weights[rows].sum() * (mass * table).sum() / mass.sum()
            else:
                silent += weights[rows].sum()
    return total / weights.sum(), silent / weights.sum()


def system(seed, kind):
    rng = np.random.default_rng([seed, len(kind)])
    n = int(rng.integers(4, 20))
    codes = rng.integers(0, 4, n)
    predictions = rng.integers(0, 3, n) if kind == "labels" else rng.normal(size=n)
    clusters = rng.integers(0, rng.integers(2, n + 1), n)
    clusters[:2] = [0, 1]  # at least two
    weights = rng.random(n) + 0.1 if seed % 2 else None
    return rng, codes, predictions, clusters, weights


@pytest.mark.parametrize("kind", AGREEMENTS)
@pytest.mark.parametrize("seed", range(60))
def test_consistency_compares_rows_of_different_clusters(seed, kind):
    _, codes, predictions, clusters, weights = system(seed, kind)
    agreement, agree = AGREEMENTS[kind]
    mass = np.ones(len(codes)) if weights is None else weights
    covers, table = codes[:, None] == codes, agree(predictions[:, None], predictions)
    estimate = fs.consistency(codes, predictions, clusters=clusters, weights=weights, agreement=agreement)
    assert (estimate.value, estimate.unverifiable) == pytest.approx(brute(codes, covers, table, clusters, mass))
    different = np.outer(mass, mass) * (clusters[:, None] != clusters)
    assert estimate.chance == pytest.approx((different * table).sum() / different.sum())
    sample = Sample.of(codes, predictions, None, weights, agreement, clusters)
    left_out = Strangers.of(sample).parts.terms()[1]
    for cluster in range(sample.clusters.max() + 1):
        kept = sample.clusters != cluster
        rest = (table[np.ix_(kept, kept)], clusters[kept], mass[kept])
        expected = brute(codes[kept], covers[np.ix_(kept, kept)], *rest)
        assert (left_out.value[cluster], left_out.silent[cluster]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", AGREEMENTS)
@pytest.mark.parametrize("seed", range(40))
def test_sufficiency_compares_rows_of_different_clusters(seed, kind):
    rng, codes, predictions, clusters, weights = system(seed, kind)
    agreement, agree = AGREEMENTS[kind]
    X, limits = rng.integers(0, 6, (len(codes), 1)).astype(float), np.array([0.0, 1.0, 3.0, 5.0])
    rules = fs.Rules.from_conditions([[("a", ">=", limits[code])] for code in codes], features=["a"])
    covers, table = X[:, 0] >= limits[codes][:, None], agree(predictions[:, None], predictions)
    mass = np.ones(len(codes)) if weights is None else weights
    estimate = fs.sufficiency(rules, predictions, X, clusters=clusters, weights=weights, agreement=agreement)
    expected = brute(codes, covers, table, clusters, mass)
    assert (estimate.value, estimate.unverifiable) == pytest.approx(expected, abs=1e-12)
    sample = Sample.of(rules, predictions, X, weights, agreement, clusters)
    coverage = cover(sample, to_relation(None, rules))
    for block in range(coverage.block.max() + 1):
        kept = coverage.block != block
        rest = (table[np.ix_(kept, kept)], clusters[kept], mass[kept])
        expected = brute(codes[kept], covers[np.ix_(kept, kept)], *rest)
        assert (coverage.left_out.value[block], coverage.left_out.silent[block]) == pytest.approx(expected, abs=1e-9)


FIELDS = ("value", "low", "high", "unverifiable", "verified", "chance", "effective_n")


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_of_one_row_are_no_clusters(weighted):
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 9, 80), rng.integers(0, 2, 80)
    weights = rng.random(80) + 0.5 if weighted else None
    alone = fs.consistency(codes, labels, weights=weights, clusters=np.arange(80))
    plain = fs.consistency(codes, labels, weights=weights, interval="jackknife")
    assert [getattr(alone, name) for name in FIELDS] == pytest.approx([getattr(plain, name) for name in FIELDS])


def test_rows_logged_twice_tell_no_more_than_once():
    rng = np.random.default_rng(1)
    codes, labels = rng.integers(0, 300, 400), rng.integers(0, 2, 400)
    once = fs.consistency(codes, labels, interval="jackknife")
    twice = fs.consistency(
        np.repeat(codes, 2), np.repeat(labels, 2), clusters=np.repeat([f"customer {row}" for row in range(400)], 2)
    )
    assert [getattr(twice, name) for name in FIELDS] == pytest.approx([getattr(once, name) for name in FIELDS])
    assert (twice.n, twice.clusters) == (800, 400)
    assert "n=800 in 400 clusters" in str(twice)
    assert fs.consistency(np.repeat(codes, 2), np.repeat(labels, 2)).low > 0.5  # where the truth is .5


def test_the_order_of_rows_and_the_names_of_clusters_do_not_matter():
    rng = np.random.default_rng(2)
    codes, labels, clusters = (rng.integers(0, size, 200) for size in (20, 3, 60))
    X = rng.integers(0, 5, (200, 1)).astype(float)
    rules = [[("a", "<=", float(code % 5))] for code in codes]
    order = rng.permutation(200)

    def both(rows, names):
        given = fs.Rules.from_conditions([rules[row] for row in rows], features=["a"])
        measures = (
            fs.consistency(codes[rows], labels[rows], clusters=names),
            fs.sufficiency(given, labels[rows], X[rows], clusters=names),
        )
        return [getattr(estimate, name) for estimate in measures for name in FIELDS]

    named = np.array([f"c{number}" for number in 59 - clusters])
    assert both(order, named[order]) == pytest.approx(both(np.arange(200), clusters), abs=1e-12)


@pytest.mark.slow
def test_intervals_hold_the_truth_where_customers_return():
    """Research: 200 equal explanations, 400 customers of 5 rows who keep their row with chance .7."""
    truth, held, naive = 0.3**2 + 0.7**2, 0, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        label_of = rng.random((400, 5)) < 0.3
        code_of = rng.integers(0, 200, (400, 5))
        first = rng.random((400, 5)) < 0.7
        codes, labels = np.where(first, code_of[:, :1], code_of), np.where(first, label_of[:, :1], label_of)
        customers = np.repeat(np.arange(400), 5)
        estimate = fs.consistency(codes.ravel(), labels.ravel(), clusters=customers)
        held += estimate.low <= truth <= estimate.high
        plain = fs.consistency(codes.ravel(), labels.ravel())
        naive += plain.low <= truth <= plain.high
    assert held >= 93
    assert naive <= 5


def test_explainers_are_compared_and_populations_measured_without_familiar_rows():
    rng = np.random.default_rng(3)
    X, customers = np.repeat(rng.normal(size=(60, 2)), 3, axis=0), np.repeat(np.arange(60), 3)
    model, sign = (lambda rows: rows[:, 0] > 0), (lambda rows: np.sign(rows[:, :1]))
    unique = lambda rows: rows.copy()  # noqa: E731
    comparison = fs.compare(model, {"sign": sign, "unique": unique}, X, clusters=customers, progress=False)
    assert comparison["unique"].consistency.unverifiable == 1
    assert comparison["sign"].consistency.clusters == 60
    assert fs.compare(model, {"unique": unique}, X, progress=False)["unique"].consistency.unverifiable == 0
    ev = fs.evaluate(model, sign, X, clusters=customers, groups=np.repeat(["x", "y"], 90), progress=False)
    assert [estimate.clusters for estimate in ev.populations.estimates.values()] == [30, 30]
    same = comparison.differences().set_index(["a", "b"]).loc[("sign", "unique")]
    assert same["low"] <= same["value"] <= same["high"]


def test_what_cannot_be_said_of_clusters_is_refused_in_a_sentence():
    codes, labels, clusters = [0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]
    with pytest.raises(NotProven, match="independent rows"):
        fs.consistency(codes, labels, clusters=clusters, interval="mcdiarmid")
    with pytest.raises(NotProven, match="Spread is not measured for clustered rows"):
        fs.consistency(codes, [0.0, 1.0, 2.0, 3.0], clusters=clusters, agreement=fs.Spread())
    with pytest.raises(BadInput, match="of one cluster"):
        fs.consistency(codes, labels, clusters=[7, 7, 7, 7])
    with pytest.raises(BadInput, match="clusters"):
        fs.consistency(codes, labels, clusters=[0, 1])
    with pytest.raises(BadInput, match="missing"):
        fs.consistency(codes, labels, clusters=[0, 1, None, 1])
    estimate = fs.consistency(codes, labels, clusters=clusters)
    for ask in (fs.plan, fs.mse_bound):
        with pytest.raises(NotProven, match="independent rows"):
            ask(estimate)
    with pytest.raises(Incompatible, match="clustered"):
        estimate.counts + estimate.counts


def test_a_certificate_of_rows_logged_twice_is_that_of_the_rows():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 20, 400)
    labels = (codes % 2) ^ (rng.random(400) < 0.1)
    twice, alone = (np.repeat(codes, 2).tolist(), np.repeat(labels, 2)), np.arange(400)
    once = fs.certify(codes.tolist(), labels, [None], interval="jackknife").low
    assert fs.certify(codes.tolist(), labels, [None], interval="jackknife", clusters=alone).low == pytest.approx(once)
    again = fs.certify(*twice, [None], interval="jackknife", clusters=np.repeat(alone, 2))
    assert again.low == pytest.approx(once)
    assert fs.certify(*twice, [None], interval="jackknife").low > once
    assert again.low < again.estimates[0].value
    with pytest.raises(NotProven, match="use 'jackknife' with clusters"):
        fs.certify(*twice, [None], clusters=np.repeat(alone, 2))


def test_several_discretizations_share_the_confidence_of_a_certificate():
    rng = np.random.default_rng(5)
    values, customers = np.round(rng.normal(size=(300, 2)), 1), rng.integers(0, 100, 300)
    labels = values[:, 0] > 0
    how = {"interval": "jackknife", "clusters": customers}
    alone, both = fs.certify(values, labels, ["sign"], **how), fs.certify(values, labels, ["sign", "1-fp"], **how)
    assert both.bounds[0][1] < alone.low
    assert alone.low < fs.consistency(fs.Sign()(fs.Importances(values)), labels, clusters=customers).value


@pytest.mark.parametrize("seed", range(20))
def test_counterexamples_are_pairs_of_strangers(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    codes, labels, clusters = rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, 4, n)
    clusters[:2] = [0, 1]
    X = rng.normal(size=(n, 2)) if seed % 2 else None
    pairs = {
        (a, b)
        for a in range(n)
        for b in range(a + 1, n)
        if codes[a] == codes[b] and labels[a] != labels[b] and clusters[a] != clusters[b]
    }
    sample = Sample.of(codes, labels, X, clusters=clusters)
    shown = counterexamples(count_rows(sample), sample, k=n * n)
    assert set(zip(shown["row_a"].tolist(), shown["row_b"].tolist(), strict=True)) == pairs
    for explanation, many in zip(shown["explanation"], shown["disagreeing_pairs"], strict=True):
        assert many == sum(str(codes[a]) == explanation for a, _ in pairs)
