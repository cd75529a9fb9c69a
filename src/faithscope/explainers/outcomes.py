"""Outcomes: predictions of which an explainer must know whether they are kept, yes or no."""

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A model's predictions, and whether two of them agree: labels that are equal, or numbers at most eps apart.

    Attributes
    ----------
    model : model or function
    agreement : Same or Tolerance
    told : bool
        Whether the caller chose the agreement; fractions are refused as labels otherwise.
    """

    model: Any
    agreement: Same | Tolerance
    told: bool

    @classmethod
    def of(cls, model: Any, agreement: Any, explainer: str) -> "Outcomes":
        """What a caller hands over; raises if it is no model, or the agreement does not say yes or no."""
        Model(model).function()  # raises if it is no model
        chosen = to_agreement(agreement)
        if not isinstance(chosen, Same | Tolerance):
            raise BadInput(
                f"{explainer} asks whether a prediction is kept, yes or no, and agreement={agreement!r} has answers in "
                "between: pass agreement=fs.Tolerance(eps)."
            )
        if agreement is None and Model(model).kind == "regressor":
            raise BadInput(f"{Model(model).name} predicts numbers, which are seldom equal: {_ADVICE}.")
        return cls(model, chosen, agreement is not None)

    @property
    def of_numbers(self) -> bool:
        """Whether predictions are numbers; labels otherwise."""
        return self.agreement.of_numbers

    def ask(self, rows: Any) -> Array:
        """The model's predictions for rows: (n,) labels or floats."""
        answer = Model(self.model).function("numbers" if self.of_numbers else "labels")(rows)
        if isinstance(self.agreement, Same):
            predictions = to_labels(answer)
            if not self.told and Model(self.model).gives_numbers(predictions, checked=True):
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

    def never_kept(self) -> str:
        """Why a row may have no training row of another outcome, for an error message."""
        if isinstance(self.agreement, Same):
            return "no training row has another prediction"
        return (
            f"no training row has a prediction more than eps={float(self.agreement.eps):g} away, so pass a smaller eps"
        )
