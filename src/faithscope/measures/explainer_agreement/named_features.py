"""Which features each row's explanation names: the largest importances, the conditions of a rule, the words."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.base import Explanations
from faithscope.explanations.codes import Codes
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.conditions.conjunctions import Conjunctions
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.forms import MARKS, SIGNS, are_codes, have_order, last_step
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.rules import Rules

Ints = NDArray[np.int64]

_CELLS = 2**20  # values sorted at a time


@dataclass(frozen=True, eq=False)
class NamedFeatures:
    """The features that explanations name, as pairs of a row and a feature, none of them twice.

    Attributes
    ----------
    n, width : int
        Number of rows, and of features that could be named.
    names : tuple of str, or None
        The features; None if only their positions are known.
    rows, features : (m,) arrays
    ranks : (m,) array or None
        The place of the feature among those that its row names, 0 for the largest; None if they have no order.
    signs : (m,) array or None
        -1 or 1; None if importances have no signs here.
    in_columns : bool
        Whether features are all columns of the rows, in their order.
    limited : bool
        Whether at most k features are named.
    """

    n: int
    width: int
    names: tuple[str, ...] | None
    rows: Ints
    features: Ints
    ranks: Ints | None = None
    signs: NDArray[np.int8] | None = None
    in_columns: bool = True
    limited: bool = False

    @cached_property
    def sizes(self) -> Ints:
        """How many features each row names."""
        return np.bincount(self.rows, minlength=self.n)

    @property
    def known_names(self) -> tuple[str, ...]:
        """The names, or x0, x1, … if there are none."""
        return tuple(f"x{j}" for j in range(self.width)) if self.names is None else self.names


def named_features(explanations: Explanations, k: int) -> NamedFeatures | None:
    """The features that these explanations name; None for kinds that name none, such as plain keys.

    Importances name the k largest in size, the earlier of equal ones, and never a feature of importance 0. If only
    signs are left of them, or which features are the largest, they name all that are not 0, in no order; reason codes
    in order keep it. Rules name the features of their conditions, highlights their words, codes themselves,
    counterfactuals the features that they change.
    """
    if isinstance(explanations, Importances):
        return None if isinstance(explanations, Rankings) else _of_importances(explanations, k)
    if isinstance(explanations, Counterfactuals):
        return _marked(explanations.points != explanations.originals, explanations.names)
    if isinstance(explanations, Codes):
        return _of_parts(Highlights(explanations.values))
    return _of_parts(explanations) if isinstance(explanations, Rules | Highlights) else None


def _of_importances(importances: Importances, k: int) -> NamedFeatures:
    last, values = last_step(importances.form), importances.values
    if are_codes(importances.form):
        return _of_codes(importances)
    if last.startswith((*SIGNS, *MARKS)):
        marked = _marked(values != 0, importances.names)
        signs = np.sign(values[marked.rows, marked.features]).astype(np.int8)
        return marked if last.startswith(MARKS) else replace(marked, signs=signs)
    n, width = values.shape
    top = np.empty((n, min(k, width)), np.int64)
    step = max(1, _CELLS // max(1, width))
    for start in range(0, n, step):
        block = slice(start, start + step)
        top[block] = np.argsort(-np.abs(values[block]), axis=1, kind="stable")[:, :k]
    rows, ranks = np.nonzero(np.take_along_axis(values, top, axis=1))
    features = top[rows, ranks]
    signs = np.sign(values[rows, features]).astype(np.int8)
    return NamedFeatures(n, width, importances.names, rows, features, ranks, signs, limited=True)


def _of_codes(codes: Importances) -> NamedFeatures:
    """Reason codes, which are all negative; in order if they have one."""
    marked = _marked(codes.values != 0, codes.names)
    marked = replace(marked, signs=np.full(len(marked.rows), -1, np.int8))
    if not have_order(codes.form):
        return marked
    return replace(marked, ranks=codes.values[marked.rows, marked.features].astype(np.int64) - 1)


def _marked(marks: NDArray[Any], names: tuple[str, ...] | None) -> NamedFeatures:
    rows, features = np.nonzero(np.asarray(marks, bool))
    return NamedFeatures(marks.shape[0], marks.shape[1], names, rows, features)


def _of_parts(given: Conjunctions) -> NamedFeatures:
    """Of rules, highlights and concepts, whose distinct explanations are read once."""
    if isinstance(given, Rules):
        names = given.features
        parts = [{part.position for part in parts if part.position >= 0} for parts in given.distinct]  # type: ignore[attr-defined]
    else:
        used = dict.fromkeys(word for words in given.distinct for word in words)
        names = given.concepts if isinstance(given, Concepts) else tuple(map(str, used))
        places = {name: place for place, name in enumerate(names)}
        parts = [{places[str(word)] for word in words} for words in given.distinct]
    rows, features = _expanded(given.codes, parts)
    in_columns = isinstance(given, Rules) and given.positional
    return NamedFeatures(len(given.codes), len(names), names, rows, features, in_columns=in_columns)


def _expanded(codes: Ints, parts: Iterable[set[int]]) -> tuple[Ints, Ints]:
    """Pairs of a row and each part of its explanation, from the parts of the distinct ones."""
    ordered = list(map(sorted, parts))
    lengths = np.array(list(map(len, ordered)), np.int64)
    flat = np.array([part for each in ordered for part in each], np.int64)
    starts, of_row = np.cumsum(lengths) - lengths, lengths[codes]
    rows = np.repeat(np.arange(len(codes)), of_row)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(of_row) - of_row, of_row)
    return rows, flat[np.repeat(starts[codes], of_row) + within]
