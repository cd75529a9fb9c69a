"""Which rows a set of prototypes covers: those it is nearest to, or those within a distance."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import as_they_come
from faithscope.explanations.distances.metrics import Gower, to_metric_name
from faithscope.explanations.distances.near import Near
from faithscope.explanations.distances.points import Points
from faithscope.explanations.prototypes import Prototypes
from faithscope.inputs.rows import take_rows
from faithscope.relations.base import Blocks, Masks, Parts, Relation, number_parts, to_tau


@dataclass(frozen=True)
class Nearest(Relation):
    """Prototypes cover the rows whose nearest prototypes they are (the paper's first option).

    Examples
    --------
    >>> import faithscope as fs
    >>> prototypes = fs.Prototypes([0, 1, 1], points=[[0.0], [10.0]])
    >>> fs.sufficiency(prototypes, X=[[1.0], [8.0], [9.0]], predictions=[0, 1, 1], relation=Nearest()).unverifiable
    0.3333333333333333
    """

    @property
    def partitions(self) -> bool:
        return True

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        prototypes, points = _with_points(distinct)
        sizes = np.array([len(prototypes.conjunction(row)) for row in range(len(prototypes))])
        complete = points.complete(X)  # a row with a missing number is nearest to nothing
        rows, everywhere = take_rows(X, np.flatnonzero(complete)), np.ones(len(complete), bool)
        nearest = {size: np.full(len(complete), -1) for size in np.unique(sizes)}
        for size, codes in nearest.items():
            if size:
                codes[complete] = prototypes.locate(prototypes.nearest(rows, int(size)))

        def mask(start: int, stop: int) -> Masks:
            return np.array([nearest[sizes[row]] == row if sizes[row] else everywhere for row in range(start, stop)])

        return Blocks(mask)


@dataclass(frozen=True)
class Ball(Relation):
    """Prototypes cover the rows within a distance of every one of them (the paper's second option).

    Parameters
    ----------
    tau : float
        Rows at distances up to and including this are covered.

    Examples
    --------
    >>> import faithscope as fs
    >>> prototypes = fs.Prototypes([0, 1, 1], points=[[0.0], [10.0]])
    >>> fs.sufficiency(prototypes, X=[[1.0], [8.0], [9.0]], predictions=[0, 1, 1], relation=Ball(5)).value
    0.6666666666666666
    """

    tau: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", to_tau(self.tau))

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts:
        prototypes, points = _with_points(distinct)
        parts, lists = number_parts(prototypes)
        single = not isinstance(points.metric, Gower) and all(len(numbers) == 1 for numbers in lists)
        near = partial(self._near, points, [parts[numbers[0]] for numbers in lists], X) if single else None
        return Parts(parts, lists, lambda order: as_they_come(prototypes.within(parts, X, self.tau), order), near=near)

    def _near(self, points: Points, indices: list[Any], X: Any) -> Near:
        centers = points.rows[np.array(indices, np.int64)].astype(np.float64)
        rows = points.sample(X).rows.astype(np.float64)
        return Near(centers, rows, np.full(len(centers), self.tau), to_metric_name(points.metric))


def _with_points(explanations: Explanations) -> tuple[Prototypes, Points]:
    if not isinstance(explanations, Prototypes):
        raise WrongType(f"Nearest() and Ball(tau) cover rows by prototypes; these are {explanations.kind}.")
    if explanations.points is None:
        raise BadInput("These prototypes are only indices: pass the rows they stand for, Prototypes(indices, points).")
    return explanations, explanations.points
