"""SHAP values of trees: of their sums by the package shap, of functions of these sums by all mixtures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from faithscope.errors import BadInput, MissingExtra
from faithscope.explainers.base import blocks
from faithscope.explainers.shap.coalitions import Tell, affordable, differing, pair_values
from faithscope.explainers.space import Space
from faithscope.explainers.trees.forest import Forest
from faithscope.explainers.trees.reading import has_trees, read_forest
from faithscope.inputs.array_types import Bools, Codes, Floats, Ints

_TREE_ROWS = 64  # in one call of shap, which prints a progress bar of its own if a call takes long
_TREE_NODES = 2**15 - 1  # shap keeps the place of a node in 16 bits, and crashes on larger trees
_PAIRS = 2**20  # pairs of rows times leaves looked at at once
_BITS = 62  # columns whose sets are numbers of 64 bits
_WRONG = 1e-4  # share of the largest output: boosters in single precision are off by 1e-6, misread models by far more


@dataclass(frozen=True, eq=False)
class Trees:
    """The forest of a model, and how the model's outputs follow from its sums.

    Attributes
    ----------
    forest : Forest
    link : str
        How the model's outputs follow from the sums: a name in `LINKS`.
    outputs : int
    classes : list of int
        The outputs explained.
    background : (b, features) array
        The cells of the background rows.
    shap : list of shap.TreeExplainer
        One per class, with only the trees that add to it; empty unless outputs are sums.
    """

    forest: Forest
    link: str
    outputs: int
    classes: list[int]
    background: Codes
    shap: list[Any]

    @classmethod
    def read(cls, model: Any, table: Space, background: Floats, known: Floats, classes: Sequence[int]) -> "Trees":
        """The trees of a model, whose outputs for the background are known; raises if they do not give these."""
        model = getattr(model, "best_estimator_", model)
        name = type(model).__name__
        if not has_trees(model) or table.categorical.any():
            raise BadInput(f'No trees over numbers are read from this {name}: use algorithm="permutation".')
        forest, features = read_forest(model), len(table.names)
        if forest.features != features:
            raise BadInput(f"This {name} has {forest.features} features, and rows have {features}: pass the same.")
        cells = forest.cells(background)
        link = _link(forest.sums(cells), known, name)
        if link != "plain" and features > _BITS:
            raise BadInput(f'Trees over more than {_BITS} columns are not read here: use algorithm="permutation".')
        shap = _shap_of(forest, cells, classes) if link == "plain" else []
        return cls(forest, link, known.shape[1], list(classes), cells, shap)

    def __call__(self, cells: Codes) -> Floats:
        """The outputs for rows, as the trees were read: (n, outputs)."""
        return LINKS[self.link](self.forest.sums(cells), self.outputs)

    def affordable(self, cells: Codes, budget: int) -> Bools:
        """Which rows (n,) can be explained within the budget of coalitions per row; sums of trees need none."""
        return np.ones(len(cells), bool) if self.shap else affordable(cells, self.background, budget)

    def values(self, cells: Codes, tell: Tell = lambda done: None) -> Floats:
        """SHAP values, (n, columns, classes)."""
        values = np.zeros((*cells.shape, len(self.classes)))
        for block in blocks(len(cells), _TREE_ROWS, lambda done, _: tell(done)):
            part = cells[block]
            if self.shap:
                values[block] = self._by_shap(part)
                continue
            differ, worths = differing(part, self.background), partial(self._mixtures, part)
            least = len(self.forest.leaves.low)
            values[block] = pair_values(differ, worths, len(self.classes), least=least, wide=self.outputs)
        return values + 0.0

    def _by_shap(self, cells: Codes) -> Floats:
        codes = np.where(cells < 0, np.nan, cells)
        values = [explainer.shap_values(codes, check_additivity=False) for explainer in self.shap]
        # A single sum is that of class 1, and class 0 has its negative.
        single = len(self.forest.base) == 1 and self.outputs == 2
        signs = [-1 if single and number == 0 else 1 for number in self.classes]
        return np.stack([sign * part for sign, part in zip(signs, values, strict=True)], axis=2)

    def _mixtures(self, cells: Codes, row: Ints, other: Ints, changed: Ints) -> Floats:
        """The outputs explained for all mixtures of each pair, by the sums of the trees: (p, 2^k, classes).

        A leaf is reached by the mixtures that have the row's values of some columns R, and the background's values of
        some other columns B. So it adds ``value · Π_{j in R} s_j · Π_{j in B} (1 - s_j)``, with s_j = 1 for members of
        the coalition and 0 for others. This is a polynomial, whose coefficients are added up over all leaves, and then,
        for each coalition, over its subsets.
        """
        many, size = changed.shape
        mine, theirs = self._open(cells), self._open(self.background)
        found = []
        for block in blocks(many, _PAIRS // mine.shape[1]):
            a, b = mine[row[block]], theirs[other[block]]
            pair, leaf = np.nonzero((a | b) == -1)  # each column lets in the value of either row
            a, b = a[pair, leaf], b[pair, leaf]
            found.append((pair + block.start, leaf, a & ~b, b & ~a))
        pair, leaf, *sets = (np.concatenate(parts) for parts in zip(*found, strict=True))
        own, others = (sum((part >> changed[pair, j] & 1) << j for j in range(size)) for part in sets)
        signs = np.ones(len(pair))
        while others.any():
            lowest = others & -others
            more = np.flatnonzero(lowest)
            others = others ^ lowest
            pair, leaf = np.concatenate([pair, pair[more]]), np.concatenate([leaf, leaf[more]])
            own = np.concatenate([own, own[more] | lowest[more]])
            others, signs = np.concatenate([others, others[more]]), np.concatenate([signs, -signs[more]])
        at, values = pair << size | own, self.forest.leaf_values[self.forest.leaves.node]
        table = np.stack([np.bincount(at, signs * v[leaf], many << size) for v in values.T], axis=-1)
        for j in range(size):
            halves = table.reshape(-1, 2, 2**j, table.shape[1])
            halves[:, 1] += halves[:, 0]
        sums = table.reshape(many, 1 << size, -1) + self.forest.base / self.forest.divisor
        return LINKS[self.link](sums, self.outputs)[:, :, self.classes]

    def _open(self, cells: Codes) -> Ints:
        """The columns whose values let rows into leaves, as bits: (n, leaves); -1 if all do."""
        leaves = self.forest.leaves
        bits = np.full((len(cells), len(leaves.low)), -1)
        for j, cell in enumerate(cells.T[:, :, None]):
            inside = (leaves.low[:, j] <= cell) & (cell <= leaves.high[:, j]) | (leaves.missing[:, j] & (cell < 0))
            bits &= np.where(inside, -1, ~(1 << j))
        return bits


def is_off(outputs: Floats, wanted: Floats, scale: float) -> Bools:
    """Which rows (n,) have other outputs than those wanted, beyond rounding to single precision at their scale."""
    least = _WRONG * np.abs(wanted).max(axis=1, initial=scale)
    return np.asarray(np.abs(outputs - wanted).max(axis=1, initial=0.0) > least)


def _shap_of(forest: Forest, cells: Codes, classes: Sequence[int]) -> list[Any]:
    """Explainers of the package shap, one per class, with the trees that add to it.

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
    for number in classes:
        output = number if len(forest.base) > 1 else 0
        trees = []
        for root, tree in zip(nodes.roots, forest.trees, strict=True):
            own = slice(root, root + len(tree.left))
            values = forest.leaf_values[own, output : output + 1]
            parts = {
                "children_left": tree.left,
                "children_right": tree.right,
                "children_default": np.where(tree.missing_left, tree.left, tree.right),
                "features": nodes.feature[own],
                "thresholds": nodes.place[own].astype(np.float64),
                "values": values,
                "node_sample_weight": np.ones(len(values)),
            }
            trees += [parts] if values.any() else []
        model = {"trees": trees or [parts], "base_offset": 0.0, "input_dtype": np.float64}
        how = {"feature_perturbation": "interventional", "model_output": "raw"}
        explainers.append(shap.TreeExplainer(model, coded, **how))
    return explainers


def plain(sums: Floats, outputs: int) -> Floats:
    """The sums themselves; a single sum is that of class 1, and class 0 has its negative."""
    return sums if sums.shape[-1] == outputs else np.concatenate([-sums, sums], axis=-1)


LINKS: Mapping[str, Callable[[Floats, int], Floats]] = {
    "plain": plain,
    "logistic": lambda sums, outputs: np.concatenate([1 - expit(sums), expit(sums)], axis=-1),
    "softmax": lambda sums, outputs: np.asarray(softmax(sums, axis=-1)),
    "exponential": lambda sums, outputs: plain(np.exp(np.minimum(sums, 700.0)), outputs),
}


def _link(sums: Floats, known: Floats, name: str) -> str:
    """The function by which known outputs follow from the sums of trees."""
    for word, link in LINKS.items():
        outputs = link(sums, known.shape[1])
        if outputs.shape == known.shape and not is_off(outputs, known, float(np.abs(known).max())).any():
            return word
    raise BadInput(
        f'No known function makes the outputs of this {name} of the sums of its trees: use algorithm="permutation".'
    )
