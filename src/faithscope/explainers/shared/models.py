"""Models: anything with predict or predict_proba, or a plain function of rows, whose answers are checked once.

A model predicts numbers if it is a known regressor; and so does a function, or any model of another kind, that answers
with fractions, or with floats so large that they have none. This is scikit-learn's own rule of targets. A known
classifier predicts labels.
"""

from collections.abc import Callable
from decimal import Decimal
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.arrays import Floats
from faithscope.inputs.arrays import to_array
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_labels, to_predictions
from faithscope.inputs.models import label_function, number_function, probability_function
from faithscope.inputs.regressors import estimator_type, owner_of, regressor_name
from faithscope.inputs.rows import rows_of


def predict_of(model: Any, *, numbers: bool = False) -> Callable[[Any], Any]:
    """The function from rows to predictions that a model has, or is: labels, or numbers if these are wanted."""
    function = number_function(model) if numbers else label_function(model)
    if function is None:
        raise WrongType(f"A model must have predict, or be a function of rows; got {type(model).__name__}.")
    return function


def to_predict(model: Any) -> Callable[[Any], NDArray[Any]]:
    """A function from rows to one predicted label per row."""
    function = predict_of(model)

    def labels(rows: Any) -> NDArray[Any]:
        predictions = to_predictions(function(rows), part=True)
        same_length(rows=rows_of(rows), predictions=len(predictions))
        return predictions

    return labels


def to_proba(model: Any) -> Callable[[Any], Floats]:
    """A function from rows to (n, classes) probabilities; a single column is that of class 1."""
    function = probability_function(model)
    return lambda rows: of_both_classes(to_outputs(function(rows)))


def of_both_classes(table: Floats) -> Floats:
    """Probabilities of every class; a single column is that of class 1."""
    return np.column_stack([1 - table[:, 0], table]) if table.shape[1] == 1 else table


def to_outputs(answer: Any) -> Floats:
    """What a model answered as an (n, outputs) table of numbers: probabilities, or the number of a regression."""
    array = to_array(answer, "Probabilities")
    try:
        plain = answer.to_numpy() if hasattr(answer, "to_numpy") else answer
        table = to_floats(plain if array is None else array)
    except (TypeError, ValueError):
        raise WrongType("The model gave labels instead of probabilities: pass predict_proba.") from None
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not np.isfinite(table).all():
        wrong = "" if np.isfinite(table).all() else " with infinite or missing numbers"
        raise BadInput(
            "The model must give finite probabilities of shape (n_rows, n_classes), or (n_rows,) for class 1, or one "
            f"finite number per row; got shape {table.shape}{wrong}."
        )
    return table


def to_floats(numbers: Any) -> Floats:
    """Numbers as floats; raises TypeError if they are complex, whose imaginary part would be lost."""
    if np.iscomplexobj(numbers):
        raise TypeError("Complex numbers are no outputs.")
    return np.asarray(numbers, np.float64)


def is_regressor(model: Any) -> bool:
    """Whether a model, or the model whose `predict` this is, is a known regressor."""
    return regressor_name(model) is not None


def is_classifier(model: Any) -> bool:
    """Whether a model, or the model whose `predict` this is, is a classifier: by its tags, or its classes."""
    kind, classes = estimator_type(model), getattr(owner_of(model), "classes_", None)
    return kind == "classifier" or (kind is None and classes is not None and len(classes) > 0)


def gives_numbers(model: Any, answer: Any) -> bool:
    """Whether a model's answer is numbers and not labels: see the rule above."""
    if is_regressor(model) or is_classifier(model):
        return is_regressor(model)
    labels = to_labels(answer)
    if labels.dtype == object:
        kinds = {kind for kind in map(type, labels) if issubclass(kind, Number) and not issubclass(kind, Integral)}
        return any(not isinstance(label, Real | Decimal) or label % 1 != 0 for label in labels if type(label) in kinds)
    return labels.dtype.kind == "f" and bool(((labels != np.floor(labels)) | (np.abs(labels) >= 2**53)).any())


def name_of(model: Any) -> str:
    """What a sentence calls a model: the name of its class, or of a function."""
    owner = owner_of(model)
    return str(getattr(owner, "__name__", type(owner).__name__))
