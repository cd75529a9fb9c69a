"""Decision trees: a tree explained by its own paths, or a small tree fitted to any model's predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.blocks import Progress
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.models import to_predict
from faithscope.explainers.shared.seeds import check_seed
from faithscope.explainers.shared.table import Table
from faithscope.explanations.conditions.condition import Condition, condition, conjoin
from faithscope.explanations.conditions.conjunctions import Conjunction
from faithscope.explanations.conditions.tree_paths import digest, paths, rules_of
from faithscope.explanations.rules import Rules, read_tree
from faithscope.inputs.checks import check_whole


@dataclass(frozen=True, eq=False, repr=False)
class TreePath(Mannered):
    """Explains a row by its path through a fitted scikit-learn tree, a rule that covers exactly the rows of its leaf.

    Parameters
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted. It may be the model itself, or a surrogate for one. Where it was fitted with missing values, its rules
        say where they go: "age <= 37 or missing". Of a tree that shows no sign of them, a row that misses a value gets
        a rule that asks for missing.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> TreePath(tree).explain([[0.0], [2.0]]).describe(1)
    'x0 > 0.5'
    """

    tree: Any
    table: Table | None = field(default=None, repr=False)
    missing: tuple[bool, ...] = field(default=(), repr=False)  # of which features some training rows miss values

    def __post_init__(self) -> None:
        if not hasattr(self.tree, "tree_"):
            raise WrongType(f"TreePath needs a fitted scikit-learn decision tree; got {type(self.tree).__name__}.")

    @classmethod
    def surrogate(cls, predict: Any, X_train: Any, *, max_leaf_nodes: int = 64, seed: int = 0) -> "TreePath":
        """A tree fitted to what a model predicts for training rows.

        Parameters
        ----------
        predict : model or function
        X_train : (n, d) array or table
            Columns that hold no numbers are categories; the tree asks whether a row has one or another. Missing is a
            value of its own, and dates are numbers.
        max_leaf_nodes : int
            How many different explanations there may be.
        """
        from sklearn.tree import DecisionTreeClassifier

        if check_whole(max_leaf_nodes, "max_leaf_nodes") < 2:
            raise BadInput(f"max_leaf_nodes must be at least 2, for a tree that asks anything; got {max_leaf_nodes}.")
        table, labels = Table.learn(X_train), to_predict(predict)(X_train)
        rows = table.encode(X_train)
        missing = tuple(bool(column.any()) for column in _missing(table, rows).T)
        texts = np.array([str(label) for label in labels.tolist()], object)  # each as long as it is
        most = min(max_leaf_nodes, max(2, len(labels)))  # memory is taken for all of them at once
        tree = DecisionTreeClassifier(max_leaf_nodes=most, random_state=check_seed(seed) % 2**32)
        return cls(tree.fit(_indicators(table, rows, missing), texts), table, missing)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """The path of each row."""
        if self.table is None:
            codes, distinct, names, tree = read_tree(self.tree, X, None, stable=True)
            return Rules(codes, distinct, names, tree)._labelled(X)
        rows = self.table.encode(X)
        seen = _indicators(self.table, rows, self.missing)
        reached = self.tree.apply(seen) if len(rows) else np.empty(0, np.int64)
        to_leaf = _readable_paths(self.tree.tree_, self.table, self.missing)
        said = np.array(self.missing)
        distinct, codes = rules_of(to_leaf, reached, _missing(self.table, rows) & ~said)
        return Rules(codes, distinct, self.table.names, tree=digest(self.tree.tree_, said))


def _missing(table: Table, matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which values of a matrix are missing."""
    codes = [np.nan if known is None else len(known) for known in table.categories]
    return np.asarray(np.isnan(matrix) | (matrix == codes))


def _indicators(table: Table, matrix: NDArray[np.float64], missing: Sequence[bool]) -> NDArray[np.float64]:
    """Numbers as they are, dates rounded up to whole units, and a 0/1 column for each category and for missing ones."""
    columns = []
    for j, known in enumerate(table.categories):
        column = matrix[:, [j]]
        if known is None:
            columns.append(np.ceil(column) if table.dates[j] else column)
        else:
            columns.append((column == np.arange(len(known) + missing[j])).astype(np.float64))
    return np.concatenate(columns, axis=1)


def _asked(table: Table, missing: Sequence[bool]) -> list[tuple[int, Any]]:
    """For each column of the indicators the feature, and the category it asks about: None for missing, and numbers."""
    return [
        (j, category)
        for j, known in enumerate(table.categories)
        for category in ([None] if known is None else [*known, *[None] * missing[j]])
    ]


def _readable_paths(splits: Any, table: Table, missing: Sequence[bool]) -> dict[int, Conjunction]:
    """Paths in terms of the features themselves: an indicator above one half means that category."""
    asked = _asked(table, missing)
    numbers = np.array([table.categories[j] is None and missing[j] for j, _ in asked])
    to_leaf = paths(splits, [str(position) for position in range(len(asked))], numbers)
    parts: Any = to_leaf
    return {leaf: conjoin(_in_words(one, asked, table, missing) for one in parts[leaf]) for leaf in to_leaf}


def _in_words(one: Condition, asked: list[tuple[int, Any]], table: Table, missing: Sequence[bool]) -> Condition:
    feature, category = asked[one.position]
    name = table.names[feature]
    if table.categories[feature] is not None:
        # A missing value is none of the categories.
        other = "!= or missing" if missing[feature] and category is not None else "!="
        return condition(feature, name, "==" if one.low > 0 else other, category)
    found = [
        condition(feature, name, operator, _readable(table, feature, value)) for _, operator, value in one.triples()
    ]
    return conjoin(found)[0]


def _readable(table: Table, feature: int, value: Any) -> Any:
    """A threshold as a rule names it: between whole dates the earlier, since all that the tree sees are whole."""
    return value if table.dates[feature] is None or value is None else table.readable(feature, np.floor(value))
