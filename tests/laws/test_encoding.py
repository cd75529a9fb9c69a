"""Encoding's tests and tables are those of scipy and of counting; its value is among the measures of brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy import stats

from faithscope.measures.encoding import adjust, fisher
from small_systems import System, systems


def test_explanations_that_partition_the_rows_cannot_encode():
    for system, name, _ in systems("encoding", range(6), ["labels"]):
        if system.weights is None and system.clusters is None:
            result = replace(system, masks=np.arange(system.n)[:, None] == system.codes).measured("encoding", name)
            assert (result.value, result.encodes, result.tested, result.unverifiable) == (None, None, 0, 1)


@given(st.lists(st.tuples(*[st.integers(0, 12)] * 4), min_size=1, max_size=8))
def test_fisher_is_that_of_scipy(tables):
    a, b, c, d = np.array(tables).T
    expected = [stats.fisher_exact([[w, x], [y, z]]).pvalue for w, x, y, z in tables]
    np.testing.assert_allclose(fisher(a, a + b, a + c, a + b + c + d), expected, rtol=1e-6)


def test_adjusted_probabilities_are_those_of_scipy():
    p = np.sort(default_rng(0).random(50))
    np.testing.assert_allclose(adjust(p), stats.false_discovery_control(p))


def lines(system, name):
    """The table of an evaluation, with the predictions of the rows given and of the others covered."""
    for line in system.measured("encoding", name).table().itertuples():
        given_rows = system.codes == int(line.explanation)
        yield (
            line,
            *(system.predictions[rows] for rows in (given_rows, system.masks[int(line.explanation)] & ~given_rows)),
        )


def test_the_distance_of_numbers_is_that_of_scipy():
    seen = 0
    for seed in range(6):
        for line, given_rows, others in lines(System.random("repeated", seed, most=40), "close"):
            seen += 1
            assert line.distance == pytest.approx(stats.ks_2samp(given_rows, others).statistic)
            assert (line.given_mean, line.covered_mean) == pytest.approx((given_rows.mean(), others.mean()))
    assert seen > 5


def test_the_table_counts_the_rows_given_and_the_others_covered():
    for clustered in [False, True]:
        seen = 0
        for seed in range(6):
            for line, *parts in lines(System.random("labels", seed, most=40, clustered=clustered), "labels"):
                seen += 1
                assert (line.n, line.others) == tuple(map(len, parts))
                shares = [np.bincount(labels, minlength=5) / len(labels) for labels in parts]
                assert line.total_variation == pytest.approx(np.abs(shares[0] - shares[1]).sum() / 2)
                assert (line.given_share, line.covered_share) == pytest.approx(tuple(s[line.label] for s in shares))
        assert seen > 5
