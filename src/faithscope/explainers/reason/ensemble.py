"""Ensembles: trees whose sum decides the prediction, and how far rounding may carry that sum."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.reason.nodes import Leaves, Nodes
from faithscope.explainers.shared.arrays import Floats, Ints

Link = Literal["identity", "exp", "sigmoid"]

_FEW_BITS = 2.0**20  # leaf values that are multiples of 1 / 2**20 add up without rounding


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A model as sums over trees.

    Attributes
    ----------
    trees : list of Nodes
    features : int
    base : (k,) array
        What the sums of the k outputs begin with.
    outputs : (trees,) array, optional
        The output that each tree adds to; None if every leaf has a value for every output.
    classes : (classes,) array, optional
        Labels: that of the highest output, or of one output the second if it is positive. None if the model predicts
        numbers.
    link : str
        From the sum to the number that the model predicts; of numbers only.
    divisor : float
        What the model divides the sum by, before the link.
    precision : float
        The relative error of one addition in the model's own arithmetic.
    blur : float
        Outputs so close to each other may be told apart wrongly, after links and divisions in that arithmetic.
    takes_missing : bool
        Whether the model predicts rows that miss values.
    names : tuple of str, optional
        The features' names, if the model was fitted with names.
    """

    trees: Sequence[Nodes]
    features: int
    base: Floats
    outputs: Ints | None
    classes: NDArray[Any] | None
    link: Link = "identity"
    divisor: float = 1.0
    precision: float = 2.0**-52
    blur: float = 1e-12
    takes_missing: bool = True
    names: tuple[str, ...] | None = None

    @cached_property
    def leaves(self) -> Leaves:
        """The leaves of all trees as boxes."""
        return Leaves.of(self.trees, self.features)

    @cached_property
    def exact(self) -> bool:
        """Whether sums are exact in the model's arithmetic, so that ties are ties: leaves that vote with 0 or 1."""
        scaled = self.leaves.values * _FEW_BITS
        whole = bool((scaled == np.round(scaled)).all() and not self.base.any())
        return whole and self.precision < 1e-15 and self._size < 2.0**30

    @cached_property
    def tolerance(self) -> float:
        """How far a difference of two computed outputs may lie from that of the exact sums."""
        terms = len(self.leaves.starts) + len(self.base) + 4
        return 0.0 if self.exact else 2 * terms * self.precision * self._size + self.blur

    @cached_property
    def _size(self) -> float:
        """The largest sum of absolute values that can occur."""
        largest = np.maximum.reduceat(np.abs(self.leaves.values).max(axis=1), self.leaves.starts)
        return float(largest.sum() + np.abs(self.base).max(initial=0.0))

    def number(self, sums: Floats) -> Floats:
        """The numbers that the model predicts for such sums."""
        with np.errstate(over="ignore"):
            mean = sums / self.divisor
            if self.link == "sigmoid":
                return np.asarray(1 / (1 + np.exp(-mean)))
            return np.asarray(np.exp(mean) if self.link == "exp" else mean)
