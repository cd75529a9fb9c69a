"""lime's explainers: one call of ``explain_instance`` per row, for all features."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.evaluation.foreign.base import Foreign, NumberRows, seed_of, unasked
from faithscope.evaluation.foreign.columns import by_name
from faithscope.explainers.base import Progress
from faithscope.explainers.shared.classes import label_of
from faithscope.explanations.base import Explanations
from faithscope.inputs.documents import to_documents
from faithscope.inputs.models import number_function, owner_of
from faithscope.inputs.seeds import row_digests
from faithscope.readers import as_explanations

_UNSEEDED = (
    "{name} has no seed and draws anew at each call; here each row has a seed of its own, so other runs of {name} give "
    "other explanations: pass it random_state=0"
)


def adapt(explainer: Any, model: Any) -> "Lime":
    """An explainer of rows that asks this model for probabilities; in lime's mode of regression, for numbers."""
    return Lime(explainer, model, label=label_of(model, None))


def _parameters(explainer: Any) -> Sequence[str]:
    method = getattr(explainer, "explain_instance", None)
    return list(signature(method).parameters) if callable(method) else []


@dataclass(frozen=True, eq=False, repr=False)
class Lime(Foreign):
    """An explainer of lime's, whose draws depend on its seed and on the row alone."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """Importances of all features, or highlights of texts: of class 1 of two, else of all classes explained."""
        kind, known = _parameters(self.explainer)[0], self._seeded or self.run is not None
        remarks: tuple[str, ...] = () if known else (_UNSEEDED.format(name=self.__name__),)
        function = self._function()
        if kind == "data_row":
            X, told = by_name(X, getattr(self.explainer, "feature_names", None), self.__name__)
            remarks = (*told, *remarks)
            rows = NumberRows.of(X, self.__name__, "fs.explainers.Lime(model, X_train)")
            items, ask = list(rows.matrix), rows.asking(function)
            options = {"num_features": rows.matrix.shape[1]}
        else:
            items = to_documents(X) if kind == "text_instance" else list(np.asarray(X))
            ask, options = _as_array(function), {}
        if not items:
            return as_explanations(np.empty((0, len(options) and options["num_features"])))
        answers = self._explained(items, ask, {**options, **self._classes(ask, items, kind)}, progress)
        explanations = as_explanations(answers)
        explanations = explanations._with(remarks=(*explanations.remarks, *remarks))
        return explanations if getattr(self.explainer, "mode", "") == "regression" else self._of_class_1(explanations)

    def _function(self) -> Callable[[Any], Any]:
        owner = owner_of(self.model)
        if getattr(self.explainer, "mode", "") == "regression":
            function = number_function(self.model)
        else:
            function = getattr(owner, "predict_proba", None)
        if not callable(function):
            raise unasked(self.explainer, "predict_proba", f"fs.evaluate(model, {self.__name__}(...), X)")
        return function

    @property
    def _seeded(self) -> bool:
        return self.explainer.random_state is not np.random.mtrand._rand

    def _classes(self, ask: Callable[[Any], Any], items: Sequence[Any], kind: str) -> dict[str, Any]:
        """The classes to explain: class 1 of two, all of a table's, the predicted one of a text or an image."""
        if getattr(self.explainer, "mode", "") == "regression":
            return {}
        shape = np.shape(ask(items[:1] if kind == "text_instance" else np.asarray(items[:1])))
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

    def _explained(
        self, items: Sequence[Any], ask: Callable[[Any], Any], options: dict[str, Any], progress: Progress | None
    ) -> list[Any]:
        """Lime's answer for each row, by a copy of the explainer whose generator starts anew at each row."""
        lime = deepcopy(self.explainer)
        start = int(lime.random_state.randint(2**31)) if self._seeded else self.seed
        answers = []
        for place, (item, digest) in enumerate(zip(items, row_digests(start, items), strict=True)):
            lime.random_state.seed(seed_of(digest))
            answers.append(lime.explain_instance(item, ask, **options))
            if progress is not None:
                progress(place + 1, len(items))
        return answers


def _as_array(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda rows: np.asarray(function(rows))
