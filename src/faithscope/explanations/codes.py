"""Codes: a set of codes per row, such as the reasons on a notice, which say nothing of where they apply."""

import re
from collections.abc import Iterable
from decimal import Decimal
from numbers import Number
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import members
from faithscope.explanations.keys import Plain
from faithscope.inputs.alignment import index_of
from faithscope.inputs.arrays import frame_columns, is_frame, to_objects, to_vector
from faithscope.inputs.checks import is_real
from faithscope.inputs.missing import is_missing
from faithscope.visible import visible
from faithscope.words import readable

SEPARATORS = (";", "|", ",")  # of codes that are joined in one text; the first that occurs in any text
_BLANKS = " \t\n\r\v\f"  # what engines strip
_WHOLE = re.compile("[0-9]+[.]0")  # a whole number, as tables write it in a column with empty cells
LOOK_LIKE_MARKS = (
    "These columns hold only 0 and 1, which look like marks of the codes that a row has, not like codes: pass a list "
    "of the marked names per row, or write the codes 0 and 1 as texts."
)


class Codes(Plain):
    """A set of codes per row, in no order, such as the reasons that a notice names.

    Two rows have the same explanation if they have the same codes. A missing or empty code means that a row has fewer.
    Blanks around a code do not count. Whole numbers are codes too: 14, 14.0 and the text "14.0", as tables write it in
    columns with empty cells, are the code "14".

    Parameters
    ----------
    codes : table, (n, k) array, or one entry per row
        A table or an array has one code per cell. Otherwise each row is a list or a set of codes, or one text of codes
        that are joined.
    separator : str, optional
        What stands between codes that are joined in one text; by default the first of ``;``, ``|`` and ``,`` that
        occurs in any text. Texts inside lists and cells are never split.

    Examples
    --------
    >>> codes = Codes(["R14;R01", "R01; R14", None])
    >>> codes.describe(0), codes.describe(2)
    ('R01, R14', 'no code')
    >>> codes.group()[0].tolist()
    [0, 0, 1]
    """

    def __init__(self, codes: Any, separator: str | None = None) -> None:
        if separator is not None and (not isinstance(separator, str) or not separator.strip(_BLANKS)):
            raise WrongType(f"separator is the text between two codes, such as ';'; got {separator!r}.")
        columns = frame_columns(codes)[1] if is_frame(codes) else [to_vector(codes, "Codes")]
        columns = [*columns[0].T] if len(columns) == 1 and columns[0].ndim == 2 else columns
        if len(columns) != 1:
            marks = [cell for column in columns for cell in column.tolist() if not is_missing(cell)]
            if all(isinstance(mark, Number) for mark in marks) and set(marks) == {0, 1}:
                raise BadInput(LOOK_LIKE_MARKS)
            separator = None
        elif separator is None:
            texts = [text for text in columns[0] if isinstance(text, str)]
            separator = next((mark for mark in SEPARATORS if any(mark in text for text in texts)), None)
        rows = enumerate(zip(*columns, strict=True))
        sets = [_set(f"row {row}", cells, separator) for row, cells in rows]
        self._fill(values=to_objects(sets), index=index_of(codes))

    @classmethod
    def of_cells(cls, rows: Iterable[Iterable[Any]], separator: str | None) -> "Codes":
        """Codes of rows of a log's cells, each of which is a code, a list of them, or a text of joined ones."""
        return cls._of(values=to_objects([_set("the log", cells, separator) for cells in rows]))

    @property
    def kind(self) -> str:
        return "codes"

    def item(self, row: int) -> Any:
        return frozenset(self.values[row])

    def describe(self, row: int) -> str:
        return visible(", ".join(self.values[row])) or "no code"


def _set(holder: str, cells: Iterable[Any], separator: str | None) -> tuple[str, ...]:
    """The codes in a row's cells, sorted: each cell is a code, a list of them, or a text of joined ones."""
    parts: list[Any] = []
    for cell in cells:
        split = cell.split(separator) if isinstance(cell, str) and separator else members(cell)
        parts += [cell] if split is None else split
    codes = set[str]()
    for part in parts:
        if isinstance(part, str):
            text = str(part).strip(_BLANKS)
            if text.startswith("["):
                raise BadInput(f"A code is no text of a list; {holder} has {text!r}: pass the lists themselves.")
            codes.add(text[:-2] if _WHOLE.fullmatch(text) else text)
        elif not is_missing(part):
            if not (isinstance(part, Decimal) or is_real(part)) or part % 1 != 0:
                raise WrongType(
                    f"A code is a text or a whole number; {holder} has {readable(part)}: write it as a text."
                )
            codes.add(str(int(part)))
    return tuple(sorted(codes - {""}))
