"""Reasons that name a label: which do, the same reasons with these words masked, and a note that says so."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple, cast

import numpy as np

from faithscope.discretizers import Discretize, to_discretizer
from faithscope.discretizers.reasons.words import LABEL, WordSequences, label_phrases
from faithscope.explanations.reasons import Reasons, per_text
from faithscope.inputs.array_types import Floats
from faithscope.notes import Notes
from faithscope.sample import Sample

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)  # Thai to Han


class NamedLabels(NamedTuple):
    """Which reasons of the rows that are measured name a label.

    Attributes
    ----------
    phrases : tuple of str
        All words and phrases that were looked for, folded.
    some, own : (n,) arrays
        1 where a reason has a word of any label, and one of the label that its own row was predicted.
    words : list of (str, int)
        The words of labels with the number of reasons that have them, the commonest first.
    """

    phrases: tuple[str, ...]
    some: Floats
    own: Floats
    words: list[tuple[str, int]]


def named_labels(sample: Sample, measured: Sample, further: Iterable[str] = ()) -> NamedLabels:
    """The words of labels that reasons have; `further` are words besides those of the predictions.

    Rows of weight 0, and those from which a discretizer learns, are not `measured`.
    """
    reasons, rows = cast(Reasons, sample.explanations), np.flatnonzero(np.isin(sample.places, measured.places))
    labels, place = ((), np.zeros(sample.n, np.int64)) if sample.agreement.of_numbers else sample.numbered_labels
    phrases = tuple(sorted({*label_phrases(labels), *label_phrases(further)}))
    split, sequences = _splits(phrases), WordSequences(phrases)
    words = per_text(reasons.folded, lambda text: tuple(dict.fromkeys(sequences.within(split(text)))))[rows]
    own = [frozenset(label_phrases([label])) for label in labels] or [frozenset()]
    mine = np.array([not own[j].isdisjoint(has) for has, j in zip(words, place[rows], strict=True)], np.float64)
    some = np.fromiter(map(bool, words), np.float64, len(words))
    rows_of = Counter(word for each in words for word in each)
    return NamedLabels(phrases, some, mine, sorted(rows_of.items(), key=lambda pair: (-pair[1], pair[0])))


def masked(reasons: Reasons, phrases: tuple[str, ...]) -> Reasons:
    """The reasons, folded, with a mark in place of every one of these phrases.

    Examples
    --------
    >>> masked(Reasons(["Spam, since it sells.", "It sells."]), ("good", "spam")).texts.tolist()
    ['<label> since it sells', 'it sells']
    """
    split, sequences = _splits(phrases), WordSequences(phrases)
    folded = per_text(reasons.folded, lambda text: " ".join(sequences.replaced(split(text), LABEL)))
    return reasons._with(texts=folded, folded=folded)


def _splits(phrases: Iterable[str]) -> Callable[[str], list[str]]:
    """Splits a folded text into words; a label is a word of its own even if its script puts no spaces around it."""
    unspaced = sorted(filter(_UNSPACED.search, phrases), key=len, reverse=True)
    labels = re.compile("|".join(map(re.escape, unspaced)))
    return (lambda folded: labels.sub(r" \g<0> ", folded).split()) if unspaced else str.split


def label_word_notes(sample: Sample, coarse: Sample, discretizer: Discretize | None) -> Notes:
    """A note if reasons name labels: how many do.

    Parameters
    ----------
    sample, coarse : Sample
        The rows before and after they are discretized.
    """
    if not isinstance(sample.explanations, Reasons):
        return ()
    measured = coarse.counted()
    named = named_labels(sample, measured)
    share = measured.weight @ named.some / measured.weight.sum()
    beyond = getattr(to_discretizer(discretizer), "reads_beyond_text", False)
    told = f"{share:.0%}" if share >= 0.01 else f"{share:.2%}"
    advice = ", which their embeddings may know" if beyond else ": leakage() measures them with such words masked"
    such = (f"{told} of reasons name a label, such as {word!r}{advice}" for word, _ in named.words[:1])
    return tuple(such)
