"""One summary holds what every rendering tells."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
import report_examples as examples
from faithscope.errors import BadInput, WrongType
from faithscope.report import summarize
from faithscope.report.contradictions import Rows
from faithscope.report.wording import two_values, wording
from faithscope.tables.audit import audit


@pytest.fixture(scope="module")
def found():
    return examples.comparison()


@pytest.fixture(scope="module")
def summary(found):
    return summarize(found)


def test_a_summary_is_json_whatever_was_found(summary):
    for one in (summary, summarize(examples.hostile())):
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["title"] == one.title


def test_numbers_are_those_of_the_estimates(found, summary):
    for one in summary.explainers:
        evaluation = found.evaluations[one.name]
        for measure in one.measures:
            estimate = getattr(evaluation, measure.measure)
            assert (measure.value, measure.low, measure.high) == (estimate.value, estimate.low, estimate.high)
            assert measure.chance == estimate.chance


def test_every_explainer_difference_and_population_is_told(found, summary):
    assert [one.name for one in summary.explainers] == list(found.evaluations)
    assert len(summary.differences) == len(found.differences)
    assert all([name for name, _ in one.populations[0].groups] == ["a", "b"] for one in summary.explainers)


def test_contradictions_share_an_explanation_and_not_a_prediction(found, summary):
    told = next(one for one in summary.explainers if one.name == "rules by age").contradictions
    evaluation = found.evaluations["rules by age"]
    assert {one.measure for one in told} == {"consistency", "sufficiency"}
    for one in told:
        assert evaluation.predictions[one.row_a] != evaluation.predictions[one.row_b]
        assert one.prediction_a != one.prediction_b
        if one.measure == "consistency":
            assert evaluation.explanations.describe(one.row_a) == evaluation.explanations.describe(one.row_b)


def test_differing_features_are_marked_farthest_first():
    X = pd.DataFrame({"near": [0.0, 1.0, 10.0], "far": [0.0, 9.0, 10.0], "same": [3, 3, 4], "word": ["a", "b", "a"]})
    features = Rows.of(X).side_by_side(0, 1)
    assert [one.name for one in features] == ["word", "far", "near", "same"]
    assert [one.differs for one in features] == [True, True, True, False]
    assert [one.gap for one in features] == [None, 0.9, 0.1, 0.0]


@pytest.mark.parametrize("X", [np.arange(6.0).reshape(3, 2), [[0, 1], [2, 3], [4, 5]], ["one text", "two", "three"]])
def test_rows_of_any_kind_can_be_shown_side_by_side(X):
    features = Rows.of(X).side_by_side(0, 2)
    assert all(one.differs for one in features)
    assert features[0].a != features[0].b


def test_rounding_never_makes_different_values_look_alike():
    assert two_values(1.00000001, 1.00000002) == ("1.00000001", "1.00000002")
    assert two_values(1.23456789, 2.0) == ("1.235", "2")


def test_what_cannot_be_seen_is_written_as_its_code():
    assert wording("a\u202eb\x1b[31m\u2028\x00") == "a\\u202eb\\x1b[31m\\u2028\\x00"
    assert wording("\ud800") == "\\ud800"
    assert wording("x" * 500).endswith("… (100 more characters)")


def test_a_weighted_evaluation_is_summarized_without_a_curve():
    X = examples.rows(60)
    found = fs.evaluate(examples.predict, examples.by_age, X, weights=np.arange(1.0, 61.0), progress=False)
    told = summarize(found).explainers[0]
    assert told.curves == ()
    assert [one.measure for one in told.measures] == ["consistency", "sufficiency"]


def test_what_has_no_rows_is_summarized_without_contradictions():
    estimate = fs.consistency(["a", "a", "b"], [1, 0, 1])
    told = summarize(SimpleNamespace(consistency=estimate, sufficiency=None, name="a log", notes=("2 rows dropped",)))
    assert told.explainers[0].contradictions == ()
    assert told.explainers[0].notes == ("2 rows dropped",)


def test_populations_of_one_explainer_may_be_given_by_column(found):
    evaluation = found.evaluations["constant"]
    by_job = found.populations["constant"]
    told = summarize(evaluation, populations={"job": by_job, "again": by_job}).explainers[0].populations
    assert [one.by for one in told] == ["job", "again"]
    assert summarize(evaluation, populations=by_job).explainers[0].populations[0].by == "job"
    nameless = evaluation.by(list(examples.rows()["job"]))
    assert summarize(evaluation, populations=nameless).explainers[0].populations[0].by == ""


def test_of_many_populations_the_lowest_are_told_and_the_rest_counted():
    X = examples.rows(400)
    evaluation = fs.evaluate(examples.predict, fs.explainers.Constant(), X, progress=False)
    everyone = evaluation.by(X["age"])
    told = summarize(evaluation, populations=everyone).explainers[0].populations[0]
    lows = sorted(one.low for one in everyone.estimates.values())
    assert len(told.groups) + told.left_out == len(everyone.estimates)
    assert sorted(one.low for _, one in told.groups) == lows[: len(told.groups)]


def test_an_audit_is_summarized_with_its_windows_of_time():
    X = examples.rows(240)
    log = pd.DataFrame({"yhat": examples.predict(X), "why": X["age"] > 38, "job": X["job"]})
    log["day"] = pd.date_range("2024-01-01", periods=240, freq="6h")
    audited = audit(log, prediction="yhat", explanation="why", by="job", time="day", every="1mo")
    told = summarize(audited).explainers[0]
    assert [len(one.groups) for one in told.populations] == [2, len(audited.windows.estimates)]
    assert {one.a for one in told.populations[1].differences} == {str(start) for start in audited.windows.differences}
    assert told.contradictions[0].prediction_a != told.contradictions[0].prediction_b


def test_what_is_no_evaluation_is_refused_in_one_sentence(found):
    with pytest.raises(WrongType, match="evaluation, a comparison or an audit; got list"):
        summarize([1, 2])
    with pytest.raises(BadInput, match="Populations are given for 'nobody'"):
        summarize(found, populations={"nobody": found.populations["constant"]})
    with pytest.raises(BadInput, match="wanted"):
        summarize(found, wanted=1.5)
