"""What adapted explainers share: a name, rows as the library takes them, and draws that depend on the row alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Floats
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.columns import Rows
from faithscope.inputs.hints import hint
from faithscope.inputs.numbers import to_matrix
from faithscope.inputs.rebuilt import rebuilder
from faithscope.inputs.rows import flat_rows
from faithscope.inputs.seeds import row_digests, seeded


@dataclass(frozen=True, eq=False, repr=False)
class Foreign:
    """An explainer of another library, and the model that it explains.

    Attributes
    ----------
    run : int or None
        Which of several runs asks it: draws that it takes no seed for differ between runs. None if there are no others.
    label : str or None
        The label of class 1 of two, which importances of one class speak of, if the model says it.
    """

    asks: ClassVar[bool] = False  # whether it asks the model that is evaluated, not one of its own

    explainer: Any
    model: Any
    run: int | None = None
    label: str | None = None

    @property
    def __name__(self) -> str:
        return type(self.explainer).__name__

    def __repr__(self) -> str:
        return self.__name__

    def _of_class_1(self, explanations: Explanations) -> Explanations:
        """Explanations that are of class 1 of two, if they are importances with its label."""
        unsaid = isinstance(explanations, Importances) and explanations.label is None
        return explanations._with(label=self.label) if unsaid else explanations

    @property
    def seed(self) -> int:
        """The seed of draws that the explainer takes no seed for."""
        return 0 if self.run is None else self.run

    def _row_by_row(
        self, rows: Any, ask: Callable[[int, int], Any], progress: Progress | None, start: int | None = None
    ) -> list[Any]:
        """The answers for each row, by its place and a seed of its own, which the global generators have too."""
        answers, digests = [], row_digests(self.seed if start is None else start, rows)
        for place, digest in enumerate(digests):
            with seeded(seed := seed_of(digest)):
                answers.append(ask(place, seed))
            if progress is not None:
                progress(place + 1, len(digests))
        return answers

    def _remarked(self, explanations: Explanations, unseeded: str, *remarks: str) -> Explanations:
        """Explanations with remarks, and with what is to be said of draws without a seed unless runs are compared."""
        draws = (unseeded.format(name=self.__name__),) if unseeded and self.run is None else ()
        return explanations._with(remarks=(*explanations.remarks, *remarks, *draws))


def number_rows(X: Any, explainer: str, function: Callable[[Any], Any]) -> tuple[Floats, Callable[[Any], Any]]:
    """Rows of numbers as vectors, and a function of vectors that asks a function of the model's own rows.

    Raises, naming a column, if one holds no numbers.
    """
    rows = Rows(X)
    wrong = next((column for column in rows.columns if column.values.dtype.kind not in "biuf"), None)
    if wrong is not None:
        raise WrongType(
            f"{explainer} takes rows of numbers, and column {wrong.name!r} holds {wrong.values[0]!r}: pass rows as it "
            "was fitted on, with a model of such rows; or an explainer of fs.explainers, such as fs.explainers.Lime("
            "model, X_train), which takes tables as they are."
        )
    rebuild = rebuilder(rows, X)
    matrix = to_matrix(flat_rows(X)[0], "Rows")[0].astype(np.float64)
    return matrix, lambda vectors: np.asarray(function(rebuild(list(np.asarray(vectors, np.float64).T))))


def seed_of(digest: bytes) -> int:
    """A seed of 32 bits from the digest of a row."""
    return int.from_bytes(digest[:4], "little")


def unasked(explainer: Any, needs: str, line: str) -> BadInput:
    """The error for a model that cannot be asked what an explainer needs."""
    return BadInput(
        f"{type(explainer).__name__} asks the model about rows that it draws, so the model must have {needs}: pass the "
        f"model itself, {line}; or ready explanations in place of the explainer."
    )


def by_name(X: Any, names: Sequence[Any] | None, explainer: str) -> tuple[Any, tuple[str, ...]]:
    """The rows with the columns that an explainer knows, in its order; and what a reader should know about it.

    Rows without names, and tables that have none of the explainer's names, are taken by position.

    Parameters
    ----------
    X : array-like or table
    names : sequence of names, optional
        The features of the explainer, in its order; None if it has no names.
    explainer : str
        What it is called.
    """
    if not is_frame(X) or names is None:
        return X, ()
    wanted, known = tuple(map(str, names)), frame_names(X)
    if wanted == known:
        return X, ()
    unclear = [name for name in wanted if known.count(name) != 1 or wanted.count(name) != 1]
    if not unclear:
        places = [known.index(name) for name in wanted]
        return (X.iloc[:, places] if hasattr(X, "iloc") else X.select(list(wanted))), ()
    if len(wanted) != len(known) or set(wanted) & set(known):
        raise BadInput(
            f"{explainer} knows {len(wanted)} features, and X has no column, or several, called {unclear[0]!r}. "
            f"{hint(unclear[0], known)} Pass a table with the columns that it was fitted on."
        )
    told = f"X has none of the feature names of {explainer}, so its columns were taken by position: {known[0]!r} as "
    numbered = wanted == tuple(map(str, range(len(wanted))))
    return X, () if numbered else (f"{told}{wanted[0]!r}, and so on",)
