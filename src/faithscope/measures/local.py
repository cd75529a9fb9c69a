"""Local measures: per row, per explanation, and for a row outside the sample."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement, Same, Spread, to_agreement
from faithscope.counting.counts import Counts, count_rows
from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.explanations import Explanations
from faithscope.explanations.arrow.columns import to_objects
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.inputs.grouping import group
from faithscope.inputs.labels import to_labels
from faithscope.measures.intervals.bounds import local_sample_size
from faithscope.measures.intervals.local import agreement_interval, commonest_interval
from faithscope.measures.numbers.groups import (
    NumberGroups,
    agreeing_by_cell,
    agreeing_with,
    deviation,
    disagreement,
    mean_agreement,
    shown,
    variance,
)
from faithscope.measures.numbers.words import named, told_number
from faithscope.readers import as_explanations
from faithscope.sample import Sample
from faithscope.sinks.card import Card, Sentence, Table
from faithscope.sinks.json_values import for_json
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def per_row(counts: Counts, sample: Sample, confidence: float) -> dict[str, Any]:
    """Local consistency of every row of the sample, leaving the row itself out.

    Returns
    -------
    dict of columns
        ``N_pi`` and ``N_pi_y`` count the row itself; ``consistency`` is NaN if no other row has its explanation. Of
        numbers it is the mean agreement with the others, ``mean`` and ``spread`` are those of the others, and
        ``residual`` is the prediction less that mean (of vectors, the distance).
    """
    codes, cells = counts.locate(sample.explanations, sample.labels)
    total, same = counts.per_explanation[codes], agreeing_by_cell(counts)[cells]
    measured = local_columns("consistency", counts, same - counts.agreement.itself, total - 1, confidence)
    columns = {"prediction": shown(sample.labels), **measured, "verifiable": total > 1, "N_pi": total}
    return columns | (_others(counts, sample, cells) if counts.agreement.of_numbers else {"N_pi_y": same})


def _others(counts: Counts, sample: Sample, cells: Ints) -> dict[str, Any]:
    """The mean and the spread of the other rows with each row's explanation, and the row's distance from the mean."""
    mean, spread = (column[cells] for column in NumberGroups.of_counts(counts).without())
    apart = sample.labels.reshape(sample.n, -1) - mean
    residual = apart[:, 0] if apart.shape[1] == 1 else np.sqrt((apart**2).sum(axis=1))
    return {"mean": shown(mean), "spread": spread, "residual": residual}


def local_columns(
    measure: str, counts: Counts, agreeing: NDArray[Any], others: Ints, confidence: float
) -> dict[str, Any]:
    """A local measure of every row with an interval that holds; NaN and [0, 1] for a row without others.

    `Spread` has no interval: squared distances have no bound.
    """
    codes, first = group([np.column_stack([agreeing, others])])
    columns = {measure: mean_agreement(counts.agreement, agreeing, others, variance(counts))}
    interval = agreement_interval(counts.agreement, agreeing[first], others[first], confidence)
    if interval is None:
        return columns
    low, high = interval
    return columns | {f"{measure}_low": low[codes], f"{measure}_high": high[codes]}


def per_explanation(counts: Counts, confidence: float, k: int | None = None) -> dict[str, Any]:
    """Every explanation (or the k worst) with its counts, most disagreement first, and then most rows.

    Returns
    -------
    dict of columns
        ``n`` is the number of its rows, and ``consistency`` the mean agreement of two of its rows (NaN for a single
        row). Of labels, ``label`` is the commonest prediction, ``purity`` its share with an interval that allows for
        the choice of the label (`commonest_interval`), and ``disagreeing_pairs`` the pairs of rows with different
        predictions. Of numbers, ``mean``, ``spread`` (the standard deviation),
        ``lowest``, ``highest``, ``largest_gap`` (between two rows; `NumberGroups`), and ``disagreement``.
    """
    columns = _by_number(counts) if counts.agreement.of_numbers else _by_label(counts, confidence)
    worst = columns["disagreement" if counts.agreement.of_numbers else "disagreeing_pairs"]
    order = np.lexsort((-columns["n"], -worst))[: None if k is None else check_whole(k, "k")]
    explanation = [counts.explanations.describe(int(k)) for k in order]
    return {"explanation": explanation} | {name: column[order] for name, column in columns.items()}


def _by_label(counts: Counts, confidence: float) -> dict[str, Any]:
    total = counts.per_explanation
    starts = np.searchsorted(counts.explanation, np.arange(counts.distinct))
    pairs = np.add.reduceat(counts.given * (counts.given - 1), starts)
    most = np.maximum.reduceat(counts.given, starts)
    top = np.flatnonzero(counts.given == most[counts.explanation])
    first_top = top[np.searchsorted(counts.explanation[top], np.arange(counts.distinct))]
    low, high = commonest_interval(most, total, confidence)
    with np.errstate(invalid="ignore"):
        consistency = pairs / (total * (total - 1))
    return {
        "n": total,
        "labels": np.diff(np.append(starts, len(counts.given))),
        "label": to_objects([counts.labels[j] for j in counts.label[first_top]]),
        "purity": most / total,
        "purity_low": low,
        "purity_high": high,
        "consistency": consistency,
        "disagreeing_pairs": (total * (total - 1) - pairs) // 2,
    }


def _by_number(counts: Counts) -> dict[str, Any]:
    groups, apart = NumberGroups.of_counts(counts), disagreement(counts)
    pairs = groups.n * (groups.n - 1) / 2
    share = np.divide(apart, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    if isinstance(counts.agreement, Spread):
        share = (groups.spread / deviation(counts)) ** 2
    return {
        "n": counts.per_explanation,
        **spread_columns(groups),
        "largest_gap": groups.largest_gap,
        "consistency": 1 - share,
        "disagreement": apart,
    }


def spread_columns(groups: NumberGroups) -> dict[str, Any]:
    """The mean and the standard deviation of each group, and of numbers the lowest and the highest."""
    columns = {"mean": shown(groups.mean), "spread": groups.spread}
    if groups.values.shape[1] > 1:
        return columns
    low, high = groups.extremes
    return columns | {"lowest": low[:, 0], "highest": high[:, 0]}


@dataclass(frozen=True)
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
    mean, spread : float, tuple or None
        Of numbers, the mean and the standard deviation of those rows; None for labels and if undefined.

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
    spread: float | None = None
    agreement: Agreement = field(default_factory=Same)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this measure, ready for JSON."""
        sufficiency = None if self.sufficiency is None else self.sufficiency.to_dict()
        told = {"sufficiency": sufficiency, "agreement": repr(self.agreement)}
        return {name: for_json(value) for name, value in vars(self).items()} | told

    def table(self) -> "pd.DataFrame":
        """One line per measure of this row."""
        names = ("measure", "value", "low", "high", "others", "agreeing", "seen")
        measures = [self] if self.sufficiency is None else [self, self.sufficiency]
        return frame({name: [getattr(local, name) for local in measures] for name in names})

    def _card(self) -> Card:
        columns = ("measure", "value", "interval", "rows", "agreeing", "seen")
        measures = [self] if self.sufficiency is None else [self, self.sufficiency]
        table = Table(columns, tuple(local._cells() for local in measures))
        sentences = tuple(Sentence(str(replace(local, sufficiency=None))) for local in measures)
        return Card(f"One row, explained by {visible(self.explanation)}", sentences, (table,))

    def _cells(self) -> tuple[str, ...]:
        interval = "–" if self.low is None or self.high is None else f"{self.low:.3f}–{self.high:.3f}"
        value = "–" if self.value is None else f"{self.value:.3f}"
        return self.measure, value, interval, f"{self.others:,}", f"{self.agreeing:,g}", f"{self.seen:,}"

    def __str__(self) -> str:
        rows = "rows with this explanation" if self.measure == "consistency" else "rows it applies to"
        told = f"{self._rows_told(rows)} ({self.seen:,} rows seen)"
        if self.value is None:
            told = f"there are no {rows} ({self.seen:,} rows seen), so nothing can be told"
        short = "" if self.reached else f"; not reached: {self.wanted:,} such rows were wanted"
        value = "unknown" if self.value is None else f"{self.value:.3f}"
        by = f" by {named(self.agreement)}" if self.agreement.of_numbers else ""
        line = f"local {self.measure} {value}{by}, {self._interval_told()}; {told}{short}"
        return in_lines(line) if self.sufficiency is None else f"{in_lines(line)}\n{self.sufficiency}"

    __repr__ = __str__

    def _rows_told(self, rows: str) -> str:
        if not self.agreement.of_numbers:
            return f"{self.agreeing:,} of {self.others:,} {rows} agree"
        spread = "" if self.spread is None else f", spread {self.spread:.4g}"
        return f"{self.others:,} {rows} have mean {told_number(self.mean)}{spread}"

    def _interval_told(self) -> str:
        if self.low is None or self.high is None:
            return "no interval (squared distances have no bound)"
        return f"{100 * self.confidence:g}% interval [{self.low:.2f}, {self.high:.2f}]"


def at_row(
    counts: Counts, explanation: Explanations, prediction: Any, *, confidence: float = 0.95, wanted: int = 0
) -> Local:
    """Local consistency of a row outside the sample (the paper's Algorithm 1; no row is left out)."""
    if len(explanation) != 1:
        raise BadInput(f"A local measure is of one row; got {len(explanation):,} explanations.")
    place = int(counts.explanations.locate(explanation)[0]) if counts.n else -1
    cells = np.flatnonzero(counts.explanation == place)
    others = Others(counts.agreement, [counts.labels[j] for j in counts.label[cells]], counts.given[cells])
    spread = deviation(counts) if isinstance(counts.agreement, Spread) else 1.0
    local = measured(others, prediction, spread, confidence)
    return replace(
        local, explanation=explanation.describe(0), seen=counts.n, reached=local.others >= wanted, wanted=wanted
    )


class Others(NamedTuple):
    """The rows that a row outside the sample is compared with: their predictions, and how many rows have each."""

    agreement: Agreement
    predictions: list[Any]
    rows: Ints

    def agreeing(self, prediction: Any, spread: float) -> float:
        """The rows that have this prediction; of numbers, each by its agreement with it.

        By `Spread`, half their squared distances from it, by the variance of all predictions.
        """
        if not self.agreement.of_numbers:
            pairs = zip(self.predictions, self.rows, strict=True)
            return sum(int(rows) for label, rows in pairs if label == prediction)
        number = self.agreement.read(np.asarray([prediction]))
        if not self.predictions:
            return 0.0
        unit = spread if isinstance(self.agreement, Spread) else 1.0
        return agreeing_with(self.agreement, number / unit, self._values / unit, self.rows)

    def summary(self) -> dict[str, Any]:
        """The mean and the standard deviation of numbers; None for the latter if there is a single row."""
        groups = NumberGroups.of(np.zeros(len(self.rows), np.int64), self._values, self.rows, 1)
        spread = float(groups.spread[0])
        return {"mean": shown(groups.mean).tolist()[0], "spread": None if np.isnan(spread) else spread}

    @property
    def _values(self) -> Floats:
        return np.asarray(self.predictions, np.float64)


def measured(others: Others, prediction: Any, spread: float, confidence: float) -> Local:
    """A local measure from the rows to compare with; `spread` is that of all predictions, by `Spread`."""
    agreement, many, agreeing = others.agreement, others.rows.sum(keepdims=True), others.agreeing(prediction, spread)
    value = mean_agreement(agreement, np.array([agreeing]), many, 1.0)[0]
    interval = agreement_interval(agreement, np.array([agreeing]), many, confidence)
    low, high = (None, None) if interval is None else (float(end[0]) for end in interval)
    known = None if np.isnan(value) else float(value)
    local = Local(known, low, high, float(confidence), "", prediction, int(many[0]), agreeing, 0)
    local = replace(local, agreement=agreement)
    return local if known is None or not agreement.of_numbers else replace(local, **others.summary())


def sample_until(
    source: Iterable[tuple[Any, Any]],
    explanation: Any,
    epsilon: float,
    budget: int,
    *,
    prediction: Any = None,
    discretizer: Discretize | None = None,
    confidence: float = 0.9,
    agreement: Any = None,
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
        The prediction of x. By default the commonest among the rows found; the interval then allows for the choice,
        however many labels there are (`commonest_interval`).
        Numbers have no commonest: it must be given with `agreement`.
    confidence : float
        The confidence of the error and of the interval.
    agreement : Close, Tolerance or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.

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
    if isinstance(source, type) or not hasattr(source, "__iter__") or getattr(source, "shape", None) == ():
        raise WrongType(f"source must give (explanations, predictions) pairs; got {type(source).__name__}.")
    chosen = to_agreement(agreement)
    _check_agreement(chosen, prediction)
    wanted = local_sample_size(epsilon, confidence)
    target = discretize(_single(explanation), discretizer)
    counts = Counts.zero()
    seen = others = 0
    for batch in source:
        rows, labels = _rows(batch, chosen)
        if not len(labels):
            break  # an empty batch ends the source
        rows, labels = rows.take(slice(0, budget - seen)), labels[: budget - seen]
        hits = np.flatnonzero(target.locate(discretize(rows, discretizer)) == 0)[: wanted - others]
        seen += int(hits[-1]) + 1 if len(hits) and others + len(hits) == wanted else len(labels)
        if len(hits):
            same = target.take(np.zeros(len(hits), np.int64))
            counts = counts + count_rows(Sample(same, labels[hits], agreement=chosen))
        others += len(hits)
        if others >= wanted or seen >= budget:
            break
    if prediction is not None or not counts.n:
        return replace(at_row(counts, target, prediction, confidence=confidence, wanted=wanted), seen=seen)
    commonest = counts.labels[int(counts.given.argmax())]
    answer = at_row(counts, target, commonest, confidence=confidence, wanted=wanted)
    low, high = commonest_interval(counts.given.max(keepdims=True), np.array([counts.n]), confidence)
    return replace(answer, seen=seen, low=float(low[0]), high=float(high[0]))


def _check_agreement(agreement: Agreement, prediction: Any) -> None:
    if isinstance(agreement, Spread):
        raise NotProven("The error is bounded for agreements from 0 to 1, not for Spread(): pass fs.Close(eps).")
    if agreement.of_numbers and prediction is None:
        raise BadInput(f"By {named(agreement)} a prediction to compare with is needed: pass prediction=.")
    if not agreement.of_numbers and prediction is not None:
        to_labels([prediction], "The prediction to compare with, as a list of one,")


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


def _rows(batch: tuple[Any, Any], agreement: Agreement) -> tuple[Explanations, NDArray[Any]]:
    try:
        explanations, predictions = batch
    except (TypeError, ValueError):
        raise BadInput(f"source must give (explanations, predictions) pairs; got {type(batch).__name__}.") from None
    if np.ndim(predictions) == 0:
        predictions = [predictions]
        return _single(explanations), agreement.read(predictions) if agreement.of_numbers else to_labels(predictions)
    labels = agreement.read(predictions) if agreement.of_numbers else to_labels(predictions)
    rows = as_explanations(explanations)
    same_rows(explanations=explanations, predictions=predictions)
    if len(rows) != len(labels):
        raise BadInput(f"A batch of the source has {len(rows):,} explanations but {len(labels):,} predictions.")
    return rows, labels
