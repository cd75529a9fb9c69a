"""Counterfactuals: explanations by a nearby point that is predicted otherwise."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations
from faithscope.explanations.distances.points import Points, cell_text, to_cells, to_metric
from faithscope.explanations.importances import to_names
from faithscope.inputs.alignment import labels_of, same_rows
from faithscope.inputs.array_types import Array, Bools, Floats, Names
from faithscope.inputs.arrays import declared_categories
from faithscope.inputs.checks import same_length
from faithscope.inputs.columns import default_names
from faithscope.inputs.grouping import Column
from faithscope.visible import visible
from faithscope.words import readable, shorten


class Counterfactuals(Explanations):
    """For each row, a nearby point that the model predicts otherwise.

    Two rows have the same explanation if their points are equal. An explanation covers the open ball around its
    own row that reaches to the point, so two rows with the same point cover different balls.

    Parameters
    ----------
    points, originals : (n, d) arrays, lists of rows, or pandas, polars or Arrow tables
        The counterfactual of each row, and the row itself. Numbers, dates and categories, all of which may be missing.
    names : sequence of str, optional
        The features; by default the column names, if the input has any.
    metric : str or Gower, optional
        The distance of the ball: any metric of scikit-learn's, or "gower", which learns its ranges from these rows.
        By default euclidean for numbers, Gower's if there are categories, dates or missing values.

    Attributes
    ----------
    dates : tuple of bool
        Which features are dates: whole nanoseconds since 1970 in `points` and `originals`, None for a missing one.

    Examples
    --------
    >>> loans = Counterfactuals([[52.0, 3.0]], originals=[[40.0, 3.0]], names=["income", "years"])
    >>> loans.describe(0), loans.balls().describe(0)
    ('income 52, years 3', 'nearer than 12 to income 40, years 3')
    """

    points: Array
    originals: Array
    names: Names | None = None
    metric: Any = "euclidean"
    dates: tuple[bool, ...] = ()

    _per_row: ClassVar[tuple[str, ...]] = ("points", "originals")
    _settings = ("names", "metric", "dates")
    _alike = (("metric", "metrics (Gower's must be the same fitted object)"),)

    def __init__(self, points: Any, originals: Any, names: Sequence[str] | None = None, metric: Any = None) -> None:
        new, columns, dates = to_cells(points, "Counterfactuals")
        old, own, own_dates = to_cells(originals, "Originals")
        same_length(counterfactuals=len(new), originals=len(old))
        same_rows(originals=originals, points=points)
        columns = columns or own
        if new.shape != old.shape or (own or columns) != columns:
            names = f": {', '.join(columns or ())}, and {', '.join(own or ())}" if new.shape == old.shape else ""
            raise Incompatible(
                f"Counterfactuals have {new.shape[1]} columns and originals {old.shape[1]}{names}. Pass the same ones."
            )
        if new.dtype != old.dtype:
            new, old = new.astype(object), old.astype(object)
        categories = declared_categories(points) | declared_categories(originals)
        self._fill(
            points=new,
            originals=old,
            names=to_names(names, columns, new.shape[1], "Counterfactuals"),
            metric=to_metric(metric, np.concatenate([new, old]), categories),
            dates=tuple(map(max, dates, own_dates)),
            index=labels_of(originals, points),
        )

    @property
    def feature_names(self) -> Names:
        """The features' names, or x0, x1, … if none were given."""
        return self.names or default_names(self.points.shape[1])

    def balls(self) -> "Balls":
        """The scope of each explanation: the open ball around its row that reaches to its counterfactual."""
        radii = Points(self.originals, self.metric).to(self.points)
        return Balls._of(**vars(self), radii=radii)

    def item(self, row: int) -> Any:
        return self.points[row], self.originals[row]

    @property
    def scope_key(self) -> tuple[Column, ...]:
        return self.balls().key

    @property
    def kind(self) -> str:
        return f"counterfactuals over {self.points.shape[1]} features"

    def describe(self, row: int) -> str:
        return visible(self._in_words(self.points[row]))

    def _in_words(self, cells: Array) -> str:
        """The text of one row's cells, with their features' names."""
        columns = zip(self.feature_names, cells, self.dates or [False] * len(cells), strict=True)
        return shorten([f"{name} {cell_text(value, is_date)}" for name, value, is_date in columns])


class Balls(Counterfactuals):
    """Open balls: each covers the rows nearer to its original than its counterfactual, which is at its radius."""

    radii: Floats

    _per_row = (*Counterfactuals._per_row, "radii")
    _compared = ("originals", "radii")

    def balls(self) -> "Balls":
        return self

    @property
    def kind(self) -> str:
        return f"balls over {self.points.shape[1]} features"

    def describe(self, row: int) -> str:
        return visible(f"nearer than {readable(self.radii[row])} to {self._in_words(self.originals[row])}")

    def inside(self, X: Any) -> Callable[[int, int], Bools]:
        """``mask(start, stop)``: which rows of X lie inside balls start to stop."""
        centers = Points(self.originals, self.metric, self.names)
        rows = centers.sample(X)
        return lambda start, stop: centers.from_some(slice(start, stop), rows) < self.radii[start:stop, None]
