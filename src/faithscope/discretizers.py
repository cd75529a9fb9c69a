"""Discretizers, the paper's ψ: explanations in, fewer and coarser explanations out."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations import as_explanations
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.cells import cell_text
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.keys import Records
from faithscope.inputs.checks import check_whole
from faithscope.inputs.date_numbers import span
from faithscope.runtime.memory import need

_CELLS = 2**20  # values ordered at a time


class Discretizer(ABC):
    """A small frozen object that coarsens explanations; ``first | second`` applies both in turn."""

    reads_rows: bool = False  # whether it reads x besides e(x): then it says nothing about the raw explainer

    @abstractmethod
    def __call__(self, explanations: Explanations) -> Explanations:
        """The same rows with coarser explanations."""

    def __or__(self, other: "Discretizer") -> "Chain":
        if not isinstance(other, Discretizer):
            raise WrongType(f"{self!r} can be followed by another discretizer, such as Sign(); got {other!r}.")
        return Chain(self, other)


@dataclass(frozen=True)
class Chain(Discretizer):
    """Two discretizers, one after the other.

    Examples
    --------
    >>> Delta() | Floor(1)
    Chain(first=Delta(), second=Floor(decimals=1))
    """

    first: Discretizer
    second: Discretizer

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return self.first.reads_rows or self.second.reads_rows

    def __call__(self, explanations: Explanations) -> Explanations:
        return self.second(self.first(explanations))


@dataclass(frozen=True)
class Original(Discretizer):
    """The explanations as they are; the paper's "Original"."""

    def __call__(self, explanations: Explanations) -> Explanations:
        return explanations


@dataclass(frozen=True)
class Floor(Discretizer):
    """Round every importance down to some decimals: ``floor(φ·10^k) / 10^k``.

    ``Floor(2)`` and ``Floor(1)`` are the paper's 2-FP and 1-FP. Computed in double precision.

    Examples
    --------
    >>> Floor(1)(Importances([[0.19, -0.11]])).values.tolist()
    [[0.1, -0.2]]
    """

    decimals: int

    def __post_init__(self) -> None:
        _check_decimals(self.decimals)

    def __call__(self, explanations: Explanations) -> Importances:
        return _fixed_point(self, explanations, np.floor)


@dataclass(frozen=True)
class Truncate(Discretizer):
    """Cut every importance off after some decimals, toward zero: what the paper's tables seem to do.

    Examples
    --------
    >>> Truncate(1)(Importances([[0.19, -0.19]])).values.tolist()
    [[0.1, -0.1]]
    """

    decimals: int

    def __post_init__(self) -> None:
        _check_decimals(self.decimals)

    def __call__(self, explanations: Explanations) -> Importances:
        return _fixed_point(self, explanations, np.trunc)


def _check_decimals(decimals: Any) -> None:
    whole = isinstance(decimals, int | np.integer) and not isinstance(decimals, bool | np.timedelta64)
    if not whole or not -300 <= decimals <= 300:
        raise BadInput(f"decimals must be a whole number from -300 to 300; got {decimals!r}.")


def _fixed_point(
    discretizer: Floor | Truncate, explanations: Explanations, cut: Callable[..., NDArray[np.float64]]
) -> Importances:
    importances = _importances(discretizer, explanations)
    _need_cells(discretizer, importances, 8)
    scale = 10.0**discretizer.decimals
    try:
        with np.errstate(over="raise"):
            values = importances.values.astype(np.float64, copy=False) * scale
    except FloatingPointError:
        largest = np.abs(importances.values).max()
        raise BadInput(
            f"Importances as large as {largest:g} have no {discretizer.decimals} decimals to keep: scale them."
        ) from None
    cut(values, out=values)
    values /= scale
    values += 0.0
    return _made(discretizer, importances, values)


@dataclass(frozen=True)
class Sign(Discretizer):
    """The sign of every importance: -1, 0 or 1.

    Examples
    --------
    >>> Sign()(Importances([[0.2, -0.0, -3.0]])).values.tolist()
    [[1, 0, -1]]
    """

    def __call__(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        _need_cells(self, importances, 3)
        return _made(self, importances, _sign(importances.values))


@dataclass(frozen=True)
class Rank(Discretizer):
    """The order of the features by importance, lowest first; among equals the earlier feature first.

    Examples
    --------
    >>> Rank()(Importances([[0.3, -1.0, 0.3]], names=["a", "b", "c"])).describe(0)
    'b < a < c'
    """

    def __call__(self, explanations: Explanations) -> Rankings:
        importances = _importances(self, explanations)
        smallest = np.min_scalar_type(max(1, importances.values.shape[1] - 1))
        _need_cells(self, importances, smallest.itemsize)
        order = np.empty(importances.values.shape, smallest)
        for part in _parts(order):
            order[part] = np.argsort(importances.values[part], axis=1, kind="stable")
        return Rankings.made(order, importances.names, _form(importances.form, self), importances.error)


@dataclass(frozen=True)
class SignOfTop(Discretizer):
    """The signs of the ``k`` importances largest in size, 0 for the others; among equals the earlier feature counts.

    ``SignOfTop(5)`` is the paper's Sign-of-top-5. All signs are kept where there are at most ``k`` features.

    Examples
    --------
    >>> SignOfTop(1)(Importances([[0.2, -0.3], [0.4, 0.4]])).values.tolist()
    [[0, -1], [1, 0]]
    """

    k: int

    def __post_init__(self) -> None:
        check_whole(self.k, "SignOfTop's k, the number of features it keeps,")

    def __call__(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        _need_cells(self, importances, 3)
        signs = _sign(importances.values)
        for part in _parts(signs) if self.k < signs.shape[1] else ():
            order = np.argsort(-np.abs(importances.values[part]), axis=1, kind="stable")
            np.put_along_axis(signs[part], order[:, self.k :], 0, axis=1)
        return _made(self, importances, signs)


@dataclass(frozen=True)
class Delta(Discretizer):
    """The change a counterfactual makes, ``x' - x``: a number for each feature.

    A category that changes is the pair (before, after); one that does not is empty. Where a number comes to be missing
    or known, all changes of its feature are tuples: that pair, the difference of others alone, and empty for none. The
    change of a date is a text, such as "+3 days".
    Numbers alone give `Importances`, so that ``Delta() | Floor(1)`` works.
    """

    reads_rows = True

    def __call__(self, explanations: Explanations) -> Importances | Records:
        pairs = _counterfactuals(self, explanations)
        if pairs.points.dtype != object:
            change = pairs.points.astype(np.float64, copy=False) - pairs.originals
            return Importances.made(change, pairs.names, repr(self))
        dates = pairs.dates or (False,) * pairs.points.shape[1]
        columns = [_change(*column) for column in zip(pairs.points.T, pairs.originals.T, dates, strict=True)]
        return Records(columns, pairs.feature_names)


@dataclass(frozen=True)
class DeltaSign(Discretizer):
    """The direction of each feature's change: -1, 0 or 1.

    A change that has no direction counts 1: that of a category, and of a value that comes to be missing or known.
    """

    reads_rows = True

    def __call__(self, explanations: Explanations) -> Importances:
        pairs = _counterfactuals(self, explanations)
        columns = [_direction(new, old) for new, old in zip(pairs.points.T, pairs.originals.T, strict=True)]
        return Importances.made(np.column_stack(columns), pairs.names, repr(self))


@dataclass(frozen=True)
class Modified(Discretizer):
    """Which features change: 1 where ``x'`` differs from ``x``.

    The paper's Is-feature-modified prints 1 where the feature is *not* modified: the same partition.
    """

    reads_rows = True

    def __call__(self, explanations: Explanations) -> Importances:
        pairs = _counterfactuals(self, explanations)
        return Importances.made((pairs.points != pairs.originals).astype(np.int8), pairs.names, repr(self))


def _need_cells(discretizer: Discretizer, importances: Importances, each: int) -> None:
    """Raise where the values that a discretizer makes, of so many bytes each, do not fit in memory."""
    rows, features = importances.values.shape
    asked = f"{discretizer!r} of {rows:,} rows and {features:,} features"
    need(each * rows * features, asked, "sample rows, or let audit() discretize them in DuckDB")


def _parts(values: NDArray[Any]) -> Iterator[slice]:
    """Some rows at a time, so that their order, of 8 bytes a value, is never in memory whole."""
    step = max(1, _CELLS // max(1, values.shape[1]))
    return (slice(start, start + step) for start in range(0, len(values), step))


def _sign(values: NDArray[Any]) -> NDArray[np.int8]:
    return (values > 0).astype(np.int8) - (values < 0)


def _is_number(column: NDArray[Any]) -> bool:
    """Whether these are numbers, some of which may be missing."""
    return column.dtype != object or all(
        item is None or (isinstance(item, int | float | np.number) and not isinstance(item, bool)) for item in column
    )


def _change(new: NDArray[Any], old: NDArray[Any], dates: bool) -> list[Any]:
    """Changes of one feature, all of one type: numbers, texts for dates, tuples where one has no difference."""
    pairs = list(zip(new, old, strict=True))
    if dates:
        return [_date_change(a, b) for a, b in pairs]
    if not (_is_number(new) and _is_number(old)):
        return [() if a == b else (b, a) for a, b in pairs]
    if all((a is None) == (b is None) for a, b in pairs):
        # As Python numbers, so that large integers keep their difference.
        return [0 if a is None else a - b for a, b in pairs]
    return [() if a == b else (b, a) if a is None or b is None else (a - b,) for a, b in pairs]


def _date_change(new: int | None, old: int | None) -> str:
    if new is None or old is None:
        return span(0) if new == old else f"from {cell_text(old, True)} to {cell_text(new, True)}"
    return span(new - old)


def _direction(new: NDArray[Any], old: NDArray[Any]) -> NDArray[np.int8]:
    found = np.asarray(new != old, np.int8)
    if _is_number(new) and _is_number(old):
        known = np.asarray((new != None) & (old != None), bool)  # noqa: E711
        found[known] = _sign(new[known] > old[known]) - _sign(new[known] < old[known])
    return found


def _form(before: str, discretizer: Discretizer) -> str:
    return f"{before} | {discretizer!r}" if before else repr(discretizer)


def _made(discretizer: Discretizer, importances: Importances, values: NDArray[Any]) -> Importances:
    return Importances.made(values, importances.names, _form(importances.form, discretizer), importances.error)


def _importances(discretizer: Discretizer, explanations: Explanations) -> Importances:
    if isinstance(explanations, Importances) and not isinstance(explanations, Rankings):
        return explanations
    hint = " Take the change first: Delta() | ..." if isinstance(explanations, Counterfactuals) else ""
    raise WrongType(f"{discretizer!r} discretizes importances (n x d numbers); got {explanations.kind}.{hint}")


def _counterfactuals(discretizer: Discretizer, explanations: Explanations) -> Counterfactuals:
    if isinstance(explanations, Counterfactuals):
        return explanations
    raise WrongType(
        f"{discretizer!r} discretizes counterfactuals; got {explanations.kind}. "
        "Build them with Counterfactuals(points, originals)."
    )


def usual(explanations: Explanations) -> list[Discretizer]:
    """The paper's discretizers for this kind of explanations, the finest first."""
    if isinstance(explanations, Importances) and not isinstance(explanations, Rankings):
        return [Original(), Floor(2), Floor(1), Sign(), Rank(), SignOfTop(5)]
    return [Delta(), DeltaSign(), Modified()] if isinstance(explanations, Counterfactuals) else [Original()]


_WORDS: dict[str, Discretizer] = {
    "original": Original(),
    "sign": Sign(),
    "rank": Rank(),
    "delta": Delta(),
    "delta-sign": DeltaSign(),
    "is-feature-modified": Modified(),
}


def to_discretizer(given: Any) -> Callable[[Explanations], Any] | None:
    """A discretizer from an object, a function, the paper's word for one (``"sign-of-top-5"``), or None for none."""
    if isinstance(given, str):
        return from_word(given)
    if given is None:
        return None
    if isinstance(given, type) or not callable(given):
        raise WrongType(
            f"discretizer={given!r} cannot be applied: pass an object such as fs.Sign(), or a word such as 'sign'."
        )
    made: Callable[[Explanations], Any] = given
    return made


def from_word(word: str) -> Discretizer:
    """The discretizer that the paper calls by this word: ``1-fp``, ``sign-of-top-5``, ``delta-sign``, …

    Examples
    --------
    >>> from_word("2-FP")
    Floor(decimals=2)
    """
    plain = word.strip().lower()
    if plain in _WORDS:
        return _WORDS[plain]
    if fixed := re.fullmatch(r"(\d{1,2})-fp", plain):
        return Floor(int(fixed[1]))
    if top := re.fullmatch(r"sign-of-top-(\d{1,6})", plain):
        return SignOfTop(int(top[1]))
    known = ", ".join([*_WORDS, "1-fp, 2-fp, …", "sign-of-top-5, …"])
    raise BadInput(f"No discretizer is called {word!r}. Known: {known}.")


Discretize = Callable[[Explanations], Any] | str  # a discretizer, a function like one, or the paper's word for one


def discretize(explanations: Explanations, discretizer: Discretize | None) -> Explanations:
    """The explanations, coarsened where a discretizer is given: an object, its word, or any function of them."""
    chosen = to_discretizer(discretizer)
    if chosen is None or isinstance(chosen, Original):
        return explanations
    coarser = as_explanations(chosen(explanations))
    if len(coarser) != len(explanations):
        raise BadInput(
            f"{chosen!r} made {len(coarser):,} explanations of {len(explanations):,}: it must keep one a row."
        )
    if isinstance(explanations, Importances) and isinstance(coarser, Importances) and not coarser.error:
        coarser = coarser._with(error=explanations.error)
    if coarser.index is None and explanations.index is not None:
        coarser = coarser._with(index=explanations.index)
    return coarser
