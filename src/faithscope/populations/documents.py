"""Documents in which highlighted words stay and the others are masked or replaced, or near documents that hold them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.arrays import frame_column, frame_width, is_frame
from faithscope.populations.base import FEWEST, Drawer, Draws, seeds_of, uniforms

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def _texts(X: Any, what: str = "X") -> list[str]:
    """Documents as texts; anything else is refused, since no model reads words that were taken apart."""
    from faithscope.explainers.shared.documents import to_documents  # here, since it loads all explainers

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
    from faithscope.explainers.shared.documents import words_of

    return words_of(highlights.tokenizer, text)


def _lengths(texts: list[str]) -> Ints:
    """About how many words each document has."""
    return np.fromiter((len(text) // 4 + 1 for text in texts), np.int64, len(texts))


def _redrawn(
    highlights: Highlights,
    X: Any,
    draws: int,
    seed: int,
    write: Callable[[list[str], Bools, int], list[str]],
) -> Drawer:
    """Draws of documents: `write` makes them of the words, which of them are highlighted, and a seed."""
    texts = _texts(X)
    seeds = seeds_of(seed, texts, lambda row: repr(sorted(map(str, highlights.conjunction(row)))))

    def draw(start: int, stop: int) -> Draws:
        written: list[str] = []
        of: list[int] = []
        for row in range(start, stop):
            words, named = _words(highlights, texts[row]), set(highlights.conjunction(row))
            if named <= set(words):
                fixed = np.fromiter((word in named for word in words), bool, len(words))
                written += write(words, fixed, seeds[row])
                of += [row] * draws
        return Draws(written, np.array(of, np.int64))

    return Drawer(draws * np.maximum(FEWEST, _lengths(texts)), draw)


def masked_words(highlights: Highlights, X: Any, draws: int, seed: int, keep: float, unknown: str | None) -> Drawer:
    """Words that are not highlighted stay with probability `keep`; all occurrences of a word stay or go together."""

    def write(words: list[str], fixed: Bools, seed: int) -> list[str]:
        distinct = {word: place for place, word in enumerate(dict.fromkeys(words))}
        places = np.fromiter((distinct[word] for word in words), np.int64, len(words))
        kept = (uniforms([seed], draws, len(distinct))[0] < keep)[:, places] | fixed
        if unknown is None:
            return [" ".join(word for word, stays in zip(words, line, strict=True) if stays) for line in kept.tolist()]
        return [
            " ".join(word if stays else unknown for word, stays in zip(words, line, strict=True))
            for line in kept.tolist()
        ]

    return _redrawn(highlights, X, draws, seed, write)


def words_of_training(highlights: Highlights, X: Any, X_train: Any, draws: int, seed: int) -> Drawer:
    """Words that are not highlighted are replaced, each by a word of the training documents."""
    known = [word for text in _texts(X_train, "X_train") for word in _words(highlights, text)]
    if not known:
        raise BadInput("X_train holds no words to draw from: pass documents with words.")

    def write(words: list[str], fixed: Bools, seed: int) -> list[str]:
        places = (uniforms([seed], draws, len(words))[0] * len(known)).astype(np.int64)
        return [
            " ".join(
                word if stays else known[place] for word, stays, place in zip(words, fixed.tolist(), line, strict=True)
            )
            for line in places.tolist()
        ]

    return _redrawn(highlights, X, draws, seed, write)


def near_documents(highlights: Highlights, X: Any, X_train: Any, k: int) -> Drawer:
    """The k nearest training documents that hold all highlighted words, by Jaccard's distance of their sets of words.

    Of equally near ones the first; one that equals the document is left out.
    """
    training, texts = _texts(X_train, "X_train"), _texts(X)
    sets = [frozenset(_words(highlights, text)) for text in training]
    holding: dict[Any, set[int]] = {}
    for place, words in enumerate(sets):
        for word in words:
            holding.setdefault(word, set()).add(place)

    def nearest(row: int) -> list[int]:
        own = frozenset(_words(highlights, texts[row]))
        named = [holding.get(word, set()) for word in highlights.conjunction(row)]
        covered = sorted(set.intersection(*named)) if named else list(range(len(sets)))
        same = next((other for other in covered if training[other] == texts[row]), None)
        distance = {
            other: 1 - len(own & sets[other]) / max(1, len(own | sets[other])) for other in covered if other != same
        }
        return sorted(distance, key=lambda other: (distance[other], other))[:k]

    def draw(start: int, stop: int) -> Draws:
        near = [nearest(row) for row in range(start, stop)]
        of = np.repeat(np.arange(start, stop), [len(rows) for rows in near])
        return Draws([training[place] for rows in near for place in rows], of)

    return Drawer(np.full(len(texts), k * max(FEWEST, int(_lengths(training).mean()))), draw)
