"""Which groups of rows are meant: one value per row, or the names of columns of X, whose values are crossed."""

from collections.abc import Sequence
from typing import Any

from faithscope.errors import BadInput
from faithscope.inputs.arrays import frame_column, frame_names, is_frame, to_objects
from faithscope.inputs.rows import rows_of
from faithscope.sample import number_groups
from faithscope.words import hint

_MOST_NUMBERS = 100  # different fractions of a column that are taken for groups


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


def to_groups(groups: Any, X: Any) -> tuple[str, Any]:
    """What gives the groups, such as the name of a column, and the group of each row; of several columns, tuples."""
    if not names_columns(groups, X):
        return str(getattr(groups, "name", None) or ""), groups
    names = list(dict.fromkeys([groups] if isinstance(groups, str) else groups))
    columns = [_column(X, name) for name in names]
    if len(columns) == 1:
        return names[0], columns[0]
    numbered = map(number_groups, columns)
    values = zip(*([known[number] for number in numbers] for known, numbers in numbered), strict=True)
    return crossed_name(names), to_objects(list(values))


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
