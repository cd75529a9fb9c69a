"""Models: anything with predict or predict_proba, or a plain function of rows, whose answers are checked once."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.arrays import Floats
from faithscope.inputs.arrays import to_array
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_predictions
from faithscope.inputs.rows import rows_of


def to_predict(model: Any) -> Callable[[Any], NDArray[Any]]:
    """A function from rows to one predicted label per row."""
    function = getattr(model, "predict", model)
    if not callable(function):
        raise WrongType(f"A model must have predict, or be a function of rows; got {type(model).__name__}.")

    def labels(rows: Any) -> NDArray[Any]:
        predictions = to_predictions(function(rows), part=True)
        same_length(rows=rows_of(rows), predictions=len(predictions))
        return predictions

    return labels


def to_proba(model: Any) -> Callable[[Any], Floats]:
    """A function from rows to (n, classes) probabilities; a single column is that of class 1."""
    function = getattr(model, "predict_proba", model)
    if not callable(function):
        raise WrongType(f"A model must have predict_proba, or be a function of rows; got {type(model).__name__}.")

    def probabilities(rows: Any) -> Floats:
        answer = function(rows)
        array = to_array(answer, "Probabilities")
        try:
            plain = answer.to_numpy() if hasattr(answer, "to_numpy") else answer
            table = np.asarray(plain if array is None else array, np.float64)
        except (TypeError, ValueError):
            raise WrongType("The model gave labels instead of probabilities: pass predict_proba.") from None
        table = table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table
        table = np.column_stack([1 - table, table]) if table.ndim == 1 else table
        if table.ndim != 2 or not np.isfinite(table).all():
            raise BadInput(
                "The model must give finite probabilities of shape (n_rows, n_classes), or (n_rows,) for class 1; "
                f"got shape {table.shape}{'' if np.isfinite(table).all() else ' with infinite or missing numbers'}."
            )
        return table

    return probabilities
