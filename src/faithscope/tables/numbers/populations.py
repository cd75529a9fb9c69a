"""The lines of an answer by population."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.tables.labels import in_order


def names_of(answer: Any, by: Sequence[str]) -> list[Any]:
    """The population of each line: a value, or the values of several columns."""
    columns = [answer.column(name).to_pylist() for name in by]
    return [] if not by else list(columns[0]) if len(by) == 1 else list(zip(*columns, strict=True))


def parts_of(answer: Any, by: Sequence[str]) -> dict[Any, Any]:
    """The lines of each population in order; all of them under None if there are no columns that name populations."""
    if not by:
        return {None: answer}
    names = names_of(answer, by)
    lines: dict[Any, list[int]] = {}
    for line, name in enumerate(names):
        lines.setdefault(name, []).append(line)
    return {name: answer.take(np.array(lines[name])) for name in in_order(names)}
