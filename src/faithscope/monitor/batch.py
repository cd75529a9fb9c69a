"""A batch: rows that are added together, as counts by day, group, explanation and label."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import split_cells, tabulate
from faithscope.discretizers import Original
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations, readable
from faithscope.inputs.labels import to_labels
from faithscope.monitor.canonical import (
    Digests,
    Words,
    canonical,
    canonical_kind,
    explanation_digests,
    feature_names,
    mixed,
)
from faithscope.monitor.naming import named_features
from faithscope.monitor.scoped.patterns import RowPatterns
from faithscope.sample import Sample, number_labels

Ints = NDArray[np.int64]
Cells = tuple[Ints, Ints, Ints, Ints, Ints]  # explanation, day, group and label by number, and rows

_MOST_GROUPS = 1000


@dataclass(frozen=True)
class Names:
    """Different values, of labels or groups, by number."""

    values: tuple[Any, ...]

    @property
    def canonical(self) -> list[str]:
        """What tells them apart in every process."""
        return [_storable(canonical(value)) for value in self.values]

    @property
    def shown(self) -> list[str]:
        """How they are shown, as JSON."""
        return [json.dumps(_plain(value)) for value in self.values]


class Clusters(NamedTuple):
    """64 bits for the cluster of each cell, and what clusters are named by: the first letters of canonical texts."""

    words: Words
    kinds: str

    @classmethod
    def of(cls, values: Sequence[Any], numbers: Ints) -> "Clusters":
        """From the different names, and the number of each cell's.

        Examples
        --------
        >>> clusters = Clusters.of(["ann", 7], np.array([0, 1, 0]))
        >>> bool(clusters.words[0] == clusters.words[2]), clusters.kinds
        (True, 'ns')
        """
        texts = [canonical(value) for value in values]
        digests = Digests.of_bytes((text.encode("utf-8", "surrogatepass") for text in texts), len(texts))
        return cls(digests.low[numbers], "".join(sorted({text[0] for text in texts})))


def _nothing(place: int) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows counted by day, group, explanation and label.

    Attributes
    ----------
    digests : Digests
        Of the different explanations.
    explanation, day, group, label, given : (m,) arrays
        Per cell the number of the explanation, the day, the numbers of group and label, and the rows.
    labels, groups : Names
    kind : str
        The kind of the explanations.
    describe : function
        The text of an explanation by its number.
    notes : tuple of str
    features : tuple of str or None
        The names of the features of importances, if they have any.
    speaks_of : function
        The features that an explanation names, by its number.
    discretizer : str
        By what explanations were discretized.
    patterns : RowPatterns or None
        If scopes were fixed beforehand: explanations are then patterns, and these say of what.
    clusters : Clusters or None
        If rows belong together: the cluster of each cell.
    ids : dict of Words
        Some of the ids that rows have, by the name of their column, if nobody said which rows belong together.
    """

    digests: Digests
    explanation: Ints
    day: Ints
    group: Ints
    label: Ints
    given: Ints
    labels: Names
    groups: Names
    kind: str
    describe: Callable[[int], str]
    notes: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    speaks_of: Callable[[int], tuple[str, ...]] = _nothing
    discretizer: str = "Original()"
    patterns: RowPatterns | None = None
    clusters: Clusters | None = None
    ids: dict[str, Words] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.given.sum())

    @property
    def filed(self) -> tuple[int, int | None, int | None, str]:
        """What is kept of it, whatever counts: its rows, first and last day, and the digest of its content."""
        days = (int(self.day.min()), int(self.day.max())) if self.rows else (None, None)
        return self.rows, *days, self.content()

    def content_id(self) -> str:
        """A digest of what was counted and when: the same rows of the same days have the same, in any order."""
        return self._digest(self.day.astype(np.uint64))

    def content(self) -> str:
        """A digest of what was counted, whenever it was: the same rows that are added on another day have the same."""
        return self._digest(np.zeros(len(self.day), np.uint64))

    def _digest(self, days: Words) -> str:
        """Of the sums of two random words per row: neither the order of rows nor how they are counted matters."""
        whose = days if self.clusters is None else days + 11 * self.clusters.words
        sums = [self.row_words(word, 7 * whose) @ self.given.astype(np.uint64) for word in self.digests]
        told = np.array([*sums, self.rows], np.uint64).tobytes()
        return hashlib.blake2b(told + self.kind.encode(), digest_size=12).hexdigest()

    def row_words(self, word: Words, further: Any = 0) -> Words:
        """A random word per cell of its explanation, which has this word, label and group, and of something further."""
        labels, groups = (
            Digests.of_bytes((text.encode() for text in names.canonical), len(names.values)).low
            for names in (self.labels, self.groups)
        )
        return mixed(mixed(word[self.explanation]) + 3 * labels[self.label] + 5 * groups[self.group] + further)


def batch_of(
    sample: Sample, days: Ints, groups: NDArray[Any] | None, discretizer: Any = None, *, apart: bool = False
) -> Batch:
    """The rows of a sample, whose explanations were discretized before, with their days and groups.

    `apart` leaves each row a cell of its own.
    """
    codes, first = sample.explanations.group()
    cells, names = cells_of(codes, len(first), sample, days, groups, apart=apart)
    distinct = sample.explanations.take(first)
    notes = tuple(dict.fromkeys((*distinct.notes, *sample.notes)))
    return counted_batch(distinct, cells, names, notes, discretizer)


def cells_of(
    codes: Ints, size: int, sample: Sample, days: Ints, groups: NDArray[Any] | None, *, apart: bool = False
) -> tuple[Cells, tuple[Sequence[Any], Sequence[Any]]]:
    """The rows of a sample by number of explanation, of which there are so many, day, group and label; their names."""
    labels, label = sample.numbered_labels
    members, group = ((None,), np.zeros(sample.n, np.int64)) if groups is None else number_labels(groups)
    refuse_many_groups(len(members))
    if apart:
        return (codes, days, group, label, np.ones(sample.n, np.int64)), (tuple(labels), tuple(members))
    dates, place = np.unique(days, return_inverse=True)
    kinds, inner = np.unique((place * len(members) + group) * len(labels) + label, return_inverse=True)
    cells, given = tabulate(codes, inner, size, len(kinds))
    explanation, inside = split_cells(cells, len(kinds))
    rest, label = np.divmod(kinds[inside], max(1, len(labels)))
    place, group = np.divmod(rest, len(members))
    return (explanation, dates[place], group, label, given), (tuple(labels), tuple(members))


def counted_batch(
    explanations: Explanations,
    cells: Cells,
    names: tuple[Sequence[Any], Sequence[Any]],
    notes: tuple[str, ...] = (),
    discretizer: Any = None,
) -> Batch:
    """A batch from its different explanations, its cells, and the names of its labels and groups."""
    labels, groups = (Names(tuple(values)) for values in names)
    digests = explanation_digests(explanations)
    kind = canonical_kind(explanations)
    features = feature_names(explanations)
    speaks_of = partial(named_features, explanations)
    told = repr(discretizer or Original())
    return Batch(digests, *cells, labels, groups, kind, explanations.describe, notes, features, speaks_of, told)


def crossed(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The group of each row by one column or several."""
    if len(columns) == 1:
        return columns[0]
    rows = np.empty(len(columns[0]), object)
    rows[:] = list(zip(*(column.tolist() for column in columns), strict=True))
    return rows


@contextmanager
def labels_alone() -> Iterator[None]:
    """The advice that holds for a monitor if predictions are numbers: it compares labels."""
    try:
        yield
    except BadInput as error:
        what, refused, _ = str(error).partition(", and labels agree only if they are equal")
        if not refused:
            raise
        raise BadInput(
            f"{what}, and a monitor compares labels: add the predicted class, or bins, such as "
            "np.digitize(predictions, edges)."
        ) from None


def to_group_column(values: Any, name: str) -> NDArray[Any]:
    """One group per row, none missing."""
    return to_labels(values, f"Groups by {name!r}")


def refuse_many_groups(many: int) -> None:
    """Raise if each group would have few rows."""
    if many > _MOST_GROUPS:
        raise BadInput(f"Groups have {many:,} different values, more than {_MOST_GROUPS:,}: bin them first.")


def _storable(text: str) -> str:
    """The text, or JSON of it if it has letters that no file holds; no canonical text begins with j."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"j{json.dumps(text)}"
    return text


def _plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and np.isfinite(value) else readable(value)
