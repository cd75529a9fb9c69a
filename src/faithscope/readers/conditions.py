"""Conditions of other libraries' objects as `Rules`, with the bounds that a printed one stands for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.conditions.categories import Categories
from faithscope.explanations.conditions.condition import BOUNDS, Triple
from faithscope.explanations.conditions.texts import ROUNDED
from faithscope.explanations.rules import Rules
from faithscope.readers.wanted import Wanted

ALIKE = "bounds that print alike to 2 decimals were taken as the widest of them"


def to_rules(
    rows: Sequence[Iterable[Triple]],
    names: Sequence[str] | None,
    wanted: Wanted,
    remarks: Iterable[str] = (),
    categories: Categories | None = None,
) -> Rules:
    """Rules from the conditions of each row.

    Parameters
    ----------
    rows : sequence of lists of (feature, operator, value)
    names : sequence of str, optional
        All features, in the order of the columns, if the library knows them.
    wanted : Wanted
        Its `features` come before `names`.
    remarks : iterable of str
    categories : mapping, optional
        As `Rules.categories`.
    """
    if wanted.class_index is not None:
        raise BadInput(f"class_index={wanted.class_index!r} chooses among classes, and these are rules: leave it out.")
    rules = Rules.from_conditions(rows, names if wanted.features is None else wanted.features)
    return rules._with(remarks=tuple(remarks), categories=dict(categories or {}))


def edges_of(discretizer: Any, feature: int) -> list[float]:
    """The bounds of a feature's bins, as lime's discretizers keep them; none if this is no such discretizer."""
    highest = getattr(discretizer, "maxs", None)
    known = highest.get(feature) if isinstance(highest, Mapping) else None
    return [] if known is None else [float(edge) for edge in list(known)[:-1]]


def in_full(triple: Triple, edges: Sequence[float]) -> tuple[Triple, str | None]:
    """A condition with the bound of which it prints two decimals, and what to say if that is not known for sure.

    Of several bounds that print alike the widest is taken, so that the rule covers the row that it explains.
    """
    name, operator, value = triple
    if operator not in BOUNDS:
        return triple, None
    alike = {edge for edge in edges if f"{edge:.2f}" == f"{value:.2f}"}
    if not alike:
        return triple, ROUNDED
    return (name, operator, max(alike) if "<" in operator else min(alike)), ALIKE if len(alike) > 1 else None


def claims(columns: Mapping[str, Sequence[float]]) -> NDArray[Any]:
    """Numbers that an explainer says of its own rules, by name: one structured row per rule."""
    arrays = {name: np.asarray(column, np.float64) for name, column in columns.items()}
    claimed = np.empty(len(next(iter(arrays.values()))), [(name, np.float64) for name in arrays])
    for name, column in arrays.items():
        claimed[name] = column
    return claimed
