"""How well what is decoded from explanations agrees with the predictions of new rows, row by row."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from faithscope.agreements import GroupedRows, scaled
from faithscope.counting.counts import Counts
from faithscope.discretizers import discretize
from faithscope.explanations.keys import Plain
from faithscope.inputs.repeats import TOO_HIGH
from faithscope.measures.intervals.means import IndependentUnits
from faithscope.measures.numbers.groups import NumberGroups, distinct_values
from faithscope.sample import Sample

if TYPE_CHECKING:
    from faithscope.measures.decoding.decoders import Decoder

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ACCIDENT = 0.25  # a probability above which equal counts may well be an accident
_SAME_ROWS = (
    "these rows have the same explanations and predictions as those that the decoder learned from: if they are the "
    f"same rows, {TOO_HIGH}; decode rows that it has not seen"
)


@dataclass(frozen=True, eq=False)
class DecodedRows:
    """New rows as a decoder sees them.

    Attributes
    ----------
    codes : (n,) array
        The explanation of each row among the learned ones; -1 if it was never seen.
    decoder, guess : Decoder
        The decoder, and what it would be without explanations.
    """

    sample: Sample
    decoder: "Decoder"
    guess: "Decoder"
    codes: Ints

    @classmethod
    def of(cls, decoder: "Decoder", sample: Sample) -> "DecodedRows":
        """The rows of a sample."""
        counts = decoder.counts
        codes = counts.explanations.locate(discretize(sample.explanations, decoder.discretizer))
        return cls(sample, decoder, replace(decoder, counts=without_explanations(counts), discretizer=None), codes)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Whether each row's explanation was among the learned ones."""
        return self.codes >= 0

    def agreeing(self) -> Floats:
        """How much what is decoded agrees with each prediction; 0 if the explanation was never seen."""
        agreeing, rows = np.zeros(self.sample.n), np.flatnonzero(self.seen)
        if len(rows):
            agreeing[rows] = self.decoder._agreeing(self.codes[rows], self.sample.labels[rows])
        return agreeing

    def guessed(self) -> Floats:
        """The same without explanations."""
        return self.guess._agreeing(np.zeros(self.sample.n, np.int64), self.sample.labels)

    def errors(self) -> tuple[Floats, Floats, Floats]:
        """Squared errors with explanations, if they were seen; without any; and of the mean of the learned rows.

        All are in units of their own, so that no square is too large.
        """
        counts, labels, drawn = self.decoder.counts, self.sample.labels, self.decoder._draws
        unit = scaled(np.concatenate([np.asarray(counts.labels, np.float64), labels]))[1]
        everything, rows = np.zeros(self.sample.n, np.int64), np.flatnonzero(self.seen)
        around = squared_errors(self.guess.counts, everything, labels, unit, drawn=False)
        guessed = squared_errors(self.guess.counts, everything, labels, unit, drawn=drawn)
        errors = guessed.copy()
        errors[rows] = squared_errors(counts, self.codes[rows], labels[rows], unit, drawn=drawn)
        return errors, guessed, around

    def notes(self) -> tuple[str, ...]:
        """What a reader should know: rows that were learned, and labels that were not."""
        counts, labels = self.decoder.counts, self.sample.labels
        cells = counts.locate_codes(self.codes, labels)[1] if labels.ndim == 1 else np.array([-1])
        notes = (_SAME_ROWS,) if _are_learned(counts, cells) else ()
        if counts.agreement.of_numbers:
            return notes
        known = self.guess.counts.locate_codes(np.zeros(self.sample.n, np.int64), labels)[1] >= 0
        if known.all():
            return notes
        weight = IndependentUnits.of(self.sample)
        label = labels[~known].tolist()[0]
        share = f"{weight.mean((~known).astype(np.float64)):.1%} of rows are predicted a label that was never learned"
        return (*notes, f"{share}, such as {label!r}, which cannot be decoded")


def _are_learned(counts: Counts, cells: Ints) -> bool:
    """Whether new rows fill the cells just as the learned rows do, which as many other rows would not by accident."""
    if len(cells) != counts.n or (cells < 0).any():
        return False
    if (np.bincount(cells, minlength=len(counts.given)) != counts.given).any():
        return False
    rows = counts.given.astype(np.float64)
    n = float(counts.n)  # the probability that n draws in these proportions fill the cells in just these numbers
    return bool(gammaln(n + 1) + np.sum(xlogy(rows, rows / n) - gammaln(rows + 1)) < math.log(_ACCIDENT))


def without_explanations(counts: Counts) -> Counts:
    """The same rows as if all of them had one explanation: what a decoder knows without any."""
    rows, none = counts.per_label, np.zeros(len(counts.labels), np.int64)
    everything = Plain([""])
    return Counts(everything, counts.labels, none, np.arange(len(none)), rows, rows, none, agreement=counts.agreement)


def agreement_of_draws(counts: Counts, codes: Ints, labels: NDArray[Any]) -> Floats:
    """The expected agreement of each prediction with that of a learned row with its explanation, drawn at random.

    Parameters
    ----------
    codes : (n,) array
        The explanation of each new row, by its number in the counts.
    labels : (n,) array
        The predictions of the new rows.
    """
    given = counts.rows_given[codes]
    if not counts.agreement.of_numbers:
        cells = counts.locate_codes(codes, labels)[1]
        return np.asarray(np.where(cells < 0, 0, counts.given[cells]) / given)
    values, place = distinct_values(np.concatenate([np.asarray(counts.labels, np.float64), labels]))
    learned, new = place[: len(counts.labels)], place[len(counts.labels) :]
    rows = GroupedRows(counts.explanation, learned[counts.label], counts.given.astype(np.float64))
    return np.clip(counts.agreement.over(values).at(rows, codes, new) / given, 0.0, 1.0)  # not outside by rounding


def squared_errors(counts: Counts, codes: Ints, labels: NDArray[Any], unit: float, *, drawn: bool) -> Floats:
    """Squared distances of predictions from the mean of their explanation's learned rows, in squares of the unit.

    Parameters
    ----------
    drawn : bool
        Whether a learned row is drawn instead: this adds the variance of the learned rows about their mean.
    """
    groups = NumberGroups.of_counts(counts)
    mean = groups.mean[codes]
    apart = labels.reshape(mean.shape) / unit - mean / unit
    errors = (apart**2).sum(axis=1)
    if drawn:
        errors = errors + (groups.squares * (groups.unit / unit) ** 2 / groups.n)[codes]
    return np.asarray(errors)
