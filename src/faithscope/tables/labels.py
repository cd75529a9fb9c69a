"""The predicted labels of a log: which occur, and how many rows have each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.inputs.labels import refuse_numbers, to_keys
from faithscope.sample import number_labels
from faithscope.tables.engine.answers import fetch, numbers_of
from faithscope.tables.engine.protocol import Table

Ints = NDArray[np.int64]

_FEW = 16  # labels that are counted side by side
_MOST_LABELS = 1_000_000
_INSTEAD = (
    "pass agreement=fs.Spread() or fs.Close(eps), on the command line --agreement spread, or a column of labels or bins"
)


@dataclass(frozen=True)
class Labels:
    """The predicted labels that occur, None for missing, and how many rows have each."""

    values: tuple[Any, ...]
    rows: Ints

    @property
    def n(self) -> int:
        """Rows of all labels together."""
        return int(self.rows.sum())

    @property
    def counts(self) -> dict[Any, int]:
        """The number of rows by label."""
        return dict(zip(self.values, self.rows.tolist(), strict=True))

    @property
    def side_by_side(self) -> bool:
        """Whether there are few enough, and of such types, that each gets its own count."""
        plain = all(isinstance(label, str | bool | int | float | None) for label in self.values)
        return len(self.values) <= _FEW and plain


def read_labels(table: Table) -> Labels:
    """The values of a table's column `label`; refuses numbers that are nearly all different."""
    answer = fetch(table.group_by("label").aggregate(given=table.count()).limit(_MOST_LABELS + 1))
    labels = Labels(tuple(answer.column("label").to_pylist()), numbers_of(answer, "given"))
    if len(labels.values) > _MOST_LABELS:
        many = f"Predictions have more than {_MOST_LABELS:,} different values"
        raise BadInput(f"{many}: pass classes, bins, or agreement=fs.Spread().")
    refuse_alike(labels.values)
    refuse_number_labels(labels.values, labels.rows)
    return labels


def refuse_number_labels(values: Sequence[Any], rows: Ints) -> None:
    """Raise if labels, None for missing, are numbers that are nearly all different."""
    known = [label for label in values if label is not None]
    if known and all(isinstance(label, int | float) and not isinstance(label, bool) for label in known):
        _refuse_numbers(np.array(known, np.float64), rows[[label is not None for label in values]])


def _refuse_numbers(values: NDArray[np.float64], rows: Ints) -> None:
    """As in memory, in one sentence: what is passed instead are columns, not arrays."""
    try:
        refuse_numbers(values, rows, "")
    except BadInput:
        raise BadInput(
            f"Predictions are numbers, {len(values):,} different ones in {int(rows.sum()):,} rows such as "
            f"{values[0]:g}, and labels agree only if they are equal: {_INSTEAD}."
        ) from None


def refuse_alike(values: Sequence[Any]) -> None:
    """Raise if an engine tells values apart that Python takes for one, such as times in different zones."""
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise BadInput(
                f"The log's engine tells two values {value!r} apart that are one in Python: write them as text."
            )
        seen.add(value)


def in_order(names: Sequence[Any]) -> list[Any]:
    """The different names in order, None last."""
    present = [name for name in dict.fromkeys(names) if name is not None]
    ordered = list(number_labels(to_keys(present, "Values"))[0]) if present else []
    return [*ordered, None] if None in names else ordered


def names_of(answer: Any, by: Sequence[str]) -> list[Any]:
    """The population of each line of an answer: a value, or the values of several columns."""
    columns = [answer.column(name).to_pylist() for name in by]
    return [] if not by else list(columns[0]) if len(by) == 1 else list(zip(*columns, strict=True))
