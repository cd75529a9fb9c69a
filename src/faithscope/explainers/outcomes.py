"""Outcomes: predictions of which an explainer must know whether they are kept, yes or no."""

from typing import Any

import numpy as np

from faithscope.agreements import Same, Tolerance, to_agreement
from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array, Bools
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import refuse_continuous, to_labels
from faithscope.inputs.models import Model
from faithscope.inputs.rows import rows_of

_ADVICE = "make the explainer with agreement=fs.Tolerance(eps), so that predictions at most eps apart agree"


class Outcomes:
    """A model's predictions, and whether two of them agree: labels that are equal, or numbers at most eps apart.

    Raises if this is no model, or the agreement does not say yes or no.

    Parameters
    ----------
    model : model or function
    agreement : Same or Tolerance, optional
        Fractions are refused as labels unless the caller chose it.
    explainer : str
        Its name, for error messages.

    Attributes
    ----------
    of_numbers : bool
        Whether predictions are numbers; labels otherwise.
    """

    def __init__(self, model: Any, agreement: Any, explainer: str) -> None:
        self.model, chosen = Model(model), to_agreement(agreement)
        self.model.function()  # raises if it is no model
        if not isinstance(chosen, Same | Tolerance):
            raise BadInput(
                f"{explainer} asks whether a prediction is kept, yes or no, and agreement={agreement!r} has answers in "
                "between: pass agreement=fs.Tolerance(eps)."
            )
        if agreement is None and self.model.kind == "regressor":
            raise BadInput(f"{self.model.name} predicts numbers, which are seldom equal: {_ADVICE}.")
        self.agreement, self.told = chosen, agreement is not None
        self.of_numbers = chosen.of_numbers

    def ask(self, rows: Any) -> Array:
        """The model's predictions for rows: (n,) labels or floats."""
        answer = self.model.function("numbers" if self.of_numbers else "labels")(rows)
        if isinstance(self.agreement, Same):
            predictions = to_labels(answer)
            if not self.told and self.model.gives_numbers(predictions, checked=True):
                raise BadInput(
                    f"Predictions look continuous, since they hold fractions: {_ADVICE}; or pass labels, such as bins, "
                    "np.digitize(predictions, edges). If fractions are the names of classes, pass agreement=fs.Same()."
                )
            predictions = refuse_continuous(predictions, part=True)
        else:
            predictions = self.agreement.read(answer)
        same_length(rows=rows_of(rows), predictions=len(predictions))
        return predictions

    def agree(self, predictions: Array, others: Array) -> Bools:
        """Whether predictions agree, one by one; shapes broadcast."""
        if isinstance(self.agreement, Same):
            return np.asarray(predictions == others, np.bool_)
        with np.errstate(over="ignore"):  # farther apart than the largest float is farther than eps
            return np.asarray(np.abs(predictions - others) <= self.agreement.eps)
