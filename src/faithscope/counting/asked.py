"""Pairs of an explanation and a row that a judge was asked about, where not all of them were."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import NotProven
from faithscope.relations import Blocks, Parts

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Asked:
    """The pairs of which it is known whether the explanation covers the row.

    Attributes
    ----------
    which, row : (k,) arrays
        The explanation among the distinct ones, and the row, of each pair.
    codes : (n,) array
        The explanation of each row.
    distinct : int
        Number of distinct explanations.
    """

    which: Ints
    row: Ints
    codes: Ints
    distinct: int

    @classmethod
    def of(cls, covers: Parts | Blocks, codes: Ints, distinct: int) -> "Asked | None":
        """Those of a coverage; None if all pairs are known."""
        if isinstance(covers, Parts) or covers.asked is None:
            return None
        return cls(*covers.asked, codes, distinct)

    @cached_property
    def per_explanation(self) -> Ints:
        """Rows that each explanation was asked about."""
        return np.bincount(self.which, minlength=self.distinct)

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """Whether each row was asked about with its own explanation."""
        own = np.zeros(len(self.codes), bool)
        own[self.row[self.codes[self.row] == self.which]] = True
        return own

    @cached_property
    def others(self) -> Ints:
        """Per row, how many other rows its explanation was asked about."""
        return self.per_explanation[self.codes] - self.own

    @property
    def share(self) -> float:
        """The share of all pairs that were asked about."""
        return len(self.row) / (self.distinct * len(self.codes))

    def per_cell(self, labels: Ints, many: int) -> Ints:
        """Rows of each of the `many` labels that each explanation was asked about: (explanations, labels)."""
        table = np.bincount(self.which * many + labels[self.row], minlength=self.distinct * many)
        return table.reshape(self.distinct, many)


def refuse_unasked(covers: Parts | Blocks, measure: str) -> None:
    """Raise if it is unknown of pairs whether the explanation covers the row: "not asked" is not "does not apply"."""
    if isinstance(covers, Blocks) and covers.asked is not None:
        raise NotProven(
            f"{measure} needs to know of every row whether an explanation applies to it, and the judge was asked about "
            "some pairs only: ask about all of them, fs.pairs_to_ask(explanations, per_explanation=None), or measure "
            "sufficiency."
        )
