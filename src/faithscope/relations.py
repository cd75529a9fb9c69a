"""Relations: which rows an explanation covers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, NotScoped, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions, Postings, Shared
from faithscope.explanations.counterfactuals import Balls, Counterfactuals
from faithscope.explanations.distances.metrics import Gower, to_metric_name
from faithscope.explanations.distances.near import Near, near
from faithscope.explanations.distances.points import Points
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.prototypes import Prototypes
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.rows import take_rows
from faithscope.runtime.memory import need

Masks = NDArray[np.bool_]


@dataclass(frozen=True)
class Parts:
    """Coverage by conjunction: an explanation covers the rows on which all of its parts hold.

    Attributes
    ----------
    parts : list
        The conditions, words or prototypes that explanations are made of.
    lists : list of tuples of int
        For each explanation, the numbers of its parts.
    masks : iterator of (n,) bool arrays
        The rows on which part 0, 1, … holds.
    """

    parts: list[Any]
    lists: list[tuple[int, ...]]
    masks: Iterator[Masks]
    postings: Postings | None = None  # the same as (part, row) pairs, where few rows hold a part
    near: Callable[[], Near] | None = None  # the same as centers and radii, where an explanation is one ball


@dataclass(frozen=True)
class Blocks:
    """Coverage of one explanation after the other: ``mask(start, stop)`` is a (stop - start, n) bool array."""

    mask: Callable[[int, int], Masks]
    threads: bool = True  # whether several may be asked for at once
    arranged: Callable[[NDArray[np.int64]], Callable[[int, int], Masks]] | None = None  # rows in another order
    near: Callable[[], Near] | None = None  # the same as centers and radii, where it is by distance


class Relation(ABC):
    """Which rows an explanation covers."""

    @property
    def partitions(self) -> bool:
        """Whether every row lies under exactly one explanation, as the paper's error bound needs."""
        return False

    def scopes(self, explanations: Explanations) -> Explanations:
        """The explanations, equal where they cover the same rows; by default where they are equal."""
        return explanations

    @abstractmethod
    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts | Blocks:
        """Which rows each of the distinct scopes covers; the rows are X, and were given `explanations`."""


@dataclass(frozen=True)
class Same(Relation):
    """An explanation covers the rows that were given the same explanation: consistency."""

    @property
    def partitions(self) -> bool:
        return True

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        codes = distinct.locate(explanations)
        return Blocks(lambda start, stop: codes == np.arange(start, stop)[:, None])


@dataclass(frozen=True)
class Applies(Relation):
    """An explanation covers the rows it says it applies to: sufficiency.

    Rules and highlights cover where all their conditions hold; a counterfactual covers the open ball around its row.
    """

    exclusive: bool = False  # the rules are known to be the leaves of one tree

    @property
    def partitions(self) -> bool:
        return self.exclusive

    def scopes(self, explanations: Explanations) -> Explanations:
        if isinstance(explanations, Counterfactuals):
            return explanations.balls()
        if isinstance(explanations, Conjunctions | Balls):
            return explanations
        raise NotScoped(_not_scoped(explanations))

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts | Blocks:
        if isinstance(distinct, Balls):
            by_numbers = distinct.centers.dtype != object and not isinstance(distinct.metric, Gower)
            return Blocks(distinct.inside(X), near=partial(_open_balls, distinct, X) if by_numbers else None)
        assert isinstance(distinct, Conjunctions)
        parts, lists = _number_parts(distinct)
        return Parts(parts, lists, distinct.holds(parts, X), distinct.postings(parts, X))


def _open_balls(balls: Balls, X: Any) -> Near:
    rows = Points(balls.centers[:0], balls.metric, balls.names).sample(X).rows
    centers = balls.centers.astype(np.float64)
    return Near(centers, rows.astype(np.float64), balls.radii, to_metric_name(balls.metric), open=True)


def _not_scoped(explanations: Explanations) -> str:
    if isinstance(explanations, Prototypes):
        return (
            "These prototypes are only indices, which do not say where they apply: pass the rows they stand for, "
            "Prototypes(indices, points), and relation=Nearest() (the default) or relation=Ball(tau)."
        )
    if isinstance(explanations, Importances):
        return (
            f"These are {explanations.kind}, which do not say where they apply, so sufficiency is undefined. "
            "Measure consistency, or use within(tau=...)."
        )
    return (
        f"These are {explanations.kind}, which do not say where they apply, so sufficiency is undefined. "
        "Measure consistency, or pass relation=, a function applies(X, explanation) that gives a mask of rows."
    )


def _number_parts(distinct: Shared) -> tuple[list[Any], list[tuple[int, ...]]]:
    numbers: dict[Any, int] = {}
    rows = [distinct.conjunction(row) for row in range(len(distinct))]
    lists = [tuple(numbers.setdefault(part, len(numbers)) for part in row) for row in rows]
    return list(numbers), lists


@dataclass(frozen=True)
class Nearest(Relation):
    """Prototypes cover the rows whose nearest prototypes they are (the paper's first option)."""

    @property
    def partitions(self) -> bool:
        return True

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        prototypes, points = _with_points(distinct)
        sizes = np.array([len(prototypes.conjunction(row)) for row in range(len(prototypes))])
        complete = points.complete(X)  # a row with a missing number is nearest to nothing
        rows, everywhere = take_rows(X, np.flatnonzero(complete)), np.ones(len(complete), bool)
        codes = {size: np.full(len(complete), -1) for size in np.unique(sizes)}
        for size, found in codes.items():
            if size:
                found[complete] = prototypes.locate(prototypes.nearest(rows, int(size)))

        def mask(start: int, stop: int) -> Masks:
            return np.array([codes[sizes[row]] == row if sizes[row] else everywhere for row in range(start, stop)])

        return Blocks(mask)


@dataclass(frozen=True)
class Ball(Relation):
    """Prototypes cover the rows within a distance of every one of them (the paper's second option).

    Parameters
    ----------
    tau : float
        Distances up to and including this are covered.
    """

    tau: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", _to_tau(self.tau))

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts:
        prototypes, points = _with_points(distinct)
        parts, lists = _number_parts(prototypes)
        single = not isinstance(points.metric, Gower) and all(len(one) == 1 for one in lists)
        near = partial(self._near, points, [parts[one[0]] for one in lists], X) if single else None
        return Parts(parts, lists, prototypes.within(parts, X, self.tau), near=near)

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


@dataclass(frozen=True)
class Within(Relation):
    """Explanations closer than tau count as the same (paper, section 4.2).

    A relation between explanations, not between an explanation and rows: it generalizes consistency, not sufficiency.

    Parameters
    ----------
    tau : float
        Distances up to and including this count as the same.
    metric : str or callable
        Any metric of scikit-learn's.
    """

    tau: float
    metric: Any = "euclidean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", _to_tau(self.tau))

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        known, rows = vectors(distinct), vectors(explanations)
        masks = partial(near, tau=self.tau, metric=self.metric)
        own = callable(self.metric)  # a caller's function stays in the caller's thread

        def arranged(order: NDArray[np.int64]) -> Callable[[int, int], Masks]:
            size = 24 * rows.shape[1] * (len(order) + len(known))
            need(size, f"Distances of {len(known):,} vectors to {len(rows):,}", "sample rows, or take fewer features")
            return masks(known, rows[order])

        radii = np.full(len(known), self.tau)
        return Blocks(
            lambda start, stop: masks(known[start:stop], rows)(0, stop - start),
            not own,
            arranged,
            None if own else lambda: Near(known.copy(), rows.copy(), radii, to_metric_name(self.metric)),
        )


def vectors(explanations: Explanations) -> NDArray[np.float64]:
    """Explanations as points between which a distance makes sense."""
    if isinstance(explanations, Counterfactuals) and explanations.points.dtype != object:
        return explanations.points.astype(np.float64, copy=False)
    if isinstance(explanations, Importances) and not isinstance(explanations, Rankings):
        return explanations.values.astype(np.float64, copy=False)
    cells = " with categories, dates or missing values" if isinstance(explanations, Counterfactuals) else ""
    raise WrongType(f"A distance between explanations needs vectors of numbers; these are {explanations.kind}{cells}.")


def _to_tau(tau: Any) -> float:
    number = isinstance(tau, int | float | np.integer | np.floating) and not isinstance(tau, bool | np.timedelta64)
    if not number or not 0 <= tau < np.inf:
        raise BadInput(f"tau is a distance, a finite number of at least 0; got {tau!r}.")
    try:
        return float(tau)
    except OverflowError:
        raise BadInput(f"tau is too large a number to be a distance; got {tau!r}.") from None


@dataclass(frozen=True)
class Custom(Relation):
    """A caller's own relation: ``applies(X, explanation)`` says on which rows of X the explanation applies.

    The explanation comes as a plain value: a list of (feature, operator, value) for rules, a frozenset of words for
    highlights, a tuple of indices for prototypes, (point, original) for counterfactuals, a vector for importances,
    the key itself for plain keys. It is called in the caller's own thread.
    """

    applies: Callable[[Any, Any], Any]

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        rows = len(explanations)

        def mask(start: int, stop: int) -> Masks:
            return np.array([self._checked(X, distinct.item(row), rows) for row in range(start, stop)])

        return Blocks(mask, threads=False)

    def _checked(self, X: Any, explanation: Any, rows: int) -> Masks:
        made = self.applies(X, explanation)
        mask = to_vector(made, "The relation's mask")
        if mask.shape != (rows,) or mask.dtype != np.bool_:
            raise WrongType(
                f"The relation must give a mask of {rows:,} booleans, one a row; for {explanation!r} it gave "
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
    if isinstance(relation, Relation):
        return relation
    if isinstance(relation, type) or not callable(relation):
        raise WrongType(
            f"relation={relation!r} is none: pass Nearest(), Ball(tau), or a function applies(X, explanation) "
            "that gives a mask of rows."
        )
    return Custom(relation)


def says_where(explanations: Explanations, relation: Any) -> bool:
    """Whether sufficiency is defined for these explanations."""
    if relation is not None or isinstance(explanations, Conjunctions | Counterfactuals):
        return True
    return isinstance(explanations, Prototypes) and explanations.points is not None
