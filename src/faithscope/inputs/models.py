"""Model: the only door to a model, of whatever library; none of these libraries is imported before it is needed.

A model predicts numbers if it is a known regressor; and so does a function, or any model of another kind, that answers
with fractions, or with floats so large that they have none. This is scikit-learn's own rule of targets. A known
classifier predicts labels.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from itertools import chain
from numbers import Integral, Number, Real
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.arrays import is_frame, to_array, to_vector
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_labels, to_predictions
from faithscope.inputs.numbers import to_matrix
from faithscope.inputs.rows import flat_rows, rows_of
from faithscope.inputs.tensors import is_a, known_as

Function = Callable[[Any], Any]
Wanted = Literal["labels", "numbers", "probabilities"]

_XGBOOST = ("reg:", "count:", "survival:")  # how the names of objectives of numbers begin
_PREDICTS = ("predict", "inplace_predict")
_LIGHTGBM = ["regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie"]


@dataclass(frozen=True)
class Model:
    """A model, or a function of rows, that is asked for labels, numbers, probabilities or margins; answers are checked.

    The bound ``predict`` of a model counts as the model.

    Examples
    --------
    >>> Model(lambda rows: [0.25] * len(rows)).probabilities([[1.0], [2.0]]).tolist()
    [[0.75, 0.25], [0.75, 0.25]]
    """

    model: Any

    @cached_property
    def kind(self) -> Literal["regressor", "classifier"] | None:
        """What is known of its predictions: by its tags, the objective of a booster, or its classes.

        scikit-learn's regressors, pipelines and searches have tags, and so have those of XGBoost, LightGBM and
        CatBoost; boosters of XGBoost and LightGBM have an objective.
        """
        owner = owner_of(self.model)
        kind, classes = _estimator_type(owner), getattr(owner, "classes_", None)
        if kind == "regressor" and not isinstance(owner, type):
            return "regressor"
        known = kind == "classifier" or (kind is None and classes is not None and len(classes) > 0)
        return "classifier" if known else None

    @property
    def name(self) -> str:
        """What a sentence calls it: the name of its class, or of a function."""
        owner = owner_of(self.model)
        return str(getattr(owner, "__name__", type(owner).__name__))

    @property
    def classes(self) -> Any:
        """The classes that it lists, or the model whose method it is; None if there are none."""
        return getattr(getattr(self.model, "__self__", self.model), "classes_", None)

    def find(self, wanted: Wanted = "labels") -> Function | None:
        """The function from rows to labels, numbers or probabilities that a model has or is; None if it is no model.

        Of several outputs of a torch module, the highest gives the label; and so does the highest probability of a
        model that has ``predict_proba`` and no ``predict``. Numbers are whatever it predicts.
        """
        model = self.model
        refuse_class(model)
        chances = getattr(model, "predict_proba", None)
        predict = chances if wanted == "probabilities" else getattr(model, "predict", None)
        owner = owner_of(model)
        if is_xgboost_booster(owner) and owner.predict in (model, predict):
            return partial(_booster_answers, owner)
        if is_torch_module(model) and not callable(predict):
            outputs = partial(_module_answers, model)
            return partial(_highest_output, outputs) if wanted == "labels" else outputs
        function = predict if callable(predict) else model if callable(model) else None
        if function is None:
            return partial(_most_probable, model) if wanted == "labels" and callable(chances) else None
        # A pipeline of Hugging Face takes texts as a list alone.
        listed = all(hasattr(model, name) for name in ("task", "tokenizer", "preprocess", "postprocess"))
        return partial(_of_list, function) if listed else function

    @property
    def lacks_predict(self) -> bool:
        """Whether it has probabilities and no predictions of its own."""
        return self.find("numbers") is None and callable(getattr(self.model, "predict_proba", None))

    def function(self, wanted: Wanted = "labels") -> Function:
        """What `find` gives; raises if this is no model."""
        function = self.find(wanted)
        if function is None:
            method = "predict_proba" if wanted == "probabilities" else "predict"
            raise WrongType(f"A model must have {method}, or be a function of rows; got {type(self.model).__name__}.")
        return function

    def labels(self, rows: Any) -> Array:
        """One predicted label per row."""
        predictions = to_predictions(self.function()(rows), part=True)
        same_length(rows=rows_of(rows), predictions=len(predictions))
        return predictions

    def probabilities(self, rows: Any) -> Floats:
        """(n, classes) probabilities; a single column is that of class 1."""
        return of_both_classes(to_outputs(self.function("probabilities")(rows)))

    def gives_numbers(self, answer: Any, checked: bool = False) -> bool:
        """Whether its answer is numbers and not labels: see the rule above; `checked` if `to_labels` gave it."""
        if self.kind is not None:
            return self.kind == "regressor"
        labels = answer if checked else to_labels(answer)
        if labels.dtype == object:
            odd = (label for label in labels if isinstance(label, Number) and not isinstance(label, Integral))
            return any(not isinstance(label, Real | Decimal) or label % 1 != 0 for label in odd)
        return labels.dtype.kind == "f" and bool(((labels != np.floor(labels)) | (np.abs(labels) >= 2**53)).any())

    @property
    def has_margin(self) -> bool:
        """Whether it has a margin beside probabilities: a regression and a function have nothing else."""
        known = not hasattr(self.model, "predict_proba") or hasattr(self.model, "decision_function")
        return known or self._native("margin") is not None

    def outputs(self, output: Literal["margin", "probability", "label"], rows: Any) -> Floats:
        """What it is asked for, as numbers: (n, classes) margins or probabilities, or (n, 1) numbers.

        Of one margin, that of class 1, its negative is that of class 0. The probabilities of a tree or a forest are its
        margin.
        """
        model, name, function = self.model, type(self.model).__name__, self._native(output)
        if output == "label":  # its place among the model's sorted classes, or as it is if it lists no classes
            if name == "Booster":
                raise WrongType("A Booster predicts no labels: pass the classifier around it, or such a function.")
            labels = self.labels(rows)
            if self.classes is not None:
                places = {label: float(place) for place, label in enumerate(np.unique(self.classes).tolist())}
                return np.array([[places[label]] for label in labels.tolist()])
            if labels.dtype.kind not in "biuf":
                raise BadInput(
                    f"The model predicts {labels[0]!r}, which is no number, and it does not list its classes: pass "
                    "the fitted model itself, or a function that gives numbers."
                )
            return labels.astype(np.float64)[:, None]
        if output == "probability":
            if function is None and not hasattr(model, "predict_proba") and hasattr(model, "predict"):
                raise WrongType(f'{name} has no predict_proba: use output="margin" or "label".')
            return Model(function or model).probabilities(rows)
        function = function or getattr(model, "decision_function", None)
        if function is None and not hasattr(model, "predict_proba"):
            function = self.find("numbers")
        elif function is None and (hasattr(model, "tree_") or hasattr(model, "estimators_")):
            function = model.predict_proba
        if not callable(function):
            raise WrongType(f'{name} has no margin: use output="probability", or pass a function of rows.')
        margins = to_outputs(function(rows))
        if margins.shape[1] == 1 and self.kind != "regressor":
            return np.column_stack([-margins, margins])
        return margins

    def _native(self, output: str) -> Function | None:
        """How to ask classifiers and boosters of XGBoost, LightGBM and CatBoost; None if they are asked like others.

        A regression is asked like any other model: its output is explained, whatever the scale of its sums.
        """
        model, margin = self.model, output == "margin"
        last = model[-1] if hasattr(model, "steps") else model  # a pipeline passes options on to its last step
        library, name = known_as(type(last))
        if library == "xgboost" and name == "Booster":
            return partial(model.inplace_predict, predict_type="margin" if margin else "value")
        raw: dict[str, dict[str, Any]] = {
            "xgboost": {"output_margin": True},
            "lightgbm": {"raw_score": margin},
            "catboost": {"prediction_type": "RawFormulaVal" if margin else "Probability"},
        }
        booster = (library, name) in (("lightgbm", "Booster"), ("catboost", "CatBoost"))
        known = library in raw and (booster or (margin and hasattr(last, "predict_proba")))
        return partial(model.predict, **raw[library]) if known else None


def of_both_classes(table: Floats) -> Floats:
    """Probabilities of every class; a single column is that of class 1."""
    return np.column_stack([1 - table[:, 0], table]) if table.shape[1] == 1 else table


def to_outputs(answer: Any) -> Floats:
    """What a model answered as an (n, outputs) table of finite numbers: probabilities, margins or a number per row."""
    array = to_array(answer, "Answers")
    try:
        if np.iscomplexobj(answer):  # whose imaginary part would be lost
            raise TypeError
        table = np.asarray(answer if array is None else array, np.float64)
    except (TypeError, ValueError):
        raise WrongType(
            "The model gave labels instead of probabilities or other numbers: pass predict_proba, a function that "
            'gives numbers, or, to Shap, a fitted classifier with output="label".'
        ) from None
    table = table[:, None] if table.ndim == 1 else table
    finite = bool(np.isfinite(table).all())
    if table.ndim != 2 or not finite:
        wrong = "" if finite else " with infinite or missing numbers"
        raise BadInput(
            "The model must give finite numbers of shape (n_rows,), of one output or class 1, or (n_rows, n_classes); "
            f"got shape {table.shape}{wrong}."
        )
    return table


def refuse_class(thing: Any) -> None:
    """Raise of a class that is handed over in place of its instance."""
    if isinstance(thing, type):
        raise BadInput(f"{thing.__name__} is a class: pass an instance of it, {thing.__name__}(...).")


def _of_list(function: Function, rows: Any) -> Any:
    return function(rows if isinstance(rows, list) else to_vector(rows, "Texts").tolist())


def _highest_output(function: Function, rows: Any) -> Any:
    outputs = function(rows)
    shape = tuple(getattr(outputs, "shape", ()))
    return outputs if len(shape) != 2 or shape[1] == 1 else outputs.argmax(1)


def _most_probable(model: Any, rows: Any) -> Array:
    """The class of the highest probability, of the first if there are several."""
    places = Model(model).probabilities(rows).argmax(axis=1)
    classes = getattr(model, "classes_", None)
    return np.asarray(places if classes is None else np.asarray(classes)[places])


def owner_of(model: Any) -> Any:
    """The model whose bound `predict` or `inplace_predict` this is, or the model itself."""
    return getattr(model, "__self__", model) if getattr(model, "__name__", "") in _PREDICTS else model


def is_xgboost_booster(model: Any) -> bool:
    """Whether a model is a booster of XGBoost, whose `predict` takes nothing but a DMatrix."""
    return is_a(model, "xgboost.core", "Booster")


def is_torch_module(model: Any) -> bool:
    """Whether a model is a torch module, whose type does not tell what it predicts."""
    return is_a(model, "torch.nn.modules.module", "Module")


def _estimator_type(owner: Any) -> Any:
    """What scikit-learn, XGBoost, LightGBM and CatBoost call the type of an estimator; None if it does not tell."""
    library, name = known_as(type(owner))
    try:
        if (library, name) == ("xgboost", "Booster"):
            objective = json.loads(owner.save_config())["learner"]["objective"]["name"]
            return "regressor" if str(objective).startswith(_XGBOOST) else None
        if (library, name) == ("lightgbm", "Booster"):
            objective = str(owner.dump_model(num_iteration=1)["objective"]).split()[0]
            return "regressor" if objective in _LIGHTGBM else None
        return owner.__sklearn_tags__().estimator_type
    except Exception:  # no estimator, one of a library that is older than tags, or a booster not trained yet
        return getattr(owner, "_estimator_type", None)


def _module_answers(module: Any, rows: Any) -> Any:
    """What a torch module answers for rows; tables and arrays become tensors.

    The module answers in evaluation mode, without gradients, and is afterwards as it was before.
    """
    import torch

    before = [(part, part.training) for part in module.modules()]
    for part, _ in before:
        part.training = False
    try:
        with torch.no_grad():
            outputs = module(_to_tensor(module, rows))
    finally:
        for part, training in before:
            part.training = training
    if not torch.is_tensor(outputs):
        return outputs
    return (outputs.float() if outputs.dtype == torch.bfloat16 else outputs).cpu()


def _booster_answers(booster: Any, rows: Any) -> Any:
    """What a booster of XGBoost answers for rows, which become a DMatrix."""
    import xgboost

    table = np.asarray(rows) if isinstance(rows, list) else rows
    names = None if is_frame(table) else booster.feature_names  # rows without names have those it was fitted with
    return booster.predict(xgboost.DMatrix(table, feature_names=names, enable_categorical=True))


def _to_tensor(module: Any, rows: Any) -> Any:
    """Numbers, with the precision and on the device of the module's own; whole numbers of a tensor stay whole."""
    import torch

    own = chain(module.parameters(), module.buffers())
    like = next((tensor for tensor in own if tensor.is_floating_point()), torch.empty(0))
    if torch.is_tensor(rows):
        return rows.detach().to(like.device, like.dtype if rows.is_floating_point() else rows.dtype)
    flat, axes = flat_rows(rows)  # images stay images
    numbers = to_matrix(flat, "Rows")[0]
    numbers = numbers if axes is None else numbers.reshape(-1, *axes)
    return torch.as_tensor(numbers, dtype=like.dtype, device=like.device)


def rows_of_its_own(X: Any) -> Any:
    """A copy of the rows, so that code that changes its input in place changes no other numbers.

    The copy has the same memory layout, so that sums round alike. Rows that cannot be changed, or whose type is not
    known here, are handed over as they are.
    """
    if isinstance(X, np.ndarray):
        return X.copy(order="K")
    if type(X) is list:
        return [row.copy() if isinstance(row, list | np.ndarray) else row for row in X]
    copied = getattr(X, "copy", getattr(X, "clone", None))
    return copied() if callable(copied) else X


def framed(phase: str, start: int, rows: int, total: int) -> AbstractContextManager[None]:
    """Add a note to an error of the caller's own code: in which phase and on which rows. The error stays what it is."""
    return noting(f"Raised while {phase}, on rows {start:,} to {start + rows - 1:,} of {total:,} (counted from 0).")


@contextmanager
def noting(note: str) -> Iterator[None]:
    """Add a note to an error of the caller's own code. The error stays what it is."""
    try:
        yield
    except Exception as error:
        if note not in getattr(error, "__notes__", ()):
            with suppress(Exception):  # an error may refuse to be changed
                error.add_note(note)
        raise
