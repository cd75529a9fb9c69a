"""Answers of a judge: what is read and what is refused, the notes, and every measure that would need all pairs."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from scipy import sparse

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, NotProven, WrongType
from held import tables
from refused import refused
from small_systems import pairs_of

TEXTS = ["late", "late", "rich", "young"]
REASONS, LABELS = fs.Reasons(TEXTS), ["no", "no", "yes", "no"]
ANSWERS = pairs_of(np.array([[1, 0, np.nan], [np.nan, 0, 1], [1, 1, np.nan], [1, np.nan, 0]]))


def measured(answers, reasons=REASONS, labels=LABELS, **how):
    return fs.sufficiency(reasons, labels, relation=fs.Judged(answers), **how)


@cache
def drawn(repeat=1):
    """Rows on a line; a reason applies to rows near its own, and rows above a half are predicted 1."""
    x = np.repeat(default_rng(0).random(200 // repeat), repeat)
    reasons = fs.Reasons([f"about {value:.6f}" for value in x])
    table = fs.pairs_to_ask(reasons, 10, seed=0)
    first = reasons.group()[1]
    table["applies"] = np.abs(x[first[table["explanation"]]] - x[table["row"]]) < 0.2
    return x, reasons, (x > 0.5).astype(int), table


@cache
def evaluated(repeat=1):
    x, reasons, labels, table = drawn(repeat)
    return fs.evaluate(labels, reasons, x[:, None], relation=fs.Judged(table))


def one_pair(row, explanation, applies, **more):
    return pd.DataFrame({"row": [row], "explanation": [explanation], "applies": [applies], **more})


def test_answers_that_are_none_are_refused_when_they_are_handed_over():
    for answers, error, message in [
        (one_pair(0, 0, 0.7), BadInput, r"got 0\.7 at row 0 of column 'applies': map other words"),
        ([[1, 0], [1, 1]], WrongType, r"frame of pairs with columns 'row', .*got list\. Of a table .*np.indices"),
        ({"row": [0], "explanation": [0], "applies": [True]}, WrongType, "got dict"),
        (pd.DataFrame({"a": [1]}), WrongType, "got columns 'a'"),
        (sparse.csr_array(np.eye(4)), WrongType, "got csr_array"),
        (one_pair(0.5, 0, True), BadInput, "'row' must hold positions.*got .*0.5"),
        (one_pair(-1, 0, True), BadInput, "'row' must hold positions"),
        (one_pair(0, "late", True), BadInput, "'explanation' must hold numbers"),
        (one_pair(0, 0, None), BadInput, "No pair has an answer"),
    ]:
        refused(error, message, fs.Judged, answers)


def test_answers_about_other_rows_or_explanations_are_refused():
    for answers, error, message in [
        (one_pair(4, 0, True), BadInput, "about row 4, but there are 4 rows"),
        (one_pair(0, 3, True), BadInput, "about explanation 3, but there are 3"),
        (one_pair(0, 0, True, text=["rich"]), BadInput, "asked about 'rich' as explanation 0, which is 'late' here"),
        (
            pd.DataFrame({"row": [0, 1, 1], "explanation": [0, 0, 0], "applies": [True, True, False]}),
            BadInput,
            "answers more than once about explanation 0 and row 1",
        ),
    ]:
        refused(error, message, measured, answers)


def test_tables_of_any_library_say_the_same():
    table = ANSWERS
    forms = [*tables(table), table.astype({"applies": "boolean"}), table.astype(object).where(table.notna(), None)]
    for form in forms:
        assert measured(form).to_dict() == measured(ANSWERS).to_dict(), type(form)


def test_rows_of_which_the_judge_denies_their_own_explanation_are_counted():
    _, reasons, labels, table = drawn()
    own = pd.DataFrame({"row": range(200), "explanation": range(200), "applies": np.arange(200) >= 30})
    estimate = measured(pd.concat([table[["row", "explanation", "applies"]], own]), reasons, labels)
    assert any("their own explanation does not apply to 30 rows of 200 asked" in note for note in estimate.notes)
    assert estimate.value == pytest.approx(evaluated().sufficiency.value, abs=1e-12)


def test_what_needs_all_pairs_is_refused_in_one_sentence():
    x, reasons, labels, table = drawn()
    judged, X, evaluation = {"relation": fs.Judged(table)}, x[:, None], evaluated()
    assert evaluation.necessity is None
    told = r"asked about some pairs only.*per_explanation=None"
    for measure in (fs.necessity, fs.encoding):
        refused(NotProven, told, measure, reasons, labels, **judged)
    refused(NotProven, told, evaluation.encoding)
    refused(NotProven, told, evaluation.by, labels, "necessity")
    refused(NotProven, r"ask about more pairs, fs\.pairs_to_ask", fs.plan, evaluation.sufficiency)
    told = "unlabeled= needs a relation that covers any row"
    refused(NotProven, told, fs.sufficiency, reasons, labels, X, unlabeled=X, **judged)
    told = "use sufficiency, evaluate or compare"
    refused(NotProven, told, fs.local, [0.5], lambda X: [0] * len(X), lambda X: ["a"] * len(X), X, **judged)
    refused(NotProven, "discretize first", fs.evaluate, labels, reasons, X, discretizer=fs.CommonPhrases(2), **judged)
    refused(FaithscopeError, "is not proven", fs.mse_bound, evaluation.sufficiency)


def test_precision_recall_and_coverage_are_shares_of_the_rows_asked_about():
    _, reasons, labels, table = drawn(repeat=2)
    scopes = evaluated(repeat=2).scopes().set_index("explanation")
    first = reasons.group()[1]
    for number, asked in table.groupby("explanation"):
        line, label = scopes.loc[reasons.describe(int(first[number]))], labels[first[number]]
        same, applies = labels[asked["row"]] == label, asked["applies"].to_numpy(bool)
        assert (line["asked"], line["coverage"]) == (10, applies.mean())
        recall, precision = (
            part[chosen].mean() if chosen.any() else np.nan for part, chosen in ((applies, same), (same, applies))
        )
        assert (line["recall"], line["precision"]) == pytest.approx((recall, precision), nan_ok=True)


def test_local_sufficiency_does_not_say_what_was_not_asked():
    _, reasons, _, table = drawn(repeat=2)
    local, codes = evaluated(repeat=2).local(), reasons.group()[0]
    own = {(row, number): bool(yes) for row, number, yes in table[["row", "explanation", "applies"]].itertuples(False)}
    assert local["covers_itself"].tolist() == [own.get((row, int(codes[row]))) for row in range(200)]
    assert (local["asked"] == 10).all()


def test_the_report_and_the_assertion_advise_to_ask_more(tmp_path):
    evaluated().to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "ask about more pairs" in page
    assert "assumes that these were drawn at random" in page
    told = r"ask about more pairs \(fs\.pairs_to_ask\)"
    refused(AssertionError, told, fs.assert_faithful, evaluated(), at_least=0.95)


def test_pairs_are_drawn_uniformly_and_never_twice():
    table = fs.pairs_to_ask([*range(30), *[99] * 10], per_explanation=7)
    assert not table.duplicated(["row", "explanation"]).any()
    assert (table.groupby("explanation").size() == 7).all()
    assert (table["row"] != table["explanation"])[table["explanation"] < 30].all()
    tables = (fs.pairs_to_ask([*range(11), 0], per_explanation=4, seed=seed) for seed in range(400))
    counts = sum(np.bincount(each[each["explanation"] == 0]["row"], minlength=12) for each in tables)
    assert counts.sum() == 1_600
    assert np.abs(counts - 1_600 / 12).max() < 5 * np.sqrt(1_600 / 12)


def test_a_judge_reads_the_whole_text():
    long = "because " * 100  # which a judge reads whole
    assert fs.pairs_to_ask(fs.Reasons([long, "short"]), 1)["text"].tolist() == [long, "short"]


def test_all_pairs_answered_are_a_whole_relation():
    table = fs.pairs_to_ask(range(20), None)
    assert len(table) == 400
    table["applies"] = (table["row"] - table["explanation"]).abs() < 4
    assert fs.necessity(range(20), [0, 1] * 10, relation=fs.Judged(table)).n == 20


def test_bad_wishes_are_refused():
    told = "per_explanation must be a whole number of at least 1"
    refused(BadInput, told, fs.pairs_to_ask, ["a", "b"], per_explanation=0)
    refused(BadInput, "seed must be a whole number", fs.pairs_to_ask, ["a", "b"], seed=-1)
