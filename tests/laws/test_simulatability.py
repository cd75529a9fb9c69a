"""The accuracy of decoders on new rows: brute force, the leave-one-out identity, and what it must not depend on."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from strategies import samples

DECODERS = [fs.OptimalDecoder, fs.GibbsDecoder]


@st.composite
def new_rows(draw):
    """Rows to learn from, and new rows with weights and clusters; some of their explanations were never seen."""
    learned = draw(samples())
    n = draw(st.integers(2, 12))
    column = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    clusters = draw(st.one_of(st.none(), column.filter(lambda values: len(set(values)) > 1)))
    weights = draw(st.one_of(st.none(), st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    if weights is not None and sum(map(bool, weights)) < 2:
        weights[:2] = [1.0, 2.0]
    return learned, (draw(column), draw(column)), weights, clusters


def by_hand(kind, learned, y):
    """The chance with which the label of one row is decoded from these learned labels."""
    if not learned:
        return 0.0
    counted = Counter(learned)
    if kind is fs.GibbsDecoder:
        return counted[y] / len(learned)
    return float(y == min(counted, key=lambda label: (-counted[label], label)))


@pytest.mark.parametrize("kind", DECODERS)
@given(drawn=new_rows())
def test_the_accuracy_is_that_of_decoding_row_by_row(kind, drawn):
    (e, y), (new_e, new_y), weights, clusters = drawn
    told = kind().fit(e, y).accuracy(new_e, new_y, weights=weights, clusters=clusters)
    w = np.ones(len(new_y)) if weights is None else np.array(weights)
    explained = [[b for a, b in zip(e, y, strict=True) if a == explanation] for explanation in new_e]
    agreeing = np.array([by_hand(kind, other, label) for other, label in zip(explained, new_y, strict=True)])
    guessed = np.array([by_hand(kind, list(y), label) for label in new_y])
    assert told.value == pytest.approx(w @ agreeing / w.sum(), abs=1e-9)
    assert told.chance == pytest.approx(w @ guessed / w.sum(), abs=1e-9)
    assert told.gain == pytest.approx(told.value - told.chance, abs=1e-9)
    assert told.unseen == pytest.approx(w @ [not other for other in explained] / w.sum(), abs=1e-12)
    assert told.seen is None if told.unseen == 1 else told.seen == pytest.approx(told.value / (1 - told.unseen))
    assert 0 <= told.low <= told.value + 1e-12 <= told.high + 1e-9 <= 1 + 1e-9
    assert -1 <= told.gain_low <= told.gain + 1e-12 <= told.gain_high + 1e-9 <= 1 + 1e-9
    assert told.n == np.count_nonzero(w)


@given(samples(min_size=3))
def test_leaving_rows_out_the_gibbs_decoders_accuracy_is_consistency(sample):
    e, y = map(np.array, sample)
    others = [np.flatnonzero(np.arange(len(y)) != row) for row in range(len(y))]
    alone = [
        fs.GibbsDecoder().fit(e[rest], y[rest]).accuracy(e[[row]], y[[row]]).value for row, rest in enumerate(others)
    ]
    assert np.mean(alone) == pytest.approx(fs.consistency(e, y).value, abs=1e-12)


def test_an_optimal_decoder_of_labels_has_the_exact_interval():
    told = fs.OptimalDecoder().fit(["a", "b"] * 9, [0, 1] * 9).accuracy(["a"] * 10, [0] * 8 + [1] * 2)
    assert (told.method, round(told.low, 4), round(told.high, 4)) == ("exact", 0.4439, 0.9748)
