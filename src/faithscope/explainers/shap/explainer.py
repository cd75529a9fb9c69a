"""SHAP: how far each feature moves the model's output from its mean over a background."""

import warnings
from collections.abc import Sequence
from math import ceil, log10
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers.shap.coalitions import Game, Masks, Tell, budget_of, game
from faithscope.explainers.shap.outputs import Output, chosen_output, outputs_of
from faithscope.explainers.shap.pairs import affordable, asked_values
from faithscope.explainers.shap.rows import distinct, moved, refuse_lost, widened
from faithscope.explainers.shap.trees import Trees, is_off
from faithscope.explainers.shared.blocks import Progress
from faithscope.explainers.shared.classes import PREDICTED, chosen_classes
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.table import Table
from faithscope.explanations.importances import Importances
from faithscope.inputs.checks import check_whole
from faithscope.runtime.memory import in_memory, need

Floats = NDArray[np.float64]

_LARGE = 1_000  # background rows above which explaining is slow
_TABLE = 2**14  # coalitions of a row that are tried by default where trees give all of them at once
_CHECKED = 20  # background rows for which the trees are held against the model


class Shap(Mannered):
    """SHAP values: exact for trees and wherever all coalitions can be tried, else sampled with their error told.

    The values of a row sum to ``f(x) - mean f(background)``, so equal explanations mean equal outputs (paper, section
    3.2.2). They are Shapley values of the game in which features that are left out are replaced with those of a
    background row, averaged over the background. Coalitions are drawn once from the seed and are the same for every
    row, so a row's values do not depend on its batch. Rows that are equal get values that are equal to the last bit.

    Parameters
    ----------
    model : model or function of rows
        Anything with ``predict_proba``, ``decision_function`` or ``predict``, or a function that gives the output.
    X_background : (b, d) array or table
        What a feature that is left out is replaced with. Every row is used and time grows with them: one is enough, a
        hundred is usual. The model is asked about rows of the same kind (array, pandas, polars or Arrow). Missing is a
        value like any other: the model gets it as it is.
    output : {None, "margin", "probability", "label"}
        What is explained. The margin is ``decision_function``, a booster's raw score, a regression's output, or what a
        function gives; a forest, whose trees vote with probabilities, has no other margin than these. The label is
        explained as a number: its place among the sorted classes of the model, or the number that a function gives.
        None: the margin where there is one, else the probability. The attribute says which.
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; of more, every class, one vector after the other. A single margin is
        that of class 1, and class 0 has its negative. The predicted class is the one of highest output.
    algorithm : {"auto", "tree", "permutation", "kernel"}
        ``"tree"`` reads the trees of a model by the package ``shap``. Sums of trees are explained by its interventional
        tree SHAP, exactly; probabilities of boosted trees, which are no sums, by a table of all coalitions. ``"auto"``
        takes it where shap reads the model right, else ``"permutation"``; the attribute says which. These two need no
        package.
    evaluations : int, optional
        Coalitions of features tried for each row, each on the whole background. By default 20 per feature for
        permutations (ten of them, and their reverses), 2,048 and 2 per feature for the kernel, and 16,384 for tables of
        trees. A row is explained exactly where this allows all coalitions of the features in which it differs from
        background rows (on average over these; trees tell values apart by their thresholds alone); else it is sampled.
    seed : int

    Attributes
    ----------
    expected_value : (outputs,) array
        The mean output over the background, for every class.
    error : float
        The largest standard error of a value that `explain` has given so far: 0 while all were exact, infinite where
        too few coalitions were drawn to tell. Explanations carry it too, and results that are measured on them say so.

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
        output: Output | None = None,
        class_index: int | str | None = None,
        algorithm: Literal["auto", "tree", "permutation", "kernel"] = "auto",
        evaluations: int | None = None,
        seed: int = 0,
    ) -> None:
        _one_of(output, "output", (None, "margin", "probability", "label"))
        _one_of(algorithm, "algorithm", ("auto", "tree", "permutation", "kernel"))
        self.model, self.class_index, self.error = model, class_index, 0.0
        self.output = chosen_output(model, output)
        self.evaluations, self.seed = evaluations, check_whole(seed, "seed", least=0)
        self.X_background = X_background
        self.table = Table.learn(X_background)
        self.background = self.table.encode(X_background)
        _warn_of_time(len(self.background))
        self._known = self._outputs(self.background, self.table)
        self.expected_value: Floats = self._known.mean(axis=0)
        self._classes = _computed(class_index, self.output, self._known.shape[1])
        self._scale = float(np.abs(self._known).max()) or 1.0
        self._decimals = 12 - ceil(log10(self._scale))
        self._missing_read: dict[int, bool] = {}
        self._trees = self._find_trees(algorithm)
        self._must_be_trees = algorithm == "tree"
        self.algorithm = "tree" if self._trees else "permutation" if algorithm == "auto" else algorithm
        self._budget = budget_of(self.algorithm, len(self.table.names), evaluations)
        self._table_budget = _TABLE if evaluations is None else self._budget
        self._game: Game | None = None
        if not self._trees and 2 ** len(self.table.names) - 2 > self._budget:
            self._drawn()  # refuses too few evaluations

    def __fingerprint__(self) -> tuple[Any, ...]:
        """What its answers depend on; what shap makes of trees has bytes that mean nothing."""
        return self.model, self.background, self.table, repr(self)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One value per feature for each row; of several classes one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            Missing values and categories that the background does not have are handed to the model as they are.
        progress : callable, optional
            Called with rows done and rows in all, after every part of them.
        """
        return self.explain_with_error(X, progress=progress)[0]

    def explain_with_error(self, X: Any, *, progress: Progress | None = None) -> tuple[Importances, Floats]:
        """As `explain`, and the standard error of every value: 0 where it is exact, infinite where it is unknown.

        Parameters
        ----------
        X, progress
            As for `explain`.

        Returns
        -------
        Importances
        (n, d) array
        """
        if self.class_index == "predicted":
            warnings.warn(PREDICTED, stacklevel=3)
        table = widened(self.table, X)
        refuse_lost(table)
        rows, place = distinct(table.encode(X))  # equal rows are explained once
        full = self._outputs(rows, table) if len(rows) else np.empty((0, len(self.expected_value)))
        both = self._values(rows, full, table, _teller(progress, len(rows), len(place)))
        values, errors = (_of_highest(part, full) if self.class_index == "predicted" else part for part in both)
        error = float(errors.max(initial=0.0))
        self.error = max(self.error, error)
        names = _names(self.table.names, self._classes[: values.shape[2]])
        return Importances(_as_vectors(values[place]), names)._with(error=error), _as_vectors(errors[place])

    @staticmethod
    def read(explanation: Any, class_index: int | str | None = None) -> Importances:
        """The values of a ready ``shap.Explanation``; where it has classes, those of the class explained.

        Parameters
        ----------
        explanation : shap.Explanation
            Of one row or many, with or without a last axis of classes.
        class_index : int, "predicted" or None
            As for `Shap`; None where there is no axis of classes.
        """
        values, base = _ready(explanation)
        names = explanation.feature_names
        if values.ndim == 2 and class_index is not None:
            raise BadInput(f"These SHAP values are of one output, with no class to choose; got {class_index!r}.")
        if values.ndim == 2:
            return Importances(values, names)
        classes = _computed(class_index, "margin", values.shape[2])
        if class_index == "predicted" and base.dtype == object:
            raise BadInput("These SHAP values have no base values, so the predicted class is unknown: choose a class.")
        if class_index == "predicted":
            warnings.warn(PREDICTED, stacklevel=2)
            values = _of_highest(values, base + values.sum(axis=1))
        else:
            values = values[:, :, classes]
        plain = [f"x{j}" for j in range(values.shape[1])] if names is None else names
        return Importances(_as_vectors(values), _names(plain, classes[: values.shape[2]]))

    def _outputs(self, rows: Floats, table: Table) -> Floats:
        """What the model gives for encoded rows: (n, outputs)."""
        found = outputs_of(self.model, self.output, table.decode(rows))
        if len(found) != len(rows):
            raise BadInput(f"The model gave {len(found):,} outputs for {len(rows):,} rows: one a row is needed.")
        return found

    @in_memory("explain fewer rows at a time, or use a smaller background")
    def _values(self, rows: Floats, full: Floats, table: Table, tell: Tell) -> tuple[Floats, Floats]:
        """SHAP values of the classes computed and their errors, (n, d, classes); full holds the model's outputs."""
        many = f"SHAP values of {len(rows):,} rows, {rows.shape[1]:,} features and {len(self._classes):,} classes"
        need(48 * rows.size * len(self._classes), many, "explain fewer rows at a time, or choose a class")
        values, errors = np.zeros((2, *rows.shape, len(self._classes)))
        gains = full[:, self._classes] - self.expected_value[self._classes]
        left = np.ones(len(rows), bool)
        if self._trees is not None:
            misread = self._misread(self._trees, rows, full, table)
            chosen = ~misread & self._trees.affordable(rows, self._table_budget)
            values[chosen] = self._tidy(self._trees.values(rows[chosen], tell))
            misread[chosen] = is_off(values[chosen].sum(axis=1), gains[chosen], self._scale)
            if self._must_be_trees and misread.any():
                raise self._misreading()
            left = ~chosen | misread
        done = len(rows) - int(left.sum())
        values[left], errors[left] = self._by_coalitions(rows[left], gains[left], table, lambda n: tell(done + n))
        return values, errors

    def _by_coalitions(self, rows: Floats, gains: Floats, table: Table, tell: Tell) -> tuple[Floats, Floats]:
        """Values and errors by asking the model about coalitions: all of them where that is affordable, else some."""
        start, background = self.expected_value[self._classes], moved(self.background, self.table, table)

        def ask(masked: Floats) -> Floats:
            return self._outputs(masked, table)[:, self._classes] - start

        values, errors = np.zeros((2, *rows.shape, len(self._classes)))
        all_tried = self._affordable(rows, background)
        if all_tried.any():
            starts = self._known[:, self._classes] - start
            parts = (rows[all_tried], gains[all_tried], background, starts, ask, tell)
            values[all_tried] = asked_values(*parts, self._budget)
        if not all_tried.all():
            done = int(all_tried.sum())
            some = (rows[~all_tried], gains[~all_tried], background, ask, lambda n: tell(done + n))
            values[~all_tried], errors[~all_tried] = self._drawn().values(*some)
        return self._tidy(values), np.round(errors, self._decimals)

    def _tidy(self, values: Floats) -> Floats:
        """Without signs of what is 0 but for rounding; what shap gives stays as it is."""
        return values if self._trees and self._trees.ensembles else np.round(values, self._decimals) + 0.0

    def _affordable(self, rows: Floats, background: Floats) -> Masks:
        """Rows (n,) of which all coalitions can be tried."""
        if 2 ** rows.shape[1] - 2 <= self._budget:
            return np.ones(len(rows), bool)
        return affordable(rows, background, self._budget)

    def _drawn(self) -> Game:
        """The coalitions for rows of which not all can be tried."""
        if self._game is None:
            self._game = game(self.algorithm, len(self.table.names), self._budget, self.seed)
        return self._game

    def _find_trees(self, algorithm: str) -> "Trees | None":
        plain = not hasattr(self.model, "predict")  # a function of rows is no tree, with or without the package
        if algorithm not in ("auto", "tree") or (algorithm == "auto" and plain):
            return None
        _need_shap()
        try:
            return self._read_trees()
        except BadInput:
            if algorithm == "tree":
                raise
            return None

    def _read_trees(self) -> "Trees":
        if self.output == "label":
            raise BadInput('Trees do not give output="label": use algorithm="permutation" or "kernel".')
        if self.table.categorical.any():
            raise BadInput('shap reads trees over numbers only, not over categories: use algorithm="permutation".')
        trees = Trees.read(self.model, self.background, self._known, self._margins(), self._classes)
        some, known = self.background[:_CHECKED], self._known[:_CHECKED]
        gains = (known - self.expected_value)[:, self._classes]
        off = self._is_off(trees, trees.probes(self._whole_row()).finite()).any()
        off = off or self._misread(trees, self.background, self._known, self.table).any()
        if off or is_off(trees.values(some).sum(axis=1), gains, self._scale).any():
            raise self._misreading()
        return trees

    def _margins(self) -> Floats | None:
        """The margins of the background, of which the trees are sums; None where the model does not give them."""
        if chosen_output(self.model, None) == "margin":
            return outputs_of(self.model, "margin", self.table.decode(self.background))
        return None

    def _misread(self, trees: Trees, rows: Floats, full: Floats, table: Table) -> Masks:
        """Rows (n,) to which the trees give other outputs than the model does, or may give to mixtures with others.

        A mixture visits nodes that neither row visits, so what is missing must be read right at every node.
        """
        off = is_off(trees(rows), full, self._scale)
        missing = np.isnan(rows)
        for feature in np.flatnonzero(missing.any(axis=0)).tolist():
            if not self._reads_missing(trees, feature):
                off |= missing[:, feature]
        return off

    def _reads_missing(self, trees: Trees, feature: int) -> bool:
        """Whether the model sends this feature, where it is missing, the way its trees were read."""
        if feature not in self._missing_read:
            rows = trees.probes(self._whole_row()).missing(feature)
            self._missing_read[feature] = not self._is_off(trees, rows).any()
        return self._missing_read[feature]

    def _is_off(self, trees: Trees, rows: Floats) -> Masks:
        """Rows (n,) to which the trees give other outputs than the model does."""
        if not len(rows):
            return np.zeros(0, bool)
        rows = self.table.encode(self.table.decode(rows))  # as its columns can hold them
        return is_off(trees(rows), self._outputs(rows, self.table), self._scale)

    def _whole_row(self) -> Floats:
        """For each feature a value of the background that is not missing."""
        present = ~np.isnan(self.background)
        first = self.background[present.argmax(axis=0), np.arange(self.background.shape[1])]
        return np.where(present.any(axis=0), first, 0.0)

    def _misreading(self) -> BadInput:
        return BadInput(
            f"shap misreads this {type(self.model).__name__}: its trees miss the model's {self.output}. "
            'Use algorithm="permutation".'
        )


def _one_of(word: object, what: str, words: Sequence[str | None]) -> None:
    if word not in words:
        raise BadInput(f"{what} must be one of {', '.join(map(repr, words))}; got {word!r}.")


def _warn_of_time(rows: int) -> None:
    if rows > _LARGE:
        warnings.warn(
            f"A background of {rows:,} rows makes SHAP slow, since time grows with it: draw a hundred of them.",
            stacklevel=3,
        )


def _need_shap() -> None:
    try:
        import shap  # noqa: F401
    except ImportError as problem:
        raise MissingExtra(
            'SHAP of trees needs the shap package: pip install "faithscope[shap]". '
            'algorithm="permutation" and "kernel" work without it.'
        ) from problem


def _computed(class_index: int | str | None, output: str, classes: int) -> list[int]:
    """The classes whose values are computed: those explained, or all where the predicted one is."""
    if output == "label":
        if class_index is not None:
            raise BadInput(f'output="label" explains the label itself: class_index must be None; got {class_index!r}.')
        return [0]
    chosen = chosen_classes(class_index, classes)
    return list(range(classes)) if chosen is None else chosen


def _teller(progress: Progress | None, rows: int, total: int) -> Tell:
    """Tells progress in rows as given, where equal rows are explained once."""
    return lambda done: None if progress is None else progress(total * done // rows, total)


def _of_highest(values: Floats, outputs: Floats) -> Floats:
    """Of values (n, d, classes), those of the class with the highest output: (n, d, 1)."""
    return np.take_along_axis(values, outputs.argmax(axis=1)[:, None, None], axis=2)


def _as_vectors(values: Floats) -> Floats:
    """Values (n, d, classes) as one vector per row, one class after the other."""
    return values.transpose(0, 2, 1).reshape(len(values), values.shape[1] * values.shape[2])


def _names(features: Sequence[str], classes: Sequence[int]) -> list[str]:
    """The names of such vectors; the class is named where there are several."""
    if len(classes) == 1:
        return list(features)
    return [f"{name} | class {one}" for one in classes for name in features]


def _ready(explanation: Any) -> tuple[Floats, Floats]:
    """Values of a shap.Explanation, (n, d) or (n, d, classes), and the outputs they start from."""
    if not type(explanation).__module__.startswith("shap."):
        raise WrongType(f"Shap.read reads a shap.Explanation; got {type(explanation).__name__}.")
    values, base = np.asarray(explanation.values), np.asarray(explanation.base_values)
    if values.ndim == 1 or np.ndim(explanation.data) == 1:
        values, base = values[None], base[None]
    if values.ndim == 3 and values.shape[1] == values.shape[2] and base.shape == values.shape[:1]:
        raise BadInput("These are SHAP interaction values: sum them over their last axis, or explain without.")
    if values.ndim not in (2, 3):
        raise BadInput(f"SHAP values must be rows, features and perhaps classes; got shape {values.shape}.")
    return values, base
