"""Sufficiency and necessity: wherever an explanation applies, is the prediction the same; and the other way round?"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from faithscope.agreements import Spread, to_agreement
from faithscope.counting.counted import Coverage
from faithscope.counting.coverage import cover, reach_of, tallies
from faithscope.counting.drawn import count_draws
from faithscope.counting.leave_out import Sums
from faithscope.errors import BadInput, NotProven
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.alignment import made_in_order
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_predictions
from faithscope.inputs.models import Model, noting, rows_of_its_own
from faithscope.inputs.repeats import new_rows
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.measures.beyond import beyond
from faithscope.measures.comparing.beside import Side, Sides, beside_notes, by_prediction_notes
from faithscope.measures.comparing.paired import LeftOutEstimate, sufficiency_left_out
from faithscope.measures.comparing.populations import by_groups, measure_groups
from faithscope.measures.consistency import settled
from faithscope.measures.covered import coverage_estimate, scoped, unseen_rows
from faithscope.measures.estimate import (
    FOR_EQUALITY,
    NECESSITY,
    Estimate,
    Method,
    noted,
    refuse_spread,
    refuse_unproven,
    to_estimate,
    to_interval,
)
from faithscope.measures.intervals.margins import IndependentUnits, LeftOutDeviations, margins
from faithscope.measures.notes import asked_notes, copy_notes
from faithscope.populations import OwnDraws, Population, RealRows, to_population
from faithscope.relations import Alike, check_rows
from faithscope.runtime.of_logs import takes_log
from faithscope.sample import Sample, refuse_nobody, with_askers
from faithscope.words import several

Ask = Callable[[Any], Array]

FEWER = "sample rows, or explanations"  # what to do if memory is short


@by_groups
@takes_log(FEWER)
def sufficiency(
    explanations: Any,
    predictions: Any = None,
    X: Any = None,
    *,
    relation: Any = None,
    population: Any = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
    unlabeled: Any = None,
    askers: Any = None,
    by: None = None,
) -> Any:
    """Probability that a row to which x's explanation applies gets x's prediction.

    Like `consistency`, it takes for granted that rows are independent draws (or `clusters` of rows are), and that the
    explainer was fixed before they were seen. A note tells if whole rows repeat more often than chance gives.

    Parameters
    ----------
    explanations : Explanations that say where they apply, or a Log of them
        `Rules`, `Highlights`, `Counterfactuals`, or `Prototypes` with their points; any kind if `relation` is given.
    predictions : array-like, (n,), or a model
        The model's predicted labels (never the truth), as for `consistency`; or the model, or its predict function,
        which is then asked about X, and about the draws of a `population`.
    X : array-like or table, n rows
        The rows, or documents, to which explanations may apply. `Judged` and `drawn` do not need them.
    relation : Alike, Nearest, Ball, Judged or callable, optional
        A callable ``applies(X, explanation)`` returns a mask of rows; by default the kind of explanation decides.
        `Alike` measures importances: they cover the rows that are alike in the features that they name.
        `Judged` has the answers of a judge, who need not be asked about all pairs of an explanation and a row.
    population : RealRows, Perturbed, Product, Conditional, or what `drawn` gives, optional
        The inputs among which the prediction must stay the same: by default the other rows of X, `RealRows`; else
        draws for each row given its explanation. The interval is then over rows, and a row whose explanation leaves no
        draw is unverifiable.
    confidence : float
        The confidence of the interval, a jackknife. It leaves out every row while explanations x rows is at most 10⁸,
        and blocks of rows beyond.
    interval : None
        No interval of sufficiency is proven, but for rules of which every row meets exactly one.
    unseen : bool
        By default the interval takes for granted that no row which the sample missed lies under many explanations, and
        says so where it matters; with True it does not, and is wide if rules cover few rows. Rules of which every row
        meets exactly one need no such assumption, and rows that count alike then get the interval of `consistency`.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        Pairs are weighed, and the interval leaves out blocks of rows, so weights must not depend on the prediction: a
        note says so, and where they seem to, the interval is that of rows kept by chance in proportion to weights.
    agreement : Close, Tolerance, Spread or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`.
    unlabeled : array-like or table, optional
        Further rows like those of X, such as the training rows, without predictions: if one of them lies under many
        explanations, the interval allows for it, and the more there are that X lacks the less `unseen` needs to.
    askers : array-like of bool, (n,), optional
        Which rows ask: each of them is compared with all rows that its explanation covers, whether these ask or not. So
        a group is measured beside everybody; blocks of rows are left out.
    by : array-like, (n,), or str or list of str, optional
        The group of each row, or columns of X by name: every group asks in turn, and is measured among its own rows
        too. On draws of a `population` a row is compared with its own draws alone, so that there is one number.

    Returns
    -------
    Estimate, or Populations if `by` is given
        A row that its own explanation does not cover is compared with all rows that it covers; `notes` give the number
        of such rows.

    Examples
    --------
    >>> from faithscope import Rules
    >>> rules = Rules.from_conditions([[("age", "<=", 40.0)]] * 3, features=["age"])
    >>> sufficiency(rules, ["no", "no", "yes"], [[25.0], [31.0], [38.0]]).value
    0.3333333333333333
    """
    method, allowed = to_interval(interval, unseen)
    chosen = RealRows() if population is None else to_population(population)
    if not isinstance(chosen, OwnDraws):
        check_rows(X, relation)
    ask = None if X is None else asking(predictions, agreement, "X")
    sample = Sample.of(explanations, predictions if ask is None else ask(X), X, weights, agreement, clusters)
    given, (sample, bound) = sample, with_askers(sample, askers, by)._scoped_by(relation)
    how = Scoping(bound, confidence, method, unlabeled, allowed)
    if not isinstance(chosen, RealRows):
        refuse_unproven(method, "scopes")
        if allowed or bound is not None or unlabeled is not None:
            raise BadInput(
                "unseen=, relation= and unlabeled= say how real rows are compared with each other, and a draw "
                "belongs to one row: leave them out, or population=."
            )
        model = predictions if chosen.model is None else chosen.model

        on_draws = partial(_on_draws, population=chosen, ask=asking(model, agreement, "draws"), confidence=confidence)
        if by is not None:
            return measure_groups(sample, by, on_draws)
        return on_draws(sample if sample.askers is None else sample.take(np.flatnonzero(sample.askers)))
    if askers is not None or by is not None:
        refuse_unproven(method, "askers")
        return measure_asked(sample, by, how)
    found = measure_scoped(sample, how, named=(given, relation) if isinstance(relation, Alike) else None)
    if found.method != method:
        refuse_unproven(method, "scopes")
    return found


@dataclass(frozen=True)
class Scoping:
    """How explanations that say where they apply are measured.

    Attributes
    ----------
    relation : relation or None
        Which rows an explanation covers.
    method : str or None
        How the interval is made.
    further : rows or None
        Rows without predictions, of which one may lie under many explanations.
    unseen : bool
        Whether the interval allows for rows under many explanations that nobody has seen.
    elsewhere : bool
        Whether the sample is one group, and the further rows are of all groups.
    """

    relation: Any = None
    confidence: float = 0.95
    method: str | None = None
    further: Any = None
    unseen: bool = False
    elsewhere: bool = False
    measure: str = "sufficiency"


def measure_scoped(
    sample: Sample, how: Scoping, known: Coverage | None = None, named: tuple[Sample, Alike] | None = None
) -> Estimate:
    """The sufficiency or necessity of a sample, of which it may be `known` whom explanations cover.

    If its rules stand for importances, `named`, it is measured beside baselines that name other features.

    With weights, ``M̂_w = (1/W) Σ_π G_π · Σ_y (G_{πy} C_{πy} - V_{πy}) / (G_π C_π - V_π)``, where G is the weight of
    the rows that were given π and that it covers, V the sum of their squared weights, and C the weight of all rows that
    it covers; rows that their own explanation misses have no V. For rules that partition the rows this is weighted
    consistency.
    """
    recall = how.measure == NECESSITY
    counted, relation = scoped(sample, how.relation, how.measure)  # rows that count alike can be left out one by one
    how = replace(how, relation=relation, method="jackknife" if recall else how.method)
    bare = known or cover(counted, relation, ("recall",) if recall else ("share",))
    coverage = leaning_on(bare, counted, how)
    estimate = coverage_estimate(coverage, how.measure, how.confidence, how.method, how.unseen)
    remarks = () if recall else (*copy_notes(counted), *asked_notes(coverage))
    estimate = noted(estimate, (*counted.all_notes, *remarks))
    if recall or how.method != "jackknife":
        estimate = settled(estimate, counted, lambda part: measure_scoped(part, how))
    if named is None:
        return estimate
    like = estimate

    def left_out(coverage: Coverage, rules: Sample) -> LeftOutEstimate:
        """The same of rules of a baseline, and without each row or block of rows.

        Of an estimate whose interval is that of one draw of rows, nothing is known without each of them.
        """
        coverage = leaning_on(coverage, rules, how)
        found = coverage_estimate(coverage, "sufficiency", how.confidence, like.method, how.unseen)
        without = None if like.method == "kept rows" else sufficiency_left_out(coverage)
        missed = unseen_rows(coverage) if how.unseen else None
        return LeftOutEstimate("", found, without, rules.explanations, relation, unseen=missed)

    return beyond(estimate, bare, named[0], sample, named[1], left_out)


def beside_everybody(sample: Sample, how: Scoping, *, among: bool = False) -> Sides | None:
    """The sufficiency, or necessity, of the groups of ``sample.askers``, beside all rows.

    None if a judge was not asked about all pairs. By `Spread`, groups are measured `among` themselves too, against the
    variance of all rows.
    """
    (counted, relation), recall = scoped(sample, how.relation, how.measure), how.measure == NECESSITY
    how = replace(how, relation=relation, elsewhere=True)
    if relation.partial:
        return None
    wanted = ("recall",) if recall else ("share",)
    (tally,) = tallies(counted, [relation], wanted, groups=counted.askers, among=among)
    copies = () if recall else copy_notes(counted)
    notes = (*by_prediction_notes(counted), *counted.all_notes, *copies, *beside_notes(how.method))

    def measured(groups: Collection[int]) -> Side:
        coverage = leaning_on(tally.asking(groups), counted, how)
        found = coverage_estimate(coverage, how.measure, how.confidence, "jackknife", how.unseen)
        return Side.of(coverage, found, notes)

    own = None
    if isinstance(counted.agreement, Spread) and not among:
        own = beside_everybody(sample, replace(how, method=None), among=True)
    return Sides(notes, how.confidence, measured, own)


def measure_asked(sample: Sample, groups: Any, how: Scoping) -> Any:
    """The measure of each group of rows, beside everybody and among themselves; of the askers, if there are no groups.

    Raises if only some rows ask and a judge was not asked about all pairs.
    """

    def among(part: Sample) -> Estimate:
        found = measure_scoped(part, replace(how, elsewhere=True))
        return noted(found, made_otherwise(found, how.method))

    if groups is not None:
        return measure_groups(sample, groups, among, lambda rows: beside_everybody(rows, how))
    refuse_nobody(sample)
    beside = beside_everybody(sample, how)
    if beside is None:
        raise NotProven(
            f"{how.measure.capitalize()} beside everybody needs to know of every row whether an explanation applies to "
            "it, and the judge was asked about some pairs only: ask about all of them, fs.pairs_to_ask(explanations, "
            "per_explanation=None), or measure the rows of the group alone."
        )
    return beside.estimate(1)


def made_otherwise(estimate: Estimate, asked: str | None) -> tuple[str, ...]:
    """A note if the interval is not made by the method that was asked for."""
    if asked not in FOR_EQUALITY or estimate.method == asked:
        return ()
    return (f"the interval of {estimate.measure} is not proven: that of consistency is",)


def leaning_on(coverage: Coverage, sample: Sample, how: Scoping) -> Coverage:
    """Coverage that knows how much rows may lean on one of further rows, and how many of these the sample lacks.

    If the sample is one group of many, most further rows are from `elsewhere`: they show who lies under many
    explanations, but not how rare such rows are in this group.
    """
    if how.further is None or how.measure == NECESSITY:
        return coverage
    left_out, reach = coverage.left_out, reach_of(coverage, sample, how.relation, how.further)
    if left_out is not None:
        left_out = replace(left_out, reach=max(left_out.reach, reach))
    return replace(coverage, left_out=left_out, further=0 if how.elsewhere else new_rows(how.further, sample.X))


def asking(model: Any, agreement: Any, phase: str) -> Ask | None:
    """A function from rows to the predictions of a model, as the agreement compares them; None for ready predictions.

    Parameters
    ----------
    model : model, function, or ready predictions
    agreement : Agreement, callable or None
    phase : str
        What is predicted, for the note on an error of the model's own.
    """
    chosen = to_agreement(agreement)
    if isinstance(model, type):
        return None
    function = Model(model).find("numbers" if chosen.of_numbers else "labels")
    if function is None:
        return None
    if agreement is None and Model(model).kind == "regressor":
        raise BadInput(
            f"{Model(model).name} predicts numbers, which are seldom equal: pass agreement=fs.Close(eps) or "
            "fs.Tolerance(eps)."
        )

    def ask(rows: Any) -> Array:
        with noting(f"Raised while predicting {phase}, {rows_of(rows):,} at once."):
            answers = function(rows_of_its_own(rows))
        made_in_order(rows, answers, "predictions")
        labels = chosen.read(answers) if chosen.of_numbers else to_predictions(answers, part=phase != "X")
        same_length(rows=rows_of(rows), predictions=len(labels))
        return labels

    return ask


def _on_draws(sample: Sample, population: Population, ask: Ask | None, confidence: float) -> Estimate:
    """The sufficiency of a sample on draws, ``(1/n) Σ_i mean over the draws of row i of K(y_i, y')``.

    The interval is over rows, or clusters of rows: all draws of a row are one observation, however many there are.
    Of numbers, it is told how much lower those of draws are than those of rows, on average, with an interval.
    Chance is tested by the mean of ``v_i - c_i - b_i``, with c_i and b_i how much row i's prediction agrees with the
    draws of other rows, and its draws with their predictions: both move with the row.
    """
    refuse_spread(sample.agreement, "draws")
    counted, told = sample.counted().evenly(), []
    if isinstance(population, OwnDraws):
        population.check(sample.explanations)
        counts = count_draws(counted, _own_answers(population, counted, ask))
        if not population.covered.all():
            held = several(int((~population.covered).sum()), "draw is", "draws are")
            told = [f"{held} left out, of {len(population.of):,}, since their explanation does not apply to them"]
    elif ask is None:
        raise BadInput(
            f"{type(population).__name__} makes new rows, whose predictions must be asked for: pass the model, or its "
            "predict function, in place of predictions; or predict the rows of population.draw(explanations, X) and "
            "pass fs.drawn(explanations, rows, predictions, of=of)."
        )
    else:
        blocks = population._blocks(counted.explanations, counted.X)
        counts = count_draws(counted, ((draws.of, ask(draws.rows)) for draws in blocks if len(draws.of)))
    some = counts.others[counts.others > 0]
    fewest, most = (int(some.min()), int(some.max())) if len(some) else (0, 0)
    many = several(most, "draw", "draws") if fewest == most else f"{fewest:,} to {most:,} draws"
    told = [f"{many} per row: {population._sentence(of_words=isinstance(counted.explanations, Highlights))}", *told]
    if len(some) < counts.n:
        held = several(counts.n - len(some), "row has an explanation", "rows have an explanation")
        told.append(f"{held} that leaves no draw")
    units, checked = IndependentUnits.of(counted), 1 - counts.silent
    gained = np.where(checked > 0, counts.values - counts.by_chance - counts.by_others, 0.0)
    found = units.margins(counts.values, confidence, checked=checked, gained=gained)
    drop = dict[str, Any]()
    if counts.drop is not None and len(some):
        known = np.where(checked > 0, counts.drop, 0.0)
        part, whole = units.sums(known), units.sums(checked)
        drop["drop"], apart = float(part.sum() / whole.sum()), units.without_each(part, whole)
        if apart is not None:
            span = float(max(np.ptp(known), np.ptp(np.asarray(counts.labels, np.float64))))  # of a row nobody saw
            good, off = units.good * units.mean(checked), LeftOutDeviations(apart, apart)
            margin = margins(off, good, confidence, own=span, lean=0.0).below
            drop |= {"drop_low": drop["drop"] - margin, "drop_high": drop["drop"] + margin}
    return to_estimate(
        counts,
        Sums(*(float(units.weight @ column) for column in (counts.values, counts.silent, np.ones(counts.n)))),
        found if found.beyond is not None else replace(found, beyond=1.0),
        f"sufficiency on {population.what}",
        confidence,
        notes=(*counted.all_notes, *copy_notes(counted), *told),
        shuffled=False,
        chance=counts.chance,
        population=repr(population),
        **drop,
    )


def _own_answers(population: OwnDraws, sample: Sample, ask: Ask | None) -> Iterator[tuple[Ints, Array]]:
    """The row and the prediction of each draw of a caller's own; only those of rows that are measured."""
    place = np.full(len(population.explanations), -1)
    place[sample.places] = np.arange(sample.n)
    row = place[population.of]
    kept = np.flatnonzero(population.covered & (row >= 0))
    if population.predictions is None:
        if ask is None:
            raise BadInput(
                "These draws have no predictions: pass fs.drawn(explanations, rows, predictions), or the model in "
                "place of predictions."
            )
        if len(kept):
            yield row[kept], ask(take_rows(population.rows, kept))
    elif len(kept):
        numbers = sample.agreement.of_numbers
        read = sample.agreement.read if numbers else partial(to_predictions, part=True)
        yield row[kept], read(population.predictions)[kept]


@by_groups
@takes_log(FEWER)
def necessity(
    explanations: Any,
    predictions: Any = None,
    X: Any = None,
    *,
    relation: Any = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
    askers: Any = None,
    by: None = None,
) -> Any:
    """Probability that x's explanation applies to a row that gets x's prediction: the recall beside the precision.

    ``(1/n) Σ_i Σ_j K(i, j) C(i, j) / Σ_j K(i, j)`` over other rows j, where the explanation of row i covers row j if
    ``C(i, j) = 1`` and K is the agreement of their predictions. A rule for a single row is sufficient and hardly
    necessary; one that applies to everybody is necessary and hardly sufficient. Low necessity is no fault: a
    prediction may have several reasons. It is read beside sufficiency, and no verdict is made of it.

    Parameters
    ----------
    explanations : Explanations that say where they apply, or a Log of them
        As for `sufficiency`.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth), as for `consistency`.
    X : array-like or table, n rows
        The rows, or documents, to which explanations may apply.
    relation : Alike, Nearest, Ball, Judged or callable, optional
        As for `sufficiency`.
    confidence : float
        The confidence of the interval, a jackknife, which leaves out up to 100 blocks of rows.
    interval : None
        No interval of necessity is proven.
    unseen : bool
        As for `sufficiency`. Of labels it changes nothing, since no unseen row can change much; of numbers, it allows
        for unseen rows that agree with many.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        Weights may depend on the prediction.
    agreement : Close, Tolerance or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`.
    askers : array-like of bool, (n,), optional
        Which rows ask, as for `sufficiency`: of all rows with their predictions, how many do their explanations cover?
    by : array-like, (n,), or str or list of str, optional
        The group of each row, or columns of X by name, as for `sufficiency`.

    Returns
    -------
    Estimate, or Populations if `by` is given
        Rows whose prediction nobody else gets are `unverifiable`. `chance` is the share of *all* other rows that
        explanations cover, which is what one that has nothing to do with the prediction reaches.

    Examples
    --------
    >>> from faithscope import Rules
    >>> rules = Rules.from_conditions([[("age", "<=", 40.0)]] * 2 + [[("age", ">", 30.0)]] * 2, features=["age"])
    >>> necessity(rules, ["no", "no", "yes", "yes"], [[25.0], [31.0], [38.0], [45.0]]).value
    1.0
    """
    check_rows(X, relation)
    method, allowed = to_interval(interval, unseen)
    refuse_unproven(method, "scopes")
    sample = with_askers(Sample.of(explanations, predictions, X, weights, agreement, clusters), askers, by)
    sample, bound = sample._scoped_by(relation)
    how = Scoping(bound, confidence, unseen=allowed, measure=NECESSITY)
    asked = by is not None or askers is not None
    return measure_asked(sample, by, how) if asked else measure_scoped(sample, how)
