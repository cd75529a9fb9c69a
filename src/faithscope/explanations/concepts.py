"""Concepts: annotated concepts that explain a prediction; they apply to every row annotated with all of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.highlights import Highlights, words_by_row
from faithscope.inputs.alignment import index_of
from faithscope.inputs.array_types import Names
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.columns import Rows, distinct_names
from faithscope.inputs.numbers import to_matrix


class Concepts(Highlights):
    """One set of annotated concepts per row: those that its explanation highlights.

    They are `Highlights` over annotations: the rows X of `sufficiency` are the annotations of each row, in the columns
    of the same names, and an explanation applies to all rows that are annotated with each of its concepts.

    Parameters
    ----------
    matrix : (n, concepts) array of 0 and 1, sparse matrix, or table
        1 for the concepts that the explanation of a row highlights. A row without any applies everywhere.
    names : sequence of str, optional
        The concepts, one per column; by default the column names of a table.

    Examples
    --------
    >>> import faithscope as fs
    >>> highlighted = Concepts([[1, 0], [1, 1], [1, 0]], ["stripes", "hooves"])
    >>> highlighted.describe(1)
    'hooves, stripes'
    >>> fs.sufficiency(highlighted, ["zebra", "zebra", "tiger"], [[1, 1], [1, 1], [1, 0]]).value
    0.5
    """

    def __init__(self, matrix: Any, names: Sequence[str] | None = None) -> None:
        if names is None and not is_frame(matrix):
            raise BadInput("Concepts need names, one per column: fs.Concepts(matrix, ['stripes', 'hooves']).")
        concepts = distinct_names(frame_names(matrix) if names is None else names)
        columns = {concept: column for column, concept in enumerate(concepts)}
        super().__init__(words_by_row(_marks(matrix, concepts, "Concepts"), columns), vocabulary=columns)
        self._fill(index=index_of(matrix))

    @property
    def kind(self) -> str:
        return f"highlighted concepts, of {len(self.concepts)}"

    @property
    def concepts(self) -> Names:
        """The names of all concepts, in the order of their columns."""
        return tuple(self.vocabulary or ())

    def _read(self, X: Any) -> tuple[Any, Mapping[str, int] | None]:
        return _marks(X, self.concepts, "Annotations"), self.vocabulary


def _marks(given: Any, concepts: Names, what: str) -> Any:
    """A sparse array of the concepts that each row has, its columns in their order."""
    from scipy.sparse import csr_array

    matrix = given
    if is_frame(given):
        rows = Rows(given)
        places = [rows.place(concept, f"{what.lower()} of concepts need") for concept in concepts]
        matrix = np.column_stack([rows.column(place).values for place in places])
    marks = csr_array(matrix if hasattr(matrix, "tocsr") else to_matrix(matrix, what)[0])
    if marks.shape[1] != len(concepts):
        raise BadInput(
            f"{what} must have one column for each of the {len(concepts)} concepts; got shape {marks.shape}."
        )
    marks.sum_duplicates()
    marks.eliminate_zeros()
    odd = marks.data[marks.data != 1]
    if len(odd):
        raise BadInput(f"{what} must be 0 or 1; got {odd[0]}: cut scores first, such as matrix > 0.5.")
    return marks
