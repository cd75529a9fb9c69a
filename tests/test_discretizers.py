"""The paper's discretizations, as DESIGN's readings settle them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import faithscope as fs
from faithscope.discretizers import Chain, Original, discretize, from_word
from faithscope.errors import BadInput, WrongType

MATRICES = arrays(float, (4, 6), elements=st.sampled_from([-1.5, -0.31, -0.0, 0.0, 0.31, 0.07, 2.0]))


def values(discretizer, matrix):
    return discretizer(fs.Importances(matrix)).values


@given(MATRICES)
def test_floor_is_floor_in_double_precision(matrix):
    assert values(fs.Floor(1), matrix).tolist() == (np.floor(matrix * 10) / 10 + 0.0).tolist()
    single = matrix.astype(np.float32)
    assert values(fs.Floor(2), single).tolist() == (np.floor(single.astype(float) * 100) / 100 + 0.0).tolist()


@given(MATRICES)
def test_truncate_goes_toward_zero(matrix):
    assert values(fs.Truncate(1), matrix).tolist() == (np.trunc(matrix * 10) / 10 + 0.0).tolist()


def test_floor_and_truncate_differ_below_zero_only():
    assert values(fs.Floor(1), [[0.19, -0.19]]).tolist() == [[0.1, -0.2]]
    assert values(fs.Truncate(1), [[0.19, -0.19]]).tolist() == [[0.1, -0.1]]
    assert not np.signbit(values(fs.Truncate(1), [[-0.01]])).any(), "-0.0 becomes 0.0"


@given(MATRICES)
def test_sign_of_zero_is_zero(matrix):
    assert values(fs.Sign(), matrix).tolist() == np.sign(matrix).astype(int).tolist()


@given(MATRICES)
def test_rank_is_the_stable_argsort(matrix):
    expected = [sorted(range(6), key=lambda j, row=row: row[j]) for row in matrix]
    assert values(fs.Rank(), matrix).tolist() == expected


@given(MATRICES, st.integers(1, 7))
def test_sign_of_top_keeps_the_largest_in_size_and_the_earlier_among_equals(matrix, k):
    expected = []
    for row in matrix:
        top = sorted(range(6), key=lambda j, row=row: (-abs(row[j]), j))[:k]
        expected.append([int(np.sign(row[j])) if j in top else 0 for j in range(6)])
    assert values(fs.SignOfTop(k), matrix).tolist() == expected


@given(MATRICES, st.integers(1, 7))
def test_top_features_are_the_largest_in_size_without_sign_or_order_and_never_zero(matrix, k):
    expected = []
    for row in matrix:
        top = sorted(range(6), key=lambda j, row=row: (-abs(row[j]), j))[:k]
        expected.append([int(j in top and row[j] != 0) for j in range(6)])
    coarse = fs.TopFeatures(k)(fs.Importances(matrix, names=list("abcdef")))
    assert coarse.values.tolist() == expected
    named = ", ".join("abcdef"[j] for j in range(6) if expected[0][j])
    assert coarse.describe(0) == (named or "all 0")
    assert from_word(f"top-features-{k}") == fs.TopFeatures(k)


def test_fewer_features_than_asked_for_keep_all_signs():
    assert values(fs.SignOfTop(5), [[0.1, -2.0]]).tolist() == [[1, -1]]


def test_changes_of_counterfactuals():
    pairs = fs.Counterfactuals([[1.0, 2.0, 3.0]], [[1.0, 5.0, 1.0]], names=["a", "b", "c"])
    assert fs.Delta()(pairs).values.tolist() == [[0.0, -3.0, 2.0]]
    assert fs.DeltaSign()(pairs).values.tolist() == [[0, -1, 1]]
    assert fs.Modified()(pairs).values.tolist() == [[0, 1, 1]]
    assert (fs.Delta() | fs.Floor(0) | fs.SignOfTop(1))(pairs).values.tolist() == [[0, -1, 0]]
    assert fs.Delta()(pairs).describe(0) == "b -3, c 2"


def test_changes_of_categories():
    pairs = fs.Counterfactuals(
        pd.DataFrame({"age": [31, 30], "job": ["cook", "cook"]}),
        pd.DataFrame({"age": [30, 30], "job": ["clerk", "cook"]}),
    )
    assert fs.Delta()(pairs).describe(0) == "age 1, job (clerk, cook)"
    assert fs.DeltaSign()(pairs).values.tolist() == [[1, 1], [0, 0]]
    assert fs.Modified()(pairs).values.tolist() == [[1, 1], [0, 0]]


def test_is_feature_modified_is_the_papers_partition():
    rng = np.random.default_rng(0)
    new, old = rng.integers(0, 2, (50, 3)).astype(float), rng.integers(0, 2, (50, 3)).astype(float)
    ours = fs.Modified()(fs.Counterfactuals(new, old)).group()[0]
    printed = fs.Importances((new == old).astype(float)).group()[0]
    assert (ours == printed).all()


def test_any_function_of_explanations_is_a_discretizer():
    found = fs.consistency([[0.2, 1.0], [0.3, -1.0]], [0, 0], discretizer=lambda e: e.values[:, :1] > 0)
    assert found.distinct == 1
    with pytest.raises(BadInput, match="made 1 explanations of 2"):
        fs.consistency([[0.2], [0.3]], [0, 0], discretizer=lambda e: e.values[:1])


@pytest.mark.parametrize(
    ("word", "discretizer"),
    [
        ("original", Original()),
        ("2-fp", fs.Floor(2)),
        ("1-FP", fs.Floor(1)),
        ("sign", fs.Sign()),
        ("rank", fs.Rank()),
        ("sign-of-top-5", fs.SignOfTop(5)),
        ("reason-codes-4", fs.ReasonCodes()),
        ("Ordered-Reason-Codes-2", fs.ReasonCodes(2, ordered=True)),
        ("delta", fs.Delta()),
        ("delta-sign", fs.DeltaSign()),
        ("is-feature-modified", fs.Modified()),
    ],
)
def test_the_papers_words(word, discretizer):
    assert from_word(word) == discretizer


def test_bad_discretizers():
    with pytest.raises(BadInput, match=r"No discretizer is called 'round'.*sign-of-top-5"):
        from_word("round")
    with pytest.raises(BadInput, match=r"No discretizer is called 'signs'.*sign-of-top-5"):
        fs.consistency([[1.0]], [0], discretizer="signs")
    with pytest.raises(WrongType, match=r"Sign\(\) discretizes importances .* got plain keys"):
        fs.consistency(["a"], [0], discretizer=fs.Sign())
    with pytest.raises(WrongType, match=r"Delta\(\) \|"):
        fs.consistency(fs.Counterfactuals([[1.0]], [[2.0]]), [0], discretizer=fs.Floor(1))
    with pytest.raises(WrongType, match=r"Counterfactuals\(points, originals\)"):
        fs.consistency([[1.0]], [0], discretizer=fs.Delta())
    with pytest.raises(BadInput, match="whole number of at least 1; got 0"):
        fs.SignOfTop(0)
    with pytest.raises(BadInput, match="1e\\+308"):
        fs.consistency([[1e308]], [0], discretizer=fs.Floor(2))


@pytest.mark.parametrize("decimals", [1.5, "a", True, 400, -400])
def test_decimals_are_whole_and_sane(decimals):
    for discretizer in (fs.Floor, fs.Truncate):
        with pytest.raises(BadInput, match="whole number from -300 to 300"):
            discretizer(decimals)


def test_what_cannot_be_applied_is_refused():
    with pytest.raises(WrongType, match=r"pass an object such as fs\.Sign"):
        fs.consistency([[1.0]], [0], discretizer=fs.Sign)
    with pytest.raises(WrongType, match=r"pass an object such as fs\.Sign"):
        fs.consistency([[1.0]], [0], discretizer=5)
    with pytest.raises(WrongType, match="takes another discretizer"):
        fs.Sign() | "rank"
    with pytest.raises(WrongType, match="got rankings"):
        fs.consistency([[1.0]], [0], discretizer=fs.Rank() | fs.Sign())


def test_changes_keep_what_text_or_floats_would_merge():
    texts = fs.Counterfactuals([["x → y"], ["y"]], [["z"], ["z → x"]])
    assert fs.Delta()(texts).group()[0].tolist() == [0, 1]
    large = fs.Counterfactuals(
        pd.DataFrame({"a": [2**53 + 1, 2**53], "b": ["u", "u"]}), pd.DataFrame({"a": [2**53] * 2, "b": ["u", "u"]})
    )
    assert fs.Delta()(large).group()[0].tolist() == fs.Modified()(large).group()[0].tolist() == [0, 1]
    mixed = fs.Counterfactuals(np.array([[1.5]], np.float32), np.array([[1.0]]))
    assert (fs.Delta() | fs.Floor(1))(mixed).values.tolist() == [[0.5]]


def test_provenance_reads_as_code():
    assert repr(fs.Delta() | fs.Floor(1)) == "Chain(first=Delta(), second=Floor(decimals=1))"
    assert Chain(fs.Delta(), fs.Sign()).reads_rows
    assert not (fs.Floor(1) | fs.Sign()).reads_rows
    assert discretize(fs.Importances([[1.0]]), None).values.tolist() == [[1.0]]


def test_the_room_lists_the_discretizers_to_choose_from():
    kinds = ["Clusters", "Codebook", "CommonPhrases", "Delta", "DeltaSign", "Floor", "Grouped", "Modified", "Original"]
    kinds += ["Phrases", "Pool", "Rank", "ReasonCodes", "Sign", "SignOfTop", "Template", "TopFeatures", "TopRegions"]
    kinds += ["Truncate"]
    assert dir(fs.discretizers) == kinds
    assert all(issubclass(getattr(fs.discretizers, name), fs.discretizers.Discretizer) for name in kinds)


@pytest.mark.parametrize("discretizer", [fs.Sign(), fs.ReasonCodes(2), fs.Floor(1), fs.TopFeatures(1)], ids=repr)
def test_values_that_are_no_explanations_are_refused_in_a_sentence(discretizer):
    with pytest.raises(WrongType, match=r"pass fs\.Importances"):
        discretizer(np.zeros((2, 2)))
