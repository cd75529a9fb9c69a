"""Baselines: explanations that say nothing, everything, or anything; what a real explainer has to beat.

``baseline = True`` says so to guards, which judge no baseline beside others.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from faithscope.explainers.shared.blocks import Progress
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.seeds import row_digests
from faithscope.explanations.keys import Plain
from faithscope.inputs.checks import check_whole
from faithscope.inputs.rows import rows_of


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Mannered):
    """The same explanation for every row: consistency is the chance level."""

    baseline: ClassVar[bool] = True

    def explain(self, X: Any, *, progress: Progress | None = None) -> Plain:
        """One explanation for all."""
        return Plain(["the same for all"] * rows_of(X))


@dataclass(frozen=True, eq=False, repr=False)
class Random(Mannered):
    """One of k explanations, drawn for the row: consistency is the chance level, with k times the silence.

    Parameters
    ----------
    k : int
    seed : int
        Equal rows draw equally; another seed draws anew.
    """

    baseline: ClassVar[bool] = True

    k: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole(self.k, "k, the number of explanations,")

    def explain(self, X: Any, *, progress: Progress | None = None) -> Plain:
        """A drawn explanation for each row."""
        return Plain([int.from_bytes(one, "little") % int(self.k) for one in row_digests(self.seed, X)])


@dataclass(frozen=True, eq=False, repr=False)
class Unique(Mannered):
    """Another explanation for every different row: perfect by definition, and unverifiable."""

    baseline: ClassVar[bool] = True

    def explain(self, X: Any, *, progress: Progress | None = None) -> Plain:
        """An explanation for each row that only equal rows share."""
        return Plain([one.hex() for one in row_digests(0, X)])
