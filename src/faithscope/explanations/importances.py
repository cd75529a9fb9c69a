"""Importances: a number for every feature (SHAP, LIME, gradients)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations, shorten
from faithscope.explanations.grouping import Column
from faithscope.explanations.inputs import to_matrix


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Importances(Explanations):
    """One number for every feature, one row a row.

    Two rows have the same explanation where all their numbers are equal (-0.0 is 0.0).

    Parameters
    ----------
    values : (n, d) array, list of rows, or pandas, polars or Arrow table
        Finite numbers. Single precision is kept and compared as double.
    names : sequence of str, optional
        The features; by default the column names, if the input has any.

    Examples
    --------
    >>> Importances([[0.5, -0.1], [0.5, -0.1]], names=["age", "job"]).describe(0)
    'age 0.5, job -0.1'
    """

    values: NDArray[Any]
    names: tuple[str, ...] | None = None

    _per_row: ClassVar[tuple[str, ...]] = ("values",)

    def __init__(self, values: Any, names: Sequence[str] | None = None) -> None:
        refuse_class_axis(values)
        matrix, columns = to_matrix(values, "Importances")
        chosen = columns if names is None else tuple(map(str, names))
        if chosen is not None and len(chosen) != matrix.shape[1]:
            raise BadInput(f"Importances have {matrix.shape[1]} features but {len(chosen)} names: pass one for each.")
        object.__setattr__(self, "values", matrix)
        object.__setattr__(self, "names", chosen)

    @property
    def key(self) -> tuple[Column, ...]:
        return (self.values,)

    @property
    def kind(self) -> str:
        named = "" if self.names is None else f" ({shorten(self.names)})"
        return f"importances over {self.values.shape[1]} features{named}"

    def check_comparable(self, other: Explanations) -> None:
        unnamed = self.names is None or getattr(other, "names", None) is None
        if unnamed and type(other) is type(self) and other.key[0].shape[1:] == self.values.shape[1:]:
            return
        super().check_comparable(other)

    def describe(self, row: int) -> str:
        return shorten(
            [f"{name} {value + 0.0:g}" for name, value in zip(self._labels(), self.values[row], strict=True)]
        )

    def _labels(self) -> Sequence[str]:
        return self.names or [f"x{j}" for j in range(self.values.shape[1])]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Rankings(Importances):
    """The features in order of importance, lowest first: column j holds the feature of rank j."""

    @property
    def kind(self) -> str:
        return f"rankings of {super().kind.removeprefix('importances over ')}"

    def describe(self, row: int) -> str:
        labels = self._labels()
        return " < ".join(labels[feature] for feature in self.values[row])


def refuse_class_axis(values: Any) -> None:
    """Raise where importances come with a third axis, naming the axis that is the class."""
    shape = np.shape(values) if isinstance(values, np.ndarray) else getattr(values, "shape", ())
    if len(shape) == 3:
        raise BadInput(
            f"Importances have three axes, {tuple(shape)}: rows, features and (last) classes. Choose the class "
            "explained, e.g. values[:, :, 1], or concatenate all with values.reshape(len(values), -1)."
        )
