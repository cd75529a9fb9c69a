"""Decoders: guess the prediction from the explanation alone (paper, section 2.1)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts, count_rows, to_counts
from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_whole
from faithscope.measures.decoding.accuracy import measure_accuracy
from faithscope.measures.decoding.decoded_rows import agreement_of_draws
from faithscope.measures.decoding.simulatability import Simulatability
from faithscope.measures.estimate import agreement
from faithscope.measures.numbers.decoded import decoded_numbers
from faithscope.measures.numbers.groups import NumberGroups, agreement_between
from faithscope.readers import as_explanations
from faithscope.sample import Sample


@dataclass(frozen=True)
class Decoder(ABC):
    """The base of decoders: ``Decoder(estimate.counts)``, or ``Decoder().fit(explanations, predictions)``.

    Counts must be unweighted. Explanations that were never seen decode to None; numbers, to NaN.
    """

    counts: Counts = field(default_factory=Counts.zero)
    discretizer: Discretize | None = None

    _draws: ClassVar[bool]  # whether a learned row is drawn

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

    def predict(self, explanations: Any) -> NDArray[Any]:
        """The decoded prediction of each row; None, or NaN for numbers, if its explanation was never seen.

        Returns
        -------
        (n,) array of objects; of numbers (n,) floats, or (n, k) for vectors
        """
        wanted, names = as_explanations(explanations), self._predictions()
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
        never seen count as decoded wrongly (by `Spread`, as decoded without an explanation).

        Parameters
        ----------
        explanations : array-like, table or Explanations
            Of the new rows; the decoder's discretizer is applied.
        predictions : array-like, (n,)
            The model's predictions of the new rows, compared by the agreement that the decoder was fitted with.
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
        sample = Sample.of(explanations, predictions, None, weights, self.counts.agreement, clusters)
        return measure_accuracy(self, sample, confidence)

    def _predictions(self) -> NDArray[Any]:
        """The different predictions: an array of floats for numbers, else of objects."""
        if self.counts.agreement.of_numbers:
            return np.asarray(self.counts.labels, np.float64)
        names = np.empty(len(self.counts.labels), object)
        names[:] = self.counts.labels
        return names

    def _decode(self, explanation: NDArray[np.int64], names: NDArray[Any]) -> NDArray[Any]:
        """What each explanation decodes to, from the different predictions."""
        return np.asarray(names[self.counts.label[self._cells(explanation)]])

    @abstractmethod
    def _cells(self, explanation: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each explanation, the cell of the label that it decodes to."""

    @abstractmethod
    def _agreeing(self, explanation: NDArray[np.int64], labels: NDArray[Any]) -> NDArray[np.float64]:
        """How much what is decoded is expected to agree with predictions, from 0 to 1; not for `Spread`."""

    @property
    @abstractmethod
    def error(self) -> float:
        """Share of the sample's own rows decoded wrongly; of numbers, the mean squared error."""

    @property
    @abstractmethod
    def leave_one_out_error(self) -> float:
        """The error if no row takes part in its own decoding."""

    @property
    def r2(self) -> float:
        """Of numbers, the share of their variance in the sample that is decoded: ``1 - error / variance``."""
        return 1 - self.error / decoded_numbers(self.counts).variance

    @property
    def leave_one_out_r2(self) -> float:
        """Of numbers, ``1 - leave_one_out_error`` divided by the error of the mean of all other rows.

        It is 0 for explanations that mean nothing, if the mean is decoded, and negative below that.
        """
        return 1 - self.leave_one_out_error / decoded_numbers(self.counts).error_of_mean

    def _starts(self) -> NDArray[np.int64]:
        """The first cell of each explanation; cells are kept in order of explanation."""
        return np.searchsorted(self.counts.explanation, np.arange(self.counts.distinct))

    def _check_rows(self) -> None:
        if self.counts.n == 0:
            raise BadInput("This decoder has seen no rows: fit it, or build it from counts.")


@dataclass(frozen=True)
class GibbsDecoder(Decoder):
    """Draws a label as often as the explanation was seen with it; `seed` and the order of rows determine the draws.

    Consistency is its accuracy: ``m = 1 - E_G``. Of numbers it draws the prediction of a row with the explanation, and
    its mean squared error in the sample is exactly twice the optimal decoder's.

    Examples
    --------
    >>> decoder = GibbsDecoder().fit(["a", "a", "b"], [0, 1, 1])
    >>> round(decoder.error, 3)
    0.333
    >>> decoder.predict(["b", "c"]).tolist()
    [1, None]
    """

    seed: int = 0

    _draws: ClassVar[bool] = True

    @property
    def error(self) -> float:
        """In the sample: ``E_G = 1 - Σ n_{πy}² / (n N_π)``."""
        self._check_rows()
        if self.counts.agreement.of_numbers:
            return 2 * decoded_numbers(self.counts).error
        share = self.counts.given / self.counts.per_explanation[self.counts.explanation]
        return float(1 - np.sum(self.counts.given * share) / self.counts.n)

    @property
    def leave_one_out_error(self) -> float:
        """The estimate of E_G in the population, ``1 - M̂``: no row takes part in its own decoding.

        Of numbers, the mean squared distance from another row with the explanation, drawn at random; a row without
        such others draws from all other rows.
        """
        self._check_rows()
        if self.counts.agreement.of_numbers:
            return decoded_numbers(self.counts).error_of_draws
        return 1 - agreement(self.counts.profile())

    def _agreeing(self, explanation: NDArray[np.int64], labels: NDArray[Any]) -> NDArray[np.float64]:
        return agreement_of_draws(self.counts, explanation, labels)

    def _cells(self, explanation: NDArray[np.int64]) -> NDArray[np.int64]:
        upto = np.cumsum(self.counts.given)
        before = upto[self._starts()[explanation]] - self.counts.given[self._starts()[explanation]]
        chance = np.random.default_rng(check_whole(self.seed, "seed", 0))
        draws = chance.random(len(explanation)) * self.counts.per_explanation[explanation]
        return np.searchsorted(upto, before + np.floor(draws).astype(np.int64), side="right")


@dataclass(frozen=True)
class OptimalDecoder(Decoder):
    """Answers the label that was seen most often with the explanation; of several such labels, the first in order.

    Its error relates to the Gibbs decoder's by ``E_O ≤ E_G ≤ 2 E_O`` (the paper's Claim 1). Of numbers it answers the
    mean of the explanation's rows, and ``E_G = 2 E_O`` with squared errors.

    Examples
    --------
    >>> OptimalDecoder().fit(["a", "a", "a", "b"], [0, 0, 1, 1]).error
    0.25
    >>> decoder = OptimalDecoder().fit(["a", "a", "b", "b"], [1.0, 3.0, 8.0, 8.0], agreement="spread")
    >>> decoder.predict(["a", "b", "c"]).tolist(), round(decoder.r2, 3), round(decoder.leave_one_out_r2, 3)
    ([2.0, 8.0, nan], 0.947, 0.882)
    """

    _draws: ClassVar[bool] = False

    @property
    def error(self) -> float:
        """In the sample: ``E_O = 1 - Σ_π max_y n_{πy} / n``; of numbers, the mean squared distance from the mean."""
        self._check_rows()
        if self.counts.agreement.of_numbers:
            return decoded_numbers(self.counts).error
        return 1 - self.counts.profile().modal / self.counts.n

    @property
    def leave_one_out_error(self) -> float:
        """Of numbers, the mean squared distance from the mean of the other rows with the explanation.

        A row without such others is decoded to the mean of all other rows.
        """
        self._check_rows()
        return decoded_numbers(self.counts).error_of_means

    def _agreeing(self, explanation: NDArray[np.int64], labels: NDArray[Any]) -> NDArray[np.float64]:
        if not self.counts.agreement.of_numbers:
            learned = self.counts.locate_codes(explanation, labels)[1]
            return np.asarray(learned == self._cells(explanation), np.float64)
        decoded = self._decode(explanation, self._predictions())
        return np.clip(agreement_between(self.counts.agreement, decoded, labels), 0.0, 1.0)  # not outside by rounding

    def _decode(self, explanation: NDArray[np.int64], names: NDArray[Any]) -> NDArray[Any]:
        if not self.counts.agreement.of_numbers:
            return super()._decode(explanation, names)
        return np.asarray(NumberGroups.of_counts(self.counts).mean[explanation].reshape(-1, *names.shape[1:]))

    def _cells(self, explanation: NDArray[np.int64]) -> NDArray[np.int64]:
        starts = self._starts()
        most = np.maximum.reduceat(self.counts.given, starts)
        is_most = np.flatnonzero(self.counts.given == most[self.counts.explanation])
        first = np.searchsorted(self.counts.explanation[is_most], np.arange(self.counts.distinct))
        return is_most[first][explanation]
