"""SHAP values that the package shap has computed already."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shap.classes import as_vectors, computed_classes, of_highest
from faithscope.explainers.shared.arrays import Floats
from faithscope.explainers.shared.classes import names_per_class, own_classes, warn_if_predicted
from faithscope.explanations.importances import Importances


def read_explanation(explanation: Any, class_index: int | str | None) -> Importances:
    """The values of a ``shap.Explanation``; if it has classes, those of the class explained."""
    values, base = _ready(explanation)
    names = explanation.feature_names
    if values.ndim == 2 and class_index is not None:
        raise BadInput(f"These SHAP values have no axis of classes: class_index must be None; got {class_index!r}.")
    if values.ndim == 2:
        return Importances(values, names)
    classes = computed_classes(class_index, "margin", values.shape[2])
    if class_index == "predicted" and base.dtype == object:
        raise BadInput("These SHAP values have no base values, so the predicted class is unknown: choose a class.")
    if class_index == "predicted":
        warn_if_predicted(class_index, stacklevel=4)
        values = of_highest(values, base + values.sum(axis=1))
    else:
        values = values[:, :, classes]
    plain = [f"x{j}" for j in range(values.shape[1])] if names is None else names
    importances = Importances(as_vectors(values), names_per_class(plain, classes[: values.shape[2]]))
    return importances._with(remarks=own_classes(class_index))


def _ready(explanation: Any) -> tuple[Floats, Floats]:
    """Values of a shap.Explanation, (n, d) or (n, d, classes), and its base values."""
    if not type(explanation).__module__.startswith("shap."):
        raise WrongType(f"Shap.read reads a shap.Explanation; got {type(explanation).__name__}.")
    values, base = np.asarray(explanation.values), np.asarray(explanation.base_values)
    if values.ndim == 1 or np.ndim(explanation.data) == 1:
        values, base = values[None], base[None]
    if values.ndim == 3 and values.shape[1] == values.shape[2] and base.shape == values.shape[:1]:
        raise BadInput(
            "These are SHAP interaction values: sum them over their last axis, or compute plain SHAP values."
        )
    if values.ndim not in (2, 3):
        raise BadInput(
            f"SHAP values must have shape (n_rows, n_features) or (n_rows, n_features, n_classes); got {values.shape}."
        )
    return values, base
