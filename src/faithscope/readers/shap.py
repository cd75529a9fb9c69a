"""shap's `Explanation`: tables, several classes, images, and texts whose rows have different lengths."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.axes import are_interactions
from faithscope.readers.arrays import label_named, of_classes, of_two, one_class
from faithscope.readers.tokens import highlighted
from faithscope.readers.wanted import Wanted, first_of, one_per_row


def recognizes(thing: Any) -> bool:
    """Whether this is one object of shap, or a list of them, one per row."""
    return _is_explanation(thing) or _is_explanation(first_of(thing))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Importances, or highlights of the largest tokens of texts."""
    rows = one_per_row(thing)
    if rows:
        return _read_rows(rows, wanted)
    if _are_texts(thing):
        return _read_texts(list(zip(thing.values, thing.data, strict=True)), wanted)
    values = np.asarray(thing.values)
    if isinstance(thing.feature_names, str):  # one feature of all rows
        return _read_values(values[:, None], thing, wanted)
    if np.ndim(thing.data) == 1 or values.ndim == 1:
        return _read_rows([thing], wanted)
    return _read_values(values, thing, wanted)


def _is_explanation(thing: Any) -> bool:
    return all(hasattr(thing, name) for name in ("base_values", "output_names", "feature_names", "values", "data"))


def _read_rows(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """One object per row, each of one row with or without its axis."""
    if any(_is_text(row) for row in rows):
        return _read_texts([(row.values, row.data) for row in rows], wanted)
    arrays = [_of_one_row(row) for row in rows]
    if len({array.shape for array in arrays}) > 1:
        raise BadInput("Explanations of shap have different shapes: explain every row with the same features.")
    return _read_values(np.stack(arrays), rows[0], wanted, [row.base_values for row in rows])


def _of_one_row(row: Any) -> Array:
    """The numbers of an object of one row, without the axis of rows."""
    values, data = np.asarray(row.values), np.shape(row.data)
    return values[0] if values.ndim > 1 and values.shape[0] == 1 and len(data) != 1 else values


def _read_values(values: Array, thing: Any, wanted: Wanted, bases: Any = None) -> Explanations:
    names = _names(thing)
    if values.ndim == 2:
        label = label_named(thing.output_names)
        if label is not None:
            wanted.refuse_class(f"these explanations speak of {label!r}")
        values, remarks = of_two(values, wanted)
        return wanted.importances(values, names, *remarks, label=label)
    if are_interactions(values):
        raise BadInput(
            f"Explanations have shape {values.shape}, interactions of every two features: sum them first, "
            "explanations.values.sum(axis=2)."
        )
    if values.ndim == 3:
        outputs = _outputs(values, thing.base_values if bases is None else bases)
        return of_classes(values, names, _titles(thing, values.shape[2]), wanted, outputs)
    return _read_maps(values, wanted)


def _outputs(values: Array, bases: Any) -> Floats | None:
    """The model's output for each class, to which values and base values add up; None if there are no base values."""
    try:
        total = np.asarray(bases, np.float64).reshape(-1, values.shape[2]) + values.sum(axis=1)
    except (TypeError, ValueError):
        return None
    return total if len(total) == len(values) and np.isfinite(total).all() else None


def _read_maps(values: Array, wanted: Wanted) -> Explanations:
    """Images: (n, H, W, C), with classes as a fifth axis."""
    if values.ndim == 4:
        wanted.refuse_class("these maps are of one class")
        return wanted.importances(values)
    what = f"Explanations are maps of shape {values.shape}, which"
    return wanted.importances(values[..., one_class(wanted, values.shape[-1], what)])


def _names(thing: Any) -> Sequence[str] | None:
    names = thing.feature_names
    if isinstance(names, str):
        return [names]
    if names is None or any(not isinstance(name, str | int | np.generic) for name in names):
        return None
    return list(map(str, names))


def _titles(thing: Any, classes: int) -> list[str]:
    """The names of the classes; their positions if they have none."""
    names = thing.output_names
    known = names is not None and not isinstance(names, str) and len(names) == classes
    return [str(name) for name in names] if known else [str(label) for label in range(classes)]


def _are_texts(thing: Any) -> bool:
    """Whether rows are texts: lists of tokens, which are never one array of two axes, as a table's categories are."""
    rows = one_per_row(thing.data)
    return bool(rows) and all(map(_holds_texts, rows))


def _is_text(row: Any) -> bool:
    """Whether one row is a text: its features are its own tokens, or have no names."""
    names = row.feature_names
    if not _holds_texts(row.data):
        return False
    return names is None or [str(name).strip() for name in names] == [token.strip() for token in row.data]


def _holds_texts(row: Any) -> bool:
    """Whether one row of the data is a list of tokens."""
    listed = isinstance(row, list | tuple | np.ndarray) and np.ndim(row) == 1
    return listed and len(row) > 0 and all(isinstance(token, str) for token in row)


def _read_texts(rows: Sequence[tuple[Any, Any]], wanted: Wanted) -> Explanations:
    """Tokens with their numbers; of several classes, those of the class wanted."""
    scores = [np.asarray(values, np.float64) for values, _ in rows]
    classes = {array.shape[1] if array.ndim == 2 else 1 for array in scores}
    if len(classes) > 1:
        raise BadInput(f"Explanations of texts have different numbers of classes, {sorted(classes)}: read them apart.")
    (many,) = classes
    label = one_class(wanted, many, "Explanations of texts")
    columns = [array[:, label] if array.ndim == 2 else array for array in scores]
    return highlighted([tokens for _, tokens in rows], columns, wanted)
