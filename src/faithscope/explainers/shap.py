"""SHAP: how far each feature moves the model's output from its mean over a background."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, log10
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers.coalitions import Tell, game
from faithscope.explainers.manners import Mannered
from faithscope.explainers.models import PREDICTED, Progress, chosen_classes, to_predict, to_proba
from faithscope.explainers.shap_trees import Trees
from faithscope.explainers.table import Table, columns_with_names
from faithscope.explanations.importances import Importances
from faithscope.explanations.inputs import check_whole
from faithscope.memory import in_memory, need

Floats = NDArray[np.float64]

_LARGE = 1_000  # background rows above which explaining is slow
_WRONG = 1e-4  # a share of the largest output: boosters in single precision miss by 1e-6, a model misread by far more


class Shap(Mannered):
    """SHAP values: exact for trees and for few features, sampled otherwise.

    The values of a row sum to ``f(x) - mean f(background)``, so equal explanations mean equal outputs (paper, section
    3.2.2). Coalitions are drawn once from the seed and are the same for every row, so a row's values do not depend on
    its batch. Rows that are equal get values that are equal to the last bit.

    Parameters
    ----------
    model : model or function of rows
        Anything with ``predict_proba``, ``decision_function`` or ``predict``, or a function that gives the output.
    X_background : (b, d) array or table, none missing
        What a feature that is left out is replaced with. Every row is used and time grows with them: one is enough, a
        hundred is usual. The model is asked about rows of the same kind (array, pandas, polars or Arrow).
    output : {"probability", "margin", "label"}
        What is explained. The margin is ``decision_function``, a booster's raw score, a regression's output, or what a
        function gives; a forest, whose trees vote with probabilities, has no other margin than these. The label is
        explained as a number: its place among the sorted classes of the model, or the number that a function gives.
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; of more, every class, one vector after the other. A single margin is
        that of class 1, and class 0 has its negative. The predicted class is the one of highest output.
    algorithm : {"auto", "tree", "permutation", "kernel"}
        ``"tree"`` is interventional tree SHAP by the package ``shap``. ``"auto"`` takes it where shap can read the
        model and gets its output right, else ``"permutation"``; the attribute says which. These two need no package.
    evaluations : int, optional
        Coalitions of features tried for each row, each on the whole background. By default 20 a feature for
        permutations (ten of them, and their reverses), and 2,048 and 2 a feature for the kernel. Where it allows all
        coalitions, values are exact.
    seed : int

    Attributes
    ----------
    expected_value : (outputs,) array
        The mean output over the background, for every class.

    Examples
    --------
    >>> product = Shap(lambda X: X[:, 0] * X[:, 1], [[0.0, 0.0]], output="margin", algorithm="permutation")
    >>> product.explain([[2.0, 3.0], [2.0, 0.0]]).values.tolist()
    [[3.0, 3.0], [0.0, 0.0]]
    """

    def __init__(
        self,
        model: Any,
        X_background: Any,
        *,
        output: Literal["probability", "margin", "label"] = "probability",
        class_index: int | str | None = None,
        algorithm: Literal["auto", "tree", "permutation", "kernel"] = "auto",
        evaluations: int | None = None,
        seed: int = 0,
    ) -> None:
        _one_of(output, "output", ("probability", "margin", "label"))
        _one_of(algorithm, "algorithm", ("auto", "tree", "permutation", "kernel"))
        self.model, self.output, self.class_index = model, output, class_index
        self.evaluations, self.seed = evaluations, check_whole(seed, "seed", least=0)
        self.X_background = X_background
        self.table = Table.learn(X_background)
        self.background = self.table.encode(X_background)
        _warn_of_time(len(self.background))
        known = self._outputs(self.background, self.table)
        self.expected_value: Floats = known.mean(axis=0)
        self._classes = _computed(class_index, output, known.shape[1])
        trees = self._find_trees(known, algorithm)
        self.algorithm = "tree" if trees else "permutation" if algorithm == "auto" else algorithm
        self._method = trees or game(self.algorithm, len(self.table.names), evaluations, self.seed)
        self._decimals = 12 - ceil(log10(np.abs(known).max() or 1.0))

    def __fingerprint__(self) -> tuple[Any, ...]:
        """What its answers depend on; what shap makes of trees has bytes that mean nothing."""
        return self.model, self.background, self.table, repr(self)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One value a feature for each row; of several classes one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            None missing. A category that the background does not have is fine where the model knows it.
        progress : callable, optional
            Called with rows done and rows in all, after every part of them.
        """
        if self.class_index == "predicted":
            warnings.warn(PREDICTED, stacklevel=2)
        table = _widened(self.table, X)
        rows, place = np.unique(table.encode(X) + 0.0, axis=0, return_inverse=True)  # equal rows are explained once
        _refuse_lost(table)
        place = place.reshape(-1)
        full = self._outputs(rows, table) if len(rows) else np.empty((0, len(self.expected_value)))
        values = self._values(rows, full, table, _teller(progress, len(rows), len(place)))
        if self.class_index == "predicted":
            values = _of_highest(values, full)
        return _importances(values[place], self._classes, self.table.names)

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
        return _importances(values, classes, [f"x{j}" for j in range(values.shape[1])] if names is None else names)

    def _outputs(self, rows: Floats, table: Table) -> Floats:
        """What the model gives for encoded rows: (n, outputs)."""
        found = _outputs(self.model, self.output, table.decode(rows))
        if len(found) != len(rows):
            raise BadInput(f"The model gave {len(found):,} outputs for {len(rows):,} rows: one a row is needed.")
        return found

    @in_memory("explain fewer rows at a time, or use a smaller background")
    def _values(self, rows: Floats, full: Floats, table: Table, tell: Tell) -> Floats:
        """SHAP values of the classes computed, (n, d, classes); full holds the model's outputs for the rows."""
        chosen, start = self._classes, self.expected_value[self._classes]
        many = f"SHAP values of {len(rows):,} rows, {rows.shape[1]:,} features and {len(chosen):,} classes"
        need(24 * rows.size * len(chosen), many, "explain fewer rows at a time, or choose a class")
        gains = full[:, chosen] - start
        if isinstance(self._method, Trees):
            values = self._method.values(rows, tell)
            self._refuse_wrong_sums(values, gains)
            return values

        def ask(masked: Floats) -> Floats:
            return self._outputs(masked, table)[:, chosen] - start

        values = self._method.values(rows, gains, self.background, ask, tell)
        return np.round(values, self._decimals) + 0.0  # what is 0 but for rounding has no sign

    def _find_trees(self, known: Floats, algorithm: str) -> "Trees | None":
        plain = not hasattr(self.model, "predict")  # a function of rows is no tree, with or without the package
        if algorithm not in ("auto", "tree") or (algorithm == "auto" and plain):
            return None
        _need_shap()
        try:
            return self._read_trees(known)
        except BadInput:
            if algorithm == "tree":
                raise
            return None

    def _read_trees(self, known: Floats) -> "Trees":
        if self.output == "label":
            raise BadInput('Trees do not give output="label": use algorithm="permutation" or "kernel".')
        if self.table.categorical.any():
            raise BadInput('shap reads trees over numbers only, not over categories: use algorithm="permutation".')
        trees = Trees.read(self.model, self.output, self.background, known.shape[1], self._classes)
        gains = (known - self.expected_value)[:20, self._classes]
        self._refuse_wrong_sums(trees.values(self.background[:20]), gains)
        return trees

    def _refuse_wrong_sums(self, values: Floats, gains: Floats) -> None:
        """Raise where values do not sum to the model's output: shap does not read every model right."""
        off = np.abs(values.sum(axis=1) - gains).max(initial=0.0)
        if off > _WRONG * max(np.abs(gains).max(initial=0.0), np.abs(self.expected_value).max()):
            raise BadInput(
                f"shap misreads this {type(self.model).__name__}: its values miss the model's {self.output} by "
                f'{off:.2g}. Use algorithm="permutation".'
            )


def _one_of(word: object, what: str, words: Sequence[str]) -> None:
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


def _widened(table: Table, X: Any) -> Table:
    """The table, knowing also the categories that only these rows have: the model may know them."""
    if not table.categorical.any():
        return table
    given = dict(zip(*columns_with_names(X), strict=True))
    categories = tuple(
        known if known is None or name not in given else tuple(dict.fromkeys([*known, *given[name].tolist()]))
        for name, known in zip(table.names, table.categories, strict=True)
    )
    return replace(table, categories=categories)


def _refuse_lost(table: Table) -> None:
    """Raise where a category does not survive decoding: a column of pandas categories turns others into NaN."""
    sizes = [0 if known is None else len(known) for known in table.categories]
    every = np.column_stack([np.arange(max(sizes)) % max(size, 1) for size in sizes]).astype(np.float64)
    try:
        with warnings.catch_warnings(action="ignore"):  # pandas warns, and will raise
            table.encode(table.decode(every))
    except Exception as problem:  # every library has an error of its own
        raise BadInput(
            f"The background's columns cannot hold every category of these rows ({problem}) "
            "Give them the same categories, or plain strings."
        ) from problem


def _of_highest(values: Floats, outputs: Floats) -> Floats:
    """Of values (n, d, classes), those of the class with the highest output: (n, d, 1)."""
    return np.take_along_axis(values, outputs.argmax(axis=1)[:, None, None], axis=2)


def _importances(values: Floats, classes: Sequence[int], names: Sequence[str]) -> Importances:
    """Values (n, d, classes) as one vector a row, one class after the other."""
    if values.shape[2] > 1:
        names = [f"{name} | class {one}" for one in classes for name in names]
    return Importances(values.transpose(0, 2, 1).reshape(len(values), len(names)), names)


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


def _outputs(model: Any, output: str, rows: Any) -> Floats:
    """What is explained of a model: (n, classes) probabilities or margins, or (n, 1) labels as numbers."""
    if output == "label":
        if type(model).__name__ == "Booster":
            raise WrongType("A Booster predicts no labels: pass the classifier around it, or a function that does.")
        return _label_numbers(model, to_predict(model)(rows))
    native = _native(model, output)
    if output == "probability":
        if native is None and not hasattr(model, "predict_proba") and hasattr(model, "predict"):
            raise WrongType(f'{type(model).__name__} has no predict_proba: use output="margin" or "label".')
        return to_proba(native or model)(rows)
    found = np.asarray((native or _margin(model))(rows), np.float64)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    found = np.column_stack([-found, found]) if found.ndim == 1 else found
    if found.ndim != 2 or not np.isfinite(found).all():
        raise BadInput(f"The model must give finite margins, one row a row; got shape {found.shape}.")
    return found


def _native(model: Any, output: str) -> Callable[[Any], Any] | None:
    """How XGBoost and LightGBM are asked, where that differs from other models."""
    library, booster = type(model).__module__.partition(".")[0], type(model).__name__ == "Booster"
    if library == "xgboost" and booster:
        return partial(model.inplace_predict, predict_type="margin" if output == "margin" else "value")
    if library == "xgboost" and output == "margin":
        return partial(model.predict, output_margin=True)
    if library == "lightgbm" and (booster or output == "margin"):
        return partial(model.predict, raw_score=output == "margin")
    return None


def _margin(model: Any) -> Callable[[Any], Any]:
    """The function that gives a model's margin; a tree's or a forest's probabilities are its margin."""
    if hasattr(model, "decision_function"):
        found = model.decision_function
    elif hasattr(model, "predict_proba"):
        found = model.predict_proba if hasattr(model, "tree_") or hasattr(model, "estimators_") else None
    else:
        found = getattr(model, "predict", model)
    if not callable(found):
        raise WrongType(f'{type(model).__name__} has no margin: use output="probability", or pass a function of rows.')
    return found  # type: ignore[no-any-return]


def _label_numbers(model: Any, labels: NDArray[Any]) -> Floats:
    """Labels as numbers: their place among the model's sorted classes, or as they are where it names none."""
    classes = getattr(getattr(model, "__self__", model), "classes_", None)
    if classes is None:
        if labels.dtype.kind not in "biuf":
            raise BadInput(
                f"The model predicts {labels[0]!r}, which is no number, and does not say which classes there are: pass "
                "the fitted model itself, or a function that gives numbers."
            )
        return labels.astype(np.float64)[:, None]
    places = {label: place for place, label in enumerate(np.unique(classes).tolist())}
    found, which = np.unique(labels, return_inverse=True)
    return np.array([places[label] for label in found.tolist()], np.float64)[which.reshape(-1), None]
