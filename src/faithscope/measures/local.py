"""Local measures: per row, per explanation, and for a row outside the sample."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from faithscope.counting.counts import Counts, count_rows
from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, WrongType
from faithscope.explanations import Explanations, as_explanations
from faithscope.explanations.arrow.columns import to_objects
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_whole
from faithscope.inputs.grouping import group
from faithscope.inputs.labels import to_labels
from faithscope.measures.bounds import local_sample_size
from faithscope.measures.intervals import check_confidence
from faithscope.sample import Sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def clopper_pearson(agreeing: NDArray[np.int64], others: NDArray[np.int64], confidence: float) -> tuple[Floats, Floats]:
    """Exact interval for a probability after `agreeing` of `others` independent trials; [0, 1] after none."""
    wrong = check_confidence(confidence) / 2
    hits, misses = agreeing.astype(np.float64), (others - agreeing).astype(np.float64)
    low, high = np.zeros(len(hits)), np.ones(len(hits))
    hit, missed = hits > 0, misses > 0
    low[hit] = betaincinv(hits[hit], misses[hit] + 1, wrong)
    high[missed] = betaincinv(hits[missed] + 1, misses[missed], 1 - wrong)
    return low, high


def per_row(counts: Counts, sample: Sample, confidence: float) -> dict[str, Any]:
    """Local consistency of every row of the sample, leaving the row itself out.

    Returns
    -------
    dict of columns
        ``N_pi`` and ``N_pi_y`` count the row itself; ``consistency`` is NaN if no other row has its explanation.
    """
    codes, cells = counts.locate(sample.explanations, sample.labels)
    total, same = counts.per_explanation[codes], counts.given[cells]
    measured = local_columns("consistency", same - 1, total - 1, confidence)
    return {"prediction": sample.labels, **measured, "verifiable": total > 1, "N_pi": total, "N_pi_y": same}


def local_columns(measure: str, agreeing: Ints, others: Ints, confidence: float) -> dict[str, Any]:
    """A local measure of every row with its exact interval; NaN and [0, 1] for a row without others."""
    codes, first = group([np.column_stack([agreeing, others])])
    low, high = clopper_pearson(agreeing[first], others[first], confidence)
    with np.errstate(invalid="ignore"):
        return {measure: agreeing / others, f"{measure}_low": low[codes], f"{measure}_high": high[codes]}


def per_explanation(counts: Counts, confidence: float, k: int | None = None) -> dict[str, Any]:
    """Every explanation (or the k worst) with its counts, by disagreeing pairs of rows and then by rows, most first.

    Returns
    -------
    dict of columns
        ``n`` is the number of its rows, ``label`` the commonest of their predictions, ``purity`` the share of that
        label, and ``consistency`` the probability that two of its rows agree (NaN for a single row).
    """
    total = counts.per_explanation
    starts = np.searchsorted(counts.explanation, np.arange(counts.distinct))
    pairs = np.add.reduceat(counts.given * (counts.given - 1), starts)
    most = np.maximum.reduceat(counts.given, starts)
    top = np.flatnonzero(counts.given == most[counts.explanation])
    first_top = top[np.searchsorted(counts.explanation[top], np.arange(counts.distinct))]
    disagreeing = (total * (total - 1) - pairs) // 2
    order = np.lexsort((-total, -disagreeing))[: None if k is None else check_whole(k, "k")]
    low, high = clopper_pearson(most, total, confidence)
    with np.errstate(invalid="ignore"):
        consistency = pairs / (total * (total - 1))
    columns = {
        "n": total,
        "labels": np.diff(np.append(starts, len(counts.given))),
        "label": to_objects([counts.labels[j] for j in counts.label[first_top]]),
        "purity": most / total,
        "purity_low": low,
        "purity_high": high,
        "consistency": consistency,
        "disagreeing_pairs": disagreeing,
    }
    explanation = [counts.explanations.describe(int(k)) for k in order]
    return {"explanation": explanation} | {name: column[order] for name, column in columns.items()}


@dataclass(frozen=True)
class Local:
    """A local measure of one row outside the sample, with an exact (Clopper-Pearson) interval.

    Attributes
    ----------
    value : float or None
        Among the rows with its explanation (for sufficiency: the rows to which it applies), the share that have its
        prediction; None if there is no such row.
    others, agreeing : int
        The number of those rows, and of those among them that have its prediction.
    seen : int
        Number of rows looked at.
    reached : bool
        Whether at least `wanted` rows with its explanation were found.
    wanted : int
        Number of rows with its explanation that were wanted; 0 if none were asked for.

    Examples
    --------
    >>> rows = [(["a", "b", "a"], [1, 0, 0])]
    >>> local = sample_until(rows, "a", epsilon=0.5, budget=100, prediction=1)
    >>> local.agreeing, local.others, local.seen
    (1, 2, 3)
    """

    value: float | None
    low: float
    high: float
    confidence: float
    explanation: str
    prediction: Any
    others: int
    agreeing: int
    seen: int
    reached: bool = True
    wanted: int = 0
    measure: str = "consistency"
    sufficiency: "Local | None" = None  # of the same row; None if explanations do not say where they apply

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this measure, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        rows = "rows with this explanation" if self.measure == "consistency" else "rows it applies to"
        told = f"{self.agreeing:,} of {self.others:,} {rows} agree ({self.seen:,} rows seen)"
        if self.value is None:
            told = f"there are no {rows} ({self.seen:,} rows seen), so nothing can be told"
        short = "" if self.reached else f"; not reached: {self.wanted:,} such rows were wanted"
        value = "unknown" if self.value is None else f"{self.value:.3f}"
        interval = f"{100 * self.confidence:g}% interval [{self.low:.2f}, {self.high:.2f}]"
        line = f"local {self.measure} {value}, {interval}; {told}{short}"
        return line if self.sufficiency is None else f"{line}\n{self.sufficiency}"


def at_row(
    counts: Counts, explanation: Explanations, prediction: Any, *, confidence: float = 0.95, wanted: int = 0
) -> Local:
    """Local consistency of a row outside the sample (the paper's Algorithm 1; no row is left out)."""
    if len(explanation) != 1:
        raise BadInput(f"A local measure is of one row; got {len(explanation):,} explanations.")
    place = int(counts.explanations.locate(explanation)[0]) if counts.n else -1
    cells = np.flatnonzero(counts.explanation == place)
    others = int(counts.given[cells].sum())
    agreeing = sum(int(counts.given[cell]) for cell in cells if counts.labels[counts.label[cell]] == prediction)
    local = measured(agreeing, others, counts.n, confidence, explanation.describe(0), prediction)
    return replace(local, reached=others >= wanted, wanted=wanted)


def measured(agreeing: int, others: int, seen: int, confidence: float, explanation: str, prediction: Any) -> Local:
    """A local measure from its two counts."""
    low, high = clopper_pearson(np.array([agreeing]), np.array([others]), confidence)
    share, sure = agreeing / others if others else None, float(confidence)
    return Local(share, float(low[0]), float(high[0]), sure, explanation, prediction, others, agreeing, seen)


def sample_until(
    source: Iterable[tuple[Any, Any]],
    explanation: Any,
    epsilon: float,
    budget: int,
    *,
    prediction: Any = None,
    discretizer: Discretize | None = None,
    confidence: float = 0.9,
) -> Local:
    """Draw rows until enough have this explanation, or the budget is spent (the appendix's rejection sampling).

    Parameters
    ----------
    source : iterable of (explanations, predictions)
        Batches of rows in random order, or single rows; an empty batch ends it.
    explanation
        The explanation of the row x whose local consistency is asked for.
    epsilon : float
        Wanted error; `local_sample_size` gives the number of rows with the explanation that it takes.
    budget : int
        Number of rows to look at, at most.
    prediction : optional
        The prediction of x. By default the commonest among the rows found; the interval then allows for the choice.
    confidence : float
        The confidence of the error and of the interval.

    Returns
    -------
    Local
        If the budget or the source ran out first, ``reached`` is False and ``others`` is less than ``wanted``.

    Examples
    --------
    >>> batches = [(["a", "b"] * 50, [1, 0] * 50)] * 10
    >>> sample_until(batches, "a", epsilon=0.1, budget=1000).value
    1.0
    """
    check_whole(budget, "budget, the number of rows to look at,")
    if not hasattr(source, "__iter__") or getattr(source, "shape", None) == ():
        raise WrongType(f"source must give (explanations, predictions) pairs; got {type(source).__name__}.")
    wanted = local_sample_size(epsilon, confidence)
    target = discretize(_single(explanation), discretizer)
    counts = Counts.zero()
    seen = others = 0
    for batch in source:
        rows, labels = _rows(batch)
        if not len(labels):
            break  # an empty batch ends the source
        rows, labels = rows.take(slice(0, budget - seen)), labels[: budget - seen]
        hits = np.flatnonzero(target.locate(discretize(rows, discretizer)) == 0)[: wanted - others]
        seen += int(hits[-1]) + 1 if len(hits) and others + len(hits) == wanted else len(labels)
        if len(hits):
            counts = counts + count_rows(Sample(target.take(np.zeros(len(hits), np.int64)), labels[hits]))
        others += len(hits)
        if others >= wanted or seen >= budget:
            break
    choices = 1 if prediction is not None else max(1, len(counts.labels))
    label = prediction if prediction is not None or not counts.n else counts.labels[int(counts.given.argmax())]
    answer = at_row(counts, target, label, confidence=1 - (1 - confidence) / choices, wanted=wanted)
    return replace(answer, seen=seen, confidence=float(confidence))


def _single(explanation: Any) -> Explanations:
    """One explanation: an `Explanations` of one row, a vector of importances, or one plain key."""
    if isinstance(explanation, Explanations):
        if len(explanation) != 1:
            raise BadInput(f"Pass one explanation; got {len(explanation):,}.")
        return explanation
    many = is_frame(explanation) or getattr(explanation, "ndim", 1) == 2
    single = as_explanations(explanation if many else [getattr(explanation, "values", explanation)])
    if len(single) != 1:
        raise BadInput(f"Pass one explanation; got {len(single):,}.")
    return single


def _rows(batch: tuple[Any, Any]) -> tuple[Explanations, NDArray[Any]]:
    try:
        explanations, predictions = batch
    except (TypeError, ValueError):
        raise BadInput(f"source must give (explanations, predictions) pairs; got {type(batch).__name__}.") from None
    if np.ndim(predictions) == 0:
        return _single(explanations), to_labels([predictions])
    rows, labels = as_explanations(explanations), to_labels(predictions)
    same_rows(explanations=explanations, predictions=predictions)
    if len(rows) != len(labels):
        raise BadInput(f"A batch of the source has {len(rows):,} explanations but {len(labels):,} predictions.")
    return rows, labels
