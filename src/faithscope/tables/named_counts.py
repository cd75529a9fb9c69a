"""How many reasons of a log name a label, counted where the rows are."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from faithscope.measures.named_labels import by_number, own_words
from faithscope.tables.engine.answers import numbers_of


@dataclass(frozen=True)
class NamedCounts:
    """How many rows there are, how many of their reasons name a label, or their own, and by which words."""

    n: int
    rows: int
    own: int
    words: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float:
        """Share of reasons that name a label."""
        return self.rows / self.n

    @classmethod
    def of(cls, answer: Any) -> "NamedCounts":
        """From rows by label (if predictions are labels) and the words of labels that their reasons have."""
        given = numbers_of(answer, "given").tolist()
        labels = answer.column("label").to_pylist() if "label" in answer.column_names else [None] * len(given)
        named = [json.loads(text) if text else [] for text in answer.column("words").to_pylist()]
        words: Counter[str] = Counter()
        rows = own = 0
        for phrases, label, many in zip(named, labels, given, strict=True):
            words.update(dict.fromkeys(phrases, many))
            rows += many if phrases else 0
            own += many if not own_words([label])[0].isdisjoint(phrases) else 0
        return cls(sum(given), rows, own, tuple(by_number(words)))
