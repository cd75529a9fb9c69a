"""Anchors of texts as the package anchor-exp 0.0.2.0 gives them, for models that add up what words are worth."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.explainers.anchors.search import Keys, mix
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.documents import to_documents
from faithscope_reproduction.authors.anchor_search import anchors_of, line_seeds

_BATCH, _TOGETHER = 10, 1_000
_MASK = "UNK"


@dataclass(frozen=True, eq=False)
class ReleasedTextAnchors:
    """Explains a text by words that keep its prediction, or by no word at all, as the package does.

    Every word is masked with probability 1/2, each occurrence by itself. Words are what blanks separate. Texts alike
    have draws of their own. Of words that look equally precise the last is taken, as a stable sort has it.

    Parameters
    ----------
    model : model
        ``worth(word)`` is what a word adds to ``intercept``, and ``label(sums)`` gives the labels of sums.
    threshold : float
    seed : int
        With the text itself, and how often it came before, it decides what is drawn.
    """

    model: Any
    threshold: float
    seed: int = 0

    def __repr__(self) -> str:
        return f"ReleasedTextAnchors(threshold={self.threshold}, seed={self.seed})"

    def explain(self, X: Any, *, progress: Callable[[int, int], None] | None = None) -> fs.Highlights:
        """A set of words per text; the empty set if the first draws agree."""
        texts = to_documents(X)
        words, seeds = [text.split() for text in texts], line_seeds(self.seed, texts)
        chosen: list[list[str]] = [[]] * len(texts)
        order = np.argsort([len(part) for part in words], kind="stable")
        for begin in range(0, len(order), _TOGETHER):
            part = order[begin : begin + _TOGETHER]
            masked = MaskedWords.of(self.model, [words[place] for place in part], seeds[part])
            anchors = anchors_of(masked, np.full(len(part), self.threshold))
            for place, anchor in zip(part, anchors, strict=True):
                chosen[place] = [words[place][at] for at in np.flatnonzero(anchor)]
            if progress is not None:
                progress(begin + len(part), len(order))
        return fs.Highlights(chosen)


@dataclass(frozen=True, eq=False)
class MaskedWords:
    """Texts in which words are masked, by what each word adds to the model's sum.

    Attributes
    ----------
    model : model
    worths : (n, width) array
        What a word adds beyond what the mask adds; 0 beyond the end of a text.
    rest : (n,) array
        The sum of a text of masks alone.
    labels, seeds, many : (n,) arrays
    """

    model: Any
    worths: Floats
    rest: Floats
    labels: NDArray[Any]
    seeds: Keys
    many: Ints
    batch: int = _BATCH

    @classmethod
    def of(cls, model: Any, words: list[list[str]], seeds: Keys) -> "MaskedWords":
        """Texts as lists of words."""
        many = np.array([len(part) for part in words], np.int64)
        mask, start = float(model.worth(_MASK)), float(model.intercept)
        worths = np.zeros((len(words), int(many.max(initial=0))))
        for line, part in enumerate(words):
            worths[line, : len(part)] = [model.worth(word) - mask for word in part]
        rest = np.asarray(start + mask * many, np.float64)
        return cls(model, worths, rest, model.label(rest + worths.sum(axis=1)), seeds, many)

    def agreeing(self, lines: Ints, held: Bools, first: Ints, count: int) -> Ints:
        """How many of these draws have the text's prediction."""
        kept = self._kept(lines, held, first, count)
        sums = np.einsum("ijk,ik->ij", kept.astype(np.float64), self.worths[lines]) + self.rest[lines, None]
        return np.asarray((self.model.label(sums) == self.labels[lines, None]).sum(axis=1))

    def shown(self, line: int, held: Bools, count: int) -> tuple[Bools, Bools]:
        """Which words the first draws keep, and which of them have the text's prediction."""
        kept = self._kept(np.array([line]), held[None], np.zeros(1, np.int64), count)[0]
        labels = self.model.label(kept @ self.worths[line] + self.rest[line])
        return kept & (np.arange(kept.shape[1]) < self.many[line]), labels == self.labels[line]

    def _kept(self, lines: Ints, held: Bools, first: Ints, count: int) -> Bools:
        """Which words each draw keeps: (lines, count, width). A number of a line and its held words is one draw."""
        width = held.shape[1]
        sets = held.astype(np.uint64) @ mix(np.arange(1, width + 1))
        draws = mix(mix(self.seeds[lines] ^ mix(sets))[:, None] + (first[:, None] + np.arange(count)).astype(np.uint64))
        bits = mix(draws[:, :, None] + np.arange(1, -(-width // 64) + 1, dtype=np.uint64) * np.uint64(2**32))
        kept = np.unpackbits(bits.astype("<u8").view(np.uint8), axis=2, count=width).astype(bool)
        return np.asarray(kept | held[:, None])
