"""The outputs that LIME explains: probabilities of every class, or the one number of a regression."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.arrays import Floats
from faithscope.explainers.shared.models import is_classifier, is_regressor, of_both_classes, predict_of, to_outputs
from faithscope.inputs.models import probability_function

Mode = Literal["classification", "regression"]

_ROUNDING = 1e-6  # by which a probability in single precision may leave [0, 1]
_SUM = 1e-3  # by which probabilities in half precision may miss 1 in sum
_LOGITS = "the module's outputs were taken for logits, and their softmax (of one logit the sigmoid) was explained"


@dataclass(frozen=True, eq=False)
class AskedModel:
    """A model that is asked for probabilities or for numbers.

    Attributes
    ----------
    ask : function
        From rows to the model's answer.
    mode : {"classification", "regression"} or None
        None: the answer tells which.
    class_index : int, "predicted" or None
    logits : bool
        Whether answers are logits, which are explained as the probabilities that they stand for.
    """

    ask: Callable[[Any], Any]
    mode: Mode | None
    class_index: int | str | None
    logits: bool = False

    @classmethod
    def of(cls, model: Any, mode: Mode | None, class_index: int | str | None) -> "AskedModel":
        """What a caller hands over; raises if a regression is asked for a class."""
        if mode is None and is_regressor(model):
            mode = "regression"
        if mode is None and _gives_classes(model):
            mode = "classification"
        if mode == "regression":
            _refuse_class(class_index)
        return cls(
            predict_of(model, numbers=True) if mode == "regression" else _predict_proba_of(model), mode, class_index
        )

    def of_module(self, rows: Any) -> "AskedModel":
        """The same, for a torch module, which answers these rows with logits unless its classes sum to 1."""
        outputs = to_outputs(self.ask(rows))
        if outputs.shape[1] == 1:
            of_classes = self.mode == "classification" or (self.mode is None and self.class_index is not None)
            return replace(self, logits=of_classes and _outside(outputs).size > 0)
        uneven = bool((np.abs(outputs.sum(axis=1) - 1) > _SUM).any())
        return replace(self, logits=self.mode != "regression" and (uneven or _outside(outputs).size > 0))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know about the outputs."""
        return (_LOGITS,) if self.logits else ()

    def outputs(self, blocks: Iterable[Any], count: int) -> Floats:
        """The outputs for so many rows, in blocks: (n, classes) probabilities, or (n, 1) numbers."""
        outputs = np.concatenate([to_outputs(self.ask(rows)) for rows in blocks])
        if self.logits:
            outputs = _probabilities(outputs)
        if len(outputs) != count:
            raise BadInput(f"The model gave {len(outputs):,} outputs for {count:,} rows: it must give one per row.")
        if self.mode == "regression" or (self.mode is None and _are_numbers(outputs)):
            return self._numbers(outputs)
        _refuse_labels(outputs)
        return of_both_classes(outputs)

    def _numbers(self, outputs: Floats) -> Floats:
        _refuse_class(self.class_index)
        if outputs.shape[1] != 1:
            raise BadInput(
                f"The regression mode explains one number per row, and the model gave {outputs.shape[1]}: pass a "
                "function that gives one of them."
            )
        return outputs


def _probabilities(logits: Floats) -> Floats:
    """Softmax over classes; the sigmoid of a single logit."""
    if logits.shape[1] == 1:
        logits = np.column_stack([np.zeros(len(logits)), logits])
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _gives_classes(model: Any) -> bool:
    """Whether a model has probabilities, or this is a method of a classifier."""
    return hasattr(model, "predict_proba") or is_classifier(getattr(model, "__self__", model))


def _predict_proba_of(model: Any) -> Callable[[Any], Any]:
    try:
        return probability_function(model)
    except WrongType as error:
        raise WrongType(f'{error} If its predict gives numbers, pass mode="regression".') from None


def _are_numbers(outputs: Floats) -> bool:
    """Whether a single output is no probability, and no label either, since it takes fractions."""
    return outputs.shape[1] == 1 and _outside(outputs).size > 0 and bool((outputs != np.floor(outputs)).any())


def _outside(outputs: Floats) -> Floats:
    """Outputs that are no probabilities."""
    return outputs[(outputs < -_ROUNDING) | (outputs > 1 + _ROUNDING)]


def _refuse_class(class_index: int | str | None) -> None:
    if class_index is not None:
        raise BadInput(f"A regression has one output and no classes: class_index must be None; got {class_index!r}.")


def _refuse_labels(probabilities: Floats) -> None:
    outside = _outside(probabilities)
    if outside.size:
        raise BadInput(
            f"The model gave {outside.max():g}, which is no probability from 0 to 1: it seems to give labels or "
            "scores. Pass predict_proba, or a function from rows to probabilities; numbers of a regression are "
            'explained with mode="regression".'
        )
