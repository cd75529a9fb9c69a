"""What SHAP explains of a model: its margin, its probabilities or its labels, as numbers."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.models import to_predict, to_proba

Floats = NDArray[np.float64]
Output = Literal["margin", "probability", "label"]


def chosen_output(model: Any, output: Output | None) -> Output:
    """The output asked for; by default the margin of what has one, which is what a regression or a function gives."""
    if output is not None:
        return output
    if not hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return "margin"
    return "probability" if _native(model, "margin") is None else "margin"


def outputs_of(model: Any, output: Output, rows: Any) -> Floats:
    """What is explained of a model: (n, classes) probabilities or margins, or (n, 1) labels as numbers."""
    if output == "label":
        if type(model).__name__ == "Booster":
            raise WrongType("A Booster predicts no labels: pass the classifier around it, or a function that does.")
        return _label_numbers(model, to_predict(model)(rows))
    native = _native(model, output)
    if output == "probability":
        if native is None and not hasattr(model, "predict_proba") and hasattr(model, "predict"):
            raise WrongType(f'{type(model).__name__} has no predict_proba: use output="margin" or "label".')
        return to_proba(native or model)(rows)
    found = _numbers((native or _margin(model))(rows), model)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    found = np.column_stack([-found, found]) if found.ndim == 1 else found
    if found.ndim != 2 or not np.isfinite(found).all():
        raise BadInput(f"The model must give finite margins, one row a row; got shape {found.shape}.")
    return found


def _numbers(given: Any, model: Any) -> Floats:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        name = getattr(model, "__name__", type(model).__name__)
        raise WrongType(
            f"{name} gives no numbers, which alone can be explained: pass a function that gives numbers, or a fitted "
            'classifier with output="label".'
        ) from None


def _native(model: Any, output: Output) -> Callable[[Any], Any] | None:
    """How classifiers and boosters of XGBoost, LightGBM and CatBoost are asked, where that differs from other models.

    A regression is asked as any other: its output is what is explained, on whatever scale it sums its trees.
    """
    last = model[-1] if hasattr(model, "steps") else model  # a pipeline hands such options on to its last step
    library, name = type(last).__module__.partition(".")[0], type(last).__name__
    if library == "xgboost" and name == "Booster":
        return partial(model.inplace_predict, predict_type="margin" if output == "margin" else "value")
    if library == "lightgbm" and name == "Booster":
        return partial(model.predict, raw_score=output == "margin")
    if library == "catboost" and name == "CatBoost":
        return partial(model.predict, prediction_type="RawFormulaVal" if output == "margin" else "Probability")
    every: dict[str, dict[str, Any]] = {
        "xgboost": {"output_margin": True},
        "lightgbm": {"raw_score": True},
        "catboost": {"prediction_type": "RawFormulaVal"},
    }
    options = every.get(library)
    if output == "margin" and options and hasattr(last, "predict_proba"):
        return partial(model.predict, **options)
    return None


def _margin(model: Any) -> Callable[[Any], Any]:
    """The function that gives a model's margin; a tree's or a forest's probabilities are its margin."""
    if hasattr(model, "decision_function"):
        found = model.decision_function
    elif hasattr(model, "predict_proba"):
        found = model.predict_proba if hasattr(model, "tree_") or hasattr(model, "estimators_") else None
    else:
        found = getattr(model, "predict", model)
    if not callable(found):
        raise WrongType(f'{type(model).__name__} has no margin: use output="probability", or pass a function of rows.')
    return found  # type: ignore[no-any-return]


def _label_numbers(model: Any, labels: NDArray[Any]) -> Floats:
    """Labels as numbers: their place among the model's sorted classes, or as they are where it names none."""
    classes = getattr(getattr(model, "__self__", model), "classes_", None)
    if classes is None:
        if labels.dtype.kind not in "biuf":
            raise BadInput(
                f"The model predicts {labels[0]!r}, which is no number, and does not say which classes there are: pass "
                "the fitted model itself, or a function that gives numbers."
            )
        return labels.astype(np.float64)[:, None]
    places = {label: place for place, label in enumerate(np.unique(classes).tolist())}
    found, which = np.unique(labels, return_inverse=True)
    return np.array([places[label] for label in found.tolist()], np.float64)[which.reshape(-1), None]
