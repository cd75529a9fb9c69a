"""The classes whose SHAP values are computed, and values of several classes as one vector per row."""

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.shared.classes import chosen_classes
from faithscope.inputs.array_types import Floats


def computed_classes(class_index: int | str | None, output: str, classes: int, kind: str | None) -> list[int]:
    """The classes whose values are computed: those explained, or all if the predicted class is explained.

    The outputs of a regressor are all explained by default, and none of them is predicted.
    """
    if output == "label":
        if class_index is not None:
            raise BadInput(f'output="label" explains the label itself: class_index must be None; got {class_index!r}.')
        return [0]
    regressor = kind == "regressor"
    if regressor and class_index is None:
        return list(range(classes))
    if regressor and (classes == 1 or isinstance(class_index, str)):
        which = "None" if classes == 1 else f"None, or an output from 0 to {classes - 1}"
        raise BadInput(f"A regression has no classes: class_index must be {which}; got {class_index!r}.")
    chosen = chosen_classes(class_index, classes)
    return list(range(classes)) if chosen is None else chosen


def of_highest(values: Floats, outputs: Floats) -> Floats:
    """The values (n, d, 1) of the class with the highest output, from values (n, d, classes)."""
    return np.take_along_axis(values, outputs.argmax(axis=1)[:, None, None], axis=2)


def as_vectors(values: Floats) -> Floats:
    """Values (n, d, classes) as one vector per row, one class after the other."""
    return values.transpose(0, 2, 1).reshape(len(values), values.shape[1] * values.shape[2])
