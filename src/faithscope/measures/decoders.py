"""Decoders guess the prediction from the explanation alone (paper, section 2.1); how well they do is simulatability."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import gammaln, xlogy

from faithscope.counting.counts import Counts, count_rows, to_counts
from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.inputs.labels import families_of
from faithscope.measures.estimate import agreement, few_rows_decide
from faithscope.measures.intervals.local import exact_share
from faithscope.measures.intervals.margins import IndependentUnits, check_confidence
from faithscope.measures.local import commonest_cells
from faithscope.measures.numbers.groups import NumberGroups, squared
from faithscope.notes import TOO_HIGH, Notes
from faithscope.readers import as_explanations
from faithscope.rounding import down, in_brackets, up
from faithscope.sample import Sample
from faithscope.sinks.card import Table
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable

if TYPE_CHECKING:
    import pandas as pd


_ACCIDENT = 0.25  # a probability above which equal counts may well be an accident
_SAME_ROWS = (
    "these rows have the same explanations and predictions as those that the decoder learned from: if they are the "
    f"same rows, {TOO_HIGH}; decode rows that it has not seen"
)


@dataclass(frozen=True, repr=False)
class Simulatability(Shareable):
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

    value: float
    low: float
    high: float
    confidence: float
    method: str
    chance: float
    gain: float
    gain_low: float
    gain_high: float
    unseen: float
    seen: float | None
    n: int
    decoder: str
    notes: Notes = ()

    @property
    def interval(self) -> tuple[float, float]:
        """The interval for the true accuracy, (low, high)."""
        return self.low, self.high

    _title = "simulatability"

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return {"measure": self._title, **super().to_dict()}

    def table(self) -> "pd.DataFrame":
        """One line of numbers."""
        return frame({name: [value] for name, value in super().to_dict().items() if name != "notes"})

    def plot(self) -> Any:
        """The accuracy with its interval beside chance, as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([(self.decoder, self.to_dict())])

    def _sentences(self) -> Iterable[str]:
        told = "Explanations tell more of the predictions of new rows than a guess without them"
        if self.gain_high < 0:
            told = "Explanations tell less of the predictions of new rows than a guess without them"
        elif self.gain_low <= 0:
            told = "These rows do not show that explanations tell more than a guess without them"
        return [f"{told}: {self.value:.1%} against {self.chance:.1%}."]

    def _tables(self) -> Iterable[Table]:
        columns = {
            "decoder": self.decoder,
            "accuracy": f"{self.value:.3f}",
            "interval": f"{down(self.low)} to {up(self.high)}",
            "without explanations": f"{self.chance:.3f}",
            "gain": f"{self.gain:.3f}",
            "interval of the gain": f"{down(self.gain_low)} to {up(self.gain_high)}",
            "unseen": f"{self.unseen:.1%}",
        }
        caption = f"{self.n:,} new rows, {100 * self.confidence:g}% intervals"
        return [Table(tuple(columns), (tuple(columns.values()),), caption=caption)]

    def __str__(self) -> str:
        ends = f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"
        gain = f"{self.gain:+.3f} {in_brackets(self.gain_low, self.gain_high, signed=True)} over guessing"
        rows = f"n={self.n:,}, {self.unseen:.0%} unseen"
        return in_lines(f"simulatability {self.value:.3f}, {ends}; {gain} ({self.chance:.2f}); {rows}", self.notes)


@dataclass(frozen=True)
class Decoder(ABC):
    """The base of decoders: ``Decoder(estimate.counts)``, or ``Decoder().fit(explanations, predictions)``.

    Counts must be unweighted. Explanations that were never seen decode to None; numbers, to NaN.
    """

    counts: Counts = field(default_factory=Counts.zero)
    discretizer: Discretize | None = None

    _decoded: ClassVar[Literal["draw", "mean"]]  # of numbers: one of the explanation's rows, or their mean

    def __post_init__(self) -> None:
        counts = self.counts
        if not isinstance(counts, Counts) or counts.n:
            counts = to_counts(counts, type(self).__name__)
        object.__setattr__(self, "counts", counts)
        if not counts.plain:
            raise BadInput(
                "Decoders read counts of independent rows, and these are weighted or clustered: count them without."
            )

    def fit(self, explanations: Any, predictions: Any, *, agreement: Any = None) -> Self:
        """A new decoder that has learned from these rows.

        Parameters
        ----------
        agreement : Spread, Close, Tolerance or callable, optional
            Any of them if predictions are numbers; by default they are labels.
        """
        sample, discretizer = Sample.of(explanations, predictions, agreement=agreement).settled(self.discretizer)
        return replace(self, counts=count_rows(sample.discretized(discretizer)), discretizer=discretizer)

    def predict(self, explanations: Any) -> Array:
        """The decoded prediction of each row; None, or NaN for numbers, if its explanation was never seen.

        Returns
        -------
        (n,) array of objects; of numbers (n,) floats, or (n, k) for vectors
        """
        wanted, labels = as_explanations(explanations), self.counts.labels
        names = np.asarray(labels, np.float64) if self.counts.agreement.of_numbers else to_objects(list(labels))
        decoded = np.full((len(wanted), *names.shape[1:]), None if names.dtype == object else np.nan, names.dtype)
        if self.counts.n == 0 or len(wanted) == 0:
            return decoded
        place = self.counts.explanations.locate(discretize(wanted, self.discretizer))
        seen = np.flatnonzero(place >= 0)
        decoded[seen] = self._decode(place[seen], names)
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
        never seen count as decoded wrongly. Predictions must be labels.

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
        check_confidence(confidence)
        counts = self.counts
        if counts.agreement.of_numbers:
            raise BadInput(
                "Simulatability is of labels, and this decoder learned numbers: fs.consistency(explanations, "
                "predictions, agreement=fs.Spread()) of the new rows tells how much of their variance they tell."
            )
        sample = Sample.of(explanations, predictions, None, weights, None, clusters).counted().evenly()
        labels = sample.labels
        if not families_of(counts.labels) & families_of(set(labels.tolist())):  # so that none could be decoded
            raise WrongType(
                f"The decoder learned labels such as {next(iter(counts.labels))!r}, and these predictions are such as "
                f"{labels.tolist()[0]!r}, of another type: pass predictions of the type that it was fitted on."
            )
        codes = counts.explanations.locate(discretize(sample.explanations, self.discretizer))
        seen, agreeing, units = codes >= 0, np.zeros(sample.n), IndependentUnits.of(sample)
        agreeing[seen] = self._agreeing(codes[seen], labels[seen])
        rows, none = counts.per_label, np.zeros(len(counts.labels), np.int64)
        alike = Counts(Plain([""]), counts.labels, none, np.arange(len(none)), rows, rows, none)
        everybody = np.zeros_like(codes)
        guessed = replace(self, counts=alike, discretizer=None)._agreeing(everybody, labels)  # without explanations
        unseen, value, chance, gain = map(
            units.mean, ((~seen).astype(np.float64), agreeing, guessed, agreeing - guessed)
        )
        margins, paired = units.margins(agreeing, confidence), units.margins(agreeing - guessed, confidence, span=2.0)
        low, high, method, notes = value - margins.below, value + margins.above, "jackknife", few_rows_decide(margins)
        if self._decoded == "mean" and sample.weights is None and sample.clusters is None:
            low, high = exact_share(round(float(agreeing.sum())), sample.n, confidence)
            method, notes = "exact", ()
        told = sample.all_notes
        if _are_learned(counts, counts.locate_codes(codes, labels)[1]):
            told = (*told, _SAME_ROWS)
        strange = alike.locate_codes(everybody, labels)[1] < 0
        if strange.any():
            share = f"{units.mean(strange.astype(np.float64)):.1%} of rows are predicted a label that was never learned"
            told = (*told, f"{share}, such as {labels[strange].tolist()[0]!r}, which cannot be decoded")
        return Simulatability(
            value=value,
            low=max(0.0, low),
            high=min(1.0, high),
            confidence=float(confidence),
            method=method,
            chance=chance,
            gain=gain,
            gain_low=max(-1.0, gain - paired.below),
            gain_high=min(1.0, gain + paired.above),
            unseen=unseen,
            seen=min(1.0, value / (1 - unseen)) if seen.any() else None,
            n=sample.n,
            decoder=type(self).__name__,
            notes=tuple(dict.fromkeys((*told, *notes))),
        )

    def _decode(self, explanation: Ints, names: Array) -> Array:
        """What each explanation decodes to, from the different predictions."""
        return names[self.counts.label[self._cells(explanation)]]

    @abstractmethod
    def _cells(self, explanation: Ints) -> Ints:
        """For each explanation, the cell of the label that it decodes to."""

    @property
    @abstractmethod
    def _votes(self) -> Floats:
        """How often each cell's explanation is expected to be decoded to the cell's label, from 0 to 1."""

    def _agreeing(self, explanation: Ints, labels: Array) -> Floats:
        """How often what is decoded is expected to be each label, from 0 to 1."""
        cells = self.counts.locate_codes(explanation, labels)[1]
        return np.where(cells < 0, 0.0, self._votes[cells])

    @property
    def error(self) -> float:
        """Share of the sample's own rows decoded wrongly; of numbers, the mean squared error."""
        self._check_rows()
        if not self.counts.agreement.of_numbers:
            return float(1 - self.counts.given @ self._votes / self.counts.n)
        groups = NumberGroups.of_counts(self.counts)
        squares = groups.squares.sum() * (2.0 if self._decoded == "draw" else 1.0) / self.counts.n
        return float(squared(squares, groups.unit))

    @property
    def leave_one_out_error(self) -> float:
        """The Gibbs decoder's error if no row takes part in its own decoding: the estimate of E_G, ``1 - M̂``."""
        self._check_rows()
        if self._decoded == "mean" or self.counts.agreement.of_numbers:
            raise BadInput(
                "Only a GibbsDecoder of labels is told with each row left out: decode rows that it has not seen, or "
                "measure fs.consistency(..., agreement=fs.Spread()) of numbers."
            )
        return 1 - agreement(self.counts.profile())

    def _check_rows(self) -> None:
        if self.counts.n == 0:
            raise BadInput("This decoder has seen no rows: fit it, or build it from counts.")


@dataclass(frozen=True)
class GibbsDecoder(Decoder):
    """Draws a label as often as the explanation was seen with it; `seed` and the order of rows determine the draws.

    Consistency is its accuracy: ``m = 1 - E_G``, in the sample ``E_G = 1 - Σ n_{πy}² / (n N_π)``. Of numbers it draws
    the prediction of a row with the explanation, and its mean squared error in the sample is exactly twice the optimal
    decoder's.

    Examples
    --------
    >>> decoder = GibbsDecoder().fit(["a", "a", "b"], [0, 1, 1])
    >>> round(decoder.error, 3)
    0.333
    >>> decoder.predict(["b", "c"]).tolist()
    [1, None]
    """

    seed: int = 0

    _decoded = "draw"

    @property
    def _votes(self) -> Floats:
        return self.counts.given / self.counts.rows_given[self.counts.explanation]

    def _cells(self, explanation: Ints) -> Ints:
        upto, first = np.cumsum(self.counts.given), np.searchsorted(self.counts.explanation, explanation)
        before = upto[first] - self.counts.given[first]
        chance = np.random.default_rng(check_whole(self.seed, "seed", 0))
        draws = chance.random(len(explanation)) * self.counts.rows_given[explanation]
        return np.searchsorted(upto, before + np.floor(draws).astype(np.int64), side="right")


@dataclass(frozen=True)
class OptimalDecoder(Decoder):
    """Answers the label that was seen most often with the explanation; of several such labels, the first in order.

    Its error, in the sample ``E_O = 1 - Σ_π max_y n_{πy} / n``, relates to the Gibbs decoder's by ``E_O ≤ E_G ≤ 2 E_O``
    (the paper's Claim 1). Of numbers it answers the mean of the explanation's rows, and ``E_G = 2 E_O`` with squared
    errors.

    Examples
    --------
    >>> OptimalDecoder().fit(["a", "a", "a", "b"], [0, 0, 1, 1]).error
    0.25
    >>> decoder = OptimalDecoder().fit(["a", "a", "b", "b"], [1.0, 3.0, 8.0, 8.0], agreement="spread")
    >>> decoder.predict(["a", "b", "c"]).tolist(), decoder.error
    ([2.0, 8.0, nan], 0.5)
    """

    _decoded = "mean"

    @property
    def _votes(self) -> Floats:
        return np.bincount(commonest_cells(self.counts), minlength=len(self.counts.given)).astype(np.float64)

    def _decode(self, explanation: Ints, names: Array) -> Array:
        if not self.counts.agreement.of_numbers:
            return super()._decode(explanation, names)
        return NumberGroups.of_counts(self.counts).mean[explanation].reshape(-1, *names.shape[1:])

    def _cells(self, explanation: Ints) -> Ints:
        return commonest_cells(self.counts)[explanation]


def _are_learned(counts: Counts, cells: Ints) -> bool:
    """Whether new rows fill the cells just as the learned rows do, which as many other rows would not by accident."""
    if len(cells) != counts.n or (np.bincount(cells + 1, minlength=len(counts.given) + 1)[1:] != counts.given).any():
        return False
    rows, n = counts.given.astype(np.float64), float(counts.n)
    # The probability that n draws in these proportions fill the cells in just these numbers.
    return bool(gammaln(n + 1) + np.sum(xlogy(rows, rows / n) - gammaln(rows + 1)) < math.log(_ACCIDENT))
