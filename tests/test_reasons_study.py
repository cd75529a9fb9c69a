"""The studies of reasons in words in benchmarks/: measures rank planted systems, and their intervals cover."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    """Modules of the studies by name; the folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module


@pytest.fixture
def told(study):
    """What the measures say of systems by name, at 1,000 rows."""
    return lambda *names: [study("planted_reasons").Told.of(name, 1_000) for name in names]


def test_the_stronger_the_shortcut_the_lower_the_interval_by_codebook(told):
    names = ("paraphrased", "weak shortcut", "strong shortcut", "shortcut alone")
    best, weak, strong, alone = (each.codebook for each in told(*names))
    assert best.low > weak.high
    assert weak.low > strong.high
    assert strong.low > alone.high
    assert strong.above_chance
    assert not alone.above_chance


def test_random_reasons_are_at_chance_by_codebook(told):
    (random,) = told("random reasons")
    assert not random.codebook.above_chance
    assert random.codebook.low <= random.truth.chance <= random.codebook.high


def test_a_copied_answer_is_consistent_until_labels_are_masked(told):
    (copied,) = told("copied answer")
    assert copied.text.low > 0.98
    assert copied.leak.low > 0.98
    assert not copied.leak.masked.above_chance
    assert copied.leak.difference.low > 0.4


def test_paraphrases_cannot_be_verified_as_texts_and_are_faithful_by_codebook(told):
    plain, paraphrased = told("faithful", "paraphrased")
    assert paraphrased.text.unverifiable > 0.95
    assert paraphrased.codebook.value == plain.codebook.value == 1
    assert 0.98 < paraphrased.certified <= paraphrased.truth.text


def test_facts_that_suit_the_decision_fool_consistency_but_neither_sufficiency_nor_encoding(told):
    faithful, suited = told("paraphrased", "made to suit")
    assert suited.codebook.low > 0.98
    assert suited.sufficiency.high < 0.75 < faithful.sufficiency.low
    assert suited.encodes
    assert not faithful.encodes


def test_the_answer_in_other_words_fools_texts_and_masks_but_not_the_codebook(told):
    (hinted,) = told("answer in other words")
    assert hinted.leak.masked.low > 0.98
    assert hinted.leak.share == 0
    assert not hinted.codebook.above_chance


def test_a_wording_that_tells_the_decision_fools_texts_but_not_the_codebook(told):
    (styled,) = told("wording tells the decision")
    assert styled.text.low > 0.98
    assert styled.codebook.high < 0.65


def test_a_shortcut_for_one_group_is_seen_between_groups(told):
    everybody, group = told("weak shortcut", "shortcut for one group")
    assert group.groups_differ
    assert not everybody.groups_differ


@pytest.mark.slow
@pytest.mark.parametrize("name", ["policy, noise", "half name the label", "wording half tells"])
def test_intervals_cover_the_truth(study, name):
    for covered in study("coverage_reasons").cover(name, 300, 60):
        assert covered.holds, covered


@pytest.mark.slow
def test_bounds_on_texts_hold_as_often_as_they_promise(study):
    fs = importlib.import_module("faithscope")
    system = study("coverage_reasons").SYSTEMS["policy, noise"]
    drawn = (system.draw(200, seed) for seed in range(60))
    bounds = [
        fs.certify(each.reasons, each.predictions, [None, system.codebook], interval="tight").low for each in drawn
    ]
    assert sum(bound <= system.truth.text for bound in bounds) >= 54  # .95 of 60, less two Monte-Carlo errors
