"""One summary holds what every rendering tells."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
import report_examples as examples
from faithscope.cli.options import tell
from faithscope.errors import BadInput, TooLarge, WrongType
from faithscope.report import summarize
from faithscope.report.contradictions import Rows
from faithscope.report.html import render
from faithscope.report.terminal import render as in_terminal
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
    assert [(one.section, one.measure) for one in told.missing] == [("rows", "consistency"), ("rows", "sufficiency")]
    assert "weighted" in told.missing[0].reason
    assert [one.measure for one in told.measures] == ["consistency", "sufficiency"]


ASKED = {
    "counterexamples": ("contradictions", "consistency"),
    "wrongly_covered": ("contradictions", "sufficiency"),
    "discretizations": ("discretizations", "consistency"),
}


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("problem", [TooLarge("That needs 9 GiB: use fewer rows."), MemoryError()])
@pytest.mark.slow
def test_a_section_that_cannot_be_made_says_so_everywhere(monkeypatch, question, problem):
    def fails(*_):
        raise problem

    monkeypatch.setattr(fs.Evaluation, question, fails)
    found = fs.evaluate(examples.predict, examples.by_age, examples.rows(60), progress=False)
    summary = summarize(found)
    (missing,) = summary.explainers[0].missing
    assert (missing.section, missing.measure) == ASKED[question]
    assert ("9 GiB" if str(problem) else "Memory ran out") in missing.reason
    assert missing.sentence in render(summary)
    assert f"by_age, {missing.sentence}" in in_terminal(summary, width=1000)
    assert json.loads(json.dumps(summary.to_dict()))["explainers"][0]["missing"][0]["reason"] == missing.reason
    if missing.section == "contradictions":
        assert "No two rows contradict" not in render(summary)


def test_json_of_the_command_line_has_what_is_missing(monkeypatch, capsys):
    def fails(*_):
        raise TooLarge("That needs 9 GiB.")

    monkeypatch.setattr(fs.Evaluation, "counterexamples", fails)
    tell(examples.comparison(60), None, as_json=True, title="")
    missing = json.loads(capsys.readouterr().out)["missing"]
    assert missing["random"] == [{"section": "contradictions", "measure": "consistency", "reason": "That needs 9 GiB."}]


def test_notes_are_told_in_a_terminal_with_whom_and_what_they_speak_of():
    X = examples.rows(30)
    found = fs.compare(examples.predict, {"rules": examples.by_age}, X, groups=X["job"], progress=False)
    told = in_terminal(summarize(found), width=1000)
    parts = (found.populations["rules"], found.sufficiency_populations["rules"])
    for words, one in [
        *((f"rules, {one.measure}", one) for one in found["rules"]._estimates()),
        *((f"rules, job {job}, {one.measure}", one) for part in parts for job, one in part.estimates.items()),
    ]:
        assert all(f"{words}: {note}" in told for note in one.notes)
    assert "a few rows decide" in told


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
