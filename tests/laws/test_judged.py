"""Sufficiency by a judge's answers: brute force over the pairs that were asked, and what random asking promises."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from small_systems import pairs_of

SEEDS = st.integers(0, 2**32 - 1)


def first_appearance(given):
    """The number of each row's explanation, in order of first appearance."""
    seen = {}
    return np.array([seen.setdefault(item, len(seen)) for item in given.tolist()])


def judged(seed, least=2, most=16):
    """Explanations that repeat, and an (n, m) table of answers, NaN where the judge was not asked."""
    rng = default_rng(seed)
    n = int(rng.integers(least, most))
    texts = np.array([f"reason {k}" for k in rng.integers(0, rng.integers(1, n + 1), n)], object)
    codes = first_appearance(texts)
    answers = (rng.random((n, codes.max() + 1)) < rng.random()).astype(float)
    answers[rng.random(answers.shape) < rng.random()] = np.nan
    answers[0, 0] = 1.0  # at least one answer
    return rng, texts, codes, answers


@given(SEEDS)
def test_neither_the_order_of_pairs_nor_those_that_were_not_asked_nor_what_holds_them_matters(seed):
    rng, texts, _, answers = judged(seed)
    reasons, labels = fs.Reasons(texts), rng.integers(0, 2, len(texts))
    pairs = pairs_of(answers)
    wanted = fs.sufficiency(reasons, labels, relation=fs.Judged(pairs)).to_dict()
    asked = pairs.dropna().astype({"applies": bool})
    for form in (asked, asked.sample(frac=1, random_state=0)):
        assert fs.sufficiency(reasons, labels, relation=fs.Judged(form)).to_dict() == wanted


@given(SEEDS)
def test_a_judge_who_was_asked_everything_is_a_relation_like_any_other(seed):
    rng, texts, codes, answers = judged(seed)
    masks, n = np.nan_to_num(answers) == 1, len(texts)
    reasons, labels, X = fs.Reasons(texts), rng.integers(0, 2, n), np.zeros((n, 1))
    columns = {reasons.item(row): masks[:, codes[row]] for row in range(n - 1, -1, -1)}

    def applies(X, text):
        return columns[text]

    for measure in (fs.sufficiency, fs.necessity, fs.encoding):
        asked = measure(reasons, labels, X, relation=fs.Judged(pairs_of(masks))).to_dict()
        assert asked == measure(reasons, labels, X, relation=applies).to_dict()
