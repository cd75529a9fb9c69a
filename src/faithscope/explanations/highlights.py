"""Highlights: words that justify a prediction; they apply to every document that contains all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import members
from faithscope.explanations.conditions.conjunctions import Conjunctions, Postings, as_they_come, number_conjunctions
from faithscope.inputs.alignment import index_of
from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.arrays import frame_columns, is_frame, to_items, to_vector
from faithscope.inputs.checks import check_function, is_whole
from faithscope.inputs.rows import rows_of
from faithscope.visible import visible
from faithscope.words import readable


class Highlights(Conjunctions):
    """One set of words per row.

    Parameters
    ----------
    words : sequence of sets, tuples or lists of str
        The highlighted words of each document. A single string is one word. The empty set covers every document.
    tokenizer : callable
        From a document to its words, for documents given as strings; by default `str.split`.
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

    _settings = ("vocabulary", "tokenizer")
    _alike = (("_reading", "tokenizers or vocabularies"),)

    def __init__(
        self,
        words: Iterable[Any],
        tokenizer: Callable[[str], Iterable[str]] = str.split,
        vocabulary: Sequence[str] | Mapping[str, int] | None = None,
    ) -> None:
        check_function(tokenizer, "tokenizer", "text")
        rows = to_vector(words, "Highlights")
        distinct, codes = number_conjunctions([_to_set(row, item) for row, item in enumerate(rows)])
        vocabulary = to_vocabulary(vocabulary)
        self._fill(codes=codes, distinct=distinct, tokenizer=tokenizer, vocabulary=vocabulary, index=index_of(words))

    @property
    def kind(self) -> str:
        return "highlighted words"

    @property
    def _reading(self) -> Any:
        """How documents become words."""
        return self.tokenizer if self.vocabulary is None else self.vocabulary

    def describe(self, row: int) -> str:
        return visible(", ".join(map(str, self.conjunction(row)))) or "nothing highlighted (applies everywhere)"

    def item(self, row: int) -> Any:
        return frozenset(self.conjunction(row))

    def masks(self, conditions: Sequence[Any], X: Any, order: Ints | None) -> Iterator[tuple[int, Bools]]:
        from scipy.sparse import csr_array

        which, rows = self.postings(conditions, X)
        held = csr_array((np.ones(len(which), bool), (which, rows)), (len(conditions), rows_of(X)))
        return as_they_come((held[[number]].toarray()[0] for number in range(len(conditions))), order)

    def postings(self, conditions: Sequence[Any], X: Any) -> Postings:
        documents, columns = self._read(X)
        if columns is None:
            numbers = {word: number for number, word in enumerate(conditions)}
            tokens = (set(self._tokens(row, document)) for row, document in enumerate(documents))
            held = [[numbers[word] for word in words if word in numbers] for words in tokens]
            sizes = np.fromiter(map(len, held), np.int64, len(held))
            which = np.fromiter(chain.from_iterable(held), np.int64, int(sizes.sum()))
            return which, np.repeat(np.arange(len(held)), sizes)
        known = [(number, columns[word]) for number, word in enumerate(conditions) if word in columns]
        for number, column in known:
            if not 0 <= column < documents.shape[1]:
                raise BadInput(
                    f"The vocabulary puts {conditions[number]!r} in column {column}, but documents have "
                    f"{documents.shape[1]} columns: pass the vocabulary that the matrix was made with."
                )
        which, places = np.array(known, np.int64).reshape(-1, 2).T
        chosen = documents.tocsc()[:, places]
        return np.repeat(which, np.diff(chosen.indptr)), chosen.indices.astype(np.int64)

    def documents(self, X: Any) -> list[list[str]]:
        """The different words of each document of X, as these highlights read it."""
        documents, columns = self._read(X)
        if columns is None:
            return [sorted(set(self._tokens(row, text))) for row, text in enumerate(documents)]
        return words_by_row(documents, columns)

    def _read(self, X: Any) -> tuple[Any, Mapping[str, int] | None]:
        """Documents as they are, and None; or, if words were counted, a sparse matrix and the column of each word."""
        if is_frame(X):
            columns = frame_columns(X)[1]
            if len(columns) != 1:
                raise BadInput(
                    "Documents came as a table of several columns: pass the one that holds the texts, or counts of "
                    "words as a matrix, with vocabulary=."
                )
            X = columns[0]
        if not hasattr(X, "tocsr") and not (isinstance(X, np.ndarray) and X.ndim == 2):
            return to_vector(X, "Documents"), None
        if self.vocabulary is None:
            raise BadInput(
                "Documents came as a bag-of-words matrix: say which word each column counts, with vocabulary=."
            )
        from scipy.sparse import csr_array

        matrix = csr_array(X)
        matrix.eliminate_zeros()
        if not np.isfinite(matrix.data).all():
            raise BadInput("Documents came as a bag-of-words matrix that holds NaN or infinity: fill it with counts.")
        return matrix, self.vocabulary

    def _tokens(self, row: int, document: Any) -> list[Any]:
        """The words of a document, which is a text or a list of them."""
        words = _words(self.tokenizer(document) if isinstance(document, str) else document)
        if words is None:
            raise BadInput(
                "Documents must be texts or lists of words, and the tokenizer must give words; row "
                f"{row} is {document!r}."
            )
        return words


def _words(given: Any) -> list[str] | None:
    """The words that a list, a set or an array holds; None of anything else."""
    words = members(given)
    return words if words is not None and all(isinstance(word, str) for word in words) else None


def _to_set(row: int, item: Any) -> tuple[str, ...]:
    words = _words([item] if isinstance(item, str) else item)
    if words is None:
        raise WrongType(
            f"Highlights must be sets of words; row {row} is {readable(item)}: pass e.g. {{'great', 'plot'}} per row."
        )
    return tuple(sorted(set(map(str, words))))


def to_vocabulary(vocabulary: Any) -> dict[str, int] | None:
    """The column of each word, from a mapping or from the words in order; None for none."""
    if vocabulary is None:
        return None
    if not isinstance(vocabulary, Mapping):
        words = list(map(str, to_items(vocabulary, "vocabulary, if it is no mapping of words to their columns,")))
        if len(set(words)) < len(words):
            raise BadInput(f"vocabulary names {max(words, key=words.count)!r} twice: give each column its own word.")
        vocabulary = dict(zip(words, range(len(words)), strict=True))
    odd = next((word for word, column in vocabulary.items() if not is_whole(column)), None)
    if odd is not None:
        raise WrongType(f"vocabulary must map words to their columns, whole numbers; {odd!r} has {vocabulary[odd]!r}.")
    return {str(word): int(column) for word, column in vocabulary.items()}


def words_by_row(matrix: Any, columns: Mapping[str, int]) -> list[list[str]]:
    """The words of each row of a bag-of-words matrix."""
    words = {column: word for word, column in columns.items()}
    return [
        sorted(words[column] for column in matrix.indices[start:stop].tolist() if column in words)
        for start, stop in pairwise(matrix.indptr.tolist())
    ]
