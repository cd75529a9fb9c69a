"""The paper's discretizations, as DESIGN's readings settle them."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import faithscope as fs
from faithscope.discretizers import Chain, Original, discretize, from_word
from faithscope.errors import BadInput, WrongType
from refused import refused

MATRICES = arrays(float, (4, 6), elements=st.sampled_from([-1.5, -0.31, -0.0, 0.0, 0.31, 0.07, 2.0]))


def values(discretizer, matrix):
    return discretizer(fs.Importances(matrix)).values


@given(MATRICES, st.integers(1, 7))
def test_every_discretizer_of_importances_is_what_plain_python_says(matrix, k):
    tops = [sorted(range(6), key=lambda j, row=row: (-abs(row[j]), j))[:k] for row in matrix]
    of_top = [[int(np.sign(row[j])) * (j in top) for j in range(6)] for row, top in zip(matrix, tops, strict=True)]
    single = matrix.astype(np.float32)
    for discretizer, given_, expected in (
        (fs.Floor(1), matrix, (np.floor(matrix * 10) / 10 + 0.0).tolist()),
        (fs.Floor(2), single, (np.floor(single.astype(float) * 100) / 100 + 0.0).tolist()),
        (fs.Truncate(1), matrix, (np.trunc(matrix * 10) / 10 + 0.0).tolist()),
        (fs.Sign(), matrix, np.sign(matrix).astype(int).tolist()),
        (fs.Rank(), matrix, [sorted(range(6), key=lambda j, row=row: row[j]) for row in matrix]),
        (fs.SignOfTop(k), matrix, of_top),
        (fs.TopFeatures(k), matrix, np.abs(of_top).tolist()),
    ):
        found = values(discretizer, given_)
        assert found.tolist() == expected, discretizer
        assert not (np.signbit(found) & (found == 0)).any(), "-0.0 becomes 0.0"
    named = ", ".join("abcdef"[j] for j in range(6) if of_top[0][j])
    assert fs.TopFeatures(k)(fs.Importances(matrix, names=list("abcdef"))).describe(0) == (named or "all 0")


def test_changes_read_as_text_and_chain():
    pairs = fs.Counterfactuals([[1.0, 2.0, 3.0]], [[1.0, 5.0, 1.0]], names=["a", "b", "c"])
    assert (fs.Delta() | fs.Floor(0) | fs.SignOfTop(1))(pairs).values.tolist() == [[0, -1, 0]]
    assert fs.Delta()(pairs).describe(0) == "b -3, c 2"
    table = pd.DataFrame({"age": [30], "job": ["clerk"]})
    assert (
        fs.Delta()(fs.Counterfactuals(table.assign(age=31, job="cook"), table)).describe(0)
        == "age 1, job (clerk, cook)"
    )


def test_codes_that_are_declared_categories_change_as_texts_do():
    new = pd.DataFrame({"ward": [2, 3, 1, 2], "age": [1.0, 2.0, 2.0, 4.0]})
    old = pd.DataFrame({"ward": [1, 2, 2, 2], "age": [1.0, 2.0, 2.0, 5.0]})
    texts = fs.Counterfactuals(new.astype({"ward": str}), old.astype({"ward": str}))
    codes = fs.Counterfactuals(new.astype({"ward": "category"}), old.astype({"ward": "category"}))
    told, wanted = ([fs.Delta()(pairs).describe(row) for row in range(4)] for pairs in (codes, texts))
    assert told == wanted
    assert fs.DeltaSign()(codes).values.tolist() == [[1, 0], [1, 0], [1, 0], [0, -1]]
    assert fs.DeltaSign()(fs.Counterfactuals(new, old)).values.tolist() == [[1, 0], [1, 0], [-1, 0], [0, -1]]
    rows = np.column_stack([np.arange(200) % 5, np.linspace(-3, 3, 200)])
    search = fs.explainers.Counterfactual(lambda X: X[:, 0] == 0, rows, categorical=[0])
    assert fs.DeltaSign()(search.explain(rows)).values.min() == 0


def test_any_function_of_explanations_is_a_discretizer():
    values = [[0.2, 1.0], [0.3, -1.0]]
    assert fs.consistency(values, [0, 0], discretizer=lambda e: e.values[:, :1] > 0).distinct == 1
    short = lambda e: e.values[:1]  # noqa: E731
    refused(BadInput, "made 1 explanations of 2", fs.consistency, values, [0, 0], discretizer=short)


def test_the_papers_words():
    for word, discretizer in {
        "original": Original(),
        "2-fp": fs.Floor(2),
        "1-FP": fs.Floor(1),
        "sign": fs.Sign(),
        "rank": fs.Rank(),
        "sign-of-top-5": fs.SignOfTop(5),
        "top-features-3": fs.TopFeatures(3),
        "reason-codes-4": fs.ReasonCodes(),
        "Ordered-Reason-Codes-2": fs.ReasonCodes(2, ordered=True),
        "delta": fs.Delta(),
        "delta-sign": fs.DeltaSign(),
        "is-feature-modified": fs.Modified(),
    }.items():
        assert from_word(word) == discretizer


def test_what_cannot_be_applied_is_refused():
    for explanations, discretizer, error, words in (
        ([[1.0]], "signs", BadInput, r"No discretizer is called 'signs'.*sign-of-top-5.*Did you mean 'sign'\?"),
        ([[1.0]], "Sign-of-Top3", BadInput, r"Did you mean 'sign-of-top-5'\?"),
        ([[1.0]], "sign-of-top-k", BadInput, r"Did you mean 'sign-of-top-5'\?"),
        ([[1.0]], "quartiles", BadInput, r"codebook:FILE.json\.$"),
        (["a"], fs.Sign(), WrongType, r"Sign\(\) discretizes importances .* got plain keys"),
        (fs.Counterfactuals([[1.0]], [[2.0]]), fs.Floor(1), WrongType, r"Delta\(\) \|"),
        ([[1.0]], fs.Delta(), WrongType, r"Counterfactuals\(points, originals\)"),
        ([[1e308]], fs.Floor(2), BadInput, r"1e\+308"),
        ([[1.0]], fs.Sign, WrongType, r"pass an object such as fs\.Sign"),
        ([[1.0]], 5, WrongType, r"pass an object such as fs\.Sign"),
        ([[1.0]], fs.Rank() | fs.Sign(), WrongType, "got rankings"),
    ):
        refused(error, words, fs.consistency, explanations, [0], discretizer=discretizer)


def test_bad_discretizers_are_refused_in_a_sentence():
    refused(BadInput, "whole number of at least 1; got 0", fs.SignOfTop, 0)
    refused(WrongType, "takes another discretizer", fs.Sign().__or__, "rank")
    for decimals in (1.5, True, 400):
        refused(BadInput, "whole number from -300 to 300", fs.Floor, decimals)
    for discretizer in (fs.Sign(), fs.ReasonCodes(2), fs.Floor(1), fs.TopFeatures(1)):
        refused(WrongType, r"pass fs\.Importances", discretizer, np.zeros((2, 2)))


def test_provenance_reads_as_code():
    assert repr(fs.Delta() | fs.Floor(1)) == "Chain(first=Delta(), second=Floor(decimals=1))"
    assert Chain(fs.Delta(), fs.Sign()).reads_rows
    assert not (fs.Floor(1) | fs.Sign()).reads_rows
    assert discretize(fs.Importances([[1.0]]), None).values.tolist() == [[1.0]]


def test_floor_and_truncate_differ_below_zero_only():
    assert values(fs.Floor(1), [[0.19, -0.19]]).tolist() == [[0.1, -0.2]]
    assert values(fs.Truncate(1), [[0.19, -0.19]]).tolist() == [[0.1, -0.1]]
