"""Best: choose a discretizer on one half of the rows, and report it on the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from faithscope.discretizers import to_discretizer, usual
from faithscope.errors import BadInput
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_whole
from faithscope.measures.consistency import measure_consistency
from faithscope.sample import Sample


@dataclass(frozen=True)
class Best:
    """The discretizer with the highest lower limit, chosen on one half of the rows and reported on the other.

    The best of several, reported on the rows on which it was chosen, would look better than it is. Numbers that agree
    by `Tolerance`, or by a function of one's own, are refused, since merging explanations may raise them.

    Parameters
    ----------
    discretizers : sequence of discretizers or their words, optional
        The discretizers to choose from; None among them means no discretization. By default the paper's for the kind
        of explanation.
    seed : int
        Of the halves; that of `evaluate` and `compare` goes before it.

    Examples
    --------
    >>> Best(["sign", "rank"])
    Best(discretizers=['sign', 'rank'], seed=0)
    """

    discretizers: Sequence[Any] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole(self.seed, "Best's seed", 0)

    def _among(self, sample: Sample, confidence: float) -> Any:
        """The discretizer with the highest lower limit on these rows; of several, the fewest silent rows."""
        family: list[Any] = usual(sample.explanations)
        if self.discretizers is not None:
            family = list(map(to_discretizer, to_items(self.discretizers, "Best's discretizers")))
        if not family:
            raise BadInput("Best needs at least one discretizer to choose from; pass None for the paper's.")
        if len(family) == 1:
            return family[0]
        unweighted = replace(sample, weights=None)
        estimates = [measure_consistency(unweighted.discretized(member), confidence) for member in family]
        ranks = [(each.low, -each.unverifiable, each.value) for each in estimates]
        return family[ranks.index(max(ranks))]


def to_choice(given: Any) -> Any:
    """What a caller gave as `discretizer`: `Best` or the word "best", a discretizer or its word, or None."""
    if isinstance(given, str) and given.strip().lower() == "best":
        return Best()
    return given if isinstance(given, Best) else to_discretizer(given)
