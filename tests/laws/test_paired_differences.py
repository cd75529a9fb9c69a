"""Differences between explainers of the same rows: closed form, silence carried along, and coverage."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.measures.comparing.paired import consistency_left_out, paired_difference
from faithscope.readers import as_explanations
from faithscope.sample import Sample
from faithscope.testing import POPULATIONS


def measured(name, explanations, labels):
    found = fs.consistency(explanations, labels)
    sample = Sample(as_explanations(explanations), np.asarray(labels))
    return replace(consistency_left_out(name, found, sample), explanations=None)  # may be judged against itself


def test_a_difference_turned_around_is_its_negative():
    rng = default_rng(2)
    explanations, labels = POPULATIONS["medium"].draw(300, rng)
    a, b = measured("a", explanations, labels), measured("b", rng.permutation(explanations), labels)
    one, other = paired_difference(a, b, 0.95), paired_difference(b, a, 0.95)
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-12)


def test_silence_alone_is_no_difference():
    explanations, labels = POPULATIONS["few common"].draw(400, default_rng(3))
    a, b = measured("a", explanations, labels), measured("all different", np.arange(400), labels)
    found = paired_difference(a, b, 0.95)
    assert found.value > 0.4
    assert not found.differ


def test_explainers_that_give_every_row_the_same_explanation_are_told_as_the_same_on_these_rows_alone(tmp_path):
    pytest.importorskip("pandas")
    explanations, labels = POPULATIONS["medium"].draw(100, default_rng(4))
    comparison = fs.compare(labels, {"a": explanations, "b": list(explanations)}, np.arange(100)[:, None])
    (pair,) = comparison.pairs
    assert (pair.low, pair.high, pair.differ) == (0, 0, False)
    comparison.to_html(tmp_path / "page.html")
    for told in (comparison.to_markdown(), (tmp_path / "page.html").read_text()):
        assert "the same on these rows" in told
