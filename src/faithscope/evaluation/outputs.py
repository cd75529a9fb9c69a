"""Output: what a model is asked for, its labels or its probabilities, and how its answers are read."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from faithscope.agreements import Agreement, Same, Spread, column_notes, to_agreement
from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import to_array
from faithscope.inputs.checks import check_word
from faithscope.inputs.labels import to_number_predictions, to_predictions
from faithscope.inputs.models import Model, is_torch_module
from faithscope.sample import Sample

OUTPUTS = ("label", "probability")
_HIGHEST = "a torch module with several outputs predicts the position of the highest"
_MOST_PROBABLE = "predictions are the most probable classes (predict_proba), since the model has no predict"


@dataclass(frozen=True)
class Output:
    """What a model is asked for, and how its answers are read.

    Attributes
    ----------
    method : {"predict", "predict_proba"}
        The method that is called.
    agreement : Agreement
        How much two predictions agree.
    notes : tuple of str
        What a reader should know about this choice.
    undecided : bool
        Whether the answers decide if they are labels or numbers: those of a torch module.
    second : str
        What class 1 is called, for agreements that compare one number per row.
    """

    method: str = "predict"
    agreement: Agreement = field(default_factory=Same)
    notes: tuple[str, ...] = ()
    undecided: bool = False
    second: str = "1"

    @classmethod
    def of(cls, model: Any, agreement: Any, output: Any = None) -> "Output":
        """What a caller asks for; a known regressor is measured by `Spread` unless the caller says otherwise.

        Parameters
        ----------
        agreement : Agreement, callable, str or None
        output : {"label", "probability"}, optional
        """
        check_word(output, "output", OUTPUTS, optional=True)
        name, chosen, asked = type(model).__name__, to_agreement(agreement), Model(model)
        if output == "probability":
            if not callable(getattr(model, "predict_proba", None)):
                raise BadInput(
                    f"output='probability' asks a model for predict_proba, which {name} does not have: leave output "
                    "out, and pass agreement=fs.Spread() with the probabilities, or a function that gives them."
                )
            chosen = Spread() if agreement is None else chosen
            if not chosen.of_numbers:
                raise BadInput(
                    f"agreement={chosen} compares labels, and output='probability' asks for numbers: pass "
                    "output='label', or agreement=fs.Spread()."
                )
            told = "class probabilities (predict_proba)"
            note = _measured(told) if agreement is None else f"predictions are {told}"
            classes = getattr(model, "classes_", ())
            second = repr(np.asarray(classes).tolist()[1]) if len(classes) == 2 else "1"
            return cls("predict_proba", chosen, (note,), second=second)
        if asked.lacks_predict:
            if chosen.of_numbers:
                raise BadInput(
                    f"{name} has predict_proba and no predict, and agreement={chosen} compares numbers: pass "
                    "output='probability' too."
                )
            return cls(agreement=chosen, notes=(_MOST_PROBABLE,))
        if agreement is not None or output == "label":
            if not chosen.of_numbers or asked.kind != "classifier":
                return cls(agreement=chosen)
            more = ": output='probability' compares its probabilities" if hasattr(model, "predict_proba") else ""
            codes = f"predictions are class labels of a classifier ({asked.name}), measured as numbers{more}"
            return cls(agreement=chosen, notes=(codes,))
        if asked.kind == "regressor":
            return cls(agreement=Spread(), notes=(_measured(f"numbers of a regressor ({asked.name})"),))
        return cls(undecided=is_torch_module(model))

    def function(self, model: Any) -> Callable[[Any], Any] | None:
        """The function from rows to what is asked for; None for ready predictions."""
        if self.method == "predict_proba":
            return Model(model).function("probabilities")
        return Model(model).find("numbers" if self.agreement.of_numbers else "labels")

    @property
    def kind(self) -> str:
        """The word for its answers in the cache: answers of one kind are never taken for those of another."""
        if self.method == "predict_proba":
            return "probabilities"
        return "answers" if self.undecided else "numbers" if self.agreement.of_numbers else "predictions"

    def check(self, answers: Any) -> Array:
        """A model's answers as an array, whatever the agreement of numbers: labels, or floats (n,) or (n, k)."""
        if self.agreement.of_numbers or (self.undecided and _one_number_per_row(answers)):
            return to_number_predictions(answers, type(self.agreement).__name__, vectors=True)
        return to_predictions(answers)

    def settled(self, answers: Array) -> "Output":
        """The same, after looking at the answers of a torch module."""
        if not self.undecided:
            return self
        numbers = _one_number_per_row(answers)
        positions = (_HIGHEST,) if answers.dtype.kind == "i" else ()
        notes = (_measured("numbers of a torch module"),) if numbers else positions
        return replace(self, agreement=Spread() if numbers else Same(), notes=notes, undecided=False)

    def read(self, answers: Array) -> Array:
        """Answers that were checked, as the agreement compares them."""
        if self.method == "predict_proba" and not isinstance(self.agreement, Spread) and answers.ndim == 2:
            if answers.shape[1] != 2:
                raise BadInput(
                    f"{self.agreement} compares one number per row, and predict_proba gives {answers.shape[1]}, one "
                    "per class: pass a function of one class, lambda X: model.predict_proba(X)[:, 1], without output=; "
                    "or agreement=fs.Spread(), which adds up classes."
                )
            answers = answers[:, 1]
        return self.agreement.read(answers) if self.agreement.of_numbers else answers

    def noted(self, sample: Sample) -> Sample:
        """The sample, which knows the agreement and what a reader should know about this choice."""
        notes, labels = self.notes, sample.labels
        if self.method == "predict_proba" and labels.ndim == 1:
            notes = tuple(f"{note}, that of class {self.second}" for note in notes)
        told = (*notes, *column_notes(self.agreement, labels), *sample.notes)
        return replace(sample, agreement=self.agreement, notes=told)


def _measured(numbers: str) -> str:
    return f"predictions are {numbers}: measured by {Spread()}"


def _one_number_per_row(answers: Any) -> bool:
    """Whether these are floats, (n,) or (n, 1), not all of them whole, as scores are; classes are whole numbers."""
    column = to_array(answers, "Predictions")
    if column is None or column.dtype.kind != "f" or column.size != len(column):
        return False
    return bool((column != np.floor(column)).any())
