"""The training documents that hold all highlighted words and are nearest to a document."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.highlights import Highlights
from faithscope.populations.base import FEWEST, Draws
from faithscope.populations.words import Documents

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NearDocuments:
    """The k nearest training documents, by Jaccard's distance of their sets of words.

    Attributes
    ----------
    documents, training : Documents
    holding : dict of str to set of int
        The training documents that hold each word.
    sets : list of frozensets
        The words of each training document.
    """

    documents: Documents
    training: Documents
    holding: dict[str, set[int]]
    sets: list[frozenset[str]]
    k: int

    @classmethod
    def of(cls, highlights: Highlights, X: Any, X_train: Any, k: int) -> "NearDocuments":
        """Of documents that were explained by highlights, and training documents."""
        training = Documents.of(highlights, X_train, "X_train")
        sets = [frozenset(training.words(row)) for row in range(len(training.texts))]
        holding: dict[str, set[int]] = {}
        for row, words in enumerate(sets):
            for word in words:
                holding.setdefault(word, set()).add(row)
        return cls(Documents.of(highlights, X), training, holding, sets, k)

    @property
    def widths(self) -> Ints:
        return np.full(len(self.documents.texts), self.k * max(FEWEST, int(self.training.lengths.mean())))

    def draw(self, start: int, stop: int) -> Draws:
        near = [self._nearest(row) for row in range(start, stop)]
        of = np.repeat(np.arange(start, stop), [len(rows) for rows in near])
        return Draws([self.training.texts[row] for rows in near for row in rows], of)

    def _nearest(self, row: int) -> list[int]:
        """The nearest training documents, of equally near ones the first; one that equals the document is left out."""
        own = frozenset(self.documents.words(row))
        named = self.documents.highlights.conjunction(row)
        covered = self._covered(named)
        same = next((other for other in covered if self.training.texts[other] == self.documents.texts[row]), None)
        distance = {other: _jaccard(own, self.sets[other]) for other in covered if other != same}
        return sorted(distance, key=lambda other: (distance[other], other))[: self.k]

    def _covered(self, words: Any) -> list[int]:
        if not words:
            return list(range(len(self.sets)))
        return sorted(set.intersection(*(self.holding.get(word, set()) for word in words)))


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    return 1 - len(first & second) / max(1, len(first | second))
