"""Reasons that name a label: which do, the same reasons with these words masked, and a note that says so."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.discretizers import Discretize, Discretizer, to_discretizer
from faithscope.discretizers.reasons.words import LABEL, WordSequences, label_phrases
from faithscope.explanations.reasons import Reasons, per_text
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.notes import Notes
from faithscope.sample import Sample

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)  # Thai to Han


@dataclass(frozen=True)
class LabelWords:
    """The words that name labels, to be looked for in reasons and to be masked.

    Attributes
    ----------
    phrases : tuple of str
        All words and phrases, folded.

    Examples
    --------
    >>> words = LabelWords.of(["spam", "good"])
    >>> reasons = Reasons(["Spam, since it sells.", "It sells."])
    >>> named = words.within(reasons)
    >>> named.tolist(), words.masked(reasons).texts.tolist()
    ([('spam',), ()], ['<label> since it sells', 'it sells'])
    """

    phrases: tuple[str, ...]

    @classmethod
    def of(cls, labels: Iterable[Any], further: Iterable[str] = ()) -> "LabelWords":
        """The words of labels, and further ones."""
        return cls(tuple(sorted({*label_phrases(labels), *label_phrases(further)})))

    @cached_property
    def _sequences(self) -> WordSequences:
        return WordSequences(self.phrases)

    @cached_property
    def _unspaced(self) -> re.Pattern[str] | None:
        """Finds the labels of scripts that put no spaces between words."""
        labels = sorted(filter(_UNSPACED.search, self.phrases), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, labels))) if labels else None

    def _split(self, folded: str) -> list[str]:
        """The words of a folded text; a label is a word of its own even if its script puts no spaces around it."""
        return (self._unspaced.sub(r" \g<0> ", folded) if self._unspaced else folded).split()

    def within(self, reasons: Reasons) -> Array:
        """The words of labels that each reason has, each once, as a tuple."""
        if not self.phrases:
            return to_objects([()] * len(reasons))
        sequences = self._sequences
        return per_text(reasons.folded, lambda text: tuple(dict.fromkeys(sequences.within(self._split(text)))))

    def masked(self, reasons: Reasons) -> Reasons:
        """The reasons, folded, with a mark in place of every word of a label."""
        replaced = self._sequences.replaced
        folded = per_text(reasons.folded, lambda text: " ".join(replaced(self._split(text), LABEL)))
        hidden = Reasons.made(folded, folded, reasons.about, reasons.form)
        return hidden._with(index=reasons.index, remarks=reasons.remarks)


@dataclass(frozen=True, eq=False)
class NamedLabels:
    """Which words that name a label each reason has.

    Attributes
    ----------
    words : (n,) array of tuples of str
        The words or phrases of labels in each reason, each once.
    own : (n,) array of bool
        Whether a reason has a word of the label that its own row was predicted.
    known : LabelWords
        All words and phrases that were looked for.
    """

    words: Array
    own: Bools
    known: LabelWords

    def counted(self, rows: Ints, weights: Floats | None) -> tuple[tuple[float, float], list[tuple[str, int]]]:
        """Of these rows, the shares of reasons, by weight, that name any label and their own; and the words by rows.

        The commonest word comes first; rows of weight 0 count nowhere.
        """
        words, own = self.words[rows], self.own[rows]
        weights = np.ones(len(rows)) if weights is None else weights
        named = np.fromiter(map(bool, words), bool, len(words))
        any_label, own_label = (float(weights[which].sum() / weights.sum()) for which in (named, own))
        rows_of = Counter(word for each in words[weights > 0] for word in each)
        return (any_label, own_label), sorted(rows_of.items(), key=lambda pair: (-pair[1], pair[0]))


def named_labels(sample: Sample, further: Iterable[str] = ()) -> NamedLabels:
    """The words of labels that reasons have; `further` are words besides those of the predictions."""
    reasons = sample.explanations
    assert isinstance(reasons, Reasons)
    labels, place = ((), np.zeros(sample.n, np.int64)) if sample.agreement.of_numbers else sample.numbered_labels
    known = LabelWords.of(labels, further)
    words, own = known.within(reasons), [frozenset(label_phrases([label])) for label in labels] or [frozenset()]
    named = [not own[j].isdisjoint(has) for has, j in zip(words, place, strict=True)]
    return NamedLabels(words, np.array(named, bool), known)


def label_word_notes(sample: Sample, coarse: Sample, discretizer: Discretize | None) -> Notes:
    """A note if reasons name labels: how many do.

    Parameters
    ----------
    sample, coarse : Sample
        The rows before and after they are discretized.
    """
    if not isinstance(sample.explanations, Reasons):
        return ()
    (share, _), words = named_labels(sample).counted(reported_rows(sample, discretizer), coarse.weights)
    beyond = getattr(to_discretizer(discretizer), "reads_beyond_text", False)
    told = f"{share:.0%}" if share >= 0.01 else f"{share:.2%}"
    advice = ", which their embeddings may know" if beyond else ": leakage() measures them with such words masked"
    return (f"{told} of reasons name a label, such as {words[0][0]!r}{advice}",) if words else ()


def reported_rows(sample: Sample, discretizer: Discretize | None) -> Ints:
    """The rows of a sample that are measured: all, or those from which a discretizer does not learn."""
    chosen = to_discretizer(discretizer)
    if not getattr(chosen, "learns", False):
        return np.arange(sample.n)
    assert isinstance(chosen, Discretizer)
    return sample.half_places(chosen.seed)[1]
