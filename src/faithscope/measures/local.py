"""Local measures: per row, per explanation, and for a row outside the sample."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.agreements import Agreement, Same, Spread, scaled
from faithscope.card import in_lines
from faithscope.counting.clusters import Kinds
from faithscope.counting.counts import Counts
from faithscope.counting.layout import divided, run_starts
from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, WrongType
from faithscope.explanations import Explanations
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.arrays import is_frame, to_objects
from faithscope.inputs.checks import check_whole, same_length
from faithscope.inputs.frames import frame
from faithscope.inputs.labels import refuse_mixed, to_labels
from faithscope.measures.intervals.bounds import local_sample_size
from faithscope.measures.intervals.local import agreement_interval, label_interval
from faithscope.measures.numbers import (
    agreeing_by_cell,
    agreement_between,
    agreement_of_scopes,
    distance,
    mean_agreement,
    means,
    shown,
    variance,
)
from faithscope.measures.telling import named, told_number
from faithscope.readers import as_explanations
from faithscope.rounding import in_brackets
from faithscope.sample import Sample
from faithscope.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

# Others of a row, their agreement, and how many of them are in one cluster at most; None if rows are independent.
Met = tuple[Array, Array, Array | None]


def per_row(counts: Counts, sample: Sample, confidence: float) -> dict[str, Any]:
    """Local consistency of every row of the sample, leaving the row itself out, or its cluster.

    Returns
    -------
    dict of columns
        ``N_pi`` and ``N_pi_y`` count the row itself; ``consistency`` is NaN if no other row has its explanation. Of
        numbers it is the mean agreement with the others, of which ``mean`` is the mean.
    """
    codes, cells = counts.locate(sample.explanations, sample.labels)
    total, same = counts.per_explanation[codes], agreeing_by_cell(counts)[cells]
    met: Met = total - 1, same - counts.agreement.itself, None
    if sample.clusters is not None:
        met = Kinds.of(replace(sample, weights=None)).met
    columns = {"prediction": shown(sample.labels), **local_columns("consistency", counts, met, confidence)}
    columns |= {"verifiable": met[0] > 0, "N_pi": total}
    if not counts.agreement.of_numbers:
        return columns | {"N_pi_y": same}
    apart = (sample.labels - means(counts)[codes]).T * divided(total, total - 1, np.nan)
    return columns | {"mean": shown(sample.labels - apart.T)}


def local_columns(measure: str, counts: Counts, met: Met, confidence: float) -> dict[str, Any]:
    """A local measure of every row with an interval that holds; NaN and [0, 1] for a row without others.

    `met` are per row its others, their agreement, and how many of them are in one cluster at most; None of independent
    rows. `Spread` has no interval: squared distances have no bound.
    """
    others, agreeing, together = met
    columns = {measure: mean_agreement(counts, agreeing, others)}
    interval = agreement_interval(counts.agreement, agreeing, others, confidence, together)
    if interval is None:
        return columns
    return columns | {f"{measure}_low": interval[0], f"{measure}_high": interval[1]}


def per_explanation(
    counts: Counts, confidence: float, k: int | None = None, clustered: tuple[Ints, Sample] | None = None
) -> dict[str, Any]:
    """Every explanation (or the k worst) with its counts, most disagreement first, and then most rows.

    Parameters
    ----------
    clustered : ((n,) array, Sample), optional
        Of clustered rows, the explanation of each among those that were counted, and all rows.

    Returns
    -------
    dict of columns
        ``n`` is the number of its rows, and ``consistency`` the mean agreement of two of its rows (NaN for a single
        row). Of labels, ``label`` is the commonest prediction, ``purity`` its share with an interval that allows for
        the choice of the label (`label_interval`), and ``disagreeing_pairs`` the pairs of rows with different
        predictions. Of numbers, ``mean``, ``lowest`` and ``highest`` (not of vectors), and ``disagreement``. If rows
        are clustered, ``consistency`` is that of rows of different clusters.
    """
    rows, measured = counts.per_explanation, agreement_of_scopes(counts)
    columns: dict[str, Any] = {"n": rows}
    agreed, apart = measured["sufficiency"], measured["disagreement"] / 2
    if counts.agreement.of_numbers:
        columns["mean"] = shown(means(counts))
        if counts.values.ndim == 1:
            first, values = run_starts(counts.explanation), counts.values[counts.label]
            columns |= {"lowest": np.minimum.reduceat(values, first), "highest": np.maximum.reduceat(values, first)}
        return listed(counts, columns | {"consistency": agreed, "disagreement": apart}, "disagreement", k)
    top, together = commonest_cells(counts), None
    if clustered is not None:
        codes, sample = clustered
        others, agreeing, largest = Kinds.of(replace(sample, weights=None)).met
        together = np.zeros(len(rows))
        together[codes] = largest
        agreed = divided(np.bincount(codes, agreeing), np.bincount(codes, others), np.nan)
    low, high = label_interval(counts.given[top], rows, confidence, commonest=True, together=together)
    columns |= {
        "labels": np.bincount(counts.explanation, minlength=counts.distinct),
        "label": to_objects([counts.labels[j] for j in counts.label[top]]),
        "purity": counts.given[top] / rows,
        "purity_low": low,
        "purity_high": high,
        "consistency": agreed,
        "disagreeing_pairs": np.rint(apart).astype(np.int64),
    }
    return listed(counts, columns, "disagreeing_pairs", k)


def listed(counts: Counts, columns: dict[str, Any], by: str, k: int | None) -> dict[str, Any]:
    """The columns of explanations with their texts, of all or the first k: the largest by a column, then by rows."""
    order = np.lexsort([-columns["n"], -columns[by]])[: None if k is None else check_whole(k, "k")]
    texts = [counts.explanations.describe(int(row)) for row in order]
    return {"explanation": texts, **{name: column[order] for name, column in columns.items()}}


def commonest_cells(counts: Counts) -> Ints:
    """The cell of the commonest label of the rows given each explanation; of several such labels, the first."""
    return np.lexsort((-counts.given, counts.explanation))[run_starts(counts.explanation)]


@dataclass(frozen=True, repr=False)
class Local(Shareable):
    """A local measure of one row outside the sample, with an interval that holds (`agreement_interval`).

    Attributes
    ----------
    value : float or None
        Among the rows with its explanation (for sufficiency: the rows to which it applies), the share that have its
        prediction; of numbers, their mean agreement with it. None if there is no such row.
    low, high : float or None
        The interval: exact (Clopper-Pearson) for labels and `Tolerance`, Hoeffding's for other agreements from 0 to 1,
        and None for `Spread`, since squared distances have no bound.
    others : int
        The number of those rows.
    agreeing : int or float
        The number of them that have its prediction; of numbers, the sum of their agreements with it (`Spread`: of half
        their squared distances from it, by the variance of all predictions).
    seen : int
        Number of rows looked at.
    reached : bool
        Whether at least `wanted` rows with its explanation were found.
    wanted : int
        Number of rows with its explanation that were wanted; 0 if none were asked for.
    mean : float, tuple or None
        Of numbers, the mean of those rows; None for labels and if undefined.

    Examples
    --------
    >>> rows = [(["a", "b", "a"], [1, 0, 0])]
    >>> local = sample_until(rows, "a", epsilon=0.5, budget=100, prediction=1)
    >>> local.agreeing, local.others, local.seen
    (1, 2, 3)
    """

    value: float | None
    low: float | None
    high: float | None
    confidence: float
    explanation: str
    prediction: Any
    others: int
    agreeing: float
    seen: int
    reached: bool = True
    wanted: int = 0
    measure: str = "consistency"
    sufficiency: "Local | None" = None  # of the same row; None if explanations do not say where they apply
    mean: Any = None
    agreement: Agreement = field(default_factory=Same)

    @property
    def _measures(self) -> "list[Local]":
        return [self] if self.sufficiency is None else [self, self.sufficiency]

    def table(self) -> "pd.DataFrame":
        """One line per measure of this row."""
        names = ("measure", "value", "low", "high", "others", "agreeing", "seen")
        return frame({name: [getattr(local, name) for local in self._measures] for name in names})

    @property
    def _title(self) -> str:
        return f"One row, explained by {visible(self.explanation)}"

    def _sentences(self) -> Iterable[str]:
        return [each._line for each in self._measures]

    @property
    def _line(self) -> str:
        rows = "rows with this explanation" if self.measure == "consistency" else "rows it applies to"
        value = "unknown" if self.value is None else f"{self.value:.3f}"
        told = f"{self.agreeing:,} of {self.others:,} {rows} agree"
        if self.agreement.of_numbers:
            value += f" by {named(self.agreement)}"
            told = f"{self.others:,} {rows} have mean {told_number(self.mean)}" if self.others else told
        told = told if self.others else f"there are no {rows}, so nothing can be told"
        interval = "no interval (squared distances have no bound)"
        if self.low is not None and self.high is not None:
            interval = f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"
        short = "" if self.reached else f"; not reached: {self.wanted:,} such rows were wanted"
        return f"local {self.measure} {value}, {interval}; {told} ({self.seen:,} rows seen){short}"

    def __str__(self) -> str:
        return "\n".join(in_lines(each._line) for each in self._measures)


def at_row(sample: Sample, rows: Any, explanation: Explanations, prediction: Any, confidence: float) -> Local:
    """A local measure of a row outside the sample, by the rows to compare it with; none is left out (Algorithm 1)."""
    labels, agreement, mean = sample.labels[rows], sample.agreement, None
    many, value = len(labels), None
    if not agreement.of_numbers:
        agreeing: float = sum(label == prediction for label in labels.tolist())
    elif many:
        number = np.repeat(agreement.read(np.asarray([prediction])), many, axis=0)
        alike = agreement_between(agreement, number, labels)
        if isinstance(agreement, Spread):
            alike = (distance(labels, number) / scaled(sample.labels)[1]) ** 2 / 2 / variance(sample.labels)
        agreeing = float(alike.sum())
        (mean,) = shown(labels.mean(axis=0)[None]).tolist()
    else:
        agreeing = 0
    if many:
        value = float(1 - agreeing / many if isinstance(agreement, Spread) else agreeing / many)
    interval = agreement_interval(agreement, np.array([agreeing]), np.array([many]), confidence)
    low, high = (None, None) if interval is None else (float(end[0]) for end in interval)
    return Local(
        value=value,
        low=low,
        high=high,
        confidence=float(confidence),
        explanation=explanation.describe(0),
        prediction=prediction,
        others=many,
        agreeing=agreeing,
        seen=sample.n,
        mean=mean,
        agreement=agreement,
    )


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
        The prediction of x, of the type that the rows' have. By default the commonest among the rows found; the
        interval then allows for the choice, however many labels there are (`label_interval`).
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
    try:
        batches = iter(source)
    except TypeError:
        raise WrongType(f"source must give (explanations, predictions) pairs; got {type(source).__name__}.") from None
    if prediction is not None:
        (prediction,) = to_labels(
            np.array([prediction]) if isinstance(prediction, np.generic) else [prediction],
            "The prediction to compare with, as a list of one,",
        ).tolist()
    wanted = local_sample_size(epsilon, confidence)
    target = discretize(_single(explanation), discretizer)
    seen, labels = 0, list[Any]()
    for batch in batches:
        rows, answers = _rows(batch)
        if not len(answers):
            break  # an empty batch ends the source
        rows, answers = rows.take(slice(0, budget - seen)), answers[: budget - seen]
        hits = np.flatnonzero(target.locate(discretize(rows, discretizer)) == 0)[: wanted - len(labels)]
        labels += answers[hits].tolist()
        reached = len(labels) == wanted
        seen += int(hits[-1]) + 1 if reached else len(answers)
        if reached or seen >= budget:
            break
    refuse_mixed(to_objects([*labels, prediction]), "Predictions of the rows with this explanation, and prediction=,")
    sample = Sample(target.take(np.zeros(len(labels), np.int64)), to_objects(labels))
    interval = dict[str, Any]()
    if prediction is None and labels:
        names, place = sample.numbered_labels
        rows_of_label = np.bincount(place)
        prediction = names[int(rows_of_label.argmax())]
        ends = label_interval(rows_of_label.max(keepdims=True), np.array([sample.n]), confidence, commonest=True)
        interval = {name: float(end[0]) for name, end in zip(("low", "high"), ends, strict=True)}
    answer = at_row(sample, slice(None), target, prediction, confidence)
    return replace(answer, seen=seen, reached=sample.n >= wanted, wanted=wanted, **interval)


def _single(explanation: Any) -> Explanations:
    """One explanation: an `Explanations` of one row, a vector of importances, or one plain key."""
    many = isinstance(explanation, Explanations) or is_frame(explanation) or getattr(explanation, "ndim", 1) == 2
    single = as_explanations(explanation if many else [getattr(explanation, "values", explanation)])
    if len(single) != 1:
        raise BadInput(f"Pass one explanation; got {len(single):,}.")
    return single


def _rows(batch: tuple[Any, Any]) -> tuple[Explanations, Array]:
    try:
        explanations, predictions = batch
    except (TypeError, ValueError):
        raise BadInput(f"source must give (explanations, predictions) pairs; got {type(batch).__name__}.") from None
    if np.ndim(predictions) == 0:
        explanations, predictions = _single(explanations), [predictions]
    labels, rows = to_labels(predictions), as_explanations(explanations)
    same_rows(explanations=explanations, predictions=predictions)
    if len(rows) or len(labels):
        same_length(explanations=len(rows), predictions=len(labels))
    return rows, labels
