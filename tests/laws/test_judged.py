"""Sufficiency by a judge's answers: brute force over the pairs that were asked, and what random asking promises."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import faithscope as fs
from faithscope.counting.coverage import cover
from faithscope.relations import bind
from faithscope.sample import Sample

SEEDS = st.integers(0, 2**32 - 1)
AGREEMENTS = {
    "labels": (None, lambda a, b: (a == b).astype(float)),
    "close": (fs.Close(1.0), lambda a, b: np.maximum(0.0, 1 - np.abs(a - b))),
    "tolerance": (fs.Tolerance(1.0), lambda a, b: (np.abs(a - b) <= 1).astype(float)),
}


def first_appearance(given):
    """The number of each row's explanation, in order of first appearance."""
    seen = {}
    return np.array([seen.setdefault(item, len(seen)) for item in given.tolist()])


def judged(seed, least=2, most=16):
    """Explanations that repeat, and an (n, m) table of answers, NaN where the judge was not asked."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(least, most))
    texts = np.array([f"reason {k}" for k in rng.integers(0, rng.integers(1, n + 1), n)], object)
    codes = first_appearance(texts)
    answers = (rng.random((n, codes.max() + 1)) < rng.random()).astype(float)
    answers[rng.random(answers.shape) < rng.random()] = np.nan
    answers[0, 0] = 1.0  # at least one answer
    return rng, texts, codes, answers


def pairs_of(answers):
    row, explanation = np.nonzero(~np.isnan(answers))
    return pd.DataFrame({"row": row, "explanation": explanation, "applies": answers[row, explanation] == 1})


def oracle(covers, table, i_out=None):
    """M̂ and U over all rows but one, pair by pair."""
    rows = [i for i in range(len(table)) if i != i_out]
    total = silent = 0.0
    for i in rows:
        others = [j for j in rows if j != i and covers[i, j]]
        total += np.mean([table[i, j] for j in others]) if others else 0.0
        silent += not others
    return total / len(rows), silent / len(rows)


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.sampled_from(sorted(AGREEMENTS)))
def test_only_asked_rows_are_witnesses_and_never_the_row_itself(seed, kind):
    rng, texts, codes, answers = judged(seed)
    predictions = rng.integers(0, 3, len(texts)) if kind == "labels" else rng.normal(size=len(texts))
    agreement, agree = AGREEMENTS[kind]
    covers, table = (answers == 1)[:, codes].T, agree(predictions[:, None], predictions)
    estimate = fs.sufficiency(fs.Reasons(texts), predictions, relation=fs.Judged(answers), agreement=agreement)
    assert (estimate.value, estimate.unverifiable) == pytest.approx(oracle(covers, table), abs=1e-12)
    assert estimate.low <= estimate.value <= estimate.upper <= estimate.high


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.sampled_from(sorted(AGREEMENTS)))
def test_leaving_a_row_out_is_leaving_it_out_as_a_witness_too(seed, kind):
    rng, texts, codes, answers = judged(seed, least=3)
    predictions = rng.integers(0, 3, len(texts)) if kind == "labels" else rng.normal(size=len(texts))
    agreement, agree = AGREEMENTS[kind]
    covers, table = (answers == 1)[:, codes].T, agree(predictions[:, None], predictions)
    sample = Sample.of(fs.Reasons(texts), predictions, None, None, agreement)
    left_out = cover(sample, bind(fs.Judged(answers), sample.explanations, None)).left_out
    wanted = np.array([oracle(covers, table, row) for row in range(len(texts))])
    assert np.allclose(left_out.value, wanted[:, 0], atol=1e-9)
    assert np.allclose(left_out.silent, wanted[:, 1], atol=1e-9)


@settings(max_examples=80, deadline=None)
@given(SEEDS)
def test_weighted_rows_are_those_of_brute_force(seed):
    rng, texts, codes, answers = judged(seed)
    labels, weights = rng.integers(0, 3, len(texts)), rng.integers(1, 9, len(texts)).astype(float)
    weights[rng.random(len(texts)) < 0.2] = 0.0
    if not weights.any():
        weights[0] = 1.0
    kept = np.flatnonzero(weights)
    estimate = fs.sufficiency(
        fs.Reasons(texts), labels, relation=fs.Judged(answers), weights=weights, interval="jackknife"
    )
    covers = (answers == 1)[:, codes].T[np.ix_(kept, kept)]
    value, silent = brute.weighted_sufficiency(codes[kept].tolist(), covers, labels[kept].tolist(), weights[kept])
    assert estimate.value == pytest.approx(value, abs=1e-9)
    assert estimate.unverifiable == pytest.approx(silent, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_rows_of_one_cluster_are_no_witnesses_for_each_other(seed):
    rng, texts, codes, answers = judged(seed, least=4)
    n, labels = len(texts), rng.integers(0, 3, len(texts))
    clusters = rng.integers(0, n, n)
    clusters[:2] = [0, 1]
    covers, apart = (answers == 1)[:, codes].T, clusters[:, None] != clusters
    total = silent = 0.0
    for explanation in np.unique(codes):
        for own in (True, False):
            rows = (codes == explanation) & (np.diag(covers) == own)
            pairs = rows[:, None] & covers & apart
            agree = pairs & (labels[:, None] == labels)
            total += rows.sum() * agree.sum() / pairs.sum() if pairs.any() else 0.0
            silent += 0 if pairs.any() else rows.sum()
    estimate = fs.sufficiency(fs.Reasons(texts), labels, relation=fs.Judged(answers), clusters=clusters)
    assert (estimate.value, estimate.unverifiable) == pytest.approx((total / n, silent / n), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_every_form_of_the_answers_gives_the_same_estimate(seed):
    rng, texts, codes, answers = judged(seed)
    reasons, labels = fs.Reasons(texts), rng.integers(0, 2, len(texts))
    wanted = fs.sufficiency(reasons, labels, relation=fs.Judged(answers)).to_dict()
    objects = np.where(np.isnan(answers), None, answers == 1)
    forms = [answers[:, codes], objects, objects.tolist(), pd.DataFrame(answers), pairs_of(answers)]
    forms += [pairs_of(answers).sample(frac=1, random_state=0), pairs_of(answers).to_dict("list")]
    forms += [np.ma.masked_invalid(answers), pd.DataFrame(answers, columns=list(dict.fromkeys(texts)))]
    for form in forms:
        assert fs.sufficiency(reasons, labels, relation=fs.Judged(form)).to_dict() == wanted


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_judge_who_was_asked_everything_is_a_relation_like_any_other(seed):
    rng, texts, codes, answers = judged(seed)
    masks, n = np.nan_to_num(answers) == 1, len(texts)
    reasons, labels, X = fs.Reasons(texts), rng.integers(0, 2, n), np.zeros((n, 1))
    columns = {reasons.item(row): masks[:, codes[row]] for row in range(n - 1, -1, -1)}

    def applies(X, text):
        return columns[text]

    for measure in (fs.sufficiency, fs.necessity, fs.encoding):
        asked = measure(reasons, labels, X, relation=fs.Judged(masks)).to_dict()
        assert asked == measure(reasons, labels, X, relation=applies).to_dict()


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_the_order_of_rows_changes_nothing(seed):
    rng, texts, codes, answers = judged(seed)
    labels, order = rng.integers(0, 2, len(texts)), rng.permutation(len(texts))
    by_row = answers[:, codes]
    first = fs.sufficiency(fs.Reasons(texts), labels, relation=fs.Judged(by_row))
    again = fs.sufficiency(fs.Reasons(texts[order]), labels[order], relation=fs.Judged(by_row[np.ix_(order, order)]))
    for name in ("value", "unverifiable", "low", "high"):
        assert getattr(again, name) == pytest.approx(getattr(first, name), abs=1e-9), name


def test_blocks_of_rows_know_the_pairs_too():
    """Beyond 10⁸ explanations x rows, blocks are left out; their spread is about that of single rows."""
    rng = np.random.default_rng(0)
    n = 2_000
    x = rng.random(n)
    labels = (rng.random(n) < 0.2 + 0.6 * (x > 0.5)).astype(int)
    table = fs.pairs_to_ask(np.arange(n), per_explanation=10)
    table["applies"] = np.abs(x[table["row"]] - x[table["explanation"]]) < 0.2
    sample = Sample.of(np.arange(n), labels)
    relation = bind(fs.Judged(table), sample.explanations, None)
    single, blocks = cover(sample, relation), cover(sample, relation, exact=0)
    assert blocks.block is not None
    assert single.block is None
    assert blocks.counts.profile().terms == single.counts.profile().terms
    errors = [np.sqrt((k - 1) * np.var(c.left_out.value)) for c, k in ((single, n), (blocks, blocks.block.max() + 1))]
    assert errors[1] == pytest.approx(errors[0], rel=0.35)
