"""Reason codes: the most negative importances of the favorable label, as a set or in order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import from_arrow, to_arrow
from faithscope.measures.explainer_agreement.named_features import named_features

NAMES = list("abcdef")
MATRICES = arrays(float, (5, 6), elements=st.sampled_from([-1.5, -0.31, -0.31, -0.0, 0.0, 0.31, 2.0, -1e-300]))
SIZES = st.integers(1, 8)


def reasons(row, k):
    """The k most negative features of a row, one after the other, the earlier of equal ones."""
    return [j for j in sorted(range(len(row)), key=lambda j: (row[j], j)) if row[j] < 0][:k]


@given(MATRICES, SIZES)
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


@given(MATRICES, SIZES, arrays(float, 5, elements=st.sampled_from([0.25, 1.0, 2.0, 1024.0])), st.booleans())
def test_positive_multiples_of_a_row_and_its_positive_numbers_change_no_code(matrix, k, scales, ordered):
    code = fs.ReasonCodes(k, ordered=ordered)
    expected = code(fs.Importances(matrix)).values
    assert np.array_equal(code(fs.Importances(matrix * scales[:, None])).values, expected)
    assert np.array_equal(code(fs.Importances(np.minimum(matrix, 0))).values, expected)


@given(MATRICES, SIZES, st.permutations(range(5)), st.booleans())
def test_the_order_of_rows_does_not_matter(matrix, k, order, ordered):
    code = fs.ReasonCodes(k, ordered=ordered)
    expected = code(fs.Importances(matrix)).values[list(order)]
    assert np.array_equal(code(fs.Importances(matrix[list(order)])).values, expected)


@given(st.integers(0, 10_000), SIZES, st.permutations(range(6)), st.booleans())
def test_the_order_of_columns_does_not_matter_unless_importances_are_equal(seed, k, order, ordered):
    matrix = np.random.default_rng(seed).normal(size=(5, 6))
    code = fs.ReasonCodes(k, ordered=ordered)
    expected = code(fs.Importances(matrix)).values[:, list(order)]
    assert np.array_equal(code(fs.Importances(matrix[:, list(order)])).values, expected)


@given(MATRICES, SIZES)
def test_codes_are_coarser_than_codes_in_order_and_those_than_more_of_them(matrix, k):
    importances = fs.Importances(matrix)
    more, ordered, codes = (
        code(importances).group()[0]
        for code in (fs.ReasonCodes(k + 1, ordered=True), fs.ReasonCodes(k, ordered=True), fs.ReasonCodes(k))
    )
    for fine, coarse in ((more, ordered), (ordered, codes)):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine)), "equal fine ones are equal coarse ones"


def test_whatever_holds_the_importances_the_codes_are_the_same():
    matrix = np.random.default_rng(0).normal(size=(40, 3)).round(1)
    labels = np.random.default_rng(1).choice(["approved", "denied"], 40)
    frame = pd.DataFrame(matrix, columns=["age", "job", "gain"], index=np.arange(40)[::-1] * 7)
    expected = fs.consistency(matrix, labels, discretizer=fs.ReasonCodes(2))
    for held in (frame, matrix.tolist(), matrix.astype(np.float32), frame.to_dict("records")):
        measured = fs.consistency(held, labels, discretizer="reason-codes-2")
        assert (measured.value, measured.distinct) == (expected.value, expected.distinct)
    shap = pytest.importorskip("shap")
    read = shap.Explanation(matrix, data=matrix, feature_names=["age", "job", "gain"])
    assert fs.consistency(read, labels, discretizer=fs.ReasonCodes(2)).value == expected.value


def test_codes_follow_sums_and_are_certified():
    matrix = np.random.default_rng(0).normal(size=(300, 3)).round(0)
    importances = fs.Importances(matrix, names=["age", "job_a", "job_b"])
    labels = np.where(matrix.sum(axis=1) > 0, "approved", "denied")
    chain = fs.Grouped({"job": ["job_a", "job_b"]}) | fs.ReasonCodes(4)
    sums = np.column_stack([matrix[:, 0], matrix[:, 1:].sum(axis=1)])
    assert chain(importances).values.tolist() == (sums < 0).astype(int).tolist()
    assert chain(importances).names == ("age", "job")
    certified = fs.certify(importances, labels, discretizers=[fs.ReasonCodes(2), fs.ReasonCodes(2, ordered=True)])
    assert 0 < certified.low <= 1


def test_importances_of_another_label_or_of_several_are_refused():
    values = np.random.default_rng(0).normal(size=(4, 2))
    spoken = fs.Importances(values)._with(label="approved")
    assert fs.ReasonCodes(2, against="approved")(spoken).notes == ()
    with pytest.raises(BadInput, match=r"importances of label 'denied'; these speak of 'approved'"):
        fs.ReasonCodes(2, against="denied")(spoken)
    (note,) = fs.ReasonCodes(2, against="approved")(fs.Importances(values)).notes
    assert note == "reason codes are against label 'approved': nothing says that the importances speak of it"
    assert "nothing says" in fs.ReasonCodes(2, against="approved")(spoken._with(label="1")).notes[0]
    with pytest.raises(BadInput, match="these speak of '1'"):
        fs.ReasonCodes(2, against=0)(spoken._with(label="1"))
    several = fs.Importances(values, names=["age | class 0", "age | class 1"])
    with pytest.raises(BadInput, match="of several, one after the other: explain one class"):
        fs.ReasonCodes(2)(several)


def test_explainers_say_which_label_they_speak_of():
    X = np.random.default_rng(0).normal(size=(80, 2))
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "approved", "denied"))
    for explained in (
        fs.explainers.Shap(model, X[:20], class_index=0).explain(X[:5]),
        fs.explainers.Lime(model.predict_proba, X, class_index=0, samples=100).explain(X[:5]),
    ):
        assert explained.label == explained.take([0, 1]).label == from_arrow(to_arrow(explained)).label == "approved"
        assert fs.ReasonCodes(1, against="approved")(explained).label == "approved"
        with pytest.raises(BadInput, match="these speak of 'approved'"):
            fs.ReasonCodes(1, against="denied")(explained)
    with pytest.warns(UserWarning, match="different class"):
        own = fs.explainers.Shap(model, X[:20], class_index="predicted").explain(X[:5])
    with pytest.raises(BadInput, match="rows explain the classes predicted for them"):
        fs.ReasonCodes(1)(own)


def test_what_is_left_after_another_discretizer_may_be_no_importance():
    importances = fs.Importances([[0.1, -0.2, -0.3]])
    for first in (fs.TopFeatures(2), fs.ReasonCodes(2), fs.ReasonCodes(2, ordered=True)):
        with pytest.raises(BadInput, match="left only which features they are"):
            (first | fs.ReasonCodes(1))(importances)
    assert (fs.SignOfTop(2) | fs.ReasonCodes(4))(importances).values.tolist() == [[0, 1, 1]]


def test_provenance_reads_as_code_whatever_the_label():
    assert repr(fs.ReasonCodes()) == "ReasonCodes(k=4)"
    for label in ("a | b", "ordered=True)", "x", 1, 2.5, True, "it's"):
        for ordered in (False, True):
            code = fs.ReasonCodes(2, against=label, ordered=ordered)
            assert eval(repr(code), {"ReasonCodes": fs.ReasonCodes}) == code
            assert code(fs.Importances([[-1.0, -2.0, 1.0]])).describe(0) == ("x1, x0" if ordered else "x0, x1")


@pytest.mark.parametrize("options", [(0,), (1.5,), ("4",), (4, ["approved"]), (4, None, 1), (4, "a", "yes")])
def test_bad_codes_get_one_sentence(options):
    with pytest.raises((BadInput, WrongType), match=r"whole number|favorable label|True or False"):
        fs.ReasonCodes(*options)


def test_codes_name_features_with_their_order_if_it_counts():
    importances = fs.Importances([[-0.1, 0.4, -0.3], [0.2, 0.1, 0.0]], names=["age", "job", "gain"])
    codes, ordered = (named_features(fs.ReasonCodes(4, ordered=order)(importances), 5) for order in (False, True))
    assert codes.features.tolist() == ordered.features.tolist() == [0, 2]
    assert codes.ranks is None
    assert ordered.ranks.tolist() == [1, 0]
    assert ordered.signs.tolist() == [-1, -1]
    agreement = fs.explainer_agreement(
        {"a": importances, "b": fs.Importances(importances.values * 3, names=importances.names)},
        discretizer=fs.ReasonCodes(2),
    )
    assert agreement.pairs[0].same.value == 1


def test_many_features_have_places_of_their_own():
    wide = fs.ReasonCodes(300, ordered=True)(fs.Importances(-np.arange(1.0, 401.0)[None]))
    assert wide.values[0, 399] == 1
    assert wide.values[0, 100] == 300
    assert wide.values[0, 99] == 0
    assert wide.describe(0).startswith("x399, x398")


def test_a_favorable_label_that_is_a_number_is_the_same_in_any_spelling():
    importances = fs.Importances([[1.0, -1.0]])._with(label="1")
    assert not fs.ReasonCodes(2, against=1.0)(importances).notes
