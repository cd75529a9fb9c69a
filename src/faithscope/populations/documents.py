"""Documents in which highlighted words stay and the others are masked or replaced, or near documents that hold them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.array_types import Ints
from faithscope.inputs.arrays import frame_column, frame_width, is_frame
from faithscope.inputs.documents import to_documents, words_of
from faithscope.populations.base import FEWEST, Drawer, Draws, seeds_of, uniforms

Words = NDArray[np.object_]


def _texts(X: Any, what: str = "X") -> list[str]:
    """Documents as texts; anything else is refused, since no model reads words that were taken apart."""
    if is_frame(X) and frame_width(X) == 1:
        X = frame_column(X, 0)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) > 1 and shape[1] != 1:
        raise BadInput(
            f"{what} came as a matrix of {shape[1]:,} columns, and words are masked in texts: pass the documents "
            "as texts, and as the model a function from texts, such as a pipeline with its vectorizer."
        )
    return to_documents(np.asarray(X).reshape(-1) if len(shape) > 1 else X)


def _words(highlights: Highlights, text: str) -> list[str]:
    """The words of a document, in order."""
    return words_of(highlights.tokenizer, text)


def _lengths(texts: list[str]) -> Ints:
    """About how many words each document has."""
    return np.array([len(text) // 4 + 1 for text in texts])


def _redrawn(highlights: Highlights, X: Any, draws: int, seed: int, instead: Callable[[Words, int], Words]) -> Drawer:
    """Draws of documents in which highlighted words stay.

    ``instead(words, seed)`` gives, for each draw and each of the words, what takes its place; None for nothing.
    """
    texts = _texts(X)
    seeds = seeds_of(seed, texts, lambda row: repr(sorted(map(str, highlights.conjunction(row)))))

    def draw(start: int, stop: int) -> Draws:
        written: list[str] = []
        of: list[int] = []
        for row in range(start, stop):
            words, named = np.array(_words(highlights, texts[row]), object), set(highlights.conjunction(row))
            if named <= set(words):
                fixed = np.array([word in named for word in words], bool)
                lines = np.where(fixed, words, instead(words, seeds[row])).tolist()
                written += [" ".join(word for word in line if word is not None) for line in lines]
                of += [row] * draws
        return Draws(written, np.array(of, np.int64))

    return Drawer(draws * np.maximum(FEWEST, _lengths(texts)), draw)


def masked_words(highlights: Highlights, X: Any, draws: int, seed: int, keep: float, unknown: str | None) -> Drawer:
    """Words that are not highlighted stay with probability `keep`; all occurrences of a word stay or go together."""

    def instead(words: Words, seed: int) -> Words:
        distinct = {word: place for place, word in enumerate(dict.fromkeys(words))}
        places = np.array([distinct[word] for word in words], np.int64)
        kept = (uniforms([seed], draws, len(distinct))[0] < keep)[:, places]
        return np.where(kept, words, np.array(unknown, object))

    return _redrawn(highlights, X, draws, seed, instead)


def words_of_training(highlights: Highlights, X: Any, X_train: Any, draws: int, seed: int) -> Drawer:
    """Words that are not highlighted are replaced, each by a word of the training documents."""
    known = np.array([word for text in _texts(X_train, "X_train") for word in _words(highlights, text)], object)
    if not len(known):
        raise BadInput("X_train holds no words to draw from: pass documents with words.")

    def instead(words: Words, seed: int) -> Words:
        return np.asarray(known[(uniforms([seed], draws, len(words))[0] * len(known)).astype(np.int64)])

    return _redrawn(highlights, X, draws, seed, instead)


def near_documents(highlights: Highlights, X: Any, X_train: Any, k: int) -> Drawer:
    """The k nearest training documents that hold all highlighted words, by Jaccard's distance of their sets of words.

    Of equally near ones the first; one that equals the document is left out.
    """
    training, texts = _texts(X_train, "X_train"), _texts(X)
    if not training:
        raise BadInput("X_train is empty: at least one training document is needed to draw from.")
    sets = [frozenset(_words(highlights, text)) for text in training]
    holding: dict[Any, set[int]] = {}
    for place, words in enumerate(sets):
        for word in words:
            holding.setdefault(word, set()).add(place)

    def nearest(row: int) -> list[int]:
        own = frozenset(_words(highlights, texts[row]))
        named = [holding.get(word, set()) for word in highlights.conjunction(row)]
        covered = sorted(set.intersection(*named)) if named else range(len(sets))
        same = next((other for other in covered if training[other] == texts[row]), None)
        distance = {
            other: 1 - len(own & sets[other]) / max(1, len(own | sets[other])) for other in covered if other != same
        }
        return sorted(distance, key=distance.__getitem__)[:k]

    def draw(start: int, stop: int) -> Draws:
        near = [nearest(row) for row in range(start, stop)]
        of = np.repeat(np.arange(start, stop), [len(rows) for rows in near])
        return Draws([training[place] for rows in near for place in rows], of)

    return Drawer(np.full(len(texts), k * max(FEWEST, int(_lengths(training).mean()))), draw)
