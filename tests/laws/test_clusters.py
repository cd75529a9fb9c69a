"""Rows that belong together do not vouch for each other; their measures are among those of brute force."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from bins import rules_in_bins
from faithscope.counting.counts import count_rows
from faithscope.errors import BadInput, Incompatible, NotProven
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.estimate import estimate
from faithscope.notes import of_kind
from faithscope.report.hidden import _points
from faithscope.sample import Sample
from laws.test_coverage import customers

FIELDS = ("value", "low", "high", "unverifiable", "verified", "chance", "effective_n")


def test_rows_logged_twice_tell_no_more_than_once():
    rng = np.random.default_rng(1)
    codes, labels = rng.integers(0, 300, 400), rng.integers(0, 2, 400)
    once = estimate(fs.count(codes, labels), interval="jackknife")
    twice = fs.consistency(
        np.repeat(codes, 2), np.repeat(labels, 2), clusters=np.repeat([f"customer {row}" for row in range(400)], 2)
    )
    assert [getattr(twice, name) for name in FIELDS] == pytest.approx([getattr(once, name) for name in FIELDS])
    assert (twice.n, twice.clusters) == (800, 400)
    assert "800 rows in 400 clusters" in str(twice)
    assert fs.consistency(np.repeat(codes, 2), np.repeat(labels, 2)).low > 0.5  # where the truth is .5


def test_explainers_are_compared_and_populations_measured_without_familiar_rows():
    rng = np.random.default_rng(3)
    X, customers = np.repeat(rng.normal(size=(60, 2)), 3, axis=0), np.repeat(np.arange(60), 3)
    model, sign = (lambda rows: rows[:, 0] > 0), (lambda rows: np.sign(rows[:, :1]))
    unique = lambda rows: rows.copy()  # noqa: E731
    comparison = fs.compare(model, {"sign": sign, "unique": unique}, X, clusters=customers, progress=False)
    assert comparison["unique"].consistency.unverifiable == 1
    assert comparison["sign"].consistency.clusters == 60
    assert fs.compare(model, {"unique": unique}, X, progress=False)["unique"].consistency.unverifiable == 0
    ev = fs.evaluate(model, sign, X, clusters=customers, by=np.repeat(["x", "y"], 90), progress=False)
    assert [estimate.clusters for estimate in ev.populations.estimates.values()] == [30, 30]
    same = comparison.differences().set_index(["a", "b"]).loc[("sign", "unique")]
    assert same["low"] <= same["value"] <= same["high"]


def test_a_certificate_of_rows_logged_twice_is_that_of_the_rows():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 20, 400)
    labels = (codes % 2) ^ (rng.random(400) < 0.1)
    twice, alone = (np.repeat(codes, 2).tolist(), np.repeat(labels, 2)), np.arange(400)
    for interval in (None, "proven"):
        once = fs.certify(codes.tolist(), labels, [None], interval=interval, clusters=alone).low
        again = fs.certify(*twice, [None], interval=interval, clusters=np.repeat(alone, 2))
        assert again.low == pytest.approx(once)
        assert fs.certify(*twice, [None], interval=interval).low > once
        assert again.low < again.estimates[0].value
        assert again.proven == (interval == "proven")


def test_several_discretizations_share_the_confidence_of_a_certificate():
    rng = np.random.default_rng(5)
    values, customers = np.round(rng.normal(size=(300, 2)), 1), rng.integers(0, 100, 300)
    labels = values[:, 0] > 0
    how = {"interval": None, "clusters": customers}
    alone, both = fs.certify(values, labels, ["sign"], **how), fs.certify(values, labels, ["sign", "1-fp"], **how)
    assert both.bounds[0][1] < alone.low
    assert alone.low < fs.consistency(fs.Sign()(fs.Importances(values)), labels, clusters=customers).value


def test_intervals_of_rows_that_are_taken_for_strangers_are_too_narrow():
    rng, truth = np.random.default_rng(0), 0.3**2 + 0.7**2
    drawn = (fs.consistency(codes, labels) for codes, labels, _ in (customers(rng) for _ in range(20)))
    assert sum(one.low <= truth <= one.high for one in drawn) <= 2


CODES, LABELS, CLUSTERS = [0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]
REFUSED = [
    ({"agreement": fs.Spread()}, NotProven, "Spread is not measured for clustered rows"),
    ({"clusters": [7, 7, 7, 7]}, BadInput, "of one cluster"),
    ({"clusters": [0, 1]}, BadInput, "clusters"),
    ({"clusters": [0, 1, None, 1]}, BadInput, "missing"),
]


@pytest.mark.parametrize(("asked", "error", "words"), REFUSED)
def test_what_cannot_be_said_of_clusters_is_refused_in_a_sentence(asked, error, words):
    with pytest.raises(error, match=words):
        fs.consistency(CODES, LABELS, **{"clusters": CLUSTERS, **asked})


def test_estimates_of_clusters_are_not_planned_with_bounded_or_added():
    estimate = fs.consistency(CODES, LABELS, clusters=CLUSTERS)
    for ask in (fs.plan, fs.mse_bound):
        with pytest.raises(NotProven, match="independent rows"):
            ask(estimate)
    with pytest.raises(Incompatible, match="clustered"):
        estimate.counts + estimate.counts


def test_counterexamples_are_pairs_of_strangers():
    for seed in range(6):
        rng = np.random.default_rng(seed)
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
    rng = np.random.default_rng(seed)
    codes, labels = rng.integers(0, explanations, people), rng.integers(0, 2, people)
    times = np.where(labels == 1, 8, 1) if by_label else rng.integers(1, 9, people)
    customer = np.repeat(np.arange(people), times)
    return codes[customer], labels[customer], customer


def doors(codes, labels, customer):
    """The estimates of clustered rows in every place that makes one, each with the note or without."""
    rows = pd.DataFrame({"code": codes, "side": codes % 2})
    rules = fs.Rules.parse([f"code == {code}" for code in codes], features=["code", "side"])
    log = rows.assign(yhat=labels, customer=customer)
    ev = fs.evaluate(labels, rules, rows, clusters=customer, by=rows.side, progress=False)
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
    assert {name for name, each in told.items() if not any("kept by chance" in note for note in each.notes)} == set()
    assert {name for name, each in told.items() if each.method != "kept rows"} == set()
    told = doors(*returning(by_label=False))
    assert {name for name, each in told.items() if any("kept by chance" in note for note in each.notes)} == set()
    assert {name for name, each in told.items() if of_kind(each.notes, "interval")} == set()


@pytest.mark.parametrize("size", [4, 10, 20])
def test_intervals_hold_where_the_size_of_a_cluster_goes_with_its_prediction(size):
    """Weighed pairs held the truth in 0 to 88% of such samples."""
    rng, held, K = np.random.default_rng(size), 0, 150
    for _ in range(20):
        shares = rng.random(K)
        codes = rng.integers(0, K, 1000)
        labels = (rng.random(1000) < shares[codes]).astype(int)
        customer = np.repeat(np.arange(1000), np.where(labels == 1, size, 1))
        mass = shares * size, 1 - shares
        truth = np.sum((mass[0] ** 2 + mass[1] ** 2) / sum(mass)) / np.sum(mass)
        found = fs.consistency(codes[customer], labels[customer], clusters=customer)
        held += found.low <= truth <= found.high
    assert held == 20


def test_rules_of_single_rows_know_sizes_of_clusters_that_go_with_predictions():
    for by_label in (True, False):
        codes, labels, customer = returning(by_label, explanations=10**6)
        rules = fs.Rules.parse([f"code > {code - 2000} and code <= {code + 2000}" for code in codes], features=["code"])
        found = fs.sufficiency(rules, labels, codes[:, None], clusters=customer)
        assert found.method == ("kept rows" if by_label else "jackknife")


def test_sizes_are_seen_to_go_with_predictions_although_rows_agree_as_much_as_clusters_do():
    """Shares of .3 by clusters are .72 by rows, where .3² + .7² is about .72² + .28²: pairs held 70% of such truths."""
    rng, held, share = np.random.default_rng(5), 0, 1.8 / 2.5
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
    rng = np.random.default_rng(seed)
    code, many = rng.integers(0, 10, clusters), np.broadcast_to(size, clusters)
    label, customer = (rng.random(clusters) < 0.05 + 0.09 * code).astype(int), np.repeat(np.arange(clusters), many)
    codes, labels = code[customer], label[customer]
    X = codes[:, None].astype(float)
    return rules_in_bins(X - 0.5, X + 0.5 + (X % 3 == 1), ["a"]), labels, X, customer


def test_local_measures_are_those_of_rows_of_other_clusters():
    rules, labels, X, customer = ruled(5, 60, np.arange(60) % 3 + 1)
    ev = fs.evaluate(labels, rules, X, clusters=customer, progress=False)
    local, table, codes = ev.local(), ev.table(), X[:, 0]
    strangers, agree = customer[:, None] != customer, labels[:, None] == labels
    covered = (codes[:, None] == codes) | ((codes[:, None] % 3 == 1) & (codes == codes[:, None] + 1))
    for name, met in (("consistency", codes[:, None] == codes), ("sufficiency", covered)):
        met = met & strangers
        with np.errstate(invalid="ignore"):
            expected = (met & agree).sum(axis=1) / met.sum(axis=1)
        np.testing.assert_allclose(local[name], expected)
        known = ~np.isnan(expected)
        assert ((local[f"{name}_low"] <= expected) & (expected <= local[f"{name}_high"]))[known].all()
        assert (local[f"{name}_high"] - local[f"{name}_low"])[~known].eq(1).all()
    for line in table.itertuples():
        rows = np.flatnonzero([rules.describe(row) == line.explanation for row in range(len(labels))])
        met = strangers[np.ix_(rows, rows)]
        assert line.consistency == pytest.approx(agree[np.ix_(rows, rows)][met].mean(), nan_ok=True)
        assert line.purity_low <= line.purity <= line.purity_high


def test_clusters_of_one_row_change_no_table_and_rows_logged_twice_make_none_narrower():
    rules, labels, X, customer = ruled(6, 90, 1)
    alone, single = (fs.evaluate(labels, rules, X, clusters=clusters, progress=False) for clusters in (None, customer))
    for name in ("local", "table", "scopes"):
        pd.testing.assert_frame_equal(getattr(alone, name)(), getattr(single, name)(), check_dtype=False)
    rules, labels, X, customer = ruled(6, 90, 2)
    twice = fs.evaluate(labels, rules, X, clusters=customer, progress=False)
    for name, measure in (
        ("local", "consistency"),
        ("local", "sufficiency"),
        ("table", "purity"),
        ("scopes", "precision"),
    ):
        once, again = (getattr(each, name)() for each in (alone, twice))
        once, again = (
            (once, again[::2])
            if name == "local"
            else (once.sort_values("explanation"), again.sort_values("explanation"))
        )
        width = [(each[f"{measure}_high"] - each[f"{measure}_low"]).to_numpy() for each in (once, again)]
        assert (width[0] <= width[1] + 1e-9).all(), (name, measure)


@pytest.mark.parametrize("size", [5, 1 + np.arange(80) % 9], ids=["equal", "unequal"])
def test_intervals_of_single_rows_and_explanations_hold_for_clustered_rows(size):
    held = {"local": [], "table": [], "scopes": []}
    for seed in range(25):
        _, labels, X, customer = ruled(seed, 80, size)
        rules = rules_in_bins(X - 0.5, X + 0.5, ["a"])
        ev = fs.evaluate(labels, rules, X, clusters=customer, progress=False)
        first = np.unique(customer, return_index=True)[1]
        truth = {rules.describe(row): 0.05 + 0.09 * X[row, 0] for row in first}
        for name, ends in (("local", "consistency"), ("table", "purity"), ("scopes", "precision")):
            table = getattr(ev, name)()
            table = table.iloc[first] if name == "local" else table
            label = table["prediction" if name == "local" else "label"].to_numpy()
            one = np.array(
                [truth[each] for each in (map(rules.describe, first) if name == "local" else table["explanation"])]
            )
            true = np.where(label == 1, one, 1 - one)
            held[name].append(((table[f"{ends}_low"] <= true) & (true <= table[f"{ends}_high"])).mean())
    assert all(np.mean(each) >= 0.93 for each in held.values()), held  # .68 and .72 if rows were independent


def test_the_table_of_a_log_counts_clusters_as_memory_does():
    codes, labels, customer = returning(by_label=False)
    ev = fs.evaluate(labels, codes, codes[:, None], clusters=customer, progress=False)
    log = pd.DataFrame({"code": codes, "yhat": labels, "customer": customer})
    audited = fs.audit(log, prediction="yhat", explanation="code", kind="keys", clusters="customer")
    names = ["n", "purity", "purity_low", "purity_high", "consistency", "disagreeing_pairs"]
    np.testing.assert_allclose(*(each.table(None).sort_values(names)[names] for each in (ev, audited)))
    known = audited.table(None).set_index("explanation")
    some = audited.table(7).set_index("explanation")
    pd.testing.assert_frame_equal(some, known.loc[some.index])


def test_a_report_draws_no_precision_of_clustered_rows_whose_labels_were_not_counted():
    rules, labels, X, customer = ruled(7, 60, 2)
    plain, clustered = (
        fs.evaluate(labels, rules, X, clusters=clusters, progress=False) for clusters in (None, customer)
    )
    expected = plain.scopes().set_index("explanation")["precision"]
    points, _ = _points(plain.sufficiency, set())
    assert all(point["precision"] == pytest.approx(expected[point["explanation"]]) for point in points)
    assert _points(clustered.sufficiency, set()) == ((), 0)
