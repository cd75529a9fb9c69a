"""Reports of numbers: they say how predictions were compared, show gaps, and never speak of labels."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope.measures.telling import judge
from faithscope.report.html import render
from faithscope.report.sections.glossary import GLOSSARY, glossary
from faithscope.report.summary import summarize
from number_evaluations import AGREEMENTS, evaluated, exponential
from report_examples import printed as print_summary


@cache
def summary_by(agreement):
    """Of rules by which the predictions nearly go, and of predictions with a unit of about 100."""
    rng = default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(0, 10, 300), "age": rng.uniform(0, 10, 300)})
    steps = (X["size"] // 2 * 2).tolist()
    rules = fs.Rules.from_conditions([[("size", ">", s), ("size", "<=", s + 2)] for s in steps], ["size", "age"])
    return summarize(evaluated(rules, 50 * np.array(steps) + 10 * rng.normal(size=300), X, agreement))


def consistency_by(agreement):
    return summary_by(agreement).explainers[0].measures[0]


def thorough(*cases):
    return [pytest.param(case, marks=pytest.mark.thorough) for case in cases]


def shown(page):
    """The text of a page without scripts, styles and charts."""
    return re.sub(r"<(script|style)[^>]*>.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)


@pytest.mark.parametrize("agreement", [*AGREEMENTS[2:], *thorough(*AGREEMENTS[:2])])
def test_a_page_says_how_numbers_were_compared_and_never_that_labels_were(agreement):
    summary = summary_by(agreement)
    text = shown(render(summary)) + print_summary(summary)
    name = "exponential" if agreement is exponential else repr(agreement)
    assert name in text
    assert "same prediction" not in text.replace("get the same prediction, 0 if they differ", "")
    assert "predicted alike" in text
    assert not re.search(r"\blabels?\b", text)
    assert "object at 0x" not in text
    assert "function" not in text
    assert "nan" not in text.lower().replace("finance", "")


def test_contradictions_show_both_numbers_and_their_gap():
    summary = summary_by(AGREEMENTS[0])
    pair = examples.pairs(summary.explainers[0])[0]
    assert float(pair.gap) == pytest.approx(abs(float(pair.prediction_a) - float(pair.prediction_b)), abs=0.1)
    assert f"predictions {pair.gap} apart" in shown(render(summary))
    assert pair.pairs is None


def test_every_agreement_reads_aloud_and_a_spread_tells_the_gap_in_units():
    for agreement, words in (
        (fs.Close(50.0), "(100% if equal, 0% if 50 or more apart)"),
        (fs.Tolerance(50.0), "predicted within 50 of each other"),
    ):
        estimate = consistency_by(agreement)
        assert f"consistency {estimate.verified:.2f} by {agreement}," in str(estimate)
        assert words in judge([estimate], {}).sentence
        assert repr(agreement) in estimate._repr_html_()
    estimate = consistency_by(fs.Spread())
    assert 12 < estimate.gap < 16  # two draws whose standard deviation is 10 are typically 14 apart
    assert f"typically {estimate.gap:.4g} apart" in str(estimate)
    verdict = judge([estimate], {})
    assert verdict.level == "consistent"
    assert "explanations account for at least 9" in verdict.sentence


def test_predictions_that_all_agree_are_not_called_the_same():
    estimate = fs.consistency(["a", "a", "b", "b"], [1.0, 2.0, 3.0, 4.0], agreement=fs.Tolerance(10.0))
    sentence = judge([estimate], {}).sentence
    assert sentence.startswith("Cannot tell yet: all predictions agree with each other by Tolerance(eps=10.0)")


def test_the_glossary_follows_the_agreement():
    assert glossary([fs.Same()]) is GLOSSARY
    assert set(glossary([fs.Spread()])) > set(GLOSSARY)
    assert "variance" in glossary([fs.Spread()])["consistency"]
    assert "at most 2 apart" in glossary([fs.Tolerance(2.0)])["agreement"]
    assert "never gain" in glossary([fs.Close(2.0)])["discretization"]
    assert "never gain" not in glossary([fs.Tolerance(2.0)])["discretization"]


def test_vectors_are_reported_with_rounded_numbers():
    rng = default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    shares = rng.dirichlet([1, 1, 1], 80)
    summary = summarize(evaluated(rng.integers(0, 4, 80), shares, X, fs.Spread()))
    pair = examples.pairs(summary.explainers[0])[0]
    assert re.fullmatch(r"\([\d.e-]{1,9}, [\d.e-]{1,9}, [\d.e-]{1,9}\)", pair.prediction_a)
    assert render(summary)
