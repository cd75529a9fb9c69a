"""shap's `Explanation`: tables, several classes, images, and texts whose rows have different lengths."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import OWN_CLASSES
from faithscope.inputs.array_types import Array, Floats
from faithscope.readers.log_entries import has
from faithscope.readers.tokens import highlighted
from faithscope.readers.wanted import Wanted, common_names, label_named


def recognizes(item: Any) -> bool:
    """Whether this is an object of shap's, of one row or of several."""
    return has(item, "base_values", "output_names", "feature_names", "values", "data")


def read(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """Importances, or highlights of the largest tokens of texts."""
    first = rows[0]
    if len(rows) == 1 and _are_texts(first.data):
        return highlighted(zip(first.data, first.values, strict=True), wanted)
    if any(map(_is_text, rows)):
        return highlighted([(row.data, row.values) for row in rows], wanted)
    values, bases = np.asarray(first.values), first.base_values
    if isinstance(first.feature_names, str) and len(rows) == 1:  # one feature of all rows
        values = values[:, None]
    elif len(rows) > 1 or np.ndim(first.data) == 1 or values.ndim == 1:
        arrays = [(np.asarray(row.values), len(np.shape(row.data))) for row in rows]  # without the axis of rows
        parts = [part[0] if part.ndim > 1 and len(part) == 1 and axes != 1 else part for part, axes in arrays]
        if len({part.shape for part in parts}) > 1:
            raise BadInput("Explanations of shap have different shapes: explain every row with the same features.")
        values, bases = np.stack(parts), [row.base_values for row in rows]
    listed = [[names] if isinstance(names := row.feature_names, str) else names for row in rows]
    named = listed[0] is not None and all(isinstance(name, str | int | np.generic) for name in listed[0])
    names, titles = common_names("shap", listed) if named else None, first.output_names
    if values.ndim == 2:
        if len({str(row.output_names) for row in rows}) > 1:  # such as values[row, :, predicted[row]] of each row
            wanted.refuse(OWN_CLASSES, "class_index")
            return wanted.of_one(values, names, OWN_CLASSES)
        label = label_named(titles)
        if label is not None:
            wanted.refuse(f"these explanations speak of {label!r}", "class_index")
        return wanted.of_one(values, names, label=label)
    if values.ndim == 3:
        known = titles is not None and not isinstance(titles, str) and len(titles) == values.shape[2]
        return wanted.of_classes(values, names, list(map(str, titles)) if known else None, _outputs(values, bases))
    return wanted.of_maps(values)


def _outputs(values: Array, bases: Any) -> Floats | None:
    """The model's output for each class, to which values and base values add up; None if there are no base values."""
    try:
        total = np.asarray(bases, np.float64).reshape(-1, values.shape[2]) + values.sum(axis=1)
    except (TypeError, ValueError):
        return None
    return total if len(total) == len(values) and np.isfinite(total).all() else None


def _are_texts(data: Any) -> bool:
    """Whether rows are lists of tokens, which are never one array of two axes, as a table's categories are."""
    listed = isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.shape == (data.size,))
    return listed and len(data) > 0 and all(map(_holds_texts, data))


def _is_text(row: Any) -> bool:
    """Whether one row is a text: its features are its own tokens, or have no names."""
    if not _holds_texts(row.data):
        return False
    names = row.feature_names
    return names is None or [str(name).strip() for name in names] == [token.strip() for token in row.data]


def _holds_texts(row: Any) -> bool:
    """Whether one row of the data is a list of tokens."""
    listed = isinstance(row, list | tuple | np.ndarray) and np.ndim(row) == 1
    return listed and len(row) > 0 and all(isinstance(token, str) for token in row)
