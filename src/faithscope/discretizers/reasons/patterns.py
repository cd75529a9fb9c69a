"""The regular expressions of a codebook, searched in many texts, none of them without end.

Python's `re` reads what a caller writes; the library regex, which means the same and can be stopped, searches for it.
"""

import re
import time
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Bools
from faithscope.inputs.folding import compatible

_LONGEST = 2_000  # characters of an expression
_SECONDS = 10.0  # that one expression may take for a batch of texts, of which it should take less than one
_MOST_COPIES = 10**5  # of one part of an expression, which the library writes out
_QUOTES = re.compile("['\"’“”]")  # which no folded text has
# Letters, digits, edges of words, sets of ASCII's letters and digits, branches, groups and repeats: no match of these
# reaches over white space or depends on what is beyond.
_WITHIN_WORD = re.compile(r"(?:\w|[-|)*+?]|\\[bdw]|\((?:\?:)?|\{[0-9]*,?[0-9]*\}|\[[A-Za-z0-9_]+(?:-[A-Za-z0-9]+)*\])+")
_OTHER_BRACE = re.compile(r"(?<!\\)(?<!\\N)\{(?![0-9]*,?[0-9]*\})")


@dataclass(frozen=True)
class Pattern:
    """A compiled expression.

    Attributes
    ----------
    expression : regex.Pattern
        What is searched for.
    within_word : bool
        Whether each match lies within one word, so that a text has one exactly if one of its words has.
    """

    name: str
    expression: Any
    within_word: bool

    @classmethod
    def of(cls, name: str, text: Any, *, folded: bool) -> "Pattern":
        """The expression of a codebook, or one sentence why it cannot be used."""
        called = f"The pattern of {name!r}"
        if not isinstance(text, str):
            raise WrongType(f"{called} must be a text, a regular expression; got {text!r} ({type(text).__name__}).")
        if not text.strip():
            raise BadInput(f"{called} is empty, which matches everything: write what to look for.")
        if len(text) > _LONGEST:
            raise BadInput(f"{called} has {len(text):,} characters, more than {_LONGEST:,}: split it.")
        sign = _QUOTES.search(text) if folded else None
        if sign is not None:
            raise BadInput(
                f"{called}, {text!r}, looks for {sign[0]!r}, which folded texts do not have (don't is dont there): "
                "leave it out, or pass folded=False to search texts as written."
            )
        written = _folded_letters(text, called) if folded else text
        return cls(name, _compiled(written, called), _WITHIN_WORD.fullmatch(written) is not None)

    def among(self, texts: Sequence[str]) -> list[bool]:
        """Which texts have a match."""
        began = time.monotonic()
        try:
            return [self.expression.search(text, timeout=_left(began)) is not None for text in texts]
        except TimeoutError:
            raise BadInput(
                f"The codebook took {time.monotonic() - began:.0f} seconds for a few reasons, up to the pattern of "
                f"{self.name!r}: bound its repeats, such as .{{0,100}}, or shorten the reasons."
            ) from None


def _left(began: float) -> float:
    return max(began + _SECONDS - time.monotonic(), 0.0)


class WordMatches:
    """Which patterns each different word matches, found out when it is first met.

    Examples
    --------
    >>> words = WordMatches([Pattern.of("old", "old", folded=True), Pattern.of("red", "red", folded=True)])
    >>> words.among(["an old man", "", "a redder older man"]).tolist()
    [[True, False], [False, False], [True, True]]
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        self._numbers: dict[str, int] = {}
        self._bits = np.zeros((0, -(-len(patterns) // 8)), np.uint8)  # of each word, one per pattern

    def among(self, texts: Sequence[str]) -> Bools:
        """Which text has a match of which pattern."""
        if not self._patterns or not texts:
            return np.zeros((len(texts), len(self._patterns)), bool)
        words = [text.split() or [""] for text in texts]
        self._learn(dict.fromkeys(chain.from_iterable(words)))
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        numbers = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(words)), np.int64, int(sizes.sum()))
        matched = np.bitwise_or.reduceat(self._bits[numbers], np.cumsum(sizes) - sizes, axis=0)
        return np.unpackbits(matched, axis=1, count=len(self._patterns)).astype(bool)

    def _learn(self, words: Iterable[str]) -> None:
        """Search the words that are new."""
        new = [word for word in words if word not in self._numbers]
        mask = np.zeros((len(new), len(self._patterns)), bool)
        for column, pattern in enumerate(self._patterns):
            mask[:, column] = pattern.among(new)
        self._numbers.update(zip(new, range(len(self._bits), len(self._bits) + len(new)), strict=True))
        self._bits = np.concatenate([self._bits, np.packbits(mask, axis=1)])


def _folded_letters(text: str, called: str) -> str:
    """The expression with letters as folded texts have them: ß as ss, and ſ as s."""
    if text.isascii():
        return text
    parts, in_set, escaped = [], False, False
    for character in unicodedata.normalize("NFC", text):
        folded = character if character.isascii() or not character.isalpha() else compatible(character)
        if in_set and len(folded) > 1:
            raise BadInput(
                f"{called}, {text!r}, has {character!r} inside [], which folded texts have as {folded!r}: write "
                f"(?:{folded}|...) in place of [{character}...]."
            )
        parts.append(f"(?:{folded})" if len(folded) > 1 else folded)
        if not escaped:
            in_set = character == "[" or (in_set and character != "]")
        escaped = character == "\\" and not escaped
    return "".join(parts)


def _compiled(text: str, called: str) -> Any:
    """The expression for regex.

    What Python refuses is refused, and so is what the two would read differently: a set inside a set, and a brace that
    bounds no repeat, which regex takes for an allowance of misprints.
    """
    import regex  # here, since only codebooks need it

    if _OTHER_BRACE.search(text.replace(r"\\", "")):
        raise BadInput(f"{called}, {text!r}, has a {{ that bounds no repeat: write \\{{ to look for the sign itself.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(text, re.IGNORECASE)
        copies = prod(max(1, int(least)) for least in re.findall(r"\{([0-9]+)", text))
        if copies > _MOST_COPIES:
            raise BadInput(f"{called}, {text!r}, repeats a part more than {_MOST_COPIES:,} times: lower the numbers.")
        return regex.compile(text, regex.IGNORECASE | regex.VERSION0)
    except FutureWarning as problem:
        raise BadInput(f"{called}, {text!r}, is unclear ({problem}): write \\ before the sign that is meant.") from None
    except (re.error, regex.error, RecursionError, OverflowError, MemoryError) as problem:
        raise BadInput(f"{called}, {text!r}, is no regular expression of Python ({problem}): correct it.") from None
