"""Where explanations apply, one by one: precision and coverage on your own rows, and the rows wrongly covered."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import number_labels
from faithscope.counting.coverage import Coverage
from faithscope.explanations.arrow.columns import to_objects
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.checks import check_whole
from faithscope.measures.counterexamples import share_out
from faithscope.measures.local import Local, clopper_pearson, local_columns, measured
from faithscope.relations import Blocks, Relation

Ints = NDArray[np.int64]


def per_row(found: Coverage, labels: NDArray[Any], confidence: float) -> dict[str, Any]:
    """Local sufficiency of every row, leaving the row itself out.

    Returns
    -------
    dict of columns
        ``covered`` and ``covered_y`` count the rows that its explanation covers, and those of them with its prediction.
    """
    counts = found.counts
    _, cells = counts.locate_codes(found.codes, labels)
    total, same = counts.per_explanation[found.codes], counts.covered[cells]
    measured = local_columns("sufficiency", same - found.own, total - found.own, confidence)
    return {**measured, "covers_itself": found.own, "covered": total, "covered_y": same}


def per_scope(found: Coverage, confidence: float, k: int | None = None) -> dict[str, Any]:
    """Every explanation (or the k worst) with its precision and coverage on these rows, most wrongly covered first.

    Returns
    -------
    dict of columns
        ``label`` is the prediction most often explained with it, ``precision`` the share of the covered rows that get
        that prediction (NaN where it covers none), ``coverage`` the share of all rows that it covers.
    """
    counts = found.counts
    given, total = counts.rows_given, counts.per_explanation
    top = _commonest(counts.explanation, counts.given, counts.distinct)
    right = counts.covered[top]
    order = np.lexsort((-given, right - total))[: None if k is None else check_whole(k, "k")]
    low, high = clopper_pearson(right, total, confidence)
    with np.errstate(invalid="ignore"):
        precision = right / total
    columns = {
        "label": to_objects([counts.labels[j] for j in counts.label[top]]),
        "rows": given,
        "precision": precision,
        "precision_low": low,
        "precision_high": high,
        "coverage": total / counts.n,
        "wrongly_covered": total - right,
    }
    explanation = [counts.explanations.describe(int(row)) for row in order]
    return {"explanation": explanation} | {name: column[order] for name, column in columns.items()}


def _commonest(explanation: Ints, given: Ints, distinct: int) -> Ints:
    """The cell of each explanation's commonest label; the first among equals."""
    best = np.zeros(distinct, np.int64)
    np.maximum.at(best, explanation, given)
    tops = np.flatnonzero(given == best[explanation])
    return tops[np.searchsorted(explanation[tops], np.arange(distinct))]


def wrongly_covered(
    found: Coverage, explanations: Explanations, labels: NDArray[Any], X: Any, relation: Relation, k: int = 10
) -> dict[str, Any]:
    """Up to k rows that an explanation covers although they get another prediction; one for each explanation in turn.

    Returns
    -------
    dict of columns
        ``row`` was given the explanation; ``wrong_row`` is covered by it and predicted otherwise.
    """
    check_whole(k, "k")
    counts = found.counts
    top = _commonest(counts.explanation, counts.given, counts.distinct)
    wrong = counts.per_explanation - counts.covered[top]
    worst = np.argsort(-wrong, kind="stable")[: min(k, int((wrong > 0).sum()))]
    _, numbers = number_labels(labels)
    rows, wrong_rows = [], []
    masks = _masks(counts.explanations.take(worst), explanations, X, relation)
    for explanation, mask, several in zip(worst, masks, share_out(wrong[worst], k), strict=True):
        here = np.flatnonzero(found.codes == explanation)
        row = int(here[numbers[here] == np.bincount(numbers[here]).argmax()][0])
        others = np.flatnonzero(mask & (numbers != numbers[row]))[:several]
        rows += [row] * len(others)
        wrong_rows += others.tolist()
    a, b = np.array(rows, np.int64), np.array(wrong_rows, np.int64)
    texts = [counts.explanations.describe(int(found.codes[row])) for row in rows]
    return {"explanation": texts, "row": a, "wrong_row": b, "prediction": labels[a], "wrong_prediction": labels[b]}


def at_row(
    one: Explanations,
    prediction: Any,
    explanations: Explanations,
    labels: NDArray[Any],
    X: Any,
    how: Relation,
    *,
    confidence: float,
) -> Local:
    """Local sufficiency of a row outside the sample: among all rows its explanation applies to."""
    if isinstance(one, Counterfactuals) and isinstance(explanations, Counterfactuals):
        one = one._with(metric=explanations.metric)  # a distance learned from the sample, not from one row
    scope = how.scopes(one)
    covered = _masks(scope, explanations, X, how)[0]
    agreeing = sum(bool(label == prediction) for label in labels[covered].tolist())
    found = measured(agreeing, int(covered.sum()), len(labels), confidence, scope.describe(0), prediction)
    return replace(found, measure="sufficiency")


def _masks(some: Explanations, explanations: Explanations, X: Any, relation: Relation) -> NDArray[np.bool_]:
    """The rows that each of a few explanations covers."""
    cover = relation.cover(some, explanations, X)
    if isinstance(cover, Blocks):
        return np.asarray(cover.mask(0, len(some))) if len(some) else np.empty((0, len(explanations)), bool)
    parts, whole = list(cover.masks), np.ones(len(explanations), bool)
    return np.array([np.logical_and.reduce([whole, *(parts[part] for part in one)]) for one in cover.lists])
