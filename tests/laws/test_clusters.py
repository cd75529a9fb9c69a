"""Rows that belong together do not vouch for each other; their measures are among those of brute force."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from bins import rules_in_bins
from faithscope.counting.counts import count_rows
from faithscope.errors import BadInput, Incompatible, NotProven
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.estimate import estimate
from faithscope.notes import of_kind
from faithscope.sample import Sample
from noted import noted
from refused import refused

FIELDS = ("value", "low", "high", "unverifiable", "verified", "chance", "effective_n")


def test_rows_logged_twice_tell_no_more_than_once():
    rng = default_rng(1)
    codes, labels = rng.integers(0, 300, 400), rng.integers(0, 2, 400)
    once = estimate(fs.count(codes, labels), interval="jackknife")
    twice = fs.consistency(
        np.repeat(codes, 2), np.repeat(labels, 2), clusters=np.repeat([f"customer {row}" for row in range(400)], 2)
    )
    assert [getattr(twice, name) for name in FIELDS] == pytest.approx([getattr(once, name) for name in FIELDS])
    assert (twice.n, twice.clusters) == (800, 400)
    assert "800 rows in 400 clusters" in str(twice)
    assert fs.consistency(np.repeat(codes, 2), np.repeat(labels, 2)).low > 0.5  # where the truth is .5


CODES, LABELS, CLUSTERS = [0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]
REFUSED = [
    ({"agreement": fs.Spread()}, NotProven, "Spread is not measured for clustered rows"),
    ({"clusters": [7, 7, 7, 7]}, BadInput, "of one cluster"),
    ({"clusters": [0, 1]}, BadInput, "clusters"),
    ({"clusters": [0, 1, None, 1]}, BadInput, "missing"),
]


def test_what_cannot_be_said_of_clusters_is_refused_in_a_sentence():
    for asked, error, words in REFUSED:
        refused(error, words, fs.consistency, CODES, LABELS, **{"clusters": CLUSTERS, **asked})


def test_estimates_of_clusters_are_not_planned_with_bounded_or_added():
    estimate = fs.consistency(CODES, LABELS, clusters=CLUSTERS)
    for ask in (fs.plan, fs.mse_bound):
        refused(NotProven, "independent rows", ask, estimate)
    with pytest.raises(Incompatible, match="clustered"):
        estimate.counts + estimate.counts


def test_counterexamples_are_pairs_of_strangers():
    for seed in range(6):
        rng = default_rng(seed)
        n = int(rng.integers(4, 30))
        codes, labels, clusters = rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, 4, n)
        clusters[:2] = [0, 1]
        told_apart = (codes[:, None] == codes) & (labels[:, None] != labels) & (clusters[:, None] != clusters)
        pairs = set(zip(*(rows.tolist() for rows in np.nonzero(np.triu(told_apart))), strict=True))
        sample = Sample.of(codes, labels, rng.normal(size=(n, 2)) if seed % 2 else None, clusters=clusters)
        shown = counterexamples(count_rows(sample), sample, k=n * n)
        assert set(zip(shown["row_a"].tolist(), shown["row_b"].tolist(), strict=True)) == pairs
        for explanation, many in zip(shown["explanation"], shown["disagreeing_pairs"], strict=True):
            assert many == sum(str(codes[a]) == explanation for a, _ in pairs)


def returning(by_label, seed=0, explanations=100, people=500):
    """Customers with one explanation and prediction each, who come back; the declined ones more often if `by_label`."""
    rng = default_rng(seed)
    codes, labels = rng.integers(0, explanations, people), rng.integers(0, 2, people)
    times = np.where(labels == 1, 8, 1) if by_label else rng.integers(1, 9, people)
    customer = np.repeat(np.arange(people), times)
    return codes[customer], labels[customer], customer


def doors(codes, labels, customer):
    """The estimates of clustered rows in every place that makes one, each with the note or without."""
    rows = pd.DataFrame({"code": codes, "side": codes % 2})
    rules = fs.Rules.parse([f"code == {code}" for code in codes], features=["code", "side"])
    log = rows.assign(yhat=labels, customer=customer)
    ev = fs.evaluate(labels, rules, rows, clusters=customer, by=rows.side)
    asked = {"prediction": "yhat", "explanation": "code", "kind": "keys", "clusters": "customer"}
    audited = fs.audit(log, by="side", **asked)
    close = {"agreement": fs.Close(0.5), "clusters": customer}
    return {
        "consistency": fs.consistency(codes, labels, clusters=customer),
        "numbers": fs.consistency(codes, labels / 3, **close),
        "within": fs.within(codes[:, None], labels, 0.1, clusters=customer),
        "certify": fs.certify(codes, labels, [None], interval=None, clusters=customer),
        "evaluate": ev.consistency,
        "sufficiency": ev.sufficiency,
        "necessity": ev.necessity,
        "groups": ev.populations.among[0],
        "groups beside everybody": ev.populations[0],
        "audit": audited.consistency,
        "audited numbers": fs.audit(log, agreement=fs.Close(0.5), **asked).consistency,
        "audited groups": audited.populations.among[1],
        "audited groups beside everybody": audited.populations[1],
    }


def test_sizes_of_clusters_that_go_with_predictions_are_told_in_every_place_and_rows_are_kept_by_chance():
    told = doors(*returning(by_label=True))
    beside = [told.pop(name) for name in list(told) if "beside" in name]  # these weigh pairs: nothing is said for sure
    assert all(of_kind(each.notes, "interval") for each in beside)
    assert {name for name, each in told.items() if not noted(each, "kept by chance")} == set()
    assert {name for name, each in told.items() if each.method != "kept rows"} == set()
    told = doors(*returning(by_label=False))
    assert {name for name, each in told.items() if noted(each, "kept by chance")} == set()
    assert {name for name, each in told.items() if of_kind(each.notes, "interval")} == set()


def test_rules_of_single_rows_know_sizes_of_clusters_that_go_with_predictions():
    for by_label in (True, False):
        codes, labels, customer = returning(by_label, explanations=10**6)
        rules = fs.Rules.parse([f"code > {code - 2000} and code <= {code + 2000}" for code in codes], features=["code"])
        found = fs.sufficiency(rules, labels, codes[:, None], clusters=customer)
        assert found.method == ("kept rows" if by_label else "jackknife")


def test_sizes_are_seen_to_go_with_predictions_although_rows_agree_as_much_as_clusters_do():
    """Shares of .3 by clusters are .72 by rows, where .3² + .7² is about .72² + .28²: pairs held 70% of such truths."""
    rng, held, share = default_rng(5), 0, 1.8 / 2.5
    for _ in range(15):
        codes, labels = rng.integers(0, 400, 1000), (rng.random(1000) < 0.3).astype(int)
        customer = np.repeat(np.arange(1000), np.where(labels == 1, 6, 1))
        X = codes[customer, None].astype(float)
        found = fs.sufficiency(rules_in_bins(X - 0.6, X + 1.4, ["x"]), labels[customer], X, clusters=customer)
        assert found.method == "kept rows"
        held += found.low <= share**2 + (1 - share) ** 2 <= found.high
    assert held >= 14


def ruled(seed, clusters, size):
    """Clusters of rows with one rule and one label each, of ten rules that overlap, and what agrees with each."""
    rng = default_rng(seed)
    code, many = rng.integers(0, 10, clusters), np.broadcast_to(size, clusters)
    label, customer = (rng.random(clusters) < 0.05 + 0.09 * code).astype(int), np.repeat(np.arange(clusters), many)
    codes, labels = code[customer], label[customer]
    X = codes[:, None].astype(float)
    return rules_in_bins(X - 0.5, X + 0.5 + (X % 3 == 1), ["a"]), labels, X, customer
