"""Discretizers of counterfactuals: what changes, in which direction, or only whether."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers.base import Discretizer
from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.points import cell_text
from faithscope.explanations.forms import CHANGED, NAMED_SIGNS, signs
from faithscope.explanations.importances import Importances
from faithscope.explanations.keys import Records
from faithscope.inputs.array_types import Array
from faithscope.inputs.checks import is_real
from faithscope.inputs.dates import span


class _OfCounterfactuals(Discretizer):
    reads_rows = True
    subject = "the Delta explainer (x' - x)"

    def __call__(self, explanations: Explanations) -> Importances | Records:
        if isinstance(explanations, Counterfactuals):
            return self._coarser(explanations)
        raise WrongType(
            f"{self!r} discretizes counterfactuals; got {explanations.kind}. "
            "Build them with Counterfactuals(points, originals)."
        )

    @abstractmethod
    def _coarser(self, given: Counterfactuals) -> Importances | Records:
        """The coarser explanations."""


@dataclass(frozen=True)
class Delta(_OfCounterfactuals):
    """The change that a counterfactual makes, ``x' - x``: one number per feature.

    The change of a category, also of codes that were declared to be categories, is the pair (before, after), or empty
    if it stays. The change of a date is a text, such as "+3 days". If a number of a feature comes to be missing or
    known, all changes of that feature are tuples: that pair, the difference of other numbers alone, and empty for no
    change. Numbers alone give `Importances`, so that ``Delta() | Floor(1)`` works.

    Examples
    --------
    >>> from faithscope import Counterfactuals
    >>> Delta()(Counterfactuals([[3.0, 1.0]], originals=[[1.0, 1.0]])).values.tolist()
    [[2.0, 0.0]]
    """

    def _coarser(self, given: Counterfactuals) -> Importances | Records:
        columns = list(_columns(given))
        if given.points.dtype != object and all(numbers for *_, numbers in columns):
            return Importances.made(np.subtract(given.points, given.originals, dtype=float), given.names, repr(self))
        dates = given.dates or (False,) * len(columns)
        return Records([_change(*each, day) for each, day in zip(columns, dates, strict=True)], given.feature_names)


@dataclass(frozen=True)
class DeltaSign(_OfCounterfactuals):
    """The direction of each feature's change: -1, 0 or 1.

    A change without a direction counts 1: that of a category, or of a value that comes to be missing or known.

    Examples
    --------
    >>> from faithscope import Counterfactuals
    >>> DeltaSign()(Counterfactuals([[3.0, 1.0]], originals=[[1.0, 4.0]])).values.tolist()
    [[1, -1]]
    """

    leaves = NAMED_SIGNS

    def _coarser(self, given: Counterfactuals) -> Importances:
        directions = np.column_stack([_direction(*column) for column in _columns(given)])
        return Importances.made(directions, given.names, repr(self), left=self.leaves)


@dataclass(frozen=True)
class Modified(_OfCounterfactuals):
    """Which features change: 1 if ``x'`` differs from ``x`` in that feature, else 0.

    The paper's Is-feature-modified prints 1 for features that do *not* change, which is the same partition.

    Examples
    --------
    >>> from faithscope import Counterfactuals
    >>> Modified()(Counterfactuals([[3.0, 1.0]], originals=[[1.0, 1.0]])).values.tolist()
    [[1, 0]]
    """

    leaves = CHANGED

    def _coarser(self, given: Counterfactuals) -> Importances:
        changed = (given.points != given.originals).astype(np.int8)
        return Importances.made(changed, given.names, repr(self), left=self.leaves)


def _columns(given: Counterfactuals) -> Iterator[tuple[Array, Array, bool]]:
    """Each feature after and before, and whether it holds numbers, maybe missing, that are no categories by metric."""
    widths = getattr(given.metric, "ranges", (0.0,) * len(given.feature_names))
    for new, old, width in zip(given.points.T, given.originals.T, widths, strict=True):
        numbers = new.dtype != object or all(item is None or is_real(item) for item in (*new, *old))
        yield new, old, numbers and width is not None


def _change(new: Array, old: Array, numbers: bool, dates: bool) -> list[Any]:
    """Changes of one feature, all of one type: texts for dates, else numbers, or tuples if one has no difference."""
    pairs = list(zip(new.tolist(), old.tolist(), strict=True))
    if dates:
        return [_date_change(after, before) for after, before in pairs]
    if numbers and all((after is None) == (before is None) for after, before in pairs):
        # As Python numbers, so that large integers keep their difference.
        return [0 if after is None else after - before for after, before in pairs]
    return [
        () if after == before else (after - before,) if numbers and None not in (before, after) else (before, after)
        for after, before in pairs
    ]


def _date_change(new: int | None, old: int | None) -> str:
    if new is None or old is None:
        return span(0) if new == old else f"from {cell_text(old, True)} to {cell_text(new, True)}"
    return span(new - old)


def _direction(new: Array, old: Array, numbers: bool) -> NDArray[np.int8]:
    direction = np.asarray(new != old, np.int8)
    if numbers:
        known = np.asarray((new != None) & (old != None), bool)  # noqa: E711
        direction[known] = signs(new[known] > old[known]) - (new[known] < old[known])
    return direction
