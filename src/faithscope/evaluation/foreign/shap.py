"""shap's explainers: called on all rows, or, if they draw at random, on one row at a time."""

from copy import copy, deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from faithscope.evaluation.foreign.base import Foreign, by_name
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.inputs.documents import to_documents
from faithscope.inputs.models import is_torch_module, to_tensor
from faithscope.inputs.rows import flat_rows, rows_of, take_rows
from faithscope.readers import as_explanations

# Those that draw nothing.
_EXACT = frozenset({"Additive", "Deep", "Exact", "GPUTree", "Linear", "Partition", "Tree"})
_OF_MODELS = frozenset({"GPUTree", "Linear", "Tree"})  # those that take a model, not a function of it
_DRAWS = "where {name} draws at random, each row has a seed of its own here, so other runs of {name} differ"


@dataclass(frozen=True, eq=False, repr=False)
class Shap(Foreign):
    """An explainer of shap's, whose draws depend on the row alone."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """Importances, or highlights of texts: of class 1 of two, or of all classes."""
        rows, remarks = by_name(X, self._names(), self.__name__)
        inner = getattr(getattr(self.explainer, "explainer", None), "model", None)
        rows = to_tensor(inner, rows) if is_torch_module(inner) else rows
        explainer, kind, draws = _copied(self.explainer), self.__name__.removesuffix("Explainer"), ""
        silent = {"silent": True} if "silent" in signature(explainer.__call__).parameters else {}  # no bars of progress
        if kind in _EXACT or not rows_of(rows):
            answers = explainer(rows, **silent)
        else:

            def ask(place: int, _: int) -> Any:
                return explainer(take_rows(rows, np.array([place])), **silent)

            answers, draws = self._row_by_row(_readable(rows), ask, progress), _DRAWS
        explanations = self._remarked(as_explanations(answers), draws, *remarks)
        # A function of one output may be of either class.
        axes = np.ndim((answers[0] if isinstance(answers, list) else answers).values)
        return self._of_class_1(explanations) if kind in _OF_MODELS or axes == 3 else explanations

    def _names(self) -> Any:
        """The features that the explainer was given, in its order; None if they had no names, as words have."""
        masker = getattr(self.explainer, "masker", None)
        places = ((self.explainer, "data_feature_names"), (self.explainer, "feature_names"), (masker, "feature_names"))
        held = [getattr(*place, None) for place in places]
        return next((list(names) for names in held if names is not None and not callable(names)), None)


def _copied(explainer: Any) -> Any:
    """A copy that shares the model: explainers and their maskers keep traces of their calls."""
    if not hasattr(explainer, "masker"):
        return copy(explainer)
    try:
        return deepcopy(explainer, {id(explainer.model): explainer.model})
    except Exception:  # a masker that holds what cannot be copied
        return copy(explainer)


def _readable(rows: Any) -> Any:
    """Rows as cells, whatever axes they have; or texts."""
    texts = isinstance(rows, list | np.ndarray) and len(rows) > 0 and isinstance(rows[0], str)
    return to_documents(rows) if texts else flat_rows(rows)[0]
