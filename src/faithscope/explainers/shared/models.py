"""What a model is: anything with predict, or a plain function; its answers checked once."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.arrays import to_array
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_predictions
from faithscope.inputs.rows import rows_of

Progress = Callable[[int, int], None]  # called with rows done and rows in all


def to_predict(model: Any) -> Callable[[Any], NDArray[Any]]:
    """A function from rows to predicted labels."""
    function = getattr(model, "predict", model)
    if not callable(function):
        raise WrongType(f"A model must have predict, or be a function of rows; got {type(model).__name__}.")

    def labels(rows: Any) -> NDArray[Any]:
        made = to_predictions(function(rows), part=True)
        same_length(rows=rows_of(rows), predictions=len(made))
        return made

    return labels


def to_proba(model: Any) -> Callable[[Any], NDArray[np.float64]]:
    """A function from rows to (n, classes) probabilities; a single column becomes two."""
    function = getattr(model, "predict_proba", model)
    if not callable(function):
        raise WrongType(f"A model must have predict_proba, or be a function of rows; got {type(model).__name__}.")

    def probabilities(rows: Any) -> NDArray[np.float64]:
        made = function(rows)
        found = to_array(made, "Probabilities")
        try:
            given = made.to_numpy() if hasattr(made, "to_numpy") else made
            table = np.asarray(given if found is None else found, np.float64)
        except (TypeError, ValueError):
            raise WrongType("The model gave labels where probabilities are wanted: pass predict_proba.") from None
        table = table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table
        table = np.column_stack([1 - table, table]) if table.ndim == 1 else table
        if table.ndim != 2 or not np.isfinite(table).all():
            raise BadInput(f"The model must give finite probabilities, one row a row; got shape {table.shape}.")
        return table

    return probabilities


def chosen_classes(class_index: int | str | None, classes: int) -> list[int] | None:
    """The classes explained: class 1 of two, else all; None for the predicted one, which the caller must choose."""
    if class_index is None:
        return [1] if classes == 2 else list(range(classes))
    if isinstance(class_index, str) and class_index == "predicted":
        return None
    if isinstance(class_index, bool) or not isinstance(class_index, int | np.integer) or not 0 <= class_index < classes:
        raise BadInput(
            f"class_index must be a class from 0 to {classes - 1}, 'predicted', or None for the default; "
            f"got {class_index!r}."
        )
    return [int(class_index)]


PREDICTED = (
    "class_index='predicted' explains a different class from row to row, so equal vectors may speak of different "
    "classes and consistency drops for that reason alone: choose one class, or None."
)
