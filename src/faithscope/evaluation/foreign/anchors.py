"""anchor-exp's explainers: one call of ``explain_instance`` per row."""

from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput
from faithscope.evaluation.foreign.base import Foreign, NumberRows, seed_of, seeded, unasked
from faithscope.evaluation.foreign.columns import by_name
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.documents import to_documents
from faithscope.inputs.models import label_function
from faithscope.inputs.seeds import row_digests
from faithscope.readers import read

_UNSEEDED = "{name} takes no seed and draws anew at each call; here each row has a seed of its own"


def adapt(explainer: Any, model: Any) -> "Anchors":
    """An explainer of rows that asks this model for labels."""
    return Anchors(explainer, model)


@dataclass(frozen=True, eq=False, repr=False)
class Anchors(Foreign):
    """An explainer of anchor-exp's, whose draws depend on the row alone."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """A rule per row, or the words of a text."""
        function = label_function(self.model)
        if function is None:
            raise unasked(self.explainer, "predict", f"fs.evaluate(model, {self.__name__}(...), X)")
        names = getattr(self.explainer, "feature_names", None)
        X = self._known(X, names)
        if names is None:
            items: Any = to_documents(X)
            ask = function
        else:
            rows = NumberRows.of(X, self.__name__, "fs.explainers.Anchors(model, X_train)")
            items, ask = rows.matrix, rows.asking(function)
        answers = []
        for place, digest in enumerate(row_digests(self.seed, items)):
            with seeded(seed_of(digest)):
                answers.append(self.explainer.explain_instance(items[place], ask))
            if progress is not None:
                progress(place + 1, len(items))
        explanations = read(answers, features=None if names is None else list(names))
        remarks = (_UNSEEDED.format(name=self.__name__),) if self.run is None else ()
        return explanations._with(remarks=(*explanations.remarks, *remarks))

    def _known(self, X: Any, names: Any) -> Any:
        """The columns that the explainer knows, in its order; raises if a table has others, since rules name theirs."""
        rows, _ = by_name(X, names, self.__name__)
        if names is not None and is_frame(rows) and frame_names(rows) != tuple(map(str, names)):
            raise BadInput(
                f"{self.__name__} gives rules over features such as {names[0]!r}, and X has none of its features as "
                "columns: make it with feature_names=list(X_train), or rename the columns of X."
            )
        return rows
