"""Decoders guess the prediction from the explanation alone (paper, section 2.1); how well they do is simulatability."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from faithscope.counting.counts import Counts, count_rows, to_counts
from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import check_whole
from faithscope.measures.estimate import few_rows_decide
from faithscope.measures.intervals.local import mean_share
from faithscope.measures.intervals.margins import IndependentUnits
from faithscope.measures.local import commonest_cells
from faithscope.measures.telling import Answer
from faithscope.notes import TOO_HIGH
from faithscope.readers import as_explanations
from faithscope.rounding import in_brackets
from faithscope.sample import Sample

_SAME_ROWS = (
    "these rows have the same explanations and predictions as those that the decoder learned from: if they are the "
    f"same rows, {TOO_HIGH}; decode rows that it has not seen"
)


@dataclass(frozen=True, repr=False, kw_only=True)
class Simulatability(Answer):
    """How well predictions of new rows are decoded from explanations alone: `GibbsDecoder.accuracy` gives it.

    It is what somebody could predict who has seen the learned rows, and knows the explanation of a new row but not the
    row itself. The interval is for all rows like the new ones, with the decoder as it is.

    Attributes
    ----------
    value : float
        Share of the new rows that are decoded rightly; the Gibbs decoder's is the expected share over its draws.
    low, high, confidence : float
        The interval, and its confidence.
    method : str
        How the interval was made: "exact" (Clopper and Pearson); "jackknife" for expected shares, weights and clusters.
    chance : float
        What the decoder reaches on the same rows without explanations: by the commonest of the labels that it learned,
        or by a draw from all rows that it learned.
    gain, gain_low, gain_high : float
        ``value - chance`` with its own interval, row by row.
    unseen : float
        Share of new rows whose explanation was never seen; they count as decoded wrongly.
    seen : float or None
        The accuracy among the other rows; None if there are none.
    n : int
        Number of new rows.
    decoder : str
        The decoder's class.
    notes : tuple of str
        What a reader should know before trusting the interval.

    Examples
    --------
    >>> import faithscope as fs
    >>> decoder = fs.OptimalDecoder().fit(["a", "a", "b", "b"], ["no", "no", "yes", "no"])
    >>> result = decoder.accuracy(["a", "b", "b", "c"], ["no", "no", "yes", "yes"])
    >>> result.value, result.chance, result.unseen
    (0.5, 0.5, 0.25)
    """

    method: str
    chance: float
    gain: float
    gain_low: float
    gain_high: float
    unseen: float
    seen: float | None
    decoder: str
    measure: str = "simulatability"

    def _sentences(self) -> Iterable[str]:
        told = "Explanations tell more of the predictions of new rows than a guess without them"
        if self.gain_high < 0:
            told = "Explanations tell less of the predictions of new rows than a guess without them"
        elif self.gain_low <= 0:
            told = "These rows do not show that explanations tell more than a guess without them"
        return [f"{told}: {self.value:.1%} against {self.chance:.1%}.", self._line]

    @property
    def _line(self) -> str:
        gain = f"{self.gain:+.3f} {in_brackets(self.gain_low, self.gain_high, signed=True)} over guessing"
        rows = f"n={self.n:,}, {self.unseen:.0%} unseen"
        return f"simulatability {self.value:.3f}, {self._ends}; {gain} ({self.chance:.2f}); {rows}"


@dataclass(frozen=True)
class Decoder(ABC):
    """The base of decoders: ``Decoder(estimate.counts)``, or ``Decoder().fit(explanations, predictions)``.

    Predictions must be labels, and counts unweighted. Explanations that were never seen decode to None.
    """

    counts: Counts = field(default_factory=Counts.zero)
    discretizer: Discretize | None = None

    def __post_init__(self) -> None:
        counts = self.counts
        if not isinstance(counts, Counts) or counts.n:
            counts = to_counts(counts, type(self).__name__)
        object.__setattr__(self, "counts", counts)
        if not counts.plain or counts.agreement.of_numbers:
            raise BadInput(
                "Decoders read labels of independent rows, and these are weighted, clustered or numbers: count them "
                "without; of numbers measure fs.consistency(agreement=fs.Spread())."
            )

    def fit(self, explanations: Any, predictions: Any) -> Self:
        """A new decoder that has learned from these rows."""
        sample, discretizer = Sample.of(explanations, predictions).settled(self.discretizer)
        return replace(self, counts=count_rows(sample.discretized(discretizer)), discretizer=discretizer)

    def predict(self, explanations: Any) -> Array:
        """The decoded label of each row, (n,) objects; None if its explanation was never seen."""
        wanted, counts = as_explanations(explanations), self.counts
        decoded = np.full(len(wanted), None, object)
        if counts.n and len(wanted):
            place = counts.explanations.locate(discretize(wanted, self.discretizer))
            cells = self._decode(place[place >= 0])
            decoded[place >= 0] = to_objects(list(counts.labels))[counts.label[cells]]
        return decoded

    def accuracy(
        self,
        explanations: Any,
        predictions: Any,
        *,
        confidence: float = 0.95,
        weights: Any = None,
        clusters: Any = None,
    ) -> Simulatability:
        """How well this decoder does on new rows: what somebody who knows the explanation alone could predict.

        The rows must not be those that it was fitted on; a note tells if they look like them. Explanations that were
        never seen count as decoded wrongly.

        Parameters
        ----------
        explanations : array-like, table or Explanations
            Of the new rows; the decoder's discretizer is applied.
        predictions : array-like, (n,)
            The model's predicted labels of the new rows.
        confidence : float
            The confidence of the intervals, which are for all rows like these.
        weights, clusters : array-like, (n,), optional
            How much each row counts, and which rows belong together, as for `consistency`.

        Returns
        -------
        Simulatability

        Examples
        --------
        >>> import faithscope as fs
        >>> decoder = fs.OptimalDecoder().fit(["old", "old", "young", "young"], ["yes", "yes", "no", "no"])
        >>> accuracy = decoder.accuracy(["old", "young", "old"], ["yes", "no", "no"])
        >>> round(accuracy.value, 2), round(accuracy.low, 2), round(accuracy.high, 2)
        (0.67, 0.09, 0.99)
        """
        self._check_rows()
        counts = self.counts
        sample = Sample.of(explanations, predictions, None, weights, None, clusters).counted().evenly()
        labels = sample.labels
        codes = counts.explanations.locate(discretize(sample.explanations, self.discretizer))
        units, cells = IndependentUnits.of(sample), counts.locate_cells(codes, labels)
        rows, none = counts.per_label, np.zeros(len(counts.labels), np.int64)
        alike = Counts(Plain([""]), counts.labels, none, np.arange(len(none)), rows, rows, none)  # no explanations
        known = alike.locate_cells(np.zeros_like(codes), labels)
        agreeing, guessed = self._agreeing(cells), replace(self, counts=alike, discretizer=None)._agreeing(known)
        unseen, strange = (units.mean((each < 0).astype(np.float64)) for each in (codes, known))
        chance, gain = units.mean(guessed), units.mean(agreeing - guessed)
        share, exact = mean_share(agreeing, units, confidence, exact=self._one_answer)
        paired = units.margins(agreeing - guessed, confidence, span=2.0)
        notes = list(sample.all_notes)
        if np.array_equal(np.bincount(cells + 1, minlength=len(counts.given) + 1), [0, *counts.given]):
            notes.append(_SAME_ROWS)
        if strange:
            label = labels[known < 0].tolist()[0]
            notes.append(f"{strange:.1%} of rows are predicted a label that was never learned, such as {label!r}")
        if not exact:
            notes += few_rows_decide(units.margins(agreeing, confidence))
        return Simulatability(
            **share._asdict(),
            confidence=float(confidence),
            method="exact" if exact else "jackknife",
            chance=chance,
            gain=gain,
            gain_low=max(-1.0, gain - paired.below),
            gain_high=min(1.0, gain + paired.above),
            unseen=unseen,
            seen=min(1.0, share.value / (1 - unseen)) if (codes >= 0).any() else None,
            n=sample.n,
            decoder=type(self).__name__,
            notes=tuple(dict.fromkeys(notes)),
        )

    _one_answer: ClassVar[bool]  # whether an explanation is always decoded alike

    @property
    @abstractmethod
    def _votes(self) -> Floats:
        """How often each cell's explanation is expected to be decoded to the cell's label, from 0 to 1."""

    @abstractmethod
    def _decode(self, explanation: Ints) -> Ints:
        """The cell of what each explanation decodes to."""

    def _agreeing(self, cells: Ints) -> Floats:
        """How often what is decoded is expected to be the label of each cell, from 0 to 1; never, if there is none."""
        return np.where(cells < 0, 0.0, self._votes[cells])

    @property
    def error(self) -> float:
        """Share of the sample's own rows decoded wrongly."""
        self._check_rows()
        return float(1 - self.counts.given @ self._votes / self.counts.n)

    def _check_rows(self) -> None:
        if self.counts.n == 0:
            raise BadInput("This decoder has seen no rows: fit it, or build it from counts.")


@dataclass(frozen=True)
class GibbsDecoder(Decoder):
    """Draws a label as often as the explanation was seen with it; `seed` and the order of rows determine the draws.

    Consistency is its accuracy: ``m = 1 - E_G``, in the sample ``E_G = 1 - Σ n_{πy}² / (n N_π)``.

    Examples
    --------
    >>> decoder = GibbsDecoder().fit(["a", "a", "b"], [0, 1, 1])
    >>> round(decoder.error, 3)
    0.333
    >>> decoder.predict(["b", "c"]).tolist()
    [1, None]
    """

    seed: int = 0

    _one_answer = False

    @property
    def _votes(self) -> Floats:
        return np.asarray(self.counts.given / self.counts.rows_given[self.counts.explanation])

    def _decode(self, explanation: Ints) -> Ints:
        given, first = self.counts.given, np.searchsorted(self.counts.explanation, explanation)
        drawn = np.random.default_rng(check_whole(self.seed, "seed", 0)).random(len(explanation))
        drawn, upto = np.floor(drawn * self.counts.rows_given[explanation]).astype(np.int64), np.cumsum(given)
        return np.searchsorted(upto, upto[first] - given[first] + drawn, side="right")


@dataclass(frozen=True)
class OptimalDecoder(Decoder):
    """Answers the label that was seen most often with the explanation; of several such labels, the first in order.

    Its error, in the sample ``E_O = 1 - Σ_π max_y n_{πy} / n``, relates to the Gibbs decoder's by ``E_O ≤ E_G ≤ 2 E_O``
    (the paper's Claim 1).

    Examples
    --------
    >>> OptimalDecoder().fit(["a", "a", "a", "b"], [0, 0, 1, 1]).error
    0.25
    """

    _one_answer = True

    @property
    def _votes(self) -> Floats:
        return np.bincount(commonest_cells(self.counts), minlength=len(self.counts.given)).astype(np.float64)

    def _decode(self, explanation: Ints) -> Ints:
        return commonest_cells(self.counts)[explanation]
