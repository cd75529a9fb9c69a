"""SHAP values of trees: of their sums by the package shap, of functions of these sums by all mixtures."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from faithscope.errors import BadInput, MissingExtra
from faithscope.explainers.base import blocks
from faithscope.explainers.shap.coalitions import Tell, affordable, differing, pair_values
from faithscope.explainers.space import Space
from faithscope.explainers.trees.forest import Forest
from faithscope.explainers.trees.reading import read_forest
from faithscope.inputs.array_types import Bools, Codes, Floats, Ints
from faithscope.inputs.pipelines import columns_of_features

_TREE_ROWS = 64  # in one call of shap, which prints a progress bar of its own if a call takes long
_TREE_NODES = 2**15 - 1  # shap keeps the place of a node in 16 bits, and crashes on larger trees
_BITS = 62  # columns whose sets are numbers of 64 bits
_WRONG = 1e-4  # share of the largest output: boosters in single precision are off by 1e-6, misread models by far more


class Trees:
    """The forest of a model, and how the model's outputs follow from its sums.

    Of a pipeline that makes every feature of one column, a mixture of two rows has for features those of either row.
    So the trees are explained on the features, with columns as players: all features of a column come or stay together.

    Attributes
    ----------
    forest : Forest
    transform : callable, optional
        From rows as the model reads them to the features that its trees read.
    players : (features,) array of int
        The column that each feature is made of.
    columns : int
        How many columns rows have.
    link : callable
        From sums to the model's outputs.
    outputs : int
    classes : list of int
        The outputs explained.
    background : (b, features) array
        The cells of the background rows.
    shap : list of shap.TreeExplainer
        One per class, with only the trees that add to it; empty unless outputs are sums and players features.
    """

    def __init__(self, model: Any, table: Space, background: Floats, known: Floats, classes: list[int]) -> None:
        pipe = getattr(model, "best_estimator_", model)
        piped = hasattr(pipe, "steps") and len(pipe.steps) > 1
        trees = pipe.steps[-1][1] if piped else pipe
        name, forest = type(trees).__name__, read_forest(trees)
        if forest is None:
            raise BadInput(f'No trees are read from this {name}: use algorithm="permutation".')
        self.forest, self.columns, self.outputs, self.classes = forest, len(table.names), known.shape[1], classes
        self.players, self.transform = np.arange(self.columns), None
        if piped:
            # What a sparse matrix leaves out is missing to XGBoost, and 0 to all others.
            absent = np.nan if type(trees).__module__.startswith("xgboost") else 0.0
            self.transform = partial(_dense, pipe[:-1].transform, absent)
            self.players = _players(pipe[:-1], table)
        elif table.categorical.any():
            raise BadInput('Trees are read over numbers only, not over categories: use algorithm="permutation".')
        features = len(self.players)
        if forest.features != features:
            raise BadInput(f"This {name} has {forest.features} features, and rows have {features}: pass the same.")
        self.background = self.cells(background, table)
        self.link = _link(forest.sums(self.background), known, name)
        alone = self.link is plain and len(set(self.players.tolist())) == features
        if not alone and self.columns > _BITS:
            raise BadInput(f'Trees over more than {_BITS} columns are not read here: use algorithm="permutation".')
        worth = plain(forest.leaf_values, self.outputs)[:, classes]
        self.shap = _shap_of(forest, self.background, worth) if alone else []

    def cells(self, rows: Floats, table: Space) -> Codes:
        """Rows of the table's matrix as the trees tell them apart."""
        if self.transform is not None and len(rows):
            rows = np.asarray(self.transform(table.decode(rows)), np.float64)
        return self.forest.cells(rows)

    def __call__(self, cells: Codes) -> Floats:
        """The outputs for rows, as the trees were read: (n, outputs)."""
        return self.link(self.forest.sums(cells), self.outputs)

    def affordable(self, cells: Codes, budget: int) -> Bools:
        """Which rows (n,) can be explained within the budget of coalitions per row; the package shap needs none."""
        if self.shap:
            return np.ones(len(cells), bool)
        return affordable(cells, self.background, budget, self.players, self.columns)

    def values(self, cells: Codes, tell: Tell = lambda more: None) -> Floats:
        """SHAP values, (n, columns, classes)."""
        values = np.zeros((len(cells), self.columns, len(self.classes)))
        for block in blocks(len(cells), _TREE_ROWS, more=tell):
            if self.shap:
                codes = np.where(cells[block] < 0, np.nan, cells[block])
                shares = [part.shap_values(codes, check_additivity=False) for part in self.shap]
                values[block][:, self.players] = np.stack(shares, axis=2)
            else:
                values[block] = self._by_mixtures(cells[block])
        return values + 0.0

    def _by_mixtures(self, cells: Codes) -> Floats:
        """Values by the outputs of all mixtures.

        A leaf is reached by the mixtures that have the row's values of some columns R, and the background's values of
        some other columns B. So it adds ``value · Π_{j in R} s_j · Π_{j in B} (1 - s_j)``, with s_j = 1 for members of
        the coalition and 0 for others. This is a polynomial, whose coefficients are added up over all leaves, and then,
        for each coalition, over its subsets.
        """
        forest = self.forest
        values = forest.leaf_values[forest.leaves.node]
        mine, theirs = self._open(cells), self._open(self.background)

        def worths(row: Ints, other: Ints, changed: Ints) -> Floats:
            many, size = changed.shape
            a, b = mine[row], theirs[other]
            pair, leaf = np.nonzero((a | b) == -1)  # where each column lets in the value of either row
            a, b = a[pair, leaf], b[pair, leaf]
            sets = (a & ~b, b & ~a)  # the columns that must be the row's, and the other row's, as bits
            own, others = (sum((part >> changed[pair, j] & 1) << j for j in range(size)) for part in sets)
            signs = np.ones(len(pair))
            while others.any():
                lowest = others & -others
                more = np.flatnonzero(lowest)
                others = others ^ lowest
                pair, leaf = np.concatenate([pair, pair[more]]), np.concatenate([leaf, leaf[more]])
                own = np.concatenate([own, own[more] | lowest[more]])
                others, signs = np.concatenate([others, others[more]]), np.concatenate([signs, -signs[more]])
            at = pair << size | own
            table = np.stack([np.bincount(at, signs * v[leaf], many << size) for v in values.T], axis=-1)
            for j in range(size):
                halves = table.reshape(-1, 2, 2**j, table.shape[1])
                halves[:, 1] += halves[:, 0]
            sums = table.reshape(many, 1 << size, -1) + forest.base / forest.divisor
            return self.link(sums, self.outputs)[:, :, self.classes]

        differ = differing(cells, self.background, self.players, self.columns)
        wide = len(self.classes)
        return pair_values(differ, worths, wide, lambda coalitions: max(len(values), self.outputs * coalitions))

    def _open(self, cells: Codes) -> Ints:
        """The columns whose values let rows into leaves, as bits: (n, leaves); -1 if all do."""
        leaves = self.forest.leaves
        bits = np.full((len(cells), len(leaves.low)), -1)
        for j, column in enumerate(self.players.tolist()):
            cell = cells[:, j, None]
            inside = (leaves.low[:, j] <= cell) & (cell <= leaves.high[:, j]) | (leaves.missing[:, j] & (cell < 0))
            bits &= np.where(inside, -1, ~(1 << column))
        return bits


def is_off(outputs: Floats, wanted: Floats, scale: float) -> Bools:
    """Which rows (n,) have other outputs than those wanted, beyond rounding to single precision at their scale."""
    least = _WRONG * np.abs(wanted).max(axis=1, initial=scale)
    return np.asarray(np.abs(outputs - wanted).max(axis=1, initial=0.0) > least)


def _players(transformer: Any, table: Space) -> Ints:
    """The column of the table that each feature of a transformer is made of."""
    names, columns = columns_of_features(transformer)
    if not hasattr(transformer, "feature_names_in_"):
        return np.array(columns)
    if len(set(table.names)) < len(table.names) or not set(names) <= set(table.names):
        raise BadInput("The background does not have the columns that the pipeline was fitted on: pass the same.")
    return np.array([table.names.index(names[column]) for column in columns])


def _dense(transform: Callable[[Any], Any], absent: float, rows: Any) -> Any:
    """What a pipeline makes of rows; of a sparse matrix, with `absent` for what it leaves out."""
    made = transform(rows)
    if not hasattr(made, "tocoo"):
        return made
    held = made.tocoo()
    dense = np.full(held.shape, absent)
    dense[held.row, held.col] = held.data
    return dense


def _shap_of(forest: Forest, cells: Codes, worth: Floats) -> list[Any]:
    """Explainers of the package shap, one per class, with the trees that add to it: `worth` of their nodes.

    shap rounds thresholds to single precision, so a row at a threshold may go the wrong way. Cells and the places of
    thresholds among them are small whole numbers in the same order.
    """
    try:
        import shap
    except ImportError as problem:
        raise MissingExtra(
            'SHAP of trees needs the shap package: pip install "faithscope[shap]". '
            'algorithm="permutation" works without it.'
        ) from problem
    largest = max(len(tree.left) for tree in forest.trees)
    if largest > _TREE_NODES:
        raise BadInput(f"shap crashes on trees of over {_TREE_NODES:,} nodes, and the largest tree has {largest:,}.")
    coded = shap.maskers.Independent(np.where(cells < 0, np.nan, cells), len(cells))
    nodes, explainers = forest.nodes, []
    for added in worth.T[:, :, None]:
        trees = []
        for root, tree in zip(nodes.roots, forest.trees, strict=True):
            own = slice(root, root + len(tree.left))
            parts = {
                "children_left": tree.left,
                "children_right": tree.right,
                "children_default": np.where(tree.missing_left, tree.left, tree.right),
                "features": nodes.feature[own],
                "thresholds": nodes.place[own].astype(np.float64),
                "values": added[own],
                "node_sample_weight": np.ones(len(tree.left)),
            }
            trees += [parts] if added[own].any() else []
        model = {"trees": trees or [parts], "base_offset": 0.0, "input_dtype": np.float64}
        explainers.append(shap.TreeExplainer(model, coded, "raw", "interventional"))
    return explainers


def plain(sums: Floats, outputs: int) -> Floats:
    """The sums themselves; a single sum is that of class 1, and class 0 has its negative."""
    return sums if sums.shape[-1] == outputs else np.concatenate([-sums, sums], axis=-1)


def _logistic(sums: Floats, outputs: int) -> Floats:
    """The probabilities of two classes."""
    chance = expit(sums)
    return np.concatenate([1 - chance, chance], axis=-1)


def _softmax(sums: Floats, outputs: int) -> Floats:
    """The probabilities of several classes."""
    return np.asarray(softmax(sums, axis=-1))


def _exponential(sums: Floats, outputs: int) -> Floats:
    """The rate of a count, or another positive quantity."""
    return plain(np.exp(np.minimum(sums, 700.0)), outputs)


Link = Callable[[Floats, int], Floats]


def _link(sums: Floats, known: Floats, name: str) -> Link:
    """The function by which known outputs follow from the sums of trees."""
    links: tuple[Link, ...] = (plain, _logistic, _softmax, _exponential)
    for link in links:
        outputs = link(sums, known.shape[1])
        if outputs.shape == known.shape and not is_off(outputs, known, float(np.abs(known).max())).any():
            return link
    raise BadInput(
        f'No known function makes the outputs of this {name} of the sums of its trees: use algorithm="permutation".'
    )
