"""interpreto's attributions: the elements of a text, and a number for each, for one class or several."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.inputs.tensors import to_host
from faithscope.readers.shared.classes import check_class
from faithscope.readers.shared.rows import rows_of_objects
from faithscope.readers.shared.tokens import highlighted
from faithscope.readers.shared.wanted import Wanted


def recognizes(thing: Any) -> bool:
    """Whether this is one ``AttributionOutput``, or a list of them."""
    return bool(rows_of_objects(thing, "elements", "attributions"))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Highlights of the largest elements, for the class wanted."""
    rows = rows_of_objects(thing, "elements", "attributions")
    elements = [_texts(number, row.elements) for number, row in enumerate(rows)]
    scores = [_of_class(to_host(row.attributions), len(elements[j]), wanted) for j, row in enumerate(rows)]
    return highlighted(elements, scores, wanted)


def _texts(row: int, elements: Any) -> list[str]:
    if not isinstance(elements, list | tuple) or not all(isinstance(element, str) for element in elements):
        raise BadInput(f"The elements of row {row} are no texts: decode them into tokens first.")
    return list(elements)


def _of_class(values: NDArray[Any], length: int, wanted: Wanted) -> NDArray[Any]:
    """One number per element, of an array (elements,), (classes, elements) or, before version 0.4, its transpose."""
    if values.ndim == 1:
        return values
    by_class = values if values.shape[-1] == length else values.T
    classes = len(by_class)
    if wanted.class_index is None and classes > 2:
        raise BadInput(f"These attributions are of {classes} classes: choose one, such as class_index=1.")
    label = min(1, classes - 1) if wanted.class_index is None else check_class(wanted.class_index, classes)
    return np.asarray(by_class[label])
