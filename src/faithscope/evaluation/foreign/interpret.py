"""InterpretML's models that explain themselves: ``explain_local`` on all rows."""

from dataclasses import dataclass
from typing import Any

from faithscope.evaluation.foreign.base import Foreign
from faithscope.explainers.shared.classes import label_of
from faithscope.explanations.base import Explanations
from faithscope.readers import as_explanations


def adapt(explainer: Any, model: Any) -> "Interpret":
    """An explainer of rows; the model is the explainer's own."""
    return Interpret(explainer, None, label=label_of(explainer, None))


@dataclass(frozen=True, eq=False, repr=False)
class Interpret(Foreign):
    """A model of InterpretML's that explains itself."""

    def explain(self, X: Any) -> Explanations:
        """Importances over terms."""
        return self._of_class_1(as_explanations(self.explainer.explain_local(X)))
