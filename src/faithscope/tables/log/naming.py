"""The name of a row: a log has no row numbers, so its id columns name a row, or else its own columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.base import readable

_COLUMNS = 6  # of a row that has no id
_CHARACTERS = 40  # of a cell


def refuse_ids(ids: Sequence[str], role: str, columns: Sequence[str], named: str = "id") -> None:
    """Raise if a column that identifies rows, or whose they are, would also be measured."""
    both = [name for name in ids if name in columns]
    if both:
        raise BadInput(
            f"Column {both[0]!r} is named both for {named} and for {role}: a column that identifies rows is never "
            "measured. Leave it out of one of them."
        )


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Rows of a log that are shown, with the columns that name them.

    Attributes
    ----------
    ids : dict of columns
        Those that identify rows; empty if none do.
    others : dict of columns
        Every other column that can be shown and is neither prediction nor explanation.
    """

    ids: dict[str, list[Any]]
    others: dict[str, list[Any]]

    def name(self, row: int) -> str:
        """A row by its ids, else by the first of its own columns."""
        cells = self.ids or dict(list(self.others.items())[:_COLUMNS])
        text = ", ".join(f"{_short(name)} {_short(column[row])}" for name, column in cells.items())
        more = 0 if self.ids else len(self.others) - len(cells)
        return (text + (f", … ({more} more)" if more else "")) or "a row without other columns"

    def names(self, pairs: dict[str, Any]) -> dict[str, list[str]]:
        """The names of the rows of pairs, which are given by position, as the columns `index_a` and `index_b`."""
        return {f"index_{side}": list(map(self.name, pairs[f"row_{side}"].tolist())) for side in "ab"}

    def without_positions(self, pairs: dict[str, Any]) -> dict[str, Any]:
        """Pairs of rows by name in place of their positions: ids first, then `index_a` and `index_b` to read."""
        ids = {
            f"{name}_{side}": [column[row] for row in pairs[f"row_{side}"].tolist()]
            for name, column in self.ids.items()
            for side in "ab"
        }
        others = {name: column for name, column in pairs.items() if not name.startswith("row_")}
        return {**ids, **{name: column for name, column in {**self.names(pairs), **others}.items() if name not in ids}}


def _short(value: Any) -> str:
    text = " ".join(readable(value).split())
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
