"""LIME: what a linear model, fitted around the row to the model's probabilities, says of each feature."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from threadpoolctl import threadpool_limits

from faithscope.errors import BadInput
from faithscope.explainers.models import PREDICTED, Progress, chosen_classes, to_proba
from faithscope.explainers.seeds import generators
from faithscope.explainers.table import Table
from faithscope.explanations.importances import Importances
from faithscope.explanations.inputs import check_whole

Floats = NDArray[np.float64]
Bins = NDArray[np.integer[Any]]

_VALUES = 4_000_000  # drawn at once, 32 MB an array: more at once is no faster
_INSIDE = (1e-300, 1 - 2**-53)  # where the normal quantile is finite
_ROUNDING = 1e-6  # by which a probability in single precision may leave [0, 1]


class Lime:
    """Explains a row by a linear model fitted to the model's probabilities of rows drawn around it.

    The tabular algorithm of the ``lime`` package, all features kept. A number is seen as its quarter of the training
    rows, so `samples` rows are drawn by drawing quarters (or categories) as often as training has them, and a value
    inside each quarter from a normal cut off at its borders. A ridge regression (penalty 1) of the probability on
    "as in the row, or not", weighted by ``exp(-k / (2 · 0.75² · d))`` where k of d features differ, gives one
    coefficient a feature: how much more probable the class is where the feature stays as it is.

    Two rows in the same quarters get the same explanation but for chance, whatever the model predicts for them.

    Parameters
    ----------
    predict_proba : model or function
        Anything with ``predict_proba``, or a function from rows to probabilities: (n, classes), or (n,) of class 1.
    X_train : (n, d) array or table
        Training rows; the model is asked about rows of the same kind (array, pandas, polars or Arrow).
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; of more, every class, one vector after the other.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    samples : int
        Rows drawn around each row, the row itself included.
    seed : int
        The same row and seed draw the same rows, in any batch.

    Notes
    -----
    Where all training values of a quarter are equal, that value is drawn. ``lime`` draws it less about 1e-11, and 0 in
    its place where it is the column's least value: an oversight there, visible where that value is not 0.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> found = Lime(lambda X: X[:, 0] > 0, rows).explain([[1.5, 0.0]])
    >>> found.values.round(1) + 0.0
    array([[0.7, 0. ]])
    """

    def __init__(
        self,
        predict_proba: Any,
        X_train: Any,
        *,
        class_index: int | str | None = None,
        categorical: Iterable[int | str] = (),
        samples: int = 5000,
        seed: int = 0,
    ) -> None:
        self.model, self.class_index, self.seed = predict_proba, class_index, seed
        self.samples = check_whole(samples, "samples", least=2)
        self.table = Table.learn(X_train, categorical)
        rows = self.table.encode(X_train)
        self._features = [
            _Categories.learn(column) if category else _Quarters.learn(column)
            for column, category in zip(rows.T, self.table.categorical, strict=True)
        ]
        self._known = rows[:1]

    def __repr__(self) -> str:
        return f"Lime(class_index={self.class_index!r}, samples={self.samples}, seed={self.seed})"

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One coefficient a feature for each row; of several classes one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            None missing, no category that training rows do not have.
        progress : callable, optional
            Called with rows done and rows in all, after every part of them.
        """
        if self.class_index == "predicted":
            warnings.warn(PREDICTED, stacklevel=2)
        rows = self.table.encode(X)
        step = max(1, _VALUES // (self.samples * len(self._features)))
        parts = [] if len(rows) else [self._coefficients(self._known)[:0]]  # shows how many classes there are
        for start in range(0, len(rows), step):
            parts.append(self._coefficients(rows[start : start + step]))
            if progress is not None:
                progress(min(start + step, len(rows)), len(rows))
        return self._importances(np.concatenate(parts))

    def _coefficients(self, rows: Floats) -> Floats:
        """For each row, a vector for each class explained: (n, classes, d)."""
        values, differs = self._draw(rows)
        return _fit(differs, self._choose(self._outputs(values)))

    def _draw(self, rows: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Rows drawn around each row, the row itself first: values, and which differ from it; both (d, n, samples)."""
        values = np.empty((rows.shape[1], len(rows), self.samples))
        differs = np.empty(values.shape, bool)
        for row, generator in enumerate(generators(self.seed, rows)):
            values[:, row] = generator.random((len(values), self.samples))
        for j, feature in enumerate(self._features):
            bins, values[j] = feature.draw(values[j])
            here = feature.locate(rows[:, j]).astype(bins.dtype)
            np.not_equal(bins, here[:, None], out=differs[j])
        values[:, :, 0], differs[:, :, 0] = rows.T, False
        return values, differs

    def _outputs(self, values: Floats) -> Floats:
        """Probabilities of every class for values (d, n, samples), asked in one call: (n, samples, classes)."""
        features, rows, samples = values.shape
        found = to_proba(self.model)(self.table.decode(values.reshape(features, -1).T))
        if len(found) != rows * samples:
            raise BadInput(
                f"The model gave {len(found):,} probabilities for {rows * samples:,} rows: one a row is needed."
            )
        _refuse_labels(found)
        return found.reshape(rows, samples, -1)

    def _choose(self, outputs: Floats) -> Floats:
        """The outputs of the classes explained."""
        chosen = chosen_classes(self.class_index, outputs.shape[2])
        if chosen is not None:
            return outputs[:, :, chosen]
        return np.take_along_axis(outputs, outputs[:, :1].argmax(axis=2, keepdims=True), axis=2)

    def _importances(self, coefficients: Floats) -> Importances:
        rows, classes, features = coefficients.shape
        names = self.table.names
        if classes > 1:
            names = tuple(f"{name} | class {one}" for one in range(classes) for name in self.table.names)
        return Importances(coefficients.reshape(rows, classes * features), names)


@dataclass(frozen=True, eq=False)
class _Categories:
    """A feature of categories: each is drawn as often as training rows have it.

    Attributes
    ----------
    upto : (k,) array
        Share of training rows in a category or in one before it.
    """

    upto: Floats

    @classmethod
    def learn(cls, column: Floats) -> "_Categories":
        """The categories of training rows, numbered from 0."""
        return cls(np.bincount(column.astype(np.intp)).cumsum() / len(column))

    def locate(self, column: Floats) -> Bins:
        """The category of each value."""
        return column.astype(np.intp)

    def draw(self, chances: Floats) -> tuple[Bins, Floats]:
        """Categories, and the same as values, from chances uniform on [0, 1)."""
        bins = _bins(self.upto, chances)
        return bins, bins.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Quarters:
    """A feature of numbers, cut at the quartiles of its training values; quartiles that coincide are one border.

    One chance u says both the quarter and the place in it: ``start + slope · u`` runs, inside a quarter, over what a
    normal distribution with the quarter's mean and deviation leaves between the quarter's borders.

    Attributes
    ----------
    borders : (k - 1,) array
    upto : (k,) array
        Share of training rows in a quarter or in one before it.
    mean, deviation, start, slope : (k,) arrays
    ends : least and greatest training value
    """

    borders: Floats
    upto: Floats
    mean: Floats
    deviation: Floats
    start: Floats
    slope: Floats
    ends: tuple[float, float]

    @classmethod
    def learn(cls, column: Floats) -> "_Quarters":
        """The quarters of training values."""
        borders = np.unique(np.percentile(column, (25, 50, 75)))
        bins = np.searchsorted(borders, column)
        upto = np.bincount(bins, minlength=len(borders) + 1).cumsum() / len(column)
        ends = float(column.min()), float(column.max())
        cuts, shares = np.array([ends[0], *borders, ends[1]]), np.array([0.0, *upto])
        lines = [_line(column[bins == k], cuts[k : k + 2], shares[k : k + 2]) for k in range(len(upto))]
        mean, deviation, start, slope = np.array(lines).T
        return cls(borders, upto, mean, deviation, start, slope, ends)

    def locate(self, column: Floats) -> Bins:
        """The quarter of each value; a border belongs to the quarter below it."""
        return np.searchsorted(self.borders, column)

    def draw(self, chances: Floats) -> tuple[Bins, Floats]:
        """Quarters, and values in them, from chances uniform on [0, 1)."""
        bins = _bins(self.upto, chances)
        places = bins.astype(np.intp)
        values = self.slope[places]
        values *= chances
        values += self.start[places]
        ndtri(np.clip(values, *_INSIDE, out=values), out=values)
        values *= self.deviation[places]
        values += self.mean[places]
        return bins, np.clip(values, *self.ends, out=values)


def _line(values: Floats, cuts: Floats, shares: Floats) -> tuple[float, float, float, float]:
    """Mean, deviation, start and slope of a quarter; no deviation where its training values are all equal, or none."""
    if not len(values) or values.min() == values.max():
        return values[0] if len(values) else 0.0, 0.0, 0.5, 0.0
    mean, deviation = values.mean(), values.std()
    low, high = ndtr((cuts - mean) / deviation)
    slope = (high - low) / (shares[1] - shares[0])
    return mean, deviation, low - slope * shares[0], slope


def _bins(upto: Floats, chances: Floats) -> Bins:
    """The bin that each chance falls in, bin k reaching up to ``upto[k]``."""
    if len(upto) > 64:
        return np.searchsorted(upto[:-1], chances, side="right")
    bins = np.zeros(chances.shape, np.uint8)  # a comparison a border is faster than a search among a few
    for border in upto[:-1]:
        bins += (chances >= border).view(np.uint8)
    return bins


def _fit(differs: NDArray[np.bool_], outputs: Floats) -> Floats:
    """Coefficients of weighted ridge regressions with an intercept, one for each row and output.

    Fitted to "differs", which is 0 throughout for a feature that never does: it gets exactly 0. Being as in the row is
    its complement, so the coefficient has the other sign.

    Parameters
    ----------
    differs : (d, n, samples) array of bool
    outputs : (n, samples, classes) array

    Returns
    -------
    (n, classes, d) array
    """
    d, n, samples = differs.shape
    terms = np.empty((n, d + 1 + outputs.shape[2], samples))
    terms[:, :d] = differs.transpose(1, 0, 2)
    terms[:, d] = 1.0
    terms[:, d + 1 :] = (outputs - outputs[:, :1]).transpose(0, 2, 1)  # so that a constant model gets exactly 0
    terms *= _roots(differs)[:, None]
    with threadpool_limits(1, "blas"):  # threads cost more than they save on matrices this small
        moments = terms @ terms.transpose(0, 2, 1)
    moments -= moments[:, :, [d]] * moments[:, [d]] / moments[:, [d]][:, :, [d]]
    solved = np.linalg.solve(moments[:, :d, :d] + np.eye(d), moments[:, :d, d + 1 :])
    return 0.0 - solved.transpose(0, 2, 1)


def _roots(differs: NDArray[np.bool_]) -> Floats:
    """Square roots of the weights: the kernel has width 0.75 √d, and where k features differ the distance is √k."""
    d = len(differs)
    roots = np.exp(-np.arange(d + 1) / (4 * 0.75**2 * d))
    return np.asarray(roots[differs.sum(axis=0)])


def _refuse_labels(probabilities: Floats) -> None:
    outside = probabilities[(probabilities < -_ROUNDING) | (probabilities > 1 + _ROUNDING)]
    if len(outside):
        raise BadInput(
            f"The model gave {outside.max():g} where a probability, 0 to 1, is wanted: labels or scores, it seems. "
            "Pass predict_proba, or a function from rows to probabilities."
        )
