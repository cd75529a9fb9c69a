"""Sample: rows with their explanations and predictions, validated once. Every measure takes a `Sample`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.agreements import Agreement, Same, column_notes, to_agreement
from faithscope.discretizers import Discretize, Discretizer, ReasonCodes, discretize, to_discretizer
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations import Explanations
from faithscope.explanations.base import join_all
from faithscope.explanations.importances import Importances
from faithscope.inputs.alignment import index_of, labels_of, same_rows
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.arrays import is_frame, to_vector
from faithscope.inputs.checks import check_whole, same_length
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.grouping import group
from faithscope.inputs.labels import NumberLabels, to_labels, to_weights
from faithscope.inputs.missing import missing_values
from faithscope.inputs.repeats import repeated_share
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.notes import TOO_HIGH, Note
from faithscope.readers import as_explanations
from faithscope.readers.shap import recognizes as is_of_shap
from faithscope.relations import Alike, Blocks, Parts, Relation, bind
from faithscope.visible import visible
from faithscope.words import readable, several

_MOST_GROUPS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Rows with their explanations, predictions and weights: what every measure takes.

    Public functions make one with `Sample.of`, which checks all of it; nothing inside checks it again.

    Attributes
    ----------
    explanations : Explanations
        One explanation per row.
    labels : (n,) array, or (n, k) for `Spread` of several outputs
        The model's predictions.
    X : rows, optional
        The rows themselves, as the caller holds them; None if no measure needs them.
    weights : (n,) array of float, optional
        How much each row counts in the target population; None if all rows count the same.
    notes : tuple of str
        What a reader should know about these rows, whatever is measured on them.
    positions : (n,) array of int, optional
        The positions of these rows among those that the caller handed over; None if they are all of them.
    share_memory : bool
        Whether counts keep a reference to the explanations instead of a copy: only safe if no caller can change them.
    clusters : (n,) array of int, optional
        The cluster of each row, by number: rows of one cluster belong together, and do not vouch for each other. None
        if rows are independent.
    agreement : Agreement
        How much two predictions agree. Labels agree if they are equal; `labels` holds numbers for any other agreement.
    askers : (n,) array of int, optional
        The group of each row, if rows of a group ask and all rows answer; None if every row asks and answers.

    Examples
    --------
    >>> sample = Sample.of(["a", "b", "a"], ["yes", "no", "no"])
    >>> sample.n, {group: part.n for group, part in sample.split([0, 1, 1]).items()}
    (3, {0: 1, 1: 2})
    """

    explanations: Explanations
    labels: Array
    X: Any = None
    weights: Floats | None = None
    notes: tuple[str, ...] = ()
    positions: Ints | None = None
    share_memory: bool = False
    agreement: Agreement = field(default_factory=Same)
    clusters: Ints | None = None
    askers: Ints | None = None

    @classmethod
    def of(
        cls,
        explanations: Any,
        predictions: Any,
        X: Any = None,
        weights: Any = None,
        agreement: Any = None,
        clusters: Any = None,
    ) -> "Sample":
        """A sample of what a caller hands over, after checking it.

        Parameters
        ----------
        explanations : array-like, table or Explanations
        predictions : array-like, (n,)
        X : array-like or table, optional
        weights : array-like, (n,), optional
        agreement : Agreement or callable, optional
            How much two predictions agree; by default they are labels, which agree if they are equal.
        clusters : array-like, (n,), optional
            Which rows belong together, such as a customer's number.
        """
        chosen = to_agreement(agreement)
        refuse_swapped(predictions, X)
        kind = as_explanations(explanations)
        labels = chosen.read(predictions)
        named = explanations if index_of(explanations) is not None else kind
        names = {"explanations": named, "predictions": predictions}
        sample = cls.checked(kind, labels, X, weights, clusters, row_labels=names)
        return replace(
            sample,
            agreement=chosen,
            notes=(*column_notes(chosen, labels), *sample.notes, *unlike_rows(explanations, X)),
        )

    @classmethod
    def checked(
        cls,
        explanations: Explanations,
        labels: Array | None,
        X: Any = None,
        weights: Any = None,
        clusters: Any = None,
        *,
        row_labels: dict[str, Any] | None = None,
    ) -> "Sample":
        """A sample of explanations and labels that were converted before; checks lengths, row labels and weights.

        Parameters
        ----------
        labels : (n,) array, optional
            All are 0 if there are no predictions.
        row_labels : dict of str to object, optional
            What the caller handed over, under the names that an error message uses ("explanations", "predictions").
            Pandas objects have row labels; the same labels in another order are refused.
        """
        labels = np.zeros(len(explanations), np.int64) if labels is None else labels
        row_labels = row_labels or {"explanations": explanations}
        known = {"explanations": len(explanations), "predictions": len(labels)}
        lengths = {name: known[name] for name in row_labels}
        same_length(**(lengths if X is None else {"X": rows_of(X), **lengths}))
        notes = same_rows(X=X, **row_labels, weights=weights, clusters=clusters)
        index = labels_of(X, explanations, *row_labels.values(), weights, clusters)
        if index is not None and index_of(X) is None and explanations.index is None:
            explanations = explanations._with(index=index)  # so that groups can be held against them later
        mass = None if weights is None else to_weights(weights, len(labels))
        sample = cls(explanations, labels, X, mass, notes, clusters=to_clusters(clusters, len(labels)))
        if X is None or clusters is not None:
            return sample
        return sample.noting(repeated_note(repeated_share(X, sample._said_of)))

    def noting(self, notes: tuple[str, ...]) -> "Sample":
        """The same sample with further notes."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self

    def _said_of(self, rows: Ints) -> list[Ints]:
        """What rows that repeat must share beside X: the explanations and predictions of some rows, by number."""
        return [self.explanations.take(rows).group()[0], number_labels(self.labels[rows])[1]]

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        return f"<Sample of {self.n:,} rows{weighted}: {visible(self.explanations.kind)}>"

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def plain(self) -> bool:
        """Whether rows are independent and count alike."""
        return self.weights is None and self.clusters is None

    @property
    def weight(self) -> Floats:
        """How much each row counts: 1, without memory of its own, if rows have no weights."""
        return np.broadcast_to(1.0, self.n) if self.weights is None else self.weights

    @cached_property
    def numbered_labels(self) -> tuple[Sequence[Any], Ints]:
        """The distinct labels in order, and the position of each row's label among them."""
        if self.agreement.of_numbers and self.labels.ndim == 1 and self.labels.dtype.kind == "f":
            values, place = np.unique(self.labels + 0, return_inverse=True)  # -0.0 is 0.0
            return NumberLabels(values), place
        return number_labels(self.labels)

    @cached_property
    def values(self) -> Floats:
        """The distinct predictions as numbers, (d,) or (d, k); their positions if they are labels."""
        names = self.numbered_labels[0]
        return np.asarray(names, np.float64) if self.agreement.of_numbers else np.arange(float(len(names)))

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What a reader should know of the explanations and of the rows."""
        return (*self.explanations.notes, *self.notes)

    @property
    def places(self) -> Ints:
        """The positions of the rows among those that the caller handed over."""
        return np.arange(self.n) if self.positions is None else self.positions

    def covered_by(self, scopes: Explanations, relation: Relation) -> Parts | Blocks:
        """Which rows these explanations cover, by a relation, which reads X or the places of the rows."""
        return relation.cover(scopes, self.explanations, self.X if relation.reads_rows else self.places)

    def _scoped_by(self, relation: Any) -> "tuple[Sample, Any]":
        """The sample and the relation to measure sufficiency by: importances by `Alike` are the rules they stand for.

        A judge's answers are bound to the explanations that they are about.
        """
        if isinstance(relation, Alike):
            if relation.X_train is None and self.weights is not None:  # rows of weight 0 have no part in bins
                relation = replace(relation, X_train=self.counted().X)
            return replace(self, explanations=relation.about(self.explanations, self.X)), None
        return self, bind(relation, self.explanations, self.positions)

    def take(self, rows: Array) -> "Sample":
        """The sample of some of the rows, given by their positions in this sample."""
        return replace(
            self,
            explanations=self.explanations.take(rows),
            labels=self.labels[rows],
            X=None if self.X is None else take_rows(self.X, rows),
            weights=None if self.weights is None else self.weights[rows],
            clusters=None if self.clusters is None else np.unique(self.clusters[rows], return_inverse=True)[1],
            positions=self.places[rows],
            askers=None if self.askers is None else self.askers[rows],
        )

    def counted(self) -> "Sample":
        """The sample without rows of weight 0; a note says how many were left out."""
        if self.weights is None or (self.weights > 0).all():
            return self
        kept = np.flatnonzero(self.weights > 0)
        if not len(kept):
            raise BadInput(f"All {self.n:,} rows measured here have weight 0: give some of them positive weights.")
        return replace(self.take(kept), notes=(*weightless_note(self.n - len(kept)), *self.notes))

    def evenly(self) -> "Sample":
        """The same rows without weights if all of them weigh the same."""
        if self.weights is None or (self.weights != self.weights[0]).any():
            return self
        return replace(self, weights=None)

    def split(self, groups: Any) -> "dict[Any, Sample]":
        """One sample per group, by the name of the group.

        Parameters
        ----------
        groups : array-like, (n,)
            The group of each row; rows without one are a group, None.
        """
        notes = same_rows(X=self.X, explanations=self.explanations, groups=groups)
        names, numbers = self._numbered(groups)
        members = np.split(np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers))[:-1])
        parts = {name: self.take(rows) for name, rows in zip(names, members, strict=True)}
        for name, part in parts.items():
            if part.weights is not None and not part.weights.any():
                raise BadInput(f"All rows of group {name!r} have weight 0: leave them out, or give them some weight.")
        return {name: part.noting(notes) for name, part in parts.items()}

    def asking(self, groups: Any) -> "Sample":
        """The same rows, of which those of each group ask, numbered in the order of `split`; all of them answer."""
        numbers = self._numbered(groups)[1]
        return replace(self, askers=numbers).noting(same_rows(X=self.X, explanations=self.explanations, groups=groups))

    def _numbered(self, groups: Any) -> tuple[tuple[Any, ...], Ints]:
        """The names of the groups, and the number of each row's."""
        names, numbers = number_groups(groups)
        if self.positions is not None and len(numbers) > self.n:
            raise BadInput(
                f"Groups have {len(numbers):,} rows, but only {self.n:,} are reported: the others served to choose a "
                "discretizer. Pass the groups of the reported rows, np.asarray(groups)[evaluation.rows]."
            )
        same_length(predictions=self.n, groups=len(numbers))
        if len(names) > _MOST_GROUPS:
            raise BadInput(f"Groups have {len(names):,} different values, more than {_MOST_GROUPS:,}: bin them first.")
        return names, numbers

    def halves(self, seed: int) -> "tuple[Sample, Sample]":
        """Two random halves of the rows, each in the order of this sample: one to choose on, one to report on."""
        looked, reported = self.half_places(seed)
        return self.take(looked), self.take(reported)

    def half_places(self, seed: int) -> tuple[Ints, Ints]:
        """The places of the rows of both `halves` in this sample; rows of one cluster go to the same half."""
        what, unit = ("rows", np.arange(self.n)) if self.clusters is None else ("clusters", self.clusters)
        many = int(unit.max(initial=-1)) + 1
        if many < 4:
            raise BadInput(f"Choosing on one half of the {what} takes at least 4 of them; got {many}.")
        order = np.random.default_rng(check_whole(seed, "seed", 0)).permutation(many)
        first = np.isin(unit, order[: many // 2])
        return np.flatnonzero(first), np.flatnonzero(~first)

    def discretized(self, discretizer: Discretize | None) -> "Sample":
        """The same rows with coarser explanations; the sample itself if no discretizer is given.

        A discretizer that learns does so from one half of the rows, and the other half is the sample.
        """
        rows, chosen = self.settled(discretizer)
        coarse = discretize(rows.explanations, chosen)
        if coarse is rows.explanations:
            return rows
        for step in steps(chosen):
            if isinstance(step, ReasonCodes) and isinstance(rows.explanations, Importances):
                of_numbers = self.agreement.of_numbers
                coarse = step._faced(coarse, rows.explanations, *(((), None) if of_numbers else rows.numbered_labels))
        notes = (*rows.notes, *(note for note in rows.explanations.notes if note not in coarse.notes))
        return replace(rows, explanations=coarse, notes=notes, share_memory=isinstance(chosen, Discretizer))

    def settled(self, discretizer: Discretize | None) -> "tuple[Sample, Any]":
        """The rows to measure, and the discretizer once it has learned from the others, if it learns."""
        rows, _, known = self.learned({"": self.knowing(discretizer)}, {"": self.explanations})
        return rows, known[""]

    def learned(
        self, chosen: Mapping[str, Any], given: Mapping[str, Explanations]
    ) -> "tuple[Sample, Mapping[str, Explanations], Mapping[str, Any]]":
        """The rows to measure, their explanations, and the discretizers once they learned from the other rows.

        Parameters
        ----------
        chosen : mapping of str to discretizer
            What discretizes the explanations of that name; equal ones share what is learned from all of them.
        given : mapping of str to Explanations
            Several explanations of each row, such as those of several explainers.
        """
        learners = {name: each for name, each in chosen.items() if getattr(each, "learns", False)}
        if not learners:
            return self, given, chosen
        looked, reported = self.half_places(next(iter(learners.values())).seed)
        known, notes = dict(chosen), []
        for name, learner in learners.items():
            alike = [other for other in learners if learners[other] == learner]
            if name == alike[0]:
                parts = [given[other].take(looked) for other in alike]
                known |= dict.fromkeys(alike, learner._learned_from(join_all(parts)))
                notes.append(learned_note(learner, len(looked)))
        measured = {name: each.take(reported) for name, each in given.items()}
        return self.take(reported).noting(tuple(notes)), measured, known

    def taught(self, discretizer: Any) -> Any:
        """The discretizer as it learns from these rows, which are not measured."""
        return self.knowing(discretizer)._learned_from(self.explanations)

    def knowing(self, discretizer: Discretize | None) -> Any:
        """What a caller chose as a discretizer, one that knows the labels of this sample if it asks for them."""
        chosen = to_discretizer(discretizer)
        if not isinstance(chosen, Discretizer) or self.agreement.of_numbers:
            return chosen
        return chosen._knowing_labels(self.numbered_labels[0]) if chosen.asks_labels else chosen


def learned_note(discretizer: Any, looked: int) -> str:
    """What a reader should know of a discretizer that learned from so many rows that are not measured."""
    return f"{discretizer!r} learned from {looked:,} other rows, which are not measured"


def number_groups(groups: Any, what: str = "Groups") -> tuple[tuple[Any, ...], Ints]:
    """The different groups in order, and which of them each row is in; rows without a group are in the last, None.

    Examples
    --------
    >>> names, numbers = number_groups(["south", None, "north"])
    >>> names, numbers.tolist()
    (('north', 'south', None), [1, 2, 0])
    """
    column = None if is_frame(groups) else to_vector(groups, what)
    gone = np.zeros(0, bool) if column is None or column.ndim != 1 else missing_values(column)
    if column is None or not gone.any() or gone.all():
        return number_labels(to_labels(groups, what))
    names, known = number_labels(to_labels(column[~gone], what))
    numbers = np.full(len(column), len(names), np.int64)
    numbers[~gone] = known
    return (*names, None), numbers


def to_clusters(clusters: Any, rows: int) -> Ints | None:
    """The cluster of each row, by number; None if rows are not clustered."""
    if clusters is None:
        return None
    column = to_labels(clusters, "Clusters")
    same_length(explanations=rows, clusters=len(column))
    codes, first = group([column[:, None] if column.dtype.kind in "biuf" else column.astype(object)])
    if len(first) == 1 and rows > 1:
        only = column[:1].tolist()[0]
        raise BadInput(f"All {rows:,} rows are of one cluster ({only!r}), so none can be checked against another.")
    return codes


def with_askers(sample: Sample, askers: Any, by: Any) -> Sample:
    """The sample with 1 for rows that ask, 0 for those that only answer; itself if no askers are given."""
    if askers is None:
        return sample
    if by is not None:
        raise BadInput("Pass by=, whose groups ask in turn, or askers=, the rows of one group; not both.")
    rows = sample.n
    column = to_labels(askers, "Askers")
    same_length(explanations=rows, askers=len(column))
    if column.dtype.kind != "b":
        raise WrongType(f"askers= says of each row whether it asks, True or False; got {column[:1].tolist()[0]!r}.")
    if not column.any():
        raise BadInput("askers= is False for every row, so nobody asks: pass True for the rows of a group.")
    return replace(sample, askers=column.astype(np.int64))


def refuse_nobody(sample: Sample) -> None:
    """Raise if no row that is measured asks: those of weight 0 do not, nor those from which a discretizer learned."""
    if not np.any(sample.counted().askers):
        raise BadInput(
            "askers= is True only for rows that are not measured, of weight 0 or those from which a discretizer "
            "learned, so nobody asks: pass True for other rows too."
        )


def refuse_swapped(predictions: Any, X: Any) -> None:
    """Raise if explanations stand in the place of predictions."""
    if isinstance(predictions, Explanations) or is_of_shap(predictions):
        order = "pass (explanations, predictions, X)" if X is not None else "pass (explanations, predictions)"
        told = repr(predictions) if isinstance(predictions, Explanations) else "an Explanation of shap"
        raise WrongType(f"Explanations and predictions seem to be swapped, since predictions are {told}: {order}.")


def unlike_rows(given: Any, X: Any) -> tuple[str, ...]:
    """A note if shap's object explains other rows than X: those it holds are neither X nor made of its columns.

    A column is made of another if equal values stay equal, and of numbers the order too: scaled, coded or imputed.
    """
    held: Any = given.data if is_of_shap(given) else None
    tables = all(is_frame(each) or (isinstance(each, np.ndarray) and each.ndim == 2) for each in (held, X))
    if not tables or rows_of(held) != rows_of(X):
        return ()
    explained, rows = Rows(held), Rows(X)
    names = [] if given.feature_names is None else list(map(str, given.feature_names))
    known = rows.named and bool(names) and set(names) <= set(rows.names)
    places = [rows.names.index(name) for name in names] if known else range(len(rows.names))
    if len(places) != len(explained.names):
        return ()
    columns = zip(places, explained.columns, strict=True)
    odd = [rows.names[j] for j, column in columns if not _made_of(column, rows.column(j))]
    if not odd:
        return ()
    fact = f"shap explained other rows than X: they differ in {', '.join(odd[:3])}" + (", …" if len(odd) > 3 else "")
    return (Note(fact, "rows", advice="pass the rows that were explained, in their order"),)


def _made_of(column: Column, other: Column) -> bool:
    """Whether a column is another one, or made of it, where neither is missing, as one of them may be imputed."""
    both = ~(column.missing | other.missing)
    values, others = column.measured[both], other.measured[both]
    if "O" in (values.dtype.kind, others.dtype.kind):
        try:
            codes = np.stack([Column("", each).coded[0] for each in (values, others)])
        except TypeError:  # values that cannot be told apart, such as lists
            return True
        return len({len(np.unique(part, axis=-1).T) for part in (codes, *codes)}) == 1
    values, others = values.astype(np.float64), others.astype(np.float64)
    if np.allclose(values, others, 1e-5, 1e-8):
        return True
    ranks = np.unique(values, return_inverse=True)[1]
    return any(np.array_equal(ranks, np.unique(each, return_inverse=True)[1]) for each in (others, -others))


def number_labels(labels: Array) -> tuple[tuple[Any, ...], Ints]:
    """The distinct labels in order, and the position of each row's label among them."""
    if labels.ndim == 2:
        codes, first = group([labels])
        return tuple(map(tuple, labels[first].tolist())), codes
    if labels.dtype.kind in "biu" and len(labels):  # most labels: counted in place of being grouped
        low, high = int(labels.min()), int(labels.max())
        if high - low < 1_000_000 and high < 2**63:
            shifted = labels.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            values = (np.flatnonzero(present) + low).astype(labels.dtype)
            return tuple(values.tolist()), (np.cumsum(present) - 1)[shifted]
    if labels.dtype.kind == "f" and not np.isnan(labels).any():
        values, place = np.unique(labels + 0, return_inverse=True)
        return tuple(values.tolist()), place
    codes, first = group([labels[:, None] if labels.dtype.kind in "biuf" else labels.astype(object)])
    names = labels[first].tolist()
    order = in_order(names)
    return tuple(names[j] for j in order), np.argsort(order)[codes]


def in_order(names: list[Any]) -> list[int]:
    """The positions of labels in ascending order; by type and text if they have no order of their own."""
    try:
        if not any(isinstance(name, frozenset | tuple) for name in names):  # sets have an order, but not a total one
            with np.errstate(over="ignore"):  # a number in half precision beside a larger one
                return sorted(range(len(names)), key=names.__getitem__)
    except TypeError:  # labels without an order of their own
        pass
    return sorted(range(len(names)), key=lambda j: (type(names[j]).__name__, readable(names[j])))


def repeated_note(share: float, where: str = "") -> tuple[str, ...]:
    """The note on a share of rows that repeat an earlier row in every column; none if it is 0."""
    fact = f"{share:.0%} of rows repeat an earlier row in every column{where}"
    again = f"if the same cases were recorded again, they vouch for each other, {TOO_HIGH} and its interval too narrow"
    advice = "pass clusters= with one value per case", "name a column that tells cases apart with --cluster"
    return (Note(fact, "repeated", advice, f"{again}; drop them, or {advice[0]}"),) if share else ()


def weightless_note(rows: int) -> tuple[str, ...]:
    """That rows of weight 0 are left out, if there are any."""
    return (several(rows, "row", "rows") + " of weight 0 left out",) if rows else ()
