"""Words of folded texts: words that mean little by themselves, and sequences of words that are found and replaced."""

from collections.abc import Iterable, Sequence
from typing import Any

from faithscope.inputs.folding import fold

INPUT, LABEL = "<input>", "<label>"  # marks in place of words, which no folded text has
_STAND_INS = {INPUT: "\ue000", LABEL: "\ue001"}  # characters for private use, which folding keeps

# English words that name nothing: articles, pronouns, prepositions, conjunctions, forms of be, have and do.
_STOP_WORDS = (
    "a about after all also am an and another any are as at be because been before being both but by can could "
    "did do does doing during each either else even ever every for from had has have having he her here hers him "
    "his how i if in into is it its just may me might more most much must my no nor not of off on once one only "
    "or other others our out over own same shall she should since so some such than that the their them then "
    "there these they this those though through to too under until up upon very was we were what when where "
    "whether which while who whom whose why will with would you your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Those of them that are reasons by themselves, or turn one around.
CUE_WORDS = frozenset(["because", "since", "no", "not", "nor", "only", "same", "all", "some", "any", "every", "both"])


def fold_around_marks(text: str) -> str:
    """The folded text, in which the marks ``<input>`` and ``<label>`` stay.

    Examples
    --------
    >>> fold_around_marks("So, a <input>!")
    'so a <input>'
    """
    for mark, word in _STAND_INS.items():
        text = text.replace(mark, f" {word} ")
    folded = fold(text)
    for mark, word in _STAND_INS.items():
        folded = folded.replace(word, mark)
    return folded


class WordSequences:
    """Sequences of words, of which the longest counts where several begin.

    Parameters
    ----------
    phrases : iterable of str
        Folded texts; empty ones are left out.

    Examples
    --------
    >>> labels = WordSequences(["spam", "not spam"])
    >>> labels.replaced("this is not spam".split(), "<label>")
    ['this', 'is', '<label>']
    >>> labels.within("no spam at all".split())
    ['spam']
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        split = {tuple(phrase.split()) for phrase in phrases if phrase}
        for words in sorted(split, key=lambda words: (-len(words), words)):
            self._by_first.setdefault(words[0], []).append(words)

    def __bool__(self) -> bool:
        return bool(self._by_first)

    def within(self, words: Sequence[str]) -> list[str]:
        """The sequences that occur among these words, in their order; overlapping ones count once."""
        return [" ".join(sequence) for _, sequence in self._occurrences(words)]

    def replaced(self, words: Sequence[str], mark: str) -> list[str]:
        """The words with a mark in place of every sequence."""
        kept, done = [], 0
        for start, sequence in self._occurrences(words):
            kept += [*words[done:start], mark]
            done = start + len(sequence)
        return [*kept, *words[done:]]

    def _occurrences(self, words: Sequence[str]) -> list[tuple[int, tuple[str, ...]]]:
        if self._by_first.keys().isdisjoint(words):
            return []
        occurrences: list[tuple[int, tuple[str, ...]]] = []
        free = 0
        for start, word in enumerate(words):
            if start < free:
                continue
            for sequence in self._by_first.get(word, ()):
                if tuple(words[start : start + len(sequence)]) == sequence:
                    occurrences.append((start, sequence))
                    free = start + len(sequence)
                    break
        return occurrences


def label_phrases(labels: Iterable[Any]) -> tuple[str, ...]:
    """The folded texts of labels, and the words of those that have several, but stop words and words of all labels.

    Numbers and signs are no words: a text may count something, and a label 1 says nothing of it. A word that all labels
    share, as "risk" in "good risk" and "bad risk", names none of them.

    Examples
    --------
    >>> label_phrases(["not spam", "Spam", True, 3])
    ('not spam', 'spam', 'true')
    >>> label_phrases(["good risk", "bad risk"])
    ('bad', 'bad risk', 'good', 'good risk')
    """
    texts = {fold(str(label)) for label in labels if isinstance(label, str | bool)}
    shared = set.intersection(*(set(text.split()) for text in texts)) if len(texts) > 1 else set()
    words = {word for text in texts for word in text.split() if " " in text and word not in STOP_WORDS | shared}
    return tuple(sorted(phrase for phrase in texts | words if any(map(str.isalpha, phrase))))
