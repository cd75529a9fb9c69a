"""Silence and chance for numbers: what samples say on average, by going through all of them."""

from itertools import permutations, product

import numpy as np
import pytest

import faithscope as fs
from brute_numbers import agreement_of
from faithscope.counting.spread import spread_by_explanation
from faithscope.measures.chance import shuffled_spread
from faithscope.sample import Sample

EPS = 1.5


class Population:
    """A few kinds of rows, each an explanation and a number, with their chances; some rules reach over others."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.codes = np.array([0, 0, 1, 2])
        self.y, self.p = rng.normal(size=4).round(2), rng.dirichlet(np.ones(4))
        self.reach = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], bool)[self.codes][:, self.codes]

    def covers(self, measure):
        return self.reach if measure == "sufficiency" else self.codes[:, None] == self.codes

    def truth(self, measure, table):
        """The mean over rows of the mean of a table over the rows that their explanations cover."""
        mass = self.covers(measure) * self.p
        return float(self.p @ ((mass * table).sum(axis=1) / mass.sum(axis=1)))

    @property
    def variance_within(self):
        """The expected variance of predictions given their explanation."""
        return self.truth("consistency", 0.5 * (self.y[:, None] - self.y) ** 2)

    def samples(self, n):
        for rows in map(list, product(range(4), repeat=n)):
            yield rows, float(np.prod(self.p[rows]))

    def measured(self, measure, rows, agreement):
        if measure == "consistency":
            return fs.consistency(self.codes[rows], self.y[rows], agreement=agreement)
        X = np.array(rows, float)[:, None]
        relation = lambda X, kind: self.reach[int(kind)][X[:, 0].astype(int)]  # noqa: E731
        return fs.sufficiency(rows, self.y[rows], X, relation=relation, agreement=agreement)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["consistency", "sufficiency"])
@pytest.mark.parametrize("name", ["close", "tolerance", "own"])
def test_the_truth_lies_between_the_expected_value_and_the_expected_upper_end(measure, name):
    kinds = {"close": fs.Close(EPS), "tolerance": fs.Tolerance(EPS), "own": agreement_of("own", EPS)}
    for seed in range(2):
        population, value, upper = Population(seed), 0.0, 0.0
        for rows, chance in population.samples(3):
            found = population.measured(measure, rows, kinds[name])
            value, upper = value + chance * found.value, upper + chance * found.upper
        agree = agreement_of(name, EPS)(population.y[:, None], population.y)
        assert value - 1e-12 <= population.truth(measure, agree) <= upper + 1e-12
        assert upper - value > 0.01, "some rows were silent"


@pytest.mark.slow
def test_the_variance_within_explanations_lies_between_what_is_seen_and_what_silence_may_hide():
    for seed in range(4):
        population, within, silent = Population(seed), 0.0, 0.0
        for rows, chance in population.samples(4):
            if np.ptp(population.y[rows]) == 0:
                continue  # nothing varies, which the package refuses, and adds nothing
            sample = Sample.of(population.codes[rows], population.y[rows], agreement=fs.Spread())
            spread = spread_by_explanation(sample)[0]
            seen, hidden = (spread.unit**2 * part[0] for part in (spread.whole.within, spread.whole.silent))
            within, silent = within + chance * seen, silent + chance * hidden
        assert within <= population.variance_within <= within + silent
        assert silent > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("agreement", [fs.Close(1.0), fs.Tolerance(0.8), fs.Spread()], ids=repr)
def test_the_spread_of_shuffled_numbers_is_that_of_all_permutations(agreement):
    why, y = np.array([0, 0, 0, 1, 1, 2]), np.array([0.0, 0.3, 1.1, 1.2, 1.2, 4.0])
    found = fs.consistency(why, y, agreement=agreement)
    every = [fs.consistency(why, y[list(order)], agreement=agreement) for order in permutations(range(6))]
    if isinstance(agreement, fs.Spread):  # of which chance is 0: W / T is 1 among the rows that can be checked
        assert np.mean([one.verified for one in every]) == pytest.approx(0, abs=1e-9)
        spread = 6 * np.std([one.upper for one in every])
    else:
        assert np.mean([one.value for one in every]) == pytest.approx(found.chance * (1 - found.unverifiable))
        spread = 6 * np.std([one.value for one in every])
    assert spread == pytest.approx(shuffled_spread(found.counts.profile()), abs=1e-9)


DRAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(2, size=n),
    "skewed": lambda rng, n: rng.lognormal(0, 2, n),
    "one far away": lambda rng, n: np.where(np.arange(n) == 0, 50.0, rng.normal(size=n)),
    "mostly the same": lambda rng, n: (rng.random(n) < 0.05) * rng.normal(size=n),
}


@pytest.mark.slow
@pytest.mark.parametrize("agreement", [fs.Close(1.0), fs.Tolerance(1.0), fs.Spread()], ids=repr)
@pytest.mark.parametrize("kind", DRAWS)
def test_explanations_that_mean_nothing_are_above_chance_no_oftener_than_the_error_rate(kind, agreement):
    for groups in (2, 10, 100):
        rng, times = np.random.default_rng(groups), 120
        found = [
            fs.consistency(rng.integers(0, groups, 200), DRAWS[kind](rng, 200), agreement=agreement)
            for _ in range(times)
        ]
        wrong = np.mean([bool(one.above_chance) for one in found])  # None if all predictions agree
        assert wrong <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / times), groups
        assert all(one.verified_low >= one.chance for one in found if one.above_chance)
        assert not any(one.verified_low > one.chance for one in found if one.above_chance is False)


@pytest.mark.slow
@pytest.mark.parametrize("agreement", [fs.Close(1.0), fs.Spread()], ids=repr)
def test_the_spread_of_shuffled_numbers_is_never_too_small_where_explanations_overlap(agreement):
    rng = np.random.default_rng(3)
    X, y = rng.random((80, 1)), rng.normal(size=80)
    bounds = np.column_stack([X[:, 0] - rng.random(80) ** 3 / 2, X[:, 0] + rng.random(80) ** 3 / 2])
    rules = [[("a", ">", float(a)), ("a", "<=", float(b))] for a, b in bounds]
    rules = fs.Rules.from_conditions(rules, features=["a"])
    found = fs.sufficiency(rules, y, X, agreement=agreement)
    spread = shuffled_spread(found.counts.profile(), found.margins.weight)
    shuffled = [fs.sufficiency(rules, rng.permutation(y), X, agreement=agreement) for _ in range(200)]
    true = 80 * np.std([one.upper - one.unverifiable * (not isinstance(agreement, fs.Spread)) for one in shuffled])
    assert 0.85 * true <= spread <= 1.7 * true


def test_numbers_that_explanations_tell_apart_are_above_chance():
    rng = np.random.default_rng(0)
    why = rng.integers(0, 10, 200)
    y = why + 0.3 * rng.normal(size=200)
    for agreement in (fs.Close(1.0), fs.Tolerance(1.0), fs.Spread()):
        assert fs.consistency(why, y, agreement=agreement).above_chance
