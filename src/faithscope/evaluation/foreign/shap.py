"""shap's explainers: called on all rows, or, if they draw at random, on one row at a time."""

from copy import copy, deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from faithscope.evaluation.foreign.base import Foreign, seed_of, seeded
from faithscope.evaluation.foreign.columns import by_name
from faithscope.explainers.base import Progress
from faithscope.explainers.shared.classes import label_of
from faithscope.explanations.base import Explanations
from faithscope.inputs.documents import to_documents
from faithscope.inputs.models import is_torch_module, to_tensor
from faithscope.inputs.rows import flat_rows, rows_of, take_rows
from faithscope.inputs.seeds import row_digests
from faithscope.readers import as_explanations

# Those that draw nothing.
_EXACT = frozenset({"Additive", "Deep", "Exact", "GPUTree", "Linear", "Partition", "Tree"})
_OF_MODELS = frozenset({"GPUTree", "Linear", "Tree"})  # those that take a model, not a function of it
_DRAWS = "where {name} draws at random, each row has a seed of its own here, so other runs of {name} differ"


def adapt(explainer: Any, model: Any) -> "Shap":
    """An explainer of rows; the model is the explainer's own."""
    return Shap(explainer, None, label=label_of(model, None))


@dataclass(frozen=True, eq=False, repr=False)
class Shap(Foreign):
    """An explainer of shap's, whose draws depend on the row alone."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """Importances, or highlights of texts: of class 1 of two, or of all classes."""
        rows, remarks = by_name(X, self._names(), self.__name__)
        inner = getattr(getattr(self.explainer, "explainer", None), "model", None)
        rows = to_tensor(inner, rows) if is_torch_module(inner) else rows
        if self.__name__.removesuffix("Explainer") in _EXACT or not rows_of(rows):
            answers = self._values(_copied(self.explainer), rows)
        else:
            answers = self._row_by_row(rows, progress)
            remarks = (*remarks, *((_DRAWS.format(name=self.__name__),) if self.run is None else ()))
        explanations = as_explanations(answers)
        explanations = explanations._with(remarks=(*explanations.remarks, *remarks))
        # A function of one output may be of either class.
        of_model = self.__name__.removesuffix("Explainer") in _OF_MODELS
        axes = np.ndim(getattr(answers[0] if isinstance(answers, list) else answers, "values", answers))
        return self._of_class_1(explanations) if of_model or axes == 3 else explanations

    def _row_by_row(self, rows: Any, progress: Progress | None) -> Any:
        explainer, answers = _copied(self.explainer), []
        digests = row_digests(self.seed, _readable(rows))
        for place, digest in enumerate(digests):
            with seeded(seed_of(digest)):
                answers.append(self._values(explainer, take_rows(rows, np.array([place]))))
            if progress is not None:
                progress(place + 1, len(digests))
        return np.concatenate(answers) if isinstance(answers[0], np.ndarray) else answers

    def _values(self, explainer: Any, rows: Any) -> Any:
        """Shap's answer by its call; by ``shap_values``, if that fails."""
        try:
            return explainer(rows, **_silent(explainer.__call__))
        except Exception:
            if not callable(getattr(explainer, "shap_values", None)):
                raise
            return explainer.shap_values(rows, **_silent(explainer.shap_values))

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


def _silent(function: Any) -> dict[str, Any]:
    """The option that leaves out bars of progress, if there is one."""
    return {"silent": True} if "silent" in signature(function).parameters else {}
