"""One summary holds what every rendering tells."""

import json

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
import report_examples as examples
from faithscope.cli.outcome import Outcome, tell
from faithscope.errors import BadInput, TooLarge
from faithscope.measures.telling import READING_ORDER
from faithscope.report.html import render
from faithscope.report.reported import OfOneExplainer
from faithscope.report.sections.contradictions import feature_columns, side_by_side
from faithscope.report.summary import summarize
from faithscope.report.wording import two_values, wording
from refused import refused
from report_examples import printed as in_terminal


def test_numbers_are_those_of_the_estimates_and_everyone_is_told_by_verdict_then_lower_end_and_baselines_last():
    summary, comparison = examples.summary(), examples.comparison()
    places = []
    for explainer in summary.explainers:
        assert explainer.measures == tuple(comparison[explainer.name]._estimates())[: len(explainer.measures)]
        assert [name for name, _ in explainer.populations[0].groups] == ["a", "b"]
        low = min(told.low for told in explainer.measures)
        places.append((explainer.result.baseline, READING_ORDER.index(explainer.verdict.level), -low))
    assert places == sorted(places)
    assert {explainer.name for explainer in summary.explainers} == set(comparison)
    assert [each.name for each in summary.explainers if each.result.baseline] == ["unique", "constant", "random"]
    assert len(summary.differences) == len(comparison.differences())


def test_the_pair_that_differs_least_is_shown_first():
    contradicted = [pairs for told in examples.summary().explainers if (pairs := examples.pairs(told))]
    assert contradicted
    for pairs in contradicted:
        differing = [len(pair.differing) for pair in pairs]
        assert differing == sorted(differing)


def test_differing_features_of_rows_of_any_kind_are_marked_farthest_first():
    X = pd.DataFrame({"near": [0.0, 1.0, 10.0], "far": [0.0, 9.0, 10.0], "same": [3, 3, 4], "word": ["a", "b", "a"]})
    features = side_by_side(feature_columns(X), 0, 1)
    assert [(feature.name, feature.differs, feature.gap) for feature in features] == [
        ("word", True, None),
        ("far", True, 0.9),
        ("near", True, 0.1),
        ("same", False, 0.0),
    ]
    for X in (np.arange(6.0).reshape(3, 2), [[0, 1], [2, 3], [4, 5]], ["one text", "two", "three"]):
        assert all(feature.differs and feature.a != feature.b for feature in side_by_side(feature_columns(X), 0, 2))


def test_rounding_never_makes_different_values_look_alike_and_what_cannot_be_seen_is_written_as_its_code():
    assert two_values(1.00000001, 1.00000002) == ("1.00000001", "1.00000002")
    assert two_values(1.23456789, 2.0) == ("1.235", "2")
    assert wording("a\u202eb\x1b[31m\u2028\x00") == "a\\u202eb\\x1b[31m\\u2028\\x00"
    assert wording("\ud800") == "\\ud800"
    assert wording("x" * 500).endswith("… (100 more characters)")


ASKED = {("contradictions", "consistency"), ("discretizations", "consistency")}


@pytest.mark.parametrize(
    "problem", [TooLarge("That needs 9 GiB: use fewer rows."), pytest.param(MemoryError(), marks=pytest.mark.thorough)]
)
def test_a_section_that_cannot_be_made_says_so_everywhere(monkeypatch, capsys, problem):
    def fails(*_):
        raise problem

    monkeypatch.setattr("faithscope.evaluation.result.counterexamples", fails)
    monkeypatch.setattr(fs.Evaluation, "_discretized", property(fails))
    evaluation = examples.evaluation(examples.rows(60))
    summary = summarize(evaluation)
    page, printed = render(summary), in_terminal(summary, width=1000)
    tell(evaluation, "", Outcome(as_json=True))  # as the command line does
    commanded = json.loads(capsys.readouterr().out)["missing"]["by_age"]
    missing = summary.explainers[0].missing
    assert {(part.section, part.measure) for part in missing} == ASKED
    for part, by_command in zip(missing, commanded, strict=True):
        assert ("9 GiB" if str(problem) else "Memory ran out") in part.reason
        assert part.sentence in page
        assert f"by_age, {part.sentence}" in printed
        assert (by_command["section"], by_command["measure"]) == (part.section, part.measure)
        assert by_command["reason"][:14] == part.reason[:14], "how much memory is left may change"
    assert "No two rows contradict" not in page


def test_notes_are_told_in_a_terminal_with_whom_and_what_they_speak_of():
    X = examples.rows(30)
    comparison = fs.compare(examples.predict, {"rules": examples.by_age}, X, by=X["job"])
    printed = in_terminal(summarize(comparison), width=1000)
    told = [("rules", estimate) for estimate in comparison["rules"]._estimates()]
    jobs = comparison["rules"].populations
    for groups, whom in ((jobs, "beside everybody"), (jobs.among, "among themselves")):
        told += [(f"rules, job {job}, {whom}", estimate) for job, estimate in groups.estimates.items()]
    for who, estimate in told:
        assert all(f"{who}, {estimate.measure}: {note}" in printed for note in estimate.notes)
    assert "a few rows decide" in printed


@pytest.mark.parametrize("many", [5, 6, pytest.param(30, marks=pytest.mark.thorough)])
def test_of_many_populations_the_lowest_are_told_and_intervals_of_more_than_ten_pairs_hold_together(many):
    X = examples.rows(400)
    evaluation = fs.evaluate(examples.predict, fs.explainers.Constant(), X, by=np.arange(400) % many)
    groups, summary = evaluation.populations, summarize(evaluation)
    shown, pairs = summary.explainers[0].populations[0], many * (many - 1) // 2
    lows = sorted(estimate.low for estimate in groups.estimates.values())
    assert sorted(estimate.low for _, estimate in shown.groups) == lows[:12]
    assert shown.more.startswith(f"{many - 12} more" if many > 12 else "")
    differences, together = shown.differences
    assert together == (pairs if pairs > 10 else 0)
    wanted = {(str(each.a), str(each.b)): each for each in groups.differences(simultaneous=pairs > 10).itertuples()}
    assert differences
    for line in differences:
        each = wanted[line.a, line.b]
        assert (line.low, line.high) == pytest.approx((each.low, each.high))
    assert (f"the intervals of {pairs} differences hold together" in render(summary)) == (pairs > 10)


def test_an_audit_is_summarized_with_its_windows_of_time():
    X = examples.rows()
    when = pd.date_range("2024-01-01", periods=240, freq="6h")
    log = X.assign(yhat=examples.predict(X), why=X["age"] > 38, day=when)
    audited = fs.audit(log, prediction="yhat", explanation="why", by="job", time="day", every="1mo")
    explainer = summarize(audited).explainers[0]
    jobs, _, windows, _, both = explainer.populations
    assert (len(jobs.groups), len(windows.groups)) == (2, len(audited.windows.estimates))
    assert both.by == "job × windows of 1mo"
    assert [groups.compared for groups in explainer.populations] == [
        "beside everybody",
        "among themselves",
        "beside the reference",
        "among themselves",
        "beside everybody",
    ]
    assert {apart.a for apart in windows.differences[0]} == set(audited.windows.compared)
    pair = examples.pairs(explainer)[0]
    assert pair.prediction_a != pair.prediction_b


def test_a_result_that_lacks_a_part_of_its_report_cannot_be_made():
    for kind in (fs.Evaluation, fs.Comparison, fs.results.Audit):
        for base in kind.__mro__[1:]:
            for name in getattr(base, "__abstractmethods__", ()):
                lacking = type("Lacking", (base,), dict.fromkeys(base.__abstractmethods__ - {name}))
                refused(TypeError, f"abstract method '?{name}", lacking)
    assert {"X", "encoding", "_leakage", "_row_pairs"} <= OfOneExplainer.__abstractmethods__


def test_a_bar_that_is_no_share_is_refused_in_one_sentence():
    comparison = examples.comparison()
    refused(BadInput, "wanted", summarize, comparison, wanted=1.5)
