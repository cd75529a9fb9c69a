"""A batch: rows that are added together, as counts by day, group, explanation and label."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from faithscope.discretizers import Original
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations, readable, several
from faithscope.explanations.importances import Importances
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Ints
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
from faithscope.monitor.pairing import sorted_places
from faithscope.monitor.scopes import RowPatterns, Scopes, to_rules
from faithscope.sample import Sample

Cells = tuple[Ints, Ints, Ints, Ints, Ints]  # explanation, day, group and label by number, and rows

_MOST_GROUPS = 1000


class Names(NamedTuple):
    """Different values, of labels or groups, by number: what tells them apart in every process, and as JSON."""

    canonical: list[str]
    shown: list[str]

    @classmethod
    def of(cls, values: Iterable[Any]) -> "Names":
        """From the values."""
        values = list(values)
        return cls([_storable(canonical(value)) for value in values], [json.dumps(_plain(value)) for value in values])


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


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows counted by day, group, explanation and label.

    Attributes
    ----------
    digests : Digests
        Of the different explanations, or patterns.
    explanation, day, group, label, given : (m,) arrays
        Per cell the number of the explanation, the day, the numbers of group and label, and the rows.
    labels, groups : Names
    kind : str
        The kind of the explanations.
    told : function
        The text of an explanation by its number, and the features that it names.
    notes : tuple of str
    features : tuple of str or None
        The names of the features of importances, if they have any.
    discretizer : str
        By what explanations were discretized.
    patterns : RowPatterns or None
        If scopes were fixed beforehand: explanations are then patterns, and these say of what.
    clusters : Clusters or None
        If rows belong together: the cluster of each cell.
    ids : dict of Words
        Some of the ids that rows have, by the name of their column, if nobody said which rows belong together.
    options : dict
        What was said of the log that they are from, which the store remembers with its first rows.
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
    told: Callable[[int], tuple[str, tuple[str, ...]]]
    notes: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    discretizer: str = "Original()"
    patterns: RowPatterns | None = None
    clusters: Clusters | None = None
    ids: dict[str, Words] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

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
            Digests.of_bytes((text.encode() for text in names.canonical), len(names.canonical)).low
            for names in (self.labels, self.groups)
        )
        return mixed(mixed(word[self.explanation]) + 3 * labels[self.label] + 5 * groups[self.group] + further)


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


def counted_batch(
    explanations: Explanations,
    X: Any,
    cells: tuple[Ints, Ints, Ints, Ints],
    names: tuple[Sequence[Any], Sequence[Any]],
    notes: tuple[str, ...] = (),
    discretizer: Any = None,
    scopes: Scopes | None = None,
    *,
    apart: bool = True,
) -> Batch:
    """A batch from lines: explanations, what scopes read, day, group, label and rows; names of labels and groups.

    With scopes, explanations are rules, and lines of the same rule in the same scopes count together, as a pattern.
    """
    if len(names[1]) > _MOST_GROUPS:
        raise BadInput(f"Groups have {len(names[1]):,} different values, more than {_MOST_GROUPS:,}: bin them first.")
    if scopes is None:
        patterns, (codes, first) = None, explanations.group()
    else:
        assert isinstance(explanations, Rules)
        patterns, codes, first = scopes.patterns(explanations, X)
    counted: Cells = (codes, *cells)
    if not apart:
        order, begin = sorted_places(*counted[:4])
        explanation, day, group, label = (column[order[begin]] for column in counted[:4])
        counted = (explanation, day, group, label, np.diff(begin, append=len(order)))
    distinct = explanations.take(first)
    notes = (*distinct.notes, *notes)
    if patterns is not None:
        outside = ~patterns.inside[np.arange(len(first)), patterns.own]
        missed = int(counted[4][outside[counted[0]]].sum())
        told = several(missed, "row is not covered by its", "rows are not covered by their") + " own explanation"
        notes = (*notes, *((told,) if missed else ()))
    return Batch(
        explanation_digests(distinct) if patterns is None else patterns.digests(),
        *counted,
        Names.of(names[0]),
        Names.of(names[1]),
        canonical_kind(distinct),
        lambda place: (distinct.describe(place), named_features(distinct, place)),
        tuple(dict.fromkeys(notes)),
        feature_names(distinct),
        repr(discretizer or Original()),
        patterns,
    )


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
