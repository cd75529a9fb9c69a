"""Counterfactuals by the dice-ml package, for models of scikit-learn's kind."""

import io
import random
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers.base import Progress
from faithscope.explainers.counterfactual import FlippingExplainer
from faithscope.explainers.space import Space
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import check_word
from faithscope.inputs.models import Model
from faithscope.inputs.seeds import check_seed, row_seeds
from faithscope.readers.dice import frame_of

_METHODS = ("random", "genetic", "kdtree")
_OUTCOME = "outcome"


@dataclass(frozen=True, eq=False, repr=False)
class Dice(FlippingExplainer):
    """Explains a row by a counterfactual of dice-ml's, kept only if the model really predicts otherwise.

    dice-ml aims at the class that is second most probable for the row: of two classes, the opposite one. It works row
    by row and asks the model about a thousand samples per row, so expect about one second per row.
    It knows no missing numbers, which are refused. It sees a category that no training row has as the commonest one; if
    it leaves such a value unchanged, the row's own is put back.

    Parameters
    ----------
    model : fitted classifier
        With ``predict`` and ``predict_proba``. `Counterfactual` explains regressors.
    X_train : (m, d) array or table
        Known rows, as the model reads them.
    method : str
        "random", "genetic" or "kdtree", which dice-ml explains.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold neither numbers nor dates are categories in any case.
    seed : int
        The random numbers of a row depend on this seed and the row's values, not on the other rows.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rows = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 7.0], [5.0, 6.0]])
    >>> Dice(LogisticRegression().fit(rows, [0, 0, 1, 1]), rows, seed=1)
    Dice(model=LogisticRegression, X_train=(4, 2), method='random', categorical=(), seed=1)
    """

    _why_none = "dice-ml gives none by this method"

    model: Any
    X_train: Any
    _: KW_ONLY
    method: str = "random"
    categorical: Iterable[int | str] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        check_word(self.method, "method", _METHODS)
        check_seed(self.seed)
        if not (hasattr(self.model, "predict") and hasattr(self.model, "predict_proba")):
            raise WrongType(
                f"Dice flips the classes of a model with predict and predict_proba; got {type(self.model).__name__}: "
                "of one that predicts numbers, use Counterfactual(model, X_train, agreement=fs.Tolerance(eps))."
            )

    def _flipped(self, rows: Floats, table: Space, progress: Progress | None) -> tuple[Floats, Ints]:
        known, model = self._learned[1], Model(self.model)
        for each in (known, rows):
            _refuse_strange(each, table)
        coded, familiar = _Coded(self.model, table), rows.copy()
        for j in np.flatnonzero(table.categorical):  # the commonest stands for a category that no known row has
            strange = ~np.isin(rows[:, j], known[:, j])
            familiar[strange, j] = np.bincount(known[:, j].astype(np.int64)).argmax()
        chances = model.probabilities(table.decode(rows)) if len(rows) else np.empty((0, 0))
        if chances.shape[1] < 2:  # no row, or no other class
            return rows[:0], np.empty(0, np.int64)
        try:
            import dice_ml
        except ImportError as problem:
            raise MissingExtra('Dice needs the dice-ml package: pip install "faithscope[dice]".') from problem
        with _quiet(self.seed):
            training = coded.frame(known)
            numbers = [coded.names[j] for j in np.flatnonzero(~table.categorical)]
            decimals = {name: _decimals(training[name].to_numpy()) for name in numbers}
            training[_OUTCOME] = coded.predict(training)
            data = dice_ml.Data(
                dataframe=training,
                continuous_features=numbers,
                outcome_name=_OUTCOME,
                continuous_features_precision=decimals,
            )
            explainer = dice_ml.Dice(data, dice_ml.Model(model=coded, backend="sklearn"), method=self.method)
        frame = coded.frame(familiar)
        wanted = np.argsort(-chances, axis=1, kind="stable")[:, 1].tolist()
        points, flipped = rows.copy(), np.zeros(len(rows), bool)
        for row, seed in enumerate(row_seeds(self.seed, table.alike(rows))):
            with _quiet(seed):
                example = _found(explainer, frame.iloc[[row]], wanted[row])
            if example is not None:
                point, flipped[row] = coded.matrix(example)[0], True
                points[row] = np.where(point != familiar[row], point, rows[row])
            if progress is not None:
                progress(row + 1, len(rows))
        if flipped.any():
            before, after = (model.labels(table.decode(each[flipped])) for each in (rows, points))
            flipped[flipped] = before != after
        return points[flipped], np.flatnonzero(flipped)


@dataclass(frozen=True, eq=False)
class _Coded:
    """The model as dice-ml reads it: from a frame of numbers and of codes of categories to positions of classes."""

    model: Any
    table: Space

    @property
    def names(self) -> list[str]:
        """Names of dice-ml's columns, of equal length: it confuses a name with a longer one that begins with it."""
        return [f"feature{j:06}" for j in range(len(self.table.names))]

    def frame(self, matrix: Floats) -> Any:
        """Rows for dice-ml: floats, integers, and codes as text."""
        import pandas as pd

        kinds = zip(self.names, matrix.T, self.table.categorical, self.table.integral, strict=True)
        return pd.DataFrame(
            {
                name: column.astype(int).astype(str if coded else int) if coded or whole else column
                for name, column, coded, whole in kinds
            }
        )

    def matrix(self, frame: Any) -> Floats:
        """The matrix of rows that come from dice-ml."""
        return np.column_stack([frame[name].astype(float).to_numpy() for name in self.names])

    def predict_proba(self, frame: Any) -> Floats:
        return Model(self.model).probabilities(self.table.decode(self.matrix(frame)))

    def predict(self, frame: Any) -> Ints:
        return np.asarray(self.predict_proba(frame).argmax(axis=1), np.int64)


def _refuse_strange(rows: Floats, table: Space) -> None:
    """Raise of numbers that dice-ml cannot draw."""
    for name, column, coded, whole in zip(table.names, rows.T, table.categorical, table.integral, strict=True):
        missing = bool(np.isnan(column).any())
        if missing or (whole and not coded and np.abs(column).max(initial=0) >= 2**31):
            told = "missing values" if missing else "whole numbers, or dates as such, beyond 32 bits"
            raise BadInput(
                f"Column {name!r} holds {told}, which dice-ml cannot draw: change or drop it, or use "
                "Counterfactual(model, X_train)."
            )


def _decimals(column: Array) -> int:
    """Decimals of the most frequent values, as dice-ml counts them; its own count fails if a value is written 1e-05."""
    if column.dtype.kind != "f":
        return 0
    values, counts = np.unique(column.astype(np.float32), return_counts=True)
    modes = values[counts == counts.max()]
    return max(len(np.format_float_positional(mode, trim="0").split(".")[1]) for mode in modes)


def _found(explainer: Any, row: Any, wanted: int) -> Any:
    """The counterfactual of a row as a frame of one row; None if dice-ml finds none."""
    from dice_ml.dice import UserConfigValidationException

    try:
        example = explainer.generate_counterfactuals(row, total_CFs=1, desired_class=wanted).cf_examples_list[0]
    except UserConfigValidationException as problem:
        if "No counterfactuals found" in str(problem):
            return None
        raise
    return frame_of(example)


@contextmanager
def _quiet(seed: int) -> Iterator[None]:
    """Silence progress bars and warnings, and seed the global generators, from which dice-ml draws; for a while.

    With dice-ml's own random_seed every feature would draw the same numbers.
    """
    before, numpy_before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    silent = warnings.catch_warnings(action="ignore")
    try:
        with silent, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # noqa: NPY002
