"""The kinds of relations, and from what a caller chose (an object, a function, nothing) to one of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from faithscope.errors import BadInput, NotProven, NotScoped, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions, as_they_come
from faithscope.explanations.counterfactuals import Balls, Counterfactuals
from faithscope.explanations.distances.metrics import Gower, to_metric_name
from faithscope.explanations.distances.points import Points
from faithscope.explanations.distances.tiles import Near, arranged_masks
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.reasons import Reasons
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Floats
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.checks import check_function, check_whole, is_real
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.relations.base import Blocks, Masks, Parts, Relation, Same, number_parts
from faithscope.relations.judged import Judged


@dataclass(frozen=True)
class Applies(Relation):
    """An explanation covers the rows it says it applies to: sufficiency.

    Rules and highlights cover the rows on which all their conditions hold; a counterfactual covers the open ball around
    its row.

    Parameters
    ----------
    exclusive : bool
        Whether the rules are known to be the leaves of one tree, so that each row is covered by exactly one.

    Examples
    --------
    >>> from faithscope import Highlights
    >>> words = Highlights([{"dull"}, {"great"}])
    >>> covered = Applies().cover(words, words, X=["great plot", "dull plot"])
    >>> covered.parts, {part: mask.tolist() for part, mask in covered.masks(None)}
    (['dull', 'great'], {0: [False, True], 1: [True, False]})
    """

    exclusive: bool = False

    @property
    def partitions(self) -> bool:
        return self.exclusive

    def scopes(self, explanations: Explanations) -> Explanations:
        if isinstance(explanations, Conjunctions | Balls):
            return explanations
        if isinstance(explanations, Counterfactuals):
            return explanations.balls()
        if isinstance(explanations, Prototypes):
            raise NotScoped(
                "These prototypes are only indices, which do not say where they apply: pass the rows they stand for, "
                "Prototypes(indices, points), and relation=Nearest() (the default) or relation=Ball(tau)."
            )
        if isinstance(explanations, Reasons):
            raise NotScoped(
                f"These are {explanations.kind}, which do not say where they apply: ask a judge, "
                "relation=fs.Judged(answers), or measure consistency, with discretizer=fs.Codebook(...), or "
                "within(fs.Importances(embeddings), predictions, tau)."
            )
        instead = "pass relation=fs.Alike(), for rows alike in the features that they name, or use within(tau=...)"
        if not isinstance(explanations, Importances):
            instead = "pass relation=, a function applies(X, explanation) that gives a mask of rows"
        raise NotScoped(
            f"These are {explanations.kind}, which do not say where they apply, so sufficiency, necessity and encoding "
            f"are undefined. Measure consistency, or {instead}."
        )

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts | Blocks:
        if isinstance(distinct, Balls):
            if distinct.originals.dtype == object or isinstance(distinct.metric, Gower):
                return Blocks.of(distinct.inside(X))
            points, radii = Points(distinct.originals, distinct.metric, distinct.names), distinct.radii
            centers, metric = points.rows.astype(np.float64), to_metric_name(distinct.metric)
            return _by_distance(lambda: Near(centers, points.sample(X)[0], radii, metric, open=True), distinct.metric)
        assert isinstance(distinct, Conjunctions)
        parts, lists = number_parts(distinct)
        return Parts(parts, lists, partial(distinct.masks, parts, X), distinct.postings(parts, X))


def _by_distance(near: Callable[[], Near], metric: Any) -> Blocks:
    """Coverage within distances; a caller's function stays in the caller's thread."""
    return Blocks(arranged_masks(near), threads=not callable(metric), near=None if callable(metric) else near)


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

    partitions = True

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

        return Blocks.of(mask)


@dataclass(frozen=True)
class _ByDistance(Relation):
    """Up to a distance: a finite number of at least 0."""

    tau: float

    def __post_init__(self) -> None:
        if not is_real(self.tau) or not 0 <= self.tau < 1e308:
            raise BadInput(f"tau is a distance, a finite number of at least 0; got {self.tau!r}.")
        object.__setattr__(self, "tau", float(self.tau))


@dataclass(frozen=True)
class Ball(_ByDistance):
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

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts:
        prototypes, _ = _with_points(distinct)
        parts, lists = number_parts(prototypes)
        return Parts(parts, lists, lambda order: as_they_come(prototypes.within(parts, X, self.tau), order))


def _with_points(explanations: Explanations) -> tuple[Prototypes, Points]:
    if not isinstance(explanations, Prototypes):
        raise WrongType(f"Nearest() and Ball(tau) cover rows by prototypes; these are {explanations.kind}.")
    if explanations.points is None:
        raise BadInput("These prototypes are only indices: pass the rows they stand for, Prototypes(indices, points).")
    return explanations, explanations.points


@dataclass(frozen=True)
class Within(_ByDistance):
    """Explanations at distances up to tau count as the same (paper, section 4.2).

    A relation between explanations, not between an explanation and rows: it generalizes consistency, not sufficiency.

    Parameters
    ----------
    tau : float
        Distances up to and including this count as the same.
    metric : str or callable
        Any metric of scikit-learn's.

    Examples
    --------
    >>> from faithscope import Importances
    >>> vectors = Importances([[0.0], [0.4], [1.0]])
    >>> Within(0.5).cover(vectors, vectors, X=None).masks(None)(0, 1).tolist()
    [[True, True, False]]
    """

    metric: Any = "euclidean"

    def __post_init__(self) -> None:
        super().__post_init__()
        to_metric_name(self.metric)  # raises if it is none

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        known, rows = vectors(distinct), vectors(explanations)
        radii, metric = np.full(len(known), self.tau), to_metric_name(self.metric)
        return _by_distance(partial(Near, known, rows, radii, metric), metric)


def vectors(explanations: Explanations) -> Floats:
    """Explanations as vectors of numbers, between which there is a distance."""
    if isinstance(explanations, Counterfactuals) and explanations.points.dtype != object:
        return explanations.points.astype(np.float64, copy=False)
    if isinstance(explanations, Importances) and not isinstance(explanations, Rankings):
        return explanations.values.astype(np.float64, copy=False)
    cells = " with categories, dates or missing values" if isinstance(explanations, Counterfactuals) else ""
    raise WrongType(f"A distance between explanations needs vectors of numbers; these are {explanations.kind}{cells}.")


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

        def applies(explanation: Any) -> Masks:
            mask = to_vector(self.applies(X, explanation), "The relation's mask")
            if mask.shape != (rows,) or mask.dtype != np.bool_:
                raise WrongType(
                    f"The relation must give a mask of {rows:,} booleans, one per row; for {explanation!r} it gave "
                    f"shape {mask.shape} of {mask.dtype}."
                )
            return mask

        return Blocks.of(
            lambda start, stop: np.array([applies(distinct.item(row)) for row in range(start, stop)]), threads=False
        )


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
            f"relation={relation!r} is not a relation: pass Alike(), Nearest(), Ball(tau), Judged(answers), or a "
            "function applies(X, explanation) that gives a mask of rows."
        )
    return Custom(check_function(relation, "relation", "X", "explanation"))


def says_where(explanations: Explanations, relation: Any) -> bool:
    """Whether sufficiency is defined for these explanations."""
    if relation is not None or isinstance(explanations, Conjunctions | Counterfactuals):
        return True
    return isinstance(explanations, Prototypes) and explanations.points is not None


@dataclass(frozen=True)
class Alike:
    """The importances of a row cover the rows that are alike in the features that it names.

    "These features decide" is a statement about rows that share them, so that importances have a sufficiency: of the
    rows in x's bin of each of its k named features, how many get x's prediction? Consistency alone does not see which
    features are named; this does, since other features single out other rows.

    Beside the measure stand two baselines, paired with it on the same rows: `Estimate.beyond_random`, what it is more
    than that of as many features drawn at random per row, and `Estimate.beyond_global`, more than that of the same
    features for everybody, those that are largest on average.

    Parameters
    ----------
    k : int, optional
        How many features a row names: its k largest in size, the earlier of equal ones, and none of importance 0. By
        default 3, or as many as a discretizer has kept, such as ``SignOfTop(5)``.
    bins : int
        At most how many bins a number has, by the quantiles of its column; categories and missing values are as they
        are (`Importances.to_rules`).
    X_train : rows like X, optional
        The rows of which quantiles are taken; by default X itself, which changes little (``docs/features.md``).

    Examples
    --------
    >>> import faithscope as fs
    >>> rows = [[0.0, 5.0], [1.0, 9.0], [8.0, 5.0], [9.0, 9.0]]
    >>> first, second = fs.Importances([[1.0, 0.0]] * 4), fs.Importances([[0.0, 1.0]] * 4)
    >>> [fs.sufficiency(each, [0, 0, 1, 1], rows, relation=fs.Alike(k=1, bins=2)).value for each in (first, second)]
    [1.0, 0.0]
    """

    k: int | None = None
    bins: int = 4
    X_train: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_whole(self.bins, "bins", 2)
        if self.k is not None:
            check_whole(self.k, "k, the number of named features,")

    def about(self, explanations: Explanations, X: Any) -> Rules:
        """The rules that importances of these rows stand for."""
        if not isinstance(explanations, Importances):
            raise WrongType(
                f"Alike() covers rows by the features that importances name; these are {explanations.kind}: leave "
                "relation= out."
            )
        return explanations.to_rules(X, self.k, self.bins, self.X_train)
