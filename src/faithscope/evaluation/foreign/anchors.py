"""anchor-exp's explainers: one call of ``explain_instance`` per row."""

from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput
from faithscope.evaluation.foreign.base import Foreign, by_name, number_rows, unasked
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.documents import to_documents
from faithscope.inputs.models import Model
from faithscope.readers import read

_UNSEEDED = "{name} takes no seed and draws anew at each call; here each row has a seed of its own"


@dataclass(frozen=True, eq=False, repr=False)
class Anchors(Foreign):
    """An explainer of anchor-exp's, whose draws depend on the row alone; it asks the model for labels."""

    asks = True

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """A rule per row, or the words of a text."""
        function = Model(self.model).find()
        if function is None:
            raise unasked(self.explainer, "predict", f"fs.evaluate(model, {self.__name__}(...), X)")
        names = getattr(self.explainer, "feature_names", None)
        X, _ = by_name(X, names, self.__name__)
        if names is None:
            items: Any = to_documents(X)
            ask = function
        else:
            if is_frame(X) and frame_names(X) != tuple(map(str, names)):  # rules name their features
                raise BadInput(
                    f"{self.__name__} gives rules over features such as {names[0]!r}, and X has none of its features "
                    "as columns: make it with feature_names=list(X_train), or rename the columns of X."
                )
            items, ask = number_rows(X, self.__name__, function)
        answers = self._row_by_row(items, lambda place, _: self.explainer.explain_instance(items[place], ask), progress)
        return self._remarked(read(answers, features=None if names is None else list(names)), _UNSEEDED)
