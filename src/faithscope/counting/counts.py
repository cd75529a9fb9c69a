"""Counts: the waist of the package. Every statistic is a function of counts, and counts of parts add up."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope import agreements
from faithscope.agreements import Agreement, GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.layout import numbered_pairs, run_starts, sums
from faithscope.counting.leave_out import ClusterTotals, CountsRows
from faithscope.counting.profile import LabelPairs, Profile, compact, sum_by, with_lone
from faithscope.discretizers import discretize
from faithscope.errors import BadInput, Incompatible, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.chunks import rows_at
from faithscope.inputs.grouping import group
from faithscope.inputs.labels import to_labels
from faithscope.readers import as_explanations
from faithscope.relations import Beside, Relation, Same
from faithscope.runtime.memory import FEWER_ROWS, need
from faithscope.sample import Sample, in_order, number_labels, refuse_swapped

_MOST_ROWS = 3_000_000_000  # n(n - 1) must fit in 64 bits


@dataclass(frozen=True, eq=False)
class Counts(CountsRows):
    """Rows counted by explanation and predicted label.

    A cell is an (explanation, label) pair that occurs; cells are in order of explanation, then of label.
    ``a + b`` are the counts of both sets of rows, and adding `Counts.zero()` changes nothing.

    Attributes
    ----------
    source, chosen : Explanations and (k,) array or None
        The distinct explanations are ``source.take(chosen)``, or all of `source` if `chosen` is None.
    labels : tuple, or the like
        The distinct predictions.
    explanation, label : (m,) arrays
        The positions of each cell's explanation and label among the distinct ones.
    given : (m,) array
        Per cell, rows that were given the explanation and predicted the label.
    covered : (m,) array
        Per cell, rows that the explanation covers and that are predicted the label.
    missed : (m,) array
        Per cell, rows that were given the explanation and that it does not cover.
    weight, square : (m,) arrays, or None
        Per cell, sums of the rows' weights and of the squared weights; None if rows are not weighted.
    agreement : Agreement
        How much two predictions agree.
    reached : (k,) array, or None
        Rows that each explanation covers, if `covered` does not hold all of them: of numbers, cells that no row was
        given are not kept.
    agreeing : (m,) array, or None
        Per cell, the covered rows, each by its agreement with the cell's number; None if `covered` tells.
    clusters : ClusterTotals or None
        What is known of clusters of rows; None if rows are independent.

    Examples
    --------
    >>> counts = count(["a", "a", "b"], ["yes", "no", "no"])
    >>> counts
    <Counts of 3 rows: 2 explanations, 2 labels>
    >>> counts + Counts.zero() == counts
    True
    """

    source: Explanations
    labels: Sequence[Any]
    explanation: Ints
    label: Ints
    given: Ints
    covered: Ints
    missed: Ints
    weight: Floats | None = None
    square: Floats | None = None
    relation: Relation = field(default_factory=Same)
    chosen: Ints | None = None
    agreement: Agreement = field(default_factory=agreements.Same)
    reached: Ints | None = None
    agreeing: Floats | None = None
    clusters: ClusterTotals | None = None

    @cached_property
    def explanations(self) -> Explanations:
        """The distinct explanations, taken from their source when first asked for."""
        return self.source if self.chosen is None else self.source.take(self.chosen)

    @classmethod
    def zero(cls) -> "Counts":
        """The counts of no rows; adding them to any counts changes nothing."""
        none = np.empty(0, np.int64)
        return cls(Plain([]), (), none, none, none, none, none)

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        return int(self.given.sum())

    @property
    def distinct(self) -> int:
        """Number of different explanations."""
        return len(self.source) if self.chosen is None else len(self.chosen)

    @cached_property
    def per_explanation(self) -> Ints:
        """Rows that each explanation covers, N_π."""
        rows = sum_by(self.explanation, self.covered, self.distinct) if self.reached is None else self.reached.copy()
        rows.flags.writeable = False  # it is kept
        return rows

    @property
    def rows_given(self) -> Ints:
        """Rows that each explanation was given to."""
        return sum_by(self.explanation, self.given, self.distinct)

    @property
    def per_label(self) -> Ints:
        """Rows predicted each label."""
        return sum_by(self.label, self.given, len(self.labels))

    @property
    def covers_once(self) -> bool:
        """Whether every row lies under its own explanation and no other."""
        return self.relation.partitions and int(self.per_explanation.sum()) == self.n and not self.missed.any()

    @property
    def masses(self) -> tuple[Floats, Floats]:
        """Per cell, the sum of weights and of squared weights; if rows are not weighted, each weighs 1."""
        rows = self.given.astype(np.float64)
        return rows if self.weight is None else self.weight, rows if self.square is None else self.square

    @property
    def chance(self) -> float | None:
        """Probability that two rows, whatever their explanations, agree; None for a single row."""
        if self.clusters is not None:
            return self.clusters.chance
        if self.weight is None or self.square is None or isinstance(self.agreement, agreements.Spread):
            return self.profile().chance
        if self.n < 2:
            return None
        weight, square = (sums(self.label, values, len(self.labels)) for values in (self.weight, self.square))
        agreeing = self.agreement_sums.among_all(weight)[0] if self.agreement.of_numbers else weight
        return float(max(0.0, np.sum(weight * agreeing - square)) / (weight.sum() ** 2 - square.sum()))

    def locate(self, explanations: Explanations, labels: Array) -> tuple[Ints, Ints]:
        """The explanation and the cell of each row in these counts; -1 if it was never counted."""
        if self.n == 0:
            nowhere = np.full(len(labels), -1)
            return nowhere, nowhere
        codes = self.explanations.locate(explanations)
        return codes, self.locate_cells(codes, labels)

    def locate_cells(self, codes: Ints, labels: Array) -> Ints:
        """The cell of each row, of which the explanation is given by number; -1 if it was never counted."""
        if self.agreement.of_numbers and labels.ndim == 1:
            values = self.values
            place = np.minimum(np.searchsorted(values, labels), len(values) - 1)
            known = np.where(values[place] == labels, place, -1)  # the position of each label, -1 if it is new
        else:
            names, numbers = number_labels(labels)
            known = _places(names, self.labels)[numbers]
        cells = self.explanation * len(self.labels) + self.label  # ascending
        wanted = codes * len(self.labels) + known
        place_of = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        return np.where((codes >= 0) & (known >= 0) & (cells[place_of] == wanted), place_of, -1)

    @property
    def values(self) -> Floats:
        """The distinct predictions as numbers, (d,) or (d, k)."""
        if not self.agreement.of_numbers:
            raise BadInput("These predictions were counted as labels, which have no values: pass agreement= to count.")
        return np.asarray(self.labels, np.float64)

    @cached_property
    def agreement_sums(self) -> AgreementSums:
        return self.agreement.over(self.values if self.agreement.of_numbers else np.empty(0))

    def __repr__(self) -> str:
        return f"<Counts of {self.n:,} rows: {self.distinct:,} explanations, {len(self.labels):,} labels>"

    def __add__(self, other: "Counts") -> "Counts":
        if not isinstance(other, Counts):
            return NotImplemented
        if self.n == 0 or other.n == 0:
            return self if other.n == 0 else other
        if (self.weight is None) != (other.weight is None):
            raise Incompatible("One of these counts is weighted and the other is not: weight both, or neither.")
        if self.clusters is not None or other.clusters is not None:
            raise Incompatible(
                "Counts of clustered rows do not add up, since a cluster may be in both: count all at once."
            )
        if self.reached is not None or other.reached is not None:
            raise Incompatible(
                f"Counts of the rows that explanations cover, by {self.agreement}, do not add up: count anew."
            )
        if self.n + other.n > _MOST_ROWS:
            raise BadInput(f"Counts hold at most {_MOST_ROWS:,} rows; these add up to {self.n + other.n:,}.")
        for one, two in ((self.agreement, other.agreement), (self.relation, other.relation)):
            if one != two:
                raise Incompatible(f"One of these counts is by {one}, the other by {two}: count both alike.")
        if self.relation != Same() and (
            self.distinct != other.distinct or (self.explanations.locate(other.explanations) < 0).any()
        ):
            raise Incompatible(
                "These counts are of the rows that different sets of explanations cover, and such counts do not add "
                "up: collect the distinct explanations of all parts first, then count each part against them."
            )
        source, labels, cells = _together(self, other)
        keys, inverse = np.unique(np.concatenate(cells), return_inverse=True)
        total = dict[str, Any]()
        for name in ("given", "covered", "missed", "weight", "square"):
            first, second = getattr(self, name), getattr(other, name)
            if first is not None:
                total[name] = np.bincount(inverse, np.concatenate([first, second])).astype(first.dtype, copy=False)
        explanation, label = np.divmod(keys, len(labels))
        return Counts(source, labels, explanation, label, relation=self.relation, agreement=self.agreement, **total)

    def __radd__(self, other: object) -> "Counts":
        return self if other == 0 else NotImplemented  # so that sum() works

    def __eq__(self, other: object) -> bool:
        """Whether the same cells hold the same numbers, whatever the order in which they are kept."""
        if not isinstance(other, Counts):
            return NotImplemented
        if (self.n, self.distinct, len(self.given)) != (other.n, other.distinct, len(other.given)):
            return False
        if self.n == 0:
            return True
        if (self.weight is None) != (other.weight is None) or self.explanations.kind != other.explanations.kind:
            return False
        mine, theirs = (
            np.stack([cells, each.given, each.covered, each.missed, *each.masses])[:, np.argsort(cells)]
            for each, cells in zip((self, other), _together(self, other)[2], strict=True)
        )
        return np.array_equal(mine[0], theirs[0]) and np.allclose(mine, theirs, 1e-12, 0)

    __hash__ = None  # type: ignore[assignment]

    def of_askers(
        self, cell: Ints, given: Array, missed: Array, masses: Sequence[Floats] | None, clusters: ClusterTotals | None
    ) -> "Counts":
        """The counts of rows that ask, as given, and of all rows that their explanations cover.

        Parameters
        ----------
        cell : (k,) array
            The cell of each kind of rows.
        given, missed : (k,) arrays
            How many of them ask, and how many of these their own explanation does not cover.
        masses : two (k,) arrays, optional
            The sums of their weights and of the squared weights; None if they count alike.
        """
        asked, strayed, *weighed = (sums(cell, each, len(self.given)) for each in (given, missed, *(masses or ())))
        known = np.unique(self.explanation[asked > 0])
        place = np.full(self.distinct, -1)
        place[known] = np.arange(len(known))
        kept = place[self.explanation] >= 0
        weight, square = (each[kept] for each in weighed) if weighed else (None, None)
        return replace(
            self,
            source=self.explanations.take(known),
            chosen=None,
            explanation=place[self.explanation[kept]],
            label=self.label[kept],
            given=asked[kept].astype(np.int64),
            covered=self.covered[kept],
            missed=strayed[kept].astype(np.int64),
            weight=weight,
            square=square,
            relation=Beside(),
            reached=None if self.reached is None else self.reached[known],
            agreeing=None if self.agreeing is None else self.agreeing[kept],
            clusters=clusters,
        )

    def profile(self) -> Profile:
        """These counts without explanations and labels: small, and enough for most statistics."""
        return self._profile

    @cached_property
    def _profile(self) -> Profile:
        numbers, some_missed = self.agreement.of_numbers, bool(self.missed.any())
        # Nearly all rows may have an explanation that covers no other row: these become a single entry. Cells that no
        # row was given have no terms, and with many labels most cells are such.
        size = rows_at(self.per_explanation, self.explanation)
        met = (self.given > 0) & ((size > 1) | some_missed)
        several = slice(None) if met.all() else np.flatnonzero(met)
        which, label, given, missed, agreeing, size = (
            rows_at(column, several)
            for column in (
                self.explanation,
                self.label,
                self.given,
                self.missed,
                self.covered if self.agreeing is None else self.agreeing,
                size,
            )
        )
        single, per_label = self.n - int(given.sum()), self.per_label
        others: Array = agreeing - 1
        if numbers:
            if self.agreeing is None:
                agreeing = self.agreement_sums.within(GroupedRows(which, label, given.astype(np.float64)))
            others = np.maximum(agreeing - self.agreement.itself, 0.0)  # not below 0 by rounding
        first = run_starts(which)
        agreed = np.add.reduceat(given * (others if numbers else given - 1), first)  # of each explanation
        columns = [size - 1, others, np.repeat(agreed, np.diff(first, append=len(which))), given - missed]
        if some_missed:
            beside = zip(columns, (size, agreeing, columns[2], missed), strict=True)
            columns = [np.concatenate(pair) for pair in beside]
            alone = columns[0] == 0
            single += int(columns[3][alone].sum())
            columns = [column[~alone & (columns[3] > 0)] for column in columns]
        modal, labels, pairs, put_together = 0, self.labels, None, with_lone
        rows = per_label.astype(np.float64)
        if not numbers:
            modal, labels = self.n - int(given.sum()) + int(np.maximum.reduceat(given, first).sum()), ()
            put_together = compact
        elif isinstance(self.agreement, agreements.Spread):
            distances = agreements.scaled(self.values)[0]
            distances = distances - rows @ distances / rows.sum()  # from the mean
            pairs = LabelPairs.of_centered(distances, (distances**2).sum(axis=1), rows)
        else:
            sums = (np.maximum(part - 1, 0.0) for part in self.agreement_sums.among_all(rows))
            pairs = LabelPairs.of(rows, *sums)
        tables = put_together(single, *columns)
        return Profile(*tables, per_label, self.distinct, modal, self.relation, labels, pairs, self.agreement)


def count(explanations: Any, predictions: Any, *, weights: Any = None, agreement: Any = None) -> Counts:
    """Count rows by explanation and predicted label.

    Counts of parts of the rows add up: ``count(a, ya) + count(b, yb)`` are the counts of all of them.

    Parameters
    ----------
    explanations : array-like, table or Explanations
        One explanation per row.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth).
    weights : array-like, (n,), optional
        How much each row counts in the target population.
    agreement : Close, Tolerance, Spread or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.

    Examples
    --------
    >>> counts = count(["a", "a", "b"], [0, 1, 1]) + count(["a"], [0])
    >>> counts.n, counts.distinct
    (4, 2)
    """
    refuse_swapped(predictions, None)
    kind, chosen = discretize(as_explanations(explanations), None), agreements.to_agreement(agreement)
    labels = chosen.read(predictions) if chosen.of_numbers else to_labels(predictions)
    named = {"explanations": explanations, "predictions": predictions}
    return count_rows(replace(Sample.checked(kind, labels, weights=weights, row_labels=named), agreement=chosen))


def count_rows(sample: Sample) -> Counts:
    """The counts of a sample, with sums of weights and of squared weights if its rows are weighted."""
    explanations = sample.explanations
    need(64 * sample.n, f"Counts of {sample.n:,} rows", FEWER_ROWS)
    codes, first = group(explanations.key)
    names, numbers = sample.numbered_labels
    weight = square = None
    if sample.weights is None:
        cells, given = tabulate(codes, numbers, len(first), len(names))
        explanation, label = np.divmod(cells, max(1, len(names)))
    else:
        explanation, label, cell = numbered_pairs(codes, numbers)
        given, weight, square = np.bincount(cell), sums(cell, sample.weights), sums(cell, sample.weights**2)
    # A second copy of nearly all rows would double the memory: keep a reference if no caller can change them.
    lazy = sample.share_memory and len(first) > len(codes) / 2
    source, chosen = (explanations, first) if lazy else (explanations.take(first), None)
    none = np.zeros(len(given), np.int64)
    columns = (explanation, label, given, given, none, weight, square)
    return Counts(source, names, *columns, chosen=chosen, agreement=sample.agreement)


def tabulate(codes: Ints, numbers: Ints, groups: int, labels: int) -> tuple[Ints, Ints]:
    """The cells that occur, as ascending numbers ``explanation * labels + label``, and their rows."""
    cells = codes * max(1, labels)
    cells += numbers
    if groups * labels <= 4 * len(codes) + 1024:
        table = np.bincount(cells, minlength=groups * labels)
        occupied = np.flatnonzero(table)
        return occupied, table[occupied]
    cells.sort()
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    return cells[first], np.diff(first, append=len(cells))


def _places(names: Sequence[Any], among: Sequence[Any]) -> Ints:
    """The positions of labels among others; -1 for one that is none of them."""
    known = {label: j for j, label in enumerate(among)}
    return np.array([known.get(name, -1) for name in names], np.int64)


def _together(a: Counts, b: Counts) -> tuple[Explanations, tuple[Any, ...], list[Ints]]:
    """The distinct explanations and labels of both counts, and the cells of each by the numbers of these."""
    joined = a.explanations.join(b.explanations)
    codes, first = joined.group()
    names = list(dict.fromkeys([*a.labels, *b.labels]))
    labels = tuple(names[j] for j in in_order(names))
    cells = [
        start[counts.explanation] * len(labels) + _places(counts.labels, labels)[counts.label]
        for counts, start in ((a, codes[: a.distinct]), (b, codes[a.distinct :]))
    ]
    return joined.take(first), labels, cells


def to_counted(given: Any, what: str) -> Counts | Profile:
    """The `Counts` or `Profile` that a caller gave, directly or within an estimate or evaluation; refuses no rows."""
    counts = getattr(getattr(given, "consistency", given), "counts", given)
    if getattr(given, "population", None) is not None:
        raise WrongType(
            f"{what} reads counts of rows, and {given.measure} compares rows with draws: measure it on real rows, "
            "without population=."
        )
    if isinstance(getattr(counts, "relation", None), Beside):
        raise WrongType(
            f"{what} reads counts of rows that all ask, and here some ask and all answer: pass the estimate of all "
            "rows, or that of the group among themselves, populations.among[group]."
        )
    if not isinstance(counts, Counts | Profile):
        raise WrongType(f"{what} reads an Estimate or Counts; got {type(given).__name__}.")
    if counts.n == 0:
        raise BadInput(f"{what} got counts of no rows, so nothing can be said: count some rows first.")
    return counts


def to_counts(given: Any, what: str) -> Counts:
    """`to_counted`, which also refuses a `Profile`, since the explanations themselves are needed."""
    counts = to_counted(given, what)
    if not isinstance(counts, Counts):
        told = "an audit, or an estimate by Spread, keeps only their profile"
        raise WrongType(f"{what} needs the explanations, and {told}: count them with fs.count(...).")
    return counts
