"""dice-ml's explainers: one call of ``generate_counterfactuals`` per row, for one counterfactual."""

from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.evaluation.foreign.base import Foreign, by_name
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.frames import frame
from faithscope.inputs.rows import take_rows
from faithscope.readers import as_explanations

_OURS = "fs.explainers.Dice(model, X_train)"
_UNSEEDED = "dice-ml draws at random; here each row has a seed of its own"


@dataclass(frozen=True, eq=False, repr=False)
class Dice(Foreign):
    """An explainer of dice-ml's, whose draws depend on the row alone."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """A counterfactual of the opposite class per row; raises if dice-ml finds none."""
        table = self._table(X)

        def flipped(place: int, _: int) -> Any:
            row = take_rows(table, np.array([place]))
            try:
                with redirect_stderr(StringIO()):  # dice-ml's bars of progress
                    return self.explainer.generate_counterfactuals(row, total_CFs=1, verbose=False).cf_examples_list[0]
            except Exception as error:  # dice-ml's own: no counterfactual, several classes, unknown categories
                why = str(error).partition("\n")[0].rstrip(".")
                raise BadInput(f"dice-ml gives no counterfactual for row {place} ({why}): use {_OURS}.") from error

        return self._remarked(as_explanations(self._row_by_row(table, flipped, progress)), _UNSEEDED)

    def _table(self, X: Any) -> Any:
        """Rows as a pandas table with dice-ml's columns."""
        names = list(self.explainer.data_interface.feature_names)
        if is_frame(X):
            return by_name(X if hasattr(X, "iloc") else X.to_pandas(), names, "dice-ml")[0]
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise BadInput(f"dice-ml knows {len(names)} features, and rows have shape {rows.shape}: pass a table.")
        return frame({name: rows[:, j] for j, name in enumerate(names)})
