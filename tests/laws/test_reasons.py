"""Laws of reasons in words: coarser ones can only lose, and only what is said of a row counts, not its place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs

CODES = {"a": "ab", "b": r"\bb", "c": "a.*c", "d": r"[bc]+\s"}
TEXTS = st.lists(st.sampled_from(["ab c", "AB, c.", "b", "B!", "a b c", "c", "", "cc b", "x a x b", "a-b"]), min_size=2)


def true_consistency(explanations, labels, discretizer=None):
    """Of a population that has these rows and no others."""
    return 1 - fs.GibbsDecoder(fs.consistency(explanations, labels, discretizer=discretizer)).error


def _clusters(texts):
    return fs.Clusters(np.array([[len(text), text.count("a")] for text in fs.Reasons(texts).folded], float), 3)


@given(TEXTS, st.randoms(use_true_random=False))
def test_coarser_reasons_never_raise_true_consistency(texts, random):
    labels = [random.choice("xyz") for _ in texts]
    reasons = fs.Reasons(texts)
    written, folded = true_consistency(texts, labels), true_consistency(reasons, labels)
    assert folded <= written + 1e-12
    for coarser in (fs.Codebook(CODES), fs.Phrases(["a b", "c"]), _clusters(texts)):
        assert not coarser.reads_rows
        assert true_consistency(reasons, labels, coarser) <= folded + 1e-12
    assert true_consistency(reasons, labels, fs.Codebook(CODES, folded=False)) <= written + 1e-12


@given(TEXTS, st.randoms(use_true_random=False))
def test_masking_the_labels_never_raises_true_consistency(texts, random):
    labels = [random.choice(["ab", "b", "c"]) for _ in texts]
    leak = fs.leakage(texts, labels)
    errors = [fs.GibbsDecoder(estimate).error for estimate in (leak.consistency, leak.masked)]
    assert errors[1] >= errors[0] - 1e-12


@given(TEXTS)
def test_a_set_of_names_is_that_of_the_patterns_one_by_one(texts):
    reasons = fs.Reasons(texts)
    alone = {name: fs.Codebook({name: pattern})(reasons).values for name, pattern in CODES.items()}
    for row, names in enumerate(fs.Codebook(CODES)(reasons).values):
        assert names == ({name for name in CODES if name in alone[name][row]} or {"other"})
