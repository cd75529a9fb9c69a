"""The rows that draws are put together from: every value of a draw is that of a training row, or of the row itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.rules import Rules
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.hints import hint
from faithscope.inputs.missing import missing_values
from faithscope.inputs.queries import refuse_query

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SourceRows:
    """Training rows, and after them the rows that are measured, as columns.

    Attributes
    ----------
    X_train, X : rows
        As the caller holds them.
    names : tuple of str
        The features, in the order of the training rows.
    columns : list of (train + n,) arrays
        The values of each feature.
    train : int
        Number of training rows.
    """

    X_train: Any
    X: Any
    names: tuple[str, ...]
    columns: list[NDArray[Any]]
    train: int

    @classmethod
    def of(cls, X_train: Any, X: Any) -> "SourceRows":
        """Both, after checking that they have the same columns and at least one training row."""
        from faithscope.explainers.shared.columns import columns_with_names  # here, since it loads all explainers

        refuse_query(X_train, "X_train")
        names, columns = columns_with_names(X_train)
        if not columns or not len(columns[0]):
            raise BadInput("X_train is empty: at least one training row is needed to draw from.")
        own = _in_order(names, *columns_with_names(X), frames=(is_frame(X_train), is_frame(X)))
        return cls(X_train, X, names, list(map(_joined, columns, own)), len(columns[0]))

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.names)

    def places(self, rules: Rules) -> Ints:
        """The position of each feature of rules among these columns; -1 for a feature that rows do not have."""
        if not is_frame(self.X_train):
            return np.arange(len(rules.features))
        known = {name: place for place, name in enumerate(self.names)}
        return np.array([known.get(feature, -1) for feature in rules.features], np.int64)

    def _refuse_undeclared(self, j: int, values: NDArray[Any]) -> None:
        """Raise if a column of declared categories would have to hold a value that is none of them."""
        declared = _declared(self.X_train, j)
        present = [] if declared is None else values[~missing_values(values)].tolist()
        strange = next((value for value in present if value not in (declared or ())), None)
        if strange is not None:
            raise BadInput(
                f"Column {self.names[j]!r} of X holds {strange!r}, which is none of the categories that X_train "
                "declares for it: declare the same categories in both."
            )

    def rows(self, source: Ints) -> Any:
        """Rows as a model reads them, from the positions (m, d) of the rows that each value comes from."""
        from faithscope.explainers.shared.table_rows import rebuilder

        drawn = [column[source[:, j]] for j, column in enumerate(self.columns)]
        if isinstance(self.X_train, np.ndarray) and self.X_train.ndim == 2 and self.X_train.dtype.kind in "biuf":
            return np.column_stack(drawn) if len(source) else np.empty(source.shape, self.X_train.dtype)
        for j in np.flatnonzero((source >= self.train).any(axis=0)).tolist():
            self._refuse_undeclared(j, drawn[j])
        return rebuilder(self.X_train, [column[: self.train] for column in self.columns])(drawn)


def _declared(X_train: Any, j: int) -> set[Any] | None:
    """The only categories that a column of a table can hold; None if it can hold any value."""
    types = getattr(X_train, "dtypes", None)
    if types is None or not is_frame(X_train):
        return None
    known = getattr(types.iloc[j] if hasattr(types, "iloc") else types[j], "categories", None)
    try:
        return None if known is None else set(known)
    except TypeError:  # categories of polars that grow
        return None


def _in_order(
    names: tuple[str, ...], own: tuple[str, ...], columns: list[NDArray[Any]], frames: tuple[bool, bool]
) -> list[NDArray[Any]]:
    """The columns of the measured rows in the order of the training rows."""
    if frames[0] != frames[1]:
        form = ("a table with named columns", "a plain array")
        train, rows = (form[0] if frame else form[1] for frame in frames)
        raise BadInput(f"X_train is {train} and X is {rows}: pass both in the form that the model takes.")
    if len(own) != len(names):
        raise BadInput(f"X_train has {len(names)} columns and X has {len(own)}: pass the same columns.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"X_train has two columns {twice!r}: give each column a name of its own.")
    absent = next((name for name in names if name not in own), None)
    if absent is not None:
        raise BadInput(f"X has no column {absent!r}, which X_train has: pass the same columns. {hint(absent, own)}")
    return [columns[own.index(name)] for name in names]


def _joined(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """One column of both; objects, if they hold values of different kinds."""
    kinds = {first.dtype.kind, second.dtype.kind}
    alike = len(kinds) == 1 or kinds <= set("iuf")
    if not alike:
        first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])
