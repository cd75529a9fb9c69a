"""Claim 1 of the paper, and decoders that say when they do not know."""

import numpy as np
import pytest
from hypothesis import given

import faithscope as fs
from refused import refused
from strategies import samples


@given(samples())
def test_the_optimal_decoder_errs_at_most_as_often_as_gibbs_and_at_least_half_as_often(sample):
    counts = fs.consistency(*sample).counts
    optimal, gibbs = fs.OptimalDecoder(counts).error, fs.GibbsDecoder(counts).error
    assert optimal - 1e-12 <= gibbs <= 2 * optimal + 1e-12


@given(samples(), samples())
def test_the_optimal_decoder_answers_the_commonest_label_or_nothing(sample, new):
    explanations, predictions = map(np.array, sample)
    answers = fs.OptimalDecoder().fit(explanations, predictions).predict(new[0])
    assert len(answers) == len(new[0])
    for explanation, answer in zip(new[0], answers, strict=True):
        seen = predictions[explanations == explanation]
        assert answer == (np.bincount(seen).argmax() if len(seen) else None)


def test_the_gibbs_decoder_draws_labels_as_often_as_they_were_seen():
    decoder = fs.GibbsDecoder().fit(["a"] * 4 + ["b"] * 2, [0, 0, 0, 1, 2, 2])
    drawn = decoder.predict(["a"] * 20_000)
    assert np.mean(drawn == 0) == pytest.approx(0.75, abs=0.02)
    assert set(drawn) == {0, 1}
    assert set(decoder.predict(["b"] * 100)) == {2}
    assert decoder.predict(["a"] * 50).tolist() == decoder.predict(["a"] * 50).tolist(), "the seed decides"


def test_a_decoder_discretizes_what_it_is_asked_as_what_it_learned():
    decoder = fs.OptimalDecoder(discretizer=fs.Sign()).fit([[0.2, -1.0], [-0.5, 3.0]], ["up", "down"])
    assert decoder.predict([[9.0, -9.0], [-1.0, 1.0], [1.0, 1.0]]).tolist() == ["up", "down", None]


def test_a_decoder_that_has_seen_nothing_knows_nothing():
    assert fs.OptimalDecoder().predict(["a", "b"]).tolist() == [None, None]
    with pytest.raises(fs.errors.BadInput, match="has seen no rows"):
        _ = fs.GibbsDecoder().error
    refused(fs.errors.BadInput, "weighted", fs.GibbsDecoder, fs.consistency(["a", "a"], [0, 1], weights=[1.0, 2.0]))
