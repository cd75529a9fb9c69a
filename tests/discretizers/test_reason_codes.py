"""Reason codes: the most negative importances of the favorable label, as a set or in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng
from sklearn.linear_model import LogisticRegression

import faithscope as fs
from faithscope.discretizers.choice import from_word
from faithscope.errors import BadInput
from faithscope.explanations.arrow import from_arrow, to_arrow
from faithscope.measures.named_features import named_features
from refused import refused

NAMES = list("abcdef")
MATRICES = arrays(float, (5, 6), elements=st.sampled_from([-1.5, -0.31, -0.31, -0.0, 0.0, 0.31, 2.0, -1e-300]))


def reasons(row, k):
    """The k most negative features of a row, one after the other, the earlier of equal ones."""
    return [j for j in sorted(range(len(row)), key=lambda j: (row[j], j)) if row[j] < 0][:k]


@given(MATRICES, st.integers(1, 8))
def test_reasons_are_the_most_negative_features_and_never_zero_or_more(matrix, k):
    importances = fs.Importances(matrix, names=NAMES)
    codes, ordered = (fs.ReasonCodes(k, ordered=order)(importances) for order in (False, True))
    for i, row in enumerate(matrix):
        expected = reasons(row, k)
        assert np.flatnonzero(codes.values[i]).tolist() == sorted(expected)
        assert set(codes.values[i]) <= {0, 1}
        assert {j: int(ordered.values[i, j]) for j in expected} == {j: place for place, j in enumerate(expected, 1)}
        assert np.count_nonzero(ordered.values[i]) == len(expected)
        assert codes.describe(i) == (", ".join(NAMES[j] for j in sorted(expected)) or "no negative importance")
        assert ordered.describe(i) == (", ".join(NAMES[j] for j in expected) or "no negative importance")


def test_importances_of_another_label_or_of_several_are_refused():
    plain = fs.Importances([[1.0, -1.0]])
    approved, one = (plain._with(label=label) for label in ("approved", "1"))
    for against, importances in (("approved", approved), (1, one), (1.0, one)):
        assert fs.ReasonCodes(2, against=against)(importances).notes == ()
    told = "importances of label 'denied'; these speak of 'approved'"
    refused(BadInput, told, fs.ReasonCodes(2, against="denied"), approved)
    refused(BadInput, "these speak of '1'", fs.ReasonCodes(2, against=0), one)
    (note,) = fs.ReasonCodes(2, against="approved")(plain).notes
    assert note == "reason codes are against label 'approved': nothing says that the importances speak of it"
    assert "nothing says" in fs.ReasonCodes(2, against="approved")(one).notes[0]
    several = fs.Importances([[1.0, -1.0]], names=["age | class 0", "age | class 1"])
    refused(BadInput, "several stand one after the other: explain one class", fs.ReasonCodes(2), several)


def test_explainers_say_which_label_they_speak_of():
    X = default_rng(0).normal(size=(80, 2))
    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "approved", "denied"))
    explained = fs.explainers.Shap(model, X[:20], class_index=0).explain(X[:5])
    coded = fs.ReasonCodes(1, against="approved")(explained)
    copies = (explained, explained.take([0, 1]), from_arrow(to_arrow(explained)), coded)
    assert [copy.label for copy in copies] == ["approved"] * 4
    own = fs.explainers.Shap(model, X[:20], class_index="predicted").explain(X[:5])
    refused(BadInput, "rows explain the classes predicted for them", fs.ReasonCodes(1), own)


def test_what_is_left_after_another_discretizer_may_be_no_importance():
    importances = fs.Importances([[0.1, -0.2, -0.3]])
    for first in (fs.TopFeatures(2), fs.ReasonCodes(2), fs.ReasonCodes(2, ordered=True)):
        refused(BadInput, "left only which features they are", first | fs.ReasonCodes(1), importances)
    assert (fs.SignOfTop(2) | fs.ReasonCodes(4))(importances).values.tolist() == [[0, 1, 1]]


def test_bad_codes_get_one_sentence():
    for options in ((0,), (1.5,), ("4",), (4, ["approved"]), (4, None, 1), (4, "a", "yes")):
        refused(BadInput, "whole number|favorable label|True or False", fs.ReasonCodes, *options)


def test_codes_name_features_that_speak_against():
    importances = fs.Importances([[-0.1, 0.4, -0.3], [0.2, 0.1, 0.0]], names=["age", "job", "gain"])
    codes, ordered = (named_features(fs.ReasonCodes(4, ordered=order)(importances), 5) for order in (False, True))
    assert codes.features.tolist() == ordered.features.tolist() == [0, 2]
    assert codes.signs.tolist() == ordered.signs.tolist() == [-1, -1]


def applicants(favorable=0):
    """Rows whose class 1 is denied, a model of them, and importances that add up to its output for a class."""
    X = default_rng(0).normal(size=(80, 3))
    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "denied", "approved"))
    return X, model.predict(X), (2 * favorable - 1) * X * model.coef_


def told_of_codes(importances, predictions, discretizer, **options):
    notes = fs.consistency(importances, predictions, discretizer=discretizer, **options).notes
    return [note for note in notes if "reason codes" in note]


def test_reversed_reasons_are_told_where_predictions_show_them():
    _, decisions, of_approved = applicants()
    for codes in (fs.ReasonCodes(2, against="approved"), fs.Floor(2) | fs.ReasonCodes(2, against="approved")):
        assert told_of_codes(of_approved, decisions, codes) == []
        (note,) = told_of_codes(-of_approved, decisions, codes)
        assert "not 'denied', which the importances seem to speak of" in note
        assert "reversed" in note
        assert told_of_codes(fs.read(-of_approved, class_index=0), decisions, codes) == []  # as the note says
    unclear = default_rng(1).normal(size=of_approved.shape)
    (note,) = told_of_codes(unclear, decisions, fs.ReasonCodes(2, against="approved"))
    assert "nothing says that the importances speak of it" in note


def test_the_favorable_label_is_asked_for():
    X, decisions, of_approved = applicants()
    said = fs.explainers.Shap(LogisticRegression().fit(X, decisions), X[:10]).explain(X)
    assert said.label == "denied"
    for importances, told, call in (
        (of_approved, "'approved', which the importances seem to speak of", "against='approved'"),
        (said, "'denied', which the importances speak of", "against='denied'"),
        (np.ones((80, 3)), "nothing says which label", "against='approved'"),
    ):
        (note,) = told_of_codes(importances, decisions, fs.ReasonCodes(2))
        assert told in note
        assert call in note
    assert "--discretize reason-codes-2-against-approved" in note.typed()
    assert told_of_codes(of_approved, X[:, 0], fs.ReasonCodes(2), agreement=fs.Spread()) == []


def test_the_word_names_the_favorable_label_as_it_is_written():
    assert from_word("Ordered-Reason-Codes-3-against-Approved | 1") == fs.ReasonCodes(3, "Approved | 1", ordered=True)
