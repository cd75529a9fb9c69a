"""Discretizers, the paper's ψ: explanations in, fewer and coarser explanations out."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.examples import Counterfactuals
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.plain import Records


class Discretizer(ABC):
    """A small frozen object that coarsens explanations; ``first | second`` applies both in turn."""

    reads_rows: bool = False  # whether it reads x besides e(x): then it says nothing about the raw explainer

    @abstractmethod
    def __call__(self, explanations: Explanations) -> Explanations:
        """The same rows with coarser explanations."""

    def __or__(self, other: "Discretizer") -> "Chain":
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

    def __call__(self, explanations: Explanations) -> Importances:
        return _fixed_point(self, explanations, np.trunc)


def _fixed_point(
    discretizer: Floor | Truncate, explanations: Explanations, cut: Callable[..., NDArray[np.float64]]
) -> Importances:
    importances = _importances(discretizer, explanations)
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
    return importances._with(values=values)


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
        return importances._with(values=_sign(importances.values))


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
        order = np.argsort(importances.values, axis=1, kind="stable").astype(smallest)
        rankings = Rankings.__new__(Rankings)
        return rankings._with(values=order, names=importances.names)


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
        if self.k < 1:
            raise BadInput(f"SignOfTop keeps at least one feature; got k={self.k}.")

    def __call__(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        signs = _sign(importances.values)
        if self.k < signs.shape[1]:
            order = np.argsort(-np.abs(importances.values), axis=1, kind="stable")
            np.put_along_axis(signs, order[:, self.k :], 0, axis=1)
        return importances._with(values=signs)


@dataclass(frozen=True)
class Delta(Discretizer):
    """The change a counterfactual makes, ``x' - x``: a number for each feature.

    A category that changes reads "before → after"; one that does not is empty.
    Numbers alone give `Importances`, so that ``Delta() | Floor(1)`` works.
    """

    reads_rows = True

    def __call__(self, explanations: Explanations) -> Importances | Records:
        pairs = _counterfactuals(self, explanations)
        if pairs.points.dtype != object:
            return Importances(pairs.points - pairs.originals, pairs.names)
        columns = [_change(new, old) for new, old in zip(pairs.points.T, pairs.originals.T, strict=True)]
        return Records(columns, pairs.feature_names)


@dataclass(frozen=True)
class DeltaSign(Discretizer):
    """The direction of each feature's change: -1, 0 or 1; a category that changes counts 1."""

    reads_rows = True

    def __call__(self, explanations: Explanations) -> Importances:
        pairs = _counterfactuals(self, explanations)
        if pairs.points.dtype != object:
            return _features(pairs, _sign(pairs.points - pairs.originals))
        columns = [_direction(new, old) for new, old in zip(pairs.points.T, pairs.originals.T, strict=True)]
        return _features(pairs, np.column_stack(columns))


@dataclass(frozen=True)
class Modified(Discretizer):
    """Which features change: 1 where ``x'`` differs from ``x``.

    The paper's Is-feature-modified prints 1 where the feature is *un*modified: the same partition.
    """

    reads_rows = True

    def __call__(self, explanations: Explanations) -> Importances:
        pairs = _counterfactuals(self, explanations)
        return _features(pairs, (pairs.points != pairs.originals).astype(np.int8))


def _sign(values: NDArray[Any]) -> NDArray[np.int8]:
    return (values > 0).astype(np.int8) - (values < 0)


def _is_number(column: NDArray[Any]) -> bool:
    return all(isinstance(item, int | float | np.number) and not isinstance(item, bool) for item in column)


def _change(new: NDArray[Any], old: NDArray[Any]) -> list[Any]:
    if _is_number(new) and _is_number(old):
        return list(new.astype(np.float64) - old.astype(np.float64))
    return ["" if a == b else f"{b} → {a}" for a, b in zip(new, old, strict=True)]


def _direction(new: NDArray[Any], old: NDArray[Any]) -> NDArray[np.int8]:
    if _is_number(new) and _is_number(old):
        return _sign(new.astype(np.float64) - old.astype(np.float64))
    return np.asarray(new != old, np.int8)


def _features(pairs: Counterfactuals, values: NDArray[Any]) -> Importances:
    importances = Importances.__new__(Importances)
    return importances._with(values=values, names=pairs.names)


def _importances(discretizer: Discretizer, explanations: Explanations) -> Importances:
    if isinstance(explanations, Importances):
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


_WORDS: dict[str, Discretizer] = {
    "original": Original(),
    "sign": Sign(),
    "rank": Rank(),
    "delta": Delta(),
    "delta-sign": DeltaSign(),
    "is-feature-modified": Modified(),
}


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
