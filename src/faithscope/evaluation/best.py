"""Choosing a discretization honestly: on one half of the rows, reported on the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import to_discretizer, usual
from faithscope.errors import BadInput
from faithscope.explanations import Explanations
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_whole
from faithscope.measures.consistency import measure_consistency

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Best:
    """The discretizer with the highest lower limit, chosen on one half of the rows and reported on the other.

    The best of several on the same rows would look better than it is.

    Parameters
    ----------
    discretizers : sequence of discretizers or their words, optional
        Those to choose from; None among them stands for no discretization. By default the paper's for the kind of
        explanation.
    """

    discretizers: Sequence[Any] | None = None

    def choose(
        self, explanations: Explanations, labels: NDArray[Any], seed: int, confidence: float
    ) -> tuple[Ints, Any]:
        """The rows to report on, and the discretizer to report."""
        looked, kept = halves(len(labels), seed)
        return kept, self.among(explanations.take(looked), labels[looked], confidence)

    def among(self, explanations: Explanations, labels: NDArray[Any], confidence: float) -> Any:
        """The discretizer with the highest lower limit on these rows; the finest of those that tie."""
        chosen = None if self.discretizers is None else to_items(self.discretizers, "Best's discretizers")
        family = list(usual(explanations)) if chosen is None else list(map(to_discretizer, chosen))
        if not family:
            raise BadInput("Best needs at least one discretizer to choose from; pass None for the paper's.")
        if len(family) == 1:
            return family[0]
        lows = [measure_consistency(explanations, labels, discretizer=d, confidence=confidence).low for d in family]
        return family[int(np.argmax(lows))]


def to_choice(given: Any) -> Any:
    """`Best`, by itself or by the word "best"; else a discretizer, by itself or by its word, or None."""
    if isinstance(given, str) and given.strip().lower() == "best":
        return Best()
    return given if isinstance(given, Best) else to_discretizer(given)


def halves(rows: int, seed: int) -> tuple[Ints, Ints]:
    """Two halves of the rows, each in its order: one to choose on, one to report on."""
    if rows < 4:
        raise BadInput(f"Choosing on one half of the rows takes at least 4 of them; got {rows}.")
    order = np.random.default_rng(check_whole(seed, "seed", 0)).permutation(rows)
    return np.sort(order[: rows // 2]), np.sort(order[rows // 2 :])
