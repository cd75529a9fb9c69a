"""Patterns that match within words, searched in each different word once."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers.reasons.deadline import Deadline
from faithscope.discretizers.reasons.patterns import Pattern


class WordMatches:
    """Which patterns each different word matches, found out when it is first met.

    Examples
    --------
    >>> words = WordMatches([Pattern.of("old", "old", folded=True), Pattern.of("red", "red", folded=True)])
    >>> words.among(["an old man", "", "a redder older man"], Deadline()).tolist()
    [[True, False], [False, False], [True, True]]
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        self._numbers: dict[str, int] = {}
        self._bits = np.zeros((0, -(-len(patterns) // 8)), np.uint8)  # of each word, one per pattern

    def among(self, texts: Sequence[str], deadline: Deadline) -> NDArray[np.bool_]:
        """Which text has a match of which pattern."""
        if not self._patterns or not texts:
            return np.zeros((len(texts), len(self._patterns)), bool)
        words = [text.split() or [""] for text in texts]
        self._learn(dict.fromkeys(chain.from_iterable(words)), deadline)
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        numbers = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(words)), np.int64, int(sizes.sum()))
        matched = np.bitwise_or.reduceat(self._bits[numbers], np.cumsum(sizes) - sizes, axis=0)
        return np.unpackbits(matched, axis=1, count=len(self._patterns)).astype(bool)

    def _learn(self, words: Iterable[str], deadline: Deadline) -> None:
        """Search the words that are new."""
        new = [word for word in words if word not in self._numbers]
        lower = [word.lower() for word in new]
        mask = np.zeros((len(new), len(self._patterns)), bool)
        for column, pattern in enumerate(self._patterns):
            mask[:, column] = pattern.among(new, lower, deadline)
        self._numbers.update(zip(new, range(len(self._bits), len(self._bits) + len(new)), strict=True))
        self._bits = np.concatenate([self._bits, np.packbits(mask, axis=1)])
