"""Encoding is what its definition says, row by row; and so is every value without a row, or without a block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import faithscope as fs
from faithscope.counting.blocks import Content
from faithscope.counting.coverage import cover
from faithscope.counting.encoding.encoded import encoded
from faithscope.counting.numbered import number_rows
from faithscope.measures.encoding.choice_tests import adjust, fisher
from faithscope.relations import to_relation
from faithscope.sample import Sample

AGREEMENTS = {
    "labels": (None, lambda a, b: float(a == b)),
    "close": (fs.Close(1.5), lambda a, b: max(0.0, 1 - abs(a - b) / 1.5)),
    "tolerance": (fs.Tolerance(1.0), lambda a, b: float(abs(a - b) <= 1.0)),
    "own": (lambda a, b: 1 / (1 + np.abs(a - b)), lambda a, b: 1 / (1 + abs(a - b))),
}


class System:
    """A few rows with explanations 0, 1, ..., predictions, a table of who is covered, weights and clusters."""

    def __init__(self, seed, agreement="labels", weighted=False, clustered=False, n=None):
        rng = np.random.default_rng(seed)
        self.n = int(rng.integers(2, 14)) if n is None else n
        many = int(rng.integers(1, 5))
        self.given = rng.integers(0, many, self.n)
        self.labels = rng.integers(0, int(rng.integers(1, 4)), self.n)
        self.table = rng.random((many, self.n)) < rng.choice([0.2, 0.6, 1.0])  # rows may be missed by their own
        self.weights = rng.integers(1, 4, self.n).astype(float) if weighted else None
        self.clusters = rng.integers(0, max(2, self.n // 2), self.n) if clustered else None
        if clustered:
            self.clusters[:2] = 0, 1
        self.agreement, self.agree = AGREEMENTS[agreement]

    @property
    def predictions(self):
        return self.labels if self.agreement is None else self.labels.astype(float)

    def relation(self, X, explanation):
        return self.table[int(explanation)][np.asarray(X)[:, 0].astype(int)]

    @property
    def X(self):
        return np.arange(self.n, dtype=float)[:, None]

    def sample(self):
        return Sample.of(self.given.tolist(), self.predictions, self.X, self.weights, self.agreement, self.clusters)

    def result(self, **options):
        return fs.encoding(
            self.given.tolist(),
            self.predictions,
            self.X,
            relation=self.relation,
            weights=self.weights,
            agreement=self.agreement,
            clusters=self.clusters,
            **options,
        )

    def brute(self, kept=None):
        """The value, and the shares of rows that are alone, and whose explanation is exclusive."""
        kept = range(self.n) if kept is None else kept
        weight = np.ones(self.n) if self.weights is None else self.weights
        unit = np.arange(self.n) if self.clusters is None else self.clusters
        gap = tested = alone = exclusive = 0.0
        for i in kept:
            others = [j for j in kept if unit[j] != unit[i]]
            same = [j for j in others if self.given[j] == self.given[i]]
            met = [j for j in others if self.given[j] != self.given[i] and self.table[self.given[i], j]]
            if not same:
                alone += weight[i]
            elif not met:
                exclusive += weight[i]
            else:
                shares = [
                    sum(weight[j] * self.agree(self.predictions[i], self.predictions[j]) for j in rows)
                    / sum(weight[j] for j in rows)
                    for rows in (same, met)
                ]
                gap, tested = gap + weight[i] * (shares[0] - shares[1]), tested + weight[i]
        total = sum(weight[i] for i in kept)
        return (gap / tested if tested else None), alone / total, exclusive / total


systems = st.builds(
    System, st.integers(0, 10**6), st.sampled_from(sorted(AGREEMENTS)), weighted=st.booleans(), clustered=st.booleans()
)
plain_systems = st.builds(System, st.integers(0, 10**6), st.sampled_from(sorted(AGREEMENTS)))


@given(systems)
@settings(max_examples=300, deadline=None)
def test_encoding_is_what_its_definition_says(system):
    result, (value, alone, exclusive) = system.result(), system.brute()
    assert (result.value is None) == (value is None)
    if value is not None:
        assert result.value == pytest.approx(value, abs=1e-9)
        assert -1 <= result.low <= result.value <= result.high <= 1
    assert (result.alone, result.exclusive) == pytest.approx((alone, exclusive))
    assert result.unverifiable == pytest.approx(alone + exclusive)


@given(plain_systems)
@settings(max_examples=200, deadline=None)
def test_the_value_without_each_row_is_that_of_the_other_rows(system):
    sample = system.sample()
    without = encoded(sample, to_relation(system.relation, sample.explanations)).sums.without
    for row, value in enumerate(without.value):
        expected = system.brute([j for j in range(system.n) if j != row])[0]
        assert np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)


@given(systems)
@settings(max_examples=150, deadline=None)
def test_the_value_without_each_block_is_that_of_the_other_rows(system):
    sample = system.sample().counted().evenly()
    relation = to_relation(system.relation, sample.explanations)
    sums = encoded(sample, relation, exact=0).sums
    content = Content(sample.labels, (sample.explanations,), sample.X, sample.weights, sample.clusters)
    block = number_rows(sample, sample.explanations, 0, content).block
    for number, value in enumerate(sums.without.value):
        expected = system.brute(np.flatnonzero(block != number).tolist())[0]
        assert np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-9)


@given(plain_systems)
@settings(max_examples=50, deadline=None)
def test_coverage_that_is_known_changes_nothing(system):
    sample = system.sample()
    relation = to_relation(system.relation, sample.explanations)
    ours, again = encoded(sample, relation), encoded(sample, relation, cover(sample, relation))
    assert ours.sums[:5] == again.sums[:5]
    np.testing.assert_array_equal(ours.sums.without.value, again.sums.without.value)


@given(systems, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_does_not_matter(system, seed):
    before = system.result()
    order = np.random.default_rng(seed).permutation(system.n)
    options = {
        name: None if values is None else np.asarray(values)[order]
        for name, values in (("weights", system.weights), ("clusters", system.clusters))
    }
    after = fs.encoding(
        system.given[order].tolist(),
        system.predictions[order],
        system.X[order],
        relation=system.relation,
        agreement=system.agreement,
        **options,
    )
    for name in ("value", "low", "high", "unverifiable", "tested", "flagged", "encodes"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), abs=1e-9), name


@given(st.integers(0, 10**6), st.sampled_from(["labels", "close"]))
@settings(max_examples=60, deadline=None)
def test_clusters_of_one_row_and_equal_weights_change_nothing_in_the_value(seed, agreement):
    system = System(seed, agreement)
    plain = system.result()
    system.clusters, system.weights = np.arange(system.n), np.full(system.n, 2.0)
    other = system.result()
    assert other.value == (None if plain.value is None else pytest.approx(plain.value))
    assert (other.tested, other.flagged, other.unverifiable) == (plain.tested, plain.flagged, plain.unverifiable)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_explanations_that_partition_the_rows_cannot_encode(seed):
    system = System(seed)
    system.table = system.given == np.arange(len(system.table))[:, None]
    result = system.result()
    assert (result.value, result.encodes, result.tested, result.unverifiable) == (None, None, 0, 1)


@given(st.lists(st.tuples(*[st.integers(0, 12)] * 4), min_size=1, max_size=8))
@settings(max_examples=150, deadline=None)
def test_fisher_is_that_of_scipy(tables):
    a, b, c, d = np.array(tables).T
    expected = [stats.fisher_exact([[w, x], [y, z]]).pvalue for w, x, y, z in tables]
    np.testing.assert_allclose(fisher(a, a + b, a + c, a + b + c + d), expected, rtol=1e-6)


def test_adjusted_probabilities_are_those_of_scipy():
    p = np.sort(np.random.default_rng(0).random(50))
    np.testing.assert_allclose(adjust(p), stats.false_discovery_control(p))


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_distance_of_numbers_is_that_of_scipy(seed):
    system = System(seed, "close", n=30)
    table = system.result().table()
    for line in table.itertuples():
        explanation = int(line.explanation)
        given_rows = system.given == explanation
        others = system.table[explanation] & ~given_rows
        numbers = system.predictions
        assert line.distance == pytest.approx(stats.ks_2samp(numbers[given_rows], numbers[others]).statistic)
        assert line.given_mean == pytest.approx(numbers[given_rows].mean())
        assert line.covered_mean == pytest.approx(numbers[others].mean())


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_table_counts_the_rows_given_and_the_others_covered(seed, clustered):
    system = System(seed, n=25, clustered=clustered)
    for line in system.result().table().itertuples():
        given_rows = system.given == int(line.explanation)
        others = system.table[int(line.explanation)] & ~given_rows
        assert (line.n, line.others) == (given_rows.sum(), others.sum())
        for counts, rows in ((line.given, given_rows), (line.covered, others)):
            assert counts == {label: many for label, many in enumerate(np.bincount(system.labels[rows])) if many}
        shares = [np.bincount(system.labels[rows], minlength=4) / rows.sum() for rows in (given_rows, others)]
        assert line.total_variation == pytest.approx(np.abs(shares[0] - shares[1]).sum() / 2)
        assert (line.given_share, line.covered_share) == pytest.approx(tuple(s[line.label] for s in shares))
