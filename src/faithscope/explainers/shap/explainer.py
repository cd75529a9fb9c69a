"""SHAP: how far each feature moves the model's output away from its mean over a background."""

import warnings
from functools import cached_property
from math import ceil, log10
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.base import Explainer, Progress, settings_line
from faithscope.explainers.classes import chosen_classes, of_classes
from faithscope.explainers.shap.coalitions import Game, Tell, affordable, asked_values, once
from faithscope.explainers.shap.trees import Trees, is_off
from faithscope.explainers.space import Space
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Floats
from faithscope.inputs.checks import check_whole, check_word
from faithscope.inputs.grouping import group
from faithscope.inputs.models import Model
from faithscope.inputs.seeds import canonical
from faithscope.runtime.memory import in_memory, need

_LOST = "The background's columns cannot hold every category of these rows"
_SAME = "Give them the same categories, or plain strings."
_UNROUNDED = 60  # decimals, of which no output is too small to have some
_TABLE = 2**14  # coalitions per row that are tried by default if trees give all of them at once
_NOISY = (
    "the model answers equal rows differently, so these importances are noisy: computed again, they would be others"
)
_CHECKED = 20  # background rows for which values of the trees, and answers given again, are compared with the model


class Shap(Explainer):
    """SHAP values: exact for trees and whenever all coalitions can be tried, else sampled, with a standard error.

    The values of a row sum to ``f(x) - mean f(background)``, so equal explanations mean equal outputs (paper, section
    3.2.2). They are Shapley values of the game in which features that are left out take the values of a background
    row, averaged over the background. Coalitions are drawn once from the seed and are the same for every row, so the
    values of a row do not depend on its batch. Equal rows get values that are equal to the last bit.

    In one call the model is asked once about mixtures of rows and background rows that are equal, as those of
    categories and flags often are. Some background rows are asked about twice; if the answer is another, the model
    draws at random, is asked about all mixtures, and the explanations carry a remark.

    Parameters
    ----------
    model : model or function of rows
        Anything with ``predict_proba``, ``decision_function`` or ``predict``, or a function that gives the output.
    X_background : (b, d) array or table
        Rows whose values replace features that are left out. Every row is used, and time grows with their number: one
        row is enough, a hundred are usual. The model is asked about rows of the same kind (array, pandas, polars or
        Arrow). Missing is a value like any other: the model gets it as it is.
    output : {None, "margin", "probability", "label"}
        The output that is explained. The margin is ``decision_function``, the raw score of a booster, the output of a
        regression or of a function; the margin of a forest, whose trees vote with probabilities, are these. The label
        is explained as a number: its place among the sorted classes of the model, or the number that a function gives.
        None: the margin if there is one, else the probability. The attribute `output` says which.
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; if there are more, every class, one vector after the other. A single
        margin is that of class 1, and class 0 has its negative. The predicted class is the class of highest output. A
        regressor, such as scikit-learn's, has no classes: None explains its output, or every one of several.
    algorithm : {"auto", "tree", "permutation"}
        ``"tree"`` reads the trees of a model: scikit-learn's, XGBoost's, LightGBM's and CatBoost's, also at the end of
        a pipeline whose other steps make every feature of one column, as scaling, encoding and imputing do. Sums of
        trees are explained exactly, by the interventional tree SHAP of the package ``shap``. Probabilities of boosted
        trees, which are no sums, and columns that several features are made of, are explained by a table of all
        coalitions. ``"auto"`` takes ``"tree"`` if the trees give the model's outputs, else ``"permutation"``; the
        attribute `algorithm` says which. ``"permutation"`` needs no package.
    evaluations : int, optional
        Coalitions of features that are tried per row, each on the whole background. By default 20 per feature for
        permutations (ten of them, and their reverses), and 16,384 for tables of trees. A row is explained exactly if
        this allows all coalitions of the features in which it differs from background rows, on average over these
        (trees tell values apart by thresholds only); else it is sampled.
    seed : int

    Attributes
    ----------
    expected_value : (outputs,) array
        The mean output over the background, for every class; one number for a regressor.
    error : float
        The largest standard error of a value that `explain` has given so far: 0 as long as all were exact, infinite if
        too few coalitions were drawn to know it. Explanations carry it too, and results measured on them say so.

    Examples
    --------
    >>> product = Shap(lambda X: X[:, 0] * X[:, 1], [[0.0, 0.0]])
    >>> product.explain([[2.0, 3.0], [2.0, 0.0]]).values.tolist()
    [[3.0, 3.0], [0.0, 0.0]]
    >>> product.error
    0.0
    """

    def __init__(
        self,
        model: Any,
        X_background: Any,
        *,
        output: Literal["margin", "probability", "label"] | None = None,
        class_index: int | str | None = None,
        algorithm: Literal["auto", "tree", "permutation"] = "auto",
        evaluations: int | None = None,
        seed: int = 0,
    ) -> None:
        check_word(output, "output", ("margin", "probability", "label"), optional=True)
        check_word(algorithm, "algorithm", ("auto", "tree", "permutation"))
        self.model, self.class_index, self.error = model, class_index, 0.0
        self._output_given, self._algorithm_given = output, algorithm
        self._asked = asked = Model(model)
        self._regressor = asked.kind == "regressor"
        self.output = output or ("margin" if asked.has_margin else "probability")
        if output == "label" and self._regressor:
            raise BadInput(f'{asked.name} predicts numbers, not labels: use output="margin", which explains them.')
        self.evaluations, self.seed = evaluations, check_whole(seed, "seed", least=0)
        self.X_background = X_background
        self.table = Space.learn(X_background)
        self.background = self.table.encode(X_background)
        self._known = self._outputs(self.background, self.table)
        self.expected_value: Floats = self._known.mean(axis=0)
        self._classes = self._computed_classes(self._known.shape[1])
        largest = float(np.abs(self._known).max())
        self._scale = largest or 1.0
        self._decimals = 12 - ceil(log10(largest)) if largest else _UNROUNDED
        again = self._outputs(self.background[:_CHECKED], self.table)
        self._noisy = bool(is_off(again, self._known[:_CHECKED], self._scale).any())
        self._trees = self._find_trees()
        self.algorithm = "tree" if self._trees else "permutation" if algorithm == "auto" else algorithm
        # Coalitions that may be tried per row.
        self._budget, self._table_budget = 20 * len(self.table.names), _TABLE
        if evaluations is not None:
            self._budget = self._table_budget = check_whole(evaluations, "evaluations")
        if not self._trees and 2 ** len(self.table.names) - 2 > self._budget:
            _ = self._game  # raises if there are too few evaluations

    def __repr__(self) -> str:
        """The output and the algorithm as they were chosen, not as they were given."""
        return settings_line(self, super().get_params())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The output and the algorithm as they were given, with the other arguments of the constructor."""
        given = {"output": self._output_given, "algorithm": self._algorithm_given}
        return super().get_params(deep) | given

    def __fingerprint__(self) -> tuple[Any, ...]:
        """What the explanations depend on; the bytes of what shap makes of trees differ between equal ones."""
        return self.model, self.background, self.table, repr(self)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One value per feature and row; if several classes are explained, one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            Missing values and categories that the background does not have reach the model as they are.
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, after every block of them.
        """
        return self.explain_with_error(X, progress=progress)[0]

    def explain_with_error(self, X: Any, *, progress: Progress | None = None) -> tuple[Importances, Floats]:
        """The explanations of `explain`, and the standard error of every value: 0 if exact, infinite if unknown.

        Parameters
        ----------
        X, progress
            As for `explain`.

        Returns
        -------
        Importances
        (n, d) array
        """
        encoded, table = self.table.read(X)
        _refuse_lost(table, encoded)
        place, first = group([canonical(encoded).view(np.int64)])
        rows = canonical(encoded)[first]  # equal rows are explained once
        done = 0

        def tell(more: int) -> None:
            nonlocal done
            done += more
            if progress is not None:
                progress(len(place) * done // len(rows), len(place))

        values, errors = (part[place].transpose(0, 2, 1) for part in self._values(rows, table, tell))
        error = float(errors.max(initial=0.0))
        self.error = max(self.error, error)
        word = "output" if self._regressor else "class"
        importances = of_classes(values, self.table.names, self, self.table.axes, word)
        remarks = (*importances.remarks, _NOISY) if self._noisy else importances.remarks
        told = importances._with(error=error, remarks=remarks)._labelled(X)
        return told, errors.reshape(told.values.shape)

    def _computed_classes(self, classes: int) -> list[int]:
        """The classes whose values are computed: those explained, or all if the predicted class is explained.

        The outputs of a regressor are all explained by default, and none of them is predicted.
        """
        class_index = self.class_index
        if self.output == "label" or self._regressor:
            if class_index is None:
                return list(range(classes))
            if classes == 1 or isinstance(class_index, str):
                which = "None" if classes == 1 else f"None, or an output from 0 to {classes - 1}"
                raise BadInput(f"Labels and numbers have no classes: class_index must be {which}; got {class_index!r}.")
        chosen = chosen_classes(class_index, classes)
        return list(range(classes)) if chosen is None else chosen

    def _outputs(self, rows: Floats, table: Space) -> Floats:
        """The model's outputs for encoded rows: (n, outputs)."""
        outputs = self._asked.outputs(self.output, table.decode(rows))
        if len(outputs) != len(rows):
            raise BadInput(f"The model gave {len(outputs):,} outputs for {len(rows):,} rows: it must give one per row.")
        return outputs

    def _gains(self, outputs: Floats) -> Floats:
        """How far outputs are above their mean over the background, of the computed classes."""
        return (outputs - self.expected_value)[:, self._classes]

    @in_memory("explain fewer rows at a time, or use a smaller background")
    def _values(self, rows: Floats, table: Space, tell: Tell) -> tuple[Floats, Floats]:
        """SHAP values of the classes explained, and their errors: (n, d, classes)."""
        full = self._outputs(rows, table) if len(rows) else np.empty((0, len(self.expected_value)))
        many = f"SHAP values of {len(rows):,} rows, {rows.shape[1]:,} features and {len(self._classes):,} classes"
        need(48 * rows.size * len(self._classes), many, "explain fewer rows at a time, or choose a class")
        values, errors = np.zeros((2, *rows.shape, len(self._classes)))
        background, features = self.background, rows.shape[1]
        gains, left = self._gains(full), np.ones(len(rows), bool)
        if self._trees is not None:
            cells = self._trees.cells(rows, table)
            misread = is_off(self._trees(cells), full, self._scale)
            chosen = ~misread & self._trees.affordable(cells, self._table_budget)
            values[chosen] = self._trees.values(cells[chosen], tell)
            misread[chosen] = is_off(values[chosen].sum(axis=1), gains[chosen], self._scale)
            if self._algorithm_given == "tree" and misread.any():
                raise self._misreading()
            left = ~chosen | misread

        def ask(masked: Floats) -> Floats:
            return self._gains(self._outputs(masked, table))

        answers = ask if self._noisy else once(ask)
        every = affordable(rows, background, self._budget, np.arange(features), features) & left
        starts = self._gains(self._known)
        values[every] = asked_values(rows[every], gains[every], background, starts, answers, tell, self._budget)
        if (rest := left & ~every).any():
            values[rest], errors[rest] = self._game.values(rows[rest], gains[rest], background, answers, tell)
        if not (self._trees and self._trees.shap):  # so that 0 has no rounding error or sign
            values = np.round(values, self._decimals) + 0.0
        errors = np.round(errors, self._decimals)
        if self.class_index == "predicted":
            highest = full.argmax(axis=1)[:, None, None]
            values, errors = (np.take_along_axis(part, highest, axis=2) for part in (values, errors))
        return values, errors

    @cached_property
    def _game(self) -> Game:
        """The coalitions that are drawn for rows of which not all can be tried."""
        return Game(len(self.table.names), self._budget, self.seed)

    def _find_trees(self) -> "Trees | None":
        algorithm = self._algorithm_given
        if algorithm == "permutation" or (algorithm == "auto" and not hasattr(self.model, "predict")):
            return None
        try:
            if self.output == "label":
                raise BadInput('Trees do not give output="label": use algorithm="permutation".')
            trees = Trees(self.model, self.table, self.background, self._known, self._classes)
            values = trees.values(trees.background[:_CHECKED])
            if is_off(values.sum(axis=1), self._gains(self._known[:_CHECKED]), self._scale).any():
                raise self._misreading()
        except BadInput:
            if algorithm == "tree":
                raise
            return None
        return trees

    def _misreading(self) -> BadInput:
        return BadInput(
            f"Trees misread this {type(self.model).__name__}: they do not give the model's {self.output}. "
            'Use algorithm="permutation".'
        )


def _refuse_lost(table: Space, rows: Floats) -> None:
    """Raise if a category does not survive decoding: a categorical column of pandas turns other categories into NaN."""
    strange = rows[(rows > table.known).any(axis=1)]
    with warnings.catch_warnings(action="ignore"):  # pandas warns of categories that its type does not have
        again = table.encode(table.decode(strange)) if len(strange) else strange
    for row, j in np.argwhere((again != strange) & table.categorical):
        value = table.scales[j].decode(strange[[row], j])[0]
        raise BadInput(f"{_LOST}: {value!r} in {table.names[j]!r}. {_SAME}")
