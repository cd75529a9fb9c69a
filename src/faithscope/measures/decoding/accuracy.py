"""The accuracy of a decoder on new rows, with its interval and beside what it reaches without explanations."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Same, Spread, Tolerance
from faithscope.counting.counts import Counts
from faithscope.counting.leaving_out.leave_out import LeftOut
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.labels import families_of
from faithscope.measures.decoding.decoded_rows import DecodedRows
from faithscope.measures.decoding.simulatability import Simulatability
from faithscope.measures.estimate import FEW, few_rows_decide
from faithscope.measures.intervals.local import clopper_pearson
from faithscope.measures.intervals.margins import Margins, check_confidence
from faithscope.measures.intervals.means import IndependentUnits
from faithscope.measures.numbers.spread import SpreadDeviations, spread_margins
from faithscope.sample import Sample

if TYPE_CHECKING:
    from faithscope.measures.decoding.decoders import Decoder

Floats = NDArray[np.float64]

_WRONG = 4.0  # the mean squared error of predictions that are decoded as wrongly as can be, by their variance


def measure_accuracy(decoder: "Decoder", sample: Sample, confidence: float) -> Simulatability:
    """How well a decoder does on new rows."""
    check_confidence(confidence)
    _refuse_other_predictions(decoder.counts, sample.labels)
    sample = sample.counted().evenly()
    rows = DecodedRows.of(decoder, sample)
    measured = _share_of_variance(rows, confidence) if _by_spread(decoder) else _mean_agreement(rows, confidence)
    told = (*sample.explanations.notes, *sample.notes, *rows.notes(), *measured.notes)
    return replace(measured, notes=tuple(dict.fromkeys(told)))


def _by_spread(decoder: "Decoder") -> bool:
    return isinstance(decoder.counts.agreement, Spread)


def _mean_agreement(rows: DecodedRows, confidence: float) -> Simulatability:
    """The mean agreement, from 0 to 1, and how much higher it is than without explanations."""
    units, agreeing, guessed = IndependentUnits.of(rows.sample), rows.agreeing(), rows.guessed()
    value, gain = units.mean(agreeing), units.mean(agreeing - guessed)
    margins = units.margins(agreeing, confidence)
    low, high, method = value - margins.below, value + margins.above, "jackknife"
    if _are_trials(rows):
        hits, trials = np.array([round(float(agreeing.sum()))]), np.array([rows.sample.n])
        low, high = (float(end[0]) for end in clopper_pearson(hits, trials, confidence))
        method, margins = "exact", Margins(0.0, 0.0)
    paired = units.margins(agreeing - guessed, confidence, span=2.0)
    unseen = units.mean((~rows.seen).astype(np.float64))
    return Simulatability(
        value=value,
        low=max(0.0, low),
        high=min(1.0, high),
        confidence=float(confidence),
        method=method,
        chance=units.mean(guessed),
        gain=gain,
        gain_low=max(-1.0, gain - paired.below),
        gain_high=min(1.0, gain + paired.above),
        unseen=unseen,
        seen=min(1.0, value / (1 - unseen)) if rows.seen.any() else None,
        n=rows.sample.n,
        decoder=type(rows.decoder).__name__,
        agreement=rows.sample.agreement,
        notes=_few(margins),
    )


def _are_trials(rows: DecodedRows) -> bool:
    """Whether rows are independent, count alike, and are decoded rightly or wrongly, with nothing between."""
    plain = rows.sample.weights is None and rows.sample.clusters is None
    return plain and not rows.decoder._draws and isinstance(rows.sample.agreement, Same | Tolerance)


def _share_of_variance(rows: DecodedRows, confidence: float) -> Simulatability:
    """The R² on new rows, and how much higher it is than without explanations."""
    units, seen, each = IndependentUnits.of(rows.sample), rows.seen, rows.errors()
    errors, guessed, whole = map(units.sums, each)
    _refuse_few(units, whole)
    value, gain = 1 - float(errors.sum() / whole.sum()), float((guessed - errors).sum() / whole.sum())
    margins, paired = (_spread_margins(units, part, whole, confidence) for part in (whole - errors, guessed - errors))
    decoded, among = (float(units.weight[seen] @ column[seen]) for column in (each[0], each[2]))
    return Simulatability(
        value=value,
        low=value - margins.below,
        high=min(1.0, value + margins.above),
        confidence=float(confidence),
        method="jackknife",
        chance=1 - float(guessed.sum() / whole.sum()),
        gain=gain,
        gain_low=gain - paired.below,
        gain_high=gain + paired.above if rows.decoder._draws else min(1.0, gain + paired.above),  # chance is 0 there
        unseen=units.mean((~seen).astype(np.float64)),
        seen=1 - decoded / among if among > 0 else None,
        n=rows.sample.n,
        decoder=type(rows.decoder).__name__,
        agreement=rows.sample.agreement,
        notes=_few(margins),
    )


def _refuse_few(units: IndependentUnits, whole: Floats) -> None:
    if units.without_each(whole, whole) is None:
        rows = "rows" if units.clusters is None else "clusters"
        raise BadInput(
            f"An R² of new rows takes at least 2 {rows} whose predictions differ from the mean of the learned ones: "
            "pass more rows, or fit the decoder by Close(eps)."
        )


def _spread_margins(units: IndependentUnits, part: Floats, whole: Floats, confidence: float) -> Margins:
    """Margins of a share of variance, never less than ``4 ln(2/δ) max w / Σ w``.

    A kind of row that the sample missed has a probability of at most ``ln(2/δ) / n``. If its predictions vary like the
    others by T, and what is decoded by A <= T, its mean squared error is at most ``(√T + √A)² <= 4 T``, whatever is
    decoded to what.
    """
    known, none = units.without_each(part, whole), np.zeros(1)
    value, as_good_as = float(part.sum() / whole.sum()), float(units.mass.sum() / units.mass.max())
    both = None if known is None else SpreadDeviations(known, known, known)
    return spread_margins(value, both, LeftOut(none, none, reach=_WRONG - 1), as_good_as, confidence)


def _few(margins: Margins) -> tuple[str, ...]:
    return (few_rows_decide(margins),) if margins.degrees_of_freedom < FEW - 1e-9 else ()


def _refuse_other_predictions(counts: Counts, labels: NDArray[Any]) -> None:
    """Raise if predictions are of another type than the learned ones, so that none could be decoded."""
    if counts.agreement.of_numbers:
        learned = np.asarray(counts.labels, np.float64).shape[1:]
        if learned != labels.shape[1:]:
            before, now = (shape[0] if shape else 1 for shape in (learned, labels.shape[1:]))
            raise BadInput(f"The decoder learned predictions of {before} columns, and these have {now}: pass as many.")
        return
    before, now = (families_of(names) for names in (counts.labels, set(labels.tolist())))
    if not before & now:
        learned_label, label = next(iter(counts.labels)), labels.tolist()[0]
        raise WrongType(
            f"The decoder learned labels such as {learned_label!r}, and these predictions are such as {label!r}, of "
            "another type: pass predictions of the type that it was fitted on."
        )
