"""InterpretML's models that explain themselves: ``explain_local`` on all rows."""

from dataclasses import dataclass
from typing import Any

from faithscope.evaluation.foreign.base import Foreign
from faithscope.explanations.base import Explanations
from faithscope.readers import as_explanations


@dataclass(frozen=True, eq=False, repr=False)
class Interpret(Foreign):
    """A model of InterpretML's that explains itself."""

    def explain(self, X: Any) -> Explanations:
        """Importances over terms."""
        return self._of_class_1(as_explanations(self.explainer.explain_local(X)))
