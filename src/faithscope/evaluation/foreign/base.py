"""What adapted explainers share: a name, rows as the library takes them, and draws that depend on the row alone."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.inputs.numbers import to_matrix
from faithscope.inputs.rebuilt import Rebuild, columns_with_names, rebuilder
from faithscope.inputs.rows import flat_rows

Floats = NDArray[np.float64]


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


@dataclass(frozen=True, eq=False)
class NumberRows:
    """Rows of numbers, each as a vector, and back to what the model takes: a table, an image, an array."""

    matrix: Floats
    rebuild: Rebuild

    @classmethod
    def of(cls, X: Any, explainer: str, advice: str) -> "NumberRows":
        """The rows of X; raises, naming a column, if one holds no numbers."""
        names, columns = columns_with_names(X)
        wrong = next((j for j, column in enumerate(columns) if column.dtype.kind not in "biuf"), None)
        if wrong is not None:
            raise WrongType(
                f"{explainer} takes rows of numbers, and column {names[wrong]!r} holds {columns[wrong][0]!r}: pass "
                f"rows as it was fitted on, with a model of such rows; or {advice}, which takes tables as they are."
            )
        matrix = to_matrix(flat_rows(X)[0], "Rows")[0].astype(np.float64)
        return cls(matrix, rebuilder(X, columns))

    def asking(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A function of vectors that asks a function of the model's own rows."""
        return lambda vectors: np.asarray(function(self.rebuild(list(np.asarray(vectors, np.float64).T))))


def seed_of(digest: bytes) -> int:
    """A seed of 32 bits from the digest of a row."""
    return int.from_bytes(digest[:4], "little")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, from which some libraries draw, and put their states back."""
    before, numpy_before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # noqa: NPY002


def unasked(explainer: Any, needs: str, line: str) -> BadInput:
    """The error for a model that cannot be asked what an explainer needs."""
    return BadInput(
        f"{type(explainer).__name__} asks the model about rows that it draws, so the model must have {needs}: pass the "
        f"model itself, {line}; or ready explanations in place of the explainer."
    )
