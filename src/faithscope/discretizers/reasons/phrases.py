"""CommonPhrases: the commonest phrases of some reasons, learned on one half of the rows; Phrases: known ones."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nsmallest
from typing import Any

import numpy as np

from faithscope.discretizers.base import Discretizer
from faithscope.discretizers.reasons import OTHER, keys_of, text_digest, to_reasons
from faithscope.discretizers.reasons.words import CUE_WORDS, STOP_WORDS, WordSequences, fold_around_marks
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain
from faithscope.explanations.reasons import per_text
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_whole
from faithscope.readers import as_explanations

_LONGEST = 4  # words of a phrase
_MOST_TEXTS = 50_000  # different texts that are learned from
_MOST_WORDS = 1_000  # of each of them
_MOST = 10_000  # phrases
_LOOKED = 20  # phrases that are looked at for each that is chosen, since parts of others are left out
_SHOWN = 12  # phrases that the repr writes out


@dataclass(frozen=True, init=False, repr=False)
class Phrases(Discretizer):
    """Which of some phrases a reason has: a set of them, or "other" if it has none.

    Parameters
    ----------
    phrases : list of str
        Compared with whole words of the folded texts; ``<input>`` and ``<label>`` are the marks of templates.

    Examples
    --------
    >>> from faithscope import Reasons
    >>> Phrases(["not the same", "outside"])(Reasons(["He is OUTSIDE.", "It rains."])).values.tolist()
    [frozenset({'outside'}), frozenset({'other'})]
    """

    phrases: tuple[str, ...]

    def __init__(self, phrases: Sequence[str]) -> None:
        folded = tuple(dict.fromkeys(fold_around_marks(str(phrase)) for phrase in to_items(phrases, "Phrases")))
        if not folded or "" in folded or OTHER & {*folded}:
            raise BadInput('Phrases needs at least one phrase, each of one word or more, none of them just "other".')
        self._fill(phrases=folded)

    def __call__(self, explanations: Explanations) -> Plain:
        reasons = to_reasons(self, explanations)
        known = WordSequences(self.phrases)
        shared = cache(lambda names: names)  # equal sets are one
        return keys_of(per_text(reasons.folded, lambda text: shared(known.everywhere(text.split()) or OTHER)), reasons)

    def __repr__(self) -> str:
        if len(self.phrases) > _SHOWN:
            shown = ", ".join(map(repr, self.phrases[:3]))
            return f"Phrases(<{len(self.phrases):,} phrases: {shown}, …; digest {text_digest(repr(self.phrases))}>)"
        return f"Phrases({list(self.phrases)})"


@dataclass(frozen=True)
class CommonPhrases(Discretizer):
    """Which of the k commonest phrases a reason has, the phrases learned on other rows than are measured.

    A phrase is one to four words of the folded text, not all of them stop words ("the", "is"; but "not" and
    "because" tell something). Words are what white space separates: segment Chinese or Japanese texts first. The
    commonest are those that most rows have; of a phrase and a part of it that as many rows have, the longer one counts.
    Wherever a sample is measured, one half of its rows serves to learn and the other is reported, as with `Best`;
    predictions are not looked at.

    Parameters
    ----------
    k : int
        How many phrases.
    seed : int
        Of the halves (`evaluate` and `compare` have their own), and of the 50,000 different texts that are learned
        from if there are more.

    Examples
    --------
    >>> from faithscope import Reasons
    >>> CommonPhrases(2).learned_from(Reasons(["He is outside.", "She is outside.", "He sleeps."] * 4))
    Phrases(['is outside', 'he is outside'])
    """

    k: int = 20
    seed: int = 0

    learns = True

    def __post_init__(self) -> None:
        check_whole(self.k, "k, the number of phrases,", 1, _MOST)
        check_whole(self.seed, "seed", 0)

    def __call__(self, explanations: Explanations) -> Explanations:
        to_reasons(self, explanations)
        raise BadInput(
            f"{self!r} must first learn phrases, from other rows than are measured: pass it as discretizer= to a "
            "measure, which keeps one half of the rows for that, or call its learned_from(other_reasons)."
        )

    def _learned_from(self, explanations: Explanations) -> Phrases:
        return self.learned_from(explanations)

    def learned_from(self, explanations: Any) -> Phrases:
        """The discretizer by the commonest phrases of these reasons; the order of the rows does not matter."""
        texts = Counter(to_reasons(self, as_explanations(explanations)).folded.tolist())
        different = sorted(texts)
        if len(different) > _MOST_TEXTS:
            places = np.random.default_rng(self.seed).choice(len(different), _MOST_TEXTS, replace=False)
            different = [different[place] for place in places]
        rows: Counter[str] = Counter()
        for text in different:
            for phrase in _phrases(text.split()[:_MOST_WORDS]):
                rows[phrase] += texts[text]
        if not rows:
            raise BadInput("These reasons have no phrase but stop words, so none is common: pass other texts.")
        most = _LOOKED * int(self.k)
        several = [phrase for phrase, many in rows.items() if many > 1]
        ranked = nsmallest(  # longer ones first among equals, then by their letters
            most,
            several if len(several) >= most else rows,
            key=lambda phrase: (-rows[phrase], -phrase.count(" "), phrase),
        )
        return Phrases(_without_parts(ranked, rows, int(self.k)))


def _phrases(words: Sequence[str]) -> set[str]:
    """All sequences of one to four words, without those of stop words alone."""
    telling = [word not in STOP_WORDS or word in CUE_WORDS for word in words]
    return {" ".join(words[start:stop]) for start, stop in _spans(len(words)) if any(telling[start:stop])}


def _spans(words: int) -> Iterator[tuple[int, int]]:
    """Where the sequences of so many words, of at most four, begin and end."""
    for start in range(words):
        yield from ((start, stop) for stop in range(start + 1, min(start + _LONGEST, words) + 1))


def _without_parts(ranked: Sequence[str], rows: "Counter[str]", k: int) -> list[str]:
    """The first k phrases, without parts of a chosen one that as many rows have: they tell nothing more.

    A longer phrase comes first among equals, so that whatever is a part of it is known by then.
    """
    chosen: list[str] = []
    parts: set[tuple[int, str]] = set()
    for phrase in ranked:
        if len(chosen) < k and (rows[phrase], phrase) not in parts:
            chosen.append(phrase)
            words = phrase.split()
            parts.update((rows[phrase], " ".join(words[start:stop])) for start, stop in _spans(len(words)))
    return chosen
