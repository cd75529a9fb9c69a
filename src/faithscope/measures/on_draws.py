"""Sufficiency on a population of draws: is a row's prediction that of the inputs drawn given its explanation?"""

from collections.abc import Callable, Iterator
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
from faithscope.measures.draws_estimate import draws_estimate
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals.means import IndependentUnits
from faithscope.measures.notes.restatement import copy_notes
from faithscope.populations import OwnDraws, Population
from faithscope.sample import Sample

Ints = NDArray[np.int64]
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
