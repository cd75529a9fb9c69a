"""Highlights: words that justify a prediction; they apply to every document that contains all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import readable
from faithscope.explanations.conjunctions import Conjunctions, number_conjunctions
from faithscope.explanations.inputs import is_missing, to_vector


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Highlights(Conjunctions):
    """One set of words a row.

    Parameters
    ----------
    words : sequence of sets, tuples or lists of str
        The highlighted words of each document. A single string is one word. The empty set covers everything.
    tokenizer : callable
        From a document to its words, for documents given as strings; by default they are split at blanks.
    vocabulary : sequence or mapping, optional
        The word of each column, or each word's column, for documents given as a (sparse) bag-of-words matrix;
        such as a vectorizer's ``get_feature_names_out()`` or ``vocabulary_``.

    Examples
    --------
    >>> highlights = Highlights([{"great"}, {"dull", "plot"}])
    >>> highlights.describe(1)
    'dull, plot'
    """

    tokenizer: Callable[[str], Iterable[str]] = str.split
    vocabulary: Mapping[str, int] | None = None

    def __init__(
        self,
        words: Iterable[Any],
        tokenizer: Callable[[str], Iterable[str]] = str.split,
        vocabulary: Sequence[str] | Mapping[str, int] | None = None,
    ) -> None:
        rows = to_vector(words if hasattr(words, "to_numpy") else list(words), "Highlights")
        distinct, codes = number_conjunctions([_to_words(row, item) for row, item in enumerate(rows)])
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "distinct", distinct)
        object.__setattr__(self, "tokenizer", tokenizer)
        object.__setattr__(self, "vocabulary", _to_vocabulary(vocabulary))

    @property
    def kind(self) -> str:
        return "highlighted words"

    def describe(self, row: int) -> str:
        return ", ".join(map(str, self.conjunction(row))) or "nothing highlighted (applies everywhere)"

    def item(self, row: int) -> Any:
        return frozenset(self.conjunction(row))

    def holds(self, conditions: Sequence[Any], X: Any) -> Iterator[NDArray[np.bool_]]:
        documents, postings = _postings(self, list(conditions), X)
        for rows in postings:
            mask = np.zeros(documents, bool)
            mask[rows] = True
            yield mask


def _to_words(row: int, item: Any) -> tuple[str, ...]:
    words = [item] if isinstance(item, str) else list(item) if hasattr(item, "__iter__") else None
    if words is None or not all(isinstance(word, str) for word in words):
        raise WrongType(f"Highlights are sets of words; row {row} is {readable(item)}.")
    return tuple(sorted(set(map(str, words))))


def _to_vocabulary(vocabulary: Sequence[str] | Mapping[str, int] | None) -> Mapping[str, int] | None:
    if vocabulary is None or isinstance(vocabulary, Mapping):
        return vocabulary
    return {str(word): column for column, word in enumerate(vocabulary)}


def _postings(highlights: Highlights, words: list[str], X: Any) -> tuple[int, Iterator[NDArray[np.int64]]]:
    """The number of documents, and for each of these words the documents that contain it."""
    if hasattr(X, "tocsc") or (isinstance(X, np.ndarray) and X.ndim == 2):
        return int(X.shape[0]), _columns(highlights, words, X)
    documents = to_vector(X, "Documents")
    found: dict[str, list[int]] = {word: [] for word in words}
    for row, document in enumerate(documents):
        for word in set(_tokens(highlights, row, document)):
            if word in found:
                found[word].append(row)
    return len(documents), (np.array(found[word], np.int64) for word in words)


def _tokens(highlights: Highlights, row: int, document: Any) -> Iterable[str]:
    if isinstance(document, str):
        return highlights.tokenizer(document)
    if is_missing(document) or not hasattr(document, "__iter__"):
        raise BadInput(f"Documents must be texts or lists of words; row {row} is {document!r}.")
    return map(str, document)


def _columns(highlights: Highlights, words: list[str], X: Any) -> Iterator[NDArray[np.int64]]:
    if highlights.vocabulary is None:
        raise BadInput("Documents came as a bag-of-words matrix: say which word each column is, with vocabulary=.")
    from scipy.sparse import csc_array

    matrix = csc_array(X)
    matrix.eliminate_zeros()
    nothing = np.empty(0, np.int64)
    for word in words:
        column = highlights.vocabulary.get(word)
        if column is not None and not 0 <= column < matrix.shape[1]:
            raise BadInput(
                f"The vocabulary puts {word!r} in column {column}, but documents have {matrix.shape[1]} columns."
            )
        yield nothing if column is None else matrix.indices[matrix.indptr[column] : matrix.indptr[column + 1]]
