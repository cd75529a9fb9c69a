"""Documents in which highlighted words stay, and the others are masked by chance."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.arrays import frame_column, frame_names, is_frame
from faithscope.inputs.documents import to_documents, words_of
from faithscope.populations.base import FEWEST, Drawer, Draws, seeds_of, uniforms


def masked_words(highlights: Highlights, X: Any, draws: int, seed: int, keep: float, unknown: str | None) -> Drawer:
    """Words that are not highlighted stay with probability `keep`; all occurrences of a word stay or go together.

    A document that lacks a word which is highlighted has no draw.
    """
    texts = _texts(X)
    seeds = seeds_of(seed, texts, lambda row: repr(sorted(map(str, highlights.conjunction(row)))))

    def draw(start: int, stop: int) -> Draws:
        written: list[str] = []
        of: list[int] = []
        for row in range(start, stop):
            words, named = words_of(highlights.tokenizer, texts[row]), set(highlights.conjunction(row))
            if named <= set(words):
                place = {word: number for number, word in enumerate(dict.fromkeys(words))}
                stays = uniforms([seeds[row]], draws, len(place))[0] < keep
                stays[:, [number for word, number in place.items() if word in named]] = True
                for line in stays.tolist():
                    told = (word if line[place[word]] else unknown for word in words)
                    written.append(" ".join(word for word in told if word is not None))
                of += [row] * draws
        return Draws(written, np.array(of, np.int64))

    return Drawer(draws * np.array([max(FEWEST, len(text) // 4 + 1) for text in texts]), draw)


def _texts(X: Any) -> list[str]:
    """Documents as texts; anything else is refused, since no model reads words that were taken apart."""
    if is_frame(X) and len(frame_names(X)) == 1:
        X = frame_column(X, 0)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) > 1 and shape[1] != 1:
        raise BadInput(
            f"X came as a matrix of {shape[1]:,} columns, and words are masked in texts: pass the documents as texts, "
            "and as the model a function from texts, such as a pipeline with its vectorizer."
        )
    return to_documents(np.asarray(X).reshape(-1) if len(shape) > 1 else X)
