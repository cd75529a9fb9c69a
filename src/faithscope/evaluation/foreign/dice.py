"""dice-ml's explainers: one call of ``generate_counterfactuals`` per row, for one counterfactual."""

from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.evaluation.foreign.base import Foreign, seed_of, seeded
from faithscope.evaluation.foreign.columns import by_name
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.frames import frame
from faithscope.inputs.rows import take_rows
from faithscope.inputs.seeds import row_digests
from faithscope.readers import as_explanations

_OURS = "fs.explainers.Dice(model, X_train)"
_UNSEEDED = "dice-ml draws at random; here each row has a seed of its own"


def adapt(explainer: Any, model: Any) -> "Dice":
    """An explainer of rows; the model is the explainer's own."""
    return Dice(explainer, None)


@dataclass(frozen=True, eq=False, repr=False)
class Dice(Foreign):
    """An explainer of dice-ml's, whose draws depend on the row alone."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """A counterfactual of the opposite class per row; raises if dice-ml finds none."""
        table = self._table(X)
        answers = []
        for place, digest in enumerate(row_digests(self.seed, table)):
            with seeded(seed_of(digest)), redirect_stderr(StringIO()):  # dice-ml's bars of progress
                answers.append(self._flipped(take_rows(table, np.array([place])), place))
            if progress is not None:
                progress(place + 1, len(table))
        explanations = as_explanations(answers)
        return explanations._with(remarks=(*explanations.remarks, *((_UNSEEDED,) if self.run is None else ())))

    def _table(self, X: Any) -> Any:
        """Rows as a pandas table with dice-ml's columns."""
        names = list(self.explainer.data_interface.feature_names)
        if is_frame(X):
            return by_name(X if hasattr(X, "iloc") else X.to_pandas(), names, "dice-ml")[0]
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise BadInput(f"dice-ml knows {len(names)} features, and rows have shape {rows.shape}: pass a table.")
        return frame({name: rows[:, j] for j, name in enumerate(names)})

    def _flipped(self, row: Any, place: int) -> Any:
        try:
            return self.explainer.generate_counterfactuals(row, total_CFs=1, verbose=False).cf_examples_list[0]
        except Exception as error:  # dice-ml's own: no counterfactual, several classes, unknown categories
            why = str(error).partition("\n")[0].rstrip(".")
            raise BadInput(f"dice-ml gives no counterfactual for row {place} ({why}): use {_OURS}.") from error
