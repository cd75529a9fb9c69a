"""Models as functions of rows, whatever library they are of; none of these libraries is imported."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.arrays import is_row, to_array, to_vector
from faithscope.inputs.modules import booster_function, module_function
from faithscope.inputs.regressors import is_torch_module, is_xgboost_booster, owner_of

Function = Callable[[Any], Any]


def label_function(model: Any) -> Function | None:
    """The function from rows to labels that a model has or is; None for ready predictions.

    Of several outputs of a torch module, the highest gives the label; and so does the highest probability of a model
    that has ``predict_proba`` and no ``predict``.
    """
    if is_torch_module(model) and not callable(getattr(model, "predict", None)):
        return partial(_highest_output, module_function(model))
    function = number_function(model)
    if function is None and callable(getattr(model, "predict_proba", None)):
        return partial(_most_probable, model)
    return function


def number_function(model: Any) -> Function | None:
    """The function from rows to whatever a model predicts; None for ready predictions."""
    owner, predict = owner_of(model), getattr(model, "predict", None)
    if is_xgboost_booster(owner) and owner.predict in (model, predict):
        return booster_function(owner)
    if callable(predict):
        return partial(_of_list, predict) if _takes_lists(model) else predict
    if is_torch_module(model):
        return module_function(model)
    if not callable(model):
        return None
    return partial(_of_list, model) if _takes_lists(model) else model


def probability_function(model: Any) -> Function:
    """The function from rows to probabilities that a model has, or is itself."""
    function = getattr(model, "predict_proba", None)
    if function is None and is_torch_module(model):
        return module_function(model)
    function = model if function is None else function
    if not callable(function):
        raise WrongType(f"A model must have predict_proba, or be a function of rows; got {type(model).__name__}.")
    return function  # type: ignore[no-any-return]


def lacks_predict(model: Any) -> bool:
    """Whether a model has probabilities and no predictions of its own."""
    return number_function(model) is None and callable(getattr(model, "predict_proba", None))


def _takes_lists(model: Any) -> bool:
    """Whether this is a pipeline of Hugging Face, which takes texts as a list alone."""
    return all(hasattr(model, name) for name in ("task", "tokenizer", "preprocess", "postprocess"))


def _of_list(function: Function, rows: Any) -> Any:
    return function(rows if isinstance(rows, list) else to_vector(rows, "Texts").tolist())


def _highest_output(function: Function, rows: Any) -> Any:
    outputs = function(rows)
    shape = tuple(getattr(outputs, "shape", ()))
    return outputs if len(shape) != 2 or shape[1] == 1 else outputs.argmax(1)


def _most_probable(model: Any, rows: Any) -> NDArray[Any]:
    """The class of the highest probability, of the first if there are several."""
    answer = model.predict_proba(rows)
    chances = to_array(np.array(answer) if isinstance(answer, list) and answer and is_row(answer[0]) else answer, "")
    if chances is None or chances.ndim != 2 or not chances.shape[1]:
        raise BadInput(
            f"{type(model).__name__} has no predict, and its predict_proba does not give a table (n_rows, n_classes): "
            "pass a function from rows to labels."
        )
    places = chances.argmax(axis=1)
    classes = getattr(model, "classes_", None)
    labels: NDArray[Any] = places if classes is None else np.asarray(classes)[places]
    return labels
