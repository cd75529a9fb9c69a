"""Importances: a number for every feature (SHAP, LIME, gradients)."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, Self

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.alike import alike_rules
from faithscope.explanations.base import Explanations
from faithscope.explanations.forms import NAMED, NO_CODE, ORDERED_CODES, SIGNS, are_codes, names_all, signs, top_signs
from faithscope.explanations.rules import Rules
from faithscope.inputs.alignment import index_of, labels_of
from faithscope.inputs.array_types import Array, Ints, Names
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_whole, same_length
from faithscope.inputs.numbers import to_matrix
from faithscope.inputs.rows import flattened, rows_of
from faithscope.visible import visible
from faithscope.words import readable, shorten

_SHOWN = 12  # features that a description names
_NAMED = 3  # features that a row names, if nobody says how many
_OF_CLASS = re.compile(r"(.+) \| (?:class|output) .*")  # a feature of one of several classes side by side
OWN_CLASSES = "rows explain the classes predicted for them, so that equal numbers may speak of different classes"


def side_by_side(classes: int, call: str) -> str:
    """The remark on importances of several classes, which know more than those of the one class that people are shown.

    Parameters
    ----------
    classes : int
    call : str
        What gives those of the predicted class.
    """
    told = f"importances of all {classes} classes count, one after the other, which flatters if people are shown one"
    return f"{told}: measure those of the predicted class, {call}"


class Importances(Explanations):
    """One number for every feature, per row: shape (n_rows, n_features).

    Two rows have the same explanation if all their numbers are equal (-0.0 is 0.0).

    Parameters
    ----------
    values : (n, d) array, list of rows, pandas, polars or Arrow table, or ``shap.Explanation``
        Finite numbers. Single precision is kept and compared as double. Maps and series, (n, H, W), (n, C, H, W) or
        (n, T, F), become one row of numbers each.
    names : sequence of str, optional
        The features; by default the column names, if the input has any.

    Attributes
    ----------
    error : float
        The largest standard error of a value, if an explainer has sampled them and says so; 0 if they are exact or
        nothing is known, infinite if too little was sampled to tell.
    shape : tuple of int, or None
        The axes of one row's map or series, such as (28, 28), before it became a row of numbers; None for features.
    doubt : str
        What else the axes may be, in a sentence, if features and classes cannot be told from a map; else empty.
        Only discretizers of maps, such as `Pool`, take such importances.
    label : str or None
        The label that all of them speak of, such as "approved", if their explainer says it.

    Examples
    --------
    >>> Importances([[0.5, -0.1], [0.5, -0.1]], names=["age", "job"]).describe(0)
    'age 0.5, job -0.1'
    """

    values: Array
    names: Names | None = None
    form: str = ""  # the discretizers that were applied; "" for none
    left: str = ""  # what the last of them left, as it declares it
    error: float = 0.0
    shape: tuple[int, ...] | None = None
    doubt: str = ""
    label: str | None = None

    _per_row = ("values",)
    _settings = ("names", "form", "left", "error", "shape", "doubt", "label")
    _alike = (("names", "features"), ("_axes", "shapes"))

    def __init__(self, values: Any, names: Sequence[str] | None = None) -> None:
        given = values
        if type(values).__module__.startswith("shap.") or isinstance(values, Importances):
            names = getattr(values, "names", getattr(values, "feature_names", None)) if names is None else names
            values = values.values
        flat, shape, doubt = flattened(values)
        matrix, columns = to_matrix(flat, "Importances")
        held: dict[str, Any] = {"shape": shape, "doubt": doubt}
        if isinstance(given, Importances):
            held = {name: getattr(given, name) for name in ("error", "label", "shape", "doubt")}
        names = to_names(names, columns, matrix.shape[1], "Importances")
        self._fill(values=matrix, names=names, index=index_of(given), **held)

    @classmethod
    def made(cls, values: Array, names: Names | None, form: str, **known: Any) -> Self:
        """Importances that a discretizer made; their values are known to be finite numbers, so they are not checked."""
        return cls._of(values=values, names=names, form=form, **known)

    @property
    def kind(self) -> str:
        what, told = "features", shorten(self.names or ())
        if self.shape is not None:
            what, told = "regions" if self.names else "places", " x ".join(map(str, self.shape))
        what += told and f" ({told})"
        return f"importances over {self.values.shape[1]} {what}{self.form and ', ' + self.form}"

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.error:
            return self.remarks
        size = f"up to {self.error:.2g}" if isfinite(self.error) else "that too few draws leave unknown"
        return (*self.remarks, f"importances are sampled, with standard errors {size}")

    @property
    def _axes(self) -> tuple[tuple[int, ...]] | None:
        """The axes of a map, as one entry that is told as a whole; an axis of one entry is none."""
        return None if self.shape is None else (tuple(length for length in self.shape if length > 1),)

    def _form(self) -> Any:
        return type(self), self.values.shape[1], self.form, self.left

    def join(self, other: Self) -> Self:
        both = super().join(other)
        return both._with(
            names=self.names or other.names,
            error=max(self.error, other.error),
            label=self.label if self.label == other.label else None,
            shape=other.shape if self.shape is None else self.shape,
            doubt=self.doubt or other.doubt,
        )

    def _aligned(self, other: Any) -> tuple[Self, Any]:
        return super()._aligned(self._with_my_order(other))

    def _with_my_order(self, other: Any) -> Any:
        """The other importances with their features in this order, if both name the same ones; else as they are."""
        mine, theirs = self.names or (), getattr(other, "names", None) or ()
        same = type(self) is type(other) and len(set(theirs)) == len(theirs) and sorted(mine) == sorted(theirs)
        if mine == theirs or not same:
            return other
        return other._reordered(np.array(list(map(theirs.index, mine))))._with(names=mine)

    def _reordered(self, places: Ints) -> Self:
        return self._with(values=self.values[:, places])

    def named(self, k: int | None = None) -> tuple[Array, Names | None]:
        """Which features each row names, 1 for those and 0 for the others, and what the features are called.

        These are the k largest in size, the earlier of equal ones, and never a feature of importance 0; by default 3,
        or all that are left if a discretizer has kept the largest (`SignOfTop`, `TopFeatures`, `ReasonCodes`). Of
        importances of several classes side by side, a feature is as large as in the class in which it is largest.
        """
        sizes, names = self.sizes()
        if k is None:
            return (signs(sizes) if names_all(self.left) else top_signs(sizes, _NAMED)), names
        return top_signs(sizes, check_whole(k, "k, the number of named features,")), names

    def sizes(self) -> tuple[Array, Names | None]:
        """How large each feature is in each row, whatever its sign and class, and what the features are called."""
        if self.left == SIGNS:
            raise BadInput(
                f"These are {self.kind}: signs alone do not say which features are the largest. Pass the importances "
                "themselves, or SignOfTop(k)."
            )
        values, names = np.abs(self.values), self.names
        if self.left == ORDERED_CODES:  # numbered from the first
            values = np.where(values > 0, values.max(initial=0) + 1 - values.astype(np.int64), 0)
        parts = [part[1] for part in map(_OF_CLASS.fullmatch, names or ()) if part]
        if not parts or len(parts) < values.shape[1]:
            return values, names
        stems = tuple(dict.fromkeys(parts))
        return np.stack([values[:, np.array(parts) == stem].max(axis=1) for stem in stems], axis=1), stems

    def to_rules(self, X: Any, k: int | None = None, bins: int = 4, X_train: Any = None) -> Rules:
        """For each row, the rule that it is as it is in the features that it names: what the importances speak of.

        "These features decide" is a statement about the rows that are alike in them: numbers in the same bin, equal
        categories, missing values as such. So the rules have a sufficiency, as all rules do; `fs.Alike` is the relation
        that measures importances by them.

        Parameters
        ----------
        X : (n, d) array, list of rows, or table
            The rows that importances are of, with the same columns.
        k : int, optional
            How many features a row names: its k largest in size, the earlier of equal ones, none of importance 0. By
            default 3, or as many as a discretizer has kept, such as ``SignOfTop(5)``.
        bins : int
            At most how many bins a number has. Its bin is how many of the distinct quantiles at 1/bins, 2/bins, … of
            its column lie below it, so that rows with one value always share a bin; where many rows share a value
            there are fewer bins, and if most rows have the largest value there is one.
        X_train : rows like X, optional
            The rows of which quantiles are taken; by default X itself.

        Examples
        --------
        >>> importances = Importances([[0.5, -0.1], [0.2, 0.3]], names=["age", "job"])
        >>> rules = importances.to_rules([[23.0, "clerk"], [51.0, "cook"]], k=1, bins=2)
        >>> rules.describe(0), rules.describe(1)
        ('x0 <= 37', 'x1 == cook')
        """
        same_length(importances=len(self), X=rows_of(X))
        marks, names = self.named(k)
        rules = alike_rules(marks, names, X, check_whole(bins, "bins", 2), X_train)
        most = int((marks != 0).sum(axis=1).max(initial=0))
        said = f"rows are alike if they share a bin, of at most {bins}, in each of up to {most} named features"
        return rules._with(remarks=(*self.notes, said), index=labels_of(self, rules))

    def describe(self, row: int) -> str:
        """The text of one row's importances; after a discretizer, only of the features that are not 0."""
        values = self.values[row]
        told = np.flatnonzero(values) if self.form else np.arange(len(values))
        told = told[np.argsort(values[told], kind="stable")] if self.left == ORDERED_CODES else told
        between, is_said = (", ", " ") if self.shape is None else ("; ", ": ")
        bare = self.left == NAMED or are_codes(self.left)
        parts = [
            self._label(feature) + ("" if bare and value == value else f"{is_said}{readable(value)}")  # NaN is missing
            for feature, value in zip(told[:_SHOWN].tolist(), values[told[:_SHOWN]], strict=True)
        ]
        parts += [f"… ({len(told) - _SHOWN:,} more)"] if len(told) > _SHOWN else []
        return visible(between.join(parts)) or (NO_CODE if are_codes(self.left) else "all 0")

    def _label(self, feature: int) -> str:
        """The name of a feature; the place of a cell of a map."""
        if self.names is not None:
            return self.names[feature]
        if self.shape is None:
            return f"x{feature}"
        return f"({', '.join(map(str, np.unravel_index(feature, self.shape)))})"


class Rankings(Importances):
    """The features in order of importance, lowest first: column j holds the feature of rank j.

    Examples
    --------
    >>> from faithscope import Rank
    >>> Rank()(Importances([[0.3, -1.0]], names=["age", "job"])).values.tolist()
    [[1, 0]]
    """

    @property
    def kind(self) -> str:
        return f"rankings of {super().kind.removeprefix('importances over ')}"

    def sizes(self) -> tuple[Array, Names | None]:
        raise BadInput(
            "A ranking from lowest to highest does not say which features are the largest in size: pass the "
            "importances themselves."
        )

    def _reordered(self, places: Ints) -> Self:
        ranks = np.argsort(self.values, axis=1)[:, places]
        return self._with(values=np.argsort(ranks, axis=1).astype(self.values.dtype))

    def describe(self, row: int) -> str:
        return visible(" < ".join(self._label(int(feature)) for feature in self.values[row]))


def to_names(names: Sequence[str] | None, columns: Names | None, width: int, what: str) -> Names | None:
    """One name per feature: those given, else those of the columns."""
    if names is None:
        return columns
    chosen = tuple(map(str, to_items(names, "names")))
    if len(chosen) != width:
        raise BadInput(f"{what} have {width} features but {len(chosen)} names: pass one name per feature.")
    return chosen
