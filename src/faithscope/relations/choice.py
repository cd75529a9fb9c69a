"""From what a caller chose (an object, a function, nothing) to a relation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import NotProven, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.prototypes import Prototypes
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.checks import check_function
from faithscope.inputs.rows import rows_of
from faithscope.relations.applies import Applies
from faithscope.relations.base import Blocks, Masks, Relation, Same
from faithscope.relations.judged import Judged
from faithscope.relations.prototypes import Nearest
from faithscope.relations.within import Within


@dataclass(frozen=True)
class Custom(Relation):
    """A caller's own relation: ``applies(X, explanation)`` gives the mask of the rows that the explanation covers.

    The explanation comes as a plain value: a list of (feature, operator, value) for rules, a frozenset of words for
    highlights, a tuple of indices for prototypes, (point, original) for counterfactuals, a vector for importances,
    the key itself for plain keys. The function is called in the caller's own thread.
    """

    applies: Callable[[Any, Any], Any]

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        rows = len(explanations) if X is None else rows_of(X)

        def mask(start: int, stop: int) -> Masks:
            return np.array([self._mask(X, distinct.item(row), rows) for row in range(start, stop)])

        return Blocks(mask, threads=False)

    def _mask(self, X: Any, explanation: Any, rows: int) -> Masks:
        mask = to_vector(self.applies(X, explanation), "The relation's mask")
        if mask.shape != (rows,) or mask.dtype != np.bool_:
            raise WrongType(
                f"The relation must give a mask of {rows:,} booleans, one per row; for {explanation!r} it gave "
                f"shape {mask.shape} of {mask.dtype}."
            )
        return mask


def to_relation(relation: Any, explanations: Explanations) -> Relation:
    """The relation that a caller means; by default what the kind of explanation itself says."""
    if relation is None:
        if isinstance(explanations, Prototypes) and explanations.points is not None:
            return Nearest()
        return Applies(exclusive=bool(getattr(explanations, "partitions", False)))
    if isinstance(relation, Within | Same):
        raise WrongType(
            f"{relation} relates explanations to each other, not to rows: use within(...) or consistency(...)."
        )
    if isinstance(relation, Judged):
        raise NotProven(
            "Judged(answers) knows of rows that the judge was asked about only: use sufficiency, evaluate or compare."
        )
    if isinstance(relation, Relation):
        return relation
    if isinstance(relation, type) or not callable(relation):
        raise WrongType(
            f"relation={relation!r} is not a relation: pass Nearest(), Ball(tau), Judged(answers), or a "
            "function applies(X, explanation) that gives a mask of rows."
        )
    return Custom(check_function(relation, "relation", "X", "explanation"))


def says_where(explanations: Explanations, relation: Any) -> bool:
    """Whether sufficiency is defined for these explanations."""
    if relation is not None or isinstance(explanations, Conjunctions | Counterfactuals):
        return True
    return isinstance(explanations, Prototypes) and explanations.points is not None
