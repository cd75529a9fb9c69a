"""By what a monitor groups its rows: the names that were settled, and what callers hand over under them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import frame_column, frame_names, is_frame
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_labels


def group_names(by: Any) -> tuple[str, ...] | None:
    """The names of what gives groups, as they were handed over."""
    if by is None:
        return None
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else None
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise WrongType(f"by names what gives groups, such as 'region' or ['region', 'sex']; got {by!r}.")
    return names


def told_names(names: Sequence[str]) -> str:
    """How a monitor was begun."""
    return f"by {', '.join(names)}" if names else "without groups"


def group_columns(names: Sequence[str], by: Any) -> list[str]:
    """The columns of a log that give groups of these names."""
    columns = group_names(by)
    if columns is None:
        return list(names)
    if len(columns) != len(names):
        raise BadInput(f"This monitor was begun {told_names(names)}; got by={by!r}: name one column for each.")
    return list(columns)


def row_groups(names: Sequence[str], by: Any, rows: int) -> Array | None:
    """One group per row; None if there are no groups."""
    if not names:
        if by is not None:
            raise BadInput("This monitor was begun without groups: begin another store with by='region'.")
        return None
    if by is None:
        raise BadInput(f"This monitor has groups by {', '.join(names)}: pass by= with the group of each row.")
    columns = [
        to_labels(values, f"Groups by {name!r}") for name, values in zip(names, _columns(names, by), strict=True)
    ]
    for column in columns:
        same_length(explanations=rows, groups=len(column))
    if len(columns) == 1:
        return columns[0]
    crossed = np.empty(rows, object)
    crossed[:] = list(zip(*(column.tolist() for column in columns), strict=True))
    return crossed


def _columns(names: Sequence[str], by: Any) -> list[Any]:
    if is_frame(by):
        by = {name: frame_column(by, j) for j, name in enumerate(frame_names(by))}
    if not isinstance(by, Mapping):
        if len(names) > 1:
            raise WrongType(f"This monitor has groups by {', '.join(names)}: pass a mapping with a column for each.")
        return [by]
    missing = [name for name in names if name not in by]
    if missing:
        raise BadInput(f"by has no column {missing[0]!r}: pass one for each of {', '.join(names)}.")
    return [by[name] for name in names]
