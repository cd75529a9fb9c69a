"""assert_faithful(): passes by the lower limit alone, and fails with what one needs to know."""

import numpy as np
import pytest

import faithscope as fs

LABELS = np.arange(1000) % 2


def test_it_passes_exactly_where_the_lower_limit_reaches():
    found = fs.consistency(LABELS, LABELS)
    fs.assert_faithful(found, at_least=found.low)
    with pytest.raises(AssertionError):
        fs.assert_faithful(found, at_least=np.nextafter(found.low, 1))


def test_a_plainly_unfaithful_explainer_is_called_so():
    with pytest.raises(AssertionError, match="less faithful than that") as failure:
        fs.assert_faithful(fs.consistency(np.zeros(1000), LABELS))
    assert "chance 0.50" in str(failure.value)


def test_silence_is_not_called_unfaithful():
    with pytest.raises(AssertionError, match=r"fs\.plan says how many"):
        fs.assert_faithful(fs.consistency(np.arange(1000), LABELS))


def test_of_an_evaluation_the_worst_pairs_are_shown():
    ev = fs.evaluate(LABELS, ["one"] * 500 + ["other"] * 500, LABELS[:, None])
    with pytest.raises(AssertionError, match="rows 0 and 1 are predicted 0 and 1, with the same explanation: one"):
        fs.assert_faithful(ev)


def test_too_few_rows_are_called_so():
    with pytest.raises(AssertionError, match="more rows would make it narrower"):
        fs.assert_faithful(fs.consistency([0, 1] * 5, [0, 1] * 5), at_least=0.9)


@pytest.mark.parametrize(("given", "limit"), [(0.95, 0.9), (fs.consistency([1, 1], [0, 0]), 2.0)])
def test_bad_arguments_get_a_clear_sentence(given, limit):
    with pytest.raises(fs.errors.FaithscopeError, match=r"reads an Estimate|at_least"):
        fs.assert_faithful(given, limit)
