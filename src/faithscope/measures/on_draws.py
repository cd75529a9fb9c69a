"""Sufficiency on a population of draws: is a row's prediction that of the inputs drawn given its explanation?"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement, Spread, to_agreement
from faithscope.counting.drawn import DrawnCounts, count_draws
from faithscope.errors import BadInput, NotProven
from faithscope.explanations.base import several
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.alignment import made_in_order
from faithscope.inputs.asking import noting, rows_of_its_own
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_predictions
from faithscope.inputs.models import label_function, number_function
from faithscope.inputs.regressors import regressor_name
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.measures.estimate import FEW, Estimate, few_rows_decide
from faithscope.measures.intervals.margins import Margins, check_confidence
from faithscope.measures.intervals.means import IndependentUnits
from faithscope.measures.notes.labels import label_notes
from faithscope.measures.notes.restatement import copy_notes
from faithscope.populations import OwnDraws, Population
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Ask = Callable[[Any], NDArray[Any]]


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
    function = number_function(model) if chosen.of_numbers else label_function(model)
    if function is None:
        return None
    regressor = None if agreement is not None else regressor_name(model)
    if regressor is not None:
        raise BadInput(
            f"{regressor} predicts numbers, which are seldom equal: pass agreement=fs.Close(eps) or fs.Tolerance(eps)."
        )

    def ask(rows: Any) -> NDArray[Any]:
        with noting(f"Raised while predicting {phase}, {rows_of(rows):,} at once."):
            answers = function(rows_of_its_own(rows))
        made_in_order(rows, answers, "predictions")
        labels = chosen.read(answers) if chosen.of_numbers else to_predictions(answers, part=phase != "X")
        same_length(rows=rows_of(rows), predictions=len(labels))
        return labels

    return ask


def measure_on_draws(sample: Sample, population: Population, ask: Ask | None, confidence: float) -> Estimate:
    """The sufficiency of a sample on draws, ``(1/n) Σ_i mean over the draws of row i of K(y_i, y')``.

    The interval is over rows, or clusters of rows: all draws of a row are one observation, however many there are.
    """
    _refuse_spread(sample.agreement)
    counted = sample.counted().evenly()
    own = population if isinstance(population, OwnDraws) else None
    if own is not None:
        own.check(sample.explanations)
        answers = _own_answers(own, counted, ask)
    elif ask is None:
        raise BadInput(
            f"{type(population).__name__} makes new rows, whose predictions must be asked for: pass the model, or its "
            "predict function, in place of predictions; or predict the rows of population.draw(explanations, X) and "
            "pass fs.drawn(explanations, rows, predictions, of=of)."
        )
    else:
        answers = _asked(population, counted, ask)
    counts = count_draws(counted, answers)
    told = (_told(population, counts, counted), *_left_out(own), *_silent(counts))
    notes = (*counted.explanations.notes, *counted.notes, *copy_notes(counted), *told)
    return draws_estimate(counts, IndependentUnits.of(counted), population, confidence, notes)


def _refuse_spread(agreement: Agreement) -> None:
    if isinstance(agreement, Spread):
        raise NotProven(
            "Spread compares with the variance of the rows, which draws do not share: on draws, pass "
            "agreement=fs.Close(eps) or fs.Tolerance(eps)."
        )


def _asked(population: Population, sample: Sample, ask: Ask) -> Iterator[tuple[Ints, NDArray[Any]]]:
    """The row and the prediction of each draw, block by block."""
    for draws in population._blocks(sample.explanations, sample.X):
        if len(draws.of):
            yield draws.of, ask(draws.rows)


def _own_answers(population: OwnDraws, sample: Sample, ask: Ask | None) -> Iterator[tuple[Ints, NDArray[Any]]]:
    """The row and the prediction of each draw of a caller's own; only those of rows that are measured."""
    kept = population.covered
    of, rows = population.of, population.rows
    if population.predictions is None:
        if ask is None:
            raise BadInput(
                "These draws have no predictions: pass fs.drawn(explanations, rows, predictions), or the model in "
                "place of predictions."
            )
        labels = ask(rows) if kept.all() else None
        if labels is None and kept.any():
            labels, of, kept = ask(take_rows(rows, np.flatnonzero(kept))), of[kept], np.ones(int(kept.sum()), bool)
    elif sample.agreement.of_numbers:
        labels = sample.agreement.read(population.predictions)
    else:
        labels = to_predictions(population.predictions, part=True)
    if labels is None or not kept.any():
        return
    same_length(draws=len(of), predictions=len(labels))
    positions = np.arange(sample.n) if sample.positions is None else sample.positions
    place = np.full(len(population.explanations), -1)
    place[positions] = np.arange(sample.n)
    kept = kept & (place[of] >= 0)
    if kept.any():
        yield place[of[kept]], labels[kept]


def draws_estimate(
    counts: DrawnCounts, units: IndependentUnits, population: Population, confidence: float, notes: tuple[str, ...]
) -> Estimate:
    """An estimate from counted draws."""
    margins = draw_margins(units, counts.values, counts.silent, confidence)
    value, silent = units.mean(counts.values), units.mean(counts.silent)
    checked = units.sums(1 - counts.silent).sum()
    verified = min(1.0, float(units.sums(counts.values).sum() / checked)) if checked > 0 else None
    chance = counts.chance
    low, high, above = _against_chance(counts, units, verified, chance, margins, confidence)
    few = (few_rows_decide(margins),) if margins.degrees_of_freedom < FEW - 1e-9 and silent < 1 else ()
    labels = () if counts.agreement.of_numbers else label_notes(counts.labels, counts.n)
    drop, drop_low, drop_high = _drop(counts, units, confidence)
    return Estimate(
        measure=f"sufficiency on {population.what}",
        value=value,
        low=max(0.0, value - margins.below),
        high=min(1.0, value + silent + margins.above),
        confidence=float(confidence),
        method="jackknife",
        unverifiable=silent,
        verified=verified,
        chance=chance,
        n=counts.n,
        distinct=counts.distinct,
        effective_n=counts.effective_n,
        margins=margins,
        counts=counts,
        notes=(*notes, *labels, *few),
        verified_low=low,
        verified_high=high,
        above_chance=above,
        clusters=None if counts.clusters is None else counts.clusters.clusters,
        agreement=counts.agreement,
        population=repr(population),
        drop=drop,
        drop_low=drop_low,
        drop_high=drop_high,
    )


def draw_margins(units: IndependentUnits, values: Floats, silent: Floats, confidence: float) -> Margins:
    """Margins of means over rows: Student's t of the jackknife, never less than ``ln(2/δ) max w / Σ w``.

    A row changes nothing but its own term, so a kind of row that the sample missed, which has a probability of at most
    ln(2/δ)/n, moves the mean by no more than that; it is the rule of three's case if all draws agree.
    """
    wrong = check_confidence(confidence) / 2
    known = [units.without_each(units.sums(column), units.mass) for column in (values, values + silent)]
    if any(deviations is None for deviations in known):
        return Margins(1.0, 1.0)
    least = units.least(wrong)
    spreads = [deviations.margin(wrong) for deviations in known if deviations is not None]
    below, above = (max(margin, least) for margin, _ in spreads)
    freedom = min((freedom for margin, freedom in spreads if margin > least), default=math.inf)
    share = 1 - units.mean(silent)
    ratio = units.without_each(units.sums(values), units.sums(1 - silent)) if share > 0 else None
    verified = 1.0 if ratio is None else min(1.0, max(ratio.margin(wrong)[0], least / share))
    single = max(known[0].one_sided(wrong) if known[0] is not None else 0.0, least)
    again = partial(draw_margins, units, values, silent)
    return Margins(below, above, freedom, verified, again=again, one_sided=single)


def _against_chance(
    counts: DrawnCounts,
    units: IndependentUnits,
    verified: float | None,
    chance: float | None,
    margins: Margins,
    confidence: float,
) -> tuple[float | None, float | None, bool | None]:
    """(verified_low, verified_high, above_chance); the interval never contradicts the test.

    The test is of the mean of ``v_i - c_i - b_i``, with c_i and b_i how much row i's prediction agrees with the draws
    of other rows, and its draws with their predictions: both move with the row.
    """
    if verified is None:
        return None, None, None
    low, high = max(0.0, verified - margins.verified), min(1.0, verified + margins.verified)
    if chance is None or chance >= 1:
        return low, high, None
    wrong, checked = check_confidence(confidence) / 2, 1 - counts.silent
    gained = np.where(checked > 0, counts.values - counts.by_chance - counts.by_others, 0.0)
    known = units.without_each(units.sums(gained * checked), units.sums(checked))
    margin = 1.0 if known is None else max(known.margin(wrong)[0], units.least(wrong) / units.mean(checked))
    above = verified - chance > margin
    return max(low, chance) if above else min(low, chance), high, above


def _drop(
    counts: DrawnCounts, units: IndependentUnits, confidence: float
) -> tuple[float | None, float | None, float | None]:
    """How much lower the numbers of draws are on average, with its interval; None for labels, or without draws."""
    if counts.drop is None or not counts.others.any():
        return None, None, None
    checked = 1 - counts.silent
    known = np.where(checked > 0, counts.drop, 0.0)
    drop = float(units.sums(known).sum() / units.sums(checked).sum())
    deviations = units.without_each(units.sums(known), units.sums(checked))
    wrong = check_confidence(confidence) / 2
    span = float(max(np.ptp(known), np.ptp(np.asarray(counts.labels, np.float64))))  # of a row that was not seen
    if deviations is None:
        return drop, None, None
    margin = max(deviations.margin(wrong)[0], span * units.least(wrong) / units.mean(checked))
    return drop, drop - margin, drop + margin


def _told(population: Population, counts: DrawnCounts, sample: Sample) -> str:
    """How many draws there are, and of what."""
    known = counts.others[counts.others > 0]
    fewest, most = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    many = several(most, "draw", "draws") if fewest == most else f"{fewest:,} to {most:,} draws"
    return f"{many} per row: {population._sentence(of_words=isinstance(sample.explanations, Highlights))}"


def _silent(counts: DrawnCounts) -> tuple[str, ...]:
    rows = int((counts.others == 0).sum())
    held = several(rows, "row has an explanation", "rows have an explanation")
    return (f"{held} that leaves no draw",) if rows else ()


def _left_out(own: OwnDraws | None) -> tuple[str, ...]:
    outside = 0 if own is None else int((~own.covered).sum())
    if own is None or not outside:
        return ()
    told = several(outside, "draw is", "draws are")
    return (f"{told} left out, of {len(own.of):,}, since their explanation does not apply to them",)
