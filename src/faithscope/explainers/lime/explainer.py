"""LIME: the coefficients of a linear model that is fitted to the model's outputs around the row."""

from collections.abc import Iterable
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from faithscope.explainers.lime.draws import draw_places, learn_features, truth_values
from faithscope.explainers.lime.outputs import AskedModel, Mode
from faithscope.explainers.shared.arrays import Floats
from faithscope.explainers.shared.blocks import Progress, blocks
from faithscope.explainers.shared.choices import check_choice
from faithscope.explainers.shared.classes import chosen_classes, importances_of, names_per_class, warn_if_predicted
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.seeds import generators
from faithscope.explainers.shared.table import Table, Unseen
from faithscope.explanations.importances import Importances
from faithscope.inputs.checks import check_whole
from faithscope.inputs.regressors import is_torch_module
from faithscope.inputs.rows import take_rows
from faithscope.runtime.memory import in_memory, need

_VALUES = 4_000_000  # drawn at once, 32 MB per array: more at once is no faster
_SHOWN = 100  # training rows that show whether a torch module gives logits
_KERNEL = 0.75  # width of the kernel, times the square root of the number of features


class Lime(Mannered):
    """Explains a row by a linear model fitted to the model's probabilities, or numbers, of rows drawn around it.

    The tabular algorithm of the ``lime`` package, with all features kept. A number is seen as its quarter of the
    training rows. So `samples` rows are drawn: quarters (or categories) as often as training rows have them, and a
    value inside each quarter from a normal distribution that is cut off at its borders. The probability is then
    regressed on "as in the row, or not", by ridge regression (penalty 1) with the weight ``exp(-k / (2 · 0.75² · d))``
    of a draw in which k of d features differ from the row. The coefficient of a feature says how much more probable
    the class is if the feature stays as it is. Two rows in the same quarters get the same explanation except for
    random error, whatever the model predicts for them.

    Missing values of a feature are a quarter of their own, or a category, drawn as often as training rows have them.
    Dates are numbers.

    With ``discretize=False`` a number is seen as it is. It is drawn from a normal distribution with the mean and
    deviation of the training rows, wherever the row lies. The regression is then on the number of deviations, and k is
    the squared distance in deviations. A coefficient says how much more probable the class is for one deviation more.
    A missing number counts as the mean.

    Of a regressor the prediction takes the place of the probability, as in the regression mode of ``lime``: a
    coefficient says how much larger the prediction is if the feature stays as it is.

    Parameters
    ----------
    predict_proba : model or function
        Anything with ``predict_proba``, or a function from rows to probabilities: (n, classes), or (n,) of class 1. Or
        a regressor, or a function from rows to numbers: (n,). Outputs of a torch module that do not sum to 1 are taken
        for logits, of which the softmax is explained.
    X_train : (n, d) array or table
        Training rows; the model is asked about rows of the same kind (array, pandas, polars or Arrow).
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; if there are more, every class, one vector after the other. A
        regression has no classes, so None.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    samples : int
        Rows drawn around each row, the row itself included.
    discretize : bool
        Whether numbers are seen as quarters, which is the default of ``lime``, or as they are.
    seed : int
        The same row and seed draw the same rows, in any batch.
    mode : {None, "classification", "regression"}
        Whether outputs are probabilities or numbers. None: numbers if the model is a regressor, such as scikit-learn's,
        or a function whose single output is no probability and takes fractions.

    Notes
    -----
    A feature is drawn from a table of 65,536 equally likely values (fewer beyond 128 features, at least 4,096), which
    is as good as drawing from the distribution itself and much faster.

    If all training values are equal, or all values of a quarter, that value is drawn. ``lime`` draws a value that is
    about 1e-11 smaller, and draws 0 instead of the least value of a column: an oversight there, which shows if that
    value is not 0. Without discretizing, ``lime`` draws a constant column with deviation 1.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> explanations = Lime(lambda X: X[:, 0] > 0, rows).explain([[1.5, 0.0]])
    >>> explanations.values.round(1) + 0.0
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
        mode: Mode | None = None,
    ) -> None:
        check_choice(mode, "mode", (None, "classification", "regression"))
        self.model, self.class_index, self.seed, self.mode = predict_proba, class_index, seed, mode
        self._asked = AskedModel.of(predict_proba, mode, class_index)
        self.X_train, self.categorical = X_train, categorical
        self.samples, self.discretize = check_whole(samples, "samples", least=2), discretize
        self.table = Table.learn(X_train, categorical if discretize else truth_values(X_train, categorical))
        rows = self.table.encode(X_train)
        self._features, self._known = learn_features(self.table, rows, discretize), rows[:1]
        if is_torch_module(predict_proba) and not hasattr(predict_proba, "predict_proba"):
            self._asked = self._asked.of_module(take_rows(X_train, np.arange(min(len(rows), _SHOWN))))

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One coefficient per feature and row; if several classes are explained, one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            Values may be missing. A row may have a category that no training row has: the model is asked about the row
            as it is, and every draw differs from it in that feature.
        progress : callable, optional
            Called with the number of rows done, and of all rows, after every block of them.
        """
        warn_if_predicted(self.class_index)
        rows, unseen = self.table.read(X)
        # Of no rows, a known row shows how many classes there are.
        parts = [] if len(rows) else [self._coefficients(self._known, Unseen({}))[:0]]
        step = _VALUES // (self.samples * rows.shape[1])
        parts += [self._coefficients(rows[block], unseen.take(block)) for block in blocks(len(rows), step, progress)]
        return self._importances(np.concatenate(parts))

    @in_memory("pass fewer samples or features")
    def _coefficients(self, rows: Floats, unseen: Unseen) -> Floats:
        """One vector per row and class explained: (n, classes, d)."""
        columns, gaps = self._draw(rows, unseen)
        return _fit(gaps, self._choose(self._outputs(columns)))

    def _draw(self, rows: Floats, unseen: Unseen) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        """Rows drawn around each row, itself first: one column (n, samples) per feature, and gaps (d, n, samples)."""
        n, d = rows.shape
        # Bytes of the places, values, gaps and terms of all draws, and of the moments of all pairs of features.
        size = n * d * (27 * self.samples + 40 * d)
        need(size, f"{self.samples:,} draws around a row of {d:,} features", "pass fewer samples or features")
        drawn = np.empty((d, n, self.samples), np.uint16)
        for row, generator in enumerate(generators(self.seed, rows)):
            drawn[:, row] = draw_places(generator, (d, self.samples), len(self._features[0].values))
        columns = [np.take(feature.values, drawn[j], mode="wrap") for j, feature in enumerate(self._features)]
        gaps = np.stack([feature.gaps(drawn[j], rows[:, j]) for j, feature in enumerate(self._features)])
        for j, column in enumerate(columns):
            columns[j] = _with_first(column, self.table.decode_column(j, rows[:, j], unseen))
        gaps[:, :, 0] = 0
        return columns, gaps

    def _outputs(self, columns: list[NDArray[Any]]) -> Floats:
        """Probabilities of every class, or numbers, for columns (n, samples), in one call: (n, samples, classes)."""
        rows, samples = columns[0].shape
        outputs = self._asked.outputs(self.table.rebuild([column.ravel() for column in columns]), rows * samples)
        return outputs.reshape(rows, samples, -1)

    def _choose(self, outputs: Floats) -> Floats:
        """The outputs of the classes explained."""
        chosen = chosen_classes(self.class_index, outputs.shape[2])
        if chosen is not None:
            return outputs[:, :, chosen]
        return np.take_along_axis(outputs, outputs[:, :1].argmax(axis=2, keepdims=True), axis=2)

    def _importances(self, coefficients: Floats) -> Importances:
        rows, classes, features = coefficients.shape
        names = names_per_class(self.table.names, range(classes))
        importances = importances_of(coefficients.reshape(rows, classes * features), names, self.table.axes)
        return importances._with(remarks=self._asked.remarks)


def _with_first(column: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
    """Draws (n, samples) of which the first is replaced by the row's own value, whatever its type."""
    if column.dtype != own.dtype and column.dtype.kind != "O":
        kind = object if own.dtype.kind == "O" else np.result_type(column, own)
        column = column.astype(kind)
    column[:, 0] = own
    return column


def _fit(gaps: NDArray[Any], outputs: Floats) -> Floats:
    """Coefficients of weighted ridge regressions with an intercept, one regression per row and output.

    A feature that never differs has gap 0 in all draws, and gets exactly 0. To be like the row is the opposite of a
    gap, so the coefficient has the opposite sign.

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
    terms[:, d + 1 :] = (outputs - outputs[:, :1]).transpose(0, 2, 1)  # a constant model gets exactly 0
    terms *= _roots(gaps)[:, None]
    with _blas().limit(limits=1, user_api="blas"):  # threads cost more than they save on matrices this small
        moments = terms @ terms.transpose(0, 2, 1)
    moments -= moments[:, :, [d]] * moments[:, [d]] / moments[:, [d]][:, :, [d]]
    solved = np.linalg.solve(moments[:, :d, :d] + np.eye(d), moments[:, :d, d + 1 :])
    return 0.0 - solved.transpose(0, 2, 1)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()  # kept, since looking up the libraries takes longer than limiting them


def _roots(gaps: NDArray[Any]) -> Floats:
    """Square roots of the weights by a kernel of width 0.75 √d; a draw that differs in k features is at distance √k."""
    d = len(gaps)
    if gaps.dtype != bool:
        return np.asarray(np.exp(np.einsum("dns,dns->ns", gaps, gaps) / (-4 * _KERNEL**2 * d)))
    roots = np.exp(np.arange(d + 1) / (-4 * _KERNEL**2 * d))
    count = np.add.reduce(gaps, axis=0, dtype=np.min_scalar_type(d))
    return np.asarray(roots[count])
