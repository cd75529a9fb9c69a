"""Profile: counts without explanations and labels, which is all that most statistics read."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.leave_out import RowKinds
from faithscope.inputs.grouping import group
from faithscope.relations import Relation, Same

Ints = NDArray[np.int64]

Floats = NDArray[np.float64]

_SMALL = 5000  # a profile of so few entries is not worth merging


class Counted(Protocol):
    """What an estimate reads: `Counts` and `Profile` both have it."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def distinct(self) -> int:
        """Number of different explanations."""

    @property
    def labels(self) -> tuple[Any, ...]:
        """The different predictions."""

    @property
    def weight(self) -> Floats | None:
        """Sums of weights; None if rows are not weighted."""

    @property
    def effective_n(self) -> float:
        """Rows, or with weights the effective sample size."""

    @property
    def relation(self) -> Relation:
        """Which rows an explanation covers."""

    @property
    def covers_once(self) -> bool:
        """Whether every row lies under its own explanation and no other."""

    @property
    def label_masses(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """By label, the weight of the rows predicted it and the sum of their squared weights."""

    def profile(self) -> "Profile":
        """The counts without explanations and labels."""


@dataclass(frozen=True, eq=False)
class Profile:
    """Counts without explanations and labels: small, and all that estimates and intervals need.

    One entry per kind of row: how many *other* rows its explanation covers (`others`), how many of
    those share its prediction (`agreeing`), how many ordered pairs of rows given its explanation agree
    (`pairs`), and how many rows are of this kind (`rows`).
    """

    others: Ints
    agreeing: Ints
    pairs: Ints
    rows: Ints
    label_rows: Ints  # rows predicted each label
    distinct: int  # explanations given to at least one row
    modal: int  # rows whose prediction is the commonest one for their explanation
    relation: Relation = field(default_factory=Same)
    labels: tuple[Any, ...] = ()  # the different predictions, or empty if they are not known

    weight: ClassVar[None] = None  # the rows of a profile are not weighted

    @classmethod
    def of_groups(cls, which: Ints, given: Ints, times: Ints, label_rows: Ints) -> "Profile":
        """A profile from groups of rows with the same explanation, as an engine counts them.

        Parameters
        ----------
        which, given : (m,) arrays
            Per cell, its group (ascending) and its number of rows (at least 1).
        times : (k,) array
            How many explanations have exactly these counts.
        label_rows : array
            Rows predicted each label.
        """
        total, pairs, most = (np.zeros(len(times), np.int64) for _ in range(3))
        np.add.at(total, which, given)
        np.add.at(pairs, which, given * (given - 1))
        np.maximum.at(most, which, given)
        entries = np.stack([total[which] - 1, given - 1, pairs[which], given * times[which]])
        # Sorted, since an engine's order differs from run to run, and rounding of sums with it.
        table = compact(0, *entries[:, np.lexsort(entries)])
        return cls(*table, np.sort(label_rows), int(times.sum()), int((most * times).sum()))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def effective_n(self) -> float:
        """Number of rows, since they are not weighted."""
        return float(self.n)

    @property
    def label_masses(self) -> tuple[Ints, Ints]:
        """Rows predicted each label, twice: each row weighs 1, and so does its squared weight."""
        return self.label_rows, self.label_rows

    @property
    def covers_once(self) -> bool:
        """Whether every row lies under its own explanation and no other."""
        return self.relation == Same()

    @property
    def uniqueness(self) -> float:
        """Share of rows whose explanation no other row was given; for equality only."""
        return float(self.rows[self.others == 0].sum() / self.n)

    def kinds(self) -> RowKinds:
        """Its rows as `RowKinds`; for equality only."""
        size = self.others + 1
        return RowKinds(size, size, size, self.pairs, self.agreeing + 1, np.ones(len(size), np.int64), self.rows)

    def profile(self) -> "Profile":
        """Itself: whoever reads counts through their profile can read either."""
        return self


def sum_by(index: Ints, values: Ints, size: int) -> Ints:
    """``result[i]`` is the sum of the values whose index is i; integers, exactly."""
    total = np.zeros(size, np.int64)
    np.add.at(total, index, values)
    return total


def compact(single: int, others: Ints, agreeing: Ints, pairs: Ints, rows: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Merge equal entries, and add one entry for `single` rows whose explanation covers no other row."""
    kept, merged = np.column_stack([others, agreeing, pairs]), rows
    if len(kept) > _SMALL:
        codes, first = group([kept])
        kept, merged = kept[first], sum_by(codes, merged, len(first))
    if single:
        kept = np.concatenate([np.zeros((1, 3), np.int64), kept])
        merged = np.concatenate([[single], merged])
    return kept[:, 0], kept[:, 1], kept[:, 2], merged
