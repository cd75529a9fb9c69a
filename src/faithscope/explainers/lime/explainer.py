"""LIME: the coefficients of a linear model that is fitted to the model's outputs around the row."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from faithscope.explainers.lime.drawing import Drawing
from faithscope.explainers.lime.draws import learn_features, truth_values
from faithscope.explainers.lime.outputs import AskedModel, Mode
from faithscope.explainers.lime.own import OwnDraws
from faithscope.explainers.lime.shared import SharedDraws
from faithscope.explainers.shared.arrays import Floats
from faithscope.explainers.shared.blocks import Progress
from faithscope.explainers.shared.classes import (
    importances_of,
    label_of,
    names_per_class,
    own_classes,
    warn_if_predicted,
)
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.table import Table, Unseen
from faithscope.explanations.importances import Importances
from faithscope.inputs.checks import check_flag, check_whole, check_word
from faithscope.inputs.regressors import is_torch_module
from faithscope.inputs.rows import take_rows

_SHOWN = 100  # training rows that show whether a torch module gives logits
_DRAWINGS: dict[str, type[Drawing]] = {"shared": SharedDraws, "own": OwnDraws}


class Lime(Mannered):
    """Explains a row by a linear model fitted to the model's probabilities, or numbers, of rows drawn around it.

    The tabular algorithm of the ``lime`` package, with all features kept. A number is seen as its quarter of the
    training rows. So `samples` rows are drawn: quarters (or categories) as often as training rows have them, and a
    value inside each quarter from a normal distribution that is cut off at its borders. The probability is then
    regressed on "as in the row, or not", by ridge regression (penalty 1) with the weight ``exp(-k / (2 · 0.75² · d))``
    of a draw in which k of d features differ from the row. The coefficient of a feature says how much more probable
    the class is if the feature stays as it is. Two rows in the same quarters get nearly the same explanation, whatever
    the model predicts for them.

    What is drawn does not depend on the row: the row decides only which draws are like it. So one set of draws serves
    all rows, each row's explanation is distributed as that of ``lime``, and rows in the same quarters differ only by
    the row itself, which is one of the `samples` rows, with weight 1. In a call of `explain` the model is asked
    about ``samples - 1`` draws, and about the distinct rows. ``draws="own"`` draws for each row anew, as ``lime`` does,
    and asks the model about `samples` rows per row. Random errors of different rows are then independent.

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
        Rows that each linear model is fitted to, the row itself included.
    discretize : bool
        Whether numbers are seen as quarters, which is the default of ``lime``, or as they are.
    seed : int
        The same seed, and with ``draws="own"`` the same row, draws the same rows, in any batch.
    mode : {None, "classification", "regression"}
        Whether outputs are probabilities or numbers. None: numbers if the model is a regressor, such as scikit-learn's,
        or a function whose single output is no probability and takes fractions.
    draws : {"shared", "own"}
        Whether all rows share their draws, or each row has its own, which takes many times longer.

    Notes
    -----
    Of shared draws that are seen as quarters and categories, sums are taken in single precision, which changes a
    coefficient by less than 1e-5 of the range of the outputs; random error is about a thousand times larger.

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
        draws: Literal["shared", "own"] = "shared",
    ) -> None:
        check_word(mode, "mode", ("classification", "regression"), optional=True)
        check_word(draws, "draws", _DRAWINGS)
        self.model, self.class_index, self.seed, self.mode = predict_proba, class_index, seed, mode
        asked = AskedModel.of(predict_proba, mode, class_index)
        self.X_train, self.categorical, self.draws = X_train, categorical, draws
        self.samples, self.discretize = check_whole(samples, "samples", least=2), check_flag(discretize, "discretize")
        self.table = Table.learn(X_train, categorical if discretize else truth_values(X_train, categorical))
        rows = self.table.encode(X_train)
        features, self._known = learn_features(self.table, rows, discretize), rows[:1]
        if is_torch_module(predict_proba) and not hasattr(predict_proba, "predict_proba"):
            asked = asked.of_module(take_rows(X_train, np.arange(min(len(rows), _SHOWN))))
        self._drawing = _DRAWINGS[draws](self.table, features, asked, class_index, self.samples, seed)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One coefficient per feature and row; if several classes are explained, one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            Values may be missing. A row may have a category that no training row has: the model is asked about the row
            as it is, and every draw differs from it in that feature.
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, after every block of them.
        """
        warn_if_predicted(self.class_index)
        rows, unseen = self.table.read(X)
        if len(rows):
            return self._importances(self._drawing.coefficients(rows, unseen, progress))._labelled(X)
        # Of no rows, a known row shows how many classes there are.
        return self._importances(self._drawing.coefficients(self._known, Unseen({}), None)[:0])

    def _importances(self, coefficients: Floats) -> Importances:
        rows, classes, features = coefficients.shape
        names = names_per_class(self.table.names, range(classes))
        importances = importances_of(coefficients.reshape(rows, classes * features), names, self.table.axes)
        remarks = (*own_classes(self.class_index, classes, "Lime"), *self._drawing.asked.remarks)
        return importances._with(remarks=remarks, label=label_of(self.model, self.class_index))
