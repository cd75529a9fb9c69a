"""The sentence on top of a report can be quoted: it has the numbers of the estimate, or says that nothing is known."""

import re

import numpy as np
import pandas as pd
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope.report.sections.verdicts import headline
from faithscope.report.summary import summarize

ROWS = [[number] for number in range(200)]


def told(predictions, explanations, **options):
    return headline(summarize(fs.evaluate(predictions, explanations, ROWS[: len(predictions)], **options), examples=0))


def test_the_numbers_are_those_of_the_estimate_rounded_outward():
    evaluation = fs.evaluate(["yes", "yes", "no"] * 66, ["old", "old", "young"] * 66, ROWS[:198])
    estimate, sentence = evaluation.consistency, headline(summarize(evaluation))
    assert sentence.startswith("Rows with the same explanation are predicted alike 100.0% of the time (95% interval")
    low, high = map(float, re.search(r"interval ([\d.]+)% to ([\d.]+)%", sentence).groups())
    assert low / 100 <= estimate.low < low / 100 + 0.001
    assert high / 100 - 0.001 < estimate.high <= high / 100
    assert f"chance alone gives {estimate.chance:.1%}" in sentence


def test_it_is_about_the_explainer_that_was_named_first_not_the_best_one_and_names_it():
    """The best of several is known only after looking; baselines are what the others are held against."""
    X = examples.rows(120)
    given = {"constant": fs.explainers.Constant(), "coin": (X["age"] % 2).tolist(), "right": list(examples.predict(X))}
    summary = summarize(fs.compare(examples.predict, given, X), examples=0)
    assert [each.name for each in summary.explainers] == ["right", "coin", "constant"]
    assert headline(summary).startswith("coin: rows with the same explanation are")
    baselines = summarize(fs.compare(examples.predict, {"nothing": fs.explainers.Constant()}, X), examples=0)
    assert headline(baselines)


def test_what_cannot_be_told_is_not_told_and_what_is_no_better_than_chance_is_called_so():
    assert told([1, 0], ["a", "b"]).startswith("Whether the explanations are faithful cannot be told: every row has")
    assert told([1, 1, 1], ["a", "a", "b"]).startswith("Whether the explanations are faithful cannot be told: all")
    assert "that is no better than chance, which gives 49.7%" in told(["yes", "no"] * 100, ["a", "a", "b", "b"] * 50)


def test_mostly_silent_rows_give_bounds_and_no_share():
    explanations = ["common"] * 40 + [f"rare {number}" for number in range(160)]
    sentence = told(["yes"] * 40 + ["no", "yes"] * 80, explanations)
    assert re.search(r"alike between [\d.]+% and [\d.]+% of the time \(at 95% confidence; 80% of the rows", sentence)
    assert "interval" not in sentence


def test_a_group_is_named_only_if_it_is_no_accident():
    """Explanations agree with predictions, but for a share of wrong ones in the first group."""
    rng = default_rng(0)
    reasons, groups = rng.choice(["old", "young"], 2000), np.repeat(["a", "b"], 1000)
    for wrong, named in ((0.25, True), (0.02, False)):
        flipped = rng.random(2000) < np.where(groups == "a", wrong, 0.01)
        teams = pd.Series(groups, name="team")
        evaluation = fs.evaluate((reasons == "old") ^ flipped, list(reasons), np.zeros((2000, 1)), by=teams)
        said = headline(summarize(evaluation, examples=0))
        assert ("; among team a " in said) == named
        assert "among team b" not in said


def test_the_weakest_measure_is_quoted():
    evaluation = fs.evaluate([0, 1] * 100, fs.Rules.parse(["a >= 0", "a >= -1"] * 100, features=["a"]), ROWS)
    assert evaluation.consistency.value == 1
    assert headline(summarize(evaluation)).startswith("Rows to which an explanation applies are")


def test_numbers_are_told_by_their_agreement():
    rng = default_rng(0)
    reasons = rng.integers(0, 2, 200)
    numbers, keys = rng.normal(size=200) + 3 * reasons, list(map(str, reasons))
    assert re.match(r"Explanations account for [\d.]+% of the variance", told(numbers, keys, agreement=fs.Spread()))
    assert "predicted within 2 of each other" in told(numbers, keys, agreement=fs.Tolerance(2.0))


def test_what_makes_one_doubt_the_verdict_follows_it():
    summary = summarize(fs.evaluate(["yes", "no"] * 100, ["it is yes", "it is no"] * 100, ROWS))
    doubts = summary.explainers[0].doubts
    assert doubts
    assert all(f"Read with care: {doubt}." in headline(summary) for doubt in doubts)
