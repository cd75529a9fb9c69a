"""Counts of draws: per row, how many inputs were drawn for it and how many of them share its prediction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from faithscope.agreements import Agreement, GroupedRows
from faithscope.counting.counts import Counts
from faithscope.counting.layout import divided, sums
from faithscope.counting.leave_out import ClusterTotals, CountsRows, Units
from faithscope.counting.profile import Profile
from faithscope.errors import WrongType
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.labels import families_of
from faithscope.relations import Applies, Relation
from faithscope.sample import Sample, number_labels


@dataclass(frozen=True, eq=False)
class DrawnCounts(CountsRows):
    """Rows that are compared with draws of their own: what an `Estimate` on draws keeps.

    Attributes
    ----------
    others : (n,) array
        Number of draws of each row; 0 if its explanation leaves none.
    agreeing : (n,) array
        Those that share the row's prediction; of numbers, each by its agreement.
    by_chance, by_others : (n,) arrays
        How much the row's prediction agrees with the draws of other rows, and its draws with the predictions of other
        rows, on average.
    drop : (n,) array, or None
        Of numbers, the row's prediction less the mean of its draws; NaN without draws.
    labels : sequence
        The different predictions of rows.
    distinct : int
        Number of different explanations.
    weight : (n,) array, or None
    clusters : ClusterTotals, or None
    """

    others: Ints
    agreeing: Floats
    by_chance: Floats
    by_others: Floats
    drop: Floats | None
    labels: Sequence[Any]
    distinct: int
    agreement: Agreement
    weight: Floats | None = None
    clusters: ClusterTotals | None = None
    relation: Relation = field(default_factory=Applies)

    covers_once: ClassVar[bool] = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.others)

    @property
    def masses(self) -> tuple[Floats, Floats]:
        """The weight of each row, and its square."""
        weight = np.ones(self.n) if self.weight is None else self.weight
        return weight, weight**2

    @property
    def values(self) -> Floats:
        """The mean agreement of each row with its draws; 0 for a row without draws."""
        return np.minimum(1.0, self.agreeing / np.maximum(1, self.others))

    @property
    def silent(self) -> Floats:
        """1 for a row without draws, else 0."""
        return np.where(self.others == 0, 1.0, 0.0)

    @property
    def chance(self) -> float | None:
        """How much a row's prediction agrees with the draws of another row; None if there is no other."""
        mass = self.masses[0] * (self.others > 0)
        known = np.isfinite(self.by_chance) & (mass > 0)
        return float(np.average(self.by_chance[known], weights=mass[known])) if known.any() else None


Counted = Counts | Profile | DrawnCounts  # what an estimate reads


def count_draws(sample: Sample, answers: Iterable[tuple[Ints, Array]]) -> DrawnCounts:
    """Count draws, from the position of each draw's row and its prediction, block by block."""
    weight, numbers, names, parts = sample.weight, sample.agreement.of_numbers, sample.numbered_labels[0], list(answers)
    for _, labels in parts if not numbers else ():
        different = number_labels(labels)[0]
        if not families_of(names) & families_of(different):
            raise WrongType(
                f"Predictions of rows are such as {names[0]!r}, and those of draws such as {different[0]!r}, of "
                "another type, so that none can agree: pass predictions of one type for both."
            )
    of = np.concatenate([np.empty(0, np.int64), *(part for part, _ in parts)])
    every = np.concatenate([sample.labels, *(labels for _, labels in parts)])
    different, every = number_labels(every.astype(np.float64) if numbers else every)
    values = np.array(different, np.float64) if numbers else np.arange(float(len(different)))
    place, value = every[: sample.n], every[sample.n :]
    kernel = sample.agreement.over(values)
    cells, times = np.unique(of * len(values) + value, return_counts=True)
    row, drawn = np.divmod(cells, len(values))
    others = np.bincount(row, times, minlength=sample.n).astype(np.int64)
    agreeing = kernel.at(GroupedRows(row, drawn, times.astype(np.float64)), np.arange(sample.n), place)
    share = times / others[row]  # of its row's draws
    checked = weight * (others > 0)
    mean = agreeing / np.maximum(1, others)
    # All draws as one group, a row's by its weight; and the predictions of all rows.
    everybody = (sums(drawn, weight[row] * share, len(values)), sums(place, checked, len(values)))
    towards, backwards = (kernel.among_all(mass)[0] for mass in everybody)
    rest = checked.sum() - checked

    def without_own(total: Floats) -> Floats:
        """The mean over other rows, from the sum over all of them; NaN if there are no others."""
        return divided(np.clip(total - checked * mean, 0.0, np.maximum(rest, 0.0)), rest, np.nan)

    drop = None
    if numbers:
        means = sums(row, share * values[drawn], sample.n)
        drop = np.where(others > 0, sample.labels - means, np.nan)
    return DrawnCounts(
        others=others,
        agreeing=agreeing,
        by_chance=without_own(towards[place]),
        by_others=without_own(sums(row, share * backwards[drawn], sample.n)),
        drop=drop,
        labels=names,
        distinct=len(sample.explanations.group()[1]),
        agreement=sample.agreement,
        weight=sample.weights,
        clusters=ClusterTotals.of(Units.of(sample)),
    )
