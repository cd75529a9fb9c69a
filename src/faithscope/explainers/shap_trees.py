"""Interventional tree SHAP by the package shap, with its thresholds ranked so that single precision cannot err."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput

Floats = NDArray[np.float64]
Tell = Callable[[int], None]  # called with the rows done

_TREE_ROWS = 64  # rows in one call of shap, which prints a progress bar of its own when it takes long
_TREE_NODES = 2**15 - 1  # shap keeps a node's place in 16 bits, and crashes beyond


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees as shap reads them, one ensemble a class, with only the trees that speak of it.

    shap rounds thresholds to single precision, so a row at a threshold may go the wrong way. Here a value is the number
    of thresholds below it, and a threshold its place among them: small whole numbers, in the same order.

    Attributes
    ----------
    kind : dtype
        The precision in which the model reads its rows.
    edges : list of arrays
        For each feature its thresholds in order.
    ensembles : list of shap.TreeExplainer
    signs : list of 1 and -1
    """

    kind: Any
    edges: list[Floats]
    ensembles: list[Any]
    signs: list[int]

    @classmethod
    def read(cls, model: Any, output: str, background: Floats, outputs: int, classes: Sequence[int]) -> "Trees":
        """The trees of a model for the classes chosen out of so many outputs."""
        import shap

        try:
            found = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").model
            _refuse_unreadable(found, outputs)
            edges, places = _ranked(found, background.shape[1])
            coded = shap.maskers.Independent(_coded(background, found.input_dtype, edges), len(background))
            how = {"feature_perturbation": "interventional", "model_output": "raw" if output == "margin" else output}
            ensembles = [shap.TreeExplainer(_ensemble(found, places, one), coded, **how) for one in classes]
        except BadInput:
            raise
        except Exception as problem:  # shap raises a bare Exception among others
            raise BadInput(f"shap reads no trees from this {type(model).__name__}: {problem}") from problem
        signs = [-1 if found.values.shape[2] == 1 and one == 0 and outputs == 2 else 1 for one in classes]
        return cls(found.input_dtype, edges, ensembles, signs)

    def values(self, rows: Floats, tell: Tell = lambda done: None) -> Floats:
        """SHAP values, (n, d, classes)."""
        coded = _coded(rows, self.kind, self.edges)
        values = np.empty((*rows.shape, len(self.ensembles)))
        for start in range(0, len(rows), _TREE_ROWS):
            part = slice(start, min(start + _TREE_ROWS, len(rows)))
            for k, (ensemble, sign) in enumerate(zip(self.ensembles, self.signs, strict=True)):
                values[part, :, k] = sign * ensemble.shap_values(coded[part], check_additivity=False)
            tell(part.stop)
        return values + 0.0


def _refuse_unreadable(found: Any, outputs: int) -> None:
    """Raise where shap's own reading of the trees cannot be used."""
    _, nodes, seen = found.values.shape
    if nodes > _TREE_NODES:
        raise BadInput(f"shap crashes on trees of over {_TREE_NODES:,} nodes; the largest here has {nodes:,}.")
    if np.any(getattr(found, "threshold_types", 0) > 0):
        raise BadInput("shap does not read splits on categories together with a background.")
    if seen != outputs and (seen, outputs) != (1, 2):
        raise BadInput(f"shap reads {seen} outputs from these trees, where the model has {outputs}.")


def _ranked(found: Any, features: int) -> tuple[list[Floats], Floats]:
    """The thresholds of each feature in order, and every threshold's place among them."""
    places, edges = np.zeros(found.thresholds.shape), []
    for j in range(features):
        asked = (found.features == j) & (found.children_left >= 0)
        edges.append(np.unique(found.thresholds[asked]))
        places[asked] = np.searchsorted(edges[j], found.thresholds[asked])
    return edges, places


def _coded(rows: Floats, kind: Any, edges: list[Floats]) -> Floats:
    """How many thresholds lie below each value: no more than a threshold's place exactly where the value is no more."""
    seen = rows.astype(kind).astype(np.float64)
    return np.column_stack([np.searchsorted(edge, column) for edge, column in zip(edges, seen.T, strict=True)]) + 0.0


def _ensemble(found: Any, places: Floats, one: int) -> dict[str, Any]:
    """The trees that speak of one class, in shap's format for trees of one's own."""
    one = one if found.values.shape[2] > 1 else 0
    last = found.tree_limit if found.tree_limit and found.tree_limit > 0 else len(found.values)
    own = [t for t in range(min(last, len(found.values))) if found.values[t, :, one].any()] or [0]
    trees = [
        {
            **{name: getattr(found, name)[t, : found.num_nodes[t]] for name in _PARTS},
            "thresholds": places[t, : found.num_nodes[t]],
            "values": found.values[t, : found.num_nodes[t], one : one + 1],
        }
        for t in own
    ]
    offset = float(np.ravel(found.base_offset)[one])
    return {"trees": trees, "base_offset": offset, "tree_output": found.tree_output, "input_dtype": np.float64}


_PARTS = ("children_left", "children_right", "children_default", "features", "node_sample_weight")
