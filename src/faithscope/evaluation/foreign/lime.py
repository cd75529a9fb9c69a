"""lime's explainers: one call of ``explain_instance`` per row, for all features."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.evaluation.foreign.base import Foreign, by_name, number_rows, unasked
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.inputs.documents import to_documents
from faithscope.inputs.models import Model, owner_of
from faithscope.readers import as_explanations

_UNSEEDED = (
    "{name} has no seed and draws anew at each call; here each row has a seed of its own, so other runs of {name} give "
    "other explanations: pass it random_state=0"
)


@dataclass(frozen=True, eq=False, repr=False)
class Lime(Foreign):
    """An explainer of lime's, whose draws depend on its seed and on the row alone; it asks the model."""

    asks = True

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """Importances of all features, or highlights of texts: of class 1 of two, else of all classes explained."""
        kind, told = next(iter(signature(self.explainer.explain_instance).parameters)), tuple[str, ...]()
        function = self._function()
        items: Any
        if kind == "data_row":
            X, told = by_name(X, getattr(self.explainer, "feature_names", None), self.__name__)
            items, ask = number_rows(X, self.__name__, function)
            options = {"num_features": items.shape[1]}
        else:
            items = to_documents(X)
            ask, options = lambda rows: np.asarray(function(rows)), {}
        options |= self._classes(ask, items, kind)
        lime = deepcopy(self.explainer)
        own = self.explainer.random_state is not np.random.mtrand._rand  # whether it has a seed

        def explained(place: int, seed: int) -> Any:
            lime.random_state.seed(seed)
            return lime.explain_instance(items[place], ask, **options)

        start = int(lime.random_state.randint(2**31)) if own else None
        answers = self._row_by_row(items, explained, progress, start)
        explanations = self._remarked(as_explanations(answers), "" if own else _UNSEEDED, *told)
        return explanations if self._of_numbers else self._of_class_1(explanations)

    @property
    def _of_numbers(self) -> bool:
        return getattr(self.explainer, "mode", "") == "regression"

    def _function(self) -> Callable[[Any], Any]:
        asked = getattr(owner_of(self.model), "predict_proba", None)
        function = Model(self.model).find("numbers") if self._of_numbers else asked
        if not callable(function):
            raise unasked(self.explainer, "predict_proba", f"fs.evaluate(model, {self.__name__}(...), X)")
        return function

    def _classes(self, ask: Callable[[Any], Any], items: Any, kind: str) -> dict[str, Any]:
        """The classes to explain: class 1 of two, all of a table's, the predicted one of a text."""
        if self._of_numbers:
            return {}
        shape = np.shape(ask(items[:1]))
        if len(shape) != 2:
            raise BadInput(
                f"{self.__name__} explains probabilities of shape (n_rows, n_classes), and the model gives several "
                f"labels per row, {shape}: explain one of them, such as fs.evaluate(model.estimators_[0], "
                f"{self.__name__}(...), X)."
            )
        classes = shape[1]
        if classes == 2 or kind == "data_row":
            return {"labels": (1,) if classes == 2 else tuple(range(classes)), "top_labels": None}
        return {"top_labels": 1}
