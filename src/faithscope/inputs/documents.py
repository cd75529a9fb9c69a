"""Documents as texts, texts as words, and texts without case, punctuation and superfluous white space."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from faithscope.errors import WrongType
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.checks import check_function

Tokenizer = Callable[[str], Iterable[str]]

_SIGNS = {ord(mark): "'" for mark in "'’‘ʼ＇`´"} | {0x2212: "-"}  # the minus sign is a symbol, not a dash
_NEAR_NUMBERS = set(".,:/%-'")  # what may be part of a number, or of a word; decided by its neighbors
# Patterns begin with the sign itself, which is searched for fast, and then look back at it.
_WITHIN_WORD = re.compile(r"'(?<=\w')(?=\w)")
_LOOSE = re.compile(
    r"[.,:/%'-](?:(?<=')|(?<=[,:/%])(?<!\d[,:/%])|(?<=[.,:/])(?!\d)|(?<=-)(?!\.?\d| [$€£¥] )|(?<=[^\W\d][.-]))"
)
_RAISED = re.compile(r"(?<=\d)(?=[²³¹⁰-₉¼-¾⅐-⅞↉])")  # between a digit and an exponent, an index or a fraction


def to_documents(X: Any) -> list[str]:
    """Documents as a list of strings; raises if one is not a text."""
    documents: list[Any] = to_vector(X, "Documents").tolist()
    wrong = next((row for row, document in enumerate(documents) if not isinstance(document, str)), None)
    if wrong is not None:
        raise WrongType(f"Documents must be texts; row {wrong} is {documents[wrong]!r}. Fill or drop such rows.")
    return documents


def words_of(tokenizer: Any, text: str) -> list[str]:
    """The words of a text, by a caller's tokenizer, whose answer is checked."""
    tokens = check_function(tokenizer, "tokenizer", "text")(text)
    words: list[Any] = list(tokens) if hasattr(tokens, "__iter__") else [None]
    if not all(isinstance(word, str) for word in words):
        raise WrongType(f"The tokenizer must give words; for {text!r} it gave {tokens!r}.")
    return words


class _Characters(dict[int, str]):
    """What each character becomes, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        kept = chr(code)
        kind = unicodedata.category(kept)
        if kept not in _NEAR_NUMBERS:
            if kind == "Pd":
                kept = "-"
            elif kind == "Cf" or "\ufe00" <= kept <= "\ufe0f":  # marks of writing direction, joiners, variants of emoji
                kept = ""
            elif kind[0] == "S":
                kept = f" {kept} "  # so that age<30 is age < 30
            elif kind[0] in "PZ" or kind == "Cc":
                kept = " "
        self[code] = kept
        return kept


_CHARACTERS = _Characters(_SIGNS)


def fold(text: str) -> str:
    """The text in lower case, its words with single spaces between, without punctuation.

    By Unicode: compatibility forms (NFKC) and full case folding. Apostrophes inside words are dropped ("don't" is
    "dont"). Signs that belong to a number stay: 3.5, -2, 10,000, 12:30 and 5%; so do symbols, such as <, != (as ≠) and
    emoji, each as a word. Of a text without a word the signs stay as they are.

    Examples
    --------
    >>> fold("  The man ISN'T old: he's  25.5 (not -3). ")
    'the man isnt old hes 25.5 not -3'
    >>> fold("…?!")
    '...?!'
    """
    plain = (text.casefold() if text.isascii() else compatible(text)).replace("!=", "≠")
    marked = _WITHIN_WORD.sub("", plain.translate(_CHARACTERS))
    return " ".join(_LOOSE.sub(" ", marked).split()) or " ".join(plain.split())


def compatible(text: str) -> str:
    """Compatibility forms in folded case, as the standard's identifiers have them."""
    apart = _RAISED.sub(" ", text)  # 10² is not 102, and 1½ not 11/2
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", apart).casefold()).casefold()
    return unicodedata.normalize("NFKC", folded)
