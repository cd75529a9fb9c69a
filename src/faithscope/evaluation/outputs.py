"""Output: whether a model is asked for labels or for numbers, and how its answers are read."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from faithscope.agreements import Agreement, Same, Spread, column_notes, to_agreement
from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array
from faithscope.inputs.labels import to_number_predictions, to_predictions
from faithscope.inputs.models import Model, is_torch_module
from faithscope.sample import Sample

_HIGHEST = "a torch module with several outputs predicts the position of the highest"
_MOST_PROBABLE = "predictions are the most probable classes (predict_proba), since the model has no predict"
_CHANCES = "pass model.predict_proba, or of one class lambda X: model.predict_proba(X)[:, 1]"


@dataclass(frozen=True)
class Output:
    """Whether a model is asked for labels or for numbers, and how its answers are read.

    Attributes
    ----------
    agreement : Agreement
        How much two predictions agree.
    notes : tuple of str
        What a reader should know about this choice.
    """

    agreement: Agreement = field(default_factory=Same)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Any, agreement: Any) -> "Output":
        """What a caller asks for; a known regressor is measured by `Spread` unless the caller says otherwise."""
        chosen, asked = to_agreement(agreement), Model(model)
        if asked.lacks_predict:
            if chosen.of_numbers:
                raise BadInput(
                    f"{asked.name} has predict_proba and no predict, and agreement={chosen} compares numbers: "
                    f"{_CHANCES}."
                )
            return cls(chosen, (_MOST_PROBABLE,))
        if agreement is not None:
            codes = chosen.of_numbers and asked.kind == "classifier"
            told = f"predictions are class labels of a classifier ({asked.name}), measured as numbers; for its"
            return cls(chosen, (f"{told} probabilities {_CHANCES}",) if codes else ())
        if asked.kind == "regressor":
            return cls(Spread(), (f"predictions are numbers of a regressor ({asked.name}): measured by {Spread()}",))
        return cls(notes=(_HIGHEST,) if is_torch_module(model) and not hasattr(model, "predict") else ())

    def function(self, model: Any) -> Callable[[Any], Any] | None:
        """The function from rows to what is asked for; None for ready predictions."""
        return Model(model).find("numbers" if self.agreement.of_numbers else "labels")

    def check(self, answers: Any) -> Array:
        """A model's answers as an array, whatever the agreement of numbers: labels, or floats (n,) or (n, k)."""
        if self.agreement.of_numbers:
            return to_number_predictions(answers, type(self.agreement).__name__, vectors=True)
        return to_predictions(answers)

    def read(self, answers: Array) -> Array:
        """Answers that were checked, as the agreement compares them."""
        return self.agreement.read(answers) if self.agreement.of_numbers else answers

    def noted(self, sample: Sample) -> Sample:
        """The sample, which knows the agreement and what a reader should know about this choice."""
        told = (*self.notes, *column_notes(self.agreement, sample.labels), *sample.notes)
        return replace(sample, agreement=self.agreement, notes=told)
