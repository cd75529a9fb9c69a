"""Dicts of a number per feature, and lists of (feature, number) pairs, one per row, as lime and others write them."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.inputs.checks import is_real
from faithscope.readers.tokens import highlighted
from faithscope.readers.wanted import Wanted
from faithscope.runtime.memory import need
from faithscope.words import hint

_ABSENT = "features that a row does not name count 0 there"


def recognizes(item: Any) -> bool:
    """Whether a row is a dict, or a list of pairs of a feature and a number."""
    return isinstance(item, Mapping) or are_pairs(item)


def are_pairs(item: Any) -> bool:
    """Whether this is a list of (index or text, weight) pairs, as tuples, or as lists of JSON."""
    if not isinstance(item, list) or not item or not all(isinstance(p, tuple | list) and len(p) == 2 for p in item):
        return False
    known = all(isinstance(name, int | np.integer | str) and is_real(number) for name, number in item)
    return known and any(isinstance(number, float | np.floating) for _, number in item)


def read(rows: Sequence[Any], wanted: Wanted) -> Explanations:
    """Importances over all features that any row names; highlights if words of texts are paired, which may repeat."""
    wanted.refuse("these explanations are of one class", "class_index")
    pairs = [list(item.items()) if isinstance(item, Mapping) else list(item) for item in rows]
    for row, held in enumerate(pairs):
        for name, number in held:
            if not is_real(number) or not isfinite(number):
                raise BadInput(f"Row {row} gives {name!r} the value {number!r}: importances must be finite numbers.")
    names = [[name for name, _ in held] for held in pairs]
    named = list(dict.fromkeys(name for held in names for name in held))
    words = all(isinstance(name, str) for name in named)
    repeated = next((row for row, held in enumerate(names) if len(set(held)) < len(held)), None)
    if words and (wanted.top is not None or (repeated is not None and wanted.features is None)):
        return highlighted([(names[row], [number for _, number in held]) for row, held in enumerate(pairs)], wanted)
    if repeated is not None:
        raise BadInput(f"Row {repeated} names a feature twice: give each feature one number.")
    if not named:
        raise BadInput("Explanations name no feature: pass at least one number per row.")
    features: Sequence[Any] = wanted.features or named  # as they first occur, if none are asked for
    titles: Sequence[str] | None = list(map(str, features))
    if all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in named):  # by number
        features, titles = range(max(len(wanted.features or ()), 1 + max(named))), None
    places = {name: place for place, name in enumerate(features)}
    unknown = next((name for name in named if name not in places), None)
    if unknown is not None:
        raise BadInput(f"Rows name {unknown!r}, which features= lacks. {hint(unknown, wanted.features or ())}")
    what = f"Importances of {len(rows):,} rows over the {len(features):,} features that any of them names"
    need(8 * len(rows) * len(features), what, "keep the largest ones of each row: fs.read(explanations, top=5)")
    values = np.zeros((len(rows), len(features)))
    for row, held in enumerate(pairs):
        for name, number in held:
            values[row, places[name]] = number
    absent = any(len(held) < len(features) for held in pairs)
    return wanted.importances(values, titles, *((_ABSENT,) if absent else ()))
