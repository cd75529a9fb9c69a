"""Sufficiency: wherever an explanation applies, is the prediction the same?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement, Spread
from faithscope.counting.counts import Counts
from faithscope.counting.coverage import count_among, cover
from faithscope.counting.further import reach_of
from faithscope.counting.leaving_out.leave_out import LeftOut
from faithscope.counting.tally import Coverage
from faithscope.counting.weights.rows import go_with_labels
from faithscope.errors import BadInput, NotProven
from faithscope.explanations.base import Explanations, several
from faithscope.inputs.labels import OF_DRAWN_NUMBERS, OF_NUMBERS
from faithscope.inputs.row_hashes import new_rows
from faithscope.inputs.rows import rows_of
from faithscope.measures.estimate import FOR_EQUALITY, METHODS, Estimate, Method, assemble, check_method, noted
from faithscope.measures.intervals.margins import LeftOutDeviations, Margins, UnseenRows, jackknife_margins
from faithscope.measures.intervals.tight import tight
from faithscope.measures.notes.asked import asked_notes
from faithscope.measures.notes.intervals import SPREAD_BY_WEIGHT, WEIGHTS_BY_LABEL, cluster_notes
from faithscope.measures.notes.restatement import copy_notes
from faithscope.measures.numbers.spread import spread_estimate
from faithscope.measures.on_draws import asking, measure_on_draws
from faithscope.measures.weighted import NOT_BY_PREDICTION
from faithscope.populations import OwnDraws, RealRows, to_population
from faithscope.relations import Relation, bind, check_rows, to_relation
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample

Floats = NDArray[np.float64]

_MATTERS = 0.02  # a difference of intervals that a reader should know of
FEWER = "sample rows, or explanations"  # what to do if memory is short


@dataclass(frozen=True)
class Further:
    """Further rows without predictions: how many, and how much the terms of the sample would lean on one at most."""

    rows: int
    reach: float

    @classmethod
    def of(
        cls, coverage: Coverage, sample: Sample, relation: Relation, further: Any, *, elsewhere: bool = False
    ) -> "Further | None":
        """Of rows like those of a sample; None if there are none.

        If the sample is one group of many, most further rows are from `elsewhere`: they show who lies under many
        explanations, but not how rare such rows are in this group.
        """
        if further is None:
            return None
        rows = 0 if elsewhere else new_rows(further, sample.X)
        return cls(rows, reach_of(coverage, sample, relation, further))

    def leaning(self, left_out: LeftOut | None) -> LeftOut | None:
        """Leave-one-out values that know how much rows may lean on one of these."""
        return None if left_out is None else replace(left_out, reach=max(left_out.reach, self.reach))


@in_memory(FEWER)
def sufficiency(
    explanations: Any,
    predictions: Any,
    X: Any = None,
    *,
    relation: Any = None,
    population: Any = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
    further: Any = None,
    device: str = "auto",
) -> Estimate:
    """Probability that a row to which x's explanation applies gets x's prediction.

    Like `consistency`, it takes for granted that rows are independent draws (or `clusters` of rows are), and that the
    explainer was fixed before they were seen. A note tells if whole rows repeat more often than chance gives.

    Parameters
    ----------
    explanations : Explanations that say where they apply
        `Rules`, `Highlights`, `Counterfactuals`, or `Prototypes` with their points; any kind if `relation` is given.
    predictions : array-like, (n,), or a model
        The model's predicted labels (never the truth), as for `consistency`; or the model, or its predict function,
        which is then asked about X, and about the draws of a `population`.
    X : array-like or table, n rows
        The rows, or documents, to which explanations may apply. `Judged` and `drawn` do not need them.
    relation : Nearest, Ball, Judged or callable, optional
        A callable ``applies(X, explanation)`` returns a mask of rows; by default the kind of explanation decides.
        `Judged` has the answers of a judge, who need not be asked about all pairs of an explanation and a row.
    population : RealRows, Perturbed, Product, Conditional, or what `drawn` gives, optional
        The inputs among which the prediction must stay the same: by default the other rows of X, `RealRows`; else
        draws for each row given its explanation. The interval is then over rows, and a row whose explanation leaves no
        draw is unverifiable.
    confidence : float
        The confidence of the interval, a jackknife. It leaves out every row while explanations x rows is at most 10⁸,
        and blocks of rows beyond; on a GPU always every row.
    interval : {"jackknife", "any"}, optional
        How the interval is made. The default, "jackknife", takes for granted that no row which the sample missed lies
        under many explanations, and says so where it matters; "any" does not, and is wide if rules cover few rows.
        Rules of which every row meets exactly one need no such assumption, and rows that count alike then get the
        interval of `consistency`.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        Pairs are weighed, and the interval leaves out blocks of rows, so weights must not depend on the prediction: a
        note says so, and where they seem to, that the interval may miss the truth.
    agreement : Close, Tolerance, Spread or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`.
    further : array-like or table, optional
        Further rows like those of X, such as the training rows, without predictions: if one of them lies under many
        explanations, the interval allows for it, and the more there are that X lacks the less "any" needs to.
    device : {"auto", "cpu", "cuda"}
        "auto" counts balls of counterfactuals, and of single prototypes, on a GPU if there is one and they are many.

    Returns
    -------
    Estimate
        A row that its own explanation does not cover is compared with all rows that it covers; `notes` give the number
        of such rows.

    Examples
    --------
    >>> from faithscope import Rules
    >>> rules = Rules.from_conditions([[("age", "<=", 40.0)]] * 3, features=["age"])
    >>> sufficiency(rules, ["no", "no", "yes"], [[25.0], [31.0], [38.0]]).value
    0.3333333333333333
    """
    chosen = RealRows() if population is None else to_population(population)
    if not isinstance(chosen, OwnDraws):
        check_rows(X, relation)
    ask = None if X is None else asking(predictions, agreement, "X")
    try:
        sample = Sample.of(explanations, predictions if ask is None else ask(X), X, weights, agreement, clusters)
    except BadInput as error:
        if isinstance(chosen, RealRows):
            raise
        raise type(error)(str(error).replace(OF_NUMBERS, OF_DRAWN_NUMBERS)) from None
    if not isinstance(chosen, RealRows):
        refuse_on_draws(relation, interval, further, device)
        model = predictions if chosen.model is None else chosen.model
        return measure_on_draws(sample, chosen, asking(model, agreement, "draws"), confidence)
    relation = bind(relation, sample.explanations, X)
    return measure_sufficiency(sample, relation, confidence, interval, further, device)


def measure_sufficiency(
    sample: Sample,
    relation: Any = None,
    confidence: float = 0.95,
    method: Method | None = None,
    further: Any = None,
    device: str = "auto",
    *,
    elsewhere: bool = False,
) -> Estimate:
    """The sufficiency of a sample; `elsewhere` is whether it is one group, and the further rows of all groups.

    With weights, ``M̂_w = (1/W) Σ_π G_π · Σ_y (G_{πy} C_{πy} - V_{πy}) / (G_π C_π - V_π)``, where G is the weight of
    the rows that were given π and that it covers, V the sum of their squared weights, and C the weight of all rows that
    it covers; rows that their own explanation misses have no V. For rules that partition the rows this is weighted
    consistency.
    """
    counted = sample.counted().evenly()  # rows that count alike can be left out one by one
    how = check_scoped(method)
    relation = to_relation(relation, counted.explanations)
    coverage = cover(counted, relation, device=device)
    seen = Further.of(coverage, counted, relation, further, elsewhere=elsewhere)
    estimate = coverage_estimate(coverage, "sufficiency", confidence, how, seen, counted.weights)
    estimate = noted(
        estimate,
        (*counted.explanations.notes, *counted.notes, *copy_notes(counted), *asked_notes(coverage, counted)),
    )
    estimate = noted(estimate, cluster_notes(counted))
    if counted.weights is not None and isinstance(counted.agreement, Spread):
        return noted(estimate, (SPREAD_BY_WEIGHT,))
    if counted.weights is None:
        return estimate
    return noted(estimate, (WEIGHTS_BY_LABEL,) if go_with_labels(counted) else (NOT_BY_PREDICTION,))


def refuse_on_draws(relation: Any, method: Method | None, further: Any, device: str) -> None:
    """Raise if something was asked for that draws have no use for."""
    check_scoped(method)
    if relation is not None:
        raise BadInput(
            "relation= says which real rows an explanation covers, and draws are made from the explanation itself: "
            "leave relation= out, or population=."
        )
    if further is not None:
        raise BadInput(
            "further= are real rows without predictions, of which one may lie under many explanations; a draw belongs "
            "to one row: leave further= out, or population=."
        )
    if device not in ("auto", "cpu"):
        raise BadInput(
            f"device={device!r} is where pairs of rows are counted, and draws are only predicted: pass device='cpu', "
            "or leave population= out."
        )


def check_scoped(method: Method | None) -> Method | None:
    """The method, if it makes intervals of measures whose explanations may overlap."""
    if isinstance(method, str) and method in FOR_EQUALITY:
        raise NotProven(f"interval={method!r} is proven for consistency only: use 'jackknife', or 'any'.")
    return check_method(method, [name for name in METHODS if name not in FOR_EQUALITY])


def scoped_method(method: Method | None) -> Method | None:
    """The method asked for, or None if it makes no intervals of sufficiency."""
    return None if method in FOR_EQUALITY else method


def made_otherwise(sufficiency: Estimate, asked: Method | None) -> tuple[str, ...]:
    """A note if the interval is not made by the method that was asked for."""
    if asked not in FOR_EQUALITY or sufficiency.method == asked:
        return ()
    return (f"the interval of sufficiency is a jackknife: {asked} is proven for consistency only",)


def coverage_estimate(
    coverage: Coverage,
    measure: str,
    confidence: float,
    method: Method | None = None,
    further: Further | None = None,
    weights: Floats | None = None,
) -> Estimate:
    """An estimate from counted coverage."""
    return _estimate(coverage, measure, confidence, method, further, weights)


def _estimate(
    coverage: Coverage,
    measure: str,
    confidence: float,
    method: Method | None,
    further: Further | None,
    weights: Floats | None,
) -> Estimate:
    counts = coverage.counts
    left_out, n = further.leaning(coverage.left_out) if further else coverage.left_out, counts.effective_n
    on_gpu = () if coverage.close is None else (_on_gpu(coverage.close),)
    known = coverage.asked is None  # of pairs that were not asked other notes tell
    notes = (*(coverage_notes(counts, coverage.idle) if known else ()), *on_gpu)
    if coverage.spread is not None and left_out is not None:
        refuse_any(method, counts.agreement)
        return spread_estimate(counts, coverage.spread, left_out, measure, confidence, notes)
    terms = counts.profile().terms if coverage.sums is None else coverage.sums
    if method != "jackknife" and counts.covers_once and counts.plain:  # this is consistency
        return assemble(counts, terms, tight(counts.profile(), confidence), measure, confidence, "tight", notes)
    method = method or "jackknife"
    deviations = None if left_out is None else LeftOutDeviations.of(left_out)
    margins = jackknife_margins(deviations, n, confidence)
    if counts.relation.partitions or left_out is None:  # a row that was missed has one explanation, like any other
        return assemble(counts, terms, margins, measure, confidence, method, notes)
    unseen = unseen_rows(coverage, 0 if further is None else further.rows, weights)
    widest = jackknife_margins(deviations, n, confidence, unseen=unseen)
    if method == "any":
        return assemble(counts, terms, widest, measure, confidence, method, notes)
    estimate = assemble(counts, terms, margins, measure, confidence, method, notes)
    return noted(estimate, _assumed(estimate, widest))


def coverage_notes(counts: Counts, idle: Sequence[str]) -> tuple[str, ...]:
    """Notes on rows that their explanation misses, and on explanations and conditions that hold nowhere."""
    missed, empty = int(counts.missed.sum()), int(np.sum(counts.per_explanation == 0))
    holding = several(len(idle), "condition holds", "conditions hold")
    remarks = (
        several(missed, "row is not covered by its", "rows are not covered by their") + " own explanation"
        if missed
        else "",
        several(empty, "explanation covers", "explanations cover") + " no row at all" if empty else "",
        f"{holding} on no row, such as {idle[0]!r}" if idle else "",
    )
    return tuple(remark for remark in remarks if remark)


def refuse_any(method: Method | None, agreement: Agreement) -> None:
    """Raise if agreements have no bound: then nothing allows for rows that were not seen."""
    if method == "any":
        raise NotProven(f"interval='any' needs agreements from 0 to 1, unlike {agreement}: use 'jackknife', or Close.")


def unseen_rows(coverage: Coverage, further: int = 0, weights: Floats | None = None) -> UnseenRows:
    """What is known of rows that the sample missed: whom they might be covered by."""
    counts = coverage.counts
    if counts.plain and weights is None and coverage.asked is None:
        profile = counts.profile()
        return UnseenRows(profile.others, profile.rows, further)
    others: NDArray[Any] = counts.per_explanation[coverage.codes] - coverage.own
    if coverage.asked is not None:  # as many as if all rows had been asked about
        others = others * ((len(others) - 1) / np.maximum(1, coverage.asked.others))
    rows = np.ones(len(others)) if weights is None else weights * (len(weights) / weights.sum())
    return UnseenRows(others, rows, further)


def _assumed(estimate: Estimate, widest: Margins) -> tuple[str, ...]:
    """A note if the interval would differ without the assumption that no unseen row lies under many explanations."""
    low, high = max(0.0, estimate.value - widest.below), min(1.0, estimate.upper + widest.above)
    if max(estimate.low - low, high - estimate.high) <= _MATTERS:
        return ()
    ends = f"[{low:.2f}, {high:.2f}]"
    return (f"assumes that no unseen row lies under many explanations (interval='any' does not: {ends})",)


def _on_gpu(close: int) -> str:
    return f"counted on a GPU, {several(close, 'pair', 'pairs')} within 1e-5 of the distance in double precision"


@in_memory(FEWER)
def count_covered(
    explanations: Any,
    predictions: Any,
    X: Any,
    *,
    relation: Any = None,
    among: Explanations | None = None,
) -> Counts:
    """Counts of the rows that explanations cover; counts of parts of the rows can be added.

    This takes two passes: collect the distinct explanations of all parts, ``(count(a, …) + count(b, …)).explanations``,
    then count every part `among` them, and add.
    """
    rows_of(X)  # None has no rows
    sample = Sample.of(explanations, predictions, X)
    if among is None:
        return cover(sample, to_relation(relation, sample.explanations), interval=False).counts
    return count_among(sample, to_relation(relation, among), among)
