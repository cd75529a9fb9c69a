"""Discretizers of importances: fewer decimals, signs, ranks."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers.base import Discretizer
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.forms import in_blocks, signs, top_signs
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.checks import check_whole
from faithscope.runtime.memory import need


@dataclass(frozen=True)
class _FixedPoint(Discretizer):
    """Keep some decimals of every importance, computed in double precision."""

    decimals: int

    def __post_init__(self) -> None:
        check_whole(self.decimals, "decimals", -300, 300)

    @abstractmethod
    def _cut(self, values: NDArray[np.float64]) -> None:
        """Make the values whole numbers, in place."""

    def __call__(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        _need_cells(self, importances, 8)
        scale = 10.0**self.decimals
        try:
            with np.errstate(over="raise"):
                values = importances.values.astype(np.float64, copy=False) * scale
        except FloatingPointError:
            largest = np.abs(importances.values).max()
            raise BadInput(
                f"Importances as large as {largest:g} have no {self.decimals} decimals to keep: scale them down."
            ) from None
        self._cut(values)
        values /= scale
        values += 0.0  # -0.0 becomes 0.0
        return _coarser(self, importances, values)


@dataclass(frozen=True)
class Floor(_FixedPoint):
    """Round every importance down to some decimals: ``floor(φ·10^decimals) / 10^decimals``.

    ``Floor(2)`` and ``Floor(1)`` are the paper's 2-FP and 1-FP.

    Parameters
    ----------
    decimals : int
        From -300 to 300.

    Examples
    --------
    >>> from faithscope import Importances
    >>> Floor(1)(Importances([[0.19, -0.11]])).values.tolist()
    [[0.1, -0.2]]
    """

    def _cut(self, values: NDArray[np.float64]) -> None:
        np.floor(values, out=values)


@dataclass(frozen=True)
class Truncate(_FixedPoint):
    """Cut every importance off after some decimals, toward zero, as the paper's tables seem to do.

    Parameters
    ----------
    decimals : int
        From -300 to 300.

    Examples
    --------
    >>> from faithscope import Importances
    >>> Truncate(1)(Importances([[0.19, -0.19]])).values.tolist()
    [[0.1, -0.1]]
    """

    def _cut(self, values: NDArray[np.float64]) -> None:
        np.trunc(values, out=values)


@dataclass(frozen=True)
class Sign(Discretizer):
    """The sign of every importance: -1, 0 or 1.

    Examples
    --------
    >>> from faithscope import Importances
    >>> Sign()(Importances([[0.2, -0.0, -3.0]])).values.tolist()
    [[1, 0, -1]]
    """

    def __call__(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        _need_cells(self, importances, 3)
        return _coarser(self, importances, signs(importances.values))


@dataclass(frozen=True)
class Rank(Discretizer):
    """The order of the features by importance, lowest first; among equal importances the earlier feature first.

    Examples
    --------
    >>> from faithscope import Importances
    >>> Rank()(Importances([[0.3, -1.0, 0.3]], names=["a", "b", "c"])).describe(0)
    'b < a < c'
    """

    orders_features = True

    def __call__(self, explanations: Explanations) -> Rankings:
        importances = _importances(self, explanations)
        smallest = np.min_scalar_type(max(1, importances.values.shape[1] - 1))
        _need_cells(self, importances, smallest.itemsize)
        order = np.empty(importances.values.shape, smallest)
        for block in in_blocks(order):
            order[block] = np.argsort(importances.values[block], axis=1, kind="stable")
        form = _form(importances.form, self)
        rankings = Rankings.made(order, importances.names, form, importances.error, importances.shape)
        return rankings._with(remarks=importances.remarks, label=importances.label)


@dataclass(frozen=True)
class SignOfTop(Discretizer):
    """The signs of the ``k`` importances largest in size, and 0 for the others.

    Among importances of equal size the earlier feature is kept. ``SignOfTop(5)`` is the paper's Sign-of-top-5. If there
    are at most ``k`` features, all signs are kept.

    Parameters
    ----------
    k : int
        At least 1.

    Examples
    --------
    >>> from faithscope import Importances
    >>> SignOfTop(1)(Importances([[0.2, -0.3], [0.4, 0.4]])).values.tolist()
    [[0, -1], [1, 0]]
    """

    k: int

    orders_features = True

    def __post_init__(self) -> None:
        check_whole(self.k, "SignOfTop's k, the number of features it keeps,")

    def __call__(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        _need_cells(self, importances, 3)
        return _coarser(self, importances, top_signs(importances.values, self.k))

    def _room(self, values: NDArray[Any]) -> NDArray[Any]:
        return _room_for_missing(values, self.k)


@dataclass(frozen=True)
class TopFeatures(Discretizer):
    """Which ``k`` features have the importances largest in size: 1 for them, 0 for the others.

    Neither their signs nor their order count. Among importances of equal size the earlier feature is kept; a feature of
    importance 0 never is, so a row may name fewer than ``k``.

    Parameters
    ----------
    k : int
        At least 1.

    Examples
    --------
    >>> from faithscope import Importances
    >>> TopFeatures(2)(Importances([[0.2, -0.3, 0.1]], names=["age", "job", "hours"])).describe(0)
    'age, job'
    """

    k: int

    orders_features = True

    def __post_init__(self) -> None:
        check_whole(self.k, "TopFeatures' k, the number of features it keeps,")

    def __call__(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        _need_cells(self, importances, 3)
        return _coarser(self, importances, np.abs(top_signs(importances.values, self.k)))

    def _room(self, values: NDArray[Any]) -> NDArray[Any]:
        return _room_for_missing(values, self.k)


def _room_for_missing(values: NDArray[Any], k: int) -> NDArray[Any]:
    """How many missing importances are among the k largest of each row, if they are smaller than any number."""
    return np.asarray(k - (~np.isnan(values)).sum(axis=1))


def _need_cells(discretizer: Discretizer, importances: Importances, size: int) -> None:
    """Raise if the coarser values, of `size` bytes each, do not fit in memory."""
    rows, features = importances.values.shape
    what = f"{discretizer!r} of {rows:,} rows and {features:,} features"
    need(size * rows * features, what, "sample rows, or let audit() discretize them in DuckDB")


def _form(before: str, discretizer: Discretizer) -> str:
    return f"{before} | {discretizer!r}" if before else repr(discretizer)


def _coarser(discretizer: Discretizer, importances: Importances, values: NDArray[Any]) -> Importances:
    form = _form(importances.form, discretizer)
    shape = importances.shape if values.shape == importances.values.shape else None
    coarser = Importances.made(values, importances.names, form, importances.error, shape)
    return coarser._with(remarks=importances.remarks, label=importances.label)


def _importances(discretizer: Discretizer, explanations: Explanations) -> Importances:
    if isinstance(explanations, Importances) and not isinstance(explanations, Rankings):
        return explanations
    if not isinstance(explanations, Explanations):
        raise WrongType(
            f"{discretizer!r} discretizes importances; got {type(explanations).__name__}: pass fs.Importances(values), "
            "or discretizer= to a measure."
        )
    hint = " Take the change first: Delta() | ..." if isinstance(explanations, Counterfactuals) else ""
    raise WrongType(
        f"{discretizer!r} discretizes importances (n_rows x n_features numbers); got {explanations.kind}.{hint}"
    )
