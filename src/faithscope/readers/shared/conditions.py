"""Conditions of other libraries' objects as `Rules`, and what an explainer claims of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.conditions.condition import Triple
from faithscope.explanations.rules import Rules
from faithscope.readers.shared.printed import Read, joined_texts
from faithscope.readers.shared.wanted import Wanted


def to_rules(
    rows: Sequence[Iterable[Triple]], names: Sequence[str] | None, wanted: Wanted, remarks: Iterable[str] = ()
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
    """
    if wanted.class_index is not None:
        raise BadInput(f"class_index={wanted.class_index!r} chooses among classes, and these are rules: leave it out.")
    rules = Rules.from_conditions(rows, names if wanted.features is None else wanted.features)
    return rules._with(remarks=tuple(dict.fromkeys(remarks)))


def printed_rules(
    rows: Sequence[Sequence[Read]], names: Sequence[str] | None, wanted: Wanted, remarks: Iterable[str] = ()
) -> Rules:
    """Rules from the printed conditions of each row, with what is to be said of their bounds, and their codes."""
    triples = [[triple for condition in row for triple in condition.triples] for row in rows]
    conditions = [condition for row in rows for condition in row]
    of_bounds = [remark for condition in conditions for remark in condition.remarks]
    return to_rules(triples, names, wanted, (*remarks, *of_bounds))._with(categories=joined_texts(conditions))


def claims(columns: Mapping[str, Sequence[float] | NDArray[np.float64]]) -> NDArray[Any]:
    """Numbers that an explainer says of its own rules, by name: one structured row per rule."""
    arrays = {name: np.asarray(column, np.float64) for name, column in columns.items()}
    claimed = np.empty(len(next(iter(arrays.values()))), [(name, np.float64) for name in arrays])
    for name, column in arrays.items():
        claimed[name] = column
    return claimed
