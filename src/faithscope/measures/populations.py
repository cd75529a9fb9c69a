"""Populations: the same measure for each group of rows, and whether groups differ."""

import math
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import count, number_labels
from faithscope.errors import BadInput
from faithscope.explanations import Explanations
from faithscope.inputs.checks import same_length
from faithscope.inputs.frames import frame, shown
from faithscope.inputs.labels import to_labels
from faithscope.inputs.weights import to_weights
from faithscope.measures.estimate import Estimate, Interval, estimate, noted
from faithscope.measures.planning import rarefy
from faithscope.measures.weighting import weighted_consistency
from faithscope.visible import visible

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Ints = NDArray[np.int64]
_MOST_GROUPS = 1000
_MOST_TOLD = 50  # groups of which all pairs are told


@dataclass(frozen=True)
class Difference:
    """The measure of one population less that of another, with silence carried along.

    ``low = M̂_A - (M̂_B + U_B) - margin`` and ``high = (M̂_A + U_A) - M̂_B + margin``: unequal samples are silent on
    unequal shares of their rows, so M̂ alone would differ where the populations do not.
    """

    a: Any
    b: Any
    value: float
    low: float
    high: float
    rows: int  # the smaller sample
    a_at_equal_rows: float | None  # M̂ of each at that many rows, by rarefaction; None where rows are weighted
    b_at_equal_rows: float | None

    @property
    def differ(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def difference(a: Estimate, b: Estimate, names: tuple[Any, Any] = ("a", "b")) -> Difference:
    """Difference a - b of two independent samples; margins of the two add in squares."""
    rows = min(a.n, b.n)
    weighted = a.counts.weight is not None or b.counts.weight is not None
    return Difference(
        a=names[0],
        b=names[1],
        value=a.value - b.value,
        low=max(-1.0, a.value - (b.value + b.unverifiable) - math.hypot(a.margins.below, b.margins.above)),
        high=min(1.0, a.value + a.unverifiable - b.value + math.hypot(a.margins.above, b.margins.below)),
        rows=rows,
        a_at_equal_rows=None if weighted else rarefy(a.counts.profile(), rows)[0],
        b_at_equal_rows=None if weighted else rarefy(b.counts.profile(), rows)[0],
    )


@dataclass(frozen=True)
class Populations:
    """An estimate for each group of rows; their counts add up to the whole.

    Attributes
    ----------
    estimates : dict of group to Estimate
    by : str
        The column that tells groups apart; empty where it has no name.
    """

    estimates: dict[Any, Estimate]
    by: str = ""

    @property
    def table(self) -> "pd.DataFrame":
        """One line a group."""
        names = ("n", "value", "low", "high", "unverifiable", "verified", "chance", "adjusted", "distinct")
        columns: dict[str, Any] = {"group": list(self.estimates)}
        for name in names:
            columns[name] = [getattr(found, name) for found in self.estimates.values()]
        return frame(columns)

    @property
    def differences(self) -> "pd.DataFrame":
        """One line a pair of groups: the difference with its interval, and both at equal numbers of rows.

        Each interval has the stated confidence by itself; among many pairs some will differ by chance.
        """
        pairs = [difference(a, b, names) for names, a, b in self._pairs()]
        fields = ("a", "b", "value", "low", "high", "differ", "rows", "a_at_equal_rows", "b_at_equal_rows")
        return frame({name: [getattr(pair, name) for pair in pairs] for name in fields})

    def _pairs(self) -> list[tuple[tuple[Any, Any], Estimate, Estimate]]:
        return [((a, b), self.estimates[a], self.estimates[b]) for a, b in combinations(self.estimates, 2)]

    def to_dict(self) -> dict[str, Any]:
        """All numbers by group, and by pair of groups up to 50 groups, ready for JSON.

        Beyond, ``differences`` is None and ``notes`` say so: the `differences` of 1,000 groups are 499,500.
        """
        groups = [{"group": group, **found.to_dict()} for group, found in self.estimates.items()]
        if len(groups) > _MOST_TOLD:
            note = f"differences of {len(groups):,} groups are left out: ask for them with .differences"
            return {"groups": groups, "differences": None, "notes": [note]}
        pairs = [difference(a, b, names) for names, a, b in self._pairs()]
        return {"groups": groups, "differences": [{**asdict(pair), "differ": pair.differ} for pair in pairs]}

    def plot(self) -> "alt.LayerChart":
        """Every group with its interval, chance and the unverifiable part as an Altair chart."""
        from faithscope.charts import populations

        return populations(self.estimates)

    def __str__(self) -> str:
        return "\n".join(f"{visible(str(group))}: {found}" for group, found in self.estimates.items())

    def _repr_html_(self) -> str:
        return str(
            shown(self.table).to_html(index=False, escape=True, border=0, float_format="{:.3f}".format, na_rep="–")
        )


def by(
    explanations: Explanations,
    predictions: Any,
    groups: Any,
    *,
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    weights: Any = None,
) -> Populations:
    """Consistency within each group of rows.

    Parameters
    ----------
    groups : array-like, (n,)
        The group of each row, none missing.
    """
    labels = to_labels(predictions)
    members = split(groups, len(labels))
    mass = None if weights is None else to_weights(weights, len(labels))

    def measured(name: Any, rows: Ints) -> Estimate:
        part = explanations.take(rows)
        if mass is None:
            return estimate(count(part, labels[rows]), confidence=confidence, interval=interval)
        return weighted_consistency(part, labels[rows], weights_of_group(mass, name, rows), confidence, interval)

    return Populations({name: measured(name, rows) for name, rows in members.items()})


def with_notes(found: Populations, notes: tuple[str, ...]) -> Populations:
    """The same populations with further notes on every estimate."""
    return replace(found, estimates={name: noted(one, notes) for name, one in found.estimates.items()})


def weights_of_group(mass: NDArray[np.float64], name: Any, rows: Ints) -> NDArray[np.float64]:
    """The weights of a group's rows, not all of them 0."""
    if not mass[rows].any():
        raise BadInput(f"Group {name!r} has no weight: leave its rows out, or give them some.")
    return mass[rows]


def split(groups: Any, rows: int) -> dict[Any, Ints]:
    """The rows of each group."""
    column = to_labels(groups, "Groups")
    same_length(predictions=rows, groups=len(column))
    names, numbers = number_labels(column)
    if len(names) > _MOST_GROUPS:
        raise BadInput(f"Groups have {len(names):,} different values, more than {_MOST_GROUPS:,}: bin them first.")
    order = np.argsort(numbers, kind="stable")
    return dict(zip(names, np.split(order, np.cumsum(np.bincount(numbers))[:-1]), strict=True))
