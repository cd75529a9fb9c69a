"""Discretizers of importances: fewer decimals, signs, ranks."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from faithscope.discretizers.base import Discretizer
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.forms import NAMED, NAMED_SIGNS, SIGNS, in_blocks, signs, top_signs
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.array_types import Array
from faithscope.inputs.checks import check_whole
from faithscope.runtime.memory import need


class OfImportances(Discretizer):
    """A discretizer that makes one number of every importance."""

    cell: int = 3  # bytes that a coarser value takes
    kind: ClassVar[type[Importances]] = Importances  # that it makes

    def __call__(self, explanations: Explanations) -> Importances:
        if not isinstance(explanations, Explanations):
            raise WrongType(
                f"{self!r} discretizes importances; got {type(explanations).__name__}: pass fs.Importances(values), "
                "or discretizer= to a measure."
            )
        if not isinstance(explanations, Importances) or isinstance(explanations, Rankings):
            hint = " Take the change first: Delta() | ..." if isinstance(explanations, Counterfactuals) else ""
            raise WrongType(
                f"{self!r} discretizes importances (n_rows x n_features numbers); got {explanations.kind}.{hint}"
            )
        rows, width = len(explanations), self._width(explanations)
        what = f"{self!r} of {rows:,} rows and {width:,} features"
        need(self.cell * rows * width, what, "sample rows, or let audit() discretize them in DuckDB")
        try:
            with np.errstate(over="raise"):
                return self._coarser(explanations)
        except FloatingPointError:
            largest = np.abs(explanations.values).max()
            raise BadInput(
                f"Importances as large as {largest:g} are too large for {self!r}: scale them down."
            ) from None

    def _width(self, importances: Importances) -> int:
        """How many numbers a row has once it is coarser."""
        return int(importances.values.shape[1])

    @abstractmethod
    def _coarser(self, importances: Importances) -> Importances:
        """The coarser importances, `_made` of their values."""

    def _made(self, importances: Importances, values: Array, **changes: Any) -> Importances:
        """Importances with coarser values, (n, features), and what else changes; the rest stays as it is."""
        form = f"{importances.form} | {self!r}" if importances.form else repr(self)
        kept = {name: getattr(importances, name) for name in ("names", "error", "shape", "remarks", "label", "index")}
        return self.kind.made(values, form=form, left=self.leaves, **kept | changes)


@dataclass(frozen=True)
class _FixedPoint(OfImportances):
    """Keep some decimals of every importance, computed in double precision."""

    decimals: int

    cell = 8
    _cut: ClassVar[np.ufunc]  # which makes values whole numbers

    def __post_init__(self) -> None:
        check_whole(self.decimals, "decimals", -300, 300)

    def _coarser(self, importances: Importances) -> Importances:
        scale = 10.0**self.decimals
        values = importances.values.astype(np.float64, copy=False) * scale
        self._cut(values, out=values)
        values /= scale
        values += 0.0  # -0.0 becomes 0.0
        return self._made(importances, values)


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

    _cut = np.floor


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

    _cut = np.trunc


@dataclass(frozen=True)
class Sign(OfImportances):
    """The sign of every importance: -1, 0 or 1.

    Examples
    --------
    >>> from faithscope import Importances
    >>> Sign()(Importances([[0.2, -0.0, -3.0]])).values.tolist()
    [[1, 0, -1]]
    """

    leaves = SIGNS

    def _coarser(self, importances: Importances) -> Importances:
        return self._made(importances, signs(importances.values))


@dataclass(frozen=True)
class Rank(OfImportances):
    """The order of the features by importance, lowest first; among equal importances the earlier feature first.

    Examples
    --------
    >>> from faithscope import Importances
    >>> Rank()(Importances([[0.3, -1.0, 0.3]], names=["a", "b", "c"])).describe(0)
    'b < a < c'
    """

    kind = Rankings
    orders_features = True

    def _coarser(self, importances: Importances) -> Importances:
        order = np.empty(importances.values.shape, np.min_scalar_type(max(1, importances.values.shape[1] - 1)))
        for block in in_blocks(order):
            order[block] = np.argsort(importances.values[block], axis=1, kind="stable")
        return self._made(importances, order)


@dataclass(frozen=True)
class Top(OfImportances):
    """What is left of the ``k`` importances largest in size, the earlier of equal ones; 0 for the others."""

    k: int

    orders_features = True
    leaves = NAMED

    def __post_init__(self) -> None:
        check_whole(self.k, f"k of {type(self).__name__}, the number that it keeps,")

    def _coarser(self, importances: Importances) -> Importances:
        return self._made(importances, np.abs(top_signs(importances.values, self.k)))


@dataclass(frozen=True)
class SignOfTop(Top):
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

    leaves = NAMED_SIGNS

    def _coarser(self, importances: Importances) -> Importances:
        return self._made(importances, top_signs(importances.values, self.k))


@dataclass(frozen=True)
class TopFeatures(Top):
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
