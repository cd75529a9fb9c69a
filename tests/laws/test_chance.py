"""Agreement is compared with chance among the rows that can be checked, and silence brackets the truth."""

import json
from itertools import permutations, product
from time import perf_counter

import numpy as np
import pytest
from scipy import stats

import faithscope as fs
from bins import rules_in_bins
from brute_numbers import agreement_of
from faithscope.counting.moments import spread_by_explanation
from faithscope.measures.chance import exceeds_chance, shuffled_spread
from faithscope.measures.telling import level
from faithscope.report.summary import summarize
from faithscope.report.terminal import render
from faithscope.sample import Sample

EPS = 1.5


class Population:
    """A few kinds of rows, each an explanation and a number, with their chances; some rules reach over others."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.codes = np.array([0, 0, 1, 2])
        self.y, self.p = rng.normal(size=4).round(2), rng.dirichlet(np.ones(4))
        self.reach = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], bool)[self.codes][:, self.codes]

    def truth(self, measure, table):
        """The mean over rows of the mean of a table over the rows that their explanations cover."""
        covers = self.reach if measure == "sufficiency" else self.codes[:, None] == self.codes
        mass = covers * self.p
        return float(self.p @ ((mass * table).sum(axis=1) / mass.sum(axis=1)))

    def samples(self, n):
        for rows in map(list, product(range(4), repeat=n)):
            yield rows, float(np.prod(self.p[rows]))

    def measured(self, measure, rows, agreement):
        if measure == "consistency":
            return fs.consistency(self.codes[rows], self.y[rows], agreement=agreement)
        X = np.array(rows, float)[:, None]
        relation = lambda X, kind: self.reach[int(kind)][X[:, 0].astype(int)]  # noqa: E731
        return fs.sufficiency(rows, self.y[rows], X, relation=relation, agreement=agreement)


@pytest.mark.parametrize("measure", ["consistency", "sufficiency"])
@pytest.mark.parametrize("name", ["close", "tolerance", "own"])
def test_the_truth_lies_between_the_expected_value_and_the_expected_upper_end(measure, name):
    kinds = {"close": fs.Close(EPS), "tolerance": fs.Tolerance(EPS), "own": agreement_of("own", EPS)}
    population, value, upper = Population(0), 0.0, 0.0
    for rows, chance in population.samples(3):
        found = population.measured(measure, rows, kinds[name])
        value, upper = value + chance * found.value, upper + chance * found.upper
    agree = agreement_of(name, EPS)(population.y[:, None], population.y)
    assert value - 1e-12 <= population.truth(measure, agree) <= upper + 1e-12
    assert upper - value > 0.01, "some rows were silent"


def test_the_variance_within_explanations_lies_between_what_is_seen_and_what_silence_may_hide():
    for seed in range(2):
        population, within, silent = Population(seed), 0.0, 0.0
        for rows, chance in population.samples(4):
            if np.ptp(population.y[rows]) == 0:
                continue  # nothing varies, which the package refuses, and adds nothing
            sample = Sample.of(population.codes[rows], population.y[rows], agreement=fs.Spread())
            spread = spread_by_explanation(sample)[0]
            seen, hidden = (spread.unit**2 * part[0] for part in (spread.whole.within, spread.whole.silent))
            within, silent = within + chance * seen, silent + chance * hidden
        truth = population.truth("consistency", 0.5 * (population.y[:, None] - population.y) ** 2)
        assert within <= truth <= within + silent
        assert silent > 0.001


AGREEMENTS = pytest.mark.parametrize("agreement", [None, fs.Close(1.0), fs.Tolerance(0.8), fs.Spread()], ids=repr)


def agreed(estimate):
    """What agrees, per row; for `Spread`, of which a row that is silent is taken to agree, its upper end."""
    return estimate.upper if isinstance(estimate.agreement, fs.Spread) else estimate.value


@AGREEMENTS
def test_the_spread_of_shuffled_predictions_is_that_of_all_permutations(agreement):
    why, y = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2] if agreement is None else [0.0, 0.3, 0.3, 1.2, 1.2, 4.0]
    found = fs.consistency(why, y, agreement=agreement)
    every = [fs.consistency(why, list(order), agreement=agreement) for order in set(permutations(y))]  # each as likely
    if isinstance(agreement, fs.Spread):  # of which chance is 0: W / T is 1 among the rows that can be checked
        assert np.mean([one.verified for one in every]) == pytest.approx(0, abs=1e-9)
    else:
        assert np.mean([one.value for one in every]) == pytest.approx(found.chance * (1 - found.unverifiable))
    assert 6 * np.std(list(map(agreed, every))) == pytest.approx(shuffled_spread(found.counts.profile()), abs=1e-9)


@AGREEMENTS
def test_the_spread_of_shuffled_predictions_is_never_too_small_where_explanations_overlap(agreement):
    rng, n = np.random.default_rng(3), 80
    X, width = rng.random((n, 1)), rng.random((n, 2)) ** 3 / 2
    rules = rules_in_bins(X - width[:, :1], X + width[:, 1:], ["a"])
    y = (rng.random(n) < 0.9).astype(int) if agreement is None else rng.normal(size=n)
    found = fs.sufficiency(rules, y, X, agreement=agreement)
    spread = shuffled_spread(found.counts.profile(), found.margins.weight)
    shuffled = [fs.sufficiency(rules, rng.permutation(y), X, agreement=agreement) for _ in range(150)]
    true = n * np.std(list(map(agreed, shuffled)))
    assert 0.85 * true <= spread <= 1.7 * true


def grouped(rng, n, groups, agreement, labels=2):
    """Rows with one of many explanations, of which some share agrees with the explanation's own label."""
    why = (rng.random(n) ** 2 * groups).astype(int)
    own = rng.integers(0, labels, groups)
    return why, np.where(rng.random(n) < agreement, own[why], rng.integers(0, labels, n))


def agreeing(why, labels):
    """n times the estimate, from the counts themselves."""
    cells = np.bincount(why * (labels.max() + 1) + labels, minlength=(why.max() + 1) * (labels.max() + 1))
    cells = cells.reshape(why.max() + 1, -1)
    rows = cells.sum(axis=1)
    return ((cells * (cells - 1)).sum(axis=1)[rows > 1] / (rows[rows > 1] - 1)).sum()


def permuted(why, y, rng, times=60):
    """The z of a permutation test."""
    dealt = np.array([agreeing(why, rng.permutation(y)) for _ in range(times)])
    return (agreeing(why, y) - dealt.mean()) / dealt.std() if dealt.std() > 0 else 0.0


def test_what_a_permutation_test_finds_is_never_called_chance_because_silent_rows_count_as_failures():
    rng = np.random.default_rng(0)
    why, labels = grouped(rng, 4000, 900, 0.4)
    why = np.where(rng.random(4000) < 0.15, 10_000 + np.arange(4000), why)
    found = fs.consistency(why, labels)
    assert permuted(why, labels, rng) > 8
    assert found.low < found.chance < found.high
    assert level(found) == "partly"


def test_a_permutation_test_with_z_of_four_rules_chance_out():
    seen = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, labels = int(rng.integers(40, 400)), int(rng.integers(2, 5))
        why, y = grouped(rng, n, int(rng.choice([2, 5, n // 8, n // 2, n])), rng.random() * 0.8, labels)
        y = np.where(rng.random(n) < rng.random(), 0, y)  # some predictions are commoner
        if permuted(why, y, rng, 100) >= 4:
            found, seen = fs.consistency(why, y), seen + 1
            assert found.above_chance
            assert level(found) not in {"chance", "unfaithful"}
            assert found.verified_low >= found.chance
    assert seen >= 10


DRAWS = {
    "coin": lambda rng, n: rng.integers(0, 2, n),
    "rare": lambda rng, n: (rng.random(n) < 0.1).astype(int),
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(2, size=n),
    "skewed": lambda rng, n: rng.lognormal(0, 2, n),
    "one far away": lambda rng, n: np.where(np.arange(n) == 0, 50.0, rng.normal(size=n)),
    "mostly the same": lambda rng, n: (rng.random(n) < 0.05) * rng.normal(size=n),
}
OF_NUMBERS = [fs.Close(1.0), fs.Tolerance(1.0), fs.Spread()]
ALL = [
    (kind, how, (2, 10, 150, 1000)) for kind in DRAWS for how in ([None] if kind in ("coin", "rare") else OF_NUMBERS)
]
SMOKES = [("rare", None, (10,)), ("skewed", fs.Close(1.0), (10,)), ("one far away", fs.Spread(), (10,))]


@pytest.mark.parametrize(
    ("kind", "agreement", "many", "times"),
    [*((*case, 100) for case in SMOKES), *(pytest.param(*case, 300, marks=pytest.mark.thorough) for case in ALL)],
)
def test_explanations_that_mean_nothing_are_above_chance_no_oftener_than_the_error_rate(kind, agreement, many, times):
    for groups in many:
        rng = np.random.default_rng(groups)
        drawn = ((rng.integers(0, groups, 200), DRAWS[kind](rng, 200)) for _ in range(times))
        found = [fs.consistency(*each, agreement=agreement) for each in drawn]
        wrong = np.mean([bool(one.above_chance) for one in found])  # None if all predictions agree
        assert wrong <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / times), groups
        assert np.mean([level(one) in {"partly", "faithful"} for one in found]) <= wrong
        assert all(one.verified_low >= one.chance for one in found if one.above_chance)
        assert not any(one.verified_low > one.chance for one in found if one.above_chance is False)


def test_where_the_test_is_close_it_is_that_of_all_permutations():
    why, settled = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3]), set()
    for y in ([0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 2, 2, 2]):
        labels = np.array(y)
        every = np.array([agreeing(why, np.array(order)) for order in set(permutations(y))])
        p, excess = np.mean(every >= agreeing(why, labels) - 1e-9), agreeing(why, labels) - every.mean()
        for confidence in (0.6, 0.7, 0.8, 0.9, 0.95):
            wrong = (1 - confidence) / 2
            bar = (stats.norm.ppf(1 - wrong / 2) ** 2 - 1) / np.sqrt(2)
            close = bar < excess / every.std() < np.sqrt(1 / wrong - 1)
            if close and not 0.7 < p / wrong < 1.3:
                settled.add(fs.consistency(why, labels, confidence=confidence).above_chance)
                assert fs.consistency(why, labels, confidence=confidence).above_chance == (p < wrong)
    assert settled == {True, False}


def test_one_explanation_of_nearly_all_rows_and_rare_labels_are_above_chance_no_oftener_than_the_error_rate():
    rng, wrong, times = np.random.default_rng(7), 0, 200
    for _ in range(times):
        why = np.where(rng.random(1000) < 0.99, 0, 1 + rng.integers(0, 30, 1000))
        wrong += fs.consistency(why, rng.permutation(np.arange(1000) < 10)).above_chance
    assert wrong / times <= 0.025


def test_shuffles_do_not_depend_on_the_order_of_rows_and_cost_no_more_than_their_bound():
    rng = np.random.default_rng(3)
    why, labels = rng.integers(0, 20_000, 60_000), rng.integers(0, 300, 60_000)
    profile, order = fs.consistency(why, labels).counts.profile(), rng.permutation(60_000)
    again = fs.consistency(why[order], labels[order]).counts.profile()
    level = profile.terms.agreeing + 4 * shuffled_spread(profile)
    began = perf_counter()
    far = [exceeds_chance(one, level, one.chance, 0.95, None) for one in (profile, again)]
    assert perf_counter() - began < 10
    assert far == [False, False], "shuffles would cost too much, and it is not proven without them"
    few = fs.consistency(why % 50, labels % 3).counts.profile()
    level = few.chance * few.n + 4 * shuffled_spread(few)
    assert exceeds_chance(few, level, few.chance, 0.95, None)


def test_proven_intervals_and_weights_are_compared_with_chance_too():
    rng = np.random.default_rng(1)
    why, labels = grouped(rng, 2000, 30, 0.5)
    plain, proven = fs.consistency(why, labels), fs.consistency(why, labels, interval="proven")
    weighted = fs.consistency(why, labels, weights=np.full(2000, 2.0))
    assert plain.above_chance
    assert proven.above_chance
    assert (proven.verified_low, proven.verified_high) == (plain.verified_low, plain.verified_high)
    assert weighted.above_chance
    assert weighted.verified_low == pytest.approx(plain.verified_low, abs=0.01)


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
    assert "Where it can be checked, rows with the same explanation" in (tmp_path / "report.html").read_text()
