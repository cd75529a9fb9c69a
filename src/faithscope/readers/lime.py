"""lime's explanations, one per row, of tables and of texts: its `Explanation` objects, or their ``as_map()``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import OWN_CLASSES
from faithscope.inputs.array_types import Names
from faithscope.readers.pairs import are_pairs
from faithscope.readers.tokens import highlighted
from faithscope.readers.wanted import Wanted, common_names


def recognizes(item: Any) -> bool:
    """Whether this is an object of lime's, or pairs of features and weights by class."""
    return hasattr(item, "domain_mapper") if hasattr(item, "local_exp") else _is_map(item)


def _is_map(item: Any) -> bool:
    return isinstance(item, Mapping) and bool(item) and all(map(are_pairs, item.values()))


def read(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """Importances over all features, or highlights of texts."""
    explained = [item if _is_map(item) else item.local_exp for item in rows]
    labels, own = _labels(rows, explained, wanted)
    mapper, titled = (getattr(rows[0], name, None) for name in ("domain_mapper", "class_names"))
    if hasattr(mapper, "indexed_string"):
        which = 0 if len(labels[0]) == 1 else wanted.position(len(labels[0]))
        pairs = [row.as_list(label=of_row[which]) for row, of_row in zip(rows, labels, strict=True)]
        texts = [([word for word, _ in held], [weight for _, weight in held]) for held in pairs]
        highlights = highlighted(texts, replace(wanted, class_index=None))
        return highlights._with(remarks=(*highlights.remarks, *own))
    names = _names([row.domain_mapper for row in rows if hasattr(row, "domain_mapper")])
    named = [feature for each in explained for pairs in each.values() for feature, _ in pairs]
    width = max(len(names or wanted.features or ()), 1 + max(map(int, named)))
    values = np.zeros((len(rows), width, len(labels[0])))
    for row, (each, of_row) in enumerate(zip(explained, labels, strict=True)):
        for place, label in enumerate(of_row):
            for feature, weight in each[label]:
                values[row, int(feature), place] = weight
    told = min(len(each[of_row[0]]) for each, of_row in zip(explained, labels, strict=True))
    remarks = own
    if told < width:
        remarks += (f"lime names {told} of {width} features in some rows, and the others count 0",)
    if len(labels[0]) == 1:
        return wanted.importances(values[:, :, 0], names, *remarks)
    titles = [titled[label] if titled is not None and label < len(titled) else label for label in labels[0]]
    return wanted.of_classes(values, names, titles, None, *remarks, many=max(_classes(rows[0]), 1 + labels[0][-1]))


def _classes(row: Any) -> int:
    """How many classes the model has, as far as an explanation says it; else two."""
    said = (getattr(row, name, None) for name in ("predict_proba", "class_names"))
    return next((len(each) for each in said if each is not None), 2)


def _names(mappers: Sequence[Any]) -> Names | None:
    """The features, without the category of a row that lime may add to their names ("job=clerk"); None if numbered.

    A category may hold an equality sign too ("balance=>=200"), so a feature's name is the longest that all rows allow.
    """
    rows = []
    for mapper in mappers:
        names = list(map(str, mapper.feature_names))
        values = getattr(mapper, "feature_values", None) or [""] * len(names)
        rows.append([_possible_names(*pair) for pair in zip(names, values, strict=True)])
    shared = [set.intersection(*of_rows) for of_rows in zip(*rows, strict=False)]
    known = []
    for row in rows:
        pairs = zip_longest(row, shared, fillvalue=set[str]())
        plain = [max(possible & common or possible, key=len) for possible, common in pairs]
        known.append(None if plain == [str(place) for place in range(len(plain))] else plain)
    return common_names("lime", known)


def _possible_names(name: str, value: str) -> set[str]:
    """All that a feature may be called, of which lime tells this; the value "True" marks one with a category."""
    signs = [place for place, character in enumerate(name) if character == "=" and place and value == "True"]
    return {name[:place] for place in signs} or {name}


def _labels(rows: Sequence[Any], explained: Sequence[Any], wanted: Wanted) -> tuple[list[list[int]], tuple[str, ...]]:
    """The labels to read in each row, and what to say if these are the rows' own."""
    if getattr(rows[0], "mode", "") == "regression":
        wanted.refuse("lime explained a regression", "class_index")
        return [[1]] * len(rows), ()
    known = [sorted(map(int, each)) for each in explained]
    index = wanted.class_index
    if isinstance(index, int):
        missing = next((row for row, labels in enumerate(known) if index not in labels), None)
        if missing is not None:
            raise BadInput(
                f"class_index={index} is not among the classes that lime explained in row {missing}, {known[missing]}: "
                f"pass labels=({index},) to explain_instance."
            )
        return [[index]] * len(rows), ()
    ranked = any(getattr(row, "top_labels", None) for row in rows)
    if index is None and not ranked and all(labels == known[0] for labels in known):
        return [[1]] * len(rows) if known[0] == [0, 1] and _classes(rows[0]) == 2 else known, ()
    chosen = []
    for row, labels in zip(rows, known, strict=True):  # ranked first, the only one, or most probable
        first, likely = getattr(row, "top_labels", None), getattr(row, "predict_proba", None)
        alone = index is None and len(labels) == 1
        own = first[0] if first else labels[0] if alone else None if likely is None else np.argmax(likely)
        if own not in labels:
            raise BadInput(
                "lime did not explain the class that was predicted, or does not say which it was, in every row: choose "
                "one that all have, fs.read(explanations, class_index=1), or explain with top_labels=1."
            )
        chosen.append([int(own)])
    return chosen, (OWN_CLASSES,)
