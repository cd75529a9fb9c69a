"""A batch: rows that are added together, as counts by day, group, explanation and label."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from faithscope.discretizers import Original, to_discretizer
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations, readable, several
from faithscope.explanations.importances import Importances
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.arrays import frame_column, frame_names, is_frame
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_labels
from faithscope.monitor.canonical import (
    Digests,
    Words,
    canonical,
    canonical_kind,
    explanation_digests,
    feature_names,
    mixed,
    named_features,
)
from faithscope.monitor.scopes import RowPatterns, Scopes, to_rules
from faithscope.sample import Sample, number_labels

_MOST_GROUPS = 1000


class Names(NamedTuple):
    """Different values, of labels or groups, by number: what tells them apart in every process, and as JSON."""

    canonical: list[str]
    shown: list[str]

    @classmethod
    def of(cls, values: Iterable[Any]) -> "Names":
        """From the values."""
        values = list(values)
        return cls([*map(canonical, values)], [json.dumps(_plain(value)) for value in values])


def _plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and np.isfinite(value) else readable(value)


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows counted by day, group, explanation and label.

    Attributes
    ----------
    cells : dict of (m,) arrays
        By name: the `place` of the explanation among the different ones, its digest `high` and `low`, `day`, the
        numbers of group (`grp`) and `label`, the rows (`given`), and 64 bits for the `cluster` if rows belong together.
    labels, groups : Names
    kind, discretizer : str
        What explanations are, and by what they were discretized.
    told : function
        The text of an explanation by its place, and the features that it names.
    features : tuple of str or None
        The names of the features of importances, if they have any.
    patterns : RowPatterns or None
        If scopes were fixed beforehand: explanations are then patterns, and these say of what.
    clusters : str
        The kinds of names that clusters have; none if rows are independent.
    ids : dict of Words
        Some of the ids that rows have, by the name of their column, if nobody said which rows belong together.
    options : dict
        What was said of the log that they are from, which the store remembers with its first rows.
    notes : tuple of str
    """

    cells: dict[str, Array]
    labels: Names
    groups: Names
    kind: str
    discretizer: str
    told: Callable[[int], tuple[str, tuple[str, ...]]]
    features: tuple[str, ...] | None = None
    patterns: RowPatterns | None = None
    clusters: str = ""
    ids: dict[str, Words] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.cells["given"].sum())

    @property
    def filed(self) -> tuple[int, int, int, str]:
        """What is kept of it, whatever counts: its rows, first and last day, and the digest of its content."""
        day = self.cells["day"]
        return self.rows, int(day.min()), int(day.max()), self.content()

    def content(self) -> str:
        """A digest of what was counted, on whatever day: of sums of two random words per row, so in any order."""
        given = self.cells["given"].astype(np.uint64)
        sums = [self.row_words(word) @ given for word in ("high", "low")]
        told = np.array([*sums, self.rows], np.uint64).tobytes()
        return hashlib.blake2b(told + self.kind.encode(), digest_size=12).hexdigest()

    def row_words(self, word: str) -> Words:
        """A random word per cell of a word of its explanation, its label, group and cluster."""
        labels, groups = (Digests.of_texts(names.canonical).low for names in (self.labels, self.groups))
        further = 3 * labels[self.cells["label"]] + 5 * groups[self.cells["grp"]]
        if self.clusters:
            further += 7 * self.cells["cluster"]
        return mixed(mixed(self.cells[word]) + further)

    def clustered(self, values: Sequence[Any], numbers: Ints) -> "Batch":
        """With the different names of clusters, and the number of each cell's."""
        words, kinds = name_words(values)
        return replace(self, cells={**self.cells, "cluster": words[numbers]}, clusters=kinds)


def counted_batch(
    explanations: Explanations,
    X: Any,
    cells: Mapping[str, Array],
    names: tuple[Sequence[Any], Sequence[Any]],
    discretizer: Any,
    scopes: Scopes | None = None,
    notes: tuple[str, ...] = (),
) -> Batch:
    """A batch from lines: explanations, what scopes read, day, grp, label and given; names of labels and groups.

    With scopes, explanations are rules, and lines of the same rule in the same scopes count together, as a pattern.
    """
    if len(names[1]) > _MOST_GROUPS:
        raise BadInput(f"Groups have {len(names[1]):,} different values, more than {_MOST_GROUPS:,}: bin them first.")
    patterns = None
    if scopes is None:
        place, first = explanations.group()
    else:
        assert isinstance(explanations, Rules)
        patterns, place, first = scopes.patterns(explanations, X)
        outside = ~patterns.inside[np.arange(len(first)), patterns.own]
        if missed := int(cells["given"][outside[place]].sum()):
            told = several(missed, "row is not covered by its", "rows are not covered by their")
            notes = (*notes, f"{told} own explanation")
    distinct = explanations.take(first)
    digests = explanation_digests(distinct) if patterns is None else patterns.digests()
    return Batch(
        {"place": place, **digests.take(place)._asdict(), **cells},
        Names.of(names[0]),
        Names.of(names[1]),
        canonical_kind(distinct),
        repr(discretizer or Original()),
        lambda place: (distinct.describe(place), named_features(distinct, place)),
        feature_names(distinct),
        patterns,
        notes=tuple(dict.fromkeys((*distinct.notes, *notes))),
    )


def to_sample(scopes: Scopes | None, explanations: Any, predictions: Any, X: Any) -> Sample:
    """The rows that are added: with X if there are scopes, and only then."""
    if scopes is None and X is not None:
        raise BadInput(
            "X= tells which rows lie in scopes, and this monitor has none: leave X away, or begin one with scopes=, of "
            "importances scopes=importances.to_rules(X_train, k, bins)."
        )
    if scopes is not None and X is None:
        raise BadInput("This monitor has scopes, and which rows lie in them depends on their features: pass X=.")
    with labels_alone():
        if scopes is None:
            return Sample.of(explanations, predictions)
        known = isinstance(explanations, Importances)
        return Sample.of(scopes.alike(explanations, X) if known else to_rules(explanations), predictions, X)


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


def fixed_discretizer(given: Any, scopes: Scopes | None) -> Any:
    """The discretizer; raises if what it does depends on the rows of a batch, or would make rules no scopes."""
    if scopes is not None and given is not None:
        raise BadInput(f"Scopes are rules as they are, so discretizer={given!r} has no use: leave it away.")
    discretizer: Any = to_discretizer(given)
    if getattr(discretizer, "asks_labels", False) and discretizer._knowing_labels(()) != discretizer:
        raise BadInput(
            f"{discretizer!r} reads the labels of each batch, and a label may be missing on another day: name them, "
            "such as fs.Template(labels=['yes', 'no'])."
        )
    if getattr(discretizer, "learns", False):
        raise BadInput(
            f"{discretizer!r} learns from the rows at hand, so explanations of two days could not be compared: "
            "discretize by something that was fixed beforehand, such as fs.Codebook({...})."
        )
    return discretizer


def group_names(by: Any) -> tuple[str, ...]:
    """The names of what gives groups, as they were handed over."""
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ()
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise WrongType(f"by names what gives groups, such as 'region' or ['region', 'sex']; got {by!r}.")
    return names


def row_groups(names: Sequence[str], by: Any, rows: int) -> tuple[tuple[Any, ...], Ints]:
    """The different groups and the number of each row's; None is the only one if there are no groups."""
    if not names:
        if by is not None:
            raise BadInput("This monitor was begun without groups: begin another store with by='region'.")
        return (None,), np.zeros(rows, np.int64)
    if by is None:
        raise BadInput(f"This monitor has groups by {', '.join(names)}: pass by= with the group of each row.")
    if is_frame(by):
        by = {name: frame_column(by, j) for j, name in enumerate(frame_names(by))}
    if not isinstance(by, Mapping):
        if len(names) > 1:
            raise WrongType(f"This monitor has groups by {', '.join(names)}: pass a mapping with a column for each.")
        by = {names[0]: by}
    for name in (name for name in names if name not in by):
        raise BadInput(f"by has no column {name!r}: pass one for each of {', '.join(names)}.")
    columns = [to_labels(by[name], f"Groups by {name!r}") for name in names]
    for column in columns:
        same_length(explanations=rows, groups=len(column))
    if len(columns) == 1:
        return number_labels(columns[0])
    crossed = np.empty(rows, object)
    crossed[:] = list(zip(*(column.tolist() for column in columns), strict=True))
    return number_labels(crossed)


def row_clusters(given: Any, rows: int) -> tuple[Sequence[Any], Ints]:
    """The different clusters and the number of each row's, none missing."""
    column = to_labels(given, "Clusters")
    same_length(explanations=rows, clusters=len(column))
    return number_labels(column)


def name_words(values: Sequence[Any]) -> tuple[Words, str]:
    """64 bits for each name, and the kinds of names: the first letters of their canonical texts.

    Examples
    --------
    >>> name_words(["ann", 7])[1]
    'ns'
    """
    texts = [canonical(value) for value in values]
    return Digests.of_texts(texts).low, "".join(sorted({text[0] for text in texts}))


_ID = re.compile(r"(?i:(?:^|[\W_])(?:id|customer|client|patient))$|[a-z]I[dD]$")
LOOKED = 256  # ids of a batch that are kept, the first in order: whoever is among them once is so again
_ROWS_EACH = 10  # rows of a batch per id beyond which a column names something else, such as who decided


def are_ids(name: Any) -> bool:
    """Whether a column of this name says whose a row is.

    Examples
    --------
    >>> [name for name in ("id", "customer_id", "clientId", "paid", "Customer", "age") if are_ids(name)]
    ['id', 'customer_id', 'clientId', 'Customer']
    """
    return isinstance(name, str) and _ID.search(name) is not None


def first_ids(values: Iterable[Any], rows: int) -> Words:
    """The first so many different ids in order, as words; none if they are no texts or whole numbers, or too few."""
    different = set(values)
    alike = any(all(isinstance(value, kind) for value in different) for kind in (str, int))
    kept = sorted(different)[:LOOKED] if alike and len(different) >= min(LOOKED, rows / _ROWS_EACH) else []
    if kept in (list(range(len(kept))), list(range(1, len(kept) + 1))):  # rows that are numbered in each batch
        kept = []
    return name_words(kept)[0]
