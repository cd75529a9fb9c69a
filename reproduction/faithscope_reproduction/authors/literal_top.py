"""Sign-of-top-k as the letter of the paper's formula has it, which is not what its text says."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import faithscope as fs


@dataclass(frozen=True)
class LiteralTop:
    """Sign-of-top-k by the letter of the paper's formula: the sign where ``argsort(|φ|)[i] > d - k``, 0 elsewhere.

    The formula compares *which* feature is i-th in size with a rank, counted from 0, so it does not keep the largest.
    """

    k: int

    def __call__(self, explanations: Any) -> fs.Importances:
        """The same rows with coarser explanations."""
        values = explanations.values
        order = np.argsort(np.abs(values), axis=1, kind="stable")
        return fs.Importances(np.where(order > values.shape[1] - self.k, np.sign(values), 0.0))
