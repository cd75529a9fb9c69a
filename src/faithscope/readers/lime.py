"""lime's `Explanation` objects, one per row: tables, texts and images."""

from collections.abc import Sequence
from os.path import commonprefix
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
    """Importances over all features, highlights of texts, or maps of images."""
    rows = [thing] if _is_explanation(thing) else one_per_row(thing)
    rows_of_objects(rows, "local_exp")
    images, mapper = hasattr(rows[0], "segments"), getattr(rows[0], "domain_mapper", None)
    if not images and not hasattr(mapper, "indexed_string"):
        return _read_tables(rows, wanted)
    labels, remarks = _labels(rows, wanted.class_index)
    if len(labels[0]) > 1:
        what = "images" if images else "texts"
        raise BadInput(f"lime explained {len(labels[0])} classes of these {what}: choose one, such as class_index=1.")
    each = [(row, label) for row, (label,) in zip(rows, labels, strict=True)]
    if images:  # of every pixel, the weight of its segment
        maps = [_dense(row, label, int(np.max(row.segments)) + 1)[row.segments] for row, label in each]
        if len({weights.shape for weights in maps}) > 1:
            raise BadInput("These images have different sizes: explain images of one size.")
        return wanted.importances(np.stack(maps), None, *remarks, doubt="")
    pairs: list[Pairs] = [row.as_list(label=label) for row, label in each]
    words = [[str(word) for word, _ in row] for row in pairs]
    scores = [np.array([weight for _, weight in row], np.float64) for row in pairs]
    highlights = highlighted(words, scores, wanted)
    return highlights._with(remarks=(*highlights.remarks, *remarks))


def _is_explanation(thing: Any) -> bool:
    return isinstance(getattr(thing, "local_exp", None), dict) and (
        hasattr(thing, "domain_mapper") or hasattr(thing, "segments")
    )


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
    mappers = [row.domain_mapper for row in rows]
    each = [[str(name) for name in mapper.feature_names] for mapper in mappers]
    if len({len(names) for names in each}) > 1:
        raise BadInput("lime's explanations have different numbers of features: explain every row with the same ones.")
    categories = [value == "True" for value in getattr(mappers[0], "feature_values", None) or [""] * len(each[0])]
    said = list(zip(*each, strict=True))
    return [_without_category(names) if is_one else names[0] for names, is_one in zip(said, categories, strict=True)]


def _without_category(said: Sequence[str]) -> str:
    """What names of one feature have in common before a category; if all name one, before the first equals sign."""
    if len(set(said)) == 1:
        return said[0].partition("=")[0] or said[0]
    common = commonprefix(said)  # noqa: RUF071 (of letters, not of folders)
    return common.rpartition("=")[0] or said[0]


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
    ranked = any(getattr(row, "top_labels", None) for row in rows)
    if class_index == "predicted" or ranked or any(len(labels) == 1 and labels != known[0] for labels in known):
        return _predicted(rows, known)
    if any(labels != known[0] for labels in known):
        raise BadInput(
            "lime explained different classes in different rows: choose one that all have, fs.read(explanations, "
            "class_index=1), or each row's own, class_index='predicted'."
        )
    of_all = known[0][1:] if known[0] == [0, 1] and _classes(rows[0]) in (0, 2) else known[0]
    told = (side_by_side(len(of_all), PREDICTED),) if len(of_all) > 1 else ()
    return [of_all] * len(rows), told


def _classes(row: Any) -> int:
    """Number of classes that the model has; 0 if that cannot be told."""
    known = (getattr(row, "predict_proba", None), getattr(row, "class_names", None))
    return next((len(each) for each in known if each is not None), 0)


def _predicted(rows: Sequence[Any], known: Sequence[list[int]]) -> tuple[list[list[int]], tuple[str, ...]]:
    """The label that lime ranks first in each row, or the only one that it explained."""
    first = []
    for row, labels in zip(rows, known, strict=True):
        ranked, likely = getattr(row, "top_labels", None), getattr(row, "predict_proba", None)
        label = (
            int(ranked[0]) if ranked else labels[0] if len(labels) == 1 or likely is None else int(np.argmax(likely))
        )
        if label not in labels or (not ranked and len(labels) > 1 and likely is None):
            raise BadInput("These explanations do not say which class was predicted: explain with top_labels=1.")
        first.append([label])
    return first, (OWN_CLASSES,)


def _dense(row: Any, label: int, width: int) -> Floats:
    weights = np.zeros(width)
    for feature, weight in row.local_exp[label]:
        weights[int(feature)] = weight
    return weights


def _title(row: Any, label: int) -> str:
    names = getattr(row, "class_names", None)
    return str(names[label]) if names is not None and label < len(names) else str(label)
