"""SHAP values of trees: of their sums by the package shap, of functions of these sums by tables of all mixtures.

Thresholds are ranked, so that rounding to single precision in shap cannot change a split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.shap.coalitions import Tell
from faithscope.explainers.shap.pairs import RowPairs, affordable, differing, pair_values
from faithscope.explainers.shap.probes import Probes
from faithscope.explainers.shap.tables import LINKS, Link, TreeSums, plain
from faithscope.explainers.shared.arrays import Bools, Floats
from faithscope.explainers.shared.blocks import blocks

_TREE_ROWS = 64  # in one call of shap, which prints a progress bar of its own if a call takes long
_TREE_NODES = 2**15 - 1  # shap keeps the place of a node in 16 bits, and crashes on larger trees
_WRONG = 1e-4  # share of the largest output: boosters in single precision are off by 1e-6, misread models by far more


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees as shap reads them, and how the model's outputs follow from their sums.

    shap rounds thresholds to single precision, so a row at a threshold may go the wrong way. Here a value becomes the
    number of thresholds below it, and a threshold its place among them: small whole numbers in the same order.

    Attributes
    ----------
    kind : dtype
        The precision in which the model reads its rows.
    edges : list of arrays
        The thresholds of each feature, in order.
    sums : TreeSums
    link : callable
        From sums to the model's outputs.
    outputs : int
    classes : list of int
        The outputs explained.
    background : (b, d) array
        The ranks of the background rows.
    ensembles : list of shap.TreeExplainer
        One per class, with only the trees that add to it; empty if outputs are not the sums themselves.
    """

    kind: Any
    edges: list[Floats]
    sums: TreeSums
    link: Link
    outputs: int
    classes: list[int]
    background: Floats
    ensembles: list[Any]

    @classmethod
    def read(
        cls, model: Any, background: Floats, known: Floats, margins: Floats | None, classes: Sequence[int]
    ) -> "Trees":
        """The trees of a model, whose outputs for the background, and margins if it has any, are known."""
        import shap

        try:
            reading = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").model
            _refuse_unreadable(reading)
            edges, places = _ranked(reading, background.shape[1])
            codes = _coded(background, reading.input_dtype, edges)
            sums = TreeSums.read(reading, places, _tree_count(reading)).shifted(codes, margins)
            link = _link(sums(codes), known, type(model).__name__)
            ensembles = _ensembles(reading, places, codes, classes) if link is plain else []
        except BadInput:
            raise
        except Exception as problem:  # shap raises a bare Exception among others
            raise BadInput(f"shap reads no trees from this {type(model).__name__}: {problem}") from problem
        return cls(reading.input_dtype, edges, sums, link, known.shape[1], list(classes), codes, ensembles)

    def __call__(self, rows: Floats) -> Floats:
        """The outputs for rows, as the trees were read: (n, outputs)."""
        return self.link(self.sums(_coded(rows, self.kind, self.edges)), self.outputs)

    def probes(self, row: Floats) -> Probes:
        """Rows that visit the nodes one by one, from a row without missing values."""
        return Probes.of(self.sums, self.edges, row, _coded(row[None], self.kind, self.edges)[0])

    def affordable(self, rows: Floats, budget: int) -> Bools:
        """Which rows (n,) can be explained within the budget of coalitions per row; sums of trees need none."""
        if self.ensembles:
            return np.ones(len(rows), bool)
        return affordable(_coded(rows, self.kind, self.edges), self.background, budget)

    def values(self, rows: Floats, tell: Tell = lambda done: None) -> Floats:
        """SHAP values, (n, d, classes)."""
        codes = _coded(rows, self.kind, self.edges)
        values = np.empty((*rows.shape, len(self.classes)))
        for block in blocks(len(rows), _TREE_ROWS, lambda done, _: tell(done)):
            values[block] = self._of_sums(codes[block]) if self.ensembles else self._of_mixtures(codes[block])
        return values + 0.0

    def _of_sums(self, codes: Floats) -> Floats:
        single = self.sums.values.shape[1] == 1 and self.outputs == 2
        signs = [-1 if single and number == 0 else 1 for number in self.classes]
        values = [ensemble.shap_values(codes, check_additivity=False) for ensemble in self.ensembles]
        return np.stack([sign * part for sign, part in zip(signs, values, strict=True)], axis=2)

    def _of_mixtures(self, codes: Floats) -> Floats:
        def worths(pairs: RowPairs) -> Floats:
            sums = self.sums.mixtures(codes, self.background, pairs)
            return self.link(sums, self.outputs)[:, :, self.classes]

        trees, wide = 8 * len(self.sums.roots), self.outputs
        differ = differing(codes, self.background)
        return pair_values(differ, worths, len(self.classes), lambda coalitions: max(trees, wide * coalitions))


def is_off(outputs: Floats, wanted: Floats, scale: float) -> Bools:
    """Which rows (n,) have other outputs than those wanted, beyond rounding to single precision at their scale."""
    least = _WRONG * np.abs(wanted).max(axis=1, initial=scale)
    return np.asarray(np.abs(outputs - wanted).max(axis=1, initial=0.0) > least)


def _link(sums: Floats, known: Floats, name: str) -> Link:
    """The function by which known outputs follow from the sums of trees."""
    missed = np.inf
    for link in LINKS:
        outputs = link(sums, known.shape[1])
        if outputs.shape == known.shape:
            if not is_off(outputs, known, float(np.abs(known).max())).any():
                return link
            missed = min(missed, float(np.abs(outputs - known).max()))
    if missed == np.inf:
        raise BadInput(
            f"shap reads {sums.shape[1]} outputs from the trees of this {name}, but it has {known.shape[1]}. "
            'Use algorithm="permutation".'
        )
    raise BadInput(
        f"shap misreads this {name}: the outputs of its trees differ from the model's by {missed:.2g}. "
        'Use algorithm="permutation".'
    )


def _tree_count(reading: Any) -> int:
    """How many trees count, which after early stopping is not all."""
    last = reading.tree_limit if reading.tree_limit and reading.tree_limit > 0 else len(reading.values)
    return int(min(last, len(reading.values)))


def _ensembles(reading: Any, places: Floats, codes: Floats, classes: Sequence[int]) -> list[Any]:
    import shap

    coded = shap.maskers.Independent(codes, len(codes))
    return [
        shap.TreeExplainer(
            _ensemble(reading, places, number), coded, feature_perturbation="interventional", model_output="raw"
        )
        for number in classes
    ]


def _refuse_unreadable(reading: Any) -> None:
    """Raise if shap's own reading of the trees cannot be used."""
    nodes = reading.values.shape[1]
    if nodes > _TREE_NODES:
        raise BadInput(f"shap crashes on trees of over {_TREE_NODES:,} nodes, and the largest tree has {nodes:,}.")
    if np.any(getattr(reading, "threshold_types", 0) > 0):
        raise BadInput("shap does not read splits on categories together with a background.")


def _ranked(reading: Any, features: int) -> tuple[list[Floats], Floats]:
    """The thresholds of each feature in order, and the place of every threshold among them."""
    places, edges = np.zeros(reading.thresholds.shape), []
    for j in range(features):
        asked = (reading.features == j) & (reading.children_left >= 0)
        edges.append(np.unique(reading.thresholds[asked]))
        places[asked] = np.searchsorted(edges[j], reading.thresholds[asked])
    return edges, places


def _coded(rows: Floats, kind: Any, edges: list[Floats]) -> Floats:
    """Rank of each value among its feature's thresholds: rank(x) <= rank(t) exactly if x <= t. Missing stays NaN."""
    seen = rows.astype(kind).astype(np.float64)
    ranks = [np.searchsorted(edge, column) for edge, column in zip(edges, seen.T, strict=True)]
    return np.where(np.isnan(seen), np.nan, np.column_stack(ranks))


def _ensemble(reading: Any, places: Floats, number: int) -> dict[str, Any]:
    """The trees that add to class `number`, in shap's format for a user's own trees."""
    output = number if reading.values.shape[2] > 1 else 0
    own = [t for t in range(_tree_count(reading)) if reading.values[t, :, output].any()] or [0]
    trees = [
        {
            **{name: getattr(reading, name)[t, : reading.num_nodes[t]] for name in _PARTS},
            "thresholds": places[t, : reading.num_nodes[t]],
            "values": reading.values[t, : reading.num_nodes[t], output : output + 1],
        }
        for t in own
    ]
    offset = float(np.ravel(reading.base_offset)[output])
    return {"trees": trees, "base_offset": offset, "input_dtype": np.float64}


_PARTS = ("children_left", "children_right", "children_default", "features", "node_sample_weight")
