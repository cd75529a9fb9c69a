"""Sufficient reasons: rules under which a tree model gives every row the prediction of the row, by proof.

Rules are searched for as boxes of cells (see `Forest`). A bound on the extreme leaves that a box reaches proves that
all rows in it get one prediction; conditions are dropped, and then widened, while it does.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.base import Explainer, Progress, blocks
from faithscope.explainers.space import Numbers
from faithscope.explainers.trees.forest import Forest
from faithscope.explainers.trees.reading import KNOWN, has_trees, read_forest
from faithscope.explanations.base import claims
from faithscope.explanations.conditions.condition import Condition, conjoin, to_condition
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Bools, Codes, Floats, Ints, Names
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.checks import check_flag
from faithscope.inputs.columns import Column, Rows, default_names, distinct_names
from faithscope.inputs.grouping import group
from faithscope.inputs.hints import hint
from faithscope.inputs.labels import to_labels
from faithscope.inputs.models import Model, owner_of
from faithscope.runtime.memory import in_memory

_CELLS = 2**20  # leaves x rows looked at at once
_COVERED = 10_000  # training rows that coverage is counted on, as Anchors does
_LEAST = 2.0**-20  # differences of exact sums are larger


class SufficientReason(Explainer):
    """Explains a row by a rule under which a tree model always gives the row's prediction: not nearly always, always.

    The rule begins as all conditions that the row meets on its ways through the trees. A condition is dropped, and
    then the bounds of the others are widened, while a bound proves that no row of the rule is predicted otherwise: the
    sum over trees of the least leaf value that the rule reaches, for the predicted class against every other one. Of a
    single tree this is exact. Of several trees it may keep a condition that is not needed, and it never drops one that
    is. So sufficiency is 1 on every population: on real rows, on perturbed rows, on any rows.

    Conditions are in the model's own arithmetic: every float that satisfies them goes through the trees as proven,
    those next to a threshold too, and the bound allows for rounding in the model's sums. A rule without a condition on
    a feature holds for any value of it, and for missing ones if the model takes them.

    Parameters
    ----------
    model : fitted model
        scikit-learn's decision trees, random forests, extra trees, GradientBoosting and HistGradientBoosting; models
        and boosters of XGBoost and LightGBM. Splits on categories are not read.
    X_train : (n, d) array or table, optional
        Rows on which the coverage that rules claim is counted, 10,000 at most.
    order : "importance" or sequence of features
        Which condition is dropped first: the one that the bound needs least, or the first feature listed. Features
        that are not listed come last, by importance.
    minimal : bool
        Drop conditions until none can be dropped. If False, the rule is all that the row meets on its ways.
    widen : bool
        Widen the bounds of the conditions that are left.
    eps : float, optional
        Of a regressor, which needs it: under the rule, predictions stay within eps of the row's own.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> rows = np.column_stack([np.arange(100), np.arange(100) % 7])
    >>> forest = RandomForestClassifier(20, random_state=0).fit(rows, rows[:, 0] >= 50)
    >>> rules = SufficientReason(forest).explain([[80, 3], [20, 0]])
    >>> rules.describe(0), rules.describe(1)
    ('x0 > 50.5', 'x0 <= 49.5')
    """

    def __init__(
        self,
        model: Any,
        X_train: Any = None,
        *,
        order: str | Sequence[int | str] = "importance",
        minimal: bool = True,
        widen: bool = True,
        eps: float | None = None,
    ) -> None:
        self.model, self.X_train, self.order = model, X_train, order
        self.minimal, self.widen = check_flag(minimal, "minimal"), check_flag(widen, "widen")
        self._forest = _proven(model)
        self.eps = self._checked(eps)
        self._names = frame_names(X_train) if X_train is not None and is_frame(X_train) else None
        self._listed = self._positions(order)
        self._training: Codes | None = None
        if X_train is not None:
            rows = self._read(X_train)[0]
            rows = rows[np.random.default_rng(0).permutation(len(rows))[:_COVERED]] if len(rows) > _COVERED else rows
            self._training = self._forest.cells(rows)

    def _checked(self, eps: Any) -> float | None:
        """How far predicted numbers may go, which models of numbers need and models of labels must not have."""
        name = Model(self.model).name
        if self._forest.classes is not None:
            if eps is not None:
                raise BadInput(f"eps= is for predicted numbers, and {name} predicts labels: leave it out.")
            return None
        if eps is None:
            raise BadInput(f"{name} predicts numbers: pass eps=, how far from the row's own prediction they may go.")
        if isinstance(eps, bool) or not isinstance(eps, int | float | np.number) or not 0 <= eps < np.inf:
            raise BadInput(f"eps must be a finite number of at least 0; got {eps!r}.")
        return float(eps)

    def _positions(self, order: Any) -> list[int]:
        """Positions of the features whose conditions are dropped first."""
        if isinstance(order, str) and order == "coverage":
            raise BadInput('order="coverage" was removed: use "importance", or list features, those to drop first.')
        if isinstance(order, str) and order == "importance":
            return []
        told = f'order must be "importance" or a list of features; got {order!r}.'
        if isinstance(order, str):
            raise BadInput(told)
        try:
            listed = list(order)
        except TypeError:
            raise WrongType(told) from None
        names = tuple(self._forest.names or self._names or default_names(self._forest.features))
        positions = []
        for feature in listed:
            whole = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
            if not (feature in names if isinstance(feature, str) else whole and 0 <= feature < len(names)):
                named = isinstance(feature, str)
                advice = hint(feature, names) if named else f"Positions go from 0 to {len(names) - 1}."
                raise BadInput(f"order names {feature!r}, which is no feature of the model. {advice}")
            positions.append(names.index(feature) if isinstance(feature, str) else int(feature))
        if len(set(positions)) < len(positions):
            raise BadInput("order lists a feature twice: list each feature once.")
        return positions

    @in_memory("explain fewer rows, or a model with fewer leaves")
    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """One rule per row, which covers the row; `Rules.claimed` says that its precision is 1.

        Parameters
        ----------
        X : (n, d) array or table
            Numbers. Values may be missing if the model takes missing values.
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, whenever more are done.
        """
        rows, names = self._read(X)
        cells, labels, numbers = self._forest.cells(rows), *self._predicted(X, len(rows))
        code, first = group((cells.astype(np.int64), labels[:, None]))
        boxes, done = [], 0
        order = np.argsort(labels[first], kind="stable")
        for label in np.unique(labels[first]).tolist():
            own = first[labels[first] == label]
            for block in blocks(len(own), _CELLS // max(1, len(self._forest.leaves.low))):
                chosen = own[block]
                bound: Bound = LabelBound(self._forest, label)
                if self.eps is not None:
                    bound = NumberBound(self._forest, numbers[chosen], self.eps)
                boxes.append(self._explained(cells[chosen], bound))
                if progress:
                    done += int(np.isin(code, code[chosen]).sum())
                    progress(done, len(rows))
        parts = np.full(len(first), -1)
        parts[order] = np.arange(len(first))
        return self._rules(boxes, names).take(parts[code])

    def _explained(self, cells: Codes, bound: "Bound") -> "Boxes":
        boxes = Boxes.of(self._forest, cells)
        if bound.misread(boxes.reach).any():
            raise self._misread("its predictions are not those of its trees")
        if not self.minimal:
            return boxes
        order = by_slack(boxes, bound)
        if self._listed:  # before the others
            rest = order[~np.isin(order, self._listed)].reshape(len(order), -1)
            order = np.concatenate([np.tile(np.array(self._listed, np.int64), (len(order), 1)), rest], axis=1)
        boxes = drop_in_order(boxes, bound, order)
        return widen(boxes, bound) if self.widen else boxes

    def _predicted(self, X: Any, rows: int) -> tuple[Ints, Floats]:
        """The position of each row's label among the classes; or 0, and the number predicted."""
        if not rows:
            return np.empty(0, np.int64), np.empty(0)
        try:
            answer = Model(self.model).function(numbers=self.eps is not None)(X)
        except (TypeError, ValueError) as problem:  # columns that it was not fitted with
            raise BadInput(f"The model cannot predict these rows: {str(problem).splitlines()[0]}") from None
        if self._forest.classes is None:
            return np.zeros(rows, np.int64), np.asarray(answer, np.float64).reshape(rows)
        places = {label: place for place, label in enumerate(self._forest.classes.tolist())}
        try:
            return np.array([places[label] for label in to_labels(answer).tolist()], np.int64), np.zeros(rows)
        except KeyError as strange:
            raise self._misread(f"it predicts {strange}, which is none of its classes") from None

    def _misread(self, why: str) -> BadInput:
        """The error that a model is not what its trees say."""
        name = Model(self.model).name
        return BadInput(f"The trees of this {name} are not all that decides: {why}, so nothing can be proven.")

    def _read(self, X: Any) -> tuple[Floats, Names]:
        """Rows as a matrix, and the features' names."""
        given = Rows(X)
        width, known = self._forest.features, self._forest.names or self._names
        columns = given.columns or ([] if given.named else [Column("", np.empty(0))] * width)
        if len(columns) != width:
            raise BadInput(f"Rows have {len(columns)} features but the model was fitted with {width}: pass the same.")
        for own, other in zip(given.names, known or (), strict=False) if given.named else ():
            if own.replace(" ", "_") != other.replace(" ", "_"):  # LightGBM keeps names so
                raise BadInput(
                    f"Rows have the column {own!r} where the model, or X_train, has {other!r}: pass the same "
                    "columns in the same order."
                )
        names = distinct_names(given.names if given.named else known or default_names(width))
        coded = [Numbers(name).encode(column)[0] for name, column in zip(names, columns, strict=True)]
        rows = np.column_stack(coded)
        missing = np.argwhere(np.isnan(rows))
        if len(missing) and not self._forest.takes_missing:
            row, j = missing[0]
            raise BadInput(
                f"Row {row} misses {names[j]!r}, and {type(self.model).__name__} does not take missing values: fill "
                "it in, or drop the row."
            )
        return rows, names

    def _rules(self, boxes: "Sequence[Boxes]", names: Names) -> Rules:
        """One rule per box, with what is claimed of it: a precision of 1, and a coverage if training rows are known."""

        @cache
        def condition(j: int, low: int, high: int, missing: bool) -> Condition:
            if missing:
                return to_condition(j, names[j], "==", None)
            edges = self._forest.edges[j]
            above = [to_condition(j, names[j], ">", float(edges[low - 1]))] if low > 0 else []
            below = [to_condition(j, names[j], "<=", float(edges[high]))] if high < len(edges) else []
            bounds = above + below or [to_condition(j, names[j], "!=", None)]  # of all cells, that there is a value
            return bounds[0] if len(bounds) == 1 else bounds[0] & bounds[1]

        conjunctions = [
            conjoin(
                condition(j, int(part.low[row, j]), int(part.high[row, j]), bool(part.missing[row, j]))
                for j in np.flatnonzero(part.kept[row]).tolist()
            )
            for part in boxes
            for row in range(len(part.low))
        ]
        distinct, codes = number_conjunctions(conjunctions)
        columns = {"precision": np.ones(len(conjunctions))}
        if self._training is not None:
            shares = [part.covered(self._training) / max(1, len(self._training)) for part in boxes]
            columns["coverage"] = np.concatenate([*shares, np.empty(0)])
        return Rules(np.asarray(codes, np.int64), distinct, names)._with(claimed=claims(columns))


def _proven(model: Any) -> Forest:
    """A forest of whose predictions something can be proven; a single tree votes, which leaves nothing to rounding."""
    owner = owner_of(model)
    name, steps = type(owner).__name__, getattr(owner, "steps", None)
    if isinstance(steps, list) and steps and has_trees(steps[-1][-1]):
        raise WrongType(
            f"A sufficient reason is proven of what trees read, and this {name} changes rows before its trees read "
            "them: pass its last step and the changed rows, SufficientReason(model[-1]).explain("
            "model[:-1].transform(X))."
        )
    if not has_trees(model):
        raise WrongType(
            f"A sufficient reason is proven from the trees of a model, and {name} has none that can be read: pass one "
            f"of {KNOWN}; explain other models with Anchors."
        )
    forest = read_forest(model)
    if forest.unproven:
        raise BadInput(forest.unproven)
    if len(forest.trees) > 1 or forest.classes is None or forest.outputs is not None:
        return forest
    values = forest.trees[0].values
    return replace(forest, trees=[forest.trees[0]._replace(values=np.eye(values.shape[1])[values.argmax(axis=1)])])


@dataclass(frozen=True, eq=False)
class Boxes:
    """One box per row: a range of cells of each feature that is kept, or missing alone.

    Attributes
    ----------
    forest : Forest
    low, high : (n, d) arrays
        The first and the last cell; of missing values a range that holds none.
    missing : (n, d) array of bool
        Whether the box asks for missing in a feature.
    kept : (n, d) array of bool
        The features with a condition.
    shut : (leaves, n) array
        How many of the kept features keep the box out of each leaf. It reaches those with none.
    """

    forest: Forest
    low: Codes
    high: Codes
    missing: Bools
    kept: Bools
    shut: Codes

    @classmethod
    def of(cls, forest: Forest, cells: Codes) -> "Boxes":
        """The conditions that rows meet on their ways through all trees: a box with one leaf of every tree."""
        leaves, missing, kept = forest.leaves, cells < 0, np.ones(cells.shape, bool)
        none = np.zeros((len(leaves.low), len(cells)), np.uint8 if forest.features < 256 else np.uint16)
        boxes = cls(forest, np.where(missing, forest.most + 1, cells), cells.copy(), missing, kept, none)
        reach = boxes._counted().reach
        for j, most in enumerate(forest.most):
            first = np.where(reach, leaves.low[:, j, None], most.dtype.type(0)).max(axis=0)
            last = np.where(reach, leaves.high[:, j, None], most).min(axis=0)
            goes = np.where(reach, leaves.missing[:, j, None], True).all(axis=0)
            boxes.low[:, j] = np.where(missing[:, j], boxes.low[:, j], first)
            boxes.high[:, j] = np.where(missing[:, j], boxes.high[:, j], last)
            kept[:, j] = (first > 0) | (last < most) | ~goes
        return boxes._counted()

    def _counted(self) -> "Boxes":
        """The same with `shut` counted anew."""
        shut = np.zeros_like(self.shut)
        for j in range(self.low.shape[1]):
            shut += self.shut_by(j)
        return replace(self, shut=shut)

    @property
    def reach(self) -> Bools:
        """The leaves that each box reaches: (leaves, n)."""
        return np.asarray(self.shut == 0)

    def take(self, rows: Any) -> "Boxes":
        """The boxes of some rows."""
        low, high, missing, kept = (part[rows] for part in (self.low, self.high, self.missing, self.kept))
        return Boxes(self.forest, low, high, missing, kept, self.shut[:, rows])

    def shut_by(self, features: Codes | int) -> Bools:
        """The leaves that a feature, or one feature per row, keeps each box out of: (leaves, n)."""
        rows = np.arange(len(self.low))
        ends = self.low[rows, features], self.high[rows, features], self.missing[rows, features]
        return np.asarray(_outside(self.forest, features, *ends) & self.kept[rows, features])

    def without(self, features: Codes | int) -> Codes:
        """How many of the other kept features keep each box out of each leaf."""
        return self.shut - self.shut_by(features)

    def covered(self, cells: Codes) -> Ints:
        """How many rows of cells (N, d) each box covers: (n,)."""
        inside = np.ones((len(cells), len(self.low)), bool)
        for j in np.flatnonzero(self.kept.any(axis=0)).tolist():
            cell = cells[:, j, None]
            number = (cell >= self.low[:, j]) & (cell <= self.high[:, j]) & (cell >= 0)
            inside &= number | (self.missing[:, j] & (cell < 0)) | ~self.kept[:, j]
        return np.asarray(np.count_nonzero(inside, axis=0))


def _outside(forest: Forest, features: Codes | int, low: Codes, high: Codes, missing: Bools) -> Bools:
    """The leaves that no value from low to high reaches, nor a missing one if that is asked for: (leaves, n)."""
    leaves, chosen = forest.leaves, np.atleast_1d(features)  # a column of leaves for all rows, or one per row
    apart = (leaves.high[:, chosen] < low) | (leaves.low[:, chosen] > high)
    return np.asarray(apart & ~(leaves.missing[:, chosen] & missing) if missing.any() else apart)


@dataclass(frozen=True, eq=False)
class Bound(ABC):
    """How safe the predictions of rows are within their boxes.

    A sum over trees is at least the sum of the least values of the leaves that the box reaches in each tree. Of one
    tree this is exact; of several it may be too low, never too high. If a box reaches a single leaf of every tree, all
    rows in it get the same sum in any arithmetic.
    """

    forest: Forest

    @abstractmethod
    def slack(self, reach: Bools) -> Floats:
        """By how much the bound keeps each prediction, from (leaves, n) reached leaves; positive if it is proven."""

    @abstractmethod
    def misread(self, reach: Bools) -> Bools:
        """Which predictions the trees' own sums do not give, from the leaves that rows reach themselves: (n,)."""

    def proves(self, reach: Bools) -> Bools:
        """Whether all rows of each box get its prediction: (n,)."""
        proven = self.slack(reach) > 0
        near = np.flatnonzero(~proven)
        if len(near):
            proven[near] = np.count_nonzero(reach[:, near], axis=0) == len(self.forest.trees)
        return proven

    def take(self, rows: Bools | Ints | slice) -> "Bound":
        """The bound of some of the rows."""
        return self

    def _least(self, values: Floats, reach: Bools) -> Floats:
        """The least of leaf values that each box reaches, by tree: (trees, n)."""
        reached = np.where(reach, values[:, None], np.inf)
        return np.minimum.reduceat(reached, self.forest.leaves.starts, axis=0)


def _total(terms: Floats) -> Floats:
    """Sums over the first axis, one term after the other, so that they do not depend on the number of columns."""
    return np.asarray(np.cumsum(terms, axis=0)[-1]) if len(terms) else np.zeros(terms.shape[1:])


@dataclass(frozen=True, eq=False)
class LabelBound(Bound):
    """That the output of the predicted class stays above those of all others.

    Attributes
    ----------
    label : int
        The position of the predicted class, the same for all rows.
    """

    label: int

    def slack(self, reach: Bools) -> Floats:
        model, values = self.forest, self.forest.leaves.values
        if model.outputs is None:
            gaps = {
                other: _total(self._least(values[:, self.label] - values[:, other], reach)) for other in self._others
            }
        elif len(model.base) == 1:
            sign = 1.0 if self.label else -1.0
            gaps = {1 - self.label: _total(self._least(sign * values[:, 0], reach)) + sign * model.base[0]}
        else:
            least = self._least(self._signed, reach)
            sums = [_total(least[model.outputs == output]) for output in range(len(model.base))]
            starts = model.base[self.label] - model.base
            gaps = {other: sums[self.label] + sums[other] + starts[other] for other in self._others}
        safe = []
        for other, gap in gaps.items():
            first = model.exact and self.label < other and len(model.base) > 1  # of exact sums, it wins ties
            safe.append(gap - (-(2.0**-21) if first else model.tolerance))
        return np.asarray(np.min(safe, axis=0)) if safe else np.full(reach.shape[1], np.inf)

    def misread(self, reach: Bools) -> Bools:
        return self.slack(reach) < -2 * self.forest.tolerance - _LEAST

    @cached_property
    def _others(self) -> list[int]:
        return [other for other in range(len(self.forest.base)) if other != self.label]

    @cached_property
    def _signed(self) -> Floats:
        """Leaf values of trees of the predicted class; those of other classes with the other sign."""
        leaves = self.forest.leaves
        signs = np.where(self.forest.outputs == self.label, 1.0, -1.0)
        return np.asarray(leaves.values[:, 0] * np.repeat(signs, np.diff([*leaves.starts, len(leaves.values)])))


@dataclass(frozen=True, eq=False)
class NumberBound(Bound):
    """That predicted numbers stay within eps.

    Attributes
    ----------
    predictions : (n,) array
    eps : float
    """

    predictions: Floats
    eps: float

    def _ends(self, reach: Bools, tolerance: float, rounding: int) -> tuple[Floats, Floats, Floats]:
        """The least and the largest number that rows of each box may get, and by how much a prediction is rounded."""
        model, values = self.forest, self.forest.leaves.values[:, 0]
        low = _total(self._least(values, reach)) + model.base[0] - tolerance
        high = model.base[0] - _total(self._least(-values, reach)) + tolerance
        return model.number(low), model.number(high), rounding * model.precision * np.abs(self.predictions)

    def slack(self, reach: Bools) -> Floats:
        low, high, rounding = self._ends(reach, self.forest.tolerance, 8)
        return self.eps - rounding - np.maximum(self.predictions - low, high - self.predictions)

    def misread(self, reach: Bools) -> Bools:
        low, high, rounding = self._ends(reach, 2 * self.forest.tolerance, 16)
        return (self.predictions < low - rounding) | (self.predictions > high + rounding)

    def take(self, rows: Bools | Ints | slice) -> "NumberBound":
        return replace(self, predictions=self.predictions[rows])


def by_slack(boxes: Boxes, bound: Bound) -> Ints:
    """Features of each row, those first whose condition the bound needs least: (n, d)."""
    slack = np.full(boxes.kept.shape, np.inf)
    for j in range(boxes.kept.shape[1]):
        rows = np.flatnonzero(boxes.kept[:, j])
        if len(rows):
            slack[rows, j] = bound.take(rows).slack(boxes.take(rows).without(j) == 0)
    return np.argsort(-slack, axis=1, kind="stable")


def drop_in_order(boxes: Boxes, bound: Bound, order: Ints) -> Boxes:
    """Boxes without the conditions that can be dropped, tried in the order of each row.

    A condition that could not be dropped cannot be dropped later, since boxes only grow: no single condition of the
    result can be dropped.
    """
    kept, shut = boxes.kept.copy(), boxes.shut.copy()
    for features in order.T:
        rows = np.flatnonzero(kept[np.arange(len(kept)), features])
        current = replace(boxes, kept=kept, shut=shut).take(rows)
        without = current.without(features[rows])
        proven = bound.take(rows).proves(without == 0)
        kept[rows[proven], features[rows[proven]]] = False
        shut[:, rows[proven]] = without[:, proven]
    return replace(boxes, kept=kept, shut=shut)


def widen(boxes: Boxes, bound: Bound) -> Boxes:
    """Boxes whose ranges reach as far as the bound allows, feature by feature, downwards first."""
    boxes = replace(boxes, low=boxes.low.copy(), high=boxes.high.copy(), shut=boxes.shut.copy())
    for j in range(boxes.forest.features):
        rows = np.flatnonzero(boxes.kept[:, j] & ~boxes.missing[:, j])
        if len(rows):
            _widen(boxes, bound.take(rows), rows, j)
    return boxes


def _widen(boxes: Boxes, bound: Bound, rows: Ints, j: int) -> None:
    """Widen the range of one feature, of boxes that have one."""
    part = boxes.take(rows)
    without, low, high = part.without(j), part.low[:, j], part.high[:, j]

    def shut(low: Codes, high: Codes) -> Bools:
        return _outside(boxes.forest, j, low, high, np.zeros(len(low), bool))

    def proven(which: Ints, low: Codes, high: Codes) -> Bools:
        return bound.take(which).proves((without[:, which] == 0) & ~shut(low, high))

    low = _furthest(low, 0, lambda which, ends: proven(which, ends, high[which]))
    wide = _furthest(high, int(boxes.forest.most[j]), lambda which, ends: proven(which, low[which], ends))
    boxes.low[rows, j], boxes.high[rows, j] = low, wide
    boxes.shut[:, rows] = without + shut(low, wide)


def _furthest(start: Codes, limit: int, proven: Callable[[Ints, Codes], Bools]) -> Codes:
    """The end of each range that is nearest to the limit and proven, by bisection: a wider range is proven less.

    Requires: the ranges that end at `start` are proven.
    """
    good, far = start.astype(np.int64), np.full(len(start), limit)  # what lies between is not yet decided
    while (rows := np.flatnonzero(good != far)).size:
        way = far[rows] - good[rows]
        middle = good[rows] + np.sign(way) * ((np.abs(way) + 1) // 2)  # rounded towards the limit
        reached = proven(rows, middle)
        good[rows[reached]] = middle[reached]
        far[rows[~reached]] = (middle - np.sign(way))[~reached]
    return good.astype(start.dtype)
