"""Agreement is compared with chance among the rows that can be checked, as a permutation test compares it."""

import json
from itertools import permutations

import numpy as np
import pytest

import faithscope as fs
from faithscope.measures.chance import shuffled_spread
from faithscope.measures.telling.verdict import level
from faithscope.report import summarize
from faithscope.report.terminal import render


def shuffled(measure, labels, times, rng):
    """n times the measure of rows whose predictions are dealt out anew."""
    return np.array([measure(rng.permutation(labels)).value * len(labels) for _ in range(times)])


def agreeing(why, labels):
    """n times the estimate, from the counts themselves."""
    cells = np.bincount(why * (labels.max() + 1) + labels, minlength=(why.max() + 1) * (labels.max() + 1))
    cells = cells.reshape(why.max() + 1, -1)
    rows = cells.sum(axis=1)
    return ((cells * (cells - 1)).sum(axis=1)[rows > 1] / (rows[rows > 1] - 1)).sum()


def grouped(rng, n, groups, agreement, labels=2):
    """Rows with one of many explanations, of which some share agrees with the explanation's own label."""
    why = (rng.random(n) ** 2 * groups).astype(int)
    own = rng.integers(0, labels, groups)
    return why, np.where(rng.random(n) < agreement, own[why], rng.integers(0, labels, n))


@pytest.mark.slow
def test_the_spread_of_shuffled_predictions_is_that_of_all_permutations():
    why, labels = np.array([0, 0, 0, 1, 1, 2, 3]), np.array([0, 0, 1, 1, 1, 0, 2])
    found = fs.consistency(why, labels)
    every = [fs.consistency(why, order).value * 7 for order in set(permutations(labels.tolist()))]  # each as likely
    assert np.mean(every) == pytest.approx(found.chance * (1 - found.unverifiable) * 7, abs=1e-9)
    assert np.std(every) == pytest.approx(shuffled_spread(found.counts.profile()), abs=1e-9)


@pytest.mark.parametrize("common", [0.5, 0.9])
@pytest.mark.slow
def test_the_spread_of_shuffled_predictions_is_never_too_small_where_explanations_overlap(common):
    rng = np.random.default_rng(3)
    n = 120
    X, width = rng.random((n, 1)), rng.random(n) ** 3 / 2
    rules = [[("a", ">", float(x - w)), ("a", "<=", float(x + w))] for x, w in zip(X[:, 0], width, strict=True)]
    rules, labels = fs.Rules.from_conditions(rules, features=["a"]), (rng.random(n) < common).astype(int)
    found = fs.sufficiency(rules, labels, X)
    spread = shuffled_spread(found.counts.profile(), found.margins.weight)
    true = shuffled(lambda y: fs.sufficiency(rules, y, X), labels, 300, rng).std()
    assert 0.9 * true <= spread <= 1.6 * true


def test_what_a_permutation_test_finds_is_never_called_chance_because_silent_rows_count_as_failures():
    rng = np.random.default_rng(0)
    why, labels = grouped(rng, 4000, 900, 0.4)
    silent = rng.random(4000) < 0.15
    why = np.where(silent, 10_000 + np.arange(4000), why)
    found = fs.consistency(why, labels)
    dealt = shuffled(lambda y: fs.consistency(why, y), labels, 60, rng)
    z = (4000 * found.value - dealt.mean()) / dealt.std()
    assert z > 8
    assert found.low < found.chance < found.high
    assert level(found) == "partly"


@pytest.mark.slow
def test_a_permutation_test_with_z_of_four_rules_chance_out():
    seen = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, labels = int(rng.integers(40, 400)), int(rng.integers(2, 5))
        why, y = grouped(rng, n, int(rng.choice([2, 5, n // 8, n // 2, n])), rng.random() * 0.8, labels)
        y = np.where(rng.random(n) < rng.random(), 0, y)  # some predictions are commoner
        found = fs.consistency(why, y)
        dealt = np.array([agreeing(why, rng.permutation(y)) for _ in range(100)])
        if dealt.std() > 0 and (n * found.value - dealt.mean()) / dealt.std() >= 4:
            seen += 1
            assert found.above_chance
            assert level(found) not in {"chance", "unfaithful"}
            assert found.verified_low >= found.chance
    assert seen >= 10


@pytest.mark.parametrize(
    ("groups", "common"), [(2, 0.5), (2, 0.9), (10, 0.5), (10, 0.95), (150, 0.5), (150, 0.9), (1000, 0.5)]
)
@pytest.mark.slow
def test_explanations_that_mean_nothing_are_above_chance_no_oftener_than_the_error_rate(groups, common):
    rng = np.random.default_rng(groups)
    times = 300
    found = [fs.consistency(rng.integers(0, groups, 300), (rng.random(300) < common).astype(int)) for _ in range(times)]
    wrong = np.mean([one.above_chance for one in found])
    assert wrong <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / times)
    assert np.mean([level(one) in {"partly", "faithful"} for one in found]) <= wrong


@pytest.mark.parametrize(("groups", "agreement"), [(5, 0.5), (40, 0.0), (40, 0.7), (300, 0.8), (2000, 0.6)])
@pytest.mark.slow
def test_the_interval_of_the_agreement_that_can_be_checked_covers(groups, agreement):
    """The truth is the ratio of expectations at this number of rows; its interval may not be too narrow."""
    rng = np.random.default_rng(groups)
    times, own = 200, rng.integers(0, 2, groups)

    def sample():
        why = (rng.random(250) ** 2 * groups).astype(int)
        return fs.consistency(why, np.where(rng.random(250) < agreement, own[why], rng.integers(0, 2, 250)))

    many = [sample() for _ in range(3 * times)]
    truth = np.mean([one.value for one in many]) / np.mean([1 - one.unverifiable for one in many])
    covered = np.mean([one.verified_low <= truth <= one.verified_high for one in many])
    assert covered >= 0.935


def test_the_interval_of_the_agreement_that_can_be_checked_never_collapses():
    found = fs.consistency([99] * 50 + list(range(50)), [1] * 50 + [0, 1] * 25)
    assert found.verified == 1
    assert found.verified_low < 0.9
    assert fs.consistency([0, 0, 1], [1, 1, 0]).verified_low == 0


def test_proven_intervals_and_weights_are_compared_with_chance_too():
    rng = np.random.default_rng(1)
    why, labels = grouped(rng, 2000, 30, 0.5)
    plain, proven = fs.consistency(why, labels), fs.consistency(why, labels, interval="mcdiarmid")
    weighted = fs.consistency(why, labels, weights=np.full(2000, 2.0))
    assert plain.above_chance
    assert proven.above_chance
    assert (proven.verified_low, proven.verified_high) == (plain.verified_low, plain.verified_high)
    assert weighted.above_chance
    assert weighted.verified_low == pytest.approx(plain.verified_low, abs=0.01)


@pytest.mark.slow
def test_terminal_page_and_json_tell_the_same_verdict(tmp_path):
    rng = np.random.default_rng(0)
    why, labels = grouped(rng, 1500, 350, 0.5)
    why = np.where(rng.random(1500) < 0.3, 10_000 + np.arange(1500), why)
    found = fs.evaluate(labels, list(map(str, why)), rng.random((1500, 2)), progress=False)
    summary = summarize(found)
    verdict = summary.explainers[0].verdict
    assert verdict.level == "partly"
    assert verdict.sentence.startswith("Partly faithful: where it can be checked, ")
    assert verdict.sentence in " ".join(render(summary, width=1000).split())
    told = json.loads(json.dumps(summary.to_dict()))["explainers"][0]
    assert told["verdict"] == {"level": "partly", "sentence": verdict.sentence}
    assert told["measures"][0]["above_chance"] is True
    found.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Where it can be checked, rows with the same explanation" in page
