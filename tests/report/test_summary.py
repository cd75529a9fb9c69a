"""One summary holds what every rendering tells."""

import json

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
import report_examples as examples
from faithscope.cli.outcome import Outlets, tell
from faithscope.errors import BadInput, TooLarge, WrongType
from faithscope.measures.telling.verdict import READING_ORDER
from faithscope.report import summarize
from faithscope.report.contradictions import FeatureColumns, most_alike_first
from faithscope.report.html import render
from faithscope.report.result import Contents, Provenance, row_pairs
from faithscope.report.terminal import render as in_terminal
from faithscope.report.wording import two_values, wording
from faithscope.tables.audit import audit


@pytest.fixture(scope="module")
def comparison():
    return examples.comparison()


@pytest.fixture(scope="module")
def summary(comparison):
    return summarize(comparison)


def test_a_summary_is_json_whatever_was_measured(summary):
    for told in (summary, summarize(examples.hostile())):
        assert json.loads(json.dumps(told.to_dict(), allow_nan=False))["title"] == told.title


def test_numbers_are_those_of_the_estimates(comparison, summary):
    for explainer in summary.explainers:
        evaluation = comparison.evaluations[explainer.name]
        for told in explainer.measures:
            estimate = getattr(evaluation, told.measure)
            assert (told.value, told.low, told.high) == (estimate.value, estimate.low, estimate.high)
            assert told.chance == estimate.chance


def test_every_explainer_difference_and_population_is_told(comparison, summary):
    assert {explainer.name for explainer in summary.explainers} == set(comparison.evaluations)
    assert len(summary.differences) == len(comparison.differences())
    assert all([name for name, _ in explainer.populations[0].groups] == ["a", "b"] for explainer in summary.explainers)


def test_explainers_are_listed_by_verdict_then_by_lower_limit_and_baselines_last(summary):
    places = [
        (each.baseline, READING_ORDER.index(each.verdict.level), -min(m.limit for m in each.measures))
        for each in summary.explainers
    ]
    assert places == sorted(places)
    assert [each.name for each in summary.explainers if each.baseline] == ["unique", "constant", "random"]


def test_the_pair_that_differs_least_is_shown_first_and_none_is_lost(summary):
    for explainer in summary.explainers:
        if not explainer.contradictions:
            continue
        pairs = most_alike_first(explainer.contradictions)
        differing = [sum(feature.differs for feature in pair.features) for pair in pairs]
        assert differing[0] == min(differing)
        assert sorted(map(id, pairs)) == sorted(map(id, explainer.contradictions))
        assert all(pair.alike == sum(not feature.differs for feature in pair.features) for pair in pairs)


def test_contradictions_share_an_explanation_and_not_a_prediction(comparison, summary):
    pairs = next(explainer for explainer in summary.explainers if explainer.name == "rules by age").contradictions
    evaluation = comparison.evaluations["rules by age"]
    assert {pair.measure for pair in pairs} == {"consistency", "sufficiency"}
    for pair in pairs:
        assert evaluation.predictions[pair.row_a] != evaluation.predictions[pair.row_b]
        assert pair.prediction_a != pair.prediction_b
        if pair.measure == "consistency":
            assert evaluation.explanations.describe(pair.row_a) == evaluation.explanations.describe(pair.row_b)


def test_differing_features_are_marked_farthest_first():
    X = pd.DataFrame({"near": [0.0, 1.0, 10.0], "far": [0.0, 9.0, 10.0], "same": [3, 3, 4], "word": ["a", "b", "a"]})
    features = FeatureColumns.of(X).side_by_side(0, 1)
    assert [feature.name for feature in features] == ["word", "far", "near", "same"]
    assert [feature.differs for feature in features] == [True, True, True, False]
    assert [feature.gap for feature in features] == [None, 0.9, 0.1, 0.0]


@pytest.mark.parametrize("X", [np.arange(6.0).reshape(3, 2), [[0, 1], [2, 3], [4, 5]], ["one text", "two", "three"]])
def test_rows_of_any_kind_can_be_shown_side_by_side(X):
    features = FeatureColumns.of(X).side_by_side(0, 2)
    assert all(feature.differs for feature in features)
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
    evaluation = fs.evaluate(examples.predict, examples.by_age, X, weights=np.arange(1.0, 61.0), progress=False)
    explainer = summarize(evaluation).explainers[0]
    assert explainer.curves == ()
    assert [(part.section, part.measure) for part in explainer.missing] == [
        ("rows", "consistency"),
        ("rows", "sufficiency"),
    ]
    assert "weighted" in explainer.missing[0].reason
    assert [estimate.measure for estimate in explainer.measures] == ["consistency", "sufficiency"]


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
    evaluation = fs.evaluate(examples.predict, examples.by_age, examples.rows(60), progress=False)
    summary = summarize(evaluation)
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
    tell(examples.comparison(60), Outlets(as_json=True), title="")
    missing = json.loads(capsys.readouterr().out)["missing"]
    assert missing["random"] == [{"section": "contradictions", "measure": "consistency", "reason": "That needs 9 GiB."}]


def test_notes_are_told_in_a_terminal_with_whom_and_what_they_speak_of():
    X = examples.rows(30)
    comparison = fs.compare(examples.predict, {"rules": examples.by_age}, X, groups=X["job"], progress=False)
    printed = in_terminal(summarize(comparison), width=1000)
    parts = (comparison.populations["rules"], comparison.sufficiency_populations["rules"])
    for words, estimate in [
        *((f"rules, {estimate.measure}", estimate) for estimate in comparison["rules"]._estimates()),
        *(
            (f"rules, job {job}, {estimate.measure}", estimate)
            for part in parts
            for job, estimate in part.estimates.items()
        ),
    ]:
        assert all(f"{words}: {note}" in printed for note in estimate.notes)
    assert "a few rows decide" in printed


class Rowless:
    """The least that a report can be made of: one estimate, and no rows."""

    consistency = fs.consistency(["a", "a", "b"], [1, 0, 1])
    sufficiency = necessity = uniqueness = X = None
    _discretized = ()

    def _contents(self):
        return Contents({"a log": self})

    def _provenance(self):
        return Provenance("", "", notes=("2 rows dropped",))

    def _leakage(self):
        return None

    def _plan(self, measure):
        return fs.plan(self.consistency)

    def _row_pairs(self, measure, k):
        return row_pairs({"row_a": [0], "row_b": [1], "explanation": ["a"], "prediction_a": [1], "prediction_b": [0]})


def test_whatever_answers_a_report_s_questions_is_summarized():
    (explainer,) = summarize(Rowless()).explainers
    assert (explainer.name, explainer.notes) == ("a log", ("2 rows dropped",))
    (contradiction,) = explainer.contradictions
    assert (contradiction.index_a, contradiction.index_b, contradiction.features) == ("0", "1", ())


def test_populations_of_one_explainer_may_be_given_by_column(comparison):
    evaluation = comparison.evaluations["constant"]
    by_job = comparison.populations["constant"]
    breakdowns = summarize(evaluation, populations={"job": by_job, "again": by_job}).explainers[0].populations
    assert [groups.by for groups in breakdowns] == ["job", "again"]
    assert summarize(evaluation, populations=by_job).explainers[0].populations[0].by == "job"
    nameless = evaluation.by(list(examples.rows()["job"]))
    assert summarize(evaluation, populations=nameless).explainers[0].populations[0].by == ""


def test_of_many_populations_the_lowest_are_told_and_the_rest_counted():
    X = examples.rows(400)
    evaluation = fs.evaluate(examples.predict, fs.explainers.Constant(), X, progress=False)
    everyone = evaluation.by(X["age"])
    shown = summarize(evaluation, populations=everyone).explainers[0].populations[0]
    lows = sorted(estimate.low for estimate in everyone.estimates.values())
    assert len(shown.groups) + shown.left_out == len(everyone.estimates)
    assert sorted(estimate.low for _, estimate in shown.groups) == lows[: len(shown.groups)]


def test_intervals_of_more_than_ten_pairs_hold_together_and_the_page_says_so(tmp_path):
    X = examples.rows(400)
    evaluation = fs.evaluate(examples.predict, fs.explainers.Constant(), X, progress=False)
    for many in (5, 6, 30):  # 10, 15 and 435 pairs; of 30 groups 12 are shown
        groups = evaluation.by(np.arange(len(X)) % many)
        summary = summarize(evaluation, populations=groups)
        shown, pairs = summary.explainers[0].populations[0], many * (many - 1) // 2
        assert shown.together == (pairs if pairs > 10 else 0)
        told = {(line.a, line.b): (line.low, line.high) for line in shown.differences}
        for line in groups.differences(simultaneous=pairs > 10).itertuples():
            key = (str(line.a), str(line.b))
            assert key not in told or told[key] == pytest.approx((line.low, line.high))
        fs.report.write_report(evaluation, tmp_path / "page.html", populations=groups)
        page = (tmp_path / "page.html").read_text()
        assert (f"There are {pairs} pairs, so these intervals are wider" in page) == (pairs > 10)
    parts = [np.arange(len(X)) % size for size in range(1, 7)]
    compared = fs.compare(examples.predict(X), {f"by {len(set(part))}": part for part in parts}, X)
    summary = summarize(compared)
    assert summary.together == len(summary.differences) == 15
    assert [line.low for line in summary.differences] == pytest.approx(compared.differences(True)["low"].tolist())


def test_an_audit_is_summarized_with_its_windows_of_time():
    X = examples.rows(240)
    log = pd.DataFrame({"yhat": examples.predict(X), "why": X["age"] > 38, "job": X["job"]})
    log["day"] = pd.date_range("2024-01-01", periods=240, freq="6h")
    audited = audit(log, prediction="yhat", explanation="why", by="job", time="day", every="1mo")
    explainer = summarize(audited).explainers[0]
    assert [len(groups.groups) for groups in explainer.populations] == [2, len(audited.windows.estimates)]
    assert {apart.a for apart in explainer.populations[1].differences} == {
        str(start) for start in audited.windows.compared
    }
    assert explainer.contradictions[0].prediction_a != explainer.contradictions[0].prediction_b


def test_what_is_no_evaluation_is_refused_in_one_sentence(comparison):
    with pytest.raises(WrongType, match="evaluation, a comparison or an audit; got list"):
        summarize([1, 2])
    with pytest.raises(BadInput, match="Populations are given for 'nobody'"):
        summarize(comparison, populations={"nobody": comparison.populations["constant"]})
    with pytest.raises(BadInput, match="wanted"):
        summarize(comparison, wanted=1.5)
