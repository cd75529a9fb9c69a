"""Words of folded texts: words that mean little by themselves, and sequences of words that are found and replaced."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from faithscope.inputs.documents import fold

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
    """Sequences of words, looked up, so that their number does not matter.

    Parameters
    ----------
    phrases : iterable of str
        Folded texts; empty ones are left out.

    Examples
    --------
    >>> labels = WordSequences(["spam", "not spam"])
    >>> labels.replaced("this is not spam".split(), "<label>")
    ['this', 'is', '<label>']
    >>> labels.within("no spam at all".split()), sorted(labels.everywhere("not spam".split()))
    (['spam'], ['not spam', 'spam'])
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._known = {phrase for phrase in phrases if phrase}
        self._lengths: dict[str, set[int]] = {}  # of those that begin with a word
        for words in map(str.split, self._known):
            self._lengths.setdefault(words[0], set()).add(len(words))

    def everywhere(self, words: Sequence[str]) -> frozenset[str]:
        """All sequences that occur among these words."""
        return frozenset(phrase for start in range(len(words)) for phrase in self._beginning(words, start))

    def within(self, words: Sequence[str]) -> list[str]:
        """The sequences that occur among these words, in their order; of overlapping ones the first and longest."""
        return [" ".join(words[start:stop]) for start, stop in self._occurrences(words)]

    def replaced(self, words: Sequence[str], mark: str) -> list[str]:
        """The words with a mark in place of every sequence."""
        kept, done = [], 0
        for start, stop in self._occurrences(words):
            kept += [*words[done:start], mark]
            done = stop
        return [*kept, *words[done:]]

    def _beginning(self, words: Sequence[str], start: int) -> dict[str, int]:
        """The sequences that begin here, and where they end, the longest first."""
        stops = [start + length for length in sorted(self._lengths.get(words[start], ()), reverse=True)]
        return {phrase: stop for stop in stops if (phrase := " ".join(words[start:stop])) in self._known}

    def _occurrences(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        done = 0
        for start in range(len(words)):
            stop = next(iter(self._beginning(words, start).values()), start)
            if done <= start < stop:
                yield start, stop
                done = stop


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
