"""Baselines: explanations that say nothing, everything, or anything at random. A real explainer must beat them.

``baseline = True`` tells `assert_faithful` not to judge a baseline that stands beside other explainers.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from faithscope.explainers.base import Explainer, Progress
from faithscope.explanations.keys import Plain
from faithscope.inputs.checks import check_whole
from faithscope.inputs.rows import rows_of
from faithscope.inputs.seeds import row_digests


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Explainer):
    """The same explanation for every row: consistency is the chance level.

    Examples
    --------
    >>> Constant().explain([[1.0], [2.0]]).describe(0)
    'the same for all'
    """

    baseline: ClassVar[bool] = True

    def explain(self, X: Any, *, progress: Progress | None = None) -> Plain:
        """The same explanation for each row."""
        return Plain(["the same for all"] * rows_of(X))


@dataclass(frozen=True, eq=False, repr=False)
class Random(Explainer):
    """One of k explanations, drawn at random per row: consistency is the chance level, with k times the silence.

    Parameters
    ----------
    k : int
        The number of explanations.
    seed : int
        Equal rows get equal explanations; another seed draws others.

    Examples
    --------
    >>> explanations = Random(2).explain([[1.0], [2.0], [1.0]])
    >>> explanations.describe(0) == explanations.describe(2)
    True
    """

    baseline: ClassVar[bool] = True

    k: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole(self.k, "k, the number of explanations,")

    def explain(self, X: Any, *, progress: Progress | None = None) -> Plain:
        """One explanation per row, drawn at random."""
        drawn = [int.from_bytes(digest, "little") % int(self.k) for digest in row_digests(self.seed, X)]
        return Plain(drawn)


@dataclass(frozen=True, eq=False, repr=False)
class Unique(Explainer):
    """A different explanation for every distinct row: perfect by definition, and unverifiable.

    Examples
    --------
    >>> codes, _ = Unique().explain([[1.0], [2.0], [1.0]]).group()
    >>> codes.tolist()
    [0, 1, 0]
    """

    baseline: ClassVar[bool] = True

    def explain(self, X: Any, *, progress: Progress | None = None) -> Plain:
        """One explanation per row, which only equal rows share."""
        return Plain([digest.hex() for digest in row_digests(0, X)])
