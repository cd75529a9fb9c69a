"""Documents in which highlighted words stay, and the other words are masked or replaced."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.arrays import frame_column, frame_width, is_frame
from faithscope.populations.base import FEWEST, Draws
from faithscope.populations.seeds import seeds_of, uniforms

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents as lists of words, and which words of each are highlighted."""

    highlights: Highlights
    texts: list[str]

    @classmethod
    def of(cls, highlights: Highlights, X: Any, what: str = "X") -> "Documents":
        """Of documents as texts; anything else is refused, since no model reads words that were taken apart."""
        from faithscope.explainers.shared.documents import to_documents  # here, since it loads all explainers

        if is_frame(X) and frame_width(X) == 1:
            X = frame_column(X, 0)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) > 1 and shape[1] != 1:
            raise BadInput(
                f"{what} came as a matrix of {shape[1]:,} columns, and words are masked in texts: pass the documents "
                "as texts, and as the model a function from texts, such as a pipeline with its vectorizer."
            )
        return cls(highlights, to_documents(np.asarray(X).reshape(-1) if len(shape) > 1 else X))

    def words(self, row: int) -> list[str]:
        """The words of a document, in order."""
        from faithscope.explainers.shared.documents import words_of

        return words_of(self.highlights.tokenizer, self.texts[row])

    def highlighted(self, row: int, words: list[str]) -> Bools:
        """Which of the words are highlighted."""
        kept = set(self.highlights.conjunction(row))
        return np.fromiter((word in kept for word in words), bool, len(words))

    def holds(self, row: int, words: list[str]) -> bool:
        """Whether the document holds all highlighted words."""
        return set(self.highlights.conjunction(row)) <= set(words)

    @property
    def lengths(self) -> Ints:
        """About how many words each document has."""
        return np.fromiter((len(text) // 4 + 1 for text in self.texts), np.int64, len(self.texts))


@dataclass(frozen=True, eq=False)
class _WordDrawer(ABC):
    """Draws of documents, each made by a function of its own words."""

    documents: Documents
    draws: int
    seed: int

    @property
    def widths(self) -> Ints:
        return self.draws * np.maximum(FEWEST, self.documents.lengths)

    @cached_property
    def seeds(self) -> list[int]:
        """The seed of each document."""
        highlights = self.documents.highlights
        return seeds_of(
            self.seed, self.documents.texts, lambda row: repr(sorted(map(str, highlights.conjunction(row))))
        )

    def draw(self, start: int, stop: int) -> Draws:
        texts: list[str] = []
        of: list[int] = []
        for row in range(start, stop):
            words = self.documents.words(row)
            if self.documents.holds(row, words):
                texts += self._drawn(row, words)
                of += [row] * self.draws
        return Draws(texts, np.array(of, np.int64))

    @abstractmethod
    def _drawn(self, row: int, words: list[str]) -> list[str]:
        """Draws of a document, from its words."""


@dataclass(frozen=True, eq=False)
class MaskedWords(_WordDrawer):
    """Words that are not highlighted stay with probability `keep`; all occurrences of a word stay or go together."""

    keep: float = 0.5
    unknown: str | None = "UNK"

    @classmethod
    def of(
        cls, highlights: Highlights, X: Any, draws: int, seed: int, keep: float, unknown: str | None
    ) -> "MaskedWords":
        """Of documents that were explained by highlights."""
        return cls(Documents.of(highlights, X), draws, seed, keep, unknown)

    def _drawn(self, row: int, words: list[str]) -> list[str]:
        distinct = {word: place for place, word in enumerate(dict.fromkeys(words))}
        places = np.fromiter((distinct[word] for word in words), np.int64, len(words))
        chances = uniforms([self.seeds[row]], self.draws, len(distinct))[0]
        kept = (chances < self.keep)[:, places] | self.documents.highlighted(row, words)
        return list(map(self._writer(words), kept))

    def _writer(self, words: list[str]) -> Callable[[Bools], str]:
        unknown = self.unknown
        if unknown is None:
            return lambda kept: " ".join(word for word, stays in zip(words, kept.tolist(), strict=True) if stays)
        return lambda kept: " ".join(
            word if stays else unknown for word, stays in zip(words, kept.tolist(), strict=True)
        )


@dataclass(frozen=True, eq=False)
class WordsOfTraining(_WordDrawer):
    """Words that are not highlighted are replaced, each by a word of the training documents."""

    known: tuple[str, ...] = ()

    @classmethod
    def of(cls, highlights: Highlights, X: Any, X_train: Any, draws: int, seed: int) -> "WordsOfTraining":
        """Of documents that were explained by highlights, with the words of training documents."""
        training = Documents.of(highlights, X_train, "X_train")
        known = tuple(word for row in range(len(training.texts)) for word in training.words(row))
        if not known:
            raise BadInput("X_train holds no words to draw from: pass documents with words.")
        return cls(Documents.of(highlights, X), draws, seed, known)

    def _drawn(self, row: int, words: list[str]) -> list[str]:
        fixed = self.documents.highlighted(row, words)
        chances = uniforms([self.seeds[row]], self.draws, len(words))[0]
        places = (chances * len(self.known)).astype(np.int64)
        return [
            " ".join(
                word if stays else self.known[place]
                for word, stays, place in zip(words, fixed.tolist(), line, strict=True)
            )
            for line in places.tolist()
        ]
