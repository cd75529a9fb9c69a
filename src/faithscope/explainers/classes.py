"""The classes that are explained, and the names of features when there are several."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.importances import OWN_CLASSES, Importances, side_by_side
from faithscope.inputs.array_types import Floats
from faithscope.inputs.checks import is_whole
from faithscope.inputs.models import Model


def chosen_classes(class_index: int | str | None, classes: int) -> list[int] | None:
    """The classes explained: class 1 of two, else all. None stands for the predicted class, which differs per row."""
    if class_index is None:
        return [1] if classes == 2 else list(range(classes))
    if isinstance(class_index, str) and class_index == "predicted":
        return None
    if not is_whole(class_index) or not 0 <= int(class_index) < classes:
        raise BadInput(
            f"class_index must be a class from 0 to {classes - 1}, 'predicted', or None for the default; "
            f"got {class_index!r}."
        )
    return [int(class_index)]


def of_classes(
    values: Floats, features: Sequence[str], explainer: Any, axes: tuple[int, ...] | None, word: str = "class"
) -> Importances:
    """The vectors of an explainer, (n, classes, d), as its importances: one class, or output, after the other.

    Of one class, importances of pixels are maps without names, if rows have axes.
    """
    count, class_index = values.shape[1], explainer.class_index
    labels, label = Model(getattr(explainer, "model", None)).classes, None
    if labels is not None and np.ndim(labels) == 1:  # the model, or the one whose method it is, says its classes
        place = 1 if class_index is None and len(labels) == 2 else class_index
        label = str(labels[place]) if isinstance(place, int | np.integer) and 0 <= place < len(labels) else None
    remarks: tuple[str, ...] = ()
    names = list(features)
    if count > 1:
        names = [f"{feature} | {word} {number}" for number in range(count) for feature in features]
    importances = Importances(values.reshape(len(values), len(names)), names)
    if axes is not None and len(names) == prod(axes):
        importances = importances._with(names=None, shape=axes)
    if class_index == "predicted":
        remarks = (OWN_CLASSES,)
    elif count > 2 and word == "class":
        remarks = (side_by_side(count, f"{type(explainer).__name__}(..., class_index='predicted')"),)
    return importances._with(remarks=remarks, label=label)
