"""Which groups of rows are meant: one value per row, or the names of columns of X, each of them and crossed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.arrays import frame_column, frame_names, is_frame
from faithscope.inputs.hints import hint
from faithscope.inputs.rows import rows_of
from faithscope.sample import number_groups

_MOST_NUMBERS = 100  # different fractions of a column that are taken for groups


@dataclass(frozen=True)
class Grouping:
    """One group per row.

    Attributes
    ----------
    name : str
        What gives the groups, such as the name of a column; empty if it has none.
    values : array-like, (n,)
    crossed : dict of int to tuple
        The values of several columns by the numbers that stand for them in `values`; empty if there is one column.
    """

    name: str
    values: Any
    crossed: dict[int, tuple[Any, ...]] = field(default_factory=dict)


def names_columns(groups: Any, X: Any) -> bool:
    """Whether groups are the names of columns: one text, or a list of names that is not as long as X.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sex": ["f", "m", "f"], "age": [3, 4, 5]})
    >>> names_columns("sex", X), names_columns(["sex", "age"], X), names_columns(["sex", "age", "sex"], X)
    (True, True, False)
    """
    if isinstance(groups, str):
        return True
    names = isinstance(groups, list | tuple) and bool(groups) and all(isinstance(name, str) for name in groups)
    return names and is_frame(X) and len(groups) != rows_of(X) and bool(set(groups) & set(frame_names(X)))


def to_groupings(groups: Any, X: Any) -> list[Grouping]:
    """The groupings of rows; of several columns, each of them and then every combination that occurs."""
    if not names_columns(groups, X):
        return [Grouping(str(getattr(groups, "name", None) or ""), groups)]
    names = list(dict.fromkeys([groups] if isinstance(groups, str) else groups))
    each = [Grouping(name, _column(X, name)) for name in names]
    if len(each) == 1:
        return each
    numbered = [number_groups(grouping.values) for grouping in each]
    rows = np.column_stack([numbers for _, numbers in numbered])
    combinations, values = np.unique(rows, axis=0, return_inverse=True)
    crossed = {
        place: tuple(groups[number] for (groups, _), number in zip(numbered, combination, strict=True))
        for place, combination in enumerate(combinations.tolist())
    }
    return [*each, Grouping(crossed_name(names), values.reshape(-1), crossed)]


def _column(X: Any, name: str) -> Any:
    """The column of X with this name."""
    if not is_frame(X):
        raise BadInput(
            f"{name!r} names a column, but X is {type(X).__name__}, whose columns have no names: pass a group per row."
        )
    places = [place for place, column in enumerate(frame_names(X)) if column == name]
    if not places:
        raise BadInput(f"X has no column {name!r} to group rows by. {hint(name, frame_names(X))}")
    if len(places) > 1:
        raise BadInput(f"X has {len(places)} columns that are called {name!r}: rename them, or pass one group per row.")
    values = frame_column(X, places[0])
    groups, _ = number_groups(values, f"Groups of column {name!r}")
    if isinstance(groups[0], float) and (different := len(groups)) > _MOST_NUMBERS:
        raise BadInput(
            f"Column {name!r} holds {different:,} different numbers, each of which would be a group: bin them first, "
            f"e.g. pd.cut(X[{name!r}], 4), and pass the bins."
        )
    return values


def crossed_name(names: Sequence[str]) -> str:
    """What the combinations of several columns are called.

    Examples
    --------
    >>> crossed_name(["sex", "race"])
    'sex × race'
    """
    return " × ".join(names)
