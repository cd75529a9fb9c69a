"""Decision trees: a tree explained by its own paths, or a small tree fitted to any model's predictions."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faithscope.agreements import Spread, to_agreement
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.base import Explainer, Progress
from faithscope.explainers.ranges import range_condition, rules_of
from faithscope.explainers.space import Categories, Numbers, Scale, Space
from faithscope.explainers.trees.forest import Forest
from faithscope.explainers.trees.reading import tree_of
from faithscope.explanations.conditions.condition import Condition, conjoin
from faithscope.explanations.conditions.condition import to_condition as condition
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.checks import check_whole, same_length
from faithscope.inputs.columns import Rows, default_names, distinct_names
from faithscope.inputs.grouping import Words, group
from faithscope.inputs.labels import to_labels, to_predictions
from faithscope.inputs.models import Model
from faithscope.inputs.repeats import NOTICED, row_hashes
from faithscope.inputs.rows import rows_of
from faithscope.inputs.seeds import check_seed

_TELLING = 8  # leaves whose numbers of rows are hardly the same by chance


@dataclass(frozen=True, eq=False, repr=False)
class TreePath(Explainer):
    """Explains a row by its path through a fitted scikit-learn tree, a rule that covers exactly the rows of its leaf.

    Parameters
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted. It may be the model itself, or a surrogate for one. If it was fitted with missing values, its rules say
        where they go: "age <= 37 or missing". If it shows no sign of missing values, a row that misses a value gets a
        rule that asks for missing.
    table, missing, fitted_on
        Set by `surrogate`: the training table, which of its features miss values, and digests of its rows.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> TreePath(tree).explain([[0.0], [2.0]]).describe(1)
    'x0 > 0.5'
    """

    tree: Any
    table: Space | None = field(default=None, repr=False)
    missing: tuple[bool, ...] = field(default=(), repr=False)  # which features miss values in training
    fitted_on: Words | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not hasattr(self.tree, "tree_"):
            raise WrongType(f"TreePath needs a fitted scikit-learn decision tree; got {type(self.tree).__name__}.")

    @classmethod
    def surrogate(
        cls, predict: Any, X_train: Any, *, max_leaf_nodes: int = 64, seed: int = 0, agreement: Any = None
    ) -> "TreePath":
        """A tree that is fitted to a model's predictions for training rows: a regression tree if these are numbers.

        Judge it on other rows: on those that it was fitted on it seems more faithful than it is (64 leaves and 400 rows
        of coin flips: 0.82, and the truth is 0.5), and `evaluate` notes it.

        Predictions are numbers if the model is a regressor, such as scikit-learn's; or if it is no classifier, such as
        a function, and some predictions are fractions, or more than 50 of them, and than 9 in 10, are different
        numbers. `agreement` says so otherwise.

        Parameters
        ----------
        predict : model or function
        X_train : (n, d) array or table
            Columns that hold no numbers are categories, and the tree asks whether a row has one of them. Missing is a
            value of its own, and dates are numbers.
        max_leaf_nodes : int
            How many distinct explanations there may be.
        agreement : Agreement, optional
            Any agreement of numbers, such as ``fs.Spread()``, says that predictions are numbers, and ``fs.Same()`` that
            they are labels. A regression tree lowers the variance within leaves, whichever of them it is.
        """
        if check_whole(max_leaf_nodes, "max_leaf_nodes") < 2:
            raise BadInput(f"max_leaf_nodes must be at least 2, for a tree with a condition; got {max_leaf_nodes}.")
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        numeric, model = agreement is not None and to_agreement(agreement).of_numbers, Model(predict)
        table, answer = Space.learn(X_train), model.function("numbers" if numeric else "labels")(X_train)
        rows = table.encode(X_train)
        if agreement is None:
            numeric = model.gives_numbers(answer)
            labels = None if numeric or model.kind == "classifier" else to_labels(answer)
            if labels is not None and labels.dtype.kind in "iuf":  # too many whole numbers to be labels
                numeric = len(np.unique(labels)) > max(50, 0.9 * len(labels))
        if numeric:
            tree, numbers = DecisionTreeRegressor, _scaled(Spread().read(answer))
            # Moved and scaled to at most 1: squared as they are, numbers might lose the digits in which they differ.
            target: Array = _scaled(numbers - numbers.mean(axis=0))
        else:
            texts = [str(label) for label in to_predictions(answer, part=True).tolist()]
            tree, target = DecisionTreeClassifier, np.array(texts, object)  # which keep their length
        same_length(rows=len(rows), predictions=len(target))
        missing = np.asarray(_missing(table, rows).any(axis=0))
        most = min(max_leaf_nodes, max(2, len(rows)))  # scikit-learn allocates memory for all leaves at once
        fitted = tree(max_leaf_nodes=most, random_state=check_seed(seed) % 2**32)
        fitted.fit(_indicators(table, rows, missing), target)
        return cls(fitted, table, tuple(missing.tolist()), np.sort(row_hashes(X_train)))

    def fitted_share(self, X: Any) -> float:
        """Share of rows that the tree was fitted on, as far as that can be told.

        Rows that a surrogate was fitted on are known again, in any order and precision. Of any other tree only this is
        known: how many rows every leaf had, which tells the very rows that it was fitted on.
        """
        if self.fitted_on is not None:
            return _shared_share(X, self.fitted_on)
        splits = self.tree.tree_
        if self.table is not None or splits.n_node_samples[0] != rows_of(X):
            return 0.0
        reached = np.bincount(leaves_of(self.tree, X), minlength=splits.node_count)
        leaves = splits.children_left < 0
        return float(leaves.sum() >= _TELLING and (reached == splits.n_node_samples)[leaves].all())

    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """The path of each row, as a rule.

        Parameters
        ----------
        X : (n, d) array or table
        progress : bool or callable, optional
            Accepted as by other explainers; not called, since this takes no time.
        """
        splits, table = self.tree.tree_, self.table
        scales: Sequence[Scale]
        if table is None:
            reached = leaves_of(self.tree, X)
            own = frame_names(X) if is_frame(X) else default_names(self.tree.n_features_in_)
            names = distinct_names(tuple(getattr(self.tree, "feature_names_in_", own)))
            missing = np.zeros((len(reached), len(names)), bool)
            for j, column in enumerate(Rows(X).columns if len(missing) else ()):
                missing[:, j] = column.missing
            scales, speaks = list(map(Numbers, names)), np.full(len(names), knows_missing(splits))
        else:
            names, scales, speaks, rows = table.names, table.scales, np.array(self.missing), table.encode(X)
            reached, missing = leaves_of(self.tree, _indicators(table, rows, speaks)), _missing(table, rows)
        to_leaf = paths(splits, scales, speaks)
        # Of missing values that no condition speaks of the row's rule asks for missing in that feature.
        unspoken = missing & ~speaks
        codes, first = group((np.column_stack([reached, unspoken[:, unspoken.any(axis=0)]]).astype(np.int64),))
        conjunctions = [
            [condition(c.position, c.feature, "==", None) if unspoken[row, c.position] else c for c in to_leaf[leaf]]
            for row, leaf in zip(first, reached[first].tolist(), strict=True)
        ]
        return rules_of(conjunctions, names).take(codes)._with(tree=digest(splits, speaks))


def paths(splits: Any, scales: Sequence[Scale], speaks: Bools) -> dict[int, Sequence[Condition]]:
    """The conditions on the way to each leaf of a scikit-learn ``tree_``, by the leaf's number.

    The tree compares ``float32(x) <= threshold``; the rules compare the row as it is with the largest number that the
    tree still sends to the left, so that a rule covers exactly the rows of its leaf.

    Parameters
    ----------
    splits : tree_
        Over one column per number or date, and the indicators of each category: see `_indicators`.
    scales : sequence of Numbers, Dates or Categories
    speaks : (d,) array of bool
        The features whose conditions say where missing values go.
    """
    meanings: list[tuple[int, Any]] = [  # the feature and category of each column; None for missing, and for numbers
        (j, category)
        for j, scale in enumerate(scales)
        for category in ([*scale.known, *[None] * int(speaks[j])] if isinstance(scale, Categories) else [None])
    ]
    told = np.array([speaks[j] and not isinstance(scales[j], Categories) for j, _ in meanings])
    forest = Forest([tree_of(splits, np.zeros((splits.node_count, 1)))], len(meanings), np.zeros(1), None)
    leaves = forest.leaves
    missing = leaves.missing & told
    asked = (leaves.low > 0) | (leaves.high < forest.most) | (told & ~missing)

    def asks(leaf: int, column: int) -> Condition:
        j, category = meanings[column]
        scale, low, high = scales[j], int(leaves.low[leaf, column]), int(leaves.high[leaf, column])
        if isinstance(scale, Categories):  # an indicator above 1/2 means that category
            # A missing value is none of the categories.
            other = "!= or missing" if speaks[j] and category is not None else "!="
            return condition(j, scale.name, "==" if low else other, category)
        goes = bool(missing[leaf, column])
        return range_condition(j, scale.name, forest.edges[column], low, high, scale.readable, goes)

    return {
        int(node): conjoin(asks(leaf, column) for column in np.flatnonzero(asked[leaf]).tolist())
        for leaf, node in enumerate(leaves.node)
    }


def knows_missing(splits: Any) -> bool:
    """Whether a tree shows that it was fitted with missing values.

    A split that has seen no missing values sends them with the larger part of the training rows. A tree in which every
    split does so may still have seen some, by coincidence. A split at infinity, or at nan, separates missing values
    from all others, so it has seen some.
    """
    inner = splits.children_left >= 0
    if not np.isfinite(splits.threshold[inner]).all():
        return True
    left, right = (splits.n_node_samples[children[inner]] for children in (splits.children_left, splits.children_right))
    return bool(((left > right) != splits.missing_go_to_left[inner].astype(bool)).any())


def digest(splits: Any, missing: Bools) -> str:
    """A short digest of a tree's splits, and of the features whose missing values its rules speak of."""
    arrays = [splits.children_left, splits.children_right, splits.feature, splits.threshold]
    if missing.any():
        arrays += [splits.missing_go_to_left, missing]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def leaves_of(tree: Any, X: Any) -> Ints:
    """The leaf that each row reaches."""
    try:
        return np.asarray(tree.apply(X) if rows_of(X) else (), np.int64)
    except (TypeError, ValueError) as problem:  # columns that it was not fitted with, or values that are not numbers
        raise BadInput(f"The tree cannot predict these rows: {str(problem).splitlines()[0]}") from None


def _shared_share(X: Any, known: Words) -> float:
    """Share of rows that are among those with these hashes, if that is more than chance gives; otherwise 0.0.

    Rows of a table of few categories are often equal to rows of another draw. So it is told only if these are the very
    same rows, in any order, or if more of them are known than of the known rows have an equal one among themselves.

    Parameters
    ----------
    X : rows
    known : (m,) array
        Hashes of rows, sorted.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> _shared_share(X, np.sort(row_hashes(X[:30]))), _shared_share(X[:30], np.sort(row_hashes(X[30:])))
    (0.75, 0.0)
    """
    hashes = row_hashes(X) if len(known) else known
    if not len(hashes):
        return 0.0
    shared = float(np.isin(hashes, known).mean())
    counts = np.unique(known, return_counts=True)[1]
    equal, size = float(counts[counts > 1].sum()) / len(known), 1 / len(known) + 1 / len(hashes)
    odd = shared > equal + 4 * math.sqrt(equal * size) + 8 * size or np.array_equal(np.sort(hashes), known)
    return shared if odd and shared >= NOTICED else 0.0


def _scaled(numbers: Floats) -> Floats:
    return numbers / (np.abs(numbers).max(initial=0.0) or 1.0)


def _missing(table: Space, matrix: Floats) -> Bools:
    """Which values of a matrix are missing."""
    return np.asarray(np.isnan(matrix) | (matrix == table.known))


def _indicators(table: Space, matrix: Floats, missing: Bools) -> Floats:
    """Columns for the tree: numbers, dates rounded up to whole units, and 0/1 for each category and for missing."""
    columns = []
    for j, known in enumerate(table.known):
        column = matrix[:, [j]]
        if table.categorical[j]:
            columns.append((column == np.arange(known + missing[j])).astype(np.float64))
        else:
            columns.append(np.ceil(column) if table.whole[j] else column)
    return np.concatenate(columns, axis=1)
