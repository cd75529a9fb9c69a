"""The order of rows says nothing: permuting them changes no number of any estimate."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.random import default_rng
from scipy.sparse import csr_array

import faithscope as fs
from faithscope.counting.coverage import cover
from faithscope.counting.rows import Rows
from faithscope.inputs.rows import take_rows
from faithscope.measures.comparing.paired import leaving_out_alike, sufficiency_left_out
from faithscope.measures.intervals.margins import margins
from faithscope.readers import as_explanations
from faithscope.relations import Same, to_relation
from faithscope.sample import Sample

N = 400
RNG = default_rng(3)
WORDS = np.array(["good", "bad", "plot", "né\x1f", ""])
NUMBERS = np.round(RNG.normal(size=(N, 2)), 1)
LABELS = np.where(NUMBERS[:, 0] + RNG.normal(size=N) > 0, "yes", "no")
WEIGHTS = RNG.integers(1, 9, N).astype(float)
GROUPS = RNG.integers(0, 3, N)
DAY = datetime.datetime(2024, 1, 1)
FRAME = pd.DataFrame(
    {
        "a": np.where(RNG.random(N) < 0.1, np.nan, NUMBERS[:, 0]),
        "job": pd.Series(RNG.choice(["cook", "clerk", None], N), dtype=object),
        "when": pd.Series([DAY + datetime.timedelta(days=int(d)) for d in RNG.integers(0, 9, N)]),
        "big": pd.array(RNG.integers(2**53, 2**53 + 4, N), dtype="Int64"),
    }
)
FRAME.loc[::7, "big"] = pd.NA
RULES = fs.Rules.from_conditions(
    [[("a", "<=", float(RNG.integers(-2, 3)))] if one else [("job", "==", "cook")] for one in RNG.integers(0, 3, N)],
    features=list(FRAME.columns),
)
BAGS = RNG.integers(0, 2, (N, 3)).astype(float)
BAG_WORDS = fs.Highlights(
    [{("good", "bad", "plot")[i] for i in np.flatnonzero(bag[:2])} for bag in BAGS],
    vocabulary={"good": 0, "bad": 1, "plot": 2},
)
DOCUMENTS = [" ".join(RNG.choice(WORDS, 4)) for _ in range(N)]
HIGHLIGHTS = fs.Highlights([set(one.split()[:1]) for one in DOCUMENTS])
MOVED = fs.Counterfactuals(NUMBERS + RNG.integers(1, 3, (N, 2)), NUMBERS, metric="euclidean")
CODES = RNG.integers(0, 6, N)
OWN = as_explanations(CODES)


def above(rows, code):
    return np.asarray(rows)[:, 0] > code / 3 - 1


SCOPED = {
    "rules": (RULES, FRAME, None),
    "rules, polars": (RULES, pl.from_pandas(FRAME), None),
    "rules, Arrow": (RULES, pa.Table.from_pandas(FRAME), None),
    "documents": (HIGHLIGHTS, DOCUMENTS, None),
    "lists of words": (HIGHLIGHTS, [one.split() for one in DOCUMENTS], None),
    "bags of words": (BAG_WORDS, BAGS, None),
    "sparse bags": (BAG_WORDS, csr_array(BAGS), None),
    "counterfactuals": (MOVED, NUMBERS, None),
    "a caller's own": (OWN, NUMBERS, above),
}
ORDERS = (np.arange(N)[::-1], np.argsort(LABELS, kind="stable"), default_rng(1).permutation(N))


def numbers_of(estimate):
    names = ("value", "low", "high", "unverifiable", "verified", "chance", "adjusted", "effective_n")
    return [estimate.n, estimate.distinct, *(getattr(estimate, name) or 0.0 for name in names)]


def assert_same_in_every_order(numbers):
    expected = numbers(np.arange(N))
    for order in ORDERS:
        assert numbers(order) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", SCOPED)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_whatever_holds_the_rows_sufficiency_and_blocks_of_rows_do_not_depend_on_the_order(kind, weights):
    def numbers(order):
        explanations, X, relation = SCOPED[kind]
        given, X, of_rows = explanations.take(order), take_rows(X, order), None if weights is None else weights[order]
        found = cover(Sample(given, LABELS[order], X, of_rows), to_relation(relation, given), exact=0)
        assert len(found.left_out.value) < N
        ends = margins(found.left_out, N, 0.95)
        told = fs.sufficiency(given, LABELS[order], X, relation=relation, weights=of_rows)
        return [ends.below, ends.above, *numbers_of(told)]

    assert_same_in_every_order(numbers)


def test_equal_rows_with_different_explanations_are_told_apart_by_them():
    rows, labels, explanations = np.zeros((N, 1)), np.arange(N) < N // 4, RNG.integers(0, 9, N)

    def measured(order):
        given, of_rows = (explanations[order], labels[order], rows), WEIGHTS[order]
        return fs.sufficiency(*given, relation=lambda X, code: np.asarray(X)[:, 0] <= code, weights=of_rows)

    assert_same_in_every_order(lambda order: numbers_of(measured(order)))


def test_blocks_are_equally_large_and_not_by_the_order():
    labels = np.zeros(10_000, int)
    given = as_explanations(np.arange(10_000) % 7)
    rows = Rows(Sample(given, labels, np.arange(10_000.0)[:, None]), Same())
    assert np.ptp(np.bincount(rows.block)) <= 1
    assert abs(np.corrcoef(np.arange(10_000), rows.block)[0, 1]) < 0.05


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("exact", [(0, 0), (10**8, 0)])
def test_paired_differences_leave_out_the_same_rows_of_both_explainers(repeated, exact):
    X = np.zeros((N, 2)) if repeated else NUMBERS
    given = [
        fs.Rules.from_conditions([[("a", "<=", k / 2 - 1)] for k in codes], features=["a", "b"])
        for codes in (CODES, CODES[::-1])
    ]

    def left_out(order, which=(0, 1)):
        samples = [Sample(given[i].take(order), LABELS[order], X[order]) for i in which]
        relations = [to_relation(None, sample.explanations) for sample in samples]
        asked = zip(samples, relations, which, strict=True)
        coverages = [cover(sample, relation, exact=exact[i]) for sample, relation, i in asked]
        return list(map(sufficiency_left_out, leaving_out_alike(coverages, samples, relations, cover)))

    def numbers(order):
        one, other = left_out(order)
        assert len(one.value) == len(other.value) < N
        return np.sort(one.value - other.value)

    assert_same_in_every_order(numbers)
    same, again = left_out(np.arange(N), (0, 0))
    assert (same.value == again.value).all()
