"""lime's `Explanation` objects, one per row: of tables and of texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import OWN_CLASSES, side_by_side
from faithscope.inputs.array_types import Floats
from faithscope.readers.arrays import PREDICTED
from faithscope.readers.tokens import highlighted
from faithscope.readers.wanted import ClassIndex, Wanted, first_of, one_per_row, rows_of_objects

Pairs = Sequence[tuple[Any, float]]


def recognizes(thing: Any) -> bool:
    """Whether this is one object of lime, or a list of them."""
    return _is_explanation(thing) or _is_explanation(first_of(thing))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Importances over all features, or highlights of texts."""
    rows = [thing] if _is_explanation(thing) else one_per_row(thing)
    rows_of_objects(rows, "local_exp")
    if not hasattr(rows[0].domain_mapper, "indexed_string"):
        return _read_tables(rows, wanted)
    labels, remarks = _labels(rows, wanted.class_index)
    if len(labels[0]) > 1:
        raise BadInput(f"lime explained {len(labels[0])} classes of these texts: choose one, such as class_index=1.")
    each = [(row, label) for row, (label,) in zip(rows, labels, strict=True)]
    pairs: list[Pairs] = [row.as_list(label=label) for row, label in each]
    words = [[str(word) for word, _ in row] for row in pairs]
    scores = [np.array([weight for _, weight in row], np.float64) for row in pairs]
    highlights = highlighted(words, scores, wanted)
    return highlights._with(remarks=(*highlights.remarks, *remarks))


def _is_explanation(thing: Any) -> bool:
    return isinstance(getattr(thing, "local_exp", None), dict) and hasattr(thing, "domain_mapper")


def _read_tables(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    names = _names(rows)
    labels, remarks = _labels(rows, wanted.class_index)
    parts = [
        np.array([_dense(row, of_row[part], len(names)) for row, of_row in zip(rows, labels, strict=True)])
        for part in range(len(labels[0]))
    ]
    told = min(len(row.local_exp[of_row[0]]) for row, of_row in zip(rows, labels, strict=True))
    if told < len(names):
        remarks += (f"lime names {told} of {len(names)} features in some rows, and the others count 0",)
    named = names != [str(place) for place in range(len(names))]  # or numbered by lime
    values, kept, left = wanted.per_class(np.stack(parts, axis=2), names if named else None)
    if len(parts) > 1:
        kept = [f"{name} | class {_title(rows[0], label)}" for label in labels[0] for name in kept or names]
    return left.importances(values.transpose(0, 2, 1).reshape(len(rows), -1), kept, *remarks)


def _names(rows: Sequence[Any]) -> list[str]:
    """The features, without the category of a row that lime adds to those it takes for categories: "job=clerk"."""
    names = [[str(name) for name in row.domain_mapper.feature_names] for row in rows]
    if len(set(map(len, names))) > 1:
        raise BadInput("lime's explanations have different numbers of features: explain every row with the same ones.")
    categories = getattr(rows[0].domain_mapper, "feature_values", None) or [""] * len(names[0])
    pairs = zip(names[0], categories, strict=True)
    return [name.rpartition("=")[0] or name if value == "True" else name for name, value in pairs]


def _labels(rows: Sequence[Any], class_index: ClassIndex) -> tuple[list[list[int]], tuple[str, ...]]:
    """The labels to read in each row, and how they were chosen."""
    if getattr(rows[0], "mode", "") == "regression":
        if class_index is not None:
            raise BadInput(
                f"class_index={class_index!r} chooses among classes, but lime explained a regression: leave it out."
            )
        return [[1]] * len(rows), ()
    known = [sorted(map(int, row.local_exp)) for row in rows]
    if class_index is not None and class_index != "predicted":
        missing = next((row for row, labels in enumerate(known) if class_index not in labels), None)
        if missing is not None:
            raise BadInput(
                f"class_index={class_index} is not among the classes that lime explained in row {missing}, "
                f"{known[missing]}: pass labels=({class_index},) to explain_instance."
            )
        return [[class_index]] * len(rows), ()
    alike = all(labels == known[0] for labels in known)
    if class_index is None and alike and not any(getattr(row, "top_labels", None) for row in rows):
        said = (getattr(rows[0], name, None) for name in ("predict_proba", "class_names"))
        two = known[0] == [0, 1] and next((len(each) for each in said if each is not None), 2) == 2
        of_all = [1] if two else known[0]
        return [of_all] * len(rows), (side_by_side(len(of_all), PREDICTED),) if len(of_all) > 1 else ()
    return [[_own(row, labels)] for row, labels in zip(rows, known, strict=True)], (OWN_CLASSES,)


def _own(row: Any, labels: Sequence[int]) -> int:
    """The label that lime ranks first, the only one that it explained, or the most probable one."""
    ranked, likely = getattr(row, "top_labels", None), getattr(row, "predict_proba", None)
    if ranked:
        return int(ranked[0])
    if len(labels) == 1:
        return labels[0]
    if likely is None or int(np.argmax(likely)) not in labels:
        raise BadInput(
            "lime explained different classes in different rows, and does not say which was predicted: choose one that "
            "all have, fs.read(explanations, class_index=1), or explain with top_labels=1."
        )
    return int(np.argmax(likely))


def _dense(row: Any, label: int, width: int) -> Floats:
    weights = np.zeros(width)
    for feature, weight in row.local_exp[label]:
        weights[int(feature)] = weight
    return weights


def _title(row: Any, label: int) -> str:
    names = getattr(row, "class_names", None)
    return str(names[label]) if names is not None and label < len(names) else str(label)
