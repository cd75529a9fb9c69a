"""What a row of a log is called: a log has no row numbers, so its id columns name it, or else its own columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faithscope.errors import BadInput
from faithscope.explanations.base import readable
from faithscope.inputs.arrays import to_items
from faithscope.inputs.frames import frame
from faithscope.tables.log.columns import Names, one_column

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = 6  # of a row that has no id
_CHARACTERS = 40  # of a cell


def id_columns(columns: Sequence[str], names: Names | None) -> tuple[str, ...]:
    """The columns that identify rows."""
    chosen = (
        [] if names is None else [names] if isinstance(names, str) else to_items(names, "id, the names of columns,")
    )
    return tuple(dict.fromkeys(one_column(columns, name, "id") for name in chosen))


def refuse_ids(ids: Sequence[str], role: str, columns: Sequence[str]) -> None:
    """Raise where a column that identifies rows would also be measured."""
    both = [name for name in ids if name in columns]
    if both:
        raise BadInput(
            f"Column {both[0]!r} is named both for id and for {role}: a column that identifies rows is never measured. "
            "Leave it out of one of them."
        )


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Rows of a log that are shown, with the columns that name them.

    Attributes
    ----------
    ids : dict of columns
        Those that identify rows; empty where none do.
    others : dict of columns
        Every other column that can be shown and is neither prediction nor explanation.
    """

    ids: dict[str, list[Any]]
    others: dict[str, list[Any]]

    @property
    def whole(self) -> "pd.DataFrame":
        """All columns, those that identify rows first."""
        return frame({**self.ids, **self.others})

    @property
    def compared(self) -> "pd.DataFrame | None":
        """The columns that say how near two rows are; None where there are none."""
        return frame(self.others) if self.others else None

    def name(self, row: int) -> str:
        """A row by its ids, else by the first of its own columns."""
        cells = self.ids or dict(list(self.others.items())[:_COLUMNS])
        told = ", ".join(f"{_short(name)} {_short(column[row])}" for name, column in cells.items())
        more = 0 if self.ids else len(self.others) - len(cells)
        return (told + (f", … ({more} more)" if more else "")) or "a row without other columns"

    def names(self, found: dict[str, Any]) -> dict[str, list[str]]:
        """What the rows of pairs are called, which are given by position."""
        return {f"index_{side}": [self.name(i) for i in found[f"row_{side}"].tolist()] for side in "ab"}

    def pairs(self, found: dict[str, Any]) -> dict[str, Any]:
        """Pairs of rows without their positions: ids first, then `index_a` and `index_b` to read."""
        ids = {
            f"{name}_{side}": [column[i] for i in found[f"row_{side}"].tolist()]
            for name, column in self.ids.items()
            for side in "ab"
        }
        told = {**self.names(found), **{name: one for name, one in found.items() if not name.startswith("row_")}}
        return {**ids, **{name: one for name, one in told.items() if name not in ids}}


def _short(value: Any) -> str:
    text = " ".join(readable(value).split())
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
