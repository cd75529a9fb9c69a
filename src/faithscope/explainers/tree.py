"""Decision trees: a tree explained by its own paths, or a small tree fitted to any model's predictions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.manners import Mannered
from faithscope.explainers.models import Progress, to_predict
from faithscope.explainers.seeds import check_seed
from faithscope.explainers.table import Table
from faithscope.explanations.conditions import Condition, condition, conjoin
from faithscope.explanations.inputs import check_whole
from faithscope.explanations.rules import Rules
from faithscope.explanations.tree_paths import digest, paths


@dataclass(frozen=True, eq=False, repr=False)
class TreePath(Mannered):
    """Explains a row by its path through a fitted scikit-learn tree, a rule that covers exactly the rows of its leaf.

    Parameters
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted. It may be the model itself, or a surrogate for one.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> TreePath(tree).explain([[0.0], [2.0]]).describe(1)
    'x0 > 0.5'
    """

    tree: Any
    table: Table | None = field(default=None, repr=False)

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
            Columns that hold no numbers are categories; the tree asks whether a row has one or another.
        max_leaf_nodes : int
            How many different explanations there may be.
        """
        from sklearn.tree import DecisionTreeClassifier

        if check_whole(max_leaf_nodes, "max_leaf_nodes") < 2:
            raise BadInput(f"max_leaf_nodes must be at least 2, for a tree that asks anything; got {max_leaf_nodes}.")
        table, labels = Table.learn(X_train), to_predict(predict)(X_train)
        most = min(max_leaf_nodes, max(2, len(labels)))  # memory is taken for all of them at once
        tree = DecisionTreeClassifier(max_leaf_nodes=most, random_state=check_seed(seed) % 2**32)
        return cls(tree.fit(_indicators(table, table.encode(X_train)), labels.astype(str)), table)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """The path of each row."""
        if self.table is None:
            return Rules.from_tree(self.tree, X)
        rows = _indicators(self.table, self.table.encode(X))
        reached = self.tree.apply(rows) if len(rows) else np.empty(0, np.int64)
        leaves, codes = np.unique(reached, return_inverse=True)
        return _readable_rules(self.tree.tree_, self.table, leaves, codes.reshape(-1))


def _indicators(table: Table, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers as they are, and a 0/1 column for each category."""
    columns = [
        matrix[:, [j]] if known is None else (matrix[:, [j]] == np.arange(len(known))).astype(np.float64)
        for j, known in enumerate(table.categories)
    ]
    return np.concatenate(columns, axis=1)


def _asked(table: Table) -> list[tuple[int, Any]]:
    """For each column of the indicators, the feature it asks about, and the category (None for numbers)."""
    return [
        (j, category) for j, known in enumerate(table.categories) for category in ([None] if known is None else known)
    ]


def _readable_rules(splits: Any, table: Table, leaves: NDArray[np.int64], codes: NDArray[np.int64]) -> Rules:
    """Paths in terms of the features themselves: an indicator above one half means that category."""
    asked = _asked(table)
    to_leaf = paths(splits, [str(position) for position in range(len(asked))])
    rules = tuple(conjoin(_in_words(one, asked, table) for one in to_leaf[int(leaf)]) for leaf in leaves)  # type: ignore[arg-type]
    return Rules(codes, rules, table.names, tree=digest(splits))


def _in_words(one: Condition, asked: list[tuple[int, Any]], table: Table) -> Condition:
    feature, category = asked[one.position]
    name = table.names[feature]
    if table.categories[feature] is not None:
        return condition(feature, name, "==" if one.low > 0 else "!=", category)
    found = [condition(feature, name, operator, value) for _, operator, value in one.triples()]
    return conjoin(found)[0]
