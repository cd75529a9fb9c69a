"""A lower bound on the consistency of the undiscretized explainer: the best of several discretizations' bounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.agreements import Agreement, Tolerance, to_agreement
from faithscope.card import in_lines
from faithscope.discretizers import Discretizer, Original, to_discretizer, usual
from faithscope.errors import BadInput, NotProven
from faithscope.explanations import Explanations
from faithscope.inputs.arrays import to_items
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.estimate import FOR_EQUALITY, Estimate, Method, noted, to_interval
from faithscope.measures.intervals.margins import check_confidence
from faithscope.measures.intervals.tight import equality_margins
from faithscope.measures.named_labels import label_word_notes
from faithscope.measures.telling import OfEstimates
from faithscope.rounding import down
from faithscope.runtime.memory import FEWER_ROWS
from faithscope.runtime.of_logs import takes_log
from faithscope.sample import Sample
from faithscope.words import several

Discretize = Callable[[Explanations], Any]
Wanted = Discretize | str | None
_UNSURE = 1 - 1e-9  # what both ends together may miss the truth with, at most


@dataclass(frozen=True, repr=False)
class Certificate(OfEstimates):
    """A lower bound on the true consistency of an explainer, and the discretization that gives it.

    Attributes
    ----------
    low : float
        With the stated confidence, the explainer's true consistency is at least this.
    discretizer : discretizer
        The discretizer with the highest bound.
    subject : str
        The explainer that the bound speaks of.
    bounds : tuple of (discretizer, float)
        The bound of every discretizer that was tried; all hold together with the stated confidence.
    estimates : tuple of Estimate
        The estimate of each discretizer, in the same order; each interval has the stated confidence by itself.
    proven : bool
        Whether the bound holds for every system; False if it holds approximately.

    Examples
    --------
    >>> certificate = certify([[0.2], [0.3]] * 500, [0, 0] * 500, ["sign"])
    >>> round(certificate.low, 3), certificate.proven
    (0.989, True)
    """

    low: float
    discretizer: Discretize
    confidence: float
    method: str
    subject: str
    proven: bool
    bounds: tuple[tuple[Discretize, float], ...]
    estimates: tuple[Estimate, ...]

    _label, _title = "discretizer", "A lower bound on consistency"
    _written = ("low", "confidence", "method", "subject", "proven")

    def _by_name(self) -> Sequence[tuple[str, Estimate]]:
        names = [repr(discretizer) for discretizer, _ in self.bounds]
        return list(zip(names, self.estimates, strict=True))

    def _beside(self) -> dict[str, Sequence[Any]]:
        return super()._beside() | {"bound": [low for _, low in self.bounds]}

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this certificate, ready for JSON."""
        tried = [
            {"discretizer": name, "low": low, "estimate": estimate.to_dict()}
            for (name, estimate), (_, low) in zip(self._by_name(), self.bounds, strict=True)
        ]
        told = {"discretizer": repr(self.discretizer), "tried": tried, "notes": list(map(str, self.notes))}
        return super().to_dict() | told

    def __str__(self) -> str:
        tried = zip(self.bounds, self.estimates, strict=True)
        return in_lines(self._line, next(best.notes for (each, _), best in tried if each is self.discretizer))

    @property
    def _line(self) -> str:
        kind = "proven" if self.proven else "approximate"
        return (
            f"true consistency of {self.subject} at least {down(self.low)} with confidence {100 * self.confidence:g}% "
            f"({kind}); best of {several(len(self.bounds), 'discretization', 'discretizations')}: {self.discretizer!r}"
        )


@takes_log(FEWER_ROWS)
def certify(
    explanations: Any,
    predictions: Any = None,
    discretizers: Sequence[Wanted] | Wanted = None,
    *,
    confidence: float = 0.95,
    interval: Method | None = "proven",
    agreement: Any = None,
    clusters: Any = None,
) -> Certificate:
    """A lower bound on the true consistency of the explainer without any discretization.

    Coarser explanations can only be less consistent, so a lower bound for any discretization is a lower bound for
    the explainer itself. Each of k discretizations gets a one-sided bound at (1 - confidence) / k; the highest counts.

    Parameters
    ----------
    explanations, predictions
        As for `consistency`.
    discretizers : discretizer, its word, or a sequence of these, optional
        By default the paper's discretizers for the kind of explanation; None in the sequence means no discretization.
    confidence : float
        The confidence of the bound.
    interval : {"proven", None}
        How the bound is made: proven for every system; or None, as by default for `consistency`, which is higher.
    agreement : Close or Spread, optional
        How much two predictions agree if they are numbers, as for `consistency`; `Spread` takes ``interval=None``. For
        `Tolerance` and functions of one's own, coarser explanations may agree more, so they are refused:
        ``Close(eps)`` is never above ``Tolerance(eps)``, so a bound for it holds for both.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> certify([[0.2], [-0.3]] * 500, [1, 0] * 500, interval=None).low > 0.98
    True
    """
    method, _ = to_interval(interval)
    chosen = to_agreement(agreement)
    refuse_unless_convex(chosen, "certify")
    sample = Sample.of(explanations, predictions, agreement=chosen, clusters=clusters)
    family = _family(sample.explanations, discretizers)
    share = check_confidence(confidence) / len(family)
    estimates, bounds = [], []
    for discretizer in family:
        coarse = sample.discretized(discretizer)
        estimate = measure_consistency(coarse, confidence, method)
        estimate = noted(estimate, label_word_notes(sample, coarse, discretizer))
        estimates.append(estimate)
        if estimate.method == "tight":  # the tightest is chosen anew
            margins = equality_margins(estimate.counts.profile(), "tight", 1 - share)
        else:  # what is proven is proven of one end by itself
            margins = estimate.margins.at(1 - min(_UNSURE, 2 * share) if estimate.method == "proven" else 1 - share)
        lowest = estimate.value if margins.bracket is None else margins.bracket.low
        bounds.append((discretizer, max(0.0, lowest - margins.below)))
    how = estimates[0].method
    winner, low = max(bounds, key=lambda pair: pair[1])
    subject = getattr(winner, "subject", Discretizer.subject) if _reads_rows(winner) else "the explainer as it is"
    return Certificate(
        low, winner, float(confidence), how, subject, how in FOR_EQUALITY, tuple(bounds), tuple(estimates)
    )


def refuse_unless_convex(agreement: Agreement, what: str) -> None:
    """Raise if coarser explanations may agree more, so that a bound on them is none on the explainer."""
    if agreement.convex:
        return
    named, close = "a function of your own", "fs.Close(eps)"
    if isinstance(agreement, Tolerance):
        named, close = str(agreement), f"fs.Close({agreement.eps}), which is never above it"
    raise NotProven(
        f"{what} takes for granted that coarser explanations can only agree less, which does not hold for {named}: "
        f"pass agreement={close}."
    )


def _family(explanations: Explanations, discretizers: Sequence[Wanted] | Wanted) -> list[Discretize]:
    if discretizers is None:
        return [*usual(explanations)]
    alone = callable(discretizers) or isinstance(discretizers, str)
    several = [discretizers] if alone else to_items(discretizers, "certify's discretizers")
    family: list[Discretize] = [to_discretizer(discretizer) or Original() for discretizer in several]
    if not family:
        raise BadInput("certify needs at least one discretizer; pass [None] for the explanations as they are.")
    reading = [repr(discretizer) for discretizer in family if _reads_rows(discretizer)]
    if 0 < len(reading) < len(family):
        raise NotProven(
            f"Some of these discretizers read x besides its explanation ({', '.join(reading)}) and some do not, so "
            "they bound different explainers: certify the two kinds separately."
        )
    return family


def _reads_rows(discretizer: Discretize) -> bool:
    return bool(getattr(discretizer, "reads_rows", False))
