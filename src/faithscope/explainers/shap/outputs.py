"""The output of a model that SHAP explains: its margin, its probabilities or its labels, as numbers."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.arrays import Floats
from faithscope.explainers.shared.models import is_regressor, name_of, to_floats, to_predict, to_proba
from faithscope.inputs.models import number_function

Output = Literal["margin", "probability", "label"]


def chosen_output(model: Any, output: Output | None) -> Output:
    """The output asked for; by default the margin if the model has one. A regression or a function gives a margin."""
    if output == "label" and is_regressor(model):
        raise BadInput(f'{name_of(model)} predicts numbers, not labels: use output="margin", which explains them.')
    if output is not None:
        return output
    if not hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return "margin"
    return "probability" if _native(model, "margin") is None else "margin"


def outputs_of(model: Any, output: Output, rows: Any) -> Floats:
    """The outputs that are explained: (n, classes) probabilities or margins, or (n, 1) numbers."""
    if output == "label":
        if type(model).__name__ == "Booster":
            raise WrongType("A Booster predicts no labels: pass the classifier around it, or a function that does.")
        return _label_numbers(model, to_predict(model)(rows))
    native = _native(model, output)
    if output == "probability":
        if native is None and not hasattr(model, "predict_proba") and hasattr(model, "predict"):
            raise WrongType(f'{type(model).__name__} has no predict_proba: use output="margin" or "label".')
        return to_proba(native or model)(rows)
    margins = _numbers((native or _margin(model))(rows), model)
    margins = margins[:, 0] if margins.ndim == 2 and margins.shape[1] == 1 else margins
    if margins.ndim == 1:
        margins = margins[:, None] if is_regressor(model) else np.column_stack([-margins, margins])
    if margins.ndim != 2 or not np.isfinite(margins).all():
        raise BadInput(
            "The model must give finite margins of shape (n_rows,) or (n_rows, n_classes); got shape "
            f"{margins.shape}{'' if np.isfinite(margins).all() else ' with infinite or missing numbers'}."
        )
    return margins


def _numbers(given: Any, model: Any) -> Floats:
    try:
        return to_floats(given)
    except (TypeError, ValueError):
        raise WrongType(
            f"{name_of(model)} does not give numbers, and SHAP explains numbers only: pass a function that gives "
            'numbers, or a fitted classifier with output="label".'
        ) from None


def _native(model: Any, output: Output) -> Callable[[Any], Any] | None:
    """How to ask classifiers and boosters of XGBoost, LightGBM and CatBoost; None if they are asked like other models.

    A regression is asked like any other model: its output is explained, whatever the scale on which it sums its trees.
    """
    last = model[-1] if hasattr(model, "steps") else model  # a pipeline passes options on to its last step
    library, name = type(last).__module__.partition(".")[0], type(last).__name__
    if library == "xgboost" and name == "Booster":
        return partial(model.inplace_predict, predict_type="margin" if output == "margin" else "value")
    if library == "lightgbm" and name == "Booster":
        return partial(model.predict, raw_score=output == "margin")
    if library == "catboost" and name == "CatBoost":
        return partial(model.predict, prediction_type="RawFormulaVal" if output == "margin" else "Probability")
    if output != "margin" or not hasattr(last, "predict_proba"):
        return None
    margins: dict[str, Callable[[Any], Any]] = {
        "xgboost": lambda rows: model.predict(rows, output_margin=True),
        "lightgbm": lambda rows: model.predict(rows, raw_score=True),
        "catboost": lambda rows: model.predict(rows, prediction_type="RawFormulaVal"),
    }
    return margins.get(library)


def _margin(model: Any) -> Callable[[Any], Any]:
    """The function that gives a model's margin; a tree's or a forest's probabilities are its margin."""
    if hasattr(model, "decision_function"):
        margin = model.decision_function
    elif hasattr(model, "predict_proba"):
        margin = model.predict_proba if hasattr(model, "tree_") or hasattr(model, "estimators_") else None
    else:
        margin = number_function(model)
    if not callable(margin):
        raise WrongType(f'{type(model).__name__} has no margin: use output="probability", or pass a function of rows.')
    return margin  # type: ignore[no-any-return]


def _label_numbers(model: Any, labels: NDArray[Any]) -> Floats:
    """Labels as numbers: their places among the model's sorted classes, or as they are if it lists no classes."""
    classes = getattr(getattr(model, "__self__", model), "classes_", None)
    if classes is None:
        if labels.dtype.kind not in "biuf":
            raise BadInput(
                f"The model predicts {labels[0]!r}, which is no number, and it does not list its classes: pass "
                "the fitted model itself, or a function that gives numbers."
            )
        return labels.astype(np.float64)[:, None]
    places = {label: place for place, label in enumerate(np.unique(classes).tolist())}
    distinct, which = np.unique(labels, return_inverse=True)
    return np.array([places[label] for label in distinct.tolist()], np.float64)[which.reshape(-1), None]
