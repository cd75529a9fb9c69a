"""LIME: what a linear model, fitted around the row to the model's probabilities, says of each feature."""

import warnings
from collections.abc import Iterable
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from faithscope.errors import BadInput
from faithscope.explainers.lime.draws import draw_places, learn_features, truth_values
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.models import PREDICTED, Progress, chosen_classes, to_proba
from faithscope.explainers.shared.seeds import generators
from faithscope.explainers.shared.table import Own, Table
from faithscope.explanations.importances import Importances
from faithscope.inputs.checks import check_whole
from faithscope.runtime.memory import in_memory, need

Floats = NDArray[np.float64]

_VALUES = 4_000_000  # drawn at once, 32 MB an array: more at once is no faster
_ROUNDING = 1e-6  # by which a probability in single precision may leave [0, 1]
_KERNEL = 0.75  # its width, for each root of the number of features


class Lime(Mannered):
    """Explains a row by a linear model fitted to the model's probabilities of rows drawn around it.

    The tabular algorithm of the ``lime`` package, all features kept. A number is seen as its quarter of the training
    rows, so `samples` rows are drawn by drawing quarters (or categories) as often as training has them, and a value
    inside each quarter from a normal cut off at its borders. A ridge regression (penalty 1) of the probability on
    "as in the row, or not", weighted by ``exp(-k / (2 · 0.75² · d))`` where k of d features differ, gives one
    coefficient a feature: how much more probable the class is where the feature stays as it is. Two rows in the same
    quarters get the same explanation but for chance, whatever the model predicts for them.

    Missing values of a feature are a quarter of their own, or a category, drawn as often as training rows have them.
    Dates are numbers.

    With ``discretize=False`` a number is seen as it is. It is drawn from a normal with the mean and deviation of the
    training rows, wherever the row lies; the regression is on the number of deviations, and k becomes the squared
    distance in deviations. A coefficient says how much more probable the class is for one deviation more. A missing
    number lies at the mean there.

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
    discretize : bool
        Whether numbers are seen as quarters, as is ``lime``'s default, or as they are.
    seed : int
        The same row and seed draw the same rows, in any batch.

    Notes
    -----
    A feature is drawn from a table of 65,536 equally likely values (fewer beyond 128 features, at least 4,096), which
    is as good as drawing it outright and much faster.

    Where all training values, or those of a quarter, are equal, that value is drawn. ``lime`` draws it less about
    1e-11, and 0 in its place where it is the column's least value: an oversight there, visible where that value is not
    0. Without discretizing it draws a constant column with deviation 1.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> found = Lime(lambda X: X[:, 0] > 0, rows).explain([[1.5, 0.0]])
    >>> found.values.round(1) + 0.0
    array([[0.7, 0. ]])
    """

    _kept_as = MappingProxyType({"predict_proba": "model"})

    def __init__(
        self,
        predict_proba: Any,
        X_train: Any,
        *,
        class_index: int | str | None = None,
        categorical: Iterable[int | str] = (),
        samples: int = 5000,
        discretize: bool = True,
        seed: int = 0,
    ) -> None:
        self.model, self.class_index, self.seed = predict_proba, class_index, seed
        self.X_train, self.categorical = X_train, categorical
        self.samples, self.discretize = check_whole(samples, "samples", least=2), discretize
        self.table = Table.learn(X_train, categorical if discretize else truth_values(X_train, categorical))
        rows = self.table.encode(X_train)
        self._features, self._known = learn_features(self.table, rows, discretize), rows[:1]

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One coefficient a feature for each row; of several classes one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            Values may be missing, and categories may be others than those of the training rows: the model is asked
            about the row as it is, and no draw is like it there.
        progress : callable, optional
            Called with rows done and rows in all, after every part of them.
        """
        if isinstance(self.class_index, str) and self.class_index == "predicted":
            warnings.warn(PREDICTED, stacklevel=2)
        rows, own = self.table.read(X)
        step = max(1, _VALUES // (self.samples * rows.shape[1]))
        parts = [] if len(rows) else [self._coefficients(self._known, Own({}))[:0]]  # shows how many classes there are
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            parts.append(self._coefficients(rows[part], own.take(part)))
            if progress is not None:
                progress(min(start + step, len(rows)), len(rows))
        return self._importances(np.concatenate(parts))

    @in_memory("pass fewer samples or features")
    def _coefficients(self, rows: Floats, own: Own) -> Floats:
        """For each row, a vector for each class explained: (n, classes, d)."""
        columns, gaps = self._draw(rows, own)
        return _fit(gaps, self._choose(self._outputs(columns)))

    def _draw(self, rows: Floats, own: Own) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        """Rows drawn around each row, itself first: a column (n, samples) a feature, and gaps (d, n, samples)."""
        n, d = rows.shape
        # Places, values, gaps and terms of all draws; moments of all pairs of features.
        size = n * d * (27 * self.samples + 40 * d)
        need(size, f"{self.samples:,} draws around a row of {d:,} features", "pass fewer samples or features")
        drawn = np.empty((d, n, self.samples), np.uint16)
        for row, generator in enumerate(generators(self.seed, rows)):
            drawn[:, row] = draw_places(generator, (d, self.samples), len(self._features[0].values))
        columns = [np.take(one.values, drawn[j], mode="wrap") for j, one in enumerate(self._features)]
        gaps = np.stack([one.gaps(drawn[j], rows[:, j]) for j, one in enumerate(self._features)])
        for j, column in enumerate(columns):
            columns[j] = _with_first(column, self.table.decode_column(j, rows[:, j], own))
        gaps[:, :, 0] = 0
        return columns, gaps

    def _outputs(self, columns: list[NDArray[Any]]) -> Floats:
        """Probabilities of every class for columns (n, samples), asked in one call: (n, samples, classes)."""
        rows, samples = columns[0].shape
        found = to_proba(self.model)(self.table.rebuild([column.ravel() for column in columns]))
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


def _with_first(column: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
    """Draws (n, samples), the first of them replaced by the rows' own values, whatever these are."""
    if column.dtype != own.dtype and column.dtype.kind != "O":
        kind = object if own.dtype.kind == "O" else np.result_type(column, own)
        column = column.astype(kind)
    column[:, 0] = own
    return column


def _fit(gaps: NDArray[Any], outputs: Floats) -> Floats:
    """Coefficients of weighted ridge regressions with an intercept, one for each row and output.

    Fitted to gaps, which are 0 throughout for a feature that never differs: it gets exactly 0. Being like the row is
    the opposite of a gap, so the coefficient has the other sign.

    Parameters
    ----------
    gaps : (d, n, samples) array
        Whether draws differ from the row, or how much smaller they are.
    outputs : (n, samples, classes) array

    Returns
    -------
    (n, classes, d) array
    """
    d, n, samples = gaps.shape
    terms = np.empty((n, d + 1 + outputs.shape[2], samples))
    terms[:, :d] = gaps.transpose(1, 0, 2)
    terms[:, d] = 1.0
    terms[:, d + 1 :] = (outputs - outputs[:, :1]).transpose(0, 2, 1)  # so that a constant model gets exactly 0
    terms *= _roots(gaps)[:, None]
    with _blas().limit(limits=1, user_api="blas"):  # threads cost more than they save on matrices this small
        moments = terms @ terms.transpose(0, 2, 1)
    moments -= moments[:, :, [d]] * moments[:, [d]] / moments[:, [d]][:, :, [d]]
    solved = np.linalg.solve(moments[:, :d, :d] + np.eye(d), moments[:, :d, d + 1 :])
    return 0.0 - solved.transpose(0, 2, 1)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()  # looks the libraries up, which takes longer than to limit them


def _roots(gaps: NDArray[Any]) -> Floats:
    """Square roots of the weights: of a kernel with width 0.75 √d, where the distance is √k if k features differ."""
    d = len(gaps)
    if gaps.dtype != bool:
        return np.asarray(np.exp(np.einsum("dns,dns->ns", gaps, gaps) / (-4 * _KERNEL**2 * d)))
    roots = np.exp(np.arange(d + 1) / (-4 * _KERNEL**2 * d))
    count = np.add.reduce(gaps, axis=0, dtype=np.min_scalar_type(d))
    return np.asarray(roots[count])


def _refuse_labels(probabilities: Floats) -> None:
    if probabilities.size and not -_ROUNDING <= probabilities.min() <= probabilities.max() <= 1 + _ROUNDING:
        outside = probabilities[(probabilities < -_ROUNDING) | (probabilities > 1 + _ROUNDING)]
        raise BadInput(
            f"The model gave {outside.max():g} where a probability, 0 to 1, is wanted: labels or scores, it seems. "
            "Pass predict_proba, or a function from rows to probabilities."
        )
