"""Sufficient reasons: rules under which a tree model gives every row the prediction of the row, by proof."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.reason.bounds import Bound, LabelBound, NumberBound
from faithscope.explainers.reason.boxes import Boxes
from faithscope.explainers.reason.checks import check_eps, check_names, check_order, check_read, misread, ordered_first
from faithscope.explainers.reason.coverage import MOST, TrainingCells
from faithscope.explainers.reason.reading import read
from faithscope.explainers.reason.search import by_slack, drop_in_order, widen
from faithscope.explainers.reason.written import to_rules
from faithscope.explainers.shared.arrays import Floats, Ints
from faithscope.explainers.shared.blocks import Progress, blocks
from faithscope.explainers.shared.columns import columns_with_names
from faithscope.explainers.shared.encodings import encode_numbers
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.models import predict_of
from faithscope.explanations.rules import Rules
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_flag
from faithscope.inputs.columns import default_names, distinct_names
from faithscope.inputs.grouping import group
from faithscope.inputs.labels import to_labels
from faithscope.runtime.memory import in_memory

_CELLS = 2**20  # leaves x rows looked at at once


class SufficientReason(Mannered):
    """Explains a row by a rule under which a tree model always gives the row's prediction: not nearly always, always.

    The rule begins as all conditions that the row meets on its ways through the trees. A condition is dropped, and
    then the bounds of the others are widened, while a bound proves that no row of the rule is predicted otherwise: the
    sum over trees of the least leaf value that the rule reaches, for the predicted class against every other one. Of a
    single tree this is exact. Of several trees it may keep a condition that is not needed, and it never drops one that
    is. So sufficiency is 1 on every population: on real rows, on perturbed rows, on any rows.

    Conditions are in the model's own arithmetic: every float that satisfies them goes through the trees as proven,
    those next to a threshold too, and the bound allows for rounding in the model's sums. A rule without a condition on
    a feature holds for any value of it, and for missing ones if the model takes them.

    Parameters
    ----------
    model : fitted model
        scikit-learn's decision trees, random forests, extra trees, GradientBoosting and HistGradientBoosting; models
        and boosters of XGBoost and LightGBM. Splits on categories are not read.
    X_train : (n, d) array or table, optional
        Rows on which the coverage that rules claim is counted, 10,000 at most.
    order : "importance" or sequence of features
        Which condition is dropped first: the one that the bound needs least, or the first feature listed. Features
        that are not listed come last, by importance.
    minimal : bool
        Drop conditions until none can be dropped. If False, the rule is all that the row meets on its ways.
    widen : bool
        Widen the bounds of the conditions that are left.
    eps : float, optional
        Of a regressor, which needs it: under the rule, predictions stay within eps of the row's own.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> rows = np.column_stack([np.arange(100), np.arange(100) % 7])
    >>> forest = RandomForestClassifier(20, random_state=0).fit(rows, rows[:, 0] >= 50)
    >>> rules = SufficientReason(forest).explain([[80, 3], [20, 0]])
    >>> rules.describe(0), rules.describe(1)
    ('x0 > 50.5', 'x0 <= 49.5')
    """

    def __init__(
        self,
        model: Any,
        X_train: Any = None,
        *,
        order: str | Sequence[int | str] = "importance",
        minimal: bool = True,
        widen: bool = True,
        eps: float | None = None,
    ) -> None:
        self.model, self.X_train, self.order = model, X_train, order
        self.minimal, self.widen = check_flag(minimal, "minimal"), check_flag(widen, "widen")
        self._ensemble = read(model)
        self.eps = check_eps(eps, self._ensemble, model)
        self._names = columns_with_names(X_train)[0] if X_train is not None and is_frame(X_train) else None
        self._listed = check_order(order, self._ensemble, self._names)
        self._training = None if X_train is None else self._training_cells(X_train)

    @in_memory("explain fewer rows, or a model with fewer leaves")
    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """One rule per row, which covers the row; `Rules.claimed` says that its precision is 1.

        Parameters
        ----------
        X : (n, d) array or table
            Numbers. Values may be missing if the model takes missing values.
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, whenever more are done.
        """
        rows, names = self._read(X)
        leaves = self._ensemble.leaves
        cells, labels, numbers = leaves.cells(rows), *self._predicted(X, len(rows))
        code, first = group((cells.astype(np.int64), labels[:, None]))
        parts = np.full(len(first), -1)
        boxes: list[Boxes] = []
        order = np.argsort(labels[first], kind="stable")
        done = 0
        for label in np.unique(labels[first]).tolist():
            own = first[labels[first] == label]
            for block in blocks(len(own), _CELLS // max(1, len(leaves.low))):
                chosen = own[block]
                boxes.append(self._explained(cells[chosen], self._bound(label, numbers[chosen])))
                done += int(np.isin(code, code[chosen]).sum()) if progress else 0
                if progress:
                    progress(done, len(rows))
        parts[order] = np.arange(len(first))
        rules = to_rules(boxes, names, leaves, self._training).take(parts[code])
        return rules._labelled(X)

    def _explained(self, cells: Any, bound: Bound) -> Boxes:
        boxes = Boxes.of(self._ensemble.leaves, cells)
        check_read(boxes, bound, self.model)
        if not self.minimal:
            return boxes
        boxes = drop_in_order(boxes, bound, ordered_first(by_slack(boxes, bound), self._listed))
        return widen(boxes, bound) if self.widen else boxes

    def _bound(self, label: int, numbers: Floats) -> Bound:
        if self.eps is None:
            return LabelBound(self._ensemble, label)
        return NumberBound(self._ensemble, numbers, self.eps)

    def _predicted(self, X: Any, rows: int) -> tuple[Ints, Floats]:
        """The position of each row's label among the classes; or 0, and the number predicted."""
        numbers = self.eps is not None
        if not rows:
            return np.empty(0, np.int64), np.empty(0)
        try:
            answer = predict_of(self.model, numbers=numbers)(X)
        except (TypeError, ValueError) as problem:  # columns that it was not fitted with
            raise BadInput(f"The model cannot predict these rows: {str(problem).splitlines()[0]}") from None
        if numbers:
            return np.zeros(rows, np.int64), np.asarray(answer, np.float64).reshape(rows)
        return self._positions(to_labels(answer)), np.zeros(rows)

    def _positions(self, labels: NDArray[Any]) -> Ints:
        classes = self._ensemble.classes
        assert classes is not None
        places = {label: place for place, label in enumerate(classes.tolist())}
        try:
            return np.array([places[label] for label in labels.tolist()], np.int64)
        except KeyError as strange:
            raise misread(self.model, f"it predicts {strange}, which is none of its classes") from None

    def _read(self, X: Any) -> tuple[Floats, tuple[str, ...]]:
        """Rows as a matrix, and the features' names."""
        given, columns = columns_with_names(X)
        width = self._ensemble.features
        if not columns and not is_frame(X):
            columns = [np.empty(0)] * width
        if len(columns) != width:
            raise BadInput(f"Rows have {len(columns)} features but the model was fitted with {width}: pass the same.")
        if is_frame(X):
            check_names(given, self._ensemble.names or self._names)
        names = distinct_names(given if is_frame(X) else self._ensemble.names or self._names or default_names(width))
        rows = np.column_stack([encode_numbers(column, name) for column, name in zip(columns, names, strict=True)])
        missing = np.argwhere(np.isnan(rows))
        if len(missing) and not self._ensemble.takes_missing:
            row, j = missing[0]
            raise BadInput(
                f"Row {row} misses {names[j]!r}, and {type(self.model).__name__} does not take missing values: fill "
                "it in, or drop the row."
            )
        return rows, names

    def _training_cells(self, X_train: Any) -> TrainingCells:
        rows = self._read(X_train)[0]
        chosen = np.random.default_rng(0).permutation(len(rows))[:MOST] if len(rows) > MOST else slice(None)
        return TrainingCells(self._ensemble.leaves.cells(rows[chosen]))
