"""The regular expressions of a codebook, searched in many texts, none of them without end.

Python's `re` reads what a caller writes; the library regex, which means the same and can be stopped, searches for it.
"""

import re
import time
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.documents import compatible

_SECONDS = 10.0  # that one expression may take for a batch of texts, of which it should take less than one
_MOST_COPIES = 10**5  # of one part of an expression, which the library writes out
_QUOTES = re.compile("['\"’“”]")  # which no folded text has
_OTHER_BRACE = re.compile(r"(?<!\\)(?<!\\N)\{(?![0-9]*,?[0-9]*\})")


@dataclass(frozen=True)
class Pattern:
    """A compiled expression.

    Attributes
    ----------
    expression : regex.Pattern
        What is searched for.
    """

    name: str
    expression: Any

    @classmethod
    def of(cls, name: str, text: Any, *, folded: bool) -> "Pattern":
        """The expression of a codebook, or one sentence why it cannot be used."""
        called = f"The pattern of {name!r}"
        if not isinstance(text, str):
            raise WrongType(f"{called} must be a text, a regular expression; got {text!r} ({type(text).__name__}).")
        if not text.strip():
            raise BadInput(f"{called} is empty, which matches everything: write what to look for.")
        sign = _QUOTES.search(text) if folded else None
        if sign is not None:
            raise BadInput(
                f"{called}, {text!r}, looks for {sign[0]!r}, which folded texts do not have (don't is dont there): "
                "leave it out, or pass folded=False to search texts as written."
            )
        written = _folded_letters(text, called) if folded else text
        return cls(name, _compiled(written, called))

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


def _folded_letters(text: str, called: str) -> str:
    """The expression with letters as folded texts have them: ß as ss, and ſ as s."""
    letters = unicodedata.normalize("NFC", text)
    folded = [letter if letter.isascii() or not letter.isalpha() else compatible(letter) for letter in letters]
    long = next((pair for pair in zip(letters, folded, strict=True) if len(pair[1]) > 1), None)
    if long is not None and "[" in letters:
        raise BadInput(
            f"{called}, {text!r}, has {long[0]!r} beside [], which folded texts have as {long[1]!r}: write "
            f"(?:{long[1]}) for it."
        )
    return "".join(letter if len(letter) == 1 else f"(?:{letter})" for letter in folded)


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
