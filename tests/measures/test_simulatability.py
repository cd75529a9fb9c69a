"""What `accuracy` tells beside its numbers: rows that were learned, labels that were not, and who decides it."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.inputs.repeats import TOO_HIGH

RNG = np.random.default_rng(0)
LEAVES = RNG.integers(0, 12, 600)
LABELS = np.where(LEAVES + RNG.normal(size=600) > 6, "yes", "no")
NUMBERS = LEAVES + RNG.normal(size=600)


def same_rows(told):
    return any(TOO_HIGH in note for note in told.notes)


@pytest.mark.parametrize("kind", [fs.OptimalDecoder, fs.GibbsDecoder])
@pytest.mark.parametrize("agreement", [None, "spread", fs.Close(1.0)])
def test_the_rows_that_it_learned_from_are_told_in_any_order(kind, agreement):
    predictions = LABELS if agreement is None else NUMBERS
    decoder = kind().fit(LEAVES[:300], predictions[:300], agreement=agreement)
    order = RNG.permutation(300)
    assert same_rows(decoder.accuracy(LEAVES[:300], predictions[:300]))
    assert same_rows(decoder.accuracy(LEAVES[order], predictions[order]))
    assert not same_rows(decoder.accuracy(LEAVES[300:], predictions[300:]))
    assert not same_rows(decoder.accuracy(LEAVES[1:300], predictions[1:300]))


def test_equal_counts_that_could_hardly_differ_are_not_told():
    decoder = fs.OptimalDecoder().fit(["a"] * 50, ["yes"] * 50)
    assert not same_rows(decoder.accuracy(["a"] * 50, ["yes"] * 50))


def test_labels_that_were_never_learned_are_told_with_their_share():
    decoder = fs.GibbsDecoder().fit(LEAVES[:300], LABELS[:300])
    told = decoder.accuracy(LEAVES[300:500], np.where(np.arange(200) < 30, "maybe", LABELS[300:500]))
    (note,) = told.notes
    assert (
        note == "15.0% of rows are predicted a label that was never learned, such as 'maybe', which cannot be decoded"
    )


def test_labels_of_equal_numbers_are_the_same_whatever_their_type():
    decoder = fs.OptimalDecoder().fit([1, 1, 2, 2], [0, 0, 1, 1])
    assert decoder.accuracy([1, 2], [False, True]).value == decoder.accuracy([1, 2], [0.0, 1.0]).value == 1


def test_the_discretizer_of_the_decoder_is_applied():
    decoder = fs.OptimalDecoder(discretizer=fs.Sign()).fit([[0.2, -1.0], [-0.5, 3.0]], ["up", "down"])
    told = decoder.accuracy([[9.0, -9.0], [-1.0, 1.0], [1.0, 1.0]], ["up", "down", "up"])
    assert (told.value, told.unseen, told.seen) == pytest.approx((2 / 3, 1 / 3, 1.0))


def test_the_prediction_is_decoded_perfectly_from_itself_and_gains_all_that_chance_leaves():
    told = fs.OptimalDecoder().fit(LABELS[:300], LABELS[:300]).accuracy(LABELS[300:], LABELS[300:])
    assert (told.value, told.high) == (1.0, 1.0)
    assert told.gain == pytest.approx(1 - told.chance)
    assert told.gain_low > 0.3


def test_explanations_that_mean_nothing_gain_nothing():
    noise = RNG.integers(0, 12, 600)
    told = fs.OptimalDecoder().fit(noise[:300], LABELS[:300]).accuracy(noise[300:], LABELS[300:])
    assert told.gain_low <= 0
    assert "do not show that explanations tell more" in told.to_markdown()


def test_a_line_reads_aloud_and_the_chart_draws():
    told = fs.GibbsDecoder().fit(LEAVES[:300], LABELS[:300]).accuracy(LEAVES[300:], LABELS[300:])
    assert str(told).startswith(f"simulatability {told.value:.3f}, 95% interval [")
    assert len(str(told)) <= 110
    assert told.plot().description.startswith("GibbsDecoder: simulatability ")
    assert told.table().value.tolist() == [told.value]
    assert told.interval == (told.low, told.high)


def test_repeated_rows_narrow_the_interval_unless_they_are_clustered():
    decoder = fs.OptimalDecoder().fit(LEAVES[:300], LABELS[:300])
    once = decoder.accuracy(LEAVES[300:400], LABELS[300:400], clusters=np.arange(100))
    twice = decoder.accuracy(
        np.tile(LEAVES[300:400], 2), np.tile(LABELS[300:400], 2), clusters=np.tile(np.arange(100), 2)
    )
    for name in ("value", "low", "high", "gain_low", "gain_high"):
        assert getattr(twice, name) == pytest.approx(getattr(once, name))
