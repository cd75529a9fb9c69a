"""Rows dealt into blocks that are left out one at a time: by what rows are, so that their order never matters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.digests import combined, explanation_words, row_words, value_words
from faithscope.explanations.base import Explanations
from faithscope.inputs.grouping import Words

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Content:
    """All that a measure looks at in rows, so that rows of equal content may change places.

    Attributes
    ----------
    labels : (n,) array
    explanations : sequence of Explanations
        What the rows were given, by one explainer or by several that are compared.
    X : rows, optional
    weights : (n,) array, optional
    """

    labels: NDArray[Any]
    explanations: Sequence[Explanations]
    X: Any = None
    weights: NDArray[np.float64] | None = None

    @cached_property
    def _of_rows(self) -> Words:
        """A number for each row, whatever it was given."""
        weights = [] if self.weights is None else [value_words(self.weights)]
        return combined([value_words(self.labels), *weights, *row_words(self.X)], len(self.labels))

    @cached_property
    def of_rows_alone(self) -> bool:
        """Whether equal rows were given equal explanations: blocks are then the same for every such explainer."""
        _, first, codes = np.unique(self._of_rows, return_index=True, return_inverse=True)
        given = (explanations.group()[0] for explanations in self.explanations)
        return not any((numbers != numbers[first][codes]).any() for numbers in given)

    def deal(self, blocks: int) -> Ints:
        """The block of each row: rows in an order of their own, dealt out at random (always alike), equally many each.

        At random, since dealt in turn equal rows would be as many in every block, whose spread would be too small.
        """
        words = self._of_rows
        if not self.of_rows_alone:
            given = [word for explanations in self.explanations for word in explanation_words(explanations)]
            words = combined([words, *given], len(words))
        dealt = np.empty(len(words), np.int64)
        dealt[np.argsort(words, kind="stable")] = np.random.default_rng(0).permutation(len(words)) % blocks
        return dealt
