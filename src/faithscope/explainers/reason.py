"""Sufficient reasons: rules under which a tree model gives every row the prediction of the row, by proof.

Rules are searched for as boxes of cells (see `Forest`). A bound on the extreme leaves that a box reaches proves that
all rows in it get one prediction; conditions are dropped, and then widened, while it does.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.base import Explainer, Progress, blocks
from faithscope.explainers.ranges import range_condition, rules_of
from faithscope.explainers.space import Numbers
from faithscope.explainers.trees.forest import Forest
from faithscope.explainers.trees.reading import KNOWN, read_forest
from faithscope.explanations.base import claims
from faithscope.explanations.conditions.condition import Condition
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Bools, Codes, Floats, Ints, Names
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_flag
from faithscope.inputs.columns import Column, Rows, default_names, distinct_names
from faithscope.inputs.grouping import group
from faithscope.inputs.labels import to_labels
from faithscope.inputs.models import Model
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
    model : fitted classifier
        scikit-learn's decision trees, random forests, extra trees, GradientBoosting and HistGradientBoosting; models
        and boosters of XGBoost and LightGBM. Splits on categories are not read.
    X_train : (n, d) array or table, optional
        Rows on which the coverage that rules claim is counted, 10,000 at most.
    minimal : bool
        Drop conditions until none can be dropped. If False, the rule is all that the row meets on its ways.
    widen : bool
        Widen the bounds of the conditions that are left.

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
        minimal: bool = True,
        widen: bool = True,
    ) -> None:
        self.model, self.X_train = model, X_train
        self.minimal, self.widen = check_flag(minimal, "minimal"), check_flag(widen, "widen")
        self._forest = _proven(model)
        self._names = self._forest.names
        self._training: Floats | None = None
        if X_train is not None:
            rows, names = self._read(X_train)
            self._training = rows[np.random.default_rng(0).permutation(len(rows))[:_COVERED]]
            self._names = self._names or (names if is_frame(X_train) else None)

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
        cells, labels = self._forest.cells(rows), self._predicted(X, len(rows))
        code, first = group((cells.astype(np.int64), labels[:, None]))
        sizes, done, order = np.bincount(code), 0, [np.empty(0, np.int64)]
        conjunctions: list[list[Condition]] = []

        @cache
        def condition(j: int, low: int, high: int) -> Condition:
            return range_condition(j, names[j], self._forest.edges[j], low, high)

        for label in np.unique(labels[first]).tolist():
            own = np.flatnonzero(labels[first] == label)
            for block in blocks(len(own), _CELLS // max(1, len(self._forest.leaves.low))):
                boxes = self._explained(cells[first[own[block]]], label)
                conjunctions += [
                    [condition(j, int(low[j]), int(high[j])) for j in np.flatnonzero(kept).tolist()]
                    for low, high, kept in zip(boxes.low, boxes.high, boxes.kept, strict=True)
                ]
                order.append(own[block])
                if progress:
                    done += int(sizes[own[block]].sum())
                    progress(done, len(rows))
        rules = rules_of(conjunctions, names)
        claimed = {"precision": np.ones(len(rules))}  # of all, by proof
        if self._training is not None and len(self._training):
            parts = list({part: None for rule in rules.distinct for part in rule})
            held = dict(zip(parts, rules.holds(parts, self._training), strict=True))
            every = np.ones(len(self._training), bool)
            shares = [np.logical_and.reduce([every, *(held[part] for part in rule)]).mean() for rule in rules.distinct]
            claimed["coverage"] = np.array(shares)[rules.codes]
        return rules._with(claimed=claims(claimed)).take(np.argsort(np.concatenate(order))[code])

    def _explained(self, cells: Codes, label: int) -> "Boxes":
        """The boxes of rows with one label; raises if the sums of the trees do not give it."""
        forest = self._forest
        sums = forest.sums(cells) * forest.divisor
        outputs = np.column_stack([np.zeros(len(sums)), sums]) if sums.shape[1] == 1 else sums
        if (outputs[:, label] - outputs.max(axis=1) < -2 * forest.tolerance - _LEAST).any():
            raise self._misread("its predictions are not those of its trees")
        boxes = Boxes(forest, cells, label_slack(forest, label))
        if self.minimal:
            boxes.drop()
            if self.widen:
                boxes.widen()
        return boxes

    def _predicted(self, X: Any, rows: int) -> Ints:
        """The position of each row's label among the classes."""
        if not rows:
            return np.empty(0, np.int64)
        try:
            answer = Model(self.model).function("labels")(X)
        except (TypeError, ValueError) as problem:  # columns that it was not fitted with
            raise BadInput(f"The model cannot predict these rows: {str(problem).splitlines()[0]}") from None
        places = {label: place for place, label in enumerate(np.asarray(self._forest.classes).tolist())}
        try:
            return np.array([places[label] for label in to_labels(answer).tolist()], np.int64)
        except KeyError as strange:
            raise self._misread(f"it predicts {strange}, which is none of its classes") from None

    def _misread(self, why: str) -> BadInput:
        """The error that a model is not what its trees say."""
        name = Model(self.model).name
        return BadInput(f"The trees of this {name} are not all that decides: {why}, so nothing can be proven.")

    def _read(self, X: Any) -> tuple[Floats, Names]:
        """Rows as a matrix, and the features' names."""
        given = Rows(X)
        width, known = self._forest.features, self._names
        columns = given.columns or ([] if given.named else [Column("", np.empty(0))] * width)
        own, fitted = ([name.replace(" ", "_") for name in names or ()] for names in (given.names, known))
        turned = given.named and known and own != fitted  # LightGBM keeps blanks in names as underscores
        if len(columns) != width or turned:
            raise BadInput(
                f"Rows have {len(columns)} features, {', '.join(given.names[:12])}, and the model, or X_train, has "
                f"{width}, {', '.join((known or ())[:12])}: pass the same columns in the same order."
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


def _proven(model: Any) -> Forest:
    """A forest of whose predictions something can be proven; a single tree votes, which leaves nothing to rounding."""
    forest, name = read_forest(model), Model(model).name
    if forest is None:
        raise WrongType(
            f"A sufficient reason is proven from the trees of a model, and {name} has none that can be read: pass one "
            f"of {KNOWN}; of a pipeline its last step and the changed rows, SufficientReason(model[-1])"
            ".explain(model[:-1].transform(X)); explain other models with Anchors."
        )
    if forest.classes is None:
        raise BadInput(
            f"{name} predicts numbers, and reasons are proven of labels: pass a classifier, which may be fitted to "
            "bins of the numbers, or use Anchors(model, X_train, agreement=fs.Tolerance(eps))."
        )
    if forest.unproven:
        raise BadInput(forest.unproven)
    if len(forest.trees) > 1 or forest.outputs is not None:
        return forest
    values = forest.trees[0].values
    return replace(forest, trees=[forest.trees[0]._replace(values=np.eye(values.shape[1])[values.argmax(axis=1)])])


class Boxes:
    """One box per row: a range of cells of each feature that is kept, or missing alone.

    It begins as the conditions that the row meets on its ways through all trees, with one leaf of every tree. A sum
    over trees is at least the sum of the least values of the leaves that the box reaches in each tree. Of one tree this
    is exact; of several it may be too low, never too high. If a box reaches a single leaf of every tree, all rows in it
    get the same sum in any arithmetic.

    Parameters
    ----------
    forest : Forest
    cells : (n, d) array
    slack : callable
        From reached leaves (leaves, n) and which rows these are, (n,), to by how much the bound keeps each prediction;
        positive if it is proven.

    Attributes
    ----------
    low, high : (n, d) arrays
        The first and the last cell; of missing values a range that holds none.
    missing : (n, d) array of bool
        Whether the box asks for missing in a feature.
    kept : (n, d) array of bool
        The features with a condition.
    shut : (leaves, n) array
        How many of the kept features keep the box out of each leaf. It reaches those with none.
    """

    def __init__(self, forest: Forest, cells: Codes, slack: "Slack") -> None:
        self.forest, self._slack, leaves = forest, slack, forest.leaves
        self.missing = cells < 0
        self.kept: Bools = np.ones(cells.shape, bool)
        self.low, self.high = np.where(self.missing, forest.most + 1, cells), cells.copy()
        reach = self._counted() == 0
        for j, most in enumerate(forest.most):
            first = np.where(reach, leaves.low[:, j, None], most.dtype.type(0)).max(axis=0)
            last = np.where(reach, leaves.high[:, j, None], most).min(axis=0)
            goes = np.where(reach, leaves.missing[:, j, None], True).all(axis=0)
            self.low[:, j] = np.where(self.missing[:, j], self.low[:, j], first)
            self.high[:, j] = np.where(self.missing[:, j], self.high[:, j], last)
            self.kept[:, j] = (first > 0) | (last < most) | ~goes
        self.shut = self._counted()

    def _counted(self) -> Codes:
        rows, features = self.low.shape
        shut = np.zeros((len(self.forest.leaves.low), rows), np.min_scalar_type(features))
        for j in range(features):
            shut += self.shut_by(j, np.arange(rows))
        return shut

    def shut_by(self, features: Ints | int, rows: Ints) -> Bools:
        """The leaves that a feature, or one feature per row, keeps the boxes of some rows out of: (leaves, rows)."""
        leaves, chosen = self.forest.leaves, np.atleast_1d(features)  # a column of leaves for all rows, or one per row
        low, high, missing, kept = (part[rows, features] for part in (self.low, self.high, self.missing, self.kept))
        apart = (leaves.high[:, chosen] < low) | (leaves.low[:, chosen] > high)
        return np.asarray((apart & ~(leaves.missing[:, chosen] & missing) if missing.any() else apart) & kept)

    def without(self, features: Ints | int, rows: Ints) -> Codes:
        """How many of the other kept features keep the boxes of some rows out of each leaf."""
        return self.shut[:, rows] - self.shut_by(features, rows)

    def proves(self, reach: Bools, rows: Ints) -> Bools:
        """Whether all rows of boxes that reach these leaves get the prediction of the box's own row: (rows,)."""
        proven = self._slack(reach, rows) > 0
        near = np.flatnonzero(~proven)
        if len(near):
            proven[near] = np.count_nonzero(reach[:, near], axis=0) == len(self.forest.trees)
        return proven

    def drop(self) -> None:
        """Drop the conditions that can be dropped, of each row those first that the bound needs least.

        A condition that could not be dropped cannot be dropped later, since boxes only grow: no single condition of
        those that are left can be dropped.
        """
        slack = np.full(self.kept.shape, np.inf)
        for j in range(self.kept.shape[1]):
            rows = np.flatnonzero(self.kept[:, j])
            if len(rows):
                slack[rows, j] = self._slack(self.without(j, rows) == 0, rows)
        for features in np.argsort(-slack, axis=1, kind="stable").T:
            rows = np.flatnonzero(self.kept[np.arange(len(slack)), features])
            without = self.without(features[rows], rows)
            proven = self.proves(without == 0, rows)
            dropped = rows[proven]
            self.kept[dropped, features[dropped]] = False
            self.shut[:, dropped] = without[:, proven]

    def widen(self) -> None:
        """Widen ranges as far as the bound allows, feature by feature, downwards first.

        By bisection between an end that is proven and the farthest that may be: a wider range is proven less.
        """
        for j, most in enumerate(self.forest.most.tolist()):
            rows = np.flatnonzero(self.kept[:, j] & ~self.missing[:, j])
            without = self.without(j, rows)
            for ends, limit in ((self.low, 0), (self.high, most)):
                good, far = ends[rows, j].astype(np.int64), np.full(len(rows), limit)
                while (left := np.flatnonzero(good != far)).size:
                    way, part = far[left] - good[left], rows[left]
                    middle = good[left] + np.sign(way) * ((np.abs(way) + 1) // 2)  # rounded towards the limit
                    ends[part, j] = middle
                    reached = self.proves((without[:, left] == 0) & ~self.shut_by(j, part), part)
                    good[left[reached]] = middle[reached]
                    far[left[~reached]] = (middle - np.sign(way))[~reached]
                ends[rows, j] = good
            self.shut[:, rows] = without + self.shut_by(j, rows)


Slack = Callable[[Bools, Ints], Floats]


def label_slack(forest: Forest, label: int) -> Slack:
    """That the output of a class stays above those of all others; of one output, that of class 1, it is above 0."""
    leaves, base, outputs = forest.leaves, forest.base, forest.outputs
    if outputs is not None and len(base) == 1:
        base, outputs = np.array([0.0, base[0]]), np.ones(len(outputs), np.int64)
    others = [other for other in range(len(base)) if other != label]
    # Of exact sums, the first class wins ties.
    needed = [-_LEAST / 2 if forest.exact and outputs is None and label < k else forest.tolerance for k in others]
    values = leaves.values[:, 0]  # those of trees of other classes have the other sign
    if outputs is not None:
        values = values * np.repeat(np.where(outputs == label, 1, -1), np.diff([*leaves.starts, len(values)]))

    def slack(reach: Bools, rows: Ints) -> Floats:
        if outputs is None:
            gaps = [_total(_least(forest, leaves.values[:, label] - leaves.values[:, k], reach)) for k in others]
        else:
            least = _least(forest, values, reach)
            sums = [_total(least[outputs == output]) for output in range(len(base))]
            gaps = [sums[label] + sums[other] + (base[label] - base[other]) for other in others]
        safe = [gap - need for gap, need in zip(gaps, needed, strict=True)]
        return np.min(safe, axis=0) if safe else np.full(len(rows), np.inf)

    return slack


def _least(forest: Forest, values: Floats, reach: Bools) -> Floats:
    """The least of leaf values that each box reaches, by tree: (trees, n)."""
    return np.minimum.reduceat(np.where(reach, values[:, None], np.inf), forest.leaves.starts, axis=0)


def _total(terms: Floats) -> Floats:
    """Sums over the first axis, one term after the other, so that they do not depend on the number of columns."""
    return np.asarray(np.cumsum(terms, axis=0)[-1]) if len(terms) else np.zeros(terms.shape[1:])
