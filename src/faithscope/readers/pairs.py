"""Dicts of a number per feature, and lists of (feature, number) pairs, one per row, as lime and others write them."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import OWN_CLASSES
from faithscope.explanations.rule_json import once
from faithscope.inputs.checks import is_real
from faithscope.inputs.hints import hint
from faithscope.readers.tokens import highlighted
from faithscope.readers.wanted import Wanted, first_of, one_per_row
from faithscope.runtime.memory import need

_ABSENT = "features that a row does not name count 0 there"
_OPERATORS = ("<", ">", "=")  # in the texts that lime makes of a feature and its bin
_FEW, _MANY = 5, 50  # different texts, per pair of a row and in all, up to which they are features and no words

Pairs = Sequence[tuple[Any, Any]]  # the features of one row with their numbers


def recognizes(thing: Any) -> bool:
    """Whether rows are dicts, lists of pairs of a feature and a number, or the JSON text of such dicts."""
    first = first_of(thing)
    return isinstance(first, Mapping) or _are_pairs(first) or _is_pair_array(thing) or _as_json(first) is not None


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Importances over all features that any row names; highlights if the features are words."""
    given = one_per_row(thing) or thing.tolist()
    by_class = _by_class(given[0])
    if not by_class:
        wanted.refuse_class("these explanations are of one class")
    rows = [_to_pairs(row, item, wanted) for row, item in enumerate(given)]
    pairs = not isinstance(given[0], Mapping | str) and wanted.features is None
    if wanted.top is not None or (pairs and _are_words(rows)):
        number = next((name for row in rows for name, _ in row if not isinstance(name, str)), None)
        if number is not None:
            raise BadInput(f"top= chooses words, but these features are numbered ({number!r}): leave it out.")
        scores = [np.array([number for _, number in row], np.float64) for row in rows]
        return highlighted([[name for name, _ in row] for row in rows], scores, wanted)
    importances = _importances(rows, wanted)
    own = by_class and wanted.class_index is None and len({tuple(sorted(item)) for item in given}) > 1
    return importances._with(remarks=(*importances.remarks, OWN_CLASSES)) if own else importances


def _are_pairs(row: Any) -> bool:
    """Whether a row is a list of (index or text, weight) pairs, as tuples, or as lists of JSON."""
    if not isinstance(row, list) or not row or not all(isinstance(p, tuple | list) and len(p) == 2 for p in row):
        return False
    if not all(isinstance(p[0], int | np.integer | str) and is_real(p[1]) for p in row):
        return False
    return any(isinstance(p[1], float | np.floating) for p in row)


def _is_pair_array(values: Any) -> bool:
    """Whether an array is (n, k, 2) with texts or different whole numbers first, as lists of such pairs become."""
    if not isinstance(values, np.ndarray) or values.ndim != 3 or values.shape[2] != 2 or not values.size:
        return False
    if values.dtype.kind != "f":
        return bool(values.dtype.kind == "U")
    index, numbers = np.sort(values[:, :, 0], axis=1), values[:, :, 1]
    places = (index == np.floor(index)).all() and (index >= 0).all() and (np.diff(index, axis=1) > 0).all()
    return bool(places and (numbers != np.floor(numbers)).any())


def _to_pairs(row: int, item: Any, wanted: Wanted) -> Pairs:
    """One row's features with their numbers; of lime's maps by class, those of the class wanted."""
    given, item = item, _as_json(item) if isinstance(item, str) else item
    if _by_class(item):
        item = _of_label(row, item, wanted)
    if not isinstance(item, Mapping | list | tuple | np.ndarray):
        raise WrongType(
            f"Explanations are dicts of a number per feature, but row {row} is {given!r}: pass one per row."
        )
    pairs = list(item.items()) if isinstance(item, Mapping) else [_numbered(*pair) for pair in item]
    for name, number in pairs:
        if not is_real(number) or not isfinite(number):
            raise BadInput(f"Row {row} gives {name!r} the value {number!r}: importances must be finite numbers.")
    return pairs


def _by_class(item: Any) -> bool:
    """Whether this is lime's as_map(): pairs of features and weights by class."""
    return isinstance(item, Mapping) and bool(item) and all(_are_pairs(pairs) for pairs in item.values())


def _numbered(name: Any, number: Any) -> tuple[Any, Any]:
    """A pair whose number an array of texts made a text, and whose index an array of floats made a float."""
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    return name, float(number) if isinstance(number, str) else number


def _of_label(row: int, item: Mapping[Any, Any], wanted: Wanted) -> Any:
    """The pairs of one class, of lime's as_map(): the class wanted, the only one, or class 1 of two."""
    labels = sorted(item)
    usual = 1 if labels == [0, 1] else labels[0] if len(labels) == 1 else None
    label = usual if wanted.class_index is None else wanted.class_index
    if label not in item:
        raise BadInput(
            f"Row {row} is a map of classes {labels}, as lime's as_map() is: choose one, such as "
            f"fs.read(explanations, class_index={labels[0]})."
        )
    return item[label]


def _are_words(rows: Sequence[Pairs]) -> bool:
    """Whether texts of pairs are words of documents: they repeat within a row, or are many, and no conditions."""
    names = [[name for name, _ in pairs] for pairs in rows]
    distinct = {name for row in names for name in row}
    if not all(isinstance(name, str) for name in distinct):
        return False
    if any(len(set(row)) < len(row) for row in names):
        return True
    conditions = sum(any(sign in name for sign in _OPERATORS) for name in distinct)
    return 2 * conditions < len(distinct) and len(distinct) > max(_MANY, _FEW * max(map(len, names)))


def _importances(rows: Sequence[Pairs], wanted: Wanted) -> Explanations:
    names, titles = _features(rows, wanted.features)
    if not names:
        raise BadInput("Explanations name no feature: pass at least one number per row.")
    places = {name: place for place, name in enumerate(names)}
    what = f"Importances of {len(rows):,} rows over the {len(names):,} features that any of them names"
    need(8 * len(rows) * len(names), what, "keep the largest ones of each row: fs.read(explanations, top=5)")
    values = np.zeros((len(rows), len(names)))
    for row, pairs in enumerate(rows):
        for name, number in pairs:
            values[row, places[name]] = number
    absent = any(len(pairs) < len(names) for pairs in rows)
    return wanted.importances(values, titles, *((_ABSENT,) if absent else ()))


def _features(rows: Sequence[Pairs], wanted: tuple[str, ...] | None) -> tuple[list[Any], list[str] | None]:
    """The features in the order in which they first occur, numbered ones by their numbers, and their names.

    Numbered features take the names that the caller gives, if any.
    """
    first: dict[Any, None] = {}
    for row, pairs in enumerate(rows):
        named = {name: None for name, _ in pairs}
        if len(named) < len(pairs):
            raise BadInput(f"Row {row} names a feature twice: give each feature one number.")
        first |= named
    if all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in first):
        return list(range(max(len(wanted or ()), 1 + max(map(int, first), default=-1)))), None
    if wanted is not None:
        unknown = next((name for name in first if name not in wanted), None)
        if unknown is not None:
            raise BadInput(f"Rows name {unknown!r}, which features= lacks. {hint(unknown, wanted)}")
        return list(wanted), list(wanted)
    return list(first), [str(name) for name in first]


def _as_json(text: Any) -> Any:
    """What the JSON text of an object holds, each key once; None for any other text."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text, object_pairs_hook=once)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
