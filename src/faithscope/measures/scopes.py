"""Scopes: the precision and coverage of each explanation on your own rows, and the rows that it wrongly covers."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.coverage import Coverage
from faithscope.explanations.arrow.columns import to_objects
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.checks import check_whole
from faithscope.measures.counterexamples import share_out
from faithscope.measures.local import Local, clopper_pearson, local_columns, measured
from faithscope.relations import Blocks, Relation
from faithscope.sample import Sample

Ints = NDArray[np.int64]


def per_row(coverage: Coverage, labels: NDArray[Any], confidence: float) -> dict[str, Any]:
    """Local sufficiency of every row, leaving the row itself out.

    Returns
    -------
    dict of columns
        ``covered`` counts the rows that its explanation covers, ``covered_y`` those of them with its prediction.
    """
    counts = coverage.counts
    _, cells = counts.locate_codes(coverage.codes, labels)
    total, same = counts.per_explanation[coverage.codes], counts.covered[cells]
    measured = local_columns("sufficiency", same - coverage.own, total - coverage.own, confidence)
    return {**measured, "covers_itself": coverage.own, "covered": total, "covered_y": same}


def per_scope(coverage: Coverage, confidence: float, k: int | None = None) -> dict[str, Any]:
    """Every explanation (or the k worst) with its precision and coverage on these rows, most wrongly covered first.

    Returns
    -------
    dict of columns
        ``label`` is the commonest prediction of the rows that were given it, ``n`` the number of these rows,
        ``precision`` the share of the covered rows that get that prediction (NaN if it covers none), ``coverage`` the
        share of all rows that it covers.
    """
    counts = coverage.counts
    given, total = counts.rows_given, counts.per_explanation
    top = _commonest(counts.explanation, counts.given, counts.distinct)
    right = counts.covered[top]
    order = np.lexsort((-given, right - total))[: None if k is None else check_whole(k, "k")]
    low, high = clopper_pearson(right, total, confidence)
    with np.errstate(invalid="ignore"):
        precision = right / total
    columns = {
        "label": to_objects([counts.labels[j] for j in counts.label[top]]),
        "n": given,
        "precision": precision,
        "precision_low": low,
        "precision_high": high,
        "coverage": total / counts.n,
        "wrongly_covered": total - right,
    }
    explanation = [counts.explanations.describe(int(row)) for row in order]
    return {"explanation": explanation} | {name: column[order] for name, column in columns.items()}


def _commonest(explanation: Ints, given: Ints, distinct: int) -> Ints:
    """The cell of each explanation's commonest label; of several such labels, the first."""
    best = np.zeros(distinct, np.int64)
    np.maximum.at(best, explanation, given)
    tops = np.flatnonzero(given == best[explanation])
    return tops[np.searchsorted(explanation[tops], np.arange(distinct))]


def wrongly_covered(coverage: Coverage, sample: Sample, relation: Relation, k: int = 10) -> dict[str, Any]:
    """Up to k rows that an explanation covers although they get another prediction; one per explanation in turn.

    Returns
    -------
    dict of columns
        ``row`` was given the explanation; ``wrong_row`` is covered by it and has another prediction.
    """
    check_whole(k, "k")
    counts = coverage.counts
    top = _commonest(counts.explanation, counts.given, counts.distinct)
    wrong = counts.per_explanation - counts.covered[top]
    worst = np.argsort(-wrong, kind="stable")[: min(k, int((wrong > 0).sum()))]
    labels, (_, numbers) = sample.labels, sample.numbered_labels
    rows, wrong_rows = [], []
    masks = _masks(counts.explanations.take(worst), sample, relation)
    for explanation, mask, several in zip(worst, masks, share_out(wrong[worst], k), strict=True):
        given = np.flatnonzero(coverage.codes == explanation)
        row = int(given[numbers[given] == np.bincount(numbers[given]).argmax()][0])
        others = np.flatnonzero(mask & (numbers != numbers[row]))[:several]
        rows += [row] * len(others)
        wrong_rows += others.tolist()
    a, b = np.array(rows, np.int64), np.array(wrong_rows, np.int64)
    texts = [counts.explanations.describe(int(coverage.codes[row])) for row in rows]
    return {"explanation": texts, "row": a, "wrong_row": b, "prediction": labels[a], "wrong_prediction": labels[b]}


def at_row(explanation: Explanations, prediction: Any, sample: Sample, relation: Relation, confidence: float) -> Local:
    """Local sufficiency of a row outside the sample: among all rows to which its explanation applies."""
    if isinstance(explanation, Counterfactuals) and isinstance(sample.explanations, Counterfactuals):
        # The distance is the one that was learned from the sample, not from a single row.
        explanation = explanation._with(metric=sample.explanations.metric)
    scope = relation.scopes(explanation)
    covered = _masks(scope, sample, relation)[0]
    agreeing = sum(bool(label == prediction) for label in sample.labels[covered].tolist())
    local = measured(agreeing, int(covered.sum()), sample.n, confidence, scope.describe(0), prediction)
    return replace(local, measure="sufficiency")


def _masks(scopes: Explanations, sample: Sample, relation: Relation) -> NDArray[np.bool_]:
    """The rows that each of a few explanations covers."""
    cover = relation.cover(scopes, sample.explanations, sample.X)
    if isinstance(cover, Blocks):
        return np.asarray(cover.mask(0, len(scopes))) if len(scopes) else np.empty((0, sample.n), bool)
    masks, everybody = list(cover.masks), np.ones(sample.n, bool)
    return np.array([np.logical_and.reduce([everybody, *(masks[part] for part in parts)]) for parts in cover.lists])
