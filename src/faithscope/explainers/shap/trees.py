"""SHAP values of trees: of their sums by the package shap, of functions of these sums by tables of all mixtures.

Thresholds are ranked, so that the single precision of shap cannot err.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.shap.pairs import Pairs, affordable, differing, pair_values
from faithscope.explainers.shap.probes import Probes
from faithscope.explainers.shap.tables import LINKS, Link, TreeSums, plain

Floats = NDArray[np.float64]
Tell = Callable[[int], None]  # called with the rows done

_TREE_ROWS = 64  # rows in one call of shap, which prints a progress bar of its own when it takes long
_TREE_NODES = 2**15 - 1  # shap keeps a node's place in 16 bits, and crashes beyond
_WRONG = 1e-4  # a share of the largest output: boosters in single precision miss by 1e-6, a model misread by far more


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees as shap reads them, and how the model's outputs follow from their sums.

    shap rounds thresholds to single precision, so a row at a threshold may go the wrong way. Here a value is the number
    of thresholds below it, and a threshold its place among them: small whole numbers, in the same order.

    Attributes
    ----------
    kind : dtype
        The precision in which the model reads its rows.
    edges : list of arrays
        For each feature its thresholds in order.
    sums : TreeSums
    link : callable
        From sums to the model's outputs.
    outputs : int
    classes : list of int
        The outputs explained.
    background : (b, d) array
        Its ranks.
    ensembles : list of shap.TreeExplainer
        One for each class, with only the trees that speak of it; none where outputs are not the sums themselves.
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
        """The trees of a model that gives known outputs, and margins if it has any, to the background."""
        import shap

        try:
            found = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").model
            _refuse_unreadable(found)
            edges, places = _ranked(found, background.shape[1])
            codes = _coded(background, found.input_dtype, edges)
            sums = TreeSums.read(found, places, _tree_count(found)).shifted(codes, margins)
            link = _link(sums(codes), known, type(model).__name__)
            ensembles = _ensembles(found, places, codes, classes) if link is plain else []
        except BadInput:
            raise
        except Exception as problem:  # shap raises a bare Exception among others
            raise BadInput(f"shap reads no trees from this {type(model).__name__}: {problem}") from problem
        return cls(found.input_dtype, edges, sums, link, known.shape[1], list(classes), codes, ensembles)

    def __call__(self, rows: Floats) -> Floats:
        """The outputs for rows, as the trees were read: (n, outputs)."""
        return self.link(self.sums(_coded(rows, self.kind, self.edges)), self.outputs)

    def probes(self, row: Floats) -> Probes:
        """Rows that visit the nodes one by one, from a row without missing values."""
        return Probes.of(self.sums, self.edges, row, _coded(row[None], self.kind, self.edges)[0])

    def affordable(self, rows: Floats, budget: int) -> NDArray[np.bool_]:
        """Rows (n,) that can be explained with so many coalitions each; sums of trees need none."""
        if self.ensembles:
            return np.ones(len(rows), bool)
        return affordable(_coded(rows, self.kind, self.edges), self.background, budget)

    def values(self, rows: Floats, tell: Tell = lambda done: None) -> Floats:
        """SHAP values, (n, d, classes)."""
        codes = _coded(rows, self.kind, self.edges)
        values = np.empty((*rows.shape, len(self.classes)))
        for start in range(0, len(rows), _TREE_ROWS):
            part = slice(start, min(start + _TREE_ROWS, len(rows)))
            values[part] = self._of_sums(codes[part]) if self.ensembles else self._of_mixtures(codes[part])
            tell(part.stop)
        return values + 0.0

    def _of_sums(self, codes: Floats) -> Floats:
        single = self.sums.values.shape[1] == 1 and self.outputs == 2
        signs = [-1 if single and one == 0 else 1 for one in self.classes]
        found = [ensemble.shap_values(codes, check_additivity=False) for ensemble in self.ensembles]
        return np.stack([sign * one for sign, one in zip(signs, found, strict=True)], axis=2)

    def _of_mixtures(self, codes: Floats) -> Floats:
        def worths(pairs: Pairs) -> Floats:
            sums = self.sums.mixtures(codes, self.background, pairs)
            return self.link(sums, self.outputs)[:, :, self.classes]

        trees, wide = 8 * len(self.sums.roots), self.outputs
        differ = differing(codes, self.background)
        return pair_values(differ, worths, len(self.classes), lambda coalitions: max(trees, wide * coalitions))


def is_off(found: Floats, wanted: Floats, scale: float) -> NDArray[np.bool_]:
    """Rows (n,) whose numbers are not those wanted, but for single precision at this scale or theirs."""
    least = _WRONG * np.abs(wanted).max(axis=1, initial=scale)
    return np.asarray(np.abs(found - wanted).max(axis=1, initial=0.0) > least)


def _link(sums: Floats, known: Floats, name: str) -> Link:
    """How known outputs follow from the sums of trees."""
    missed = np.inf
    for link in LINKS:
        found = link(sums, known.shape[1])
        if found.shape == known.shape:
            if not is_off(found, known, float(np.abs(known).max())).any():
                return link
            missed = min(missed, float(np.abs(found - known).max()))
    if missed == np.inf:
        raise BadInput(f"shap reads {sums.shape[1]} outputs from these trees, where the model has {known.shape[1]}.")
    raise BadInput(
        f"shap misreads this {name}: the outputs of its trees miss the model's by {missed:.2g}. "
        'Use algorithm="permutation".'
    )


def _tree_count(found: Any) -> int:
    """How many trees count: after early stopping not all."""
    last = found.tree_limit if found.tree_limit and found.tree_limit > 0 else len(found.values)
    return int(min(last, len(found.values)))


def _ensembles(found: Any, places: Floats, codes: Floats, classes: Sequence[int]) -> list[Any]:
    import shap

    coded = shap.maskers.Independent(codes, len(codes))
    how = {"feature_perturbation": "interventional", "model_output": "raw"}
    return [shap.TreeExplainer(_ensemble(found, places, one), coded, **how) for one in classes]


def _refuse_unreadable(found: Any) -> None:
    """Raise where shap's own reading of the trees cannot be used."""
    nodes = found.values.shape[1]
    if nodes > _TREE_NODES:
        raise BadInput(f"shap crashes on trees of over {_TREE_NODES:,} nodes; the largest here has {nodes:,}.")
    if np.any(getattr(found, "threshold_types", 0) > 0):
        raise BadInput("shap does not read splits on categories together with a background.")


def _ranked(found: Any, features: int) -> tuple[list[Floats], Floats]:
    """The thresholds of each feature in order, and every threshold's place among them."""
    places, edges = np.zeros(found.thresholds.shape), []
    for j in range(features):
        asked = (found.features == j) & (found.children_left >= 0)
        edges.append(np.unique(found.thresholds[asked]))
        places[asked] = np.searchsorted(edges[j], found.thresholds[asked])
    return edges, places


def _coded(rows: Floats, kind: Any, edges: list[Floats]) -> Floats:
    """Rank of each value among its feature's thresholds: rank(x) <= rank(t) exactly where x <= t; missing stays so."""
    seen = rows.astype(kind).astype(np.float64)
    ranks = [np.searchsorted(edge, column) for edge, column in zip(edges, seen.T, strict=True)]
    return np.where(np.isnan(seen), np.nan, np.column_stack(ranks))


def _ensemble(found: Any, places: Floats, one: int) -> dict[str, Any]:
    """The trees that speak of one class, in shap's format for trees of one's own."""
    one = one if found.values.shape[2] > 1 else 0
    own = [t for t in range(_tree_count(found)) if found.values[t, :, one].any()] or [0]
    trees = [
        {
            **{name: getattr(found, name)[t, : found.num_nodes[t]] for name in _PARTS},
            "thresholds": places[t, : found.num_nodes[t]],
            "values": found.values[t, : found.num_nodes[t], one : one + 1],
        }
        for t in own
    ]
    offset = float(np.ravel(found.base_offset)[one])
    return {"trees": trees, "base_offset": offset, "input_dtype": np.float64}


_PARTS = ("children_left", "children_right", "children_default", "features", "node_sample_weight")
